"""What counts as a miss."""

from __future__ import annotations

import shlex
from typing import NamedTuple

import pytest

from tests.oracle.compare import matches, missed, missed_names
from tests.oracle.generate import generate
from tests.oracle.layout import WORKDIR
from tests.oracle.sandbox import Exec, Oracle, Run
from tests.oracle.xtrace import BUILTINS, parse_trace

Words = tuple[str | None, ...]


class Segment(NamedTuple):
    argv: Words
    all_argvs: tuple[Words, ...] = ()
    writes: tuple[str | None, ...] = ()


class Analysis(NamedTuple):
    segments: tuple[Segment, ...]
    complete: bool = True


RUN = Run(
    execs=(
        Exec("/usr/bin/timeout", ("timeout", "5", "rm", "x")),
        Exec("/usr/bin/rm", ("rm", "x")),
        Exec("", ("nope",)),
    ),
    traced=parse_trace(b"\x01cd /tmp\n\x01y=1\n\x01declare -a y\n\x01nope\n\x01timeout 5 rm x\n"),
    files=frozenset({"out", "/tmp/z", "../home/y"}),
    status=0,
    syntax_error=False,
    timed_out=False,
)
FULL = (
    Segment(("cd", "/tmp")),
    Segment(("declare", "-a", "y=(a)")),
    Segment(("timeout", "5", "rm", "x"), (("rm", "x"),), ("/w/cwd/out", "/tmp/z")),
    Segment(("nope",), (), ("/w/home/y",)),
)


def test_covered_run_misses_nothing() -> None:
    assert missed(RUN, Analysis(FULL), cwd="/w/cwd") == []
    assert missed_names(RUN, Analysis(FULL)) == []


def test_everything_that_no_segment_covers_is_missed() -> None:
    assert missed(RUN, Analysis(()), cwd="/w/cwd") == [
        "ran `timeout 5 rm x`",
        "ran `rm x`",
        "ran builtin `cd /tmp`",
        "ran builtin `declare -a y`",
        "wrote `/tmp/z`",
        "wrote `/w/cwd/out`",
        "wrote `/w/home/y`",
    ]
    assert missed_names(RUN, Analysis(())) == ["looked up `nope`"]


def test_incomplete_analysis_misses_nothing() -> None:
    assert missed(RUN, Analysis((), complete=False), cwd="/w/cwd") == []
    assert missed_names(RUN, Analysis((), complete=False)) == []


def test_unknown_write_covers_all_files() -> None:
    unknown = Analysis((*FULL[:2], FULL[2]._replace(writes=(None,))))
    assert missed(RUN, unknown, cwd="/w/cwd") == []


@pytest.mark.parametrize(
    ("pattern", "words", "covered"),
    [
        (("rm", "x"), ("rm", "x"), True),
        (("/bin/rm", "x"), ("rm", "x"), True),
        (("rm", "/a/x"), ("rm", "x"), False),
        (("rm",), ("rm", "x"), False),
        (("rm", "x"), ("rm",), False),
        (("rm", None), ("rm",), True),
        (("rm", None), ("rm", "-rf", "x"), True),
        (("rm", None, "x"), ("rm", "x", "y", "x"), True),
        (("rm", None, "x"), ("rm", "x", "y"), False),
        (("rm", None, None, "a", "b", None, "c"), ("rm", "a", "a", "b", "b", "c"), True),
        ((None,), ("rm", "x"), True),
        ((None, "rm", "x"), ("/bin/rm", "x"), True),
        ((None, "x"), ("rm", "y"), False),
        ((), ("rm",), False),
        ((), (), True),
    ],
)
def test_matching(pattern: Words, words: tuple[str, ...], covered: bool) -> None:
    assert matches(pattern, words) is covered


def test_matching_many_unknown_fields_takes_few_steps() -> None:
    pattern = ("rm", *(None, "a") * 200, "b")
    assert not matches(pattern, ("rm", *("a",) * 2000))


def test_leaving_out_any_program_of_a_real_run_is_noticed(oracle: Oracle) -> None:
    for command in generate(3, 60, "grammar"):
        run = oracle.run(command.encode())
        files = tuple(f"{WORKDIR}/{name}" if name[0] != "/" else name for name in run.files)
        traced = (record.words for record in run.traced if record.words)
        builtins = tuple(Segment(words) for words in traced if words[0] in BUILTINS)
        ran = {execution.words for execution in run.execs if execution.path}
        everything = (*builtins, Segment(("tee",), (), files), *map(Segment, ran))
        assert missed(run, Analysis(everything), cwd=WORKDIR) == []
        for words in ran - {("tee",)} - {segment.argv for segment in builtins}:
            rest = tuple(segment for segment in everything if segment.argv != words)
            assert missed(run, Analysis(rest), cwd=WORKDIR) == [f"ran `{shlex.join(words)}`"]
