"""`stockade inspect` and `stockade modes`."""

from __future__ import annotations

from stockade.config.settings import SETTINGS
from stockade.policy.modes import MODES

PROJECT = """version = 1
permission_mode = "full"
[permission]
bash = { "*" = "ask", "ls *" = "allow" }
[sandbox]
profile = "strict"
"""


def test_json_has_every_setting_with_its_origin(cli, place):
    place.user_config('version = 1\nposture = "open"\n')
    place.project_config(PROJECT)
    value = cli("inspect", "--json").json()
    assert set(value["settings"]) == {s.name for s in SETTINGS}
    assert value["settings"]["posture"] == {
        "value": "open", "layer": "user", "file": f"{place.config}/config.toml", "line": 2, "held": False,
    }  # fmt: skip
    assert value["settings"]["sandbox.profile"] == {
        "value": "strict", "layer": "project", "file": ".stockade/config.toml", "line": 6, "held": False,
    }  # fmt: skip
    assert value["settings"]["approvals.grants"] == {
        "value": "exact", "layer": "builtin", "file": "default", "line": 0, "held": False,
    }  # fmt: skip
    assert (value["mode"], value["posture"], value["workspace"]) == ("smart", "asking", str(place.project))


def test_json_has_what_is_held_and_the_trust(cli, place):
    place.project_config(PROJECT)
    value = cli("inspect", "--json").json()
    assert [(h["name"], h["line"]) for h in value["held"]] == [("bash(ls *)", 4), ("permission_mode", 2)]
    assert (value["trust"]["state"], value["trust"]["trusted"]) == ("held", False)
    assert {p["code"] for p in value["problems"]} == {"config/held"}
    assert cli("trust", "--yes").code == 0
    after = cli("inspect", "--json").json()
    assert (after["held"], after["trust"]["state"], after["mode"]) == ([], "trusted", "full")


def test_rules_stand_in_their_order(cli, place):
    place.user_config('version = 1\n[permission]\ntask = "deny"\n[shell]\ndeny = ["x *"]\nallow = ["y *"]\n')
    rules = [(r["text"], r["layer"]) for r in _rules(cli) if r["layer"] != "builtin"]
    assert rules == [("task * deny", "user"), ("bash y * allow", "user"), ("bash x * deny", "user")]
    assert _rules(cli)[0]["layer"] == "builtin"


def _rules(cli):
    return [{**r, "text": f"{r['key']} {r['pattern']} {r['verdict']}"} for r in cli("inspect", "--json").json()["rules"]]


def test_hidden_tools(cli, place):
    place.user_config('version = 1\n[permission]\ntask = "deny"\n')
    value = cli("inspect", "--json").json()
    assert value["hidden"] == {"keys": ["task"], "tools": ["agent", "task"]}
    assert "tools not offered to a model\n  agent, task" in cli("inspect").out


def test_text_is_aligned_and_complete(cli, place):
    place.project_config(PROJECT)
    answer = cli("inspect")
    assert (answer.code, answer.err) == (0, "")
    assert '  sandbox.profile          "strict"  project  .stockade/config.toml:6' in answer.out
    assert '  bash(ls *)       "allow"  project  .stockade/config.toml:4' in answer.out
    for title in ("files, lowest layer first", "settings", "held", "rules, the last one that matches wins", "problems"):
        assert f"\n{title}\n" in answer.out


def test_a_project_cannot_write_on_the_terminal(cli, place):
    place.project_config('version = 1\n[permission]\n"Bash(ls \\u001b[2J\\u202e*)" = "allow"\n')
    assert not set(cli("inspect").out) & set("\x1b\u202e")


def test_another_machine_and_another_file(cli, place, tmp_path):
    (tmp_path / "c.toml").write_text('version = 1\npermission_mode = "ask"\n')
    (tmp_path / "m.json").write_text('{"cwd": "/x/y", "home": "/home/u"}')
    value = cli("inspect", "--json", "--config", str(tmp_path / "c.toml"), "--context", str(tmp_path / "m.json")).json()
    assert (value["workspace"], value["mode"]) == ("/x/y", "ask")
    assert [(f["layer"], f["exists"]) for f in value["files"]] == [("user", True)]


def test_the_switch_is_shown(cli):
    cli("stop-all", "a test")
    assert cli("inspect", "--json").json()["stopped"] == "a test"
    assert "everything is refused: a test" in cli("inspect").out


def test_bad_input(cli, place, monkeypatch):
    assert cli("inspect", "--config", "none.toml").code == 2
    monkeypatch.chdir(place.home)
    answer = cli("inspect")
    assert answer.code == 2
    assert "refused as a workspace" in answer.err


def test_modes_json(cli, place):
    place.user_config('version = 1\npermission_mode = "accept-edits"\n')
    value = cli("modes", "--json").json()
    assert [m["name"] for m in value["modes"]] == [m.name for m in MODES]
    assert [m["name"] for m in value["modes"] if m["current"]] == ["edits"] == [value["current"]]
    assert set(value["modes"][0]) >= {"name", "aliases", "posture", "writes", "commands", "meaning"}


def test_modes_text_marks_the_current_one(cli, place, monkeypatch):
    out = cli("modes").out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("* ")] == ["smart"]
    assert all(mode.meaning in out for mode in MODES)
    monkeypatch.chdir(place.home)
    assert "* " not in cli("modes").out
