"""What a configuration file says, as values."""

from __future__ import annotations

from typing import Any, NamedTuple

from stockade.config.problems import Problem
from stockade.policy.rules import Rule

MAX_BYTES = 1 << 20
MAX_RULES = 1000
MAX_DOTS_SQUARED = 10_000_000  # the time of `tomllib` grows with the square of the dots of a key; this takes 0.5 s


def too_many_dots(text: str) -> bool:
    """Whether reading the text as TOML could take long."""
    return sum(line.count(".") ** 2 for line in text.split("\n")) > MAX_DOTS_SQUARED


class Value(NamedTuple):
    """A setting as a file gives it."""

    name: str
    value: Any
    file: str
    line: int


class File(NamedTuple):
    """What a file says.  `rules` are in the order of precedence within the file."""

    file: str
    layer: str
    rules: tuple[Rule, ...]
    values: tuple[Value, ...]
    problems: tuple[Problem, ...]

    @property
    def broken(self) -> bool:
        return any(p.severity == "error" for p in self.problems)
