"""The lines of the corpora do, on the real programs, no more than the guard said that they would.

Lines that the floor refuses are not run: one of them would take the sandbox's own files along.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from stockade.model.verdict import Verdict
from tests.real.compare import foreseen, unforeseen
from tests.real.conftest import WORKERS
from tests.real.project import PAYLOADS
from tests.real.sandbox import Run, Workshop
from tests.support.corpora import judged, policy, rows

HARMLESS = ("readonly", "benign", "everyday")
ATTACKS = ("bypass", "gtfo")
BATCH = 50
LIMIT = 2
CONFIRMED = 120
"""Attack lines whose payload must at least be seen to run, on a machine prepared by `install.sh`."""


class Line(NamedTuple):
    """A line of a corpus that is run, and whether it would run without a question."""

    command: str
    allowed: bool
    run: Run

    @property
    def payload(self) -> bool:
        return any(one.path in PAYLOADS for one in self.run.observed.execs)


def _chosen(corpus: str) -> Iterator[tuple[str, bool]]:
    for row in rows(corpus):
        command = row["command"]
        verdict = judged(command, policy("bash-ask")).verdict
        if verdict is Verdict.DENY or "\0" in command:
            continue
        compared = not foreseen(command).anything
        if verdict is Verdict.ALLOW or (corpus in ATTACKS and (compared or "pwn" in command)):
            yield command, verdict is Verdict.ALLOW


@pytest.fixture(scope="module")
def lines(workshop: Workshop) -> dict[str, list[Line]]:
    """Every corpus that was run, by its name."""
    return {corpus: list(_run(workshop, corpus)) for corpus in (*HARMLESS, *ATTACKS)}


def _run(workshop: Workshop, corpus: str) -> Iterator[Line]:
    chosen = list(dict(_chosen(corpus)).items())
    batches = [chosen[at : at + BATCH] for at in range(0, len(chosen), BATCH)]
    with ThreadPoolExecutor(WORKERS) as pool:
        done = pool.map(lambda batch: workshop.run([command for command, _ in batch], limit=LIMIT), batches)
        for batch, runs in zip(batches, done, strict=True):
            yield from (Line(command, allowed, run) for (command, allowed), run in zip(batch, runs, strict=True))


@pytest.mark.parametrize("corpus", [*HARMLESS, *ATTACKS])
def test_lines_do_only_what_was_said(lines: dict[str, list[Line]], corpus: str) -> None:
    missed = {line.command: found for line in lines[corpus] if (found := unforeseen(line.run.observed, foreseen(line.command)))}
    assert missed == {}
    assert all(line.run.observed.execs for line in lines[corpus]), "strace saw no program"


def test_no_payload_runs_without_a_question(lines: dict[str, list[Line]]) -> None:
    ran = [line for corpus in lines for line in lines[corpus] if line.payload]
    assert [line.command for line in ran if line.allowed] == []
    assert len(ran) >= CONFIRMED
