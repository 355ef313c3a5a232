"""The floor: what no mode, rule or grant allows.  Rows on effects, never on spellings.

A row names the effect, the places it is about, and why.  Where a target is not known, the floor says
nothing: unknown asks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stockade.model.context import Context
from stockade.model.effects import Effect, Kind, Segment, Target
from stockade.model.paths import can_match, canonical, device, glob_parts, inside, is_pattern, lexical, unescaped

# Folders of a system whose loss breaks it; a recursive delete or move of one is floor.
TOP_FOLDERS = frozenset(
    ("bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "opt", "proc", "root", "run", "sbin", "srv",
     "sys", "usr", "var", "Applications", "Library", "System", "Users", "Volumes", "private", "nix")
)  # fmt: skip
DEEP_FOLDERS = frozenset(
    ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share", "/usr/local", "/usr/local/bin", "/usr/local/lib",
     "/usr/include", "/var/lib", "/lib/modules", "/System/Library")
)  # fmt: skip
_ROOT_CONTENT = TOP_FOLDERS | {"mnt", "media", "tmp"}
# Disks and memory; a terminal or a serial line is a device that loses nothing.
_BLOCK_DEVICE = re.compile(
    r"/dev/(?:(?:sd|hd|vd|xvd|nvme|mmcblk|loop|md|dm-|sr|ram|zram|nbd|mtd|ubi|pmem|bcache|drbd|r?disk|da|ada|nda)[a-z0-9]*"
    r"|(?:mapper|disk|block|vg[^/]*)/.+|mem|kmem|port|kmsg|root|cdrom)"
)


_DISK_PREFIX = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|mapper/|dm-|md|loop)\w*…")


class Row(NamedTuple):
    """One row of the floor."""

    code: str
    kinds: frozenset[Kind]
    what: str


ROWS: tuple[Row, ...] = (
    Row("delete-root", frozenset((Kind.DELETE, Kind.EDIT)), "removes the root folder or what lies directly in it"),
    Row("delete-home", frozenset((Kind.DELETE, Kind.EDIT)), "removes the home folder or all of its content"),
    Row("delete-system", frozenset((Kind.DELETE, Kind.EDIT)), "removes a folder of the system"),
    Row("delete-above-workspace", frozenset((Kind.DELETE, Kind.EDIT)), "removes a folder that holds the workspace"),
    Row("mode-root", frozenset((Kind.MODE,)), "changes permissions or owners of the whole system"),
    Row("device-write", frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.DISK)), "writes to a device"),
    Row("mkfs", frozenset((Kind.DISK,)), "makes a file system over something that is no file of the workspace"),
    Row("forced-push", frozenset((Kind.FORCED_PUSH,)), "overwrites a remote branch"),
    Row("fork-bomb", frozenset((Kind.FLOOR,)), "starts processes without end"),
    Row("network-to-interpreter", frozenset((Kind.FLOOR,)), "runs text that comes from the network"),
    Row("self-control", frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE, Kind.READ, Kind.HIJACK)),
        "would change what Stockade decides, or answer in a person's name"),
)  # fmt: skip
_WHAT = {row.code: row.what for row in ROWS}


class Hit(NamedTuple):
    """A floor row that an effect falls under."""

    code: str
    reason: str
    start: int
    end: int


def floor(segment: Segment, context: Context) -> Hit | None:
    """The first floor row that a segment falls under.  What never runs is no floor."""
    if segment.dormant:
        return None
    own = _own_command(segment)
    if own is not None:
        return Hit("self-control", own, segment.start, segment.end)
    for effect in segment.effects:
        code = _code(effect, context)
        if code is not None:
            return Hit(code, _WHAT[code], effect.start, effect.end)
    return None


def _code(effect: Effect, context: Context) -> str | None:
    kind = effect.kind
    if kind is Kind.FLOOR:
        return effect.code
    if kind is Kind.FORCED_PUSH:
        return "forced-push"
    if kind is Kind.HIJACK:
        return "self-control" if effect.code == "self-control" else None
    target = effect.target
    if target is None or kind not in _PATH_KINDS:
        return None
    if kind is Kind.READ:
        return "self-control" if _state(target, context) else None
    if kind is not Kind.LIST and protected_state(target, context):
        return "self-control"
    if kind is Kind.DELETE or (kind is Kind.EDIT and effect.code == "move"):
        code = _deleted(target, context)
        if code is not None:
            return code
    if (
        kind is Kind.MODE
        and (target.recursive or target.listed)
        and _deleted(target, context) in ("delete-root", "delete-system", "delete-home")
    ):
        return "mode-root" if _deleted(target, context) == "delete-root" or _whole_system(target, context) else None
    if kind is Kind.DISK:
        return _disk(target, context)
    if kind in (Kind.WRITE, Kind.EDIT, Kind.DELETE) and _writes_device(target, context):
        return "device-write"
    return None


_PATH_KINDS = frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.DISK, Kind.MODE, Kind.READ))


# -- removing -------------------------------------------------------------------------------------


def _deleted(target: Target, context: Context) -> str | None:
    """Which folder that must not go a delete is about.  Only whole trees, or all of a folder's content."""
    if target.listed and target.under:
        return _content_of(lexical(target.under), context)
    if target.path is None:
        return None
    if target.glob:
        return _deleted_glob(glob_parts(target.path), context, recursive=target.recursive)
    if not target.recursive:
        return None
    return _folder(canonical(target.path, context), context) or _folder(lexical(target.path), context)


