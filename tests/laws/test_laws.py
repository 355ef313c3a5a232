"""The laws of `docs/decision-model.md`, each under its name there, against examples that nobody chose."""

from __future__ import annotations

import json

from hypothesis import assume, example, given
from hypothesis import strategies as st

from stockade.config.layers import merge
from stockade.config.read import read_text
from stockade.config.settings import SETTINGS, Setting
from stockade.config.sources import Source
from stockade.model.action import Action, command_action, from_tool
from stockade.model.decision import CheckResult, Decision, digest
from stockade.model.effects import Analysis, Effect, Kind
from stockade.model.paths import device
from stockade.model.verdict import Verdict
from stockade.policy.evaluate import decide
from stockade.policy.grants import POLICIES, Grants
from stockade.policy.rules import LAYERS, Rule, RuleError, check_pattern, parse_subject, show_rule
from tests.laws.pool import (
    ACTIONS,
    COMMANDS,
    FLOORED,
    MODES,
    SUBJECTS,
    actions,
    cases,
    commands,
    facts,
    read,
    rules,
    several,
)
from tests.laws.reference import ALWAYS_GUARDED, HIGH, POSTURE, Case, reference
from tests.support.corpora import CONTEXT

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
LIFTING = ("full", "bypassPermissions")


def decided(action: Action, case: Case, *, trace: bool = False) -> Decision:
    return decide(action, CONTEXT, case.policy(trace=trace), facts=facts(action))


def verdict(action: Action, case: Case) -> Verdict:
    return decided(action, case).verdict


def _deny(subject: tuple[str, str], layer: str) -> Rule:
    return Rule(*subject, DENY, layer, "last.toml", 99)


# -- the floor, denies, grants ----------------------------------------------------------------------


def test_the_pool_holds_what_the_laws_are_about() -> None:
    assert len(COMMANDS) >= 150
    assert len(FLOORED) >= 20
    assert {action.key for action in ACTIONS} >= {"bash", "read", "edit", "network", "mcp", "task", "process", "sandbox"}
    assert {verdict(action, Case(mode="default")) for action in ACTIONS} == set(Verdict)


@given(st.sampled_from(FLOORED), cases())
def test_floor_stands(command: str, case: Case) -> None:
    action = command_action(command)
    approved = Grants().with_exact(digest(action, CONTEXT.cwd)).with_tool(action.tool)
    decision = decided(action, case._replace(grants=approved, grants_policy="tool"))
    assert (decision.verdict, decision.layer, decision.risk, decision.suggestion) == (DENY, "floor", "critical", "")


@given(several, cases(), st.sampled_from(SUBJECTS), st.sampled_from(LAYERS[1:]))
@example((command_action("cat .env"),), Case(mode="bypassPermissions"), ("bash", "cat *"), "user")
def test_adding_a_deny_never_loosens(some: tuple[Action, ...], case: Case, subject: tuple[str, str], layer: str) -> None:
    last = case.rules[-1].layer if case.rules else "project"
    added = _deny(subject, max(layer, last, key=LAYERS.index))
    for action in some:
        assert verdict(action, case._replace(rules=(*case.rules, added))) >= verdict(action, case)


@given(actions, actions, cases(), st.sampled_from(POLICIES))
def test_exact_grant_covers_only_its_digest(action: Action, other: Action, case: Case, grants_policy: str) -> None:
    case = case._replace(grants_policy=grants_policy)
    granted = case._replace(grants=Grants().with_exact(digest(action, CONTEXT.cwd)))
    before, after = decided(action, case), decided(action, granted)
    asks = [check for check in before.checks if check.verdict is ASK]
    remembered = case.grants_policy != "none" and all(check.liftable and check.risk not in ("high", "critical") for check in asks)
    waited = before.verdict is ASK or before.layer == "presence"  # `dontAsk` denies what would have asked
    wanted = ALLOW if waited and remembered else before.verdict
    assert after.verdict is wanted
    if other != action:
        assert decided(other, granted) == decided(other, case)
    elsewhere = CONTEXT._replace(cwd="/home/dev/app/src")
    moved = [decide(action, elsewhere, one.policy(), facts=facts(action)) for one in (granted, case)]
    assert moved[0] == moved[1]


# -- commands in a row ------------------------------------------------------------------------------


def _joins(command: str) -> bool:
    """Whether a line is one whole piece of bash on its own, that another can be written behind."""
    return (
        read(command).error is None
        and not any(c in command for c in "\n#")
        and "<<" not in command
        and not command.endswith(("&", "\\"))
    )


JOINING = tuple(command for command in COMMANDS if _joins(command))
# They print, and leave the shell as it is.
CHANGES_NOTHING = ("true", "git status", "ls -la | head", "echo 'a b'", "pwd", "make test", "rm src/x", "(cd /tmp)")


