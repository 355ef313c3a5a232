"""A sandbox in words: the plan before a run, what held and what was refused after it."""

from __future__ import annotations

import sys
from typing import Any

from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint, visible
from stockade.confine.plan import Kind, Mount, SandboxPlan
from stockade.engine.confining import Confined, ConfineError, Prepared

_LEVEL_COLOURS = {"full": "green", "partial": "yellow", "none": "red"}
_STEPS = {
    Kind.READ: "read", Kind.WRITE: "write", Kind.EMPTY: "empty", Kind.LINK: "link", Kind.PROC: "new", Kind.DEVICES: "new",
    Kind.HIDE_FILE: "hidden", Kind.HIDE_FOLDER: "hidden",
}  # fmt: skip


_STOPPED = {
    "output": "it printed more than it may", "interrupt": "it was interrupted", "terminate": "it was told to end",
}  # fmt: skip


def plan_text(command: str, prepared: Prepared, *, whole: bool) -> str:
    """What would run and how it is confined; `whole` adds every step of the plan."""
    made = prepared.plan
    on = colourful(sys.stderr)
    lines = ["", *(f"    {line}" for line in visible(command).split("\n")), ""]
    lines += table(_summary(made), indent="  ")
    lines += [f"  not there: {one_line(path)}" for path in made.missing]
    if whole:
        lines += ["", "every step, a later one lies over an earlier one:", *table([_step(m) for m in made.mounts], indent="  ")]
        lines += [
            "",
            "what holds here:",
            *table([_control(c.name, c.level, c.how, on=on) for c in prepared.controls], indent="  "),
        ]
        lines += ["", f"environment: {', '.join(sorted(made.env))}"]
    return "\n".join(lines)


def _summary(made: SandboxPlan) -> list[tuple[str, str]]:
    writes = [m.target for m in made.base if m.kind is Kind.WRITE]
    reads = [m.target for m in made.base if m.kind is Kind.READ and m.why in ("listed to be read", "the workspace")]
    covers = made.covers
    stay = sum(m.kind is Kind.READ for m in covers)
    hidden = sum(m.kind in (Kind.HIDE_FILE, Kind.HIDE_FOLDER) for m in covers)
    limits = [f"{name.replace('_', ' ')} {value:g}" for name, value in made.limits._asdict().items() if value is not None]
    rows = [
        ("profile", made.profile),
        ("network", "off, loopback of its own" if made.network == "off" else "ON: everything that this machine reaches"),
        ("writes", ", ".join(map(one_line, writes)) or "nothing but its own /tmp and home"),
        ("reads", ", ".join(["the system", *map(one_line, reads)])),
    ]
    if stay or hidden:
        rows.append(("inside", f"{stay} kept as they are, {hidden} hidden"))
    return [*rows, ("limits", ", ".join(limits))] if limits else rows


def _step(mount: Mount) -> tuple[str, ...]:
    source = f" -> {one_line(mount.source)}" if mount.source and mount.source != mount.target else ""
    return (_STEPS[mount.kind], one_line(mount.target) + source, mount.why)


def _control(name: str, level: str, how: str, *, on: bool) -> tuple[str, ...]:
    return (paint(level, _LEVEL_COLOURS[level], on=on), name, how)


def after_text(prepared: Prepared, done: Confined, *, quiet: bool) -> str:
    """What a person wants to know after a run: what did not hold, what was refused, what was put away."""
    lines = []
    ended = done.ended
    if ended.stopped:
        why = dict(_STOPPED, time=f"it took longer than {prepared.plan.limits.seconds or 0:g} s")
        lines.append(f"stockade: ended, with all of its processes: {why[ended.stopped]}")
    for refusal in done.refused:
        lines.append(
            f"stockade: the sandbox refused `{one_line(refusal.what)}`: {refusal.why}; to allow it: {one_line(refusal.setting)}"
        )
    for moved in done.moved:
        lines.append(f"stockade: put away `{one_line(moved.path)}`: {one_line(moved.why)}; it is in `{one_line(moved.kept)}`")
    if not quiet:
        lines.append(held_line(done))
    return "\n".join(lines)


def problem_text(error: ConfineError) -> str:
    """What is wrong, and what to do about it."""
    return one_line(str(error)) + (f" ({error.hint})" if error.hint else "")


def held_line(done: Confined) -> str:
    """One line: how many controls held fully, and those that did not."""
    full = sum(control.level == "full" for control in done.controls)
    weak = [f"{control.name} {control.level} ({control.how})" for control in done.controls if control.level != "full"]
    return f"stockade: confined: {full} of {len(done.controls)} controls held fully" + (f"; {'; '.join(weak)}" if weak else "")


def result_json(command: str, prepared: Prepared, done: Confined, code: int) -> dict[str, Any]:
    """A run for programs."""
    made = prepared.plan
    return {
        "v": 1, "command": command, "profile": made.profile, "network": made.network, "cwd": made.cwd, "code": code,
        "stopped": done.ended.stopped or None, "duration_ms": int(done.ended.seconds * 1000), "backend": done.ended.backend,
        "controls": [control._asdict() for control in done.controls],
        "refused": [refusal._asdict() for refusal in done.refused], "quarantined": [moved._asdict() for moved in done.moved],
        "missing": list(made.missing),
    }  # fmt: skip
