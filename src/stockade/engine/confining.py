"""From the configuration to a confined run: the request, the plan, the run, the look at what it left."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stockade.config.settings import size
from stockade.confine.ability import Ability, ability
from stockade.confine.controls import Control, controls, unmet
from stockade.confine.environment import ChildEnv, compose
from stockade.confine.facts import Looked, gather, look_again
from stockade.confine.pending import forget, make_up, note
from stockade.confine.plan import Limits, Request, SandboxPlan, plan
from stockade.confine.run import Ended, NotConfined, backend_of, run
from stockade.confine.sweep import Moved, State, git_state, put_back, saved, sweep
from stockade.model.context import Context

if TYPE_CHECKING:
    from stockade.confine.refusals import Refusal

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
ALL = "all"


class ConfineError(Exception):
    """A command that cannot be confined as it must be; `hint` says what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Prepared(NamedTuple):
    """Everything that stands before a run: what is needed to show it, and to look at its traces."""

    plan: SandboxPlan
    able: Ability
    controls: tuple[Control, ...]
    looked: Looked
    state: State
    released: tuple[str, ...]
    saved: Mapping[str, bytes]
    earlier: tuple[Moved, ...] = ()


class Confined(NamedTuple):
    """A run that is over."""

    ended: Ended
    controls: tuple[Control, ...]
    refused: tuple[Refusal, ...]
    moved: tuple[Moved, ...]


def request(context: Context, value: Callable[[str], Any], **changes: Any) -> Request:
    """The request that the settings make (`value` gives one by its name), with `changes` by field.

    Raises ConfineError for a path with a variable that is not set.
    """
    read = (*_paths(value("sandbox.read"), "sandbox.read", context), *_paths(changes.pop("read", ()), "--read", context))
    made = Request(
        profile=value("sandbox.profile"),
        network=value("sandbox.network"),
        workspace=os.path.realpath(context.workspace),
        cwd=os.path.realpath(context.cwd),
        home=os.path.realpath(context.home),
        links=_links(context.home),
        env=context.env or {},
        read=tuple(path for path in read if path != ALL),
        write=_paths(value("sandbox.write"), "sandbox.write", context),
        deny=(*_paths(value("sandbox.deny"), "sandbox.deny", context), *_own(context)),
        unmask=_paths(value("sandbox.unmask"), "sandbox.unmask", context),
        read_all=ALL in read,
        limits=Limits(
            processes=value("sandbox.processes") or None,
            memory=size(value("sandbox.memory")) or None,
            file_size=size(value("sandbox.file_size")) or None,
            cpu_seconds=value("sandbox.cpu_seconds") or None,
        ),
    )
    for name in ("write", "deny", "unmask"):
        if name in changes:
            changes[name] = (*getattr(made, name), *_paths(changes[name], f"--{name}", context))
    return made._replace(**changes)


def _links(*paths: str) -> tuple[tuple[str, str], ...]:
    """Paths that are links, and the folders that they lead to."""
    return tuple((path, to) for path in paths if (to := os.path.realpath(path)) != os.path.normpath(path))


def _own(context: Context) -> tuple[str, ...]:
    """Stockade's own state and settings, which no command sees."""
    return tuple(path for path in (context.state, context.config) if path)


def _paths(texts: Iterable[str], where: str, context: Context) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text if text == ALL else _path(text, where, context) for text in texts))


def _path(text: str, where: str, context: Context) -> str:
    """An absolute, canonical path: `~`, `$NAME` and `${NAME}` are expanded, what is relative lies in the workspace."""

    env = context.env or {}

    def variable(m: re.Match[str]) -> str:
        name = m.group(1) or m.group(2)
        if name not in env:
            raise ConfineError(f"{where}: `{text}`: the variable `{name}` is not set", "write the path out, or set it")
        return env[name]

    whole = _VARIABLE.sub(variable, text)
    if whole == "~" or whole.startswith("~/"):
        whole = context.home + whole[1:]
    return os.path.realpath(os.path.join(context.workspace, whole))


