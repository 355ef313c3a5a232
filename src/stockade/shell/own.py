"""Descriptions that a person or a project adds to those that come with Stockade.

They add and never take away: for a program that is described already, what they say comes on top.  A
program that is not described is known by its added description alone, unless that one is held; then
the program stays unknown, and what the description says comes on top of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from stockade.shell.arguments import read_arguments
from stockade.shell.calls import Call
from stockade.shell.catalog import Program

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter


class Example(NamedTuple):
    """A command with the answer that it must get in `default`, without rules, and in `smart`."""

    command: str
    want: str
    smart: str


class Own(NamedTuple):
    """An added description.  `held`: of a project that is not trusted; it can only make an answer stricter."""

    program: Program
    names: tuple[str, ...]
    layer: str
    file: str
    held: bool = False
    examples: tuple[Example, ...] = ()


Owns = Mapping[str, tuple[Own, ...]]
"""All added descriptions by each name of their programs, those of a person first."""


def known_by(program: Program | None, owns: tuple[Own, ...]) -> tuple[Program | None, tuple[Own, ...]]:
    """The description that a program is known by, and those that come on top of it."""
    if program is not None:
        return program, owns
    for at, own in enumerate(owns):
        if not own.held:
            return own.program, owns[:at] + owns[at + 1 :]
    return None, owns


def add(it: Interpreter, call: Call, owns: tuple[Own, ...]) -> None:
    """Adds what further descriptions of a program say; what they do not describe they say nothing about."""
    from stockade.shell.commands import apply_reading, run

    for own in owns:
        reading = read_arguments(own.program, call.args)
        reading.effects = [effect for effect in reading.effects if effect[1] not in reading.gaps]
        reading.wild = None
        apply_reading(it, call, reading)
        inside = [call.inside(command, own.program.name) for command in reading.commands]
        it.in_copy(lambda inside=inside: [run(it, inner) for inner in inside])  # type: ignore[misc]
