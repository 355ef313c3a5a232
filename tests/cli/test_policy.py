"""`stockade policy test`."""

from __future__ import annotations

import json

import pytest

from stockade.cli.cases import read_cases

RULES = """version = 1
[permission]
bash = "ask"
"Bash(npm test:*)" = { verdict = "allow", match = ["npm test", "npm test -x"], not_match = ["npm testing"] }
"""


def _write(place, name, *lines) -> str:
    path = place.project / name
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return name


def test_cases_of_all_forms_pass(cli, place):
    place.user_config(RULES)
    lines = _write(
        place, "cases.jsonl",
        {"command": "npm test", "mode": "ask", "want": "allow", "want_rule": f"user:{place.config}/config.toml:4"},
        "", {"command": "rm -rf x", "mode": "full", "want": "allow", "note": "a note"},
        {"tool": "read_file", "input": {"path": ".env"}, "want": "deny", "want_rule": "guard/env"},
        {"command": "cat ../x", "cwd": "sub", "want": "allow"},
    )  # fmt: skip
    first, second = ('[[case]]\ncommand = "ls"\nwant = "allow"', '[[case]]\ncommand = "npm i"\nwant = "ask"')
    tables = _write(place, "cases.toml", first, "", second)
    answer = cli("policy", "test", lines, tables)
    assert (answer.code, answer.out) == (0, "3 examples and 6 cases: 9 passed, 0 failed\n")


def test_failures_say_what_was_wanted_and_what_came(cli, place):
    name = _write(
        place, "cases.jsonl", {"command": "ls", "want": "deny", "note": "why"},
        {"command": "ls", "want": "allow", "want_rule": "x/y"},
    )  # fmt: skip
    answer = cli("policy", "test", name)
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "cases.jsonl:1: ls  (why)", "  wanted deny, got allow", "  smart/read: it only reads what may be read",
        "cases.jsonl:2: ls", "  wanted allow by x/y, got allow by smart/read", "  smart/read: it only reads what may be read",
        "0 examples and 2 cases: 0 passed, 2 failed",
    ]  # fmt: skip


def test_examples_beside_rules(cli, place):
    place.user_config(RULES.replace('"npm testing"', '"npm test x"'))
    answer = cli("policy", "test")
    assert answer.code == 1
    assert "the rule `npm test:*` matches its example `npm test x`" in answer.out
    assert answer.out.splitlines()[-1] == "3 examples and 0 cases: 2 passed, 1 failed"


def test_json(cli, place):
    name = _write(place, "cases.jsonl", {"command": "ls", "want": "deny"}, {"command": "ls", "want": "allow"})
    value = cli("policy", "test", "--json", name).json()
    assert value == {
        "v": 1, "ok": False, "examples": 0, "cases": 2, "passed": 1, "failed": 1,
        "failures": [{"file": name, "line": 1, "about": "ls", "note": "", "wanted": "deny", "got": "allow", "rule": "smart/read",
                      "reason": "it only reads what may be read"}],
    }  # fmt: skip


def test_nothing_to_test_is_said(cli):
    answer = cli("policy", "test")
    assert (answer.code, answer.out.partition(":")[0]) == (0, "nothing was tested")


def test_another_machine_and_another_file(cli, place, tmp_path):
    (tmp_path / "c.toml").write_text('version = 1\n[permission]\n"Bash(ls *)" = "deny"\n')
    (tmp_path / "m.json").write_text('{"cwd": "/x/y", "home": "/home/u"}')
    name = _write(place, "cases.jsonl", {"command": "ls a", "want": "deny"}, {"command": "cat /x/y/z", "want": "allow"})
    assert cli("policy", "test", name, "--config", str(tmp_path / "c.toml"), "--context", str(tmp_path / "m.json")).code == 0


def test_every_bad_line_is_named(cli, place):
    name = _write(
        place, "bad.jsonl", {"comand": "ls"}, "{]", "[]", {"command": "ls"}, {"command": "ls", "want": "allow", "mode": "x"},
        {"command": "ls", "tool": "bash", "input": {}, "want": "ask"}, {"tool": "nonsense", "input": {}, "want": "ask"},
        {"command": " ", "want": "ask"}, {"command": "ls", "want": "ask", "cwd": 1},
    )  # fmt: skip
    answer = cli("policy", "test", name)
    assert (answer.code, answer.out) == (2, "")
    lines = answer.err.splitlines()
    assert [line.split(":")[2] for line in lines] == [str(number) for number in range(1, 10)]
    known = "command, tool, input, mode, cwd, want, want_rule, note"
    assert lines[0] == f"stockade policy: {name}:1: unknown key `comand`; known are {known}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "c.toml: no case stands in it"),
        ("[[cases]]\n", "c.toml: unknown key `cases`"),
        ("x = = 1", "c.toml: not valid TOML"),
        ("[case]\n", "c.toml: `case` is a list of tables"),
        ('[[case]]\ncommand = "ls"\nwant = "allow"\n[[case]]\nx = 1\n', "c.toml:4: unknown key `x`"),
    ],
)
def test_bad_toml(text, problem):
    found = read_cases(text, "c.toml", "/w")
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem)


@pytest.mark.parametrize("args", [(), ("nonsense",), ("test", "none.jsonl"), ("test", "--config", "none.toml")])
def test_bad_input(cli, args):
    answer = cli("policy", *args)
    assert (answer.code, answer.out) == (2, "")
