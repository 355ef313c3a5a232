"""What a run holds, control by control, and which controls a profile must have.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stockade.confine.ability import Ability
from stockade.confine.plan import SandboxPlan


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
