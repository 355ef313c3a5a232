"""Paths as values: resolved with the facts of a context, and sorted into zones.

Nothing here looks at a disk.  A path that the context says nothing about is an ordinary name.
"""

from __future__ import annotations

import fnmatch
import posixpath

from stockade.model.context import Context

_MAX_LINKS = 40

# Read-only parts of every system: programs, libraries, documentation, machine facts.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys", "/nix/store", "/snap",
           "/Library/Developer", "/System/Library")  # fmt: skip
_PROC = frozenset(
    ("cpuinfo", "meminfo", "version", "uptime", "loadavg", "stat", "vmstat", "filesystems", "mounts", "modules", "partitions",
     "diskstats", "devices", "interrupts", "swaps", "cmdline", "buddyinfo", "zoneinfo", "slabinfo", "crypto", "consoles")
)  # fmt: skip
_PROC_SELF = frozenset(("status", "stat", "statm", "limits", "cgroup", "mountinfo", "mounts", "comm", "io", "sched", "wchan"))
_DEVICES = frozenset(
    ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr",
     "/dev/tty", "/dev/ptmx")
)  # fmt: skip
_DEVICE_FOLDERS = ("/dev/fd/", "/dev/pts/")
# Where tools keep what they installed, below the home folder: packages, not data of the person.
_HOME_PACKAGES = (
    ".local/lib", ".pyenv/versions", ".nvm/versions", ".cargo/registry", ".rustup/toolchains", "go/pkg/mod",
    ".local/share/uv/tools", ".local/share/uv/python", ".asdf/installs", ".local/share/mise/installs", ".volta/tools",
    ".m2/repository", ".gradle/caches", ".rbenv/versions", ".sdkman/candidates",
)  # fmt: skip


def lexical(path: str) -> str:
    """`path` without `.`, `..` and doubled slashes, links not looked at."""
    result = posixpath.normpath(path)
    return "/" + result.lstrip("/") if result.startswith("//") else result


def canonical(path: str, context: Context) -> str:
    """`path` as the kernel would walk it: links of the facts followed, `..` after them."""
    if not context.files:
        return lexical(path)
    done = ""
    left = [c for c in path.split("/") if c not in ("", ".")]
    links = 0
    while left:
        component = left.pop(0)
        if component == "..":
            done = posixpath.dirname(done) if done else ""
            done = "" if done == "/" else done
            continue
        here = f"{done}/{component}"
        fact = context.files.get(here)
        if fact is None or fact.kind != "link" or fact.target is None:
            done = here
            continue
        links += 1
        if links > _MAX_LINKS:
            return here
        target = [c for c in fact.target.split("/") if c not in ("", ".")]
        left = target + left
        if fact.target.startswith("/"):
            done = ""
    return done or "/"


def inside(path: str, folder: str) -> bool:
    """Whether a normalised path is a folder or lies below it."""
    return folder == "/" or path == folder or path.startswith(folder + "/")


def device(path: str) -> bool:
    """Whether a path is a stream or a bottomless device, which nobody loses anything to."""
    return path in _DEVICES or path.startswith(_DEVICE_FOLDERS)


def zone(path: str, context: Context) -> str:
    """Where a normalised path lies: `device`, `workspace`, `tmp`, `system` or `outside`.

    `system` can be read freely; what is secret in it is decided elsewhere.
    """
    if path.startswith("/dev/") and device(path):
        return "device"
    if inside(path, context.workspace) or any(inside(path, root) for root in context.roots):
        return "workspace"
    if context.tmp and inside(path, context.tmp):
        return "tmp"
    if any(inside(path, folder) for folder in _SYSTEM) or _proc(path) or _package(path, context):
        return "system"
    return "outside"


def _proc(path: str) -> bool:
    if not path.startswith("/proc/"):
        return path == "/proc"
    parts = path.split("/")[2:]
    if len(parts) == 1:
        return parts[0] in _PROC or parts[0] == "self" or parts[0].isdigit()
    return ((parts[0] == "self" or parts[0].isdigit()) and len(parts) == 2 and parts[1] in _PROC_SELF) or parts[0] in (
        "sys",
        "net",
    )


def _package(path: str, context: Context) -> bool:
    if not path.startswith(context.home + "/"):
        return False
    rest = path[len(context.home) + 1 :]
    return any(inside(rest, folder) for folder in _HOME_PACKAGES)


def listable(path: str) -> bool:
    """Whether anyone may see the names directly in a folder: the root, `/tmp`, `/home`, and the like."""
    return path in ("/", "/tmp", "/var", "/home", "/var/tmp", "/mnt", "/media", "/srv", "/run", "/dev", "/proc", "/var/log")


# -- globs ----------------------------------------------------------------------------------------


def glob_parts(pattern: str) -> list[str]:
    """The components of an absolute pattern, with `.` and `..` taken out as far as they are literal."""
    out: list[str] = []
    for part in pattern.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if out:
                out.pop()
        else:
            out.append(part)
    return out


def is_pattern(part: str) -> bool:
    at = 0
    while at < len(part):
        if part[at] == "\\":
            at += 2
            continue
        if part[at] in "*?" or (part[at] == "[" and part.find("]", at + 2) > 0):
            return True
        at += 1
    return False


def unescaped(part: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(part):
        if part[at] == "\\" and at + 1 < len(part):
            at += 1
        out.append(part[at])
        at += 1
    return "".join(out)


def can_match(part: str, name: str) -> bool:
    """Whether a component of a shell pattern can match a name (a leading dot must be literal)."""
    if not is_pattern(part):
        return unescaped(part) == name
    if name.startswith(".") and not part.startswith((".", "\\.")):
        return False
    if part.count("*") > 4 or len(part) > 200:
        return True
    return fnmatch.fnmatchcase(name, part.replace("\\", "")) if "\\" not in part else True


def glob_folder(pattern: str) -> str:
    """The literal folder that everything a pattern matches lies below."""
    out: list[str] = []
    for part in glob_parts(pattern):
        if is_pattern(part):
            break
        out.append(unescaped(part))
    else:
        return "/" + "/".join(out)
    return "/" + "/".join(out)
