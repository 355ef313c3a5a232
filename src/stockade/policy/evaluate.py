"""One question, one function: may this action run, and why?

The stages are those of `PRECEDENCE`; `docs/decision-model.md` explains them and is normative.
`explain` and enforcement call the same `decide`; it always says everything it found out.
"""

from __future__ import annotations

from typing import NamedTuple

from stockade.model.action import INSPECTING, Action, absolute
from stockade.model.context import Context
from stockade.model.decision import CheckResult, Decision, Matched, digest
from stockade.model.effects import Analysis, Effect, Kind, Segment, Target
from stockade.model.paths import canonical, lexical
from stockade.model.verdict import Verdict
from stockade.policy.findings import GUARDS, HIGH_RISK, RANK, Finding, findings, guarded_path, judge
from stockade.policy.floor import Hit, floor, protected_state
from stockade.policy.patterns import Match, match_command
from stockade.policy.policy import Policy
from stockade.policy.rules import Rule, Subject, matches
from stockade.secrets.names import env_file
from stockade.shell import analyze
from stockade.shell.crosscheck import disagreement
from stockade.shell.syntax import byte_view

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY


class Stage(NamedTuple):
    """A row of the precedence table."""

    number: int
    name: str
    allows: str
    asks: str
    denies: str
    lifted_by: str


PRECEDENCE: tuple[Stage, ...] = (
    Stage(1, "floor", "", "", "yes", "nothing"),
    Stage(2, "requirements", "", "yes", "yes", "nothing"),
    Stage(3, "rules", "yes", "yes", "yes", "a mode lifts an ask; bypassPermissions lifts denies of project, user and session"),
    Stage(4, "guards", "safe list", "yes", "reads of .env files, writes to protected paths",
          "a specific allow rule, an exact grant, a permissive mode; a guard's deny only by its own setting"),
    Stage(5, "mode", "lifts asks", "yes", "plan", ""),
    Stage(6, "grant", "what it covers", "", "", "the floor, requirements and any deny stand above it"),
    Stage(7, "advisor", "in act mode", "", "headless --auto", ""),
    Stage(8, "presence", "", "", "an ask that nobody can answer", ""),
)  # fmt: skip

_WRITING = frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE))
_READING = frozenset((Kind.READ, Kind.EDIT))
_MODE_LIFTABLE_LAYERS = frozenset(("project", "user", "session"))


class Settled(NamedTuple):
    """What the rules say about one subject: the deciding rule, and what else matched."""

    rule: Rule
    matched: tuple[Matched, ...]
    strict: Rule | None = None  # a deny or ask that could match, and cannot be ruled out
    held: Rule | None = None  # the last match among the rules of an untrusted project


def decide(action: Action, context: Context, policy: Policy, *, facts: Analysis | None = None) -> Decision:
    """The decision for an action.  `facts` is an analysis made before, to save doing it again."""
    analysis: Analysis | None = None
    if action.key == "bash":
        analysis = facts if facts is not None else analyze(action.command, context)
        results = _command_checks(analysis, context, policy)
    elif action.paths:
        results = [r for path in action.paths for r in _path_action(action, path, context, policy)]
    else:
        results = [_other(action, context, policy)]
    return _joined(action, results, analysis, context, policy)


# -- joining --------------------------------------------------------------------------------------


def _joined(
    action: Action, results: list[CheckResult], analysis: Analysis | None, context: Context, policy: Policy
) -> Decision:
    first = results[0]
    for result in results[1:]:
        if (result.verdict, -result.rank) > (first.verdict, -first.rank):
            first = result
    verdict, rule, layer, reason = first.verdict, first.rule, first.layer, first.reason
    if policy.degraded and verdict is ALLOW:
        verdict, rule, layer, reason = ASK, "guard/config", "guard", policy.degraded
    if verdict is ASK and policy.grants.items:
        verdict, rule, layer, reason = _granted(action, results, context, policy, (verdict, rule, layer, reason))
    if verdict is ASK and policy.mode.asks_nobody:
        verdict, rule, layer = DENY, "mode/dontAsk", "presence"
        reason = f"nobody is asked in `dontAsk`: {reason}"
    if verdict is ALLOW and analysis is not None and not analysis.plain and analysis.syntax is not None:
        doubt = disagreement(byte_view(action.command), analysis.syntax)  # type: ignore[arg-type]
        if doubt is not None:
            verdict, rule, layer, reason = ASK, "guard/second-opinion", "guard", doubt
    risk = max((r.risk for r in results), key=_RISK_ORDER.__getitem__)
    return Decision(
        verdict, rule, layer, reason, risk, policy.mode.name, action, tuple(results), analysis,
        _suggestion(results, verdict, policy), first.start, first.end,
    )  # fmt: skip


