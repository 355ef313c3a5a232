"""The checks of a command: one for every segment, and one for every path and host that has more to say."""

from __future__ import annotations

from stockade.model.context import Context
from stockade.model.decision import CheckResult
from stockade.model.effects import Analysis, Effect, Kind, Segment, Target
from stockade.model.paths import canonical, lexical
from stockade.model.verdict import Verdict
from stockade.policy.checking import Check, answer, lifted
from stockade.policy.findings import Finding, gravity, judge, telling
from stockade.policy.floor import Hit, floor
from stockade.policy.patterns import Match, match_command
from stockade.policy.policy import Policy
from stockade.policy.rules import Rule, Subject
from stockade.policy.settling import settle
from stockade.secrets.names import env_file

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

_WRITING = frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE))


_READING = frozenset((Kind.READ, Kind.EDIT))
_ON_PATHS = _WRITING | _READING | {Kind.LIST}


def command_checks(analysis: Analysis, context: Context, policy: Policy) -> list[CheckResult]:
    results: list[CheckResult] = []
    if analysis.error is not None:
        results.append(_unreadable(analysis.error, context, policy))
    if analysis.nothing_runs:
        return [CheckResult("bash", "", ALLOW, "guard/nothing-runs", "guard", "nothing runs: blanks and comments")]
    for segment in analysis.segments:
        hit = floor(segment, context)
        if hit is not None:
            result = _floor_result(hit, segment)
            if policy.trace:
                subject = Subject(segment.all_argvs, (), segment.trusted_name)
                result = result._replace(matched=settle("bash", subject, context, policy).matched)
            results.append(result)
        else:
            _segment_checks(segment, context, policy, results)
    if not results:
        results.append(_unreadable(("empty", "no command was found in the text", 0, 0), context, policy))
    return results


def _unreadable(error: tuple[str, str, int, int], context: Context, policy: Policy) -> CheckResult:
    code, message, start, end = error
    if policy.mode.commands == "refuse":
        return CheckResult(
            "bash", "…", DENY, "mode/plan", "mode", "commands wait until the plan is approved", start, end, "high", False, 0
        )
    settled = settle("bash", Subject(), context, policy)
    for rule in (settled.rule, settled.held):
        if rule is not None and rule.verdict is DENY and not lifted(rule, policy):
            reason = f"the rule `{rule}` denies every command"
            return CheckResult("bash", "…", DENY, rule.id, rule.layer, reason, start, end, "high", False, 0)
    reason = f"the command cannot be read: {message}"
    return CheckResult("bash", "…", ASK, f"guard/unreadable/{code}", "guard", reason, start, end, "high", False, 0)


def _floor_result(hit: Hit, segment: Segment) -> CheckResult:
    shown = _shown(segment)
    return CheckResult("bash", shown, DENY, f"floor/{hit.code}", "floor", hit.reason, hit.start, hit.end, "critical", False, -1)


def _shown(segment: Segment) -> str:
    return " ".join("…" if word is None else word for word in segment.argv)


def _segment_checks(segment: Segment, context: Context, policy: Policy, results: list[CheckResult]) -> None:
    """The bash check of a segment, and a check for every path and host that has more to say."""
    said = [(effect, judge(effect, context)) for effect in telling(segment.effects)]
    found: tuple[Finding, ...] = ()
    if policy.touches_paths & _PATH_KEYS or any(finding is not None for _, finding in said):
        found = tuple(_path_checks(segment, said, context, policy, results))
    subject = Subject(segment.all_argvs, (), segment.trusted_name)
    settled = settle("bash", subject, context, policy)
    if policy.safe_extra and found:
        found = _without_extra(segment, found, policy)
    inner_only = len(segment.all_argvs) > 1 and settled.rule.verdict is ALLOW and not _outer_match(settled.rule, segment)
    waived = _without_allowed_hosts(segment, found, context, policy) if found else found
    # What a file tool may not do at all, a command asks about in every mode.
    deny = policy.env_guard == "deny"
    stubborn = bool(waived) and any(f.rule == "git-internals" or (deny and f.reason.startswith(_ENV)) for f in waived)
    check = Check("bash", _shown(segment), subject, waived, segment.start, segment.end, inner_only, "", stubborn)
    result = answer(check, context, policy, settled)
    for word in segment.argv:
        if word == "" or (word is not None and " " in word):
            result = result._replace(glued=True)
            break
    results.append(result)


_PATH_KEYS = frozenset(("read", "edit", "external_directory"))


_ENV = "reads an environment file"


def _outer_match(rule: Rule, segment: Segment) -> bool:
    return match_command(rule.pattern, segment.all_argvs[0], allowing=True) is Match.YES


def _without_extra(segment: Segment, found: tuple[Finding, ...], policy: Policy) -> tuple[Finding, ...]:
    """`shell.safe_list_extra`: commands that the person says only read."""
    if not segment.trusted_name:
        return found
    if not any(match_command(p, segment.argv, allowing=True) is Match.YES for p in policy.safe_extra):
        return found
    return tuple(f for f in found if f.rule not in ("unknown-effect", "project-code") or not f.lifted)


