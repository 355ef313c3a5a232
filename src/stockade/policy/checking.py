"""One check through the stages rules, guards and mode."""

from __future__ import annotations

from typing import NamedTuple

from stockade.model.context import Context
from stockade.model.decision import CheckResult
from stockade.model.verdict import Verdict
from stockade.policy.findings import GUARDS, HIGH_RISK, RANK, Finding
from stockade.policy.policy import Policy
from stockade.policy.rules import Rule, Subject
from stockade.policy.settling import Settled, settle

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

_MODE_LIFTABLE_LAYERS = frozenset(("project", "user", "session"))


class Check(NamedTuple):
    """One thing touched, with what is to be said about it."""

    key: str
    shown: str
    subject: Subject
    found: tuple[Finding, ...] = ()
    start: int = 0
    end: int = 0
    inner_only: bool = False
    guard_denies: str = ""
    stubborn: bool = False  # an ask that no mode lifts


def answer(check: Check, context: Context, policy: Policy, settled: Settled | None = None) -> CheckResult:
    """Stages 3 to 5 for one check."""
    settled = settled or settle(check.key, check.subject, context, policy)
    result = _by_rules(check, settled, policy)
    strict = settled.strict
    if strict is not None and result.verdict is not DENY and not lifted(strict, policy):
        reason = f"a word that is not known could make the rule `{strict}` match"
        result = result._replace(verdict=ASK, rule=strict.id, layer=strict.layer, liftable=False, reason=reason)
    held = settled.held
    if held is not None and not lifted(held, policy):
        result = _tightened(check, settled, held, result, policy)
    return _in_mode(check, result, policy)


def _tightened(check: Check, settled: Settled, held: Rule, result: CheckResult, policy: Policy) -> CheckResult:
    """What a rule of a file that is held makes of an answer: only stricter.

    A bare ask there is what the safe list lifts, as anywhere; it matters where the rest is a bare allow.
    """
    if held.bare and held.verdict is ASK:
        openly = settled.rule.verdict is ALLOW and settled.rule.bare
        other = _by_rules(check, settled._replace(rule=held), policy) if openly else result
        return other if other.verdict > result.verdict else result
    if held.verdict <= result.verdict:
        return result
    reason = f"the rule `{held}` of a file that is held (it may only tighten)"
    return result._replace(verdict=held.verdict, rule=held.id, layer=held.layer, reason=reason)


def lifted(rule: Rule, policy: Policy) -> bool:
    """Whether the mode lifts the denies of a rule's layer."""
    return policy.mode.lifts_denies and rule.layer in _MODE_LIFTABLE_LAYERS


def _by_rules(check: Check, settled: Settled, policy: Policy) -> CheckResult:
    rule = settled.rule
    mode = policy.mode
    if check.guard_denies:
        return _result(check, settled, DENY, check.guard_denies, "guard", _reason(check))._replace(liftable=False)
    if rule.verdict is DENY:
        if not lifted(rule, policy):
            return _result(check, settled, DENY, rule.id, rule.layer, rule.says("denies it"))
        if check.stubborn:
            return _ask(check, settled, check.found[0], policy)
        return _result(check, settled, ALLOW, f"mode/{mode.name}", "mode", f"`{mode.name}` lifts the rule `{rule}`")
    if rule.verdict is ALLOW and not rule.bare:
        return _allowed_by_rule(check, settled, policy)
    if rule.verdict is ASK and not rule.bare:
        return _result(check, settled, ASK, rule.id, rule.layer, rule.says("asks"), _risk(check))
    if rule.verdict is ALLOW:
        return _openly(check, settled, policy)
    return _asking(check, settled, policy)


def _allowed_by_rule(check: Check, settled: Settled, policy: Policy) -> CheckResult:
    """A specific allow lifts the asks of guards; in `smart` what is of high risk still asks."""
    rule = settled.rule
    for finding in check.found:
        inner = check.inner_only and finding.outer
        if (policy.asks_high_risk and finding.rule in HIGH_RISK) or not finding.lifted or inner:
            return _ask(check, settled, finding, policy)
    return _result(check, settled, ALLOW, rule.id, rule.layer, rule.says("allows it"), _risk(check))


