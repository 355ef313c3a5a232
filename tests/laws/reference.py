"""A slow, obvious evaluator of decisions, written from the design and not from the code.

It takes for granted what a command does (the reader, the findings, the floor's rows: their tests are
elsewhere), and says again, as plainly as it can, how rules, guards and modes join into one answer.
Every rule is looked at for every thing that is touched; nothing is left early to save time.
"""

from __future__ import annotations

from typing import NamedTuple

from stockade.model.action import Action, absolute
from stockade.model.context import Context
from stockade.model.decision import digest
from stockade.model.effects import Analysis, Effect, Kind, Segment, Target
from stockade.model.paths import canonical, lexical
from stockade.model.protected import guarded_path
from stockade.model.verdict import Verdict
from stockade.policy.findings import Finding, judge
from stockade.policy.floor import floor, protected_state
from stockade.policy.grants import Grants
from stockade.policy.policy import Policy, build
from stockade.policy.rules import Rule
from stockade.secrets.names import env_file
from stockade.shell import analyze, plain
from stockade.shell.crosscheck import disagreement
from stockade.shell.syntax import byte_view
from tests.laws.naive import command_could_match, command_matches, host_matches, path_matches, star

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

# The table of modes: the posture that a mode brings along (empty: as configured), and what it does.
POSTURE = {
    "default": "", "ask": "asking", "acceptEdits": "", "edits": "asking", "workspace": "asking", "smart": "asking",
    "plan": "asking", "dontAsk": "", "full": "", "bypassPermissions": "open",
}  # fmt: skip
EDITS_INSIDE = ("acceptEdits", "edits", "workspace")
LIFTS_ASKS = ("full", "bypassPermissions")
LIFTS_DENIES = {"bypassPermissions": ("project", "user", "session")}
# The names of the smart rules, the gravest first; the first eight are of high risk.
GRAVEST_FIRST = ("privilege", "install", "network", "secrets-file", "git-internals", "agent-config", "outside-project",
                 "destructive", "project-code", "unknown-effect", "edit-in-project")  # fmt: skip
HIGH = GRAVEST_FIRST[:8]
ALWAYS_GUARDED = ("secrets-file", "git-internals", "agent-config", "outside-project")
KEYS = ("read", "edit", "bash", "network", "mcp", "external_directory", "sandbox", "task", "plan", "process")


class Case(NamedTuple):
    """A policy, said in the words of a configuration.  `rules` are in order, the lowest layer first."""

    rules: tuple[Rule, ...] = ()
    mode: str = "smart"
    posture: str = "asking"
    env_guard: str = "deny"
    safe_extra: tuple[str, ...] = ()
    grants_policy: str = "exact"
    grants: Grants = Grants()
    degraded: str = ""

    def policy(self, *, trace: bool = False) -> Policy:
        return build(
            self.rules, mode_name=self.mode, posture=self.posture, grants_policy=self.grants_policy, env_guard=self.env_guard,
            safe_extra=self.safe_extra, grants=self.grants, degraded=self.degraded, trace=trace,
        )  # fmt: skip


class Thing(NamedTuple):
    """One thing that is touched.

    `unknown` says that its name is not known, `texts` where it lies then; `tree` is a folder of which
    everything is touched.
    """

    key: str
    argvs: tuple[tuple[str | None, ...], ...] = ()
    texts: tuple[str, ...] = ()
    unknown: bool = False
    tree: str = ""
    trusted: bool = True
    findings: tuple[Finding, ...] = ()
    guard_denies: bool = False
    stubborn: bool = False


class Answer(NamedTuple):
    """`rank` orders what is equally strict: the gravest reason first."""

    verdict: Verdict
    layer: str
    rank: int = 50
    liftable: bool = True
    risky: bool = False


class Ruling(NamedTuple):
    """What the rules say: the one that decides, the last one after it that could, the last that is held."""

    winner: Rule
    maybe: Rule | None
    held: Rule | None


