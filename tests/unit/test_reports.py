"""Rows made from what users of guards reported: rules, a command or tool call, and the right verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stockade.model.action import command_action, from_tool
from stockade.model.context import FileFact
from stockade.model.verdict import Verdict
from stockade.policy.evaluate import decide
from stockade.policy.policy import build
from stockade.policy.rules import Rule
from tests.support.corpora import CONTEXT, FOLDER

ROWS = [json.loads(line) for line in (FOLDER / "reports.jsonl").read_text(encoding="utf-8").splitlines()]


def rule(text: str, line: int) -> Rule:
    """`key pattern verdict`, the pattern with blanks in it."""
    key, _, rest = text.partition(" ")
    pattern, _, verdict = rest.rpartition(" ")
    return Rule(key, pattern, Verdict.parse(verdict), "user", "reports.toml", line)


@pytest.mark.parametrize("row", ROWS, ids=[row["note"] for row in ROWS])
def test_report(row: dict[str, Any]) -> None:
    assert set(row) <= {"note", "rules", "command", "tool", "input", "files", "want"}
    action = from_tool(row["tool"], row["input"]) if "tool" in row else command_action(row["command"])
    files = {path: FileFact(fact["kind"], fact.get("target")) for path, fact in row.get("files", {}).items()}
    policy = build(tuple(rule(text, at) for at, text in enumerate(row["rules"], 1)), mode_name="default")
    decision = decide(action, CONTEXT._replace(files=files), policy)
    assert str(decision.verdict) == row["want"], decision.reason
