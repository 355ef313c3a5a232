"""Argument vectors against small descriptions: which word is an option, a value, an operand, or unknown."""

from __future__ import annotations

import pytest

from stockade.shell.arguments import Reading, read_arguments
from stockade.shell.catalog import Program, compile_text
from stockade.shell.values import Field


def program(text: str) -> Program:
    """The description with these keys, and the tables of subcommands behind them."""
    head, bracket, subs = text.partition("\n[")
    whole = f"name = 'x'\nsummary = 's'\nsource = 's'\n{head}\n[[example]]\ncommand = 'x'\n{bracket}{subs}"
    return Program(compile_text(whole, "x.toml"))


def words(text: str) -> list[Field]:
    """Words of a line; `?` is one that is not known, `??` any number of them, and `a|b` one of two."""
    out = []
    for at, word in enumerate(text.split()):
        if word in ("?", "??"):
            out.append(Field(None, at, at + 1, sure=False, many=word == "??"))
        else:
            alts = tuple(word.split("|")) if "|" in word else ()
            out.append(Field(word, at, at + 1, alts=alts))
    return out


def uses(reading: Reading) -> list[tuple[str, str | None]]:
    return [(use.role, use.field.text) for use in reading.uses]


def unknowns(reading: Reading) -> list[str]:
    return [detail for effect, detail, *_ in reading.effects if effect == "unknown"]


GNU = program('''operands = "read*"
options = """
-a --all
-n --number N
-o --output FILE   : write
-c --color [WHEN]
-w [FILE]          : write
--outer            : network
-q                 : stop
-x CMD             : argv
--help             : info
-long              : network
"""''')


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("a b", [("read", "a"), ("read", "b")]),
        ("-a b -a", [("read", "b")]),
        ("-n 3 b", [("text", "3"), ("read", "b")]),
        ("-n3 -an4 b", [("text", "3"), ("text", "4"), ("read", "b")]),
        ("--number=3 --number 4", [("text", "3"), ("text", "4")]),
        ("--num=3 --outp f", [("text", "3"), ("write", "f")]),
        ("--color b --color=auto -cauto", [("text", "auto"), ("text", "auto"), ("read", "b")]),
        ("-w -wf", [("write", "."), ("write", "f")]),
        ("-- -a --all", [("read", "-a"), ("read", "--all")]),
        ("- a", [("read", "-"), ("read", "a")]),
        ("-q -a", [("read", "-a")]),
        ("-aq -o", [("read", "-o")]),
        ("-o -a", [("write", "-a")]),
        ("+a", [("read", "+a")]),
    ],
)
def test_words_of_a_gnu_program(line: str, wanted: list[tuple[str, str]]) -> None:
    reading = read_arguments(GNU, words(line))
    assert uses(reading) == wanted
    assert unknowns(reading) == []
    assert reading.wild is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("-z", "the option `-z` is not described"),
        ("-az", "the option `-z` is not described"),
        ("--odd=1", "the option `--odd` is not described"),
        ("--out", "the option `--out` is not described"),
        ("--o=f", "the option `--o` is not described"),
        ("-n", "the option `-n` without its value"),
        ("--output", "the option `--output` without its value"),
        ("-n ??", "the value of `-n` is not known"),
        ("-5", "the option `-5` is not described"),
    ],
)
def test_words_that_are_not_understood(line: str, complaint: str) -> None:
    assert unknowns(read_arguments(GNU, words(line))) == [complaint]


def test_an_abbreviation_of_options_that_do_the_same_is_one() -> None:
    both = program('options = """\n--alike FILE : write\n--alive FILE : write\n"""')
    assert uses(read_arguments(both, words("--ali=f"))) == [("write", "f")]


def test_a_long_name_with_one_dash_is_no_cluster() -> None:
    reading = read_arguments(GNU, words("-long"))
    assert [effect for effect, *_ in reading.effects] == ["network"]


def test_only_a_question_alone_is_answered() -> None:
    assert read_arguments(GNU, words("--help")).info
    assert not read_arguments(GNU, words("--help -a")).info
    assert not read_arguments(GNU, words("?")).info