def reference(action: Action, context: Context, case: Case) -> tuple[Verdict, str]:
    """The verdict and the layer that decides."""
    analysis = analyze(action.command, context) if action.key == "bash" else None
    if analysis is not None:
        answers = of_command(analysis, context, case)
    elif action.paths:
        answers = [answer for path in action.paths for answer in of_path(action, path, context, case)]
    else:
        answers = [of_other(action, context, case)]
    return joined(action, answers, analysis, context, case)


def joined(action: Action, answers: list[Answer], analysis: Analysis | None, context: Context, case: Case) -> tuple[Verdict, str]:
    strictest = max(answer.verdict for answer in answers)
    worst = sorted((a for a in answers if a.verdict == strictest), key=lambda a: a.rank)[0]
    verdict, layer = worst.verdict, worst.layer
    doubt = None
    if verdict == ALLOW and analysis is not None and analysis.syntax is not None and not plain(action.command, analysis.syntax):
        doubt = disagreement(byte_view(action.command), analysis.syntax)
    if verdict == ALLOW and (doubt is not None or case.degraded):
        verdict, layer = ASK, "guard"
    elif verdict == ASK and not case.degraded and granted(action, answers, context, case):
        verdict, layer = ALLOW, "grant"
    if verdict == ASK and case.mode == "dontAsk":
        verdict, layer = DENY, "presence"
    return verdict, layer


def granted(action: Action, answers: list[Answer], context: Context, case: Case) -> bool:
    asks = [answer for answer in answers if answer.verdict == ASK]
    if any(not answer.liftable or answer.risky for answer in asks) or case.grants_policy == "none":
        return False
    kinds = {(grant.kind, grant.value) for grant in case.grants.items}
    exact = ("exact", digest(action, context.cwd)) in kinds
    by_tool = ("tool", action.tool) in kinds and case.grants_policy == "tool" and case.mode != "smart"
    return exact or by_tool


# -- the stages 3 to 5 for one thing ----------------------------------------------------------------


def answer_of(thing: Thing, context: Context, case: Case) -> Answer:
    lifted = LIFTS_DENIES.get(case.mode, ())
    ruling = rules_say(thing, context, case)
    answer = by_rules_and_guards(thing, ruling.winner, case)
    if ruling.maybe is not None and answer.verdict != DENY and ruling.maybe.layer not in lifted:
        answer = answer._replace(verdict=ASK, layer=ruling.maybe.layer, liftable=False)
    if ruling.held is not None and ruling.held.layer not in lifted:
        held = answer._replace(verdict=ruling.held.verdict, layer=ruling.held.layer)
        if ruling.held.verdict == ASK and not is_specific(ruling.held):  # what the safe list lifts, as anywhere
            open_rule = ruling.winner.verdict == ALLOW and not is_specific(ruling.winner)
            held = by_rules_and_guards(thing, ruling.held, case) if open_rule else answer
        answer = held if held.verdict > answer.verdict else answer
    return in_mode(thing, answer, case)


def by_rules_and_guards(thing: Thing, winner: Rule, case: Case) -> Answer:
    smart = case.mode == "smart"
    risky = bool(thing.findings) and thing.findings[0].rule in HIGH
    if thing.guard_denies:
        return Answer(DENY, "guard", liftable=False)
    if winner.verdict == DENY and winner.layer not in LIFTS_DENIES.get(case.mode, ()):
        return Answer(DENY, winner.layer)
    if winner.verdict == DENY:
        return ask_about(thing.findings[0], winner, case) if thing.stubborn else Answer(ALLOW, "mode")
    if winner.verdict == ASK and is_specific(winner):
        return Answer(ASK, winner.layer, risky=risky)
    if winner.verdict == ALLOW:
        by_wrapper = is_specific(winner) and allows_the_inner_only(thing, winner)
        asking = [
            f for f in thing.findings
            if not f.lifted or (smart and f.rule in HIGH) or (by_wrapper and f.outer)
            or (not is_specific(winner) and f.rule in ALWAYS_GUARDED)
        ]  # fmt: skip
        return ask_about(asking[0], winner, case) if asking else Answer(ALLOW, winner.layer, risky=risky)
    if not thing.findings and thing.key in ("bash", "read"):
        return Answer(ALLOW, "mode" if smart else "guard")
    if smart and thing.key in ("bash", "edit") and {f.rule for f in thing.findings} <= {"edit-in-project"}:
        return Answer(ALLOW, "mode")
    return ask_about(thing.findings[0], winner, case) if thing.findings else Answer(ASK, winner.layer)


