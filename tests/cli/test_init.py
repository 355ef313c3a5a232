"""`stockade init`."""

from __future__ import annotations

import re
import tomllib

import pytest

from stockade.cli.init import configuration
from stockade.config.read import read_text
from stockade.config.settings import PRESETS, SETTINGS


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("preset", ["", *PRESETS])
def test_the_text_has_no_problem_and_sets_no_more_than_the_preset(preset, project):
    file = read_text(configuration(preset=preset, project=project), file="f", layer="user")
    assert file.problems == ()
    assert file.rules == ()
    assert [(v.name, v.value) for v in file.values] == ([("preset", preset)] if preset else [])


def test_every_setting_is_there_and_its_example_loads():
    text = re.sub(r'^# (?=(?:"[^"]+"|[a-z_]+) = )', "", configuration(preset="", project=False), flags=re.MULTILINE)
    file = read_text(text, file="f", layer="user")
    assert file.problems == ()
    assert {v.name for v in file.values} == {s.name for s in SETTINGS}
    assert len(file.rules) >= 8


def test_every_setting_is_explained():
    text = re.sub(r"\n# ", " ", configuration(preset="", project=False))
    for setting in SETTINGS:
        assert setting.meaning[1:] in text
        assert all(f'"{value}"' in text for value in setting.values)


def test_a_project_file_is_written_and_valid(cli, place):
    answer = cli("init")
    path = place.project / ".stockade" / "config.toml"
    assert (answer.code, answer.err) == (0, "")
    assert "stockade trust" in answer.out
    assert tomllib.loads(path.read_text())["version"] == 1
    assert cli("config", "validate").code == 0


def test_a_project_preset_is_said_to_be_held(cli, place):
    answer = cli("init", "--preset", "mendcode")
    assert '`preset = "mendcode"` is held too' in answer.out
    assert 'preset = "mendcode"' in (place.project / ".stockade" / "config.toml").read_text().splitlines()
    assert cli("config", "validate").code == 0


def test_the_users_file_is_private_and_takes_effect(cli, place, monkeypatch):
    monkeypatch.chdir(place.home)
    assert cli("init", "--user", "--preset", "oceancode").code == 0
    assert (place.config / "config.toml").stat().st_mode & 0o777 == 0o600
    monkeypatch.chdir(place.project)
    assert cli("inspect", "--json").json()["preset"] == "oceancode"


def test_a_file_that_is_there_stays(cli, place):
    path = place.project_config("version = 1\n# mine\n")
    answer = cli("init")
    assert (answer.code, answer.out) == (2, "")
    assert "--force" in answer.err
    assert path.read_text() == "version = 1\n# mine\n"


def test_force_loses_nothing(cli, place):
    path = place.project_config("first")
    assert cli("init", "--force").code == 0
    path.write_text("second")
    assert cli("init", "--force").code == 0
    kept = {p.name: p.read_text() for p in path.parent.iterdir() if p != path}
    assert kept == {"config.toml.bak": "first", "config.toml.bak2": "second"}


def test_a_link_is_not_followed(cli, place):
    victim = place.home / "victim"
    victim.write_text("mine")
    (place.project / ".stockade").mkdir()
    (place.project / ".stockade" / "config.toml").symlink_to(victim)
    assert cli("init").code == 2
    assert cli("init", "--force").code == 0
    assert victim.read_text() == "mine"


def test_home_is_no_project(cli, place, monkeypatch):
    monkeypatch.chdir(place.home)
    answer = cli("init")
    assert answer.code == 2
    assert "`--user`" in answer.err


@pytest.mark.parametrize("args", [("--preset", "x"), ("--user", "--project"), ("extra",)])
def test_bad_input(cli, args):
    assert cli("init", *args).code == 2


def test_a_folder_that_cannot_be_written(cli, place):
    (place.project / ".stockade").write_text("a file")
    answer = cli("init")
    assert answer.code == 2
    assert "cannot be written" in answer.err
