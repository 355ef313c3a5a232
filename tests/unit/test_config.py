"""Configuration: what a file may say, how the layers join, what is held, and what is wrong with a file."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stockade.config import layers
from stockade.config.files import MAX_BYTES
from stockade.config.layers import Loaded, Places, merge, places
from stockade.config.problems import CODES, Problem
from stockade.config.read import read_text
from stockade.config.settings import BY_NAME, SETTINGS, normalised, problem_with
from stockade.config.sources import Source, read_source
from stockade.config.trust import revoke, trust, trusted_digest
from stockade.model.action import command_action
from stockade.model.context import Context
from stockade.model.verdict import Verdict
from stockade.policy.evaluate import decide
from stockade.policy.rules import Rule

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
CONTEXT = Context("/w/app", "/w/app", "/home/dev")
V = "version = 1\n"
PROJECT = """version = 1
permission_mode = "full"
posture = "open"
[permission]
bash = { "make" = "allow", "ls *" = "deny" }
[shell]
allow = ["npm test"]
deny = ["rm *"]
safe_list_extra = ["mytool"]
[guards]
env = "ask"
[sandbox]
required = true
[child_env]
inherit = "core"
set = { LD_PRELOAD = "./x.so" }
"""


def source(layer: str, text: str, **more: Any) -> Source:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Source(text, f"{layer}.toml", layer, more.get("problems", ()), more.get("distrusted", False), digest)


def codes(problems: tuple[Problem, ...]) -> list[tuple[str, str, int]]:
    return [(p.code, p.severity, p.line) for p in problems]


def verdict(loaded: Loaded, command: str) -> tuple[str, str]:
    decision = decide(command_action(command), CONTEXT, loaded.policy())
    return str(decision.verdict), decision.rule


# -- one file ---------------------------------------------------------------------------------------


def test_rules_in_the_order_of_the_document_then_shell_allow_then_shell_deny() -> None:
    text = """version = 1
