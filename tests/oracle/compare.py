"""Says what really ran that the guard had not foreseen.

The guard may foresee too much, never too little: a program that ran under words that no segment covers,
or a file that appeared and that no segment writes, is a miss. An analysis that is not complete asks, so
it misses nothing; callers count those apart.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from tests.oracle.sandbox import Run
from tests.oracle.xtrace import BUILTINS, DECLARING

_PIPE = re.compile(r"/dev/fd/[0-9]+")
"""What `<(…)` stands for; bash chooses the number."""

Argv = Sequence[str | None]
"""Foreseen words; None stands for any number of unknown words, also none."""


class SegmentLike(Protocol):
    """What is read from a segment of the guard."""

    @property
    def argv(self) -> Argv: ...

    @property
    def all_argvs(self) -> Sequence[Argv]: ...

    @property
    def writes(self) -> Sequence[str | None]: ...


class AnalysisLike(Protocol):
    """What is read from the guard's result."""

    @property
    def complete(self) -> bool: ...

    @property
    def segments(self) -> Sequence[SegmentLike]: ...


class Foreseen(NamedTuple):
    """The guard's result as this module needs it. A None among `writes` is an unknown path."""

    complete: bool
    argvs: tuple[Argv, ...]
    writes: frozenset[str | None]


def foreseen(analysis: AnalysisLike) -> Foreseen:
    """The only place that knows how the guard names things."""
    return Foreseen(
        complete=analysis.complete,
        argvs=tuple(argv for part in analysis.segments for argv in (part.argv, *part.all_argvs)),
        writes=frozenset(None if path is None else os.path.normpath(path) for part in analysis.segments for path in part.writes),
    )


def missed(run: Run, analysis: AnalysisLike, *, cwd: str) -> list[str]:
    """One line for each program, builtin and file of `run` that `analysis` does not cover.

    `cwd` is the working folder that the guard was told, as an absolute path; created files are looked up
    below it. A name that bash did not find is not a program that ran: see `missed_names`.
    """
    guess = foreseen(analysis)
    if guess.complete:
        return [*_missed_programs(run, guess), *_missed_builtins(run, guess), *_missed_files(run, guess, cwd)]
    return []


def missed_names(run: Run, analysis: AnalysisLike) -> list[str]:
    """One line for each name that bash looked up in vain and that `analysis` does not cover.

    It would have run on a machine that has such a program.
    """
    guess = foreseen(analysis)
    tried = (execution.words for execution in run.execs if not execution.path)
    return _uncovered("looked up", tried, guess) if guess.complete else []


def matches(pattern: Argv, words: Sequence[str]) -> bool:
    """Whether `words` are an instance of `pattern`; the first word is compared by its base name.

    Greedy from left to right: after an unknown field, the next known words are taken at the first place
    where they fit, and only the latest unknown field is ever widened again.
    """
    at = next_known = 0
    resume: tuple[int, int] | None = None
    while at < len(words):
        if next_known < len(pattern) and pattern[next_known] is None:
            next_known += 1
            resume = (next_known, at)
        elif next_known < len(pattern) and _same(pattern[next_known], words[at], first=at == 0):
            at, next_known = at + 1, next_known + 1
        elif resume is not None:
            next_known, at = resume[0], resume[1] + 1
            resume = (next_known, at)
        else:
            return False
    return all(word is None for word in pattern[next_known:])


def _same(known: str | None, word: str, *, first: bool) -> bool:
    if known == word or (known is not None and _PIPE.fullmatch(known) and _PIPE.fullmatch(word)):
        return True
    return first and known is not None and os.path.basename(known) == os.path.basename(word)


def _missed_programs(run: Run, guess: Foreseen) -> list[str]:
    return _uncovered("ran", (execution.words for execution in run.execs if execution.path), guess)


def _missed_builtins(run: Run, guess: Foreseen) -> list[str]:
    traced = (record.words for record in run.traced if record.words is not None)
    return _uncovered("ran builtin", (words for words in traced if words[0] in BUILTINS), guess)


def _uncovered(verb: str, executed: Iterable[tuple[str, ...]], guess: Foreseen) -> list[str]:
    return [f"{verb} `{shlex.join(words)}`" for words in dict.fromkeys(executed) if not _covered(words, guess)]


def _covered(words: tuple[str, ...], guess: Foreseen) -> bool:
    if words and words[0] in DECLARING:
        return any(matches(argv[:1], words[:1]) for argv in guess.argvs)
    return any(matches(argv, words) for argv in guess.argvs)


def _missed_files(run: Run, guess: Foreseen, cwd: str) -> list[str]:
    if None in guess.writes:
        return []
    paths = sorted(os.path.normpath(os.path.join(cwd, name)) for name in run.files)
    return [f"wrote `{path}`" for path in paths if path not in guess.writes]
