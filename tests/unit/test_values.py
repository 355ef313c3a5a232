"""Abstract values: joining, gluing and printing one after the other never claims more than is known."""

from __future__ import annotations

import pytest

from stockade.shell.fields import FieldBuilder, field_value
from stockade.shell.values import (
    ANYTHING,
    EMPTY,
    INTEGER,
    MAX_ALTERNATIVES,
    NETWORK,
    SECRET,
    Field,
    Value,
    chomped,
    common_prefix,
    concat,
    glue,
    is_integer,
    join,
    known,
    repeated,
    unknown,
)

MANY = Value(tuple(f"n{at}" for at in range(MAX_ALTERNATIVES)))
LISTED = Value(None, True, "listed", under="/a")
TAGGED = frozenset((SECRET,))


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (known("x"), known("x"), known("x")),
        (known("x"), known("y"), Value(("x", "y"))),
        (known("x"), Value(("y",), False), Value(("x", "y"), False)),
        (known("x"), ANYTHING, Value(("x",), False)),
        (ANYTHING, known("x"), Value(("x",), False)),
        (INTEGER, known("12"), INTEGER),
        (INTEGER, known("x"), Value(("x",), False)),
        (LISTED, LISTED._replace(prefix="p"), LISTED),
        (LISTED, LISTED._replace(under="/b"), ANYTHING),
        (MANY, known("z"), ANYTHING),
        (MANY, MANY._replace(sure=False), MANY._replace(sure=False)),
        (known("x", TAGGED), known("y"), Value(("x", "y"), tags=TAGGED)),
        (LISTED, unknown(TAGGED), unknown(TAGGED)),
    ],
)
def test_join(a: Value, b: Value, wanted: Value) -> None:
    assert join(a, b) == wanted


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (known("x"), known("y"), known("xy")),
        (EMPTY, ANYTHING, ANYTHING),
        (LISTED, EMPTY, LISTED),
        (LISTED, LISTED, LISTED),
        (LISTED, known("x"), ANYTHING),
        (MANY, Value(("x", "y")), ANYTHING),
        (known("x", TAGGED), EMPTY, known("x", TAGGED)),
        (Value(("", "x")), known("x"), Value(("x", "xx"))),
    ],
)
def test_concat(a: Value, b: Value, wanted: Value) -> None:
    assert concat(a, b) == wanted


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (known("x"), known("y"), known("xy")),
        (EMPTY, LISTED, LISTED),
        (LISTED, EMPTY, LISTED),
        (known("p/"), ANYTHING, Value(None, False, prefix="p/")),
        (ANYTHING, known(".c"), Value(None, False, suffix=".c")),
        (Value(None, False, suffix=".tar"), known(".gz"), Value(None, False, suffix=".tar.gz")),
        (known("p/"), Value(None, False, prefix="q"), Value(None, False, prefix="p/q")),
        (Value(("ab", "ac")), ANYTHING, Value(None, False, prefix="a")),
        (MANY, Value(("x", "y")), Value(None, True, prefix="n")),
        (EMPTY._replace(tags=TAGGED), known("x"), known("x", TAGGED)),
    ],
)
def test_glue(a: Value, b: Value, wanted: Value) -> None:
    assert glue(a, b) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (INTEGER, True),
        (known("12"), True),
        (known(" -3 "), True),
        (known(""), True),
        (Value(("1", "2")), True),
        (Value(("1",), False), False),
        (known("a[$(x)]"), False),
        (known("1+1"), False),
        (known("\u0663"), False),
        (ANYTHING, False),
    ],
)
def test_is_integer(value: Value, *, wanted: bool) -> None:
    assert is_integer(value) is wanted


def test_only_one_certain_text_is_the_text() -> None:
    assert known("x").text == "x"
    assert Value(("x", "y")).text is None
    assert Value(("x",), False).text is None
    assert ANYTHING.text is None


@pytest.mark.parametrize(
    ("texts", "wanted"), [(["abc"], "abc"), (["abc", "abd"], "ab"), (["abc", "x"], ""), (["ab", "abc", "a"], "a")]
)
def test_common_prefix(texts: list[str], wanted: str) -> None:
    assert common_prefix(texts) == wanted


def test_a_substitution_loses_its_last_newlines_and_every_nul() -> None:
    assert chomped(known("a\0b\n\n")) == known("ab")
    assert chomped(LISTED) == LISTED


