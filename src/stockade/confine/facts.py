"""Looks at the machine for all that a plan may mention, so that the plan itself can be a pure value."""

from __future__ import annotations

import os
import stat
import sys
from typing import NamedTuple

from stockade.confine.index import Find, Index, load, look, save
from stockade.confine.plan import Facts, Place, Request, readable, wanted, writable
from stockade.confine.repositories import Shared, parts, shared
from stockade.model.paths import inside


class Looked(NamedTuple):
    """The facts, and the looks at the roots that they came from."""

    facts: Facts
    indexes: tuple[Index, ...]


def gather(request: Request, folder: str) -> Looked:
    """The facts for a request; `folder` keeps what is known of large workspaces between commands."""
    indexes = tuple(_index(root, folder) for root in _outermost(readable(request)))
    finds = tuple(find for index in indexes for find in index.finds)
    resolver = os.path.realpath("/etc/resolv.conf")
    facts = Facts(
        places={path: place for path in wanted(request) if (place := _place(path)) is not None},
        finds=finds,
        git_parts=tuple(_git_parts(request, finds)),
        shared=tuple(_shared(finds)),
        python=_python(),
        resolver=resolver if resolver.startswith("/run/") and os.path.isfile(resolver) else "",
    )
    return Looked(facts, indexes)


def look_again(indexes: tuple[Index, ...], folder: str) -> tuple[Index, ...]:
    """The same roots after the command; keeps the look for the next one."""
    found = tuple(look(index.root, index.known) for index in indexes)
    for index in found:
        _keep(index, folder)
    return found


def _index(root: str, folder: str) -> Index:
    if not os.path.isdir(root):
        return Index(root, (), {})
    return look(root, load(folder, root))


def _keep(index: Index, folder: str) -> None:
    try:
        save(folder, index)
    except OSError:
        return  # the next look reads everything again


def _outermost(roots: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(root for root in roots if not any(root != other and inside(root, other) for other in roots))


def _place(path: str) -> Place | None:
    try:
        about = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(about.st_mode):
        return Place(path, "link", os.readlink(path), os.path.realpath(path)) if os.path.exists(path) else None
    return Place(path, "folder" if stat.S_ISDIR(about.st_mode) else "file")


def _git_parts(request: Request, finds: tuple[Find, ...]) -> list[str]:
    roots = writable(request)
    found: list[str] = []
    for find in finds:
        git = find.path if find.sort == "git" else os.path.realpath(find.path) if find.sort == "gitlink" else ""
        if git and any(inside(git, root) for root in roots):
            found.extend(parts(git))
    return list(dict.fromkeys(found))


def _shared(finds: tuple[Find, ...]) -> list[Shared]:
    return list(dict.fromkeys(part for find in finds if find.sort == "gitfile" for part in shared(find.path)))


def _python() -> str:
    """The folder that Python itself needs, where the system's folders do not have it."""
    prefix = os.path.realpath(sys.base_prefix)
    return "" if inside(prefix, "/usr") else prefix
