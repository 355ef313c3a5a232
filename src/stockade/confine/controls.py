"""What a run holds, control by control, and which controls a profile must have.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from stockade.confine.ability import Ability
from stockade.confine.plan import STAYS, Kind, Mount, SandboxPlan
from stockade.model.paths import inside

LEVELS = ("full", "partial", "none")


class Control(NamedTuple):
    """One control: `level` is full, partial or none, `how` says what holds it, or what does not."""

    name: str
    level: str
    how: str


REQUIRED: dict[str, tuple[str, ...]] = {
    "workspace": ("files", "secrets", "processes", "system calls", "environment"),
    "readonly": ("files", "secrets", "processes", "system calls", "environment"),
    "strict": ("files", "secrets", "processes", "system calls", "environment", "network"),
}
"""Where one of these is not fully held, nothing runs silently; `network` is one wherever it is to be off."""


def controls(plan: SandboxPlan, able: Ability, holds: frozenset[str] | None = None) -> tuple[Control, ...]:
    """What a plan holds on a machine; `holds` are the bounds that a control group held, None before a run."""
    return (
        Control("files", "full", "only the places of the plan exist inside"),
        Control("secrets", "full", "those that existed at the start are not readable"),
        Control("git and agent settings", "full", "what existed is read-only, what is new is looked at afterwards"),
        _network(plan),
        _sockets(plan, able),
        Control("processes", "full", "no process outside is seen or reached"),
        _calls(able),
        Control("environment", "full", "composed before the sandbox starts"),
        *_bounds(plan, holds, able),
    )


def unmet(plan: SandboxPlan, found: tuple[Control, ...]) -> tuple[Control, ...]:
    """The controls that a plan must have, and that are not fully held."""
    needed = {*REQUIRED.get(plan.profile, ()), *(("network", "sockets") if plan.network == "off" else ())}
    return tuple(control for control in found if control.name in needed and control.level != "full")


def _network(plan: SandboxPlan) -> Control:
    if plan.network == "off":
        return Control("network", "full", "a network of its own, with loopback only")
    return Control("network", "none", "it was asked for: the network of this machine, its loopback too")


def _sockets(plan: SandboxPlan, able: Ability) -> Control:
    if plan.network == "off":
        return Control("sockets", "full", "sockets of other programs are not there, datagrams to paths are refused")
    if able.landlock >= 6 and able.inner:
        return Control("sockets", "full", "sockets with a path are not there, abstract ones are refused by Landlock")
    return Control("sockets", "partial", "sockets with a path are not there; abstract ones of this machine are reachable")


def _calls(able: Ability) -> Control:
    if able.filters:
        return Control("system calls", "full", "a filter refuses those that no build or test needs")
    return Control("system calls", "none", f"there is no filter for `{able.machine}`")


def _bounds(plan: SandboxPlan, holds: frozenset[str] | None, able: Ability) -> Iterator[Control]:
    limits = plan.limits
    for name, value in (("processes", limits.processes), ("memory", limits.memory)):
        if value is not None:
            whole = holds is None or name in holds
            tree = whole or (name == "processes" and able.uid != 0)
            how = "for all processes together" if tree else "for one process at a time: there is no control group"
            weak = "none" if name == "processes" and not tree else "partial"
            yield Control(f"bound on {name}", "full" if tree else weak, how if weak != "none" else "root is not bound by it here")
    if limits.file_size is not None:
        yield Control("bound on file size", "full", "for each file")
    if limits.cpu_seconds is not None:
        yield Control("bound on computing", "partial", "for one process at a time")
    if limits.seconds is not None:
        yield Control("bound on time", "full", "the whole tree ends with the first process")
    if limits.output is not None:
        yield Control("bound on output", "full", "counted as it is passed on")


# -- what was refused -----------------------------------------------------------------------------


class Refusal(NamedTuple):
    """Something that the sandbox refused, as far as the command's own errors tell, and what would allow it."""

    what: str
    why: str
    setting: str


_QUOTES = "['\"`\u2018\u2019]?"
_PATH = f"{_QUOTES}([^\\s'\"`\u2018\u2019:]+){_QUOTES}"
_READ_ONLY = re.compile(f"{_PATH}: Read-only file system|Read-only file system: {_PATH}")
_DENIED = re.compile(f"{_PATH}: Permission denied|Permission denied: {_PATH}")
_NOWHERE = re.compile(
    r"Could not resolve host: ?'?([\w.-]+)|getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)"
    r"|Network is unreachable|Temporary failure in name resolution|ENETUNREACH"
)
_MANY = 8


def refusals(errors: str, plan: SandboxPlan) -> tuple[Refusal, ...]:
    """What a command's error stream says was refused, at most a few lines, each once."""
    found: dict[str, Refusal] = {}
    for m in _READ_ONLY.finditer(errors):
        refusal = _read_only(_absolute(m.group(1) or m.group(2), plan), plan)
        found.setdefault(refusal.what, refusal)
    for m in _DENIED.finditer(errors):
        path = _absolute(m.group(1) or m.group(2), plan)
        cover = next((one for one in plan.covers if one.kind in _HIDING and inside(path, one.target)), None)
        if cover is not None:
            found.setdefault(path, Refusal(path, cover.why, f'sandbox.unmask = ["{path}"]'))
    nowhere = _NOWHERE.search(errors) if plan.network == "off" else None
    if nowhere is not None:
        host = nowhere.group(1) or nowhere.group(2) or "the network"
        found.setdefault(host, Refusal(host, "the network is off", 'sandbox.network = "on"'))
    return tuple(found.values())[:_MANY]


_HIDING = (Kind.HIDE_FILE, Kind.HIDE_FOLDER)


def _absolute(path: str, plan: SandboxPlan) -> str:
    return path if path.startswith("/") else f"{plan.cwd}/{path}"


def _read_only(path: str, plan: SandboxPlan) -> Refusal:
    over = [mount for mount in plan.mounts if inside(path, mount.target) and mount.kind is not Kind.LINK]
    last: Mount | None = max(over, key=lambda mount: (len(mount.target), plan.mounts.index(mount)), default=None)
    if last is not None and last.why == STAYS:
        return Refusal(path, last.why, "nothing: do it outside of the sandbox")
    if last is not None and last.why == "the workspace":
        return Refusal(path, "the profile only reads", 'sandbox.profile = "workspace"')
    folder = path.rpartition("/")[0] or "/"
    return Refusal(path, "it is not listed to be written", f'sandbox.write = ["{folder}"]')