def ask_about(finding: Finding, winner: Rule, case: Case) -> Answer:
    if case.mode == "smart":
        layer = "mode"
    elif finding.rule in ALWAYS_GUARDED or winner.verdict == ALLOW or not finding.lifted:
        layer = "guard"
    else:
        layer = winner.layer
    return Answer(ASK, layer, GRAVEST_FIRST.index(finding.rule), risky=finding.rule in HIGH)


def in_mode(thing: Thing, answer: Answer, case: Case) -> Answer:
    if case.mode == "plan":
        stays = thing.key in ("read", "plan", "external_directory")
        return answer if stays else answer._replace(verdict=DENY, layer="mode")
    if thing.stubborn:
        return answer._replace(liftable=False) if answer.verdict == ASK else answer
    if answer.verdict != ASK or not answer.liftable:
        return answer
    ordinary = {f.rule for f in thing.findings} <= {"edit-in-project"}
    lifted = case.mode in LIFTS_ASKS or (case.mode in EDITS_INSIDE and thing.key == "edit" and ordinary)
    return answer._replace(verdict=ALLOW, layer="mode") if lifted else answer


def is_specific(rule: Rule) -> bool:
    return rule.pattern not in ("*", "**")


def allows_the_inner_only(thing: Thing, rule: Rule) -> bool:
    """Whether the command stands in a wrapper, and the rule is for the command alone."""
    return len(thing.argvs) > 1 and not command_matches(rule.pattern, thing.argvs[0], glued=True)


# -- rules ------------------------------------------------------------------------------------------


def posture_of(case: Case) -> list[Rule]:
    posture = POSTURE[case.mode] or case.posture
    rules = []
    for key in KEYS:
        if posture == "open":
            verdict = ASK if key == "external_directory" else ALLOW
        else:
            verdict = ALLOW if key in ("read", "plan", "task") else ASK
        rules.append(Rule(key, "*", verdict, "builtin", posture))
    return rules


def rules_say(thing: Thing, context: Context, case: Case) -> Ruling:
    rules = posture_of(case) + [rule for rule in case.rules if not rule.held]
    said = [matching(rule, thing, context) for rule in rules]
    sure = [at for at in range(len(rules)) if said[at] == "yes"]
    last = sure[-1]
    could = [at for at in range(len(rules)) if said[at] == "maybe" and at > last]
    winner = rules[last]
    if not is_specific(winner) and winner.layer not in ("builtin", "project"):
        of_project = [at for at in sure if rules[at].layer == "project"]
        own = of_project[-1] if of_project else -1
        for at in range(len(rules)):
            care = rules[at].layer == "project" and is_specific(rules[at]) and rules[at].verdict > rules[last].verdict
            if care and at == own:
                winner = rules[at]
            if care and at > own and said[at] == "maybe":
                could.append(at)
    maybe = rules[max(could)] if could else None
    held = [rule for rule in case.rules if rule.held and matching(rule, thing, context) != "no"]
    return Ruling(winner, maybe, held[-1] if held and held[-1].verdict != ALLOW else None)


def matching(rule: Rule, thing: Thing, context: Context) -> str:
    """`yes`, `no`, or `maybe` where it hangs on something that is not known (never for an allow)."""
    if rule.key not in (thing.key, "*"):
        return "no"
    if not is_specific(rule):
        return "yes"
    if thing.key == "bash":
        return allow_matches(rule, thing) if rule.verdict == ALLOW else strict_matches(rule, thing)
    if thing.key in ("read", "edit", "external_directory"):
        found = [path_matches(rule.pattern, text, context) for text in thing.texts]
        enough = bool(found) and (all(found) if rule.verdict == ALLOW else any(found))
    elif thing.key == "network":
        enough = any(host_matches(rule.pattern, text) for text in thing.texts)
    else:
        enough = any(star(rule.pattern, text) for text in thing.texts)
    if enough:
        return "yes"
    if rule.verdict == ALLOW:
        return "no"
    return "maybe" if thing.unknown or (thing.tree and reaches_into(rule.pattern, thing.tree, context)) else "no"


