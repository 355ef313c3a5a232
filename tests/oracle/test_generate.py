"""The command sources are repeatable, different from each other, and mostly valid."""

from __future__ import annotations

import pytest

from tests.oracle.generate import KINDS, generate
from tests.oracle.sandbox import Oracle


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_same_seed_gives_same_commands(kind: str | None) -> None:
    first = list(generate(7, 60, kind))
    assert first == list(generate(7, 60, kind))
    assert first[:20] == list(generate(7, 20, kind))
    assert first != list(generate(8, 60, kind))
    assert not any("\0" in command for command in first)


def test_mixed_kinds_take_turns() -> None:
    mixed = list(generate(7, 8))
    assert mixed[0::4] == [list(generate(7, 5, "grammar"))[at] for at in (0, 4)]


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(KeyError):
        list(generate(1, 1, "poetry"))


def test_bash_accepts_most_of_the_grammar(oracle: Oracle) -> None:
    runs = [oracle.run(command.encode()) for command in generate(11, 200, "grammar")]
    assert sum(run.syntax_error for run in runs) <= 10
    assert sum(bool(run.execs) for run in runs) >= 150
