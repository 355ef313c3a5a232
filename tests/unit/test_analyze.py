"""The edges of `analyze` and of the reader: text that cannot be text, limits, argument vectors."""

from __future__ import annotations

import pytest

from stockade.model.context import Context
from stockade.model.effects import Kind
from stockade.shell import analyze, analyze_argv, plain
from stockade.shell.braces import expand_braces
from stockade.shell.cursor import Cursor
from stockade.shell.editing import trimmed
from stockade.shell.expansions import ansi_c
from stockade.shell.parsing import gate, oddity, parse
from stockade.shell.state import State, Variable
from stockade.shell.syntax import LIMIT_BYTES, Refused, Script, byte_view, text_of
from stockade.shell.values import known

CONTEXT = Context("/home/dev/app", "/home/dev/app", "/home/dev")


def code(command: str) -> str | None:
    error = analyze(command, CONTEXT).error
    return None if error is None else error[0]


def test_text_that_is_not_unicode() -> None:
    found = analyze("cat \ud800 f", CONTEXT)
    assert found.error == ("encoding", "not valid Unicode", 4, 5)
    assert not found.complete
    assert found.segments == ()


def test_bytes_that_are_not_utf_8() -> None:
    parsed = parse("cat \xff")
    assert parsed.error is not None
    assert (parsed.error.code, parsed.error.start, parsed.error.end) == ("encoding", 4, 5)
    assert parsed.script.items == ()


def test_the_limit_of_length() -> None:
    assert code("#" * LIMIT_BYTES) is None
    assert code("#" * (LIMIT_BYTES + 1)) == "too-long"
    with pytest.raises(Refused, match="longer than"):
        gate(byte_view("é" * (LIMIT_BYTES // 2 + 1)))


@pytest.mark.parametrize(
    "opening", ["(", "{ ", "$(", "echo $(", 'echo "$(', "echo ${x:-", "if ", "echo $((", "x=(", "[[ (", "f() { ", "cat <("]
)
def test_the_limit_of_depth(opening: str) -> None:
    assert code(opening * 500) in ("too-deep", "unterminated", "syntax", "parameter")


def test_a_budget_that_is_used_up() -> None:
    cursor = Cursor("x", 0, 1)
    cursor.budget = 0
    with pytest.raises(Refused) as caught:
        cursor._step()
    assert caught.value.code == "too-long"


def test_a_command_with_too_many_steps() -> None:
    found = analyze("f() { for a in 1; do for b in 1; do ls; done; done; }; " + "f;" * 3000, CONTEXT)
    assert found.error is not None
    assert found.error[0] == "too-long"
    assert not found.complete


@pytest.mark.parametrize(("command", "nothing"), [("", False), ("# x", True), ("# x\n\n", True), ("ls # x", False), (":", False)])
def test_nothing_runs(command: str, *, nothing: bool) -> None:
    assert analyze(command, CONTEXT).nothing_runs is nothing


def test_an_argument_vector_is_quoted() -> None:
    found = analyze_argv(["cat", "a b", "it's", "$HOME", "*", ""], CONTEXT)
    assert [segment.argv for segment in found.segments] == [("cat", "a b", "it's", "$HOME", "*", "")]
    assert found.complete


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("ls -la a/b", True),
        ("ls a | cat; ls b && ls c || ls d", True),
        ("cat 'a b'", True),
        ("cat $x", False),
        ("cat 'a' \"b\"; ls", False),
        ("if ls; then ls; fi", False),
        ("time ls; ls", False),
        ("x=1 cat 'a'", False),
        ("cat 'a' | sh", False),
        ("cat 'a' <<E\nE", False),
        ("(ls 'a')", False),
    ],
)
def test_what_can_be_read_in_one_way_only(command: str, *, wanted: bool) -> None:
    syntax = analyze(command, CONTEXT).syntax
    assert isinstance(syntax, Script)
    assert plain(command, syntax) is wanted


def test_offsets_are_bytes() -> None:
    segment = analyze("cat é; rm ü", CONTEXT).segments[-1]
    assert (segment.start, segment.end) == (8, 13)
    (effect,) = [e for e in segment.effects if e.kind is Kind.DELETE]
    assert effect.target is not None
    assert effect.target.path == "/home/dev/app/ü"


def test_the_files_and_hosts_of_a_segment() -> None:
    cat, curl = analyze("cat a *.b > c; curl https://x.example -o d", CONTEXT).segments
    assert cat.reads == ("/home/dev/app/a", None)
    assert cat.writes == ("/home/dev/app/c",)
    assert curl.hosts == ("x.example:443",)
    assert curl.writes == ("/home/dev/app/d",)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ls\x1b[0m", "control"),
        ("a\u202eb", "invisible"),
        ("a\u00adb", "invisible"),
        ("\ufeffls", "invisible"),
        ("ls é", None),
        ("a\tb\n", None),
    ],
)
def test_oddity(text: str, wanted: str | None) -> None:
    found = oddity(byte_view(text))
    assert (found.code if found is not None else None) == wanted


def test_an_invisible_character_has_its_bytes() -> None:
    found = oddity(byte_view("é\u200bx"))
    assert found is not None
    assert (found.start, found.end) == (2, 5)


@pytest.mark.parametrize("text", ["", "ls", "é", "\u4e2d\U0001f600"])
def test_the_byte_view_and_back(text: str) -> None:
    view = byte_view(text)
    assert len(view) == len(text.encode())
    assert text_of(view) == text


def test_a_nul_is_only_for_programs_that_print() -> None:
    assert ansi_c("a\\0b", 0, nul=True) == "a\0b"
    with pytest.raises(Refused, match="NUL"):
        ansi_c("a\\0b", 0)


@pytest.mark.parametrize(
    ("text", "op", "pattern", "wanted"),
    [
        ("a.b.c", "#", "*.", "b.c"),
        ("a.b.c", "##", "*.", "c"),
        ("a.b.c", "%", ".*", "a.b"),
        ("a.b.c", "%%", ".*", "a"),
        ("abc", "#", "x", "abc"),
    ],
)
def test_what_a_pattern_removes(text: str, op: str, pattern: str, wanted: str) -> None:
    assert trimmed(text, op, pattern) == wanted


@pytest.mark.parametrize("pattern", ["\\*", "x" * 65, "*a*b*"])
def test_a_pattern_that_is_not_followed(pattern: str) -> None:
    with pytest.raises(Refused):
        trimmed("abc", "#", pattern)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a{b,c}d", ["abd", "acd"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("{{a,b}}", ["{a}", "{b}"]),
        ("{a,b", ["{a,b"]),
        ("{a", ["{a"]),
        ("}{a,b}", ["}a", "}b"]),
        ("{1..3}", ["1", "2", "3"]),
        ("{3..1..2}", ["3", "1"]),
        ("{a..e..2}", ["a", "c", "e"]),
        ("{1..2..0}", ["1", "2"]),
        ("{08..10}", ["08", "09", "10"]),
        ("{-01..1}", ["-01", "000", "001"]),
        ("{1..b}", ["{1..b}"]),
        ("{1..}", ["{1..}"]),
        ("{}", ["{}"]),
    ],
)
def test_braces(text: str, wanted: list[str]) -> None:
    assert ["".join(str(atom) for atom in word) for word in expand_braces(list(text))] == wanted


def test_a_copy_of_the_state_has_every_field() -> None:
    state = State(CONTEXT)
    copy = state.copy()
    assert {name: getattr(copy, name) for name in State.__slots__} == {name: getattr(state, name) for name in State.__slots__}
    copy.variables["x"] = Variable(known("1"))
    assert state.variables == {}