_RISK_ORDER = {"low": 0, "medium": 1, "high": 2, "critical": 3}


def _granted(
    action: Action, results: list[CheckResult], context: Context, policy: Policy, ask: tuple[Verdict, str, str, str]
) -> tuple[Verdict, str, str, str]:
    """A grant turns an ask into allow; never one of high risk, never one that nothing lifts."""
    asks = [r for r in results if r.verdict is ASK]
    if any(not r.liftable for r in asks):
        return ask
    grant = policy.grants.covers(
        digest=digest(action, context.cwd), tool=action.tool, policy=policy.grants_policy, mode=policy.mode.name,
        high_risk=any(r.risk in ("high", "critical") for r in asks),
    )  # fmt: skip
    if grant is None:
        return ask
    return ALLOW, f"grant/{grant.kind}", "grant", "approved before in this session"


def _suggestion(results: list[CheckResult], verdict: Verdict, policy: Policy) -> str:
    """The smallest rules that would allow what was asked about; empty where no rule would."""
    if verdict is ALLOW or policy.degraded:
        return ""
    lines: list[str] = []
    for result in results:
        if result.verdict is ALLOW:
            continue
        line = 'guards.env = "ask"' if result.rule == "guard/env" else _allowing(result, policy)
        if line is None:
            return ""
        lines.append(line)
    smart = policy.mode.name == "smart" and any(r.verdict is not ALLOW and r.key == "bash" and r.rank < len(HIGH_RISK) for r in results)
    if smart:  # no rule lifts what is of high risk there
        lines.insert(0, 'permission_mode = "default"')
    return "; ".join(dict.fromkeys(lines))




def _allowing(result: CheckResult, policy: Policy) -> str | None:
    """The rule that would allow one check, or None where there is none in this mode."""
    subject = result.subject
    if result.glued:  # a blank inside a word: no pattern means exactly this
        return None
    if not result.liftable or result.layer == "floor" or "…" in subject or not subject or any(c in subject for c in '"*\\\n'):
        return None
    if result.key != "bash":
        return f'{result.key} = {{ "{subject}" = "allow" }}' if result.key in _BY_SUBJECT else None
    return f'"Bash({subject})" = "allow"'


_BY_SUBJECT = frozenset(("read", "edit", "external_directory", "network", "mcp"))


# -- rules ----------------------------------------------------------------------------------------


def settle(key: str, subject: Subject, context: Context, policy: Policy) -> Settled:
    """The last rule that matches, with the exceptions that the design makes."""
    rules = policy.by_key[key]
    chosen: Rule | None = None
    strict: Rule | None = None
    seen: list[tuple[Rule, Match]] = []
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
        elif _keeps_care(rule, chosen):
            if match is Match.YES:
                chosen = rule
            else:
                strict = strict or rule
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


# -- one check ------------------------------------------------------------------------------------


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


def _check(check: Check, context: Context, policy: Policy, settled: Settled | None = None) -> CheckResult:
    """Stages 3 to 5 for one check."""
    settled = settled or settle(check.key, check.subject, context, policy)
    result = _by_rules(check, settled, policy)
    if settled.strict is not None and result.verdict is ALLOW:
        rule = settled.strict
        result = result._replace(
            verdict=ASK, rule=rule.id, layer=rule.layer, liftable=False,
            reason=f"a word that is not known could make the rule `{rule}` match",
        )  # fmt: skip
    if settled.held is not None and settled.held.verdict > result.verdict:
        rule = settled.held
        result = result._replace(
            verdict=rule.verdict, rule=rule.id, layer=rule.layer, reason=f"the project's rule `{rule}` (not trusted: it may only tighten)"
        )
    return _in_mode(check, result, policy)


