"""`stockade explain`."""

from __future__ import annotations

import pytest

RULES = """version = 1
[permission]
bash = "ask"
"Bash(git push *)" = "deny"
"Bash(git push origin *)" = "allow"
"Bash(git push origin main)" = "ask"
"""


def test_says_the_same_as_check(cli, place):
    place.user_config(RULES)
    for command in ("ls", "rm -rf build", "git push x", "rm -rf /", "echo 'oops", "f() { :; }"):
        check, explain = (cli(name, "--json", "--", command) for name in ("check", "explain"))
        assert explain.code == check.code
        said, whole = check.json(), explain.json()
        assert {key: whole[key] for key in ("verdict", "rule", "layer", "reason", "digest", "mode", "segments", "terms")} == {
            key: said[key] for key in ("verdict", "rule", "layer", "reason", "digest", "mode", "segments", "terms")
        }


def test_every_rule_that_matches_with_why_it_does_not_decide(cli, place):
    path = f"user:{place.config}/config.toml"
    place.user_config(RULES)
    rules = cli("explain", "--json", "--mode", "default", "--", "git push origin main").json()["rules"]
    assert [(r["rule"], r["text"], r["decisive"]) for r in rules] == [
        (f"{path}:6", "bash git push origin main ask", True),
        (f"{path}:5", "bash git push origin * allow", False),
        (f"{path}:4", "bash git push * deny", False),
        (f"{path}:3", "bash * ask", False),
        ("builtin:asking/bash", "bash * ask", False),
    ]
    assert rules[0]["ignored_because"] == ""
    assert all(r["ignored_because"] == f"a later rule matches too: {path}:6" for r in rules[1:])
    assert {r["check"] for r in rules} == {0}


def test_a_rule_of_another_part_is_not_decisive(cli, place):
    place.user_config('version = 1\n[permission]\n"Bash(ls)" = "allow"\n"Bash(git push *)" = "deny"\n')
    whole = cli("explain", "--json", "--", "ls; git push x").json()
    decisive = [r["text"] for r in whole["rules"] if r["decisive"]]
    allowing = next(r for r in whole["rules"] if r["text"] == "bash ls allow")
    assert decisive == ["bash git push * deny"]
    assert allowing["ignored_because"] == f"another part of the action decides: {whole['rule']}"


def test_the_held_rule_that_decides_is_named_among_those_of_its_line(cli, place):
    place.project_config('version = 1\n[permission]\nbash = { "*" = "ask", "git push *" = "deny" }\n')
    whole = cli("explain", "--json", "--", "git push x").json()
    assert (whole["verdict"], whole["rule"]) == ("deny", "project:.stockade/config.toml:3")
    assert [r["text"] for r in whole["rules"] if r["decisive"]] == ["bash git push * deny"]


def test_the_verdict_in_every_mode(cli):
    changes = cli("explain", "--json", "--", "rm -rf build").json()["would_change"]
    assert changes["modes"] == {
        "default": "ask", "ask": "ask", "acceptEdits": "ask", "edits": "ask", "workspace": "ask", "smart": "ask", "plan": "deny",
        "dontAsk": "deny", "full": "allow", "bypassPermissions": "allow",
    }  # fmt: skip
    assert changes["other_modes"] == ["plan", "dontAsk", "full", "bypassPermissions"]


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "touch a && touch b",
        "cat ../x ../y",
        "npm run 'x y'",
    ],
)
def test_a_suggestion_really_allows(cli, command):
    changes = cli("explain", "--json", "--mode", "ask", "--", command).json()["would_change"]
    assert changes["suggestion"] is None or changes["verdict_with_it"] == "allow"


def test_a_suggestion_is_taken_apart_where_its_pieces_end(cli):
    given = '{"path": "../a; edit = {"}'
    changes = cli("explain", "--json", "--mode", "ask", "--tool", "write_file", "--input", given).json()["would_change"]
    assert changes["suggestion"].count("; edit = {") == 3
    assert changes["verdict_with_it"] == "allow"


def test_the_floor_has_no_suggestion(cli):
    answer = cli("explain", "--", "rm -rf /")
    assert answer.code == 11
    assert "nothing: the floor stands in every mode" in answer.out
    assert cli("explain", "--json", "--", "rm -rf /").json()["would_change"]["suggestion"] is None


def test_text_shows_segments_effects_checks_and_modes(cli):
    answer = cli("explain", "--", "cd sub && sudo rm -rf $X/a")
    assert answer.code == 10
    lines = [line.strip() for line in answer.out.splitlines()]
    for line in (
        "2. rm -rf …", "inside sudo", "raises privilege or changes the system",
        "removes `…/a`, a path that is not known, and all below it",
        "allow  full, bypassPermissions", "deny   plan, dontAsk",
    ):  # fmt: skip
        assert line in lines
    assert any(line.startswith("in /") and line.endswith("/project/sub") for line in lines)
    assert any(set(line) == {"^"} for line in lines)


def test_nothing_that_an_agent_wrote_reaches_the_terminal_as_it_is(cli):
    answer = cli("explain", "--", "echo '\x1b[2Jx' $'\u202e' > 'a\x07b'")
    assert not set(answer.out) & set("\x1b\u202e\x07")


def test_tool_calls(cli):
    whole = cli("explain", "--json", "--tool", "read_file", "--input", '{"path": ".env"}').json()
    assert (whole["verdict"], whole["rule"], whole["segments"]) == ("deny", "guard/env", [])
    assert [r["text"] for r in whole["rules"]] == ["read * allow"]
    assert "guard/env" in cli("explain", "--tool", "read_file", "--input", '{"path": ".env"}').out


@pytest.mark.parametrize("args", [(), ("--mode", "x", "--", "ls"), ("--tool", "read_file"), ("--config", "no.toml", "--", "ls")])
def test_bad_input(cli, args):
    answer = cli("explain", *args)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("stockade explain: ")