def test_what_a_loop_prints_is_not_known() -> None:
    assert repeated(EMPTY) == EMPTY
    assert repeated(LISTED) == LISTED
    assert repeated(known("a", TAGGED)) == unknown(TAGGED)


def test_unknown_keeps_its_tags() -> None:
    assert unknown(frozenset((NETWORK,))).tags == {NETWORK}
    assert unknown() is ANYTHING


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (Field("-x", 0, 1), True),
        (Field("x", 0, 1), False),
        (Field("*", 0, 1, glob=True), True),
        (Field("./*", 0, 1, glob=True), False),
        (Field("*", 0, 1), False),
        (Field(None, 0, 1, kind="int"), False),
        (Field(None, 0, 1, prefix="./"), False),
        (Field(None, 0, 1, prefix="-"), True),
        (Field(None, 0, 1), True),
        (Field("x", 0, 1, sure=False), True),
    ],
)
def test_can_be_option(field: Field, *, wanted: bool) -> None:
    assert field.can_be_option is wanted


@pytest.mark.parametrize(
    "field",
    [Field("x", 0, 1, sure=False), Field("*", 0, 1, glob=True), Field("x", 0, 1, alts=("x", "y")), Field(None, 0, 1)],
)
def test_a_field_that_is_not_certain_has_no_literal(field: Field) -> None:
    assert field.literal is None


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (Field("é", 0, 1), known("Ã©")),
        (Field("x", 0, 1, alts=("x", "y")), Value(("x", "y"))),
        (Field("/a/*.c", 0, 1, glob=True), Value(None, True, "listed", prefix="/a/", under="/a/")),
        (Field("a?", 0, 1, glob=True), Value(None, True, "listed", prefix="a", under=".")),
        (Field(None, 0, 1, sure=False, prefix="p", suffix="s"), Value(None, False, prefix="p", suffix="s")),
    ],
)
def test_a_field_as_a_value(field: Field, wanted: Value) -> None:
    assert field_value(field) == wanted


def built(*pieces: tuple[str, str | Value]) -> list[Field]:
    build = FieldBuilder(0, 9)
    for how, piece in pieces:
        if isinstance(piece, Value):
            build.value(piece, pattern=how == "pattern") if how != "unknown" else build.unknown_fields(piece)
        else:
            getattr(build, how)(*([piece] if how != "cut" else []))
    return build.finish()


def test_quoted_glob_characters_are_text() -> None:
    assert [(f.text, f.glob) for f in built(("literal", "*"))] == [("*", False)]
    assert [(f.text, f.glob) for f in built(("literal", "*"), ("unquoted", "?"))] == [("\\*?", True)]
    assert [(f.text, f.glob) for f in built(("pattern", known("a*")))] == [("a*", True)]
    assert [(f.text, f.glob) for f in built(("quoted", known("a*")))] == [("a*", False)]
    assert [(f.text, f.glob) for f in built(("unquoted", "a\\"))] == [("a\\", False)]


def test_alternatives_multiply_up_to_the_limit() -> None:
    two = Value(("a", "b"))
    assert built(("quoted", two), ("quoted", two))[0].alts == ("aa", "ab", "ba", "bb")
    lost = built(("literal", "p"), ("quoted", MANY), ("quoted", two))[0]
    assert (lost.text, lost.prefix) == (None, "pn")


def test_what_follows_an_unknown_part_is_its_end() -> None:
    assert [(f.prefix, f.suffix) for f in built(("literal", "a"), ("quoted", ANYTHING), ("literal", "z"))] == [("a", "z")]
    assert built(("quoted", ANYTHING), ("quoted", Value(("x", "y"))))[0].suffix == ""
    assert built(("quoted", LISTED), ("literal", "x"))[0].kind == ""
    assert built(("quoted", INTEGER), ("literal", "x"))[0].kind == "int"
    assert built(("quoted", INTEGER), ("literal", "/x"))[0].kind == ""
    assert built(("quoted", LISTED), ("quoted", ANYTHING))[0].under == ""


def test_an_unknown_outside_quotes_can_be_many_words() -> None:
    (field,) = built(("unknown", Value(("a", "b"), tags=TAGGED)))
    assert (field.many, field.sure, field.tags, field.alts) == (True, False, TAGGED, ("a", "b"))


def test_a_cut_begins_another_field() -> None:
    assert [f.text for f in built(("cut", ""), ("literal", "a"), ("cut", ""), ("cut", ""), ("literal", ""))] == ["a", ""]