def test_a_word_that_is_not_known_can_be_an_option() -> None:
    assert read_arguments(GNU, words("a ?")).wild is not None
    assert read_arguments(GNU, [Field(None, 0, 1, sure=False, prefix="./")]).wild is None
    assert read_arguments(GNU, words("-- ?")).wild is None
    assert read_arguments(GNU, words("a|b")).wild is None
    assert read_arguments(GNU, words("-a|b")).wild is not None


@pytest.mark.parametrize(
    ("line", "command", "rest"),
    [("-x ls a ; b", ["ls", "a"], [("read", "b")]), ("-x ls", ["ls"], []), ("-xls a", ["ls", "a"], [])],
)
def test_an_option_that_takes_a_command(line: str, command: list[str], rest: list[tuple[str, str]]) -> None:
    reading = read_arguments(GNU, words(line))
    assert [[field.text for field in one] for one in reading.commands] == [command]
    assert uses(reading) == rest


SINGLE = program('''style = "single"
numeric = true
operands = "read*"
options = """
-name TEXT
-o FILE   : write
-W [KIND]
-v
-fx=y
--two
+p FILE   : write
"""''')


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("-name n a", [("text", "n"), ("read", "a")]),
        ("-name=n", [("text", "n")]),
        ("--name n", [("text", "n")]),
        ("-o f -of", [("write", "f"), ("write", "f")]),
        ("-Wall -W", [("text", "all")]),
        ("-v -5 --two -two", []),
        ("-fx=y a", [("read", "a")]),
        ("+p f +q", [("write", "f"), ("read", "+q")]),
    ],
)
def test_words_of_a_program_with_single_dashes(line: str, wanted: list[tuple[str, str]]) -> None:
    reading = read_arguments(SINGLE, words(line))
    assert uses(reading) == wanted
    assert unknowns(reading) == []


@pytest.mark.parametrize("line", ["-vv", "-xyz", "--odd", "-va=b"])
def test_single_dashes_that_are_not_understood(line: str) -> None:
    assert unknowns(read_arguments(SINGLE, words(line))) == [f"the option `{line.partition('=')[0]}` is not described"]


NUMERIC = program('numeric = true\noperands = "read*"\noptions = "-n N"')


def test_numbers_as_options() -> None:
    assert uses(read_arguments(NUMERIC, words("-5 -20 f"))) == [("read", "f")]
    assert uses(read_arguments(NUMERIC, words("-5n3 f"))) == [("text", "3"), ("read", "f")]


WRAPPER = program('style = "posix"\noperands = "text argv"\noptions = """\n-k N\n-- -h : info\n"""')


def test_options_of_a_wrapper_end_at_its_first_operand() -> None:
    reading = read_arguments(WRAPPER, words("-k 1 5 ls -k -l"))
    assert [field.text for field in reading.commands[0]] == ["ls", "-k", "-l"]
    assert uses(reading) == [("text", "1"), ("text", "5")]


def test_nothing_is_an_option_where_the_style_says_so() -> None:
    plain = program('style = "none"\noperands = "read*"')
    assert uses(read_arguments(plain, words("-a --b"))) == [("read", "-a"), ("read", "--b")]


@pytest.mark.parametrize(
    ("operands", "line", "wanted"),
    [
        ("read write", "a b", [("read", "a"), ("write", "b")]),
        ("read* write", "a b c", [("read", "a"), ("read", "b"), ("write", "c")]),
        ("read* write", "a", [("write", "a")]),
        ("read* write", "", []),
        ("text read* write delete", "a b c d", [("text", "a"), ("read", "b"), ("write", "c"), ("delete", "d")]),
        ("text read* write delete", "a b", [("text", "a"), ("delete", "b")]),
        ("text? read?", "a", [("text", "a")]),
        ("read write", "a", [("read", "a")]),
        ("read write*", "", []),
        ("text read*", "??", [("text", None), ("read", None)]),
        ("read* write", "a ??", [("read", "a"), ("read", None), ("write", None)]),
    ],
)
def test_operands_get_their_roles(operands: str, line: str, wanted: list[tuple[str, str | None]]) -> None:
    assert uses(read_arguments(program(f'operands = "{operands}"'), words(line))) == wanted