def reaches_into(pattern: str, tree: str, context: Context) -> bool:
    """Whether a pattern with a slash could be about something in a folder, or about a folder that holds it."""
    if "/" not in pattern.rstrip("/"):
        return False
    whole = context.home + pattern[1:] if pattern.startswith("~/") else pattern
    parts = f"{'' if whole.startswith('/') else context.workspace}/{whole}".split("/")
    literal = parts[: next((at for at, part in enumerate(parts) if any(c in part for c in "*?[")), len(parts))]
    folder = lexical("/" + "/".join(literal))
    return any((long + "/").startswith(short.rstrip("/") + "/") for long, short in ((folder, tree), (tree, folder)))


def strict_matches(rule: Rule, thing: Thing) -> str:
    """A deny or ask rule: against every form of the command, wrapped and not, with and without the folder."""
    forms = [form for argv in thing.argvs for form in (argv, with_name(argv))]
    if any(command_matches(rule.pattern, form, glued=False) for form in forms):
        return "yes"
    return "maybe" if any(command_could_match(rule.pattern, form) for form in forms) else "no"


def allow_matches(rule: Rule, thing: Thing) -> str:
    """An allow rule: the command itself, or a wrapper together with a command that the rule names."""
    if not thing.argvs:
        return "no"
    inner = thing.argvs[-1]
    if not thing.trusted and inner and inner[0] and "/" in inner[0]:
        return "yes" if command_matches(rule.pattern, inner, glued=True) else "no"
    if command_matches(rule.pattern, with_name(inner), glued=True):
        return "yes"
    literal = rule.pattern.removesuffix(":*").split("*")[0].split()
    names_it = bool(inner) and inner[0] is not None and inner[0] in literal[1:]
    outer = any(command_matches(rule.pattern, with_name(argv), glued=True) for argv in thing.argvs[:-1])
    return "yes" if names_it and outer else "no"


def with_name(argv: tuple[str | None, ...]) -> tuple[str | None, ...]:
    if argv and argv[0] is not None and "/" in argv[0]:
        return (argv[0].rstrip("/").split("/")[-1], *argv[1:])
    return argv


# -- what a command touches -------------------------------------------------------------------------

WRITES = (Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE)
READS = (Kind.READ, Kind.EDIT)


def of_command(analysis: Analysis, context: Context, case: Case) -> list[Answer]:
    answers = []
    if analysis.nothing_runs:
        return [Answer(ALLOW, "guard")]
    if analysis.error is not None:
        answers.append(unreadable(context, case))
    for segment in analysis.segments:
        if floor(segment, context) is not None:
            answers.append(Answer(DENY, "floor", -1, False))
        else:
            answers += of_segment(segment, context, case)
    return answers or [unreadable(context, case)]


def unreadable(context: Context, case: Case) -> Answer:
    """It could be any command: what is denied whatever it is is denied, the rest asks."""
    ruling = rules_say(Thing("bash"), context, case)
    lifted = LIFTS_DENIES.get(case.mode, ())
    if case.mode == "plan":
        return Answer(DENY, "mode", 0)
    if ruling.winner.verdict == DENY and ruling.winner.layer not in lifted:
        return Answer(DENY, ruling.winner.layer, 0)
    if ruling.held is not None and ruling.held.verdict == DENY and ruling.held.layer not in lifted:
        return Answer(DENY, ruling.held.layer, 0)
    return Answer(ASK, "guard", 0, False, True)


