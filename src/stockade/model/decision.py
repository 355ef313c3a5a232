"""Decisions: a verdict with everything that led to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from stockade.model.action import Action
from stockade.model.effects import Analysis
from stockade.model.verdict import Verdict

RISKS = ("low", "medium", "high", "critical")
# What `layer` can be in a decision, in the order of the stages.
DECISION_LAYERS = ("floor", "requirements", "builtin", "project", "user", "session", "cli", "managed", "guard", "mode", "grant",
                   "advisor", "presence")  # fmt: skip


class Matched(NamedTuple):
    """A rule that matched, and why it did or did not decide."""

    rule: str
    text: str
    layer: str
    file: str
    line: int
    decisive: bool
    ignored_because: str = ""


class CheckResult(NamedTuple):
    """The answer for one thing that the action touches.

    `rule`, `layer` and `reason` are those of what decided; `start` and `end` are the bytes of the
    command that it is about (0, 0 for all of it).  `liftable` is False for an ask that no mode lifts.
    """

    key: str
    subject: str
    verdict: Verdict
    rule: str
    layer: str
    reason: str
    start: int = 0
    end: int = 0
    risk: str = "low"
    liftable: bool = True
    rank: int = 99
    matched: tuple[Matched, ...] = ()
    glued: bool = False  # a word of the command has a blank in it


class Decision(NamedTuple):
    """The answer for an action: the strictest of its checks, and why.

    A decision has no truth value; compare its verdict.
    """

    verdict: Verdict
    rule: str
    layer: str
    reason: str
    risk: str
    mode: str
    action: Action
    checks: tuple[CheckResult, ...]
    analysis: Analysis | None
    suggestion: str = ""
    start: int = 0
    end: int = 0

    def __bool__(self) -> bool:
        raise TypeError("a decision has no truth value; compare its verdict")


def terms(action: Action, cwd: str, profile: str = "") -> dict[str, Any]:
    """The terms under which an allowed action runs: where, and what confines it (no profile: nothing)."""
    if action.key != "bash":
        return {"cwd": cwd}
    return {"cwd": cwd, "profile": profile or "off", "network": "off" if profile else "on"}


def digest(action: Action, cwd: str, profile: str = "") -> str:
    """SHA-256 (hex) over the canonical action and its terms: what an approval binds to."""
    import hashlib
    import json

    value = {"v": 1, "action": action.canonical(), "terms": terms(action, cwd, profile)}
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
