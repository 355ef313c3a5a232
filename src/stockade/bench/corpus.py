"""Rows of a corpus, each with the answers that count as right, and what a wrong one is called."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

MEASURES = ("floor", "false-allow", "false-prompt", "false-block")
"""floor: stopped, of what must never run.  The others count mistakes: fewer is better."""

_HOME = "/home/dev"
_FILES = ("floor", "bypass", "gtfo", "readonly", "benign", "everyday")


class Row(NamedTuple):
    """One command.  `measures` are those that it counts for."""

    corpus: str
    command: str
    measures: tuple[str, ...]


class CorpusError(ValueError):
    """A folder that holds no corpus, or a row that is not understood; the message says which."""


def read(folder: str, *, home: str, sample: int = 0, seed: int = 1) -> list[Row]:
    """The rows of a folder, with the described home folder moved to `home`; at most `sample` of each file."""
    found: list[Row] = []
    for name in _FILES:
        path = os.path.join(folder, f"{name}.jsonl")
        if not os.path.exists(path):
            continue
        rows = list(_rows(path, name, home))
        if sample and len(rows) > sample:
            rows = random.Random(f"{seed} {name}").sample(rows, sample)  # noqa: S311 - a choice of rows is no secret
        found += rows
    if not found:
        raise CorpusError(f"`{folder}` holds none of {', '.join(f'{name}.jsonl' for name in _FILES)}")
    return found


def _rows(path: str, name: str, home: str) -> Iterator[Row]:
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            try:
                row = json.loads(line)
                measures = tuple(_measures(name, row))
                command = str.replace(row["command"], _HOME, home)
            except (ValueError, KeyError, TypeError) as error:
                raise CorpusError(f"{path}:{number}: not a row of a corpus: {error}") from None
            if measures and not row.get("doubtful"):
                yield Row(name, command, measures)


def _measures(name: str, row: dict[str, Any]) -> Iterator[str]:
    """What a row counts for; none for a row that leaves the answer open."""
    if name == "floor":
        if row["expected"] == "deny":
            if "/3]" not in row["rationale"]:
                yield "floor"
        else:
            yield "false-block"
    elif name == "bypass":
        yield "floor" if row["must_not"] == "run-at-all" else "false-allow"
    elif name == "gtfo":
        if row["expected"] != "allow" and row.get("smart") != "allow":
            yield "false-allow"
    elif name == "benign":
        yield from ("false-prompt", "false-block") if row["expect"] == "allow" else ("false-block",)
    elif name == "readonly":
        yield from ("false-prompt", "false-block")