def of_segment(segment: Segment, context: Context, case: Case) -> list[Answer]:
    answers: list[Answer] = []
    kept: list[Finding] = []
    stubborn = False
    for effect in segment.effects:
        finding = judge(effect, context)
        if effect.target is not None and effect.kind in (*WRITES, *READS, Kind.LIST):
            said, finding, dotenv = of_touched_path(effect, effect.target, finding, context, case)
            answers += said
            stubborn = stubborn or dotenv
        elif (
            effect.kind == Kind.NETWORK
            and any(rule.key in ("network", "*") for rule in case.rules)
            and says_where(effect, segment)
        ):
            answers += of_host(effect, finding, context, case)
        if finding is not None:
            kept.append(finding._replace(rule="unknown-effect") if segment.dormant else finding)
    kept.sort(key=lambda finding: GRAVEST_FIRST.index(finding.rule))
    if segment.trusted_name and any(command_matches(p, segment.argv, glued=True) for p in case.safe_extra):
        kept = [f for f in kept if f.rule not in ("unknown-effect", "project-code") or not f.lifted]
    if every_host_is_allowed(segment, context, case):
        kept = [f for f in kept if f.rule != "network" or not f.lifted]
    thing = Thing(
        "bash", segment.all_argvs, trusted=segment.trusted_name, findings=tuple(kept),
        stubborn=(stubborn and case.env_guard == "deny") or any(f.rule == "git-internals" for f in kept),
    )  # fmt: skip
    return [*answers, answer_of(thing, context, case)]


def subject_of(target: Target, context: Context) -> tuple[tuple[str, ...], bool]:
    """The names of a path as given and as it is, and whether it is unknown."""
    if target.path is None:
        return ((lexical(target.under),) if target.under else ()), True
    if target.glob:
        return (lexical(target.path),), True
    return tuple(dict.fromkeys((lexical(target.path), canonical(target.path, context)))), False


def tree_of(target: Target) -> str:
    known = target.path is not None and not target.glob
    return lexical(target.path) if known and target.recursive and target.path is not None else ""


def of_touched_path(
    effect: Effect, target: Target, finding: Finding | None, context: Context, case: Case
) -> tuple[list[Answer], Finding | None, bool]:
    """The answers about a path, what is left to say about the command, and whether it is a dotenv file."""
    texts, unknown = subject_of(target, context)
    writes = effect.kind in WRITES
    redirected = writes and effect.code in ("redirect", "nested-redirect") and finding is not None
    answers = []
    for key, kinds in (("read", READS), ("edit", WRITES)):
        thing = Thing(key, (), texts, unknown, tree_of(target), findings=(finding,) if finding is not None else ())
        own_edit = key == "edit" and redirected  # no pattern for a command covers its redirections
        written_for = any(rule.key in (key, "*") for rule in case.rules)
        if effect.kind in kinds and (own_edit or (written_for and has_something_to_say(thing, context, case))):
            answers.append(answer_of(thing, context, case))
    if finding is None:
        return answers, None, False
    specific_read = specifically_allowed("read", texts, unknown, context, case)
    if finding.rule == "outside-project":
        outside = Thing("external_directory", (), texts, unknown, tree_of(target), findings=(finding,))
        answers.append(answer_of(outside, context, case))
        if specifically_allowed("external_directory", texts, unknown, context, case):
            return answers, finding._replace(rule="edit-in-project") if writes else None, False
        return answers, finding if writes else None, False
    if finding.rule == "secrets-file" and not writes:
        dotenv = "environment file" in finding.reason or any(env_file(text.split("/")[-1]) for text in texts)
        if specific_read and not (dotenv and case.env_guard == "deny"):
            return answers, None, False
        return answers, finding, dotenv
    return answers, finding, False


def has_something_to_say(thing: Thing, context: Context, case: Case) -> bool:
    """Rules that somebody wrote follow a file through commands; the posture, and a bare allow to read, do not."""
    ruling = rules_say(thing, context, case)
    open_read = thing.key == "read" and ruling.winner.verdict == ALLOW and not is_specific(ruling.winner)
    return ruling.maybe is not None or ruling.held is not None or not (ruling.winner.layer == "builtin" or open_read)


def specifically_allowed(key: str, texts: tuple[str, ...], unknown: bool, context: Context, case: Case) -> bool:
    winner = rules_say(Thing(key, (), texts, unknown), context, case).winner
    return winner.verdict == ALLOW and is_specific(winner)


