"""Runs the programs of all selected tests two at a time, ahead of the tests that look at the results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.real.commands import Described, described
from tests.real.sandbox import Run, Workshop, unavailable

WORKERS = 2


class Results:
    """The runs of each description; asking for one waits until its sandbox has finished."""

    def __init__(self, workshop: Workshop, pool: ThreadPoolExecutor) -> None:
        self._workshop = workshop
        self._pool = pool
        self._runs: dict[str, Future[list[Run]]] = {}

    def order(self, one: Described) -> None:
        if one.stem not in self._runs:
            self._runs[one.stem] = self._pool.submit(self._workshop.run, one.commands)

    def of(self, one: Described) -> list[Run]:
        self.order(one)
        return self._runs[one.stem].result()


@pytest.fixture(scope="session")
def workshop() -> Iterator[Workshop]:
    """The prepared project.  Without bwrap or strace the test is skipped, or fails where they are required."""
    reason = unavailable()
    if reason is not None and os.environ.get("STOCKADE_REQUIRE_ORACLES") == "1":
        pytest.fail(f"the real programs are required but cannot run: {reason}", pytrace=False)
    if reason is not None:
        pytest.skip(f"the real programs cannot run: {reason}")
    with Workshop() as prepared:
        yield prepared


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest, workshop: Workshop) -> Iterator[Results]:
    """What the programs of the selected tests did."""
    with ThreadPoolExecutor(WORKERS) as pool:
        found = Results(workshop, pool)
        for item in request.session.items:
            one = getattr(item, "callspec", None) and item.callspec.params.get("program")
            if isinstance(one, Described):
                found.order(one)
        yield found
        pool.shutdown(cancel_futures=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints which descriptions nothing real has confirmed."""
    if not any("tests/real" in report.nodeid for report in terminalreporter.getreports("passed")):
        return
    reasons: dict[str, list[str]] = {}
    for one in described():
        if one.unchecked:
            reasons.setdefault(one.unchecked, []).append(one.stem)
    checked = sum(not one.unchecked for one in described())
    terminalreporter.section(f"{checked} programs checked against the real ones")
    for reason, stems in sorted(reasons.items()):
        terminalreporter.write_line(f"unchecked, {reason} ({len(stems)}): {' '.join(stems)}")