def _content_of(path: str, context: Context) -> str | None:
    """Deleting what was listed below a folder: only where the folder itself is one that must not go."""
    return _folder(path, context)


def _folder(path: str, context: Context) -> str | None:
    if path == "/":
        return "delete-root"
    if path == context.home or path == "/root":
        return "delete-home"
    parts = path.split("/")
    if (len(parts) == 2 and parts[1] in TOP_FOLDERS) or path in DEEP_FOLDERS:
        return "delete-system"
    if path != context.workspace and inside(context.workspace, path):
        return "delete-above-workspace"
    return None


def _deleted_glob(parts: list[str], context: Context, *, recursive: bool) -> str | None:
    if not recursive:
        return None
    for at, part in enumerate(parts):
        if not is_pattern(part):
            continue
        folder = "/" + "/".join(unescaped(p) for p in parts[:at])
        rest = parts[at + 1 :]
        if rest and not all(p in ("*", "**") for p in rest):
            return _matched(folder, part, rest, context)
        if part in ("*", "**", "?*", "*?", ".*", "[!.]*", "*.*", ".[!.]*", ".??*", ".[^.]*", ".?*") or _covers(part):
            found = _folder(folder, context)
            if found is not None:
                return found
        return _matched(folder, part, [], context)
    return _folder("/" + "/".join(unescaped(p) for p in parts), context)


def _covers(part: str) -> bool:
    """Whether a pattern takes in nearly every name."""
    return part.replace("*", "").replace("?", "") == "" and part != ""


def _matched(folder: str, part: str, rest: list[str], context: Context) -> str | None:
    """Whether the pattern can name one of the folders that must not go."""
    if rest:
        return None
    candidates: set[str] = set()
    if folder == "/":
        candidates = {"/" + name for name in TOP_FOLDERS}
    prefix = folder.rstrip("/")
    for known in (*DEEP_FOLDERS, context.home):
        head, _, name = known.rpartition("/")
        if head == prefix:
            candidates.add(f"{prefix}/{name}")
    for one in sorted(candidates):
        if can_match(part, one.rpartition("/")[2]):
            return _folder(one, context)
    return None


def _whole_system(target: Target, context: Context) -> bool:
    path = target.path if target.path is not None else target.under
    if target.glob:
        parts = glob_parts(path)
        return len(parts) == 1
    top = canonical(path, context).split("/")
    return len(top) == 2 and top[1] in ("bin", "boot", "etc", "lib", "lib64", "sbin", "usr", "var", "dev")