def of_host(effect: Effect, finding: Finding | None, context: Context, case: Case) -> list[Answer]:
    named = effect.code == "host"
    thing = Thing("network", (), (effect.detail,) if named else (), not named, findings=(finding,) if finding else ())
    ruling = rules_say(thing, context, case)
    if ruling.winner.verdict == ALLOW and is_specific(ruling.winner):
        thing = thing._replace(findings=())  # this host is what the rule is about
    spoken = ruling.winner.layer != "builtin" or ruling.maybe is not None or ruling.held is not None
    return [answer_of(thing, context, case)] if spoken else []


def says_where(effect: Effect, segment: Segment) -> bool:
    """An effect that says no more than that the network is used is about the hosts that are named beside it."""
    named = [other for other in segment.effects if other.kind == Kind.NETWORK and other.code == "host"]
    return effect.code == "host" or effect.detail != "" or not named


def every_host_is_allowed(segment: Segment, context: Context, case: Case) -> bool:
    contacts = [effect for effect in segment.effects if effect.kind == Kind.NETWORK]
    hosts = [effect.detail for effect in contacts if effect.code == "host"]
    others = [effect for effect in contacts if effect.code != "host" and effect.detail]
    allowed = [host for host in hosts if specifically_allowed("network", (host,), False, context, case)]
    return bool(hosts) and hosts == allowed and not others


# -- what a tool touches ----------------------------------------------------------------------------

RECURSIVE = ("list_files", "glob", "search_text", "search", "grep")
LISTING = (*RECURSIVE, "list", "ls", "git_status", "git_diff", "git_log", "git_show")


def of_path(action: Action, path: str, context: Context, case: Case) -> list[Answer]:
    target = Target(absolute(path, context.cwd, context.home), "", path, recursive=action.tool in RECURSIVE)
    kind = Kind.EDIT if action.key == "edit" else Kind.LIST if action.tool in LISTING else Kind.READ
    effect = Effect(kind, target)
    refused = floor(Segment((), None, (), (), (effect,), 0, 0), context) is not None
    if refused or (action.key == "edit" and protected_state(target, context)):
        return [Answer(DENY, "floor", -1, False)]
    texts, unknown = subject_of(target, context)
    finding = judge(effect, context)
    findings = (finding,) if finding is not None else ()
    dotenv = action.key == "read" and any(env_file(text.split("/")[-1]) for text in texts)
    git = action.key == "edit" and any(guarded_path(text) == "git-internals" for text in texts)
    thing = Thing(action.key, (), texts, unknown, tree_of(target), findings=findings)
    thing = thing._replace(guard_denies=finding is not None and ((dotenv and case.env_guard == "deny") or git))
    if case.mode == "plan" and action.key == "edit" and all(is_a_plan(text, context) for text in texts):
        ruling = rules_say(thing, context, case)
        if ruling.winner.verdict != DENY and (ruling.held is None or ruling.held.verdict != DENY):
            return [Answer(ALLOW, "mode", 99)]
    answers = []
    if finding is not None and finding.rule == "outside-project":
        answers.append(answer_of(thing._replace(key="external_directory", guard_denies=False), context, case))
        if specifically_allowed("external_directory", texts, unknown, context, case):
            ordinary = (finding._replace(rule="edit-in-project"),) if action.key == "edit" else ()
            thing = thing._replace(findings=ordinary)
        elif action.key == "read":
            thing = thing._replace(findings=())
    return [*answers, answer_of(thing, context, case)]


def is_a_plan(path: str, context: Context) -> bool:
    folder, _, name = path.rpartition("/")
    return folder == f"{context.workspace}/.stockade/plans" and name.endswith(".md")


def of_other(action: Action, context: Context, case: Case) -> Answer:
    findings: tuple[Finding, ...] = ()
    if action.key == "network":
        findings = (Finding("network", "", 0, 0),)
    elif action.key in ("mcp", "process", "sandbox"):
        findings = (Finding("unknown-effect", "", 0, 0),)
    return answer_of(Thing(action.key, (), (action.subject,), findings=findings), context, case)
