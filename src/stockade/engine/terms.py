"""What an allowed command needs of its sandbox beyond the profile: widened for this one operation, by what was decided.

An allow never widens by itself: only a person's approval of this very command does, by what the command was seen to
name, and a rule that is about hosts (`network`) or about folders outside (`external_directory`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from stockade.confine.places import PRIVATE, SYSTEM
from stockade.confine.plan import Request
from stockade.model.decision import Decision
from stockade.model.effects import Effect, Kind, Segment
from stockade.model.paths import inside
from stockade.model.verdict import Verdict
from stockade.secrets.names import secret_path

_NETWORK = frozenset((Kind.NETWORK, Kind.INSTALL))
_READING = frozenset((Kind.READ, Kind.LIST))
_WRITING = frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE))
_OPEN = frozenset((Kind.EXECUTE, Kind.UNKNOWN, Kind.HIJACK))


class Widening(NamedTuple):
    """What one operation gets on top of its profile; `reasons` are for the person who reads along."""

    request: Request
    reasons: tuple[str, ...]


def widened(decision: Decision, request: Request, *, approved: bool) -> Widening:
    """The request of an allowed command, with what its decision covers.

    `approved` says that a person has agreed to this very command.  Otherwise only rules count that are about hosts
    or folders outside: a rule that allows a command, or a mode, says nothing about the sandbox.
    """
    segments = [s for s in decision.analysis.segments if not s.dormant] if decision.analysis is not None else []
    effects = [effect for segment in segments for effect in segment.effects]
    ruled = {key: _ruled(decision, key) for key in ("network", "external_directory")}
    reasons: list[str] = []
    if request.network == "off" and (ruled["network"] or (approved and any(effect.kind in _NETWORK for effect in effects))):
        request = request._replace(network="on")
        reasons.append("the network is on, which the decision covers")
    covered = [e for e in effects if approved or (e.target is not None and e.target.path in ruled["external_directory"])]
    write = tuple(dict.fromkeys(_outside(covered, _WRITING, request, folder=True)))
    read = tuple(path for path in dict.fromkeys(_outside(covered, _READING, request, folder=False)) if path not in write)
    unmask = tuple(dict.fromkeys(_secrets(effects))) if approved else ()
    release = (*_released(segments, request), *_removed(effects)) if approved else ()
    reasons += [f"`{path}` can be written" for path in write]
    reasons += [f"`{path}` can be read" for path in (*read, *unmask) if not _system(path)]
    changed = request._replace(
        read=(*request.read, *read), write=(*request.write, *write), unmask=(*request.unmask, *unmask), release=release,
    )  # fmt: skip
    return Widening(changed, tuple(dict.fromkeys(reasons)))


def _ruled(decision: Decision, key: str) -> frozenset[str]:
    """What rules of a person, a project or the machine allow under a key that is about the sandbox."""
    return frozenset(
        check.subject
        for check in decision.checks
        if check.key == key and check.verdict is Verdict.ALLOW and check.layer in ("project", "user", "session", "cli", "managed")
    )


def _paths(effects: list[Effect], kinds: frozenset[Kind]) -> Iterator[str]:
    for effect in effects:
        target = effect.target
        if effect.kind in kinds and target is not None and target.path is not None and not target.glob:
            yield os.path.realpath(target.path)


def _outside(effects: list[Effect], kinds: frozenset[Kind], request: Request, *, folder: bool) -> Iterator[str]:
    """The places that a command names and that its profile does not give it; for a new file the folder around it."""
    given = (request.workspace, *request.write, *(() if folder else request.read))
    own = ("/dev", "/proc", "/run")
    for path in _paths(effects, kinds):
        if any(inside(path, one) for one in (*given, *own)) or (not folder and _system(path)):
            continue
        while folder and (not os.path.isdir(path) or os.path.islink(path)) and path != "/":
            path = os.path.dirname(path)
        if path not in ("/", request.home, *PRIVATE) and os.path.lexists(path):
            yield path


def _system(path: str) -> bool:
    return any(inside(path, one) for one in SYSTEM)


def _secrets(effects: list[Effect]) -> Iterator[str]:
    for path in _paths(effects, _READING | _WRITING):
        if secret_path(path) is not None:
            yield path


def _removed(effects: list[Effect]) -> Iterator[str]:
    """Folders that are removed as a whole: what would be kept or hidden in them could not be."""
    return _paths(
        [effect for effect in effects if effect.target is not None and effect.target.recursive], frozenset((Kind.DELETE,))
    )


def _released(segments: list[Segment], request: Request) -> Iterator[str]:
    """The repository's own configuration, where nothing but git itself would run and change it."""
    only_git = all(s.program == "git" or s.builtin for s in segments) and any(s.program == "git" for s in segments)
    changes = any(e.kind in (Kind.VCS, Kind.EDIT, Kind.WRITE) for s in segments for e in s.effects)
    if only_git and changes and not any(e.kind in _OPEN for s in segments for e in s.effects):
        yield f"{request.workspace}/.git/config"