def test_operands_that_are_too_many() -> None:
    assert unknowns(read_arguments(program('operands = "read"'), words("a b c"))) == ["an operand that is not described"] * 2


def test_a_command_that_is_not_known() -> None:
    reading = read_arguments(program('operands = "text argv"'), words("??"))
    assert unknowns(reading) == ["the command that it runs is not known"]


def test_what_is_implied_without_operands() -> None:
    implied = program('operands = "list*"\nimplied = "."')
    assert uses(read_arguments(implied, [])) == [("list", ".")]
    assert uses(read_arguments(implied, words("a"))) == [("list", "a")]


def test_directives_of_options() -> None:
    told = program('''effects = ["network", "install"]
operands = "read write"
options = """
-n        : only=list
-d        : drop=install
-s        : operands=write
-r        : recursive
"""''')
    assert [e for e, *_ in read_arguments(told, words("a b")).effects] == ["network", "install"]
    assert [e for e, *_ in read_arguments(told, words("-d a b")).effects] == ["network"]
    only = read_arguments(told, words("-n a b"))
    assert (uses(only), only.effects) == ([("list", "a"), ("list", "b")], [])
    assert uses(read_arguments(told, words("-s a"))) == [("write", "a")]
    assert read_arguments(told, words("-r a b")).recursive
    assert not read_arguments(told, words("a b")).recursive


def test_an_unknown_word_is_not_dropped() -> None:
    told = program('effects = ["unknown"]\noptions = "-s : drop=unknown"')
    assert [e for e, *_ in read_arguments(told, words("-s")).effects] == []
    assert unknowns(read_arguments(told, words("-s -z"))) == ["the option `-z` is not described"]


TREE = program('''globals = "anywhere"
options = """
-C DIR  : read
--help  : info
"""
[sub.get]
operands = "read*"
options = "-o FILE : write"
also = ["fetch"]
[sub.remote]
effects = ["network"]
[sub.remote.sub.add]
operands = "text"
recursive = true''')


@pytest.mark.parametrize(
    ("line", "path", "wanted"),
    [
        ("get a", ["get"], [("read", "a")]),
        ("fetch a", ["fetch"], [("read", "a")]),
        ("-C d get -o f a", ["get"], [("read", "d"), ("write", "f"), ("read", "a")]),
        ("get -C d a", ["get"], [("read", "d"), ("read", "a")]),
        ("-- get a", ["get"], [("read", "a")]),
        ("remote add x", ["remote", "add"], [("text", "x")]),
    ],
)
def test_subcommands(line: str, path: list[str], wanted: list[tuple[str, str]]) -> None:
    reading = read_arguments(TREE, words(line))
    assert (reading.path, uses(reading), unknowns(reading)) == (path, wanted, [])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "without a subcommand"),
        ("-C d", "without a subcommand"),
        ("set a", "the subcommand `set` is not described"),
        ("? a", "a subcommand that is not known"),
        ("remote set", "the subcommand `set` is not described"),
    ],
)
def test_subcommands_that_are_not_known(line: str, complaint: str) -> None:
    assert unknowns(read_arguments(TREE, words(line))) == [complaint]


def test_a_program_that_says_what_it_does_without_a_subcommand() -> None:
    assert [e for e, *_ in read_arguments(TREE, words("remote")).effects] == ["network"]
    assert unknowns(read_arguments(TREE, words("--help"))) == []
    assert unknowns(read_arguments(program('bare = "info"\n[sub.a]\nsummary = "a"'), [])) == []


def test_uses_before_the_subcommand_are_counted() -> None:
    assert read_arguments(TREE, words("-C d get a")).globals == 1
    assert read_arguments(TREE, words("remote add x")).recursive
