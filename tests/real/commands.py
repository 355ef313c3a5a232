"""The commands that are run for each description: its examples, and the lines of `more.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import stockade.shell
from stockade.shell import analyze
from tests.real.compare import CONTEXT, foreseen, programs
from tests.real.sandbox import installed

DESCRIPTIONS = Path(stockade.shell.__file__).resolve().parent / "programs"
MORE = Path(__file__).resolve().parent / "more.toml"

NEVER_RUN = {"reboot": "never run: a hole in the sandbox would end the machine"}


class Described(NamedTuple):
    """One description: its names, and the commands that can be compared with what the program does."""

    stem: str
    names: frozenset[str]
    commands: tuple[str, ...]
    unchecked: str
    """Why nothing of this program is checked; empty where something is."""


@cache
def described() -> tuple[Described, ...]:
    """All descriptions, in the order of their files."""
    more = tomllib.loads(MORE.read_text())
    return tuple(_described(path, more.get(path.stem, [])) for path in sorted(DESCRIPTIONS.glob("*.toml")))


def _described(path: Path, more: list[str]) -> Described:
    table = tomllib.loads(path.read_text())
    names = frozenset((table["name"], *table.get("also", [])))
    examples = [row["command"] for row in table["example"] if row["want"] != "deny"]
    commands = tuple(_comparable([*examples, *more], names))
    return Described(path.stem, names, commands, _why_unchecked(path.stem, names, commands))


def _comparable(commands: list[str], names: frozenset[str]) -> Iterator[str]:
    """Commands that really run the described program and whose effects are all of a checkable kind."""
    for command in dict.fromkeys(commands):
        run = programs(analyze(command, CONTEXT)) & names
        if any(map(installed, run)) and not foreseen(command).anything:
            yield command


def _why_unchecked(stem: str, names: frozenset[str], commands: tuple[str, ...]) -> str:
    if stem in NEVER_RUN:
        return NEVER_RUN[stem]
    if not any(map(installed, names)):
        return "not installed"
    return "" if commands else "everything that it is known to do asks"
