"""The corpora: rows of data with the verdict that each must get, and how a row is judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from stockade.model.action import command_action
from stockade.model.context import Context
from stockade.model.decision import Decision
from stockade.model.verdict import Verdict
from stockade.policy.evaluate import decide
from stockade.policy.policy import Policy, build
from stockade.policy.rules import Rule, parse_subject

FOLDER = Path(__file__).resolve().parents[1] / "corpus"
CONTEXT = Context("/home/dev/app", "/home/dev/app", "/home/dev")
EVERY_MODE = ("smart", "ask", "default", "acceptEdits", "edits", "workspace", "full", "bypassPermissions", "dontAsk", "plan")


class Miss(NamedTuple):
    """A row that got another verdict than it must: `how` says in which policy, `got` what it got."""

    how: str
    command: str
    got: str


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The rows of a corpus and of its extension, as far as there is one."""
    for path in (FOLDER / f"{name}.jsonl", FOLDER / f"{name}_extra.jsonl"):
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                yield json.loads(line)


@cache
def policy(name: str) -> Policy:
    """A mode by its name; `bash-ask` for the default mode with `bash * ask` and no allow-list."""
    if name == "bash-ask":
        return build((Rule("bash", "*", Verdict.ASK, "user", "test.toml", 1),), mode_name="default")
    return build((), mode_name=name)


@cache
def everyday_policy() -> Policy:
    config = json.loads((FOLDER / "everyday_config.json").read_text(encoding="utf-8"))
    rules = tuple(
        Rule(*parse_subject(text), Verdict.ALLOW, "user", "everyday.toml", line) for line, text in enumerate(config["allow"], 1)
    )
    return build(rules, mode_name="smart")


def judged(command: str, chosen: Policy) -> Decision:
    return decide(command_action(command), CONTEXT, chosen)


def _miss(how: str, command: str, decision: Decision) -> Miss:
    return Miss(how, command, f"{decision.verdict} by {decision.rule}")


def floor_misses(tiers: str) -> tuple[list[Miss], list[Miss], int]:
    """(rows not denied, near-misses denied by the floor, rows that must be denied) of some tiers."""
    missed: list[Miss] = []
    denied: list[Miss] = []
    total = 0
    for row in rows("floor"):
        wanted = row["expected"] == "deny"
        if row.get("doubtful"):
            continue
        if wanted and not any(f"/{tier}]" in row["rationale"] for tier in tiers) and "policy:" not in row["rationale"]:
            continue
        total += wanted
        for name in EVERY_MODE:
            decision = judged(row["command"], policy(name))
            if wanted and decision.verdict is not Verdict.DENY:
                missed.append(_miss(name, row["command"], decision))
                break
            if not wanted and decision.layer == "floor":
                denied.append(_miss(name, row["command"], decision))
                break
    return missed, denied, total


def wrongly_allowed(corpus: str) -> list[Miss]:
    """Attack lines that are allowed in `smart` or under `bash * ask`; doubtful rows are left out."""
    found: list[Miss] = []
    for row in rows(corpus):
        if row.get("expected") == "allow" or row.get("doubtful"):
            continue
        for name in ("smart", "bash-ask"):
            decision = judged(row["command"], policy(name))
            may = name == "smart" and row.get("smart") == "allow"
            if decision.verdict is Verdict.ALLOW and not may:
                found.append(_miss(name, row["command"], decision))
    return found


def not_floored() -> list[Miss]:
    """`bypass` rows that must not run at all, and are not denied."""
    found = []
    for row in rows("bypass"):
        if row["must_not"] != "run-at-all" or row.get("doubtful"):
            continue
        decision = judged(row["command"], policy("full"))
        if decision.verdict is not Verdict.DENY:
            found.append(_miss("full", row["command"], decision))
    return found


def prompts(corpus: str) -> tuple[list[Miss], list[Miss], int]:
    """(needless prompts, blocks, rows) over harmless lines, in `smart` and under `bash * ask`."""
    asked: list[Miss] = []
    blocked: list[Miss] = []
    total = 0
    for row in rows(corpus):
        harmless = row.get("expected", row.get("expect")) == "allow"
        total += harmless and not row.get("doubtful", False)
        for name in ("smart", "bash-ask"):
            decision = judged(row["command"], policy(name))
            if decision.verdict is Verdict.DENY:
                blocked.append(_miss(name, row["command"], decision))
            elif harmless and decision.verdict is Verdict.ASK and not row.get("doubtful"):
                asked.append(_miss(name, row["command"], decision))
    return asked, blocked, total


def everyday() -> tuple[list[Miss], list[Miss], int]:
    """(rows with another verdict, of these the wrong allows, rows) under the reference configuration."""
    other: list[Miss] = []
    allowed: list[Miss] = []
    total = 0
    for row in rows("everyday"):
        if row.get("doubtful"):
            continue
        total += 1
        decision = judged(row["command"], everyday_policy())
        if str(decision.verdict) != row["expected"]:
            other.append(_miss("everyday", row["command"], decision))
            if decision.verdict is Verdict.ALLOW:
                allowed.append(_miss("everyday", row["command"], decision))
    return other, allowed, total