def _by_rules(check: Check, settled: Settled, policy: Policy) -> CheckResult:
    rule = settled.rule
    mode = policy.mode
    if check.guard_denies:
        return _result(check, settled, DENY, check.guard_denies, "guard", _reason(check))._replace(liftable=False)
    if rule.verdict is DENY:
        if not (mode.lifts_denies and rule.layer in _MODE_LIFTABLE_LAYERS):
            return _result(check, settled, DENY, rule.id, rule.layer, f"the rule `{rule}` denies it")
        return _result(check, settled, ALLOW, f"mode/{mode.name}", "mode", f"`{mode.name}` lifts the rule `{rule}`")
    if rule.verdict is ALLOW and not rule.bare:
        return _allowed_by_rule(check, settled, policy)
    if rule.verdict is ASK and not rule.bare:
        return _result(check, settled, ASK, rule.id, rule.layer, f"the rule `{rule}` asks", _risk(check))
    if rule.verdict is ALLOW:
        return _openly(check, settled, policy)
    return _asking(check, settled, policy)


def _allowed_by_rule(check: Check, settled: Settled, policy: Policy) -> CheckResult:
    """A specific allow lifts the asks of guards; in `smart` what is of high risk still asks."""
    rule = settled.rule
    for finding in check.found:
        inner = check.inner_only and finding.outer
        if (policy.mode.name == "smart" and finding.rule in HIGH_RISK) or not finding.lifted or inner:
            return _ask(check, settled, finding, policy)
    return _result(check, settled, ALLOW, rule.id, rule.layer, f"the rule `{rule}` allows it", _risk(check))


def _openly(check: Check, settled: Settled, policy: Policy) -> CheckResult:
    """Under a bare allow, only the guards of their own ask."""
    rule = settled.rule
    for finding in check.found:
        high = policy.mode.name == "smart" and finding.rule in HIGH_RISK
        if finding.rule in GUARDS or not finding.lifted or high:
            return _ask(check, settled, finding, policy)
    return _result(check, settled, ALLOW, rule.id, rule.layer, f"the rule `{rule}` allows it", _risk(check))


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
    return _result(check, settled, ASK, rule.id, rule.layer, f"the rule `{rule}` asks", _risk(check))


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
        return result._replace(verdict=ALLOW, rule=f"mode/{mode.name}", layer="mode", reason=f"`{mode.name}` lifts: {result.reason}")
    if mode.writes == "inside" and check.key == "edit" and all(f.rule == "edit-in-project" for f in check.found):
        return result._replace(verdict=ALLOW, rule=f"mode/{mode.name}", layer="mode", reason="an ordinary edit inside the workspace")
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
    return CheckResult(check.key, check.shown, verdict, rule, layer, reason, check.start, check.end, risk, True, 50, settled.matched)


def _reason(check: Check) -> str:
    return check.found[0].reason if check.found else "a guard denies it"


def _risk(check: Check) -> str:
    return _risk_of(check.found[0]) if check.found else "low"


def _risk_of(finding: Finding) -> str:
    if finding.rule in HIGH_RISK:
        return "high"
    return "low" if finding.rule == "edit-in-project" else "medium"


# -- commands -------------------------------------------------------------------------------------


def _command_checks(analysis: Analysis, context: Context, policy: Policy) -> list[CheckResult]:
    results: list[CheckResult] = []
    if analysis.error is not None:
        results.append(_unreadable(analysis.error))
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
        results.append(_unreadable(("empty", "no command was found in the text", 0, 0)))
    return results


def _unreadable(error: tuple[str, str, int, int]) -> CheckResult:
    code, message, start, end = error
    reason = f"the command cannot be read: {message}"
    return CheckResult("bash", "…", ASK, f"guard/unreadable/{code}", "guard", reason, start, end, "high", False, 0)


def _floor_result(hit: Hit, segment: Segment) -> CheckResult:
    shown = _shown(segment)
    return CheckResult("bash", shown, DENY, f"floor/{hit.code}", "floor", hit.reason, hit.start, hit.end, "critical", False, -1)


