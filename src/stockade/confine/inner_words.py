"""How `inner` is started, and what it is told."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from stockade.confine.plan import SandboxPlan

HIDDEN = "/run/stockade/hidden"
"""Where the empty file that nobody can read lies inside, for those who cover from within."""


@cache
def text() -> bytes:
    """The program itself.  It is passed by a descriptor: inside there may be no place where it lies."""
    with open(os.path.join(os.path.dirname(__file__), "inner.py"), "rb") as stream:
        return stream.read()


def argv_for(script: int, told: int, command: Sequence[str]) -> list[str]:
    """The words that start `inner` from descriptor `script`; it reads what it is told from descriptor `told`."""
    return [os.path.realpath(sys.executable), "-I", "-S", f"/proc/self/fd/{script}", str(told), *command]


def told_for(plan: SandboxPlan, *, whole: bool, blank: str, filtered: bytes, scopes: int) -> dict[str, Any]:
    """A plan in plain values: with all of its mounts, or only with the covers that bubblewrap has left out."""
    mounts = [*_steps(plan.base), ("read", os.fsencode(HIDDEN), os.fsencode(blank))] if whole else None
    return {
        "mounts": mounts, "covers": _steps(plan.covers), "blank": os.fsencode(HIDDEN), "cwd": plan.cwd,
        "network": plan.network != "off", "filter": filtered, "scopes": scopes,
    }  # fmt: skip


def _steps(mounts: Sequence[Any]) -> list[tuple[str, bytes, bytes]]:
    return [(str(m.kind), os.fsencode(m.target), os.fsencode(m.source)) for m in mounts]


@contextmanager
def started(told: Mapping[str, Any], command: Sequence[str]) -> Iterator[tuple[list[str], tuple[int, int]]]:
    """The words for one start, and the descriptors that must be passed on."""
    numbers = (memory(text()), memory(marshal.dumps(dict(told))))
    try:
        yield argv_for(*numbers, command), numbers
    finally:
        for number in numbers:
            os.close(number)


def memory(data: bytes) -> int:
    """A descriptor of memory that holds some bytes, at their beginning."""
    number = os.memfd_create("stockade", os.MFD_CLOEXEC)
    write_all(number, data)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def write_all(number: int, data: bytes) -> None:
    """Writes all of some bytes to a descriptor, which may take them in pieces."""
    left = memoryview(data)
    while left:
        left = left[os.write(number, left) :]