@given(st.sampled_from(JOINING), st.sampled_from(JOINING), cases())
def test_sequence_is_at_least_as_strict(first: str, second: str, case: Case) -> None:
    together = verdict(command_action(f"{first}; {second}"), case)
    assert together >= verdict(command_action(first), case)
    for quiet in CHANGES_NOTHING:
        assert verdict(command_action(f"{quiet}; {second}"), case) >= verdict(command_action(second), case)


# -- what is not known ------------------------------------------------------------------------------

_HOLES = ("$x", '"$x"', "$(cat f)", "`cat f`", "${x:-y}", "$((x))", "$@", '"${a[0]}"')
_BEFORE = (
    "",
    "sudo ",
    "env ",
    "A=1 ",
    "timeout 5 ",
    "nice ",
    "! ",
    "xargs ",
    "command ",
    "git status && ",
    "ls | ",
    "( ",
    "{ ",
    "exec ",
)
_AFTER = ("", " status", " -rf src", " src/a", " | head", " > /dev/null", " && ls")


@given(st.sampled_from(_BEFORE), st.sampled_from(_HOLES), st.sampled_from(_AFTER), st.sampled_from(MODES))
def test_unknown_is_never_on_the_safe_list(before: str, hole: str, after: str, mode: str) -> None:
    line = before + hole + after + {"( ": " )", "{ ": "; }"}.get(before, "")
    decision = decided(command_action(line), Case(mode=mode, posture="asking"))
    assert decision.verdict is not ALLOW or mode in LIFTING
    unknown = [check for check in decision.checks if "…" in check.subject]
    assert unknown == [] or not {check.rule for check in unknown} & {"guard/safe-list", "smart/read"}


# Effects that are more than reading.
_MORE = {Kind.UNKNOWN, Kind.HIJACK, Kind.EXECUTE, Kind.NETWORK, Kind.INSTALL, Kind.PRIVILEGE, Kind.DESTRUCTIVE, Kind.DISK,
         Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.SECRET, Kind.PROCESS, Kind.SERVICE, Kind.VCS, Kind.FORCED_PUSH}  # fmt: skip


@given(commands, st.sampled_from(MODES))
def test_what_is_on_the_safe_list_only_reads(command: str, mode: str) -> None:
    for segment in read(command).segments:
        alone = Analysis((segment,), True)
        decision = decide(command_action(command), CONTEXT, Case(mode=mode).policy(), facts=alone)
        if decision.rule in ("guard/safe-list", "smart/read"):
            more = {effect.kind for effect in segment.effects if effect.target is None or not _nothing_lost(effect)}
            assert more & _MORE == set()


def _nothing_lost(effect: Effect) -> bool:
    """Writing to a stream or to `/dev/null` takes nothing from anybody."""
    return effect.target is not None and effect.target.path is not None and device(effect.target.path)


# A line with something unknown in it, and what could stand there.
_FILLED = (
    ("git $x origin main", ("push", "fetch", "status"), "{}"),
    ("git push $x", ("--force", "origin"), "{}"),
    ("cat $x", ("src/private/k", "src/a", ".env", "/etc/passwd"), "{}"),
    ("cat src/*/k", ("private",), "cat src/{}/k"),
    ("cat src/private/$x", ("k", "l"), "{}"),
    ("echo a > $x", ("src/private/k", "src/a", "../other/x"), "{}"),
    ('curl "https://$x/"', ("example.com", "evil.example"), "{}"),
    ("$x test", ("make", "npm", "./make"), "{}"),
)


@given(st.sampled_from(_FILLED), cases())
@example(_FILLED[0], Case((Rule("bash", "git push *", DENY, "user", "u", 1),), "full"))
@example(_FILLED[2], Case((Rule("read", "src/private/**", DENY, "user", "u", 1),), "full"))
@example(_FILLED[6], Case((Rule("network", "example.com", DENY, "user", "u", 1),), "default", "open"))
def test_unevaluable_counts_at_its_strictest(filled: tuple[str, tuple[str, ...], str], case: Case) -> None:
    line, words, shape = filled
    open_line = verdict(command_action(line), case)
    for word in words:
        whole = shape.format(word) if shape != "{}" else line.replace("$x", word)
        closed = decided(command_action(whole), case)
        by_rule = any(c.verdict is closed.verdict and c.liftable and c.rule.count(":") >= 2 for c in closed.checks)
        if by_rule:
            assert open_line >= min(closed.verdict, ASK), whole


