"""What a command left in a workspace that would make git, an agent or an editor run something: found, and put away.

Mounts keep what existed.  What is new is looked at here, after the command and before anything of ours reads it: a
repository made inside may stay, but not its hooks, nor a configuration that starts a program; a new folder of agents'
or editors' settings goes away as a whole.  Nothing is deleted: it is moved to a folder outside of the workspace.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from stockade.confine.index import Find, Index
from stockade.confine.repositories import HELD, changing, folders, shared
from stockade.model.paths import inside
from stockade.vcs.config import Entry, Unreadable, entries, read_text

_SAFE = frozenset(
    ("core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.symlinks",
     "core.precomposeunicode", "core.autocrlf", "core.eol", "core.safecrlf", "core.sparsecheckout", "core.sparsecheckoutcone",
     "core.abbrev", "core.quotepath", "core.longpaths", "core.untrackedcache", "core.preloadindex", "core.commitgraph",
     "core.multipackindex", "extensions.objectformat", "extensions.partialclone", "extensions.refstorage",
     "extensions.worktreeconfig")
)  # fmt: skip
_SAFE_SECTIONS = frozenset(
    ("remote", "branch", "user", "author", "committer", "init", "push", "pull", "fetch", "rebase", "index", "pack", "gc", "color",
     "advice", "status", "log", "commit", "tag", "merge", "diff", "feature", "maintenance", "rerere", "receive", "transfer",
     "submodule", "lfs", "svn-remote", "worktree", "format", "help", "clone", "checkout", "stash", "versionsort")
)  # fmt: skip
_RUNS_IN_SAFE = frozenset(
    ("vcs", "uploadpack", "receivepack", "proxy", "template", "tool", "guitool", "driver", "command", "textconv", "external",
     "update", "recurse", "templatedir", "gpgsign", "showsignature", "mergeoptions", "procreceiverefs", "packobjectshook", "cmd",
     "path", "customtransfer", "extension", "standalonetransferagent", "sshtransfer", "fsmonitor", "program", "hook", "repo")
)  # fmt: skip
"""Keys of otherwise harmless sections by which git runs a program, or reads a file that can name one."""


_MAX_SAVED = 1 << 20


class Moved(NamedTuple):
    """Something that was put away: where it was, where it is, and why."""

    path: str
    kept: str
    why: str


Stamp = tuple[int, int]
State = dict[str, Stamp]
"""Path to (inode, change time in nanoseconds) of what makes git run something."""


def saved(finds: tuple[Find, ...]) -> dict[str, bytes]:
    """What is written back where a command has made a configuration of a submodule harmful, by its path."""
    found: dict[str, bytes] = {}
    for find in finds:
        for path in changing(find.path) if find.sort == "git" else ():
            try:
                with open(path, "rb") as stream:
                    found[path] = stream.read(_MAX_SAVED)
            except OSError:
                continue
    return found


def put_back(moved: Iterable[Moved], kept: Mapping[str, bytes]) -> None:
    """Writes back what was saved of files that were put away; raises OSError where that fails."""
    for one in moved:
        if one.path in kept:
            with open(one.path, "xb") as stream:
                stream.write(kept[one.path])


def git_state(finds: tuple[Find, ...]) -> State:
    """How the parts of all repositories are before a command."""
    state: State = {}
    for find in finds:
        if find.sort == "git":
            for folder in folders(find.path):
                for path in _parts(folder):
                    state.update(stamp(path))
        elif find.sort == "gitfile":
            state.update(stamp(find.path))
    return state


def sweep(before: Index, after: Index, state: State, keep: str) -> tuple[Moved, ...]:
    """Puts away what is new or changed and would run something; `keep` is the folder for it.

    What was there before is known by its inode and change time, wherever it lies now.  Settings of agents in a clone or
    work tree whose folder the command made are content that came with it, and stay.
    Raises OSError where something cannot be put away; the caller must then not let the host read the workspace.
    """
    known = {find.path for find in before.finds}
    same = frozenset(state.values())
    made = tuple(
        os.path.dirname(find.path)
        for find in after.finds
        if find.sort in ("git", "gitfile") and find.path not in known and os.path.dirname(find.path) not in before.known
    )
    moved: list[Moved] = []
    for find in after.finds:
        if find.sort == "git":
            moved += _swept(find.path, same, keep) if find.path in known else _whole(find.path, same, keep)
        elif find.path in known:
            continue
        elif find.sort == "gitfile" and (why := _gitfile(find.path)):
            moved.append(_move(find.path, keep, why))
        elif find.sort == "gitlink":
            moved.append(_move(find.path, keep, "a link in the place of a repository"))
        elif find.sort == "held" and not any(inside(find.path, folder) for folder in made):
            moved.append(_move(find.path, keep, "a new configuration that an agent, an editor or a shell obeys"))
    return tuple(moved)


def _whole(git: str, same: frozenset[Stamp], keep: str) -> Iterator[Moved]:
    """A repository made anew goes away as a whole where its own configuration would run something."""
    for name in ("config", "config.worktree", "commondir"):
        if git.endswith("/.git") and (why := _harm(f"{git}/{name}", git, same)):
            yield _move(git, keep, why)
            return
    yield from _swept(git, same, keep)


def _swept(git: str, same: frozenset[Stamp], keep: str) -> Iterator[Moved]:
    for folder in folders(git):
        for path in _parts(folder):
            if why := _harm(path, folder, same):
                yield _move(path, keep, why)


def _harm(path: str, git: str, same: frozenset[Stamp]) -> str:
    """Why a part of a git folder would run something; empty if it would not, or was there before."""
    found = stamp(path)
    return _runs(path, git) if found and found[path] not in same else ""


def _parts(git: str) -> Iterator[str]:
    for name in HELD:
        if name == "hooks" and os.path.isdir(f"{git}/hooks") and not os.path.islink(f"{git}/hooks"):
            try:
                yield from (f"{git}/hooks/{hook}" for hook in sorted(os.listdir(f"{git}/hooks")))
            except OSError:
                yield f"{git}/hooks"
        else:
            yield f"{git}/{name}"


def stamp(path: str) -> State:
    """Inode and change time of a path; empty where there is nothing."""
    try:
        about = os.lstat(path)
    except OSError:
        return {}
    return {path: (about.st_ino, about.st_ctime_ns)}


def _runs(path: str, git: str) -> str:
    """Why a new part of a git folder would run something; empty if it would not."""
    name = os.path.basename(path)
    if os.path.dirname(path) == f"{git}/hooks" or name == "hooks":
        return "" if name.endswith(".sample") else "a hook, which git would run"
    if os.path.islink(path):
        return "a link in the place of a part of the repository"
    try:
        if name in ("commondir", "gitdir"):
            return _redirect(path, git)
        if name == "attributes":
            return _attributes(path)
        return next((_said(entry) for entry in entries(read_text(path) or "") if not _harmless(entry, git)), "")
    except Unreadable as error:
        return f"it cannot be read as git would: {error}"


def _said(entry: Entry) -> str:
    value = entry.value if len(entry.value) <= 60 else entry.value[:57] + "…"
    return f"it sets `{entry.shown}` to `{value}`, by which git could run something"


def _harmless(entry: Entry, git: str) -> bool:
    if entry.shown in _SAFE:
        return True
    if entry.shown == "core.worktree":  # of a submodule: the work tree must name this folder in turn
        return any(one.path == os.path.realpath(git) for one in shared(os.path.join(git, entry.value, ".git")))
    if entry.section not in _SAFE_SECTIONS or entry.key in _RUNS_IN_SAFE or entry.value.startswith("!"):
        return False
    return "::" not in entry.value and not entry.value.startswith("-")


def _redirect(path: str, git: str) -> str:
    """`commondir` and `gitdir` are honest in a linked work tree: they name the folders around it."""
    text = (read_text(path) or "").strip()
    target = os.path.realpath(os.path.join(git, text))
    parent = os.path.dirname(git)
    linked = os.path.basename(parent) == "worktrees"
    if linked and os.path.basename(path) == "commondir" and target == os.path.realpath(os.path.dirname(parent)):
        return ""
    if linked and os.path.basename(path) == "gitdir" and os.path.basename(text) == ".git":
        return ""
    return f"it sends git to `{text[:60]}`"


def _attributes(path: str) -> str:
    text = read_text(path) or ""
    named = any(word.startswith(("filter=", "diff=", "merge=")) for word in text.split())
    return "it chooses programs for files" if named else ""


def _gitfile(path: str) -> str:
    """A new `.git` file is honest where the folder that it names belongs to it."""
    return "" if shared(path) else "it sends git to a folder that does not belong to it"


def _move(path: str, keep: str, why: str) -> Moved:
    import shutil  # needed rarely, and slow to load

    os.makedirs(keep, mode=0o700, exist_ok=True)
    stem = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{path.strip('/').replace('/', '%')[-150:]}"
    target = os.path.join(keep, stem)
    number = 1
    while os.path.lexists(target):
        target = os.path.join(keep, f"{stem}.{number}")
        number += 1
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        os.unlink(path)
    else:
        shutil.move(path, target)
    return Moved(path, target, why)