# -- devices --------------------------------------------------------------------------------------


def _writes_device(target: Target, context: Context) -> bool:
    if target.path is None:
        return (target.listed and lexical(target.under) == "/dev") or _DISK_PREFIX.match(target.word) is not None
    if target.glob:
        parts = glob_parts(target.path)
        return len(parts) > 1 and parts[0] == "dev" and parts[1] not in ("shm", "pts", "fd", "mqueue") and _disk_pattern(parts[1])
    path = canonical(target.path, context)
    if path == "/dev" or device(path):
        return False
    return _BLOCK_DEVICE.fullmatch(path) is not None and not inside(path, context.workspace)


def _disk_pattern(part: str) -> bool:
    return any(
        can_match(part, name) for name in ("sda", "sdb", "sda1", "hda", "vda", "nvme0n1", "mmcblk0", "xvda", "dm-0", "md0")
    )


def _disk(target: Target, context: Context) -> str | None:
    if _writes_device(target, context):
        return "mkfs"
    if target.path is None:
        return None
    path = lexical(target.path) if target.glob else canonical(target.path, context)
    return None if inside(path, context.workspace) else "mkfs"


# -- self-control ---------------------------------------------------------------------------------

# What an agent may call: it only looks.
_LOOKING = frozenset(("check", "explain", "inspect", "modes", "programs", "config", "policy", "--version", "--help", "-h"))
_OWN = frozenset(("stockade", "stockaded"))
_KILLERS = frozenset(("kill", "pkill", "killall", "systemctl", "skill", "snice"))


def _own_command(segment: Segment) -> str | None:
    argv = segment.argv
    if segment.program in _OWN:
        sub = argv[1] if len(argv) > 1 else "--help"
        return None if sub in _LOOKING else "runs Stockade, which only a person does"
    if segment.program is not None and segment.program.startswith(("python", "pypy")):
        return _own_module([word or "" for word in argv[1:]])
    if segment.program in _KILLERS and any(a is not None and "stockade" in a.lower() for a in argv[1:]):
        return "stops Stockade"
    return None


_IMPORTS = re.compile(r"\b(?:import|from)\s+stockade\b")


def _own_module(words: list[str]) -> str | None:
    """`python -m stockade …`, also as `-mstockade` or a module inside it, and code that imports it."""
    for at, word in enumerate(words):
        m = re.fullmatch(r"-[A-Za-z]*?m(.*)", word, re.DOTALL)
        if m is not None:
            rest = [m.group(1), *words[at + 1 :]] if m.group(1) else words[at + 1 :]
            if not rest or rest[0].partition(".")[0] != "stockade":
                return None
            looks = rest[0] == "stockade" and (rest[1:2] or ["--help"])[0] in _LOOKING
            return None if looks else "runs Stockade, which only a person does"
        if _IMPORTS.search(word):
            return "runs Stockade's own code"
    return None


def protected_state(target: Target, context: Context) -> bool:
    """Whether a write goes to Stockade's own configuration or state."""
    if _state(target, context):
        return True
    path = target.path
    if path is None:
        return False
    parts = glob_parts(path) if target.glob else canonical(path, context).split("/")[1:]
    for at, part in enumerate(parts):
        if part == ".stockade" or (target.glob and is_pattern(part) and _asks_for_own(part)):
            rest = parts[at + 1 :]
            return not (len(rest) == 2 and rest[0] == "plans" and rest[1].endswith(".md") and not target.recursive)
    return not target.glob and inside(canonical(path, context), context.config or f"{context.home}/.config/stockade")


def _asks_for_own(part: str) -> bool:
    """A pattern that names `.stockade` rather than every hidden name."""
    literal = part.split("*")[0].split("?")[0].split("[")[0]
    return len(literal) >= 3 and can_match(part, ".stockade")


def _state(target: Target, context: Context) -> bool:
    if target.path is None or target.glob:
        return False
    return inside(canonical(target.path, context), context.state or f"{context.home}/.local/state/stockade")
