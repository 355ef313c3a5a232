"""Columns for a terminal, aligned whatever colours stand in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def table(rows: Sequence[Sequence[str]], *, indent: str = "", widest: int = 44) -> list[str]:
    """A line a row, the columns two blanks apart.

    A cell of more than `widest` characters pushes the rest of its own row only, so that one long
    command does not move the columns of all the others.
    """
    widths: dict[int, int] = {}
    for row in rows:
        for at, cell in enumerate(row[:-1]):
            if _length(cell) <= widest:
                widths[at] = max(widths.get(at, 0), _length(cell))
    return [(indent + _row(row, widths)).rstrip() for row in rows]


def _row(row: Sequence[str], widths: dict[int, int]) -> str:
    padded = [cell + " " * max(widths.get(at, 0) - _length(cell), 0) for at, cell in enumerate(row[:-1])]
    return "  ".join((*padded, *row[-1:]))


def _length(cell: str) -> int:
    return len(_COLOUR.sub("", cell))
