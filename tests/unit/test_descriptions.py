"""Added descriptions: what they may loosen, what they only tighten, and what is wrong with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockade.config.descriptions import MAX_FILES, Descriptions, description_sources, digest_of, read_descriptions
from stockade.config.layers import merge
from stockade.config.sources import Source
from stockade.model.action import command_action
from stockade.model.context import Context
from stockade.model.verdict import Verdict
from stockade.policy.evaluate import decide
from stockade.policy.policy import build
from tests.support.corpora import rows

CONTEXT = Context("/home/dev/app", "/home/dev/app", "/home/dev")
TOOL = """
name = "tool"
also = ["tl"]
summary = "a tool"
source = "its page"
operands = "read*"
options = '''
-o --output FILE : write
--live           : network
'''
[[example]]
command = "tool a"
want = "allow"
"""
GIT = """
name = "git"
summary = "more of git"
source = "its page"
operands = "text*"
[sub.status]
effects = ["network"]
[sub.frob]
operands = "read*"
[[example]]
command = "git status"
want = "ask"
"""
WRAPPER = TOOL.replace('operands = "read*"', 'style = "posix"\noperands = "argv"').replace("tool", "wrap")


def source(text: str | None, layer: str = "user", name: str = "tool", *, distrusted: bool = False) -> Source:
    return Source(text, f"programs/{name}.toml", layer, (), distrusted, f"digest of {text}")


def verdict(command: str, added: Descriptions, mode: str = "smart") -> Verdict:
    return decide(command_action(command), CONTEXT, build((), mode_name=mode, owns=added.owns)).verdict


MINE = read_descriptions([source(TOOL)], trusted=False)
HELD = read_descriptions([source(TOOL, "project")], trusted=False)


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("tool src/a", "allow"), ("tl src/a", "allow"), ("tool -o src/out src/a", "allow"), ("tool --live", "ask"),
        ("tool --other", "ask"), ("tool ../x", "ask"), ("./tool src/a", "ask"), ("tool .env", "ask"),
        ("tool --out=src/b", "allow"), ("tool $(pick) | tl", "ask"),
    ],
)  # fmt: skip
def test_a_program_that_a_person_described(command: str, wanted: str) -> None:
    assert str(verdict(command, MINE)) == wanted


@pytest.mark.parametrize("command", ["tool src/a", "tl src/a", "tool -o src/out", "tool --live", "echo a | tool"])
def test_a_held_description_leaves_the_program_unknown(command: str) -> None:
    assert verdict(command, HELD) is Verdict.ASK


def test_a_held_description_tightens() -> None:
    text = TOOL.replace('operands = "read*"', 'operands = "delete*"').replace("options = ", "recursive = true\noptions = ")
    held = read_descriptions([source(text, "project")], trusted=False)
    assert verdict("tool /", held, "full") is Verdict.DENY
    assert verdict("tool /", read_descriptions([], trusted=False), "full") is Verdict.ALLOW


def test_what_comes_with_stockade_is_never_taken_away() -> None:
    added = read_descriptions([source(GIT, name="git")], trusted=False)
    assert verdict("git status", added) is Verdict.ASK
    assert verdict("git log", added) is Verdict.ALLOW  # what an added description does not know it says nothing about
    assert verdict("git frob src/a", added) is Verdict.ASK
    assert verdict("git push --force", added) is Verdict.DENY or verdict("git push --force", added) is Verdict.ASK


@pytest.mark.parametrize("name", ["rm", "curl", "git", "bash", "cat", "sudo"])
def test_a_description_never_loosens_a_described_program(name: str) -> None:
    """Not one row of the floor or of the bypasses is laxer with a description that says the program is harmless."""
    text = (
        f'name = "{name}"\nsummary = "harmless"\nsource = "me"\noperands = "text*"\n[[example]]\ncommand = "x"\nwant = "allow"\n'
    )
    added = read_descriptions([source(text, name=name)], trusted=True)
    plain = read_descriptions([], trusted=True)
    commands = [row["command"] for corpus in ("floor", "bypass") for row in rows(corpus) if name in row["command"]][:150]
    assert len(commands) > 10
    assert [c for c in commands if verdict(c, added) < verdict(c, plain)] == []


def test_a_wrapper_runs_what_it_wraps() -> None:
    mine = read_descriptions([source(WRAPPER, name="wrap")], trusted=False)
    assert verdict("wrap ls src", mine) is Verdict.ALLOW
    assert verdict("wrap rm -rf /", mine, "full") is Verdict.DENY
    held = read_descriptions([source(WRAPPER, "project", "wrap")], trusted=False)
    assert verdict("wrap ls src", held) is Verdict.ASK
    assert verdict("wrap rm -rf /", held, "full") is Verdict.DENY


def test_a_persons_description_stands_before_the_projects() -> None:
    network = TOOL.replace('operands = "read*"', 'effects = ["network"]\noperands = "read*"')
    both = [source(network, "project"), source(TOOL)]
    assert verdict("tool a", read_descriptions(both, trusted=True)) is Verdict.ASK
    assert [own.layer for own in read_descriptions(both, trusted=True).owns["tool"]] == ["user", "project"]
    assert verdict("tool a", read_descriptions([source(TOOL, distrusted=True)], trusted=True)) is Verdict.ASK


BAD = [
    ("name = ", "not valid TOML"), ("a = " + "[" * 100_000, "not valid TOML"), ("." * 100_000, "too many dots"),
    (TOOL.replace('name = "tool"', "name = 5"), "`name` of `5` is no text"),
    (TOOL.replace('name = "tool"', 'name = "a/b"'), "`a/b` is no name of a program"),
    (TOOL.replace('also = ["tl"]', "also = 5"), "`also` of `tool` is no list of texts"),
    (TOOL.replace('also = ["tl"]', 'reader = "sed"'), "`reader` is only for"),
    (TOOL.replace('also = ["tl"]', "sub = 5"), "`sub` of `tool` holds something"),
    (TOOL + "[sub.a]\nsame = 'b'\n", "`same` of `tool a` names no subcommand"),
    (TOOL + "[sub.a]\nreader = 'sed'\n", "`reader` is only for"),
    (TOOL.replace('want = "allow"', 'want = "yes"'), "are allow, ask or deny"),
    (TOOL.replace('command = "tool a"', "command = 5"), "has no `command`"),
    (TOOL.replace('operands = "read*"', 'operands = "raed*"'), "`raed` in the operands of `tool` is no role"),
    ("example = 5\n" + TOOL.partition("[[")[0], "`example` of `tool` is no list of tables"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message for _, message in BAD])
def test_a_bad_description_is_an_error_of_the_configuration(text: str, message: str) -> None:
    added = read_descriptions([source(text)], trusted=True)
    (problem,) = added.problems
    assert (problem.code, problem.severity, problem.file) == ("config/description", "error", "programs/tool.toml")
    assert message in problem.message
    assert added.owns == {}
    loaded = merge([], [source(text)])
    assert decide(command_action("ls"), CONTEXT, loaded.policy()).rule == "guard/config"


def test_trust_is_bound_to_every_file_of_the_project() -> None:
    config = Source("version = 1\n", ".stockade/config.toml", "project", (), False, "c")
    tool = source(TOOL, "project")
    assert digest_of(config, []) == "c"
    assert digest_of(None, []) == ""
    digests = {digest_of(config, [tool]), digest_of(None, [tool]), digest_of(config, [tool, source(GIT, "project", "git")])}
    assert len(digests) == 3
    held = merge([config], [tool], trusted_digest="c")
    assert (held.trusted, [item.name for item in held.held]) == (False, ["programs.tool"])
    assert [p.code for p in held.problems] == ["config/held"]
    trusted = merge([config], [tool], trusted_digest=digest_of(config, [tool]))
    assert (trusted.trusted, trusted.held, trusted.problems) == (True, (), ())
    assert verdict("tool a", trusted.descriptions) is Verdict.ALLOW
    linked = source(TOOL, "project", distrusted=True)
    assert merge([config], [linked], trusted_digest=digest_of(config, [linked])).trusted is False


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    assert description_sources(str(tmp_path / "none"), shown="p", layer="user") == []
    (tmp_path / "b.toml").write_text(TOOL)
    (tmp_path / "a.toml").write_text(GIT)
    (tmp_path / "notes.md").write_text("no description")
    found = description_sources(str(tmp_path), shown="p", layer="user", owner=(tmp_path / "a.toml").stat().st_uid)
    assert [(s.shown, s.distrusted) for s in found] == [("p/a.toml", False), ("p/b.toml", False)]
    (tmp_path / "b.toml").chmod(0o666)
    found = description_sources(str(tmp_path), shown="p", layer="user", owner=(tmp_path / "a.toml").stat().st_uid)
    assert [(s.shown, s.distrusted) for s in found] == [("p/a.toml", False), ("p/b.toml", True)]
    assert description_sources(str(tmp_path / "a.toml"), shown="p", layer="user") == []
    for at in range(MAX_FILES):
        (tmp_path / f"x{at}.toml").write_text(TOOL)
    (one,) = description_sources(str(tmp_path), shown="p", layer="user")
    assert one.problems[0].code == "config/too-large"
