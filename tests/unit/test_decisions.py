"""Whole decisions: what is said to a person, which bytes it is about, and why every other rule did not decide.

A row of `corpus/decisions.jsonl` names a row of `corpus/precedence.jsonl` by its note, and holds all that
is decided for it.  A check is a list of its fields in their order, with the rules that matched as
`rule`, or `rule: why it did not decide`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stockade.model.decision import CheckResult, Decision
from tests.unit.test_precedence import ROWS, decided

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "decisions.jsonl"
DECISIONS = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
BY_NOTE = {row["note"]: row for row in ROWS}


def check_as_data(check: CheckResult) -> list[Any]:
    matched = [f"{m.rule}: {m.ignored_because}" if m.ignored_because else m.rule for m in check.matched]
    return [
        check.key, check.subject, str(check.verdict), check.rule, check.layer, check.reason, [check.start, check.end], check.risk,
        check.liftable, check.rank, check.glued, matched,
    ]  # fmt: skip


def as_data(decision: Decision) -> dict[str, Any]:
    return {
        "verdict": str(decision.verdict), "rule": decision.rule, "layer": decision.layer, "reason": decision.reason,
        "risk": decision.risk, "mode": decision.mode, "span": [decision.start, decision.end], "suggestion": decision.suggestion,
        "checks": [check_as_data(check) for check in decision.checks],
    }  # fmt: skip


@pytest.mark.parametrize("row", DECISIONS, ids=[row["note"] for row in DECISIONS])
def test_whole_decision(row: dict[str, Any]) -> None:
    decision = decided(BY_NOTE[row["note"]], trace=True)
    assert as_data(decision) == row["decision"]
    for check in decision.checks:
        assert [m.decisive for m in check.matched] == [m.ignored_because == "" for m in check.matched]
        assert all(m.rule == f"{m.layer}:{m.file}:{m.line}" for m in check.matched if m.line)


def test_rows_are_well_formed() -> None:
    assert all(row.keys() == {"note", "decision"} for row in DECISIONS)
    assert len({row["note"] for row in DECISIONS}) == len(DECISIONS)
