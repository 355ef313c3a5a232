"""Our reader against bash's own parser, in a child process: the same simple commands with the same words."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from stockade.shell.parsing import parse
from stockade.shell.syntax import Assign, Heredoc, Lit, Simple, Word, byte_view, text_of
from tests.oracle.generate import generate
from tests.support.corpora import rows
from tests.support.required import missing

CHILD = Path(__file__).resolve().parents[1] / "support" / "libbash_child.py"


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    if find_spec("libbash") is None:
        missing("libbash (bash's parser as a library)")


def theirs(texts: list[str]) -> Iterator[list[list[str]] | str | None]:
    """What bash's parser sees; `crashed` where it took its process down."""
    at = 0
    while at < len(texts):
        given = "".join(json.dumps(text) + "\n" for text in texts[at:])
        done = subprocess.run(
            [sys.executable, str(CHILD)], input=given, capture_output=True, text=True, errors="replace", check=False
        )
        answers = done.stdout.splitlines()
        for line in answers:
            yield json.loads(line)
        at += len(answers)
        if at < len(texts):
            yield "crashed"
            at += 1


def ours(view: str, node: Any, out: list[list[str]]) -> None:
    """The source of the words of every simple command outside substitutions."""
    if isinstance(node, Simple):
        words = sorted((*node.assigns, *node.words), key=lambda word: word.start)
        if words:
            out.append([text_of(view[word.start : word.end]) for word in words])
        return
    if isinstance(node, Word | Assign | Heredoc | Lit):
        return
    for child in node if isinstance(node, tuple) else ():
        ours(view, child, out)


def plain(words: list[list[str]]) -> list[list[str]]:
    """Without what the two write in their own way: continuations, blanks in arrays, text of substitutions.

    bash prints a substitution anew (`>&2` as `1>&2`); what is inside is compared by execution.
    """
    shown = [[_word(word) for word in command] for command in words]
    return [command for command in shown if command]


def _word(word: str) -> str:
    if any(mark in word for mark in ("$(", "`", "<(", ">(")):
        return "§"
    return "".join(word.replace("\\\n", "").split())


@pytest.mark.parametrize("source", ["corpora", "grammar", "fuzz"])
def test_the_same_commands_with_the_same_words(source: str) -> None:
    if source == "corpora":
        texts = [row["command"] for name in ("readonly", "benign", "everyday", "gtfo", "bypass", "floor") for row in rows(name)]
    else:
        texts = list(generate(23, 1500, source))
    texts = [text for text in dict.fromkeys(texts) if text.isprintable() or "\n" in text]
    differ = []
    compared = 0
    for text, expected in zip(texts, theirs(texts), strict=True):
        view = byte_view(text)
        parsed = parse(view)
        if parsed.error is not None or not isinstance(expected, list) or any(mark in text for mark in KNOWN_DIFFERENCES):
            continue
        found: list[list[str]] = []
        ours(view, parsed.script, found)
        compared += 1
        if plain(found) != plain(expected):
            differ.append((text, found, expected))
    assert compared > len(texts) // 5  # most of the hostile lines are rejected by bash
    assert differ == []


# How bash's parser shows a word is not how it stands in the source.
KNOWN_DIFFERENCES = (
    "$'",  # replaced by its value
    '$"',  # replaced by the translated text
    "<<",  # here-documents are printed in their own way
    "coproc",  # a command of its own type
    "let ",
    "time",
)