def _without_allowed_hosts(
    segment: Segment, found: tuple[Finding, ...], context: Context, policy: Policy
) -> tuple[Finding, ...]:  # fmt: skip
    """Leaves out what is said of hosts that a specific network rule allows."""
    if "network" not in policy.touches_paths or not any(f.rule == "network" for f in found):
        return found
    contacts = [e for e in segment.effects if e.kind is Kind.NETWORK and e.detail]
    refused = {(e.start, e.end) for e in contacts if e.code != "host" or not _host_allowed(e.detail, context, policy)}
    allowed = {(e.start, e.end) for e in contacts} - refused
    whole = bool(allowed) and not refused
    return tuple(f for f in found if not (f.rule == "network" and f.lifted and (whole or (f.start, f.end) in allowed)))


def _host_allowed(host: str, context: Context, policy: Policy) -> bool:
    rule = settle("network", Subject((), (host,)), context, policy).rule
    return rule.verdict is ALLOW and not rule.bare


def _path_checks(
    segment: Segment, said: list[tuple[Effect, Finding | None]], context: Context, policy: Policy, results: list[CheckResult]
) -> list[Finding]:
    """Checks for the paths and hosts of a segment; gives the findings that stay with the command itself."""
    kept: list[Finding] = []
    for effect, finding in said:
        if effect.target is None or effect.kind not in _ON_PATHS:
            if finding is not None:
                kept.append(_dormant(finding, segment))
            if effect.kind is Kind.NETWORK and "network" in policy.touches_paths:
                _network_check(effect, finding, context, policy, results)
            continue
        stays = _path_effect(effect, effect.target, finding, context, policy, results)
        if stays is not None:
            kept.append(_dormant(stays, segment))
    if len(kept) > 1:
        kept.sort(key=gravity)
    return kept


def _dormant(finding: Finding, segment: Segment) -> Finding:
    if not segment.dormant:
        return finding
    return finding._replace(rule="unknown-effect", reason=f"defined and not run: {finding.reason}")


def _network_check(effect: Effect, finding: Finding | None, context: Context, policy: Policy, results: list[CheckResult]) -> None:
    """A rule about a host holds for a command that names it; an allow alone does not allow the command."""
    named = effect.code == "host"
    subject = Subject((), (effect.detail,) if named else (), unknown=not named)
    settled = settle("network", subject, context, policy)
    if settled.rule.layer == "builtin" and settled.strict is None and settled.held is None:
        return
    allowed = settled.rule.verdict is ALLOW and not settled.rule.bare
    found = (finding,) if finding is not None and not allowed else ()
    results.append(
        answer(Check("network", effect.detail or "…", subject, found, effect.start, effect.end), context, policy, settled)
    )


def _path_effect(
    effect: Effect, target: Target, finding: Finding | None, context: Context, policy: Policy, results: list[CheckResult]
) -> Finding | None:
    subject = path_subject(target, context)
    writes = effect.kind in _WRITING
    shown = subject.texts[0] if subject.texts else target.word
    if effect.kind in _READING and "read" in policy.touches_paths:
        _rules_of_path("read", shown, subject, effect, finding, context, policy, results)
    if writes and effect.code.endswith("redirect") and finding is not None:
        # No pattern for a command covers its redirections: each is an edit of its own.
        check = Check("edit", shown, subject, (finding,), effect.start, effect.end)
        results.append(answer(check, context, policy))
    elif writes and "edit" in policy.touches_paths:
        _rules_of_path("edit", shown, subject, effect, finding, context, policy, results)
    if finding is None:
        return None
    if finding.rule == "outside-project":
        check = Check("external_directory", shown, subject, (finding,), effect.start, effect.end)
        settled = settle("external_directory", subject, context, policy)
        results.append(answer(check, context, policy, settled))
        if settled.rule.verdict is ALLOW and not settled.rule.bare:
            return finding._replace(rule="edit-in-project") if writes else None
        return finding if writes else None
    if finding.rule == "secrets-file" and not writes:
        settled = settle("read", subject, context, policy)
        dotenv = any(env_file(text.rsplit("/", 1)[-1]) for text in subject.texts) or "environment file" in finding.reason
        if settled.rule.verdict is ALLOW and not settled.rule.bare and not (dotenv and policy.env_guard == "deny"):
            return None
        if dotenv:
            return finding._replace(reason=f"{_ENV}: `{target.word}`")
    return finding


def _rules_of_path(
    key: str, shown: str, subject: Subject, effect: Effect, finding: Finding | None, context: Context, policy: Policy,
    results: list[CheckResult],
) -> None:  # fmt: skip
    """Deny and ask rules follow the file through the commands that touch it."""
    settled = settle(key, subject, context, policy)
    if settled.rule.layer == "builtin" and settled.strict is None and settled.held is None:
        return
    found = (finding,) if finding is not None else ()
    check = Check(key, shown, subject, found, effect.start, effect.end)
    if key == "read" and settled.rule.bare and settled.rule.verdict is ALLOW and settled.strict is None and settled.held is None:
        return
    results.append(answer(check, context, policy, settled))


def path_subject(target: Target, context: Context) -> Subject:
    if target.path is None:
        return Subject((), (lexical(target.under),) if target.under else (), True, True)
    given = lexical(target.path)
    if target.glob:
        return Subject((), (given,), True, True)
    real = canonical(target.path, context)
    texts = (given,) if real == given else (given, real)
    return Subject((), texts, tree=given if target.recursive else "")
