"""`stockade config`."""

from __future__ import annotations

import tomllib

import jsonschema
import pytest

from stockade.cli.init import configuration
from stockade.cli.schema import schema

BROKEN = """version = 1
postur = "x"
posture = "closed"
[permission]
bash = { "*" = "ask", "git push *" = "dny" }
"Reed(x)" = "allow"
"Edit(src/**)" = { verdict = "allow", match = ["a.py"] }
[shell]
allow = "ls"
"""


def test_all_problems_of_a_file_at_once_with_line_hint_and_carets(cli, place):
    place.project_config(BROKEN)
    answer = cli("config", "validate")
    assert (answer.code, answer.err) == (1, "")
    for block in (
        ".stockade/config.toml:2: error: unknown key `postur`\n  did you mean `posture`?\n",
        '     2 | postur = "x"\n         ^^^^^^\n',
        '     3 | posture = "closed"\n                    ^^^^^^\n',
        '     6 | "Reed(x)" = "allow"\n          ^^^^^^^\n',
        '     9 | allow = "ls"\n                  ^^\n',
    ):
        assert block in answer.out
    assert answer.out.splitlines()[-1] == "6 errors in .stockade/config.toml"


def test_syntax_errors_point_at_the_column(cli, place):
    place.user_config("version = 1\nposture = = 1\n")
    assert "     2 | posture = = 1\n                   ^\n" in cli("config", "validate").out


def test_json(cli, place):
    place.project_config(BROKEN)
    value = cli("config", "validate", "--json").json()
    assert (value["v"], value["ok"], value["errors"]) == (1, False, 6)
    assert [p["line"] for p in value["problems"]] == [2, 3, 5, 6, 7, 9]
    assert set(value["problems"][0]) == {"code", "severity", "file", "line", "message", "hint"}
    assert [(f["layer"], f["exists"]) for f in value["files"]] == [("project", True), ("user", False), ("managed", False)]


def test_files_of_all_layers(cli, place, tmp_path):
    place.project_config("version = 1\n")
    place.user_config("nonsense = 1\n")
    (tmp_path / "managed.toml").write_text("version = 2\n")
    answer = cli("config", "validate")
    assert answer.code == 1
    assert "/config/config.toml:1: error: unknown key `nonsense`" in answer.out
    assert "/managed.toml:1: warning: `version = 1` is missing" in answer.out


def test_one_file(cli, tmp_path, place, monkeypatch):
    monkeypatch.chdir(place.home)  # no workspace is needed
    path = tmp_path / "c.toml"
    path.write_text('version = 1\n[permission]\n"Bash(a *)" = "deny"\nbash = "ask"\n')
    answer = cli("config", "validate", str(path))
    assert answer.code == 0
    assert "warning: the rule `bash a * deny` can never win" in answer.out
    assert answer.out.splitlines()[-1].startswith("1 warning in ")


def test_nothing_wrong(cli, place):
    assert cli("config", "validate").out == "no problem and no file: the defaults hold (`stockade init` writes one)\n"
    place.user_config("version = 1\n")
    assert cli("config", "validate").out == f"no problem in {place.config}/config.toml\n"


def test_a_file_cannot_write_on_the_terminal(cli, place):
    place.project_config("version = 1\n\"a\u202e\" = 1 # \u202e\n'b\u200b' = {}\n")
    assert not set(cli("config", "validate").out) & set("\u202e\u200b")


def test_path(cli, place, monkeypatch):
    place.user_config("version = 1\n")
    assert cli("config", "path", "--json").json() == [
        {"layer": "project", "path": f"{place.project}/.stockade/config.toml", "exists": False},
        {"layer": "user", "path": f"{place.config}/config.toml", "exists": True},
        {"layer": "managed", "path": f"{place.project.parent}/managed.toml", "exists": False},
    ]
    assert f"user     read       {place.config}/config.toml" in cli("config", "path").out
    monkeypatch.setenv("STOCKADE_CONFIG_DIR", f"{place.home}/.config/stockade")
    assert cli("config", "path", "--json").json()[1]["path"] == f"{place.home}/.config/stockade/config.toml"


@pytest.mark.parametrize("args", [(), ("nonsense",), ("validate", "none.toml"), ("validate", "a", "b")])
def test_bad_input(cli, args):
    answer = cli("config", *args)
    assert (answer.code, answer.out) == (2, "")


# -- the schema -----------------------------------------------------------------------------------


def test_the_schema_is_one_and_is_printed(cli):
    jsonschema.Draft202012Validator.check_schema(schema())
    assert cli("config", "schema").json() == schema()


@pytest.mark.parametrize("preset", ["", "mendcode"])
def test_the_schema_takes_what_init_writes(preset):
    jsonschema.validate(tomllib.loads(configuration(preset=preset, project=False)), schema())


@pytest.mark.parametrize(
    "text",
    [
        '[permission]\nbash = { "*" = "ask", "git push *" = { verdict = "deny", match = ["git push x"] } }',
        '[permission]\n"Edit(src/**)" = "allow"\n"*" = "ask"\n"read_file(a)" = { verdict = "ask", reason = "x" }',
        '[shell]\nallow = ["ls *"]\n[child_env]\nset = { A = "b" }\nstrip_secrets = false',
    ],
)
def test_the_schema_takes_what_loads(text):
    jsonschema.validate(tomllib.loads(f"version = 1\n{text}\n"), schema())


@pytest.mark.parametrize(
    "text",
    [
        "postur = 1", 'posture = "x"', '[permission]\n"Reed(x)" = "allow"', '[permission]\nbash = "dny"',
        '[shell]\nallow = "ls"',
        '[permission]\nbash = { verdict = "allow", matches = [] }',
        '[child_env]\nset = { A = 1 }', "[approvals]\ngrant = 1",
    ],
)  # fmt: skip
def test_the_schema_refuses_what_does_not_load(text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(f"version = 1\n{text}\n"), schema())
