"""The files that define what an approved command runs, each with a digest.

A description names them (`runs`, see docs/program-format.md): `Makefile`, `package.json#scripts` (a key of
JSON), `vite.config.*` (a pattern), `**/conftest.py` (at any depth).  A plain name is looked up from the
working folder upward to the workspace, as the tools do.  A program that the line names by a path inside
the workspace (`./gradlew`, `.venv/bin/python`) is such a file itself.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import stat
from collections.abc import Iterator

from stockade.model.context import Context
from stockade.model.effects import Analysis, Segment
from stockade.policy.grants import UNREADABLE

MAX_ENTRIES = 50_000
_MAX_BYTES = 64 << 20
_SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache"))
MISSING = "missing"


def definitions(analysis: Analysis | None, context: Context) -> dict[str, str]:
    """The paths that define what the segments run, with a digest each; `unreadable` for what cannot be looked at."""
    found: dict[str, str] = {}
    for segment in analysis.segments if analysis is not None else ():
        cwd = segment.cwd or context.cwd
        for spec in segment.runs:
            found.update(_named(spec, cwd, context.workspace))
        program = _own_program(segment, cwd, context)
        if program is not None:
            found[program] = digest_of(program)
    return dict(sorted(found.items()))


def _own_program(segment: Segment, cwd: str, context: Context) -> str | None:
    """The program itself where the line names it by a path inside the workspace."""
    name = segment.argv[0] if segment.argv else None
    if name is None or "/" not in name:
        return None
    path = os.path.normpath(os.path.join(cwd, name))
    return path if path.startswith(context.workspace.rstrip("/") + "/") else None


def _named(spec: str, cwd: str, workspace: str) -> Iterator[tuple[str, str]]:
    name, _, key = spec.partition("#")
    if name.startswith("**/"):
        yield from _at_any_depth(name[3:], workspace if _below(cwd, workspace) else cwd)
        return
    for folder in _upward(cwd, workspace):
        names = [name] if not any(c in name for c in "*?[") else _matching(folder, name)
        for one in names:
            path = os.path.join(folder, one)
            digest = digest_of(path, key)
            if digest != MISSING or (folder == cwd and one == name):
                yield (f"{path}#{key}" if key else path), digest


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _upward(cwd: str, workspace: str) -> Iterator[str]:
    yield cwd
    at = cwd
    while at != workspace and _below(at, workspace):
        at = os.path.dirname(at)
        yield at


def _matching(folder: str, pattern: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if fnmatch.fnmatchcase(name, pattern))
    except OSError:
        return []


def _at_any_depth(name: str, top: str) -> Iterator[tuple[str, str]]:
    seen = 0
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not os.path.exists(os.path.join(folder, f, "pyvenv.cfg")))
        seen += len(files) + len(folders)
        if seen > MAX_ENTRIES:
            yield os.path.join(top, "**", name), UNREADABLE
            return
        if name in files:
            path = os.path.join(folder, name)
            yield path, digest_of(path)


def digest_of(path: str, key: str = "") -> str:
    """The digest of a file, or of one key of a JSON file; links count as what they lead to."""
    try:
        with open(path, "rb", opener=_opener) as stream:
            facts = os.fstat(stream.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MAX_BYTES:
                return UNREADABLE
            data = stream.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError:
        return UNREADABLE
    return hashlib.sha256(_part(data, key) if key else data).hexdigest()


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _part(data: bytes, key: str) -> bytes:
    """One key of a JSON object, spelled in one way; all of it where it is no such object."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return json.dumps(value.get(key), sort_keys=True).encode() if isinstance(value, dict) else data
