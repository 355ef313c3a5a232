"""`stockade trust`."""

from __future__ import annotations

import hashlib
import io
import json
import sys

import pytest

TEXT = """version = 1
permission_mode = "full"
[permission]
bash = { "ls *" = "allow", "git push *" = "deny" }
"""


class Terminal(io.StringIO):
    """A standard input with a person at it; `then` happens while they think."""

    def __init__(self, text: str, then=lambda: None) -> None:
        super().__init__(text)
        self.then = then

    def isatty(self) -> bool:
        return True

    def readline(self, *args) -> str:
        self.then()
        return super().readline(*args)


def _trusted(cli) -> bool:
    return cli("inspect", "--json").json()["trust"]["trusted"]


def test_shows_what_is_held_and_asks(cli, place, monkeypatch):
    path = place.project_config(TEXT)
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    answer = cli("trust")
    assert answer.code == 0
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert answer.out.splitlines() == [
        f"folder  {place.project}", "file    .stockade/config.toml", f"sha256  {digest}", "",
        "held now, and in effect once you trust it:", '  line 4  bash(ls *)       "allow"', '  line 2  permission_mode  "full"',
        "trusted; a change of the file ends it",
    ]  # fmt: skip
    assert answer.err == "trust this file? [y/N] "
    assert _trusted(cli)
    assert cli("check", "--", "npm test").code == 0


@pytest.mark.parametrize("said", ["n\n", "\n", "", "yess\n"])
def test_anything_but_yes_is_no(cli, place, monkeypatch, said):
    place.project_config(TEXT)
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    assert cli("trust").code == 126
    assert not _trusted(cli)
    assert not (place.state / "trust.json").exists()


def test_without_a_terminal_nothing_is_trusted(cli, place, monkeypatch):
    place.project_config(TEXT)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    answer = cli("trust")
    assert answer.code == 126
    assert "no terminal to ask on" in answer.err
    assert not _trusted(cli)


def test_a_file_that_changes_while_it_is_looked_at_is_refused(cli, place, monkeypatch):
    path = place.project_config(TEXT)
    monkeypatch.setattr(sys, "stdin", Terminal("y\n", lambda: path.write_text(TEXT + '"Bash(rm *)" = "allow"\n')))
    answer = cli("trust")
    assert answer.code == 126
    assert "has changed" in answer.err
    assert not _trusted(cli)


def test_yes_binds_to_the_bytes(cli, place):
    path = place.project_config(TEXT)
    assert cli("trust", "--yes").code == 0
    assert _trusted(cli)
    assert (place.state / "trust.json").stat().st_mode & 0o777 == 0o600
    path.write_text(TEXT + "\n")
    assert not _trusted(cli)


def test_json(cli, place):
    path = place.project_config(TEXT)
    value = cli("trust", "--yes", "--json").json()
    assert value == {
        "v": 1, "folder": str(place.project), "file": ".stockade/config.toml", "files": [".stockade/config.toml"],
        "trusted": True, "exit": 0,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "message": "trusted; a change of the file ends it",
        "held": [{"name": "bash(ls *)", "value": "allow", "line": 4}, {"name": "permission_mode", "value": "full", "line": 2}],
    }  # fmt: skip


def test_json_without_yes_refuses_in_json(cli, place, monkeypatch):
    place.project_config(TEXT)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    answer = cli("trust", "--json")
    assert (answer.code, answer.json()["trusted"]) == (126, False)


def test_revoke(cli, place):
    place.project_config(TEXT)
    assert cli("trust", "--revoke").code == 1
    cli("trust", "--yes")
    assert cli("trust", "--revoke").code == 0
    assert not _trusted(cli)
    assert json.loads((place.state / "trust.json").read_text()) == {}


def test_trusting_twice_says_so(cli, place):
    place.project_config(TEXT)
    cli("trust", "--yes")
    answer = cli("trust", "--yes")
    assert (answer.code, answer.out) == (0, "this file is trusted already\n")


def test_a_file_that_only_tightens(cli, place):
    place.project_config('version = 1\n[permission]\n"Bash(git push *)" = "deny"\n')
    assert "nothing in it is held" in cli("trust", "--yes").out


def test_what_is_not_a_projects_is_not_shown(cli, place):
    place.project_config(TEXT)
    place.user_config('version = 1\nposture = "open"\n').chmod(0o666)
    assert "posture" not in cli("trust", "--yes").out


@pytest.mark.parametrize("kind", ["none", "link", "broken"])
def test_nothing_to_trust(cli, place, kind):
    if kind == "link":
        (place.home / "c.toml").write_text(TEXT)
        (place.project / ".stockade").mkdir()
        (place.project / ".stockade" / "config.toml").symlink_to(place.home / "c.toml")
    elif kind == "broken":
        place.project_config("version = 1\nx = 1\n")
    answer = cli("trust", "--yes")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("stockade trust: there is nothing to trust: ")


def test_a_file_cannot_write_on_the_terminal(cli, place):
    place.project_config('version = 1\n[permission]\n"Bash(ls \\u001b[2J\\u202e*)" = "allow"\n')
    answer = cli("trust", "--yes")
    assert not set(answer.out + answer.err) & set("\x1b\u202e")


@pytest.mark.parametrize("args", [("--yes", "--revoke"), ("extra",)])
def test_bad_input(cli, args):
    assert cli("trust", *args).code == 2
