"""The second opinion: it agrees about plain lines, notices a difference, and says when it is missing."""

from __future__ import annotations

import sys

import pytest

from stockade.shell import crosscheck
from stockade.shell.crosscheck import disagreement
from stockade.shell.parsing import parse
from stockade.shell.syntax import Script, byte_view


def script(command: str) -> Script:
    parsed = parse(byte_view(command))
    assert parsed.error is None
    return parsed.script


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "ls -l a | grep b > c 2>&1",
        "if ls a; then ls b; else ls c; fi",
        "for x in a b; do cat $x; done",
        "while read l; do echo $l; done < f",
        "case $x in a) ls;; *) cat f;; esac",
        "f() { ls a; }; f",
        "x=1 y=2 ls",
        "x=$(ls a) y=`ls b`",
        "cat <(ls a) <<< b",
        "export A=1; unset B; [ -f c ] && test -d d",
        "time ls a; time -p ls b; ! ls c",
        "cat <<E\nhi $(not seen)\nE\nls a",
        "cat <<'E' | grep b\nrm -rf /\nE\nls a",
        "{ ls a; (ls b); } && [[ -f c ]] || ((1 + 2))",
        "echo 'ä' \"ö $(ls ü)\"",
        "# nothing",
        "> out",
    ],
)
def test_agreement(command: str) -> None:
    view = byte_view(command)
    assert disagreement(view, script(command)) is None


@pytest.mark.parametrize(
    ("command", "other"),
    [("ls a; rm b", "ls a"), ("ls a", "ls a; rm b"), ("ls a b", "ls a"), ("ls a", " ls a"), ("f() { rm x; }", "f() { :; }")],
)
def test_a_difference_in_what_runs_is_noticed(command: str, other: str) -> None:
    assert disagreement(byte_view(command), script(other)) == "the second parser reads it differently"


@pytest.mark.parametrize("command", ["ls (", "if then", "echo 'a"])
def test_what_the_second_parser_cannot_read(command: str) -> None:
    assert disagreement(command, script("ls")) == "the second parser cannot read it"


@pytest.mark.parametrize("name", ["tree_sitter", "tree_sitter_bash"])
def test_a_second_parser_that_is_missing_is_no_agreement(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(crosscheck, "_parser", None)
    monkeypatch.setitem(sys.modules, name, None)
    assert disagreement("ls", script("ls")) == "the second parser (tree-sitter) is not installed"
    with pytest.raises(crosscheck.Unavailable):
        crosscheck._load()


def test_the_second_parser_is_loaded_once() -> None:
    assert crosscheck._load() is crosscheck._load()
