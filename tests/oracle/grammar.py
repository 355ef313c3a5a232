"""Makes bash commands from a grammar: mostly valid, shaped like what people write, and bounded.

The grammar is the table in `rules.py`. Each rule is a list of lines `weight alternative`; `<name>` stands
for an expansion of that rule and `<quoted:name>` for its expansion as one single-quoted word. In an
alternative ⏎ is a newline, ⇥ a tab and ␣ a blank at an edge. A `line` ends in `; ` or a newline, so that
`done`, `}` or `)` may follow it at once. Loops run over short lists or end in `break`, and no function
calls itself.

Rules in `NESTING` may contain whole commands. Below `MAX_DEPTH` of them only alternatives without such
rules are taken, which every rule has.
"""

from __future__ import annotations

import re
import shlex
from itertools import accumulate
from random import Random
from typing import NamedTuple

from tests.oracle.rules import RULES

MAX_DEPTH = 3

NESTING = frozenset({"compound", "substitution", "wrapped", "operand"})

_HOLE = re.compile(r"<(quoted:)?([a-z_]+)>")
_SIGNS = str.maketrans({"⏎": "\n", "⇥": "\t", "␣": " "})


class _Rule(NamedTuple):
    """The alternatives of one rule with their running sums of weights."""

    alternatives: tuple[str, ...]
    weights: tuple[int, ...]


def random_program(rng: Random) -> str:
    """One complete command text of one to four statements."""
    return _expand("program", rng, 0).rstrip(" ;")


def _expand(name: str, rng: Random, depth: int) -> str:
    rule = (_FLAT if depth >= MAX_DEPTH else _FULL)[name]
    (alternative,) = rng.choices(rule.alternatives, cum_weights=rule.weights)

    def fill(hole: re.Match[str]) -> str:
        inner = hole[2]
        text = _expand(inner, rng, depth + (inner in NESTING))
        return shlex.quote(text) if hole[1] else text

    return _HOLE.sub(fill, alternative)


def _alternatives(source: str) -> list[tuple[int, str]]:
    found = []
    for line in source.strip().splitlines():
        weight, _, text = line.strip().partition(" ")
        found.append((int(weight), text.translate(_SIGNS)))
    return found


def _rule(pairs: list[tuple[int, str]]) -> _Rule:
    return _Rule(tuple(text for _, text in pairs), tuple(accumulate(weight for weight, _ in pairs)))


def _nests(text: str) -> bool:
    return any(name in NESTING for _, name in _HOLE.findall(text))


_PARSED = {name: _alternatives(source) for name, source in RULES.items()}
_FULL = {name: _rule(pairs) for name, pairs in _PARSED.items()}
_FLAT = {name: _rule([pair for pair in pairs if not _nests(pair[1])]) for name, pairs in _PARSED.items()}
