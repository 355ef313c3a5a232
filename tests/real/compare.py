"""Says what a command really did that the guard had not foreseen.

An effect that may be anything (an unknown one, project code, a change of privilege) makes the guard
ask and so covers whatever follows: such a command is not compared.  Every other effect covers its own
kind only, and its own paths.
"""

from __future__ import annotations

import fnmatch
import glob
import os.path
import re
from collections.abc import Iterable
from typing import NamedTuple

from stockade.model.context import Context
from stockade.model.effects import Analysis, Effect, Kind, Target
from stockade.shell import analyze
from tests.real.exceptions import BENIGN_PATHS, CONTACTS, DERIVED, HELPERS, OWN_STATE, Row
from tests.real.project import HOME, PROJECT
from tests.real.trace import Change, Observed

CONTEXT = Context(PROJECT, PROJECT, HOME)

COVERS_ANYTHING = frozenset(
    (Kind.EXECUTE, Kind.INSTALL, Kind.PRIVILEGE, Kind.DESTRUCTIVE, Kind.HIJACK, Kind.UNKNOWN, Kind.DISK,
     Kind.PROCESS, Kind.FORCED_PUSH, Kind.FLOOR)
)  # fmt: skip
"""Kinds that explain everything; `process` is one because its commands would end the sandbox's own."""

_CHANGING = frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE))
_CONTACTING = frozenset((Kind.NETWORK, Kind.SERVICE))
_NOT_A_FILE = re.compile(
    r"(?:pipe|socket|anon_inode):|/out/|/memfd:|/dev/(?:null|zero|full|tty|ptmx|pts/|shm/|std|fd/)|/proc/self/fd/"
)
_REPOSITORY = re.compile(r"/\.(?:git|hg|svn)(?:/|$)")


class Foreseen(NamedTuple):
    """What the guard said, as far as it is compared."""

    anything: bool
    paths: tuple[Target, ...]
    repository: bool
    contact: bool
    programs: frozenset[str]


def foreseen(command: str) -> Foreseen:
    """The guard's view of `command` in the context of all examples."""
    analysis = analyze(command, CONTEXT)
    live = [segment for segment in analysis.segments if not segment.dormant]
    effects = [effect for segment in live for effect in segment.effects]
    kinds = {effect.kind for effect in effects}
    return Foreseen(
        anything=analysis.error is not None or bool(kinds & COVERS_ANYTHING),
        paths=tuple(_changed_targets(effects)),
        repository=Kind.VCS in kinds,
        contact=bool(kinds & _CONTACTING),
        programs=programs(analysis),
    )


def programs(analysis: Analysis) -> frozenset[str]:
    """The names of all programs that the guard knows to be run, those around others included."""
    found: set[str] = set()
    for segment in analysis.segments:
        words = [segment.program, *segment.wrappers, *(argv[0] for argv in (segment.argv, *segment.all_argvs) if argv)]
        found.update(os.path.basename(word) for word in words if word)
    return frozenset(found)


def unforeseen(seen: Observed, guess: Foreseen) -> list[str]:
    """One line for each file, program and contact of `seen` that `guess` does not cover."""
    if guess.anything:
        return []
    return [*_files(seen, guess), *_programs(seen, guess), *_contacts(seen, guess)]


def _changed_targets(effects: Iterable[Effect]) -> Iterable[Target]:
    return (effect.target for effect in effects if effect.kind in _CHANGING and effect.target is not None)


def _files(seen: Observed, guess: Foreseen) -> list[str]:
    scratch = seen.scratch
    lines = (
        f"{change.call} `{change.path}`"
        for change in seen.changes
        if not _NOT_A_FILE.match(change.real) and not _foreseen_change(change, guess, scratch)
    )
    return list(dict.fromkeys(lines))


def _foreseen_change(change: Change, guess: Foreseen, scratch: frozenset[str]) -> bool:
    path = change.path
    if any(covers(target, path) for target in guess.paths):
        return True
    if _makes_room(change, guess) or _derived(path, guess) or (path in scratch and _scratch_place(path, guess)):
        return True
    if guess.repository and (_REPOSITORY.search(path) or change.call == "mkdir" or _below(path, PROJECT)):
        return True  # the files of the work tree follow the commits
    return _excepted((*OWN_STATE, *BENIGN_PATHS), guess.programs, path)


def _makes_room(change: Change, guess: Foreseen) -> bool:
    """Making a missing folder above a foreseen path, or removing one that is empty then (`-p`)."""
    inside = any(target.path and _below(os.path.normpath(target.path), change.path) for target in guess.paths)
    return inside and change.call in ("mkdir", "mkdirat", "rmdir")


def _derived(path: str, guess: Foreseen) -> bool:
    """Whether `path` has a name that one of the programs makes of a foreseen path beside it."""
    known = [os.path.normpath(target.path) for target in guess.paths if target.path]
    patterns = [row.seen for row in DERIVED if _matches_any(guess.programs, row.program)]
    beside = [one for one in known if os.path.dirname(one) == os.path.dirname(path)]
    return any(fnmatch.fnmatchcase(path, pattern.replace("{}", glob.escape(one))) for one in beside for pattern in patterns)


def _scratch_place(path: str, guess: Foreseen) -> bool:
    """A command may make and remove its own files in `/tmp`, and beside a file that it changes."""
    folder = os.path.dirname(path)
    beside = (os.path.dirname(target.path) for target in guess.paths if target.path)
    inside = (target.path for target in guess.paths if target.path)
    return path.startswith("/tmp/") or folder in beside or folder in inside


def covers(target: Target, path: str) -> bool:
    """Whether a foreseen target is `path`, the folder that `path` lies in, or a tree around it."""
    if target.path is None:
        return (bool(target.under) and _below(path, os.path.normpath(target.under))) or not target.under
    if target.glob:
        pattern = os.path.normpath(target.path)
        tail = path if not target.recursive else path[: _end(path, pattern.count("/"))]
        return fnmatch.fnmatchcase(tail, pattern)
    known = os.path.normpath(target.path)
    if path == known or os.path.dirname(path) == known:
        return True
    return target.recursive and _below(path, known)


def _end(path: str, depth: int) -> int:
    return len("/".join(path.split("/")[: depth + 1]))


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _programs(seen: Observed, guess: Foreseen) -> list[str]:
    known = guess.programs | {"bash"} if seen.execs and seen.execs[0].argv[:2] == ("bash", "-c") else guess.programs
    return [
        f"started `{name}`"
        for name in dict.fromkeys(os.path.basename(one.path) for one in seen.execs)
        if name not in known and not _excepted(HELPERS, guess.programs, name)
    ]


def _contacts(seen: Observed, guess: Foreseen) -> list[str]:
    if guess.contact:
        return []
    return [f"contacted `{one}`" for one in seen.contacts if not _excepted(CONTACTS, guess.programs, one)]


def _excepted(table: Iterable[Row], names: frozenset[str], value: str) -> bool:
    """Whether a row of a table of exceptions is about one of the programs and matches `value`."""
    return any(fnmatch.fnmatchcase(value, row.seen) and _matches_any(names, row.program) for row in table)


def _matches_any(names: frozenset[str], patterns: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns.split())
