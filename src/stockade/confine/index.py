"""What of a workspace needs care: repositories, configuration of agents, secrets, sockets, at any depth.

A folder's change time moves whenever a name in it comes or goes, and no program can set it back.  So a folder that
has the change time of the last look is not read again: a look at a large workspace costs one `lstat` a folder.
A time that is younger than the clock's grain is not trusted.
"""

from __future__ import annotations

import marshal
import os
import stat
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from stockade.model.protected import AGENT_FOLDERS, AGENT_PAIRS, HELD_FILES
from stockade.secrets.names import FILES, SUFFIXES, env_file

_GRAIN = 50_000_000  # nanoseconds; a coarse clock ticks every 10 ms
_FORMAT = 2
_PAIR_PARENTS = frozenset(parent for parent, _ in AGENT_PAIRS)
_INSTALLED = frozenset(("node_modules", "site-packages", "dist-packages", ".venv", "venv", "vendor", "bower_components"))
_MAYBE_SECRET = frozenset((".pem", ".key"))
_BARE = frozenset(("HEAD", "objects", "refs"))
_SAMPLE = 65536

Folder = tuple[int, tuple[str, ...], tuple[tuple[str, str], ...]]
"""Of a folder: its change time, the folders in it, and what was found in it, each with its sort."""

Known = dict[str, Folder]


class Find(NamedTuple):
    """One thing that needs care.  `sort` is `git`, `gitfile`, `gitlink`, `held`, `pin`, `secret` or `socket`."""

    path: str
    sort: str
    folder: bool = False


class Index(NamedTuple):
    """The finds below one root, and what the next look needs."""

    root: str
    finds: tuple[Find, ...]
    known: Known


def look(root: str, known: Mapping[str, Folder] | None = None) -> Index:
    """Looks at a whole tree; folders that have not changed since `known` are not read.

    Links are not followed.  A folder that cannot be read holds nothing that a command could read either.
    """
    before = known or {}
    seen: Known = {}
    finds: list[Find] = []
    waiting = [(root, False)]
    while waiting:
        folder, installed = waiting.pop()
        try:
            about = os.lstat(folder)
        except OSError:
            continue
        if not _enterable(about):
            continue
        changed = about.st_ctime_ns
        entry = before.get(folder)
        if entry is None or entry[0] != changed:
            entry = _read(folder, changed, installed=installed)
        seen[folder] = entry
        waiting.extend((f"{folder}/{name}", installed or name in _INSTALLED) for name in entry[1])
        finds.extend(find for name, sort in entry[2] if (find := _found(folder, name, sort)).sort)
    return Index(root, tuple(finds), seen)


def _enterable(about: os.stat_result) -> bool:
    """Whether a command could come into a folder: root inside has no power over the folders of others."""
    if about.st_uid == os.getuid():
        return True
    return bool(about.st_mode & (0o010 if about.st_gid in _groups() else 0o001))


@cache
def _groups() -> frozenset[int]:
    return frozenset((os.getgid(), *os.getgroups()))


def _found(folder: str, name: str, sort: str) -> Find:
    path = f"{folder}/{name}" if name else folder
    if sort == "maybe":  # its content says, and that changes without the folder
        words = (b"_auth", b"_password") if name.lower() == ".npmrc" else (b"PRIVATE KEY",)
        otherwise = "held" if name.lower() == ".npmrc" else ""
        return Find(path, "secret" if _holds(path, *words) else otherwise)
    return Find(path, sort.removesuffix("/"), sort.endswith("/"))


def _read(folder: str, changed: int, *, installed: bool) -> Folder:
    folders: list[str] = []
    finds: list[tuple[str, str]] = []
    parent = os.path.basename(folder).lower()
    try:
        with os.scandir(folder) as entries:
            rows = [(entry.name, _kind(entry)) for entry in entries]
    except OSError:
        return 0, (), ()
    if {name for name, _ in rows} >= _BARE:  # a bare repository; what else lies in it counts all the same
        finds.append(("", "git/"))
    for name, kind in rows:
        sort = _sort(folder, parent, name, kind, installed=installed)
        if sort:
            finds.append((name, sort + ("/" if kind == "folder" else "")))
        if kind == "folder" and sort not in ("git", "held"):
            folders.append(name)
    return _trusted(changed), tuple(folders), tuple(finds)


def _trusted(changed: int) -> int:
    """The change time as a later look may rely on it; 0 where another change could still have the same."""
    return changed if time.time_ns() - changed > _GRAIN else 0


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_symlink():
        return "link"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _sort(folder: str, parent: str, name: str, kind: str, *, installed: bool) -> str:
    lower = name.lower()
    if lower == ".git":
        return {"folder": "git", "link": "gitlink"}.get(kind, "gitfile")
    if kind == "folder":
        if installed:  # what came with a package is content, and goes with it
            return ""
        if lower in AGENT_FOLDERS or (parent, lower) in AGENT_PAIRS:
            return "held"
        return "pin" if lower in _PAIR_PARENTS else ""
    if kind == "file":
        if not installed and ((parent, lower) in AGENT_PAIRS or lower in HELD_FILES):
            return "maybe" if lower == ".npmrc" else "held"
        return _secret(name, lower, installed=installed)
    return "socket" if kind == "other" and _socket(f"{folder}/{name}") else ""


def _secret(name: str, lower: str, *, installed: bool) -> str:
    if "env" in lower and env_file(name):
        return "secret"
    if installed:
        return ""
    if lower in FILES:
        return "secret"
    if lower.endswith(SUFFIXES):
        return "maybe" if lower[lower.rfind(".") :] in _MAYBE_SECRET else "secret"
    return ""


def _holds(path: str, *words: bytes) -> bool:
    """Whether the beginning of a file holds one of some words; what cannot be read is taken to."""
    try:
        with open(path, "rb") as stream:
            text = stream.read(_SAMPLE)
    except OSError:
        return True
    return any(word in text for word in words)


def _socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


# -- kept between commands ------------------------------------------------------------------------


def load(folder: str, root: str) -> Known:
    """What the last look at a root saw; nothing where that is not kept or not readable."""
    try:
        with open(_file(folder, root), "rb") as stream:
            form, known_root, known = marshal.loads(stream.read())
    except (OSError, ValueError, EOFError, TypeError):
        return {}
    return known if form == _FORMAT and known_root == root and isinstance(known, dict) else {}


def save(folder: str, index: Index) -> None:
    """Keeps a look for the next command; raises OSError where that is not possible."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = _file(folder, index.root)
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as stream:
        stream.write(marshal.dumps((_FORMAT, index.root, index.known)))
    os.replace(temporary, path)


def _file(folder: str, root: str) -> str:
    """A name of its own for every root: the end of its path, and a sum; what it holds names the root in full."""
    return os.path.join(folder, f"index-{zlib.crc32(os.fsencode(root)):08x}-{root.replace('/', '%')[-100:]}")


def git_folders(finds: tuple[Find, ...]) -> Iterator[str]:
    """The git folders among finds."""
    return (find.path for find in finds if find.sort == "git")
