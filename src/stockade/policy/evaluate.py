"""One question, one function: may this action run, and why?

The stages are those of `PRECEDENCE`; `docs/decision-model.md` explains them and is normative.
`explain` and enforcement call the same `decide`; it always says everything it found out.
"""

from __future__ import annotations

from typing import NamedTuple

from stockade.model.action import INSPECTING, Action, absolute
from stockade.model.context import Context
from stockade.model.decision import CheckResult, Decision, digest
from stockade.model.effects import Analysis, Effect, Kind, Segment, Target
from stockade.model.protected import guarded_path
from stockade.model.verdict import Verdict
from stockade.policy.checking import Check, answer
from stockade.policy.command_checks import command_checks, path_subject
from stockade.policy.findings import HIGH_RISK, REPOSITORY, Finding, judge
from stockade.policy.floor import Hit, floor, protected_state
from stockade.policy.grants import changed
from stockade.policy.policy import Policy
from stockade.policy.rules import Subject
from stockade.policy.settling import settle
from stockade.secrets.names import env_file
from stockade.shell import analyze, plain
from stockade.shell.crosscheck import disagreement
from stockade.shell.syntax import Script, byte_view

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


def decide(action: Action, context: Context, policy: Policy, *, facts: Analysis | None = None) -> Decision:
    """The decision for an action.  `facts` is an analysis made before, to save doing it again."""
    analysis: Analysis | None = None
    if action.key == "bash":
        analysis = facts if facts is not None else analyze(action.command, context, policy.owns)
        results = command_checks(analysis, context, policy)
    elif action.paths:
        results = [r for path in action.paths for r in _path_action(action, path, context, policy)]
    else:
        results = [_other(action, context, policy)]
    return _joined(action, results, analysis, context, policy)


# -- joining --------------------------------------------------------------------------------------


def _joined(action: Action, results: list[CheckResult], analysis: Analysis | None, context: Context, policy: Policy) -> Decision:
    if policy.pinned:
        results = [_pinned(result, context, policy) for result in results]
    first = results[0]
    for result in results[1:]:
        if (result.verdict, -result.rank) > (first.verdict, -first.rank):
            first = result
    verdict, rule, layer, reason = first.verdict, first.rule, first.layer, first.reason
    if policy.degraded and verdict is ALLOW:
        verdict, rule, layer, reason = ASK, "guard/config", "guard", policy.degraded
    if verdict is ALLOW and analysis is not None and isinstance(analysis.syntax, Script):
        doubt = None if plain(action.command, analysis.syntax) else disagreement(byte_view(action.command), analysis.syntax)
        if doubt is not None:
            verdict, rule, layer, reason = ASK, "guard/second-opinion", "guard", doubt
    if verdict is ASK and policy.grants.items and not policy.degraded and rule != "guard/second-opinion":
        verdict, rule, layer, reason = _granted(action, results, context, policy, (verdict, rule, layer, reason))
    if verdict is ASK and policy.mode.asks_nobody:
        verdict, rule, layer = DENY, "mode/dontAsk", "presence"
        reason = f"nobody is asked in `dontAsk`: {reason}"
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
    covered = policy.grants.covers(
        digest=digest(action, context.cwd, context.sandbox), tool=action.tool, policy=policy.grants_policy, mode=policy.mode.name,
        high_risk=any(r.risk in ("high", "critical") for r in asks), definitions=context.definitions,
    )  # fmt: skip
    if covered.changed:
        return *ask[:3], f"{ask[3]}; approved before, but since then {_changes(covered.changed, context)}"
    if covered.grant is None:
        return ask
    return ALLOW, f"grant/{covered.grant.kind}", "grant", "approved before in this session"


_PINNED = "the rule is pinned"


def _pinned(result: CheckResult, context: Context, policy: Policy) -> CheckResult:
    """A pinned rule allows only what runs as it did when a person agreed."""
    name = policy.pinned.get(result.rule)
    if name is None or result.verdict is not ALLOW:
        return result
    agreed = policy.pins.get(name)
    differ = changed(agreed or {}, context.definitions)
    if not differ and (agreed is not None or not context.definitions):
        return result
    why = f"since then {_changes(differ, context)}" if agreed else "nobody has agreed to what it runs yet"
    return result._replace(verdict=ASK, reason=f"{_PINNED}, and {why}", risk="medium")