def _shown(segment: Segment) -> str:
    return " ".join("…" if word is None else word for word in segment.argv)


def _segment_checks(segment: Segment, context: Context, policy: Policy, results: list[CheckResult]) -> None:
    """The bash check of a segment, and a check for every path and host that has more to say."""
    plain = findings(segment, context)
    if not plain and not (policy.touches_paths & _PATH_KEYS):
        found: tuple[Finding, ...] = ()
    else:
        found = tuple(_path_checks(segment, plain, context, policy, results))
    subject = Subject(segment.all_argvs, (), segment.trusted_name)
    settled = settle("bash", subject, context, policy)
    if policy.safe_extra and found:
        found = _without_extra(segment, found, policy)
    inner_only = len(segment.all_argvs) > 1 and settled.rule.verdict is ALLOW and not _outer_match(settled.rule, segment)
    waived = tuple(f for f in found if not (f.rule == "network" and f.lifted and _hosts_allowed(segment, context, policy)))
    stubborn = any(f.reason.startswith(_ENV) for f in waived) and policy.env_guard == "deny"
    check = Check("bash", _shown(segment), subject, waived, segment.start, segment.end, inner_only, "", stubborn)
    glued = any(word is not None and (" " in word or word == "") for word in segment.argv)
    results.append(_check(check, context, policy, settled)._replace(glued=glued))


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


def _hosts_allowed(segment: Segment, context: Context, policy: Policy) -> bool:
    """Whether a specific network rule allows every host that a segment names."""
    effects = [e for e in segment.effects if e.kind is Kind.NETWORK]
    if not effects or "network" not in policy.touches_paths:
        return False
    for effect in effects:
        if effect.code != "host":
            return False
        rule = settle("network", Subject((), (effect.detail,)), context, policy).rule
        if rule.verdict is not ALLOW or rule.bare:
            return False
    return True


def _path_checks(
    segment: Segment, plain: list[Finding], context: Context, policy: Policy, results: list[CheckResult]
) -> list[Finding]:
    """Checks for the paths and hosts of a segment; gives the findings that stay with the command itself."""
    kept: list[Finding] = []
    for effect in segment.effects:
        finding = judge(effect, context)
        if effect.target is None or effect.kind not in _WRITING | _READING | {Kind.LIST}:
            if finding is not None:
                kept.append(_dormant(finding, segment))
            if effect.kind is Kind.NETWORK and "network" in policy.touches_paths and effect.code == "host":
                _network_check(effect, finding, context, policy, results)
            continue
        stays = _path_effect(effect, effect.target, finding, context, policy, results)
        if stays is not None:
            kept.append(_dormant(stays, segment))
    kept.sort(key=lambda f: RANK[f.rule])
    return kept


def _dormant(finding: Finding, segment: Segment) -> Finding:
    if not segment.dormant:
        return finding
    return finding._replace(rule="unknown-effect", reason=f"defined and not run: {finding.reason}")


def _network_check(
    effect: Effect, finding: Finding | None, context: Context, policy: Policy, results: list[CheckResult]
) -> None:
    """A rule about a host holds for a command that names it; an allow alone does not allow the command."""
    subject = Subject((), (effect.detail,))
    settled = settle("network", subject, context, policy)
    if settled.rule.layer == "builtin" and settled.held is None:
        return
    found = (finding,) if finding is not None else ()
    results.append(_check(Check("network", effect.detail, subject, found, effect.start, effect.end), context, policy, settled))


def _path_effect(
    effect: Effect, target: Target, finding: Finding | None, context: Context, policy: Policy, results: list[CheckResult]
) -> Finding | None:
    subject = _path_subject(target, context)
    writes = effect.kind in _WRITING
    shown = subject.texts[0] if subject.texts else target.word
    if effect.kind in _READING and "read" in policy.touches_paths:
        _rules_of_path("read", shown, subject, effect, finding, context, policy, results)
    if writes and "edit" in policy.touches_paths:
        _rules_of_path("edit", shown, subject, effect, finding, context, policy, results)
    if finding is None:
        return None
    if finding.rule == "outside-project":
        check = Check("external_directory", shown, subject, (finding,), effect.start, effect.end)
        settled = settle("external_directory", subject, context, policy)
        results.append(_check(check, context, policy, settled))
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
    if key == "read" and settled.rule.bare and settled.rule.verdict is ALLOW:
        return
    results.append(_check(check, context, policy, settled))