@given(st.sampled_from(('echo "', "if", "echo $(", "cat <<", "a | | b")), cases())
@example('echo "', Case((Rule("bash", "*", DENY, "managed", "m", 1),), "full"))
@example("if", Case(mode="plan"))
def test_what_cannot_be_read_counts_at_its_strictest(line: str, case: Case) -> None:
    assert verdict(command_action(line), case) is not ALLOW
    for_all = case._replace(rules=tuple(rule for rule in case.rules if rule.bare))
    assert verdict(command_action(line), for_all) >= verdict(command_action("some-program"), for_all)


# -- reading and printing ---------------------------------------------------------------------------

_PATTERNS = st.text(
    st.characters(codec="utf-8", exclude_characters="\n\r\0", exclude_categories=("Cc", "Cs")), min_size=1, max_size=30
)


def _usable(key: str, pattern: str) -> bool:
    try:
        check_pattern(key, pattern)
    except RuleError:
        return False
    return True


@given(
    st.lists(
        st.tuples(st.sampled_from(("bash", "read", "edit", "network", "mcp", "task")), _PATTERNS, st.sampled_from(Verdict)),
        max_size=5,
    )
)
def test_parse_print_identity(wanted: list[tuple[str, str, Verdict]]) -> None:
    kept = {
        (key, pattern.strip()): verdict for key, pattern, verdict in wanted if pattern.strip() and _usable(key, pattern.strip())
    }
    made = [Rule(key, pattern, answer, "user", "f.toml", 1) for (key, pattern), answer in kept.items()]
    for rule in made:
        assert parse_subject(show_rule(rule)) == (rule.key, rule.pattern)
    lines = [f'{json.dumps(show_rule(rule), ensure_ascii=False)} = "{rule.verdict}"' for rule in made]
    text = "\n".join(["version = 1", "[permission]", *lines, ""])
    read_back = read_text(text, file="f.toml", layer="user")
    assert [(r.key, r.pattern, r.verdict) for r in read_back.rules] == [(r.key, r.pattern, r.verdict) for r in made]
    assert [rule.line for rule in read_back.rules] == list(range(3, 3 + len(made)))
    assert read_back.problems == ()


# -- one function -----------------------------------------------------------------------------------


@given(several, cases())
def test_explain_is_enforce(some: tuple[Action, ...], case: Case) -> None:
    for action in some:
        explained_as_enforced(action, case)


def explained_as_enforced(action: Action, case: Case) -> None:
    enforced, explained = decided(action, case), decided(action, case, trace=True)
    assert explained._replace(checks=enforced.checks) == enforced
    assert tuple(check._replace(matched=()) for check in explained.checks) == enforced.checks
    for check in explained.checks:
        ids = {rule.rule for rule in check.matched if rule.decisive}
        assert not check.matched or ids
        assert all((rule.ignored_because == "") == rule.decisive for rule in check.matched)


@given(several, cases())
def test_reference_agrees(some: tuple[Action, ...], case: Case) -> None:
    decisions = {action: decided(action, case) for action in some}
    answers = {action: (decision.verdict, decision.layer) for action, decision in decisions.items()}
    assert answers == {action: reference(action, CONTEXT, case) for action in some}


@given(actions, cases(), st.sampled_from(POLICIES), st.booleans(), st.sampled_from(("", "it does not load")))
def test_reference_agrees_on_grants_and_a_broken_configuration(
    action: Action, case: Case, grants_policy: str, exact: bool, degraded: str
) -> None:
    grants = Grants().with_exact(digest(action, CONTEXT.cwd)) if exact else Grants().with_tool(action.tool)
    case = case._replace(grants_policy=grants_policy, grants=grants, degraded=degraded)
    decision = decided(action, case)
    assert (decision.verdict, decision.layer) == reference(action, CONTEXT, case)
    if degraded:
        assert decision.verdict >= ASK


# -- projects that are not trusted ------------------------------------------------------------------


@given(several, cases(rules(layers=LAYERS[2:])), rules(layers=("project",), held=True))
def test_held_project_only_tightens(some: tuple[Action, ...], case: Case, project: tuple[Rule, ...]) -> None:
    for action in some:
        assert verdict(action, case._replace(rules=(*project, *case.rules))) >= verdict(action, case)


def _values(setting: Setting) -> st.SearchStrategy[str]:
    if setting.kind == "flag":
        return st.sampled_from(("true", "false"))
    if setting.kind == "texts":
        return st.sampled_from(("[]", '["make test"]', '["git *", "* x"]'))
    if setting.kind == "number":
        return st.sampled_from(("0", "1", "4096"))
    if setting.kind == "size":
        return st.sampled_from(('""', '"1M"', '"2G"'))
    if setting.kind == "table":
        return st.sampled_from(("{}", '{ A = "1" }'))
    return st.sampled_from([json.dumps(value) for value in setting.values])


