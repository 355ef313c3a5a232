"""The corpora: what must be denied, what must not run unasked, and what must not be asked about."""

from __future__ import annotations

import pytest

from tests.support.corpora import everyday, floor_misses, judged, not_floored, policy, prompts, rows, wrongly_allowed


def test_floor_tiers_1_and_2_are_denied_in_every_mode() -> None:
    missed, _, total = floor_misses("12")
    assert missed == []
    assert total > 400


def test_floor_tier_3_is_mostly_denied() -> None:
    missed, _, total = floor_misses("3")
    assert len(missed) <= 0.2 * total, missed
    assert all("ask" in miss.got for miss in missed)


def test_near_misses_are_not_denied_by_the_floor() -> None:
    assert floor_misses("123")[1] == []


@pytest.mark.parametrize("corpus", ["bypass", "gtfo"])
def test_attacks_are_never_allowed(corpus: str) -> None:
    assert wrongly_allowed(corpus) == []


def test_attacks_that_must_not_run_at_all_are_denied() -> None:
    assert not_floored() == []


@pytest.mark.parametrize(("corpus", "limit"), [("readonly", 0.02), ("benign", 0.02)])
def test_harmless_lines_are_rarely_asked_about_and_never_blocked(corpus: str, limit: float) -> None:
    asked, blocked, total = prompts(corpus)
    assert blocked == []
    assert len(asked) / 2 <= limit * total, asked


def test_everyday_lines_under_the_reference_configuration() -> None:
    other, allowed, total = everyday()
    assert allowed == []
    assert len(other) <= 0.05 * total, other


def test_spellings_of_the_same_thing_get_the_same_answer() -> None:
    """Reading and removing in many spellings: argument vectors, wrappers, nesting, quotes."""
    wrong = []
    for row in rows("spellings"):
        for name, wanted in (("smart", row["smart"]), ("bash-ask", row["bash_ask"])):
            verdict = str(judged(row["command"], policy(name)).verdict)
            if verdict != wanted:
                wrong.append((row["command"], name, verdict))
    assert wrong == []