def _path_subject(target: Target, context: Context) -> Subject:
    if target.path is None:
        return Subject((), (lexical(target.under),) if target.under else (), True, True)
    given = lexical(target.path)
    if target.glob:
        return Subject((), (given,), True, True)
    real = canonical(target.path, context)
    return Subject((), (given,) if real == given else (given, real))


# -- file tools, and the rest ---------------------------------------------------------------------


def _path_action(action: Action, path: str, context: Context, policy: Policy) -> list[CheckResult]:
    """A file tool on one path: the floor, the rules of its key, and where the path lies."""
    whole = absolute(path, context.cwd, context.home)
    target = Target(whole, "", path, recursive=action.tool in ("list_files", "glob", "search_text", "search", "grep"))
    listing = action.key == "read" and target.recursive or action.tool in ("list", "ls") or action.tool in INSPECTING
    kind = Kind.EDIT if action.key == "edit" else Kind.LIST if listing else Kind.READ
    effect = Effect(kind, target)
    hit = _floor_of_path(effect, target, context)
    if hit is not None:
        return [CheckResult(action.key, path, DENY, f"floor/{hit.code}", "floor", hit.reason, 0, 0, "critical", False, -1)]
    finding = judge(effect, context)
    subject = _path_subject(target, context)
    results: list[CheckResult] = []
    found = (finding,) if finding is not None else ()
    denies = _guard_denies(action, subject, finding, policy)
    check = Check(action.key, subject.texts[0], subject, found, 0, 0, False, denies)
    if _is_plan(action, subject, context, policy):
        return [CheckResult("edit", path, ALLOW, "mode/plan", "mode", "a plan may be written while planning")]
    if finding is not None and finding.rule == "outside-project":
        outside = Check("external_directory", subject.texts[0], subject, found)
        results.append(_check(outside, context, policy))
        settled = settle("external_directory", subject, context, policy)
        if settled.rule.verdict is ALLOW and not settled.rule.bare:
            inside = (finding._replace(rule="edit-in-project"),) if action.key == "edit" else ()
            check = check._replace(found=inside)
        elif action.key == "read":
            check = check._replace(found=())
    results.append(_check(check, context, policy))
    return results


def _is_plan(action: Action, subject: Subject, context: Context, policy: Policy) -> bool:
    if policy.mode.name != "plan" or action.key != "edit":
        return False
    plans = f"{context.workspace}/.stockade/plans/"
    return all(text.startswith(plans) and text.endswith(".md") and "/" not in text[len(plans) :] for text in subject.texts)


def _floor_of_path(effect: Effect, target: Target, context: Context) -> Hit | None:
    segment = Segment((), None, (), (), (effect,), 0, 0)
    hit = floor(segment, context)
    if hit is not None or effect.kind is not Kind.EDIT:
        return hit
    return Hit("self-control", "Stockade's own files", 0, 0) if protected_state(target, context) else None


def _guard_denies(action: Action, subject: Subject, finding: Finding | None, policy: Policy) -> str:
    """The denies of guards: reading a dotenv file, and writing what git or an agent would execute."""
    if finding is None:
        return ""
    if action.key == "read" and policy.env_guard == "deny" and any(env_file(t.rsplit("/", 1)[-1]) for t in subject.texts):
        return "guard/env"
    if action.key == "edit" and any(guarded_path(t) == "git-internals" for t in subject.texts):
        return "guard/protected-path"
    return ""


def _other(action: Action, context: Context, policy: Policy) -> CheckResult:
    """A host, an MCP tool, a process, a task."""
    found: tuple[Finding, ...] = ()
    if action.key == "network":
        found = (Finding("network", f"contacts {action.subject}", 0, 0),)
    elif action.key in ("mcp", "process", "sandbox"):
        found = (Finding("unknown-effect", f"what `{action.subject}` does cannot be told", 0, 0),)
    check = Check(action.key, action.subject, Subject((), (action.subject,)), found)
    return _check(check, context, policy)
