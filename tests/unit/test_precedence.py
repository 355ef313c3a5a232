"""The precedence table and the mode table, a row of data for each of their rows (`corpus/precedence.jsonl`)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stockade.model.action import Action, ActionError, command_action, from_tool
from stockade.model.decision import Decision, digest
from stockade.model.verdict import EXIT_CODE, Verdict
from stockade.policy.evaluate import PRECEDENCE, decide
from stockade.policy.findings import GUARDS, HIGH_RISK, ORDER, RANK
from stockade.policy.grants import Grant, Grants
from stockade.policy.modes import BOOT_MODE, MODES, POSTURES, Chosen, ModeError, choose, mode
from stockade.policy.policy import build, posture_rules
from stockade.policy.rules import Rule, parse_subject
from stockade.shell import crosscheck
from tests.support.corpora import CONTEXT

ROWS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[1] / "corpus" / "precedence.jsonl").read_text(encoding="utf-8").splitlines()
]
NEEDED = {"note", "mode", "want", "want_rule"}
ALLOWED = NEEDED | {
    "stage",
    "posture",
    "rules",
    "command",
    "tool",
    "input",
    "env_guard",
    "safe_extra",
    "grant",
    "grants",
    "degraded",
}
MODE_NAMES = [m.name for m in MODES]
# What the mode table is asked about, for every mode.
EFFECTS = ("read", "write", "edit", "delete", "unknown", "project-code", "network", "install", "secret", "env", "outside", "git",
           "agent", "floor")  # fmt: skip


def rule(text: str, line: int) -> Rule:
    """`LAYER VERDICT SUBJECT`; `held` is the layer of a project that is not trusted."""
    layer, verdict, subject = text.split(" ", 2)
    key, pattern = ("*", "*") if subject == "*" else parse_subject(subject)
    return Rule(key, pattern, Verdict.parse(verdict), layer.replace("held", "project"), "t.toml", line, layer == "held")


def action_of(row: dict[str, Any]) -> Action:
    return command_action(row["command"]) if "command" in row else from_tool(row["tool"], row["input"])


def decided(row: dict[str, Any], *, trace: bool = False) -> Decision:
    action = action_of(row)
    grants = {
        None: Grants(),
        "exact": Grants().with_exact(digest(action, CONTEXT.cwd)),
        "other": Grants().with_exact(digest(command_action("other"), CONTEXT.cwd)),
        "tool": Grants().with_tool(action.tool),
    }[row.get("grant")]
    policy = build(
        tuple(rule(text, line) for line, text in enumerate(row.get("rules", ()), 1)),
        mode_name=row["mode"], posture=row.get("posture", "asking"), env_guard=row.get("env_guard", "deny"),
        safe_extra=tuple(row.get("safe_extra", ())), grants=grants, grants_policy=row.get("grants", "exact"),
        degraded=row.get("degraded", ""), trace=trace,
    )  # fmt: skip
    return decide(action, CONTEXT, policy)


def test_rows_are_well_formed() -> None:
    for row in ROWS:
        assert row.keys() <= ALLOWED, row
        assert row.keys() >= NEEDED, row
        assert ("command" in row) != ("tool" in row), row
    assert len({row["note"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row["note"] for row in ROWS])
def test_row(row: dict[str, Any]) -> None:
    decision = decided(row)
    assert (str(decision.verdict), decision.rule) == (row["want"], row["want_rule"]), decision.reason


# -- the tables are covered -------------------------------------------------------------------------

# Stages that come with later parts of the program.
LATER = {"requirements", "advisor"}


def test_every_stage_of_the_table_has_rows() -> None:
    assert {row["stage"] for row in ROWS if "stage" in row} == {stage.name for stage in PRECEDENCE} - LATER
    assert [stage.number for stage in PRECEDENCE] == list(range(1, 9))


def test_every_mode_has_a_row_for_every_effect() -> None:
    notes = {row["note"] for row in ROWS}
    assert {f"{name}: {effect}" for name in MODE_NAMES for effect in EFFECTS} <= notes


def test_every_smart_rule_is_the_reason_of_a_row() -> None:
    named = {row["want_rule"] for row in ROWS}
    assert {f"smart/{name}" for name in ORDER} | {"smart/read"} <= named
    assert set(GUARDS.values()) <= named


def test_the_gravest_finding_comes_first() -> None:
    assert [RANK[name] for name in ORDER] == list(range(len(ORDER)))
    assert set(ORDER) - HIGH_RISK == {"project-code", "unknown-effect", "edit-in-project"}


# -- modes ------------------------------------------------------------------------------------------

ALIASES = {
    "": "default", "normal": "default", "default": "default", "ask": "ask", "manual": "ask", "acceptEdits": "acceptEdits",
    "auto": "acceptEdits", "edits": "edits", "accept-edits": "edits", "workspace": "workspace", "smart": "smart", "plan": "plan",
    "dontAsk": "dontAsk", "full": "full", "bypassPermissions": "bypassPermissions", "always-approve": "bypassPermissions",
    "BYPASSPERMISSIONS": "bypassPermissions", "Auto": "acceptEdits", "DONTASK": "dontAsk",
}  # fmt: skip


@pytest.mark.parametrize(("name", "wanted"), ALIASES.items())
def test_alias(name: str, wanted: str) -> None:
    assert mode(name).name == wanted


def test_the_ten_modes() -> None:
    assert MODE_NAMES == [
        "default", "ask", "acceptEdits", "edits", "workspace", "smart", "plan", "dontAsk", "full", "bypassPermissions",
    ]  # fmt: skip
    assert BOOT_MODE == "smart"
    every = {alias for m in MODES for alias in (m.name, *m.aliases)}
    assert every == {name for name in ALIASES if name not in ("BYPASSPERMISSIONS", "Auto", "DONTASK")}
    postures = {m.name: m.posture for m in MODES if m.posture}
    assert postures == dict.fromkeys(("ask", "edits", "workspace", "smart", "plan"), "asking") | {"bypassPermissions": "open"}
    assert [m.name for m in MODES if m.lifts_denies] == ["bypassPermissions"]
    assert [m.name for m in MODES if m.asks_nobody] == ["dontAsk"]


@pytest.mark.parametrize("name", ["yolo", "accept edits", " smart", "smart\n"])
def test_no_mode(name: str) -> None:
    with pytest.raises(ModeError) as caught:
        mode(name)
    assert str(caught.value) == f"`{name}` is no mode; the modes are {', '.join(MODE_NAMES)}"


def test_a_locked_mode_gives_default_with_the_reason() -> None:
    locked = frozenset(("bypassPermissions",))
    wanted = Chosen(mode("default"), "bypassPermissions", "`bypassPermissions` is locked by the requirements")
    assert choose("always-approve", sandbox_works=True, locked=locked) == wanted
    assert choose("full", sandbox_works=False, locked=locked) == Chosen(mode("full"), "full")


def test_workspace_needs_a_sandbox() -> None:
    without = Chosen(mode("default"), "workspace", "`workspace` needs a working sandbox, and there is none")
    assert choose("workspace", sandbox_works=False) == without
    assert choose("workspace", sandbox_works=True) == Chosen(mode("workspace"), "workspace")


def test_postures() -> None:
    assert POSTURES == ("asking", "open")
    asking = {rule.key: str(rule.verdict) for rule in posture_rules("asking")}
    opened = {rule.key: str(rule.verdict) for rule in posture_rules("open")}
    keys = ("read", "edit", "bash", "network", "mcp", "external_directory", "sandbox", "task", "plan", "process")
    assert asking == dict.fromkeys(keys, "ask") | {"read": "allow", "task": "allow", "plan": "allow"}
    assert opened == dict.fromkeys(keys, "allow") | {"external_directory": "ask"}
    assert {rule.id for rule in posture_rules("open")} == {f"builtin:open/{key}" for key in keys}


# -- verdicts, grants, hidden tools -----------------------------------------------------------------


def test_verdicts_are_ordered_and_have_no_truth_value() -> None:
    assert sorted(Verdict) == [Verdict.ALLOW, Verdict.ASK, Verdict.DENY]
    assert [str(v) for v in Verdict] == ["allow", "ask", "deny"]
    assert [Verdict.parse(word) for word in ("allow", "ask", "deny")] == list(Verdict)
    assert EXIT_CODE == {Verdict.ALLOW: 0, Verdict.ASK: 10, Verdict.DENY: 11}
    with pytest.raises(KeyError):
        Verdict.parse("ALLOW")
    with pytest.raises(TypeError, match="no truth value"):
        bool(Verdict.ALLOW)
    with pytest.raises(TypeError, match="no truth value"):
        bool(decided(ROWS[0]))


GRANTED = Grants().with_exact("d1").with_tool("bash")
COVERED = [
    ("exact", "exact", "smart", "d1", "bash", False, Grant("exact", "d1")),
    ("exact, another digest", "exact", "default", "d2", "bash", False, None),
    ("never of high risk", "tool", "default", "d1", "bash", True, None),
    ("none", "none", "default", "d1", "bash", False, None),
    ("tool", "tool", "default", "d2", "bash", False, Grant("tool", "bash")),
    ("exact before tool", "tool", "default", "d1", "bash", False, Grant("exact", "d1")),
    ("tool, not in smart", "tool", "smart", "d2", "bash", False, None),
    ("another tool", "tool", "default", "d2", "edit", False, None),
]


@pytest.mark.parametrize(
    ("policy", "mode_name", "of", "tool", "high", "wanted"), [row[1:] for row in COVERED], ids=[r[0] for r in COVERED]
)
def test_grants(policy: str, mode_name: str, of: str, tool: str, high: bool, wanted: Grant | None) -> None:
    assert GRANTED.covers(digest=of, tool=tool, policy=policy, mode=mode_name, high_risk=high).grant == wanted


def test_grants_are_values() -> None:
    assert Grants().items == frozenset()
    assert GRANTED.items == {Grant("exact", "d1"), Grant("tool", "bash")}
    assert GRANTED.with_exact("d1") == GRANTED


def test_a_digest_is_of_the_action_and_its_terms() -> None:
    one = digest(command_action("ls"), "/w")
    assert one == digest(command_action("ls"), "/w")
    assert len(one) == 64
    others = [
        digest(command_action("ls "), "/w"), digest(command_action("ls"), "/w2"), digest(from_tool("read", {"path": "ls"}), "/w"),
        digest(from_tool("edit", {"path": "ls"}), "/w"), digest(from_tool("task", {"name": "ls"}), "/w"),
    ]  # fmt: skip
    assert len({one, *others}) == 6


HIDDEN = [
    ((), set()),
    (("user deny Bash",), {"bash"}),
    (("user deny Bash", "cli allow Bash(ls)"), set()),
    (("user deny Bash(*)", "user allow WebFetch", "user deny WebFetch"), {"bash", "network"}),
    (("held deny mcp",), {"mcp"}),
    (("held deny mcp", "held allow mcp(a/*)"), set()),
    (("user deny Bash", "held allow Bash(ls)"), {"bash"}),
    (("user ask Bash",), set()),
    (("managed deny *",), {"bash", "read", "edit", "network", "mcp", "external_directory", "sandbox", "task", "plan", "process"}),
]


@pytest.mark.parametrize(("rules", "hidden"), HIDDEN)
def test_hidden_tools(rules: tuple[str, ...], hidden: set[str]) -> None:
    assert build(tuple(rule(text, line) for line, text in enumerate(rules, 1))).hidden() == hidden


# -- actions ----------------------------------------------------------------------------------------

CALLS = [
    ("Bash", {"command": "ls"}, Action("bash", "bash", "ls")),
    ("run_shell_command", {"command": "ls"}, Action("run_shell_command", "bash", "ls")),
    ("Read", {"file_path": "a"}, Action("read", "read", paths=("a",))),
    ("NotebookEdit", {"notebook_path": "a"}, Action("notebookedit", "edit", paths=("a",))),
    ("read", {"filePath": "a"}, Action("read", "read", paths=("a",))),
    ("read", {"absolute_path": "/a"}, Action("read", "read", paths=("/a",))),
    ("edit", {"path": "a", "file_path": "b"}, Action("edit", "edit", paths=("a",))),
    ("apply_patch", {"files": ["a", {"path": "b"}]}, Action("apply_patch", "edit", paths=("a", "b"))),
    ("apply_patch", {"patch": "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n*** Delete File: d \n"},
     Action("apply_patch", "edit", paths=("a", "b", "c", "d"))),
    ("ls", {}, Action("ls", "read", paths=(".",))),
    ("git_diff", {}, Action("git_diff", "read", paths=(".",))),
    ("WebFetch", {"url": "https://Example.com/x"}, Action("webfetch", "network", subject="example.com:443")),
    ("fetch", {"url": "HTTP://user:pw@example.com?x"}, Action("fetch", "network", subject="example.com:80")),
    ("fetch", {"url": "ftp://example.com#x"}, Action("fetch", "network", subject="example.com")),
    ("fetch", {"url": "https://[::1]/"}, Action("fetch", "network", subject="[::1]:443")),
    ("fetch", {"url": "https://[::1]:8443/"}, Action("fetch", "network", subject="[::1]:8443")),
    ("fetch", {"url": "https://a.com@b.com:1/"}, Action("fetch", "network", subject="b.com:1")),
    ("network", {"host": "A.com", "port": 22}, Action("network", "network", subject="a.com:22")),
    ("network", {"host": "A.com"}, Action("network", "network", subject="a.com")),
    ("mcp__github__delete_repo", {}, Action("mcp__github__delete_repo", "mcp", subject="github/delete_repo")),
    ("mcp__my_server__a__b", {}, Action("mcp__my_server__a__b", "mcp", subject="my_server/a__b")),
    ("mcp", {"server": "s", "tool": "t"}, Action("mcp", "mcp", subject="s/t")),
    ("task", {"subject": "x"}, Action("task", "task", subject="x")),
    ("process", {"name": "hook"}, Action("process", "process", subject="hook")),
    ("tool_search", {}, Action("tool_search", "plan")),
    ("external_directory", {"path": "/a"}, Action("external_directory", "external_directory", paths=("/a",))),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "wanted"), CALLS, ids=[f"{c[0]} {list(c[1])}" for c in CALLS])
def test_action_of_a_tool_call(tool: str, given: dict[str, Any], wanted: Action) -> None:
    assert from_tool(tool, given) == wanted


BAD_CALLS = [
    ("teleport", {}, "unknown tool `teleport`: known are agent, "),
    ("bash", {}, "the input of `bash` needs `command`, a text that is not empty"),
    ("bash", {"command": ""}, "the input of `bash` needs `command`, a text that is not empty"),
    ("bash", {"command": ["ls"]}, "the input of `bash` needs `command`, a text that is not empty"),
    ("mcp", {"server": "s"}, "the input of `mcp` needs `tool`, a text that is not empty"),
    ("read", {}, "the input of `read` names no path: give `path`, `files` or `patch`"),
    ("read", {"path": 1}, "the input of `read` names no path"),
    ("edit", {"files": []}, "the input of `edit` names no path"),
    ("edit", {"files": ["a", 1]}, "the input of `edit` names no path"),
    ("apply_patch", {"patch": "+x\n"}, "the patch of `apply_patch` names no file"),
    ("webfetch", {"url": "example.com"}, "the input of `webfetch` needs a full URL"),
    ("webfetch", {"url": "https://evil.com\\@good.com/"}, "the URL of `webfetch` has a backslash"),
    ("webfetch", {"url": "https://ev\til.com/"}, "the URL of `webfetch` has a backslash, a blank or a control character"),
    ("webfetch", {}, "the input of `webfetch` needs `url`"),
]


@pytest.mark.parametrize(("tool", "given", "message"), BAD_CALLS)
def test_bad_tool_call(tool: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ActionError) as caught:
        from_tool(tool, given)
    assert str(caught.value).startswith(message)


def test_a_second_opinion_turns_an_allow_into_an_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a second parser nobody agrees; a line that can be read in one way only needs none."""
    monkeypatch.setattr(crosscheck, "_parser", None)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    line = "cat 'a b' | head"
    doubtful = decided({"mode": "smart", "command": line, "grants": "exact"})
    assert (doubtful.verdict, doubtful.rule, doubtful.layer) == (Verdict.ASK, "guard/second-opinion", "guard")
    assert doubtful.reason == "the second parser (tree-sitter) is not installed"
    assert decided({"mode": "smart", "command": line, "grant": "exact"}).verdict is Verdict.ASK
    assert decided({"mode": "dontAsk", "command": line}).rule == "mode/dontAsk"
    assert decided({"mode": "smart", "command": "cat a | head"}).verdict is Verdict.ALLOW
    assert decided({"mode": "smart", "command": f"make; {line}"}).rule == "smart/project-code"
