"""What counts as held: a probe that breaks never does."""

from __future__ import annotations

import pytest

from tests.probes.probe import Probe
from tests.probes.running import Answer, judge, read_answer

REFUSED = Probe(id="x", trap="2.1", group="files", expect="refused", code="pass", errno=("EPERM",))
WORKS = Probe(id="x", trap="2.1", group="files", expect="works", code="pass")
SHELL = Probe(id="x", trap="2.1", group="files", expect="refused", shell="true", errno=("EROFS",))


@pytest.mark.parametrize(
    ("probe", "answer", "problems"),
    [
        (REFUSED, Answer(("EPERM",), 0, ""), []),
        (REFUSED, Answer(("",), 0, ""), ["it worked"]),
        (REFUSED, Answer(("EPERM", ""), 0, ""), ["it worked"]),
        (REFUSED, Answer(("EIO",), 0, ""), ["refused with EIO"]),
        (REFUSED, Answer((), 1, "no such program"), ["broken: it said nothing (status 1): no such program"]),
        (WORKS, Answer(("",), 0, ""), []),
        (WORKS, Answer(("EPERM",), 0, ""), ["refused with EPERM: "]),
        (WORKS, Answer(("",), 1, "an assertion"), ["broken: status 1: an assertion"]),
        (WORKS, Answer((), 0, ""), ["broken: it said nothing (status 0): "]),
    ],
)
def test_judge(probe: Probe, answer: Answer, problems: list[str]) -> None:
    assert judge(probe, answer) == problems


@pytest.mark.parametrize(
    ("probe", "stdout", "stderr", "status", "said"),
    [
        (WORKS, "noise\nPROBE ok\nPROBE refused EPERM\n", "", 0, ("", "EPERM")),
        (WORKS, "a line that says PROBE ok\n", "", 0, ()),
        (WORKS, "", "", 137, ("SIGKILL",)),
        (SHELL, "", "", 0, ("",)),
        (SHELL, "", "bash: f: Read-only file system\n", 1, ("EROFS",)),
        (SHELL, "", "something else\n", 1, ("STATUS",)),
    ],
)
def test_read_answer(probe: Probe, stdout: str, stderr: str, status: int, said: tuple[str, ...]) -> None:
    assert read_answer(probe, stdout, stderr, status) == said