def _openly(check: Check, settled: Settled, policy: Policy) -> CheckResult:
    """Under a bare allow, only the guards of their own ask."""
    rule = settled.rule
    for finding in check.found:
        high = policy.asks_high_risk and finding.rule in HIGH_RISK
        if finding.rule in GUARDS or not finding.lifted or high:
            return _ask(check, settled, finding, policy)
    return _result(check, settled, ALLOW, rule.id, rule.layer, rule.says("allows it"), _risk(check))


def _asking(check: Check, settled: Settled, policy: Policy) -> CheckResult:
    """Under a bare ask: reads are on the safe list, `smart` lets ordinary edits run, the rest asks."""
    smart = policy.mode.name == "smart"
    if not check.found and check.key in ("bash", "read"):
        if smart:
            return _result(check, settled, ALLOW, "smart/read", "mode", "it only reads what may be read")
        return _result(check, settled, ALLOW, "guard/safe-list", "guard", "it only reads what may be read")
    if smart and check.key in ("bash", "edit") and all(f.rule == "edit-in-project" for f in check.found):
        return _result(check, settled, ALLOW, "smart/edit-in-project", "mode", "it only writes ordinary files of the project")
    if check.found:
        return _ask(check, settled, check.found[0], policy)
    rule = settled.rule
    return _result(check, settled, ASK, rule.id, rule.layer, rule.says("asks"), _risk(check))


def _ask(check: Check, settled: Settled, finding: Finding, policy: Policy) -> CheckResult:
    if policy.mode.name == "smart":
        rule, layer = f"smart/{finding.rule}", "mode"
    elif finding.rule in GUARDS:
        rule, layer = GUARDS[finding.rule], "guard"
    elif settled.rule.verdict is ALLOW or not finding.lifted:
        rule, layer = f"guard/{finding.rule}", "guard"
    else:
        rule, layer = settled.rule.id, settled.rule.layer
    result = _result(check, settled, ASK, rule, layer, finding.reason, _risk_of(finding))
    return result._replace(start=finding.start or check.start, end=finding.end or check.end, rank=RANK[finding.rule])


def _in_mode(check: Check, result: CheckResult, policy: Policy) -> CheckResult:
    """What a mode makes of an answer."""
    mode = policy.mode
    if mode.commands == "refuse":
        return _planning(check, result)
    if result.verdict is not ASK or not result.liftable or check.stubborn:
        return result._replace(liftable=False) if check.stubborn and result.verdict is ASK else result
    if mode.writes == "lift" and (mode.commands == "lift" or check.key == "edit"):
        return result._replace(
            verdict=ALLOW, rule=f"mode/{mode.name}", layer="mode", reason=f"`{mode.name}` lifts: {result.reason}"
        )
    if mode.writes == "inside" and check.key == "edit" and all(f.rule == "edit-in-project" for f in check.found):
        return result._replace(
            verdict=ALLOW, rule=f"mode/{mode.name}", layer="mode", reason="an ordinary edit inside the workspace"
        )
    return result


def _planning(check: Check, result: CheckResult) -> CheckResult:
    if check.key in ("read", "plan"):
        return result
    if check.key == "external_directory":
        return result
    reason = "commands, edits and other machines wait until the plan is approved"
    return result._replace(verdict=DENY, rule="mode/plan", layer="mode", reason=reason, liftable=False)


def _result(
    check: Check, settled: Settled, verdict: Verdict, rule: str, layer: str, reason: str, risk: str = "low"
) -> CheckResult:
    return CheckResult(
        check.key, check.shown, verdict, rule, layer, reason, check.start, check.end, risk, True, 50, settled.matched
    )


def _reason(check: Check) -> str:
    return check.found[0].reason if check.found else "a guard denies it"


def _risk(check: Check) -> str:
    return _risk_of(check.found[0]) if check.found else "low"


def _risk_of(finding: Finding) -> str:
    if finding.rule in HIGH_RISK:
        return "high"
    return "low" if finding.rule == "edit-in-project" else "medium"
