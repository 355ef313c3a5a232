"""A decision as JSON and as text."""

from __future__ import annotations

from typing import Any

from stockade.cli.text import colourful, marked, one_line, paint, visible
from stockade.model.context import Context
from stockade.model.decision import CheckResult, Decision, Matched, digest, terms
from stockade.model.effects import Effect, Segment
from stockade.model.verdict import Verdict

_COLOUR = {Verdict.ALLOW: "green", Verdict.ASK: "yellow", Verdict.DENY: "red"}


def decision_json(decision: Decision, context: Context, *, whole: bool = False) -> dict[str, Any]:
    """The contract's shape; `whole` adds every rule that matched and what would change the answer."""
    analysis = decision.analysis
    value: dict[str, Any] = {
        "v": 1,
        "verdict": str(decision.verdict),
        "rule": decision.rule,
        "layer": decision.layer,
        "reason": decision.reason,
        "risk": decision.risk,
        "digest": digest(decision.action, context.cwd, context.sandbox),
        "mode": decision.mode,
        "checks": [_check(check, whole=whole) for check in decision.checks],
        "segments": [_segment(s) for s in analysis.segments if s.argv or s.effects] if analysis is not None else [],
        "terms": terms(decision.action, context.cwd, context.sandbox),
        "span": [decision.start, decision.end],
    }
    if analysis is not None:
        value["complete"] = analysis.complete
        if analysis.error is not None:
            code, message, start, end = analysis.error
            value["error"] = {"code": code, "message": message, "span": [start, end]}
    if decision.suggestion:
        value["would_allow"] = decision.suggestion
    return value


def _check(check: CheckResult, *, whole: bool) -> dict[str, Any]:
    value: dict[str, Any] = {
        "key": check.key, "subject": check.subject, "verdict": str(check.verdict), "rule": check.rule, "layer": check.layer,
        "reason": check.reason, "risk": check.risk, "span": [check.start, check.end],
    }  # fmt: skip
    if whole:
        value["rules"] = [_matched(m, check) for m in check.matched]
    return value


def _matched(matched: Matched, check: CheckResult) -> dict[str, Any]:
    decisive = matched.decisive and check.rule == matched.rule
    other = "" if decisive else f"the answer came from {check.rule}"
    return {
        "rule": matched.rule, "text": matched.text, "layer": matched.layer, "file": matched.file, "line": matched.line,
        "decisive": decisive, "ignored_because": matched.ignored_because or other,
    }  # fmt: skip


def _segment(segment: Segment) -> dict[str, Any]:
    return {
        "argv": list(segment.argv),
        "program": segment.program,
        "wrappers": list(segment.wrappers),
        "effects": [_effect(e) for e in segment.effects],
        "reads": list(dict.fromkeys(segment.reads)),
        "writes": list(dict.fromkeys(segment.writes)),
        "hosts": list(segment.hosts),
        "span": [segment.start, segment.end],
        "dormant": segment.dormant,
    }


def _effect(effect: Effect) -> dict[str, Any]:
    value: dict[str, Any] = {"kind": effect.kind.value, "span": [effect.start, effect.end]}
    if effect.target is not None:
        value["path"] = effect.target.path
        value["word"] = effect.target.word
        value["pattern"] = effect.target.glob
    if effect.detail:
        value["detail"] = effect.detail
    if effect.code:
        value["code"] = effect.code
    return value


def decision_text(decision: Decision, *, stream: Any = None) -> str:
    """Two lines for a person: the verdict with its rule, and the reason."""
    import sys

    on = colourful(stream or sys.stdout)
    head = f"{paint(str(decision.verdict), _COLOUR[decision.verdict], 'bold', on=on)}  {paint(decision.rule, 'dim', on=on)}"
    lines = [head, f"  {one_line(decision.reason)}"]
    if decision.verdict is not Verdict.ALLOW and decision.action.command and decision.end > decision.start:
        shown = marked(decision.action.command, decision.start, decision.end, on=on)
        lines.extend("    " + line for line in shown.split("\n"))
    if decision.suggestion:
        lines.append(f"  to allow it: {visible(one_line(decision.suggestion))}")
    return "\n".join(lines)
