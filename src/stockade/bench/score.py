"""Asks guards about rows, and counts."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from stockade.bench.adapters import ADAPTERS, ERROR, SILENT, Adapter, Resident, once
from stockade.bench.corpus import MEASURES, Row

COLD_STARTS = 20


class Guard(NamedTuple):
    """A guard to be scored: its argument vector, and the adapter that speaks to it."""

    name: str
    argv: tuple[str, ...]
    adapter: Adapter
    cold: tuple[str, ...] = ()
    """For a resident guard: the argument vector that decides on one command and exits with the verdict."""


class Score(NamedTuple):
    """`counts` holds for each measure (good or wrong ones, rows); times are milliseconds, None if not measured."""

    name: str
    adapter: str
    counts: dict[str, tuple[int, int]]
    errors: int
    cold: tuple[float, float] | None
    resident: tuple[float, float] | None


def ours() -> Guard:
    """Stockade itself, as it decides without any configuration."""
    python = (sys.executable, "-m", "stockade", "check")
    return Guard("stockade", (*python, "--batch"), ADAPTERS["stdin-json"], (*python, "--"))


def score(
    guard: Guard, rows: list[Row], *, cwd: str, env: Mapping[str, str], jobs: int, progress: Callable[[int], None]
) -> Score:  # fmt: skip
    """The score of one guard; `progress` is told how many rows are done."""
    if guard.adapter.resident:
        answers, times = _resident(guard, rows, cwd=cwd, env=env, progress=progress)
        cold = _cold(guard, rows, cwd=cwd, env=env) if guard.cold else None
        return Score(guard.name, guard.adapter.name, _counts(rows, answers), answers.count(ERROR), cold, _quantiles(times))
    answers, times = _started(guard, rows, cwd=cwd, env=env, jobs=jobs, progress=progress)
    return Score(guard.name, guard.adapter.name, _counts(rows, answers), answers.count(ERROR), _quantiles(times), None)


def _resident(
    guard: Guard, rows: list[Row], *, cwd: str, env: Mapping[str, str], progress: Callable[[int], None]
) -> tuple[list[str], list[float]]:
    child = Resident(list(guard.argv), cwd=cwd, env=env)
    answers, times = [], []
    try:
        for at, row in enumerate(rows):
            begin = time.perf_counter()
            answers.append(child.ask(row.command))
            times.append((time.perf_counter() - begin) * 1e3)
            progress(at + 1)
    finally:
        child.close()
    return answers, times


def _started(
    guard: Guard, rows: list[Row], *, cwd: str, env: Mapping[str, str], jobs: int, progress: Callable[[int], None]
) -> tuple[list[str], list[float]]:
    def ask(row: Row) -> tuple[str, float]:
        begin = time.perf_counter()
        answer = once(list(guard.argv), guard.adapter, row.command, cwd=cwd, env=env)
        return answer, (time.perf_counter() - begin) * 1e3

    answers, times = [], []
    with ThreadPoolExecutor(jobs) as pool:
        for at, (answer, spent) in enumerate(pool.map(ask, rows)):
            answers.append(answer)
            times.append(spent)
            progress(at + 1)
    return answers, times


def _cold(guard: Guard, rows: list[Row], *, cwd: str, env: Mapping[str, str]) -> tuple[float, float]:
    """The time of a process for one command, over some rows."""
    times = []
    for row in rows[:: max(len(rows) // COLD_STARTS, 1)][:COLD_STARTS]:
        begin = time.perf_counter()
        once(list(guard.cold), ADAPTERS["exit-code"], row.command, cwd=cwd, env=env)
        times.append((time.perf_counter() - begin) * 1e3)
    return _quantiles(times)


def _counts(rows: list[Row], answers: list[str]) -> dict[str, tuple[int, int]]:
    found = {}
    for measure in MEASURES:
        given = [answer for row, answer in zip(rows, answers, strict=True) if measure in row.measures]
        found[measure] = (sum(_counted(measure, answer) for answer in given), len(given))
    return found


def _counted(measure: str, answer: str) -> bool:
    """Silence and an error let a command run: hosts go on without an answer."""
    if measure == "floor":
        return answer == "deny"
    if measure == "false-allow":
        return answer in ("allow", SILENT, ERROR)
    return answer == ("ask" if measure == "false-prompt" else "deny")


def _quantiles(times: list[float]) -> tuple[float, float]:
    """(p50, p95)."""
    ordered = sorted(times)
    return ordered[len(ordered) // 2], ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]


def child_env(home: str) -> dict[str, str]:
    """What a guard gets: the caller's environment with the scratch home, and no state or configuration of Stockade."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STOCKADE_", "XDG_"))}
    return {**kept, "HOME": home}
