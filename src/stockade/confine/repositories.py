"""Git folders as the sandbox treats them: what stays as it is, what is shared with a work tree elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from stockade.model.paths import inside
from stockade.vcs.config import Unreadable, read_text

HELD = ("hooks", "config", "config.worktree", "info/attributes", "commondir", "gitdir")
"""Of a git folder: what makes git run a program, or look for its parts in another folder.  Source: gitrepository-layout(5)."""

_SHARED = ("objects", "refs", "logs", "lfs")
_DEEP = 12


class Shared(NamedTuple):
    """A part of a git folder that lies outside of the workspace, and belongs to a work tree in it."""

    path: str
    writable: bool


def parts(git: str) -> Iterator[str]:
    """What exists of a git folder and must not change: its own, and that of the modules in it."""
    written = frozenset(changing(git))
    for folder in folders(git):
        for name in HELD:
            path = f"{folder}/{name}"
            if path not in written and os.path.lexists(path) and not os.path.islink(path):
                yield path


def changing(git: str) -> Iterator[str]:
    """The configurations of submodules: git itself writes them, at every update of the work tree."""
    for folder in folders(git):
        for inner in _inner_folders(folder):
            if inside(inner, f"{folder}/modules") and os.path.isfile(f"{inner}/config"):
                yield f"{inner}/config"


def folders(git: str, deep: int = 0) -> Iterator[str]:
    """A git folder, and all git folders inside it."""
    yield git
    if deep <= _DEEP:
        for inner in _inner_folders(git):
            yield from folders(inner, deep + 1)


def _inner_folders(git: str) -> Iterator[str]:
    """The git folders directly inside one: of submodules (whose names may have slashes) and of linked work trees."""
    for kind in ("modules", "worktrees"):
        waiting = [f"{git}/{kind}"]
        while waiting:
            at = waiting.pop()
            try:
                with os.scandir(at) as entries:
                    names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            for name in names:
                if os.path.lexists(f"{at}/{name}/HEAD"):
                    yield f"{at}/{name}"
                elif kind == "modules":
                    waiting.append(f"{at}/{name}")


def shared(gitfile: str) -> tuple[Shared, ...]:
    """What a `.git` file names, where that place names the work tree in turn; else nothing.

    The file is content of the workspace, and may name any repository of this machine: only a folder that itself
    belongs to this work tree is let in.
    """
    git = _named(gitfile)
    if git is None or not _belongs(git, gitfile):
        return ()
    common = _common(git)
    if common == git:
        return (Shared(git, True), *(Shared(path, False) for path in parts(git)))
    found = [Shared(common, False), Shared(git, True)]
    found += [Shared(f"{common}/{name}", True) for name in _SHARED if os.path.isdir(f"{common}/{name}")]
    return (*found, *(Shared(path, False) for path in parts(git)))


def _named(gitfile: str) -> str | None:
    try:
        text = read_text(gitfile) or ""
    except Unreadable:
        return None
    if not text.startswith("gitdir: "):
        return None
    path = os.path.realpath(os.path.join(os.path.dirname(gitfile), text[8:].strip()))
    return path if os.path.isdir(path) else None


def _belongs(git: str, gitfile: str) -> bool:
    """Whether a git folder says itself that its work tree is the one of `gitfile`."""
    try:
        back = read_text(f"{git}/gitdir")
        if back is not None:
            return os.path.realpath(os.path.join(git, back.strip())) == os.path.realpath(gitfile)
        return _work_tree(git) == os.path.realpath(os.path.dirname(gitfile))
    except Unreadable:
        return False


def _work_tree(git: str) -> str | None:
    from stockade.vcs.config import entries

    for entry in entries(read_text(f"{git}/config") or ""):
        if (entry.section, entry.name, entry.key) == ("core", None, "worktree"):
            return os.path.realpath(os.path.join(git, entry.value))
    return None


def _common(git: str) -> str:
    try:
        text = (read_text(f"{git}/commondir") or "").strip()
    except Unreadable:
        return git
    return os.path.realpath(os.path.join(git, text)) if text else git
