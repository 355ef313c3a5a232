"""Seeded sources of bash commands for the oracle.

Three kinds, because they find different mistakes: `grammar` makes realistic valid text, `fuzz` fills
templates with hostile tokens, and `mutation` bends lines that are known to mislead parsers. The command at
one index depends on the seed, the kind and that index only, so a failure can be repeated alone.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

from tests.oracle.grammar import random_program

CORPUS = Path(__file__).resolve().parent.parent / "corpus"

FRAGMENT_COUNTS = (1, 1, 1, 2, 2, 3, 4)
MAX_HOLES = 8


def generate(seed: int, count: int, kind: str | None = None) -> Iterator[str]:
    """Yield `count` commands of one kind, or of all kinds in turn when `kind` is None.

    Raises `KeyError` for a kind that is not in `KINDS`.
    """
    names = tuple(KINDS) if kind is None else (kind,)
    for index in range(count):
        name = names[index % len(names)]
        yield KINDS[name](Random(f"{seed}/{name}/{index}"))


def _from_template(rng: Random) -> str:
    data = _fuzz_data()
    skeleton = rng.choice(data["skeletons"])
    return skeleton.format(*(_fragments(rng) for _ in range(MAX_HOLES)))


def _fragments(rng: Random) -> str:
    return "".join(rng.choices(_fuzz_data()["fragments"], k=rng.choice(FRAGMENT_COUNTS)))


def _from_tricky_line(rng: Random) -> str:
    text = rng.choice(tricky_lines())
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = rng.choice(MUTATIONS)(text, rng)
    return text


def _insert(text: str, rng: Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_fuzz_data()["fragments"]) + text[at:]


def _delete(text: str, rng: Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.choice((1, 1, 2, 4)) :]


def _swap_blank(text: str, rng: Random) -> str:
    blanks = [at for at, character in enumerate(text) if character in " \n;"]
    if not blanks:
        return text
    at = rng.choice(blanks)
    return text[:at] + rng.choice(("\n", "\t", ";", " \\\n", "  ", " # ", " && ", " | ")) + text[at + 1 :]


def _join(text: str, rng: Random) -> str:
    return text + rng.choice(("\n", "; ", " && ", " | ", " || ", " & ")) + rng.choice(tricky_lines())


def _splice(text: str, rng: Random) -> str:
    other = rng.choice(tricky_lines())
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _wrap(text: str, rng: Random) -> str:
    frame = rng.choice(
        (
            "{{ {}\n}}",
            "( {} )",
            "if {}\nthen rm w; fi",
            "f() {{ {}\n}}; f",
            "echo $({}\n)",
            "ls && {}",
            "! {}",
            'echo "$({})"',
        )
    )
    if rng.random() < 0.3:
        return rng.choice(("bash -c {}", "eval {}", "timeout 5 bash -c {}")).format(shlex.quote(text))
    return str(frame.format(text))


MUTATIONS: tuple[Callable[[str, Random], str], ...] = (
    _insert,
    _insert,
    _delete,
    _swap_blank,
    _join,
    _splice,
    _wrap,
)

KINDS: dict[str, Callable[[Random], str]] = {
    "grammar": random_program,
    "fuzz": _from_template,
    "mutation": _from_tricky_line,
}


@cache
def _fuzz_data() -> dict[str, list[str]]:
    data: dict[str, list[str]] = json.loads((CORPUS / "fuzz_fragments.json").read_text())
    return data


@cache
def tricky_lines() -> tuple[str, ...]:
    """The commands of the wrong-parse corpus."""
    rows = (CORPUS / "wrong_parses.jsonl").read_text().splitlines()
    return tuple(json.loads(row)["command"] for row in rows)