def _as_text(settings: dict[str, str], written: tuple[Rule, ...]) -> str:
    lines = ["version = 1", *(f"{name} = {value}" for name, value in settings.items())]
    for rule in written:
        lines.append(f'permission.{json.dumps("*" if rule.key == "*" else show_rule(rule))} = "{rule.verdict}"')
    return "\n".join(dict.fromkeys(lines)) + "\n"


def _texts(layer: str) -> st.SearchStrategy[str]:
    named = st.fixed_dictionaries(
        {}, optional={setting.name: _values(setting) for setting in SETTINGS if setting.name != "preset"}
    )
    distinct = rules(layers=(layer,), held=False, most=4).map(lambda made: tuple({show_rule(r): r for r in made}.values()))
    return st.builds(_as_text, named, distinct)


@given(actions, _texts("user"), _texts("project"))
@example(
    command_action("curl https://example.com/x"),
    'version = 1\npermission."Bash(curl *)" = "allow"\n',
    'version = 1\npermission_mode = "ask"\n',
)
@example(
    from_tool("read_file", {"path": "~/.ssh/id_rsa"}),
    'version = 1\npermission."Read(~/.ssh/**)" = "allow"\n',
    'version = 1\npermission_mode = "plan"\n',
)
def test_held_project_configuration_only_tightens(action: Action, user: str, project: str) -> None:
    alone = merge([Source(user, "user.toml", "user")])
    joined = merge([Source(project, "project.toml", "project", (), False, "digest"), Source(user, "user.toml", "user")])
    assert alone.degraded == joined.degraded == ""
    before = decide(action, CONTEXT, alone.policy(), facts=facts(action))
    after = decide(action, CONTEXT, joined.policy(), facts=facts(action))
    assert after.verdict >= before.verdict


# -- postures and modes -----------------------------------------------------------------------------


@given(several, cases())
def test_stricter_posture_is_at_least_as_strict(some: tuple[Action, ...], case: Case) -> None:
    for action in some:
        assert verdict(action, case._replace(posture="asking")) >= verdict(action, case._replace(posture="open"))


def _names(check: CheckResult) -> tuple[str, str, int, int]:
    return check.key, check.subject, 0, 0


def _may(mode: str, check: CheckResult, before: Verdict, after: Verdict) -> bool:
    """Whether a mode's row in the table allows this change of one check's answer."""
    if before == after:
        return True
    if mode in ("acceptEdits", "edits", "workspace"):
        return (before, after, check.key, check.rule) == (ASK, ALLOW, "edit", f"mode/{mode}")
    if mode == "full":
        return (before, after) == (ASK, ALLOW)
    if mode == "bypassPermissions":
        return after is ALLOW or (before, after, check.liftable) == (DENY, ASK, False)
    if mode == "smart":
        name = check.rule.removeprefix("smart/")
        return (after is ASK and name in HIGH) or (after is ALLOW and name in ("edit-in-project", "read"))
    if mode == "plan":
        return (after is DENY and check.key not in ("read", "plan", "external_directory")) or check.rule == "mode/plan"
    return False


@given(several, cases())
def test_modes_lift_only_what_their_row_says(some: tuple[Action, ...], case: Case) -> None:
    for action in some:
        lifted_as_the_row_says(action, case)


def lifted_as_the_row_says(action: Action, case: Case) -> None:
    """Against `default` in the posture that the mode brings along, check by check."""
    plain = decided(action, case._replace(mode="default", posture=POSTURE[case.mode] or case.posture))
    modal = decided(action, case)
    assert [_names(c) for c in plain.checks] == [_names(c) for c in modal.checks] or case.mode == "plan"
    for before, after in zip(plain.checks, modal.checks, strict=case.mode != "plan"):
        assert _may(case.mode, after, before.verdict, after.verdict), (before, after)
        if before.layer in ("floor", "guard", "managed", "cli") and before.verdict is DENY:
            assert after.verdict is DENY
        if before.verdict is ASK and not before.liftable:
            assert after.verdict >= ASK or case.mode == "bypassPermissions"
    if case.mode == "dontAsk":
        assert modal.verdict is (DENY if plain.verdict is ASK else plain.verdict)


@given(commands, st.sampled_from(MODES))
def test_guards_ask_in_every_mode_that_lifts_no_ask(command: str, mode: str) -> None:
    assume(mode not in LIFTING)
    named = {f"guard/{name}" for name in ("secret", "protected-path", "external-directory")} | {
        f"smart/{name}" for name in ALWAYS_GUARDED
    }
    decision = decided(command_action(command), Case(mode=mode, posture="open"))
    guarded = [check for check in decision.checks if check.rule in named]
    assert decision.verdict >= max((check.verdict for check in guarded), default=ALLOW)
    assert all(check.verdict is not ALLOW for check in guarded)
