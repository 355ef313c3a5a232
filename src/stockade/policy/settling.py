"""Which rule decides about a subject: the last that matches, with the exceptions that the design makes."""

from __future__ import annotations

from typing import NamedTuple

from stockade.model.context import Context
from stockade.model.decision import Matched
from stockade.model.verdict import Verdict
from stockade.policy.patterns import Match
from stockade.policy.policy import Policy
from stockade.policy.rules import Rule, Subject, matches

ALLOW = Verdict.ALLOW


class Settled(NamedTuple):
    """What the rules say about one subject: the deciding rule, and what else matched."""

    rule: Rule
    matched: tuple[Matched, ...]
    strict: Rule | None = None  # a deny or ask that could match, and cannot be ruled out
    held: Rule | None = None  # the last match among the rules of an untrusted project


def settle(key: str, subject: Subject, context: Context, policy: Policy) -> Settled:
    """The last rule that matches, with the exceptions that the design makes."""
    rules = policy.by_key[key]
    chosen: Rule | None = None
    strict: Rule | None = None
    seen: list[tuple[Rule, Match]] = []
    spoken = False  # a rule of the project that certainly matches was met: what is before it, it overrules
    for rule in reversed(rules):
        match = matches(rule, key, subject, context)
        if match is Match.NO:
            continue
        seen.append((rule, match))
        if chosen is None:
            if match is Match.MAYBE:
                strict = strict or rule
            else:
                chosen = rule
        elif not spoken and _keeps_care(rule, chosen):
            if match is Match.YES:
                chosen = rule
            else:
                strict = strict or rule
        spoken = spoken or (rule.layer == "project" and match is Match.YES)
    assert chosen is not None  # the posture has a bare rule for every key
    held = _held(key, subject, context, policy)
    matched = tuple(_explained(rule, match, chosen, strict) for rule, match in seen) if policy.trace else ()
    return Settled(chosen, matched, strict, held)


def _keeps_care(rule: Rule, chosen: Rule) -> bool:
    """A bare `*` of a later layer does not lift a narrower, stricter rule of the project."""
    return (
        rule.layer == "project" and not rule.bare and chosen.bare and chosen.layer not in ("project", "builtin")
        and rule.verdict > chosen.verdict
    )  # fmt: skip


def _held(key: str, subject: Subject, context: Context, policy: Policy) -> Rule | None:
    for rule in reversed(policy.held[key]):
        if matches(rule, key, subject, context) is not Match.NO:
            return rule if rule.verdict is not ALLOW else None
    return None


def _explained(rule: Rule, match: Match, chosen: Rule, strict: Rule | None) -> Matched:
    decisive = rule is chosen or rule is strict
    why = ""
    if rule is strict:
        why = ""
    elif match is Match.MAYBE:
        why = "it could match a word that is not known, and a later rule matches for sure"
    elif rule is not chosen:
        if _keeps_care(chosen, rule):
            why = "a bare `*` does not lift the project's narrower rule"
        else:
            why = f"a later rule matches too: {chosen.id}"
    return Matched(rule.id, str(rule), rule.layer, rule.file, rule.line, decisive, why)