def prepare(wanted: Request, folder: str) -> Prepared:
    """Looks at the machine and makes the plan; nothing has run.

    Raises ConfineError where this machine cannot hold what the profile requires.
    """
    able = ability(folder)
    if not able.confines:
        raise ConfineError(f"commands cannot be confined here: {able.problem}", "see `stockade doctor`")
    for path in (wanted.workspace, *wanted.write):
        if path == "/":
            raise ConfineError("the whole disk cannot be a place to write", "list the folders that are needed")
    earlier = _earlier(folder)
    looked = gather(wanted, folder)
    made = plan(wanted, looked.facts)
    found = controls(made, able)
    weak = unmet(made, found)
    if weak:
        raise ConfineError(f"`{made.profile}` cannot be held here: {weak[0].name}: {weak[0].how}", "see `stockade doctor`")
    return Prepared(made, able, found, looked, git_state(looked.facts.finds), wanted.release, saved(looked.facts.finds), earlier)


def confine(prepared: Prepared, command: Sequence[str], folder: str) -> Confined:
    """Runs a command as prepared, and puts away what it left that would run on its own.

    Raises NotConfined and OSError as `run` does: then nothing has run.  Raises ConfineError where it has run, and what
    it left cannot be put away.
    """
    noted = note(folder, prepared.looked.indexes, prepared.state)
    try:
        ended = run(prepared.plan, command, prepared.able, folder)
    except (NotConfined, OSError):
        forget(noted)
        raise
    moved = _swept(prepared, folder, noted)
    found = controls(prepared.plan, prepared.able, ended.holds)
    return Confined(ended, found, _refused(ended, prepared.plan), (*prepared.earlier, *moved))


def _swept(prepared: Prepared, folder: str, noted: str) -> tuple[Moved, ...]:
    state = {**prepared.state, **_stamps(prepared.released)}
    moved: list[Moved] = []
    try:
        for before, after in zip(prepared.looked.indexes, look_again(prepared.looked.indexes, folder), strict=True):
            moved += sweep(before, after, state, _quarantine(folder))
        put_back(moved, prepared.saved)
        forget(noted)
    except OSError as error:
        raise _left_behind(error) from None
    return tuple(moved)


def _earlier(folder: str) -> tuple[Moved, ...]:
    try:
        return make_up(folder, _quarantine(folder))
    except OSError as error:
        raise _left_behind(error) from None


def _left_behind(error: OSError) -> ConfineError:
    what = f"`{error.filename}`" if error.filename else "what a command left"
    message = f"{what} would run something later, and cannot be put away: {(error.strerror or 'error').lower()}"
    return ConfineError(message, "look at it before you use git, an agent or an editor there")


def _quarantine(folder: str) -> str:
    return os.path.join(folder, "quarantine")


def _refused(ended: Ended, made: SandboxPlan) -> tuple[Refusal, ...]:
    if not ended.code:
        return ()
    from stockade.confine.refusals import refusals  # patterns that a command that succeeds has no use for

    return refusals(ended.errors, made)


def _stamps(paths: tuple[str, ...]) -> State:
    """What may change by a person's word counts as it is now."""
    from stockade.confine.sweep import stamp

    found: State = {}
    for path in paths:
        found.update(stamp(path))
    return found


def profile_json(prepared: Prepared) -> dict[str, Any]:
    """A plan for programs: every step in its order."""
    made = prepared.plan
    return {
        "v": 1, "profile": made.profile, "network": made.network, "cwd": made.cwd,
        "mounts": [{"kind": str(m.kind), "target": m.target, "source": m.source, "why": m.why} for m in made.mounts],
        "environment": sorted(made.env), "limits": {k: v for k, v in made.limits._asdict().items() if v is not None},
        "missing": list(made.missing), "controls": [control._asdict() for control in prepared.controls],
        "backend": backend_of(made, prepared.able),
    }  # fmt: skip


def env_of(value: Callable[[str], Any], parent: Mapping[str, str]) -> ChildEnv:
    """The environment of a command by the settings."""
    return compose(
        parent, inherit=value("child_env.inherit"), strip_secrets=value("child_env.strip_secrets"),
        include_only=value("child_env.include_only"), fixed=value("child_env.set"), keep=value("child_env.keep"),
    )  # fmt: skip