[shell]
deny = ["Bash(terraform destroy:*)", "rm *"]
allow = ["make *"]
[permission]
bash = { "*" = "ask", "git push *" = "deny" }
"Edit(src/**)" = "allow"
mcp = { "github/*" = "allow" }
"*" = "ask"
WebFetch = { verdict = "deny", reason = "no network here" }
"""
    file = read_text(text, file="f.toml", layer="user")
    assert file.problems == ()
    assert [(str(r), r.line, r.origin) for r in file.rules] == [
        ("bash * ask", 6, "permission"),
        ("bash git push * deny", 6, "permission"),
        ("edit src/** allow", 7, "permission"),
        ("mcp github/* allow", 8, "permission"),
        ("* * ask", 9, "permission"),
        ("network * deny", 10, "permission"),
        ("bash make * allow", 4, "shell.allow"),
        ("bash terraform destroy:* deny", 3, "shell.deny"),
        ("bash rm * deny", 3, "shell.deny"),
    ]
    assert {(r.layer, r.file, r.held) for r in file.rules} == {("user", "f.toml", False)}


def test_a_table_of_its_own_for_each_tool() -> None:
    text = V + '[permission.bash]\n"git status" = "allow"\n" make " = "deny"\n[permission.read]\n"*.pem" = "deny"\n'
    file = read_text(text, file="f.toml", layer="user")
    assert [(str(r), r.line) for r in file.rules] == [("bash git status allow", 3), ("bash make deny", 4), ("read *.pem deny", 6)]
    assert file.problems == ()


def test_examples_beside_a_rule() -> None:
    rule = '"Bash(git push *)" = { verdict = "deny", match = ["git push", "git push -f"], not_match = ["git pull"] }\n'
    file = read_text(V + "[permission]\n" + rule, file="f.toml", layer="user")
    wanted = Rule(
        "bash", "git push *", DENY, "user", "f.toml", 3, match=("git push", "git push -f"), not_match=("git pull",)
    )  # fmt: skip
    assert (file.rules, file.problems) == ((wanted,), ())


# Lines behind `version = 1`, and the one problem in them: code, line, message, hint.
NO_TOOL = (
    "names no tool that exists; use one of read, edit, bash, network, mcp, external_directory, sandbox, task, plan, process, "
    "or Bash, Read, Edit, Write, WebFetch"
)
ONE_OF_TWO = "keep one of the two: order is meaning, and the last must not win silently"
PROBLEMS = [
    ("postur = 1", "config/unknown-key", 2, "unknown key `postur`", "did you mean `posture`?"),
    ("zzz = 1", "config/unknown-key", 2,
     "unknown key `zzz`",
     "known are approvals, child_env, guards, permission, permission_mode, posture, preset, sandbox, shell, version"),
    ("[shell]\nalow = []", "config/unknown-key", 3, "unknown key `alow` in `[shell]`", "did you mean `allow`?"),
    ("shell = 1", "config/wrong-type", 2, "`shell` is a table", "write `[shell]` and its keys below it"),
    ("permission = []", "config/wrong-type", 2, "`permission` is a table", "write `[permission]` and rules below it"),
    ('posture = "closed"', "config/wrong-type", 2,
     "`posture` cannot be `closed`: it takes one of `asking`, `open`", "the default is `asking`"),
    ("posture = 1", "config/wrong-type", 2,
     "`posture` cannot be `1`: it takes one of `asking`, `open`", "the default is `asking`"),
    ("[sandbox]\nrequired = 1", "config/wrong-type", 3,
     "`sandbox.required` cannot be `1`: it takes true or false", "the default is `False`"),
    ('[shell]\nallow = "ls"', "config/wrong-type", 3,
     "`shell.allow` cannot be `ls`: it takes a list of texts", "the default is `()`"),
    ("[shell]\nallow = [1]", "config/wrong-type", 3,
     "`shell.allow` cannot be `[1]`: it takes a list of texts", "the default is `()`"),
    ("[child_env]\nset = { A = 1 }", "config/wrong-type", 3,
     "`child_env.set` cannot be `{'A': 1}`: it takes a table of names and texts", "the default is `{}`"),
    ('[permission]\nReed = "deny"', "config/unknown-tool", 3, "`Reed` " + NO_TOOL, "see the list of tools in `stockade inspect`"),
    ('[permission]\nbash = { "ls" = "dny" }', "config/bad-rule", 3,
     "`dny` is no verdict in the rule `bash`", "write allow, ask or deny"),
    ("[permission]\nbash = 1", "config/bad-rule", 3, "`1` is no verdict in the rule `bash`", "write allow, ask or deny"),
    ('[permission]\n"Bash(ls)" = { verdict = "deny", why = "x" }', "config/unknown-key", 3,
     "unknown key `why` in the rule `Bash(ls)`", "a rule has verdict, match, not_match, reason, pinned"),
    ('[permission]\n"Bash(ls)" = { verdct = "deny" }', "config/unknown-key", 3,
     "unknown key `verdct` in the rule `Bash(ls)`", "a rule has verdict, match, not_match, reason, pinned"),
    ('[permission]\n"Bash(ls)" = {}', "config/bad-rule", 3,
     "`None` is no verdict in the rule `Bash(ls)`", "write allow, ask or deny"),
    ('[permission]\n"Bash(ls)" = { verdict = "deny", match = "ls" }', "config/wrong-type", 3,
     "the examples of `Bash(ls)` are no list of texts", ""),
    ('[permission]\n"Bash(:*)" = "deny"', "config/bad-rule", 3,
     "the pattern `:*` cannot be used: `:*` needs a command in front of it; write `*` for every command", ""),
    ('[permission]\n"mcp(github)" = "deny"', "config/bad-rule", 3,
     "the pattern `github` cannot be used: an MCP rule names `server/tool`; write `github/*` for all tools of a server",
     ""),
    ('[permission]\n"Edit(src/**)" = { verdict = "deny", match = ["a.py"] }', "config/example", 3,
     "the rule `src/**` does not match its example `a.py`", "change the pattern or the example"),
    ('[permission]\n"Bash(ls)" = { verdict = "deny", not_match = ["ls"] }', "config/example", 3,
     "the rule `ls` matches its example `ls`", "change the pattern or the example"),
    ('[permission]\n"WebFetch(a.com)" = { verdict = "deny", match = ["b.com"] }', "config/example", 3,
     "the rule `a.com` does not match its example `b.com`", "change the pattern or the example"),
    ('[shell]\ndeny = ["Read(x)"]', "config/bad-rule", 3,
     "`shell.deny` takes rules for commands, not `Read(x)`", "put it into [permission]"),
    ('[shell]\nallow = ["Reed(x)"]', "config/unknown-tool", 3, "`Reed(x)` " + NO_TOOL, ""),
    ("posture = ", "config/syntax", 2, "not valid TOML: invalid value", "see toml.io for the syntax"),
    ('posture = "open"\nposture = "asking"', "config/syntax", 3, "a key stands here twice", ONE_OF_TWO),
    ('[permission]\nbash = { "a" = "ask", "a" = "deny" }', "config/syntax", 3, "a key stands here twice", ONE_OF_TWO),
    ("[shell]\n[shell]", "config/syntax", 3, "a key stands here twice", ONE_OF_TWO),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "line", "message", "hint"), PROBLEMS, ids=[row[0][:40] for row in PROBLEMS])
def test_problem(text: str, code: str, line: int, message: str, hint: str) -> None:
    file = read_text(f"{V}{text}\n", file="f.toml", layer="user")
    assert file.problems == (Problem(code, "error", "f.toml", line, message, hint),)
    assert file.broken
    assert code in CODES


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 0),
        ('posture = "open"\n', 0),
        ("version = 2\n", 1),
        ("version = true\n", 1),
        ('version = "1"\n', 1),
        ("version = 1.0\n", 1),
    ],
)
def test_version(text: str, line: int) -> None:
    file = read_text(text, file="f.toml", layer="user")
    problem = Problem("config/version", "warning", "f.toml", line, "`version = 1` is missing", "write `version = 1` at the top")
    assert (file.problems, file.broken) == ((problem,), False)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "{b=" * 5_000,
        "a = " + "9" * 10_000,
        "a." * 50_000 + "b = 1",
        "a = '''" + "x" * 900_000,
        "\0",
        "\ufeff",
    ],
    ids=["arrays", "tables", "digits", "dots", "open text", "NUL", "BOM"],
)
def test_no_text_raises_or_hangs(text: str) -> None:
    begin = time.monotonic()
    file = read_text(text, file="f.toml", layer="project")
    assert file.broken
    assert file.rules == ()
    assert time.monotonic() - begin < 10


def test_a_file_with_rules_without_end_does_not_hang() -> None:
    text = V + "[permission]\n" + "".join(f'"Bash(cmd{n} *)" = "deny"\n' for n in range(20_000))
    begin = time.monotonic()
    file = read_text(text, file="f.toml", layer="project")
    loaded = merge([source("project", text)])
    assert [p.code for p in file.problems] == ["config/too-large"]
    assert loaded.degraded.startswith("the configuration does not load: project.toml:")
    assert verdict(loaded, "cmd1 x")[0] == "deny"
    assert time.monotonic() - begin < 20


def test_a_problem_names_its_place() -> None:
    assert str(Problem("config/syntax", "error", "f", 3, "m")) == "f:3: error: m"
    assert str(Problem("config/unreadable", "error", "f", 0, "m")) == "f: error: m"


# -- settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS, ids=[s.name for s in SETTINGS])
def test_the_default_of_a_setting_is_one_of_its_values(setting: Any) -> None:
    value = list(setting.default) if setting.kind == "texts" else setting.default
    assert problem_with(setting, value) is None
    assert normalised(setting, value) == setting.default


NORMAL = [
    ("permission_mode", "always-approve", "bypassPermissions"), ("permission_mode", "SMART", "smart"),
    ("permission_mode", "manual", "ask"),
    ("sandbox.profile", "read-only", "readonly"), ("sandbox.profile", "Workspace-Write", "workspace"),
    ("posture", "OPEN", "open"),
    ("shell.allow", ["a", "b"], ("a", "b")), ("sandbox.required", True, True), ("child_env.set", {"A": "1"}, {"A": "1"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "wanted"), NORMAL)
def test_normalised(name: str, value: Any, wanted: Any) -> None:
    assert problem_with(BY_NAME[name], value) is None
    assert normalised(BY_NAME[name], value) == wanted


# A change that a project makes while it is not trusted: setting, value before, value after, whether it tightens.
CHANGES = [
    ("permission_mode", "smart", "ask", True), ("permission_mode", "smart", "plan", True),
    ("permission_mode", "smart", "full", False),
    ("permission_mode", "ask", "bypassPermissions", False), ("posture", "open", "asking", True),
    ("posture", "asking", "open", False),
    ("posture", "asking", "asking", True), ("preset", "", "oceancode", False), ("approvals.grants", "tool", "none", True),
    ("approvals.grants", "exact", "none", True), ("approvals.grants", "none", "exact", False),
    ("guards.env", "ask", "deny", True),
    ("guards.env", "deny", "ask", False), ("guards.repository", "off", "ask", True), ("guards.repository", "ask", "off", False),
    ("shell.safe_list_extra", (), ("a",), False), ("shell.allow", (), ("a",), False),
    ("shell.deny", (), ("a",), True), ("sandbox.profile", "off", "strict", True),
    ("sandbox.profile", "workspace", "readonly", True),
    ("sandbox.profile", "readonly", "workspace", False), ("sandbox.profile", "strict", "off", False),
    ("sandbox.required", False, True, True),
    ("sandbox.required", True, False, False), ("child_env.inherit", "all", "none", True),
    ("child_env.inherit", "none", "core", False),
    ("child_env.strip_secrets", False, True, True), ("child_env.strip_secrets", True, False, False),
    ("sandbox.network", "on", "off", True), ("sandbox.network", "off", "on", False),
    ("sandbox.read", (), ("~",), False), ("sandbox.write", (), ("/x",), False), ("sandbox.deny", (), ("/x",), True),
    ("sandbox.unmask", (), (".env",), False), ("sandbox.processes", 1024, 64, True), ("sandbox.processes", 64, 0, False),
    ("sandbox.memory", "", "1G", True), ("sandbox.memory", "512M", "1G", False), ("sandbox.file_size", "1G", "1M", True),
    ("sandbox.cpu_seconds", 0, 10, True), ("child_env.keep", (), ("BASH_ENV",), False),
    ("child_env.include_only", (), ("PATH",), False), ("child_env.set", {}, {"A": "1"}, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "wanted"), CHANGES)
def test_what_tightens(name: str, old: Any, new: Any, wanted: bool) -> None:
    assert BY_NAME[name].tightens(old, new) is wanted


def test_every_setting_has_a_change_in_the_table() -> None:
    assert {row[0] for row in CHANGES} == set(BY_NAME)


# -- files ------------------------------------------------------------------------------------------------


def read(path: Path, layer: str = "user", owner: int | None = None) -> Source:
    return read_source(str(path), shown="shown.toml", layer=layer, owner=owner)


def problem(code: str, severity: str, message: str, hint: str) -> Problem:
    return Problem(code, severity, "shown.toml", 0, message, hint)


def test_a_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(V)
    path.chmod(0o600)
    digest = hashlib.sha256(V.encode()).hexdigest()
    assert read(path, owner=os.getuid()) == Source(V, "shown.toml", "user", (), False, digest)


def test_no_file(tmp_path: Path) -> None:
    assert read(tmp_path / "none.toml") == Source(None, "shown.toml", "user")
    loaded = merge([read(tmp_path / "none.toml"), Source(None, "p", "project")])
    assert (loaded.degraded, loaded.trusted, loaded.project_digest) == ("", True, "")


def test_a_folder_and_a_pipe_are_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    wanted = Source(
        None, "shown.toml", "user", (problem("config/unreadable", "error", "is no regular file", "replace it by a file"),), True
    )
    assert [read(tmp_path / name) for name in ("pipe.toml", "folder.toml")] == [wanted, wanted]
    assert merge([wanted]).degraded == "the configuration does not load: shown.toml: error: is no regular file"


def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.toml"
    path.write_text(V)

    def refused(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(layers.os, "open", refused)
    problems = (problem("config/unreadable", "error", "cannot be read: permission denied", "check its permissions"),)
    assert read(path) == Source(None, "shown.toml", "user", problems, True)


def test_a_path_through_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert codes(read(tmp_path / "file" / "c.toml").problems) == [("config/unreadable", "error", 0)]


@pytest.mark.parametrize(("mode", "distrusted"), [(0o600, False), (0o644, False), (0o620, True), (0o602, True), (0o666, True)])
def test_a_users_file_that_others_can_write(tmp_path: Path, mode: int, distrusted: bool) -> None:
    path = tmp_path / "c.toml"
    path.write_text(V)
    path.chmod(mode)
    hint = "chown it to you, and chmod 600 `shown.toml`"
    wanted = (problem("config/permissions", "warning", "can be written by others; only what tightens is applied", hint),)
    found = read(path, owner=os.getuid())
    assert (found.problems, found.distrusted) == (wanted if distrusted else (), distrusted)
    assert not read(path, layer="project", owner=os.getuid()).distrusted
    assert not read(path).distrusted


@pytest.mark.parametrize(("uid", "distrusted"), [(0, False), (1234, False), (4321, True)])
def test_a_users_file_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uid: int, distrusted: bool) -> None:
    path = tmp_path / "c.toml"
    path.write_text(V)
    facts = os.stat(path)
    monkeypatch.setattr(
        layers.os, "fstat", lambda _: SimpleNamespace(st_mode=facts.st_mode & ~0o022, st_uid=uid, st_size=facts.st_size)
    )
    found = read(path, owner=1234)
    assert found.distrusted is distrusted
    message = "belongs to another user; only what tightens is applied"
    assert [p.message for p in found.problems] == ([message] if distrusted else [])


def test_a_linked_file_of_a_project_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text(PROJECT)
    (tmp_path / "link.toml").symlink_to("real.toml")
    found = read(tmp_path / "link.toml", layer="project")
    hint = "replace the link by a file"
    assert found.problems == (problem("config/symlink", "warning", "is a symbolic link; only what tightens is applied", hint),)
    loaded = merge([found], trusted_digest=found.digest)
    assert (loaded.trusted, loaded.value("posture"), verdict(loaded, "rm x")[0]) == (False, "asking", "deny")
    assert read(tmp_path / "link.toml", layer="user").problems == ()


@pytest.mark.parametrize(("size", "good"), [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
def test_a_file_without_end(tmp_path: Path, size: int, good: bool) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(V.encode() + b"#" * (size - len(V)))
    found = read(path)
    message = f"is larger than {MAX_BYTES} bytes"
    assert found.problems == (() if good else (problem("config/too-large", "error", message, "make it smaller"),))
    assert (found.text is None) is not good


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(V.encode() + b"# \xff\n")
    problems = (problem("config/encoding", "error", "is not valid UTF-8", "save it as UTF-8"),)
    assert read(path) == Source(None, "shown.toml", "user", problems, True)


PLACES = [
    ({}, Places("/home/dev/.config/stockade", "/home/dev/.local/state/stockade", "/etc/stockade/managed.toml")),
    ({"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, Places("/c/stockade", "/s/stockade", "/etc/stockade/managed.toml")),
    ({"XDG_CONFIG_HOME": "relative", "XDG_STATE_HOME": ""},
     Places("/home/dev/.config/stockade", "/home/dev/.local/state/stockade", "/etc/stockade/managed.toml")),
    ({"STOCKADE_CONFIG_DIR": "/c", "STOCKADE_STATE_DIR": "/s", "STOCKADE_MANAGED_CONFIG": "/m.toml", "XDG_CONFIG_HOME": "/x"},
     Places("/c", "/s", "/m.toml")),
]  # fmt: skip


@pytest.mark.parametrize(("env", "wanted"), PLACES)
def test_places(env: dict[str, str], wanted: Places) -> None:
    found = places(env, "/home/dev")
    assert found == wanted
    assert (found.user_file, found.trust_file) == (f"{wanted.config}/config.toml", f"{wanted.state}/trust.json")


# -- the store of trust -----------------------------------------------------------------------------------


def test_trust_and_its_end(tmp_path: Path) -> None:
    path = str(tmp_path / "state" / "trust.json")
    assert trusted_digest(path, "/w") == ""
    assert revoke(path, "/w") is False
    trust(path, "/w", "d1", "now")
    trust(path, "/v", "d2", "now")
    assert (trusted_digest(path, "/w"), trusted_digest(path, "/v"), trusted_digest(path, "/x")) == ("d1", "d2", "")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "state") == ["trust.json"]
    assert revoke(path, "/w") is True
    assert (trusted_digest(path, "/w"), trusted_digest(path, "/v")) == ("", "d2")
    assert revoke(path, "/w") is False


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"/w": 1}', '{"/w": {"digest": 1}}', '{"/w": {}}', "[" * 100_000])
def test_a_store_that_cannot_be_read_trusts_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trust.json"
    path.write_text(text)
    assert trusted_digest(str(path), "/w") == ""


def test_the_reason_beside_a_rule_is_said() -> None:
    text = V + '[permission]\n"Bash(git push *)" = { verdict = "deny", reason = "releases are made by CI" }\n'
    decision = decide(command_action("git push"), CONTEXT, merge([source("user", text)]).policy())
    assert decision.reason == "the rule `bash git push * deny` denies it: releases are made by CI"
    file = read_text(V + '[permission]\n"Bash(a)" = { verdict = "deny", reason = 5 }\n', file="f.toml", layer="user")
    assert [(p.code, p.line) for p in file.problems] == [("config/wrong-type", 3)]
    assert len(file.rules) == 1


@pytest.mark.parametrize(
    "rule",
    ['"Bash(a)" = { verdict = "deny", pinned = true }', '"Read(a)" = { verdict = "allow", pinned = true }',
     '"Bash(a)" = { verdict = "allow", pinned = 1 }'],
)  # fmt: skip
def test_only_a_rule_that_allows_commands_can_be_pinned(rule: str) -> None:
    file = read_text(V + f"[permission]\n{rule}\n", file="f.toml", layer="user")
    assert [(p.code, p.line) for p in file.problems] == [("config/wrong-type", 3)]


def test_a_pinned_rule_is_read() -> None:
    text = V + '[permission]\nbash = { "npm test" = { verdict = "allow", pinned = true } }\n'
    (rule,) = read_text(text, file="f.toml", layer="user").rules
    assert (rule.pattern, rule.pinned) == ("npm test", True)