def _changes(paths: tuple[str, ...], context: Context) -> str:
    """Which files are not as they were, in a few words."""
    shown = [path.removeprefix(context.workspace.rstrip("/") + "/") for path in paths]
    rest = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return f"{', '.join(f'`{path}`' for path in shown[:3])}{rest} changed"


def _suggestion(results: list[CheckResult], verdict: Verdict, policy: Policy) -> str:
    """The smallest rules that would allow what was asked about; empty where no rule would."""
    if verdict is ALLOW or policy.degraded:
        return ""
    lines: list[str] = []
    for result in results:
        if result.verdict is ALLOW:
            continue
        line = _setting(result) or _allowing(result, policy)
        if line is None:
            return ""
        lines.append(line)
    smart = policy.mode.name == "smart" and any(
        r.verdict is not ALLOW and r.key == "bash" and r.rank < len(HIGH_RISK) for r in results
    )
    if smart:  # no rule lifts what is of high risk there
        lines.insert(0, 'permission_mode = "default"')
    return "; ".join(dict.fromkeys(lines))


def _setting(result: CheckResult) -> str:
    """The setting that alone lifts what a guard says."""
    if result.rule == "guard/env":
        return 'guards.env = "ask"'
    return 'guards.repository = "off"' if result.reason.startswith(REPOSITORY) else ""


def _allowing(result: CheckResult, policy: Policy) -> str | None:
    """The rule that would allow one check, or None where there is none in this mode."""
    subject = result.subject
    if result.glued:  # a blank inside a word: no pattern means exactly this
        return None
    if result.reason.startswith(_PINNED):  # a person agrees once more, and no other rule is needed
        return None
    if not result.liftable or result.layer == "floor" or "…" in subject or not subject or any(c in subject for c in '"*\\\n'):
        return None
    if result.key != "bash":
        return f'{result.key} = {{ "{subject}" = "allow" }}' if result.key in _BY_SUBJECT else None
    return f'"Bash({subject})" = "allow"'


_BY_SUBJECT = frozenset(("read", "edit", "external_directory", "network", "mcp"))


# -- file tools, and the rest ---------------------------------------------------------------------


def _path_action(action: Action, path: str, context: Context, policy: Policy) -> list[CheckResult]:
    """A file tool on one path: the floor, the rules of its key, and where the path lies."""
    whole = absolute(path, context.cwd, context.home)
    target = Target(whole, "", path, recursive=action.tool in ("list_files", "glob", "search_text", "search", "grep"))
    listing = (action.key == "read" and target.recursive) or action.tool in ("list", "ls") or action.tool in INSPECTING
    kind = Kind.EDIT if action.key == "edit" else Kind.LIST if listing else Kind.READ
    effect = Effect(kind, target)
    hit = _floor_of_path(effect, target, context)
    if hit is not None:
        return [CheckResult(action.key, path, DENY, f"floor/{hit.code}", "floor", hit.reason, 0, 0, "critical", False, -1)]
    finding = judge(effect, context)
    subject = path_subject(target, context)
    results: list[CheckResult] = []
    found = (finding,) if finding is not None else ()
    denies = _guard_denies(action, subject, finding, policy)
    check = Check(action.key, subject.texts[0], subject, found, 0, 0, False, denies)
    if _is_plan(action, subject, context, policy) and not _denied("edit", subject, context, policy):
        return [CheckResult("edit", path, ALLOW, "mode/plan", "mode", "a plan may be written while planning")]
    if finding is not None and finding.rule == "outside-project":
        outside = Check("external_directory", subject.texts[0], subject, found)
        results.append(answer(outside, context, policy))
        settled = settle("external_directory", subject, context, policy)
        if settled.rule.verdict is ALLOW and not settled.rule.bare:
            inside = (finding._replace(rule="edit-in-project"),) if action.key == "edit" else ()
            check = check._replace(found=inside)
        elif action.key == "read":
            check = check._replace(found=())
    results.append(answer(check, context, policy))
    return results


def _is_plan(action: Action, subject: Subject, context: Context, policy: Policy) -> bool:
    if policy.mode.name != "plan" or action.key != "edit":
        return False
    plans = f"{context.workspace}/.stockade/plans/"
    return all(text.startswith(plans) and text.endswith(".md") and "/" not in text[len(plans) :] for text in subject.texts)


def _denied(key: str, subject: Subject, context: Context, policy: Policy) -> bool:
    settled = settle(key, subject, context, policy)
    return any(rule is not None and rule.verdict is DENY for rule in (settled.rule, settled.strict, settled.held))


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
    return answer(check, context, policy)
