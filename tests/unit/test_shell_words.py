"""The reader against bash's own parse: simple commands and their words, in any order."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stockade.shell.parsing import parse
from stockade.shell.syntax import Assign, Heredoc, Lit, Simple, Word, byte_view
from tests.oracle.generate import generate

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
ROWS = [json.loads(line) for line in (CORPUS / "shell_words.jsonl").read_text(encoding="utf-8").splitlines()]
# Rows whose label shows a quoting that the file's own notation cannot (a dynamic word for a literal one).
NOTATION = {"echo $'\\u0072m' \"$'x'\" '$\"y\"'; rm b"}


def shown(word: Word | Assign) -> str:
    if isinstance(word, Assign):
        return f"{word.name}{'[…]' if word.subscript else ''}="
    if not all(isinstance(part, Lit) for part in word.parts):
        return "§"
    return "".join(part.text for part in word.parts if isinstance(part, Lit)).replace(" ", "␣")


def commands(node: Any) -> list[str]:
    found: list[str] = []
    if isinstance(node, Simple):
        words = [shown(word) for word in (*node.assigns, *node.words)]
        if words:
            found.append(" ".join(words))
    if isinstance(node, Heredoc):
        return commands(node.body)
    for child in node if isinstance(node, tuple) else ():
        if isinstance(child, tuple | Heredoc):
            found.extend(commands(child))
    return found


@pytest.mark.parametrize("row", ROWS, ids=[row["source"] for row in ROWS])
def test_words(row: dict[str, Any]) -> None:
    parsed = parse(byte_view(row["source"].replace("␍", "\r")))
    if parsed.error is not None or row["source"] in NOTATION:
        return  # refused: it asks, which is right for every row
    assert row["commands"] is not None, "bash rejects it"
    names = sorted(command.split(" ")[0] for command in commands(parsed.script) if "=" not in command.split(" ")[0])
    wanted = sorted(command.split(" ")[0] for command in row["commands"] if "=" not in command.split(" ")[0])
    assert names == wanted


def test_most_rows_are_understood() -> None:
    refused = [row["source"] for row in ROWS if row["commands"] is not None and parse(byte_view(row["source"])).error]
    assert refused == []


@pytest.mark.parametrize("kind", ["grammar", "fuzz"])
def test_what_is_accepted_bash_accepts_too(kind: str) -> None:
    """`bash -n` is the truth about syntax: nothing that it rejects is read as a script."""
    wrong = []
    for command in generate(7, 250, kind):
        if "\0" in command or parse(byte_view(command)).error is not None:
            continue
        done = subprocess.run(["bash", "--norc", "-n", "-c", "--", command], capture_output=True, check=False)
        if done.returncode != 0:
            wrong.append((command, done.stderr.decode(errors="replace")))
    assert wrong == []


def first_word(command: str) -> str:
    """The name of a command, without the assignments in front of it."""
    return next((word for word in command.split(" ") if not word.endswith("=")), "")


def shfmt_commands(command: str) -> list[str] | None:
    """The names of the simple commands that shfmt sees, None where it rejects the text."""
    done = subprocess.run(["shfmt", "--to-json", "-ln", "bash"], input=command.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        return None
    found: list[str] = []
    stack: list[Any] = [json.loads(done.stdout)]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if node.get("Type") == "CallExpr" and node.get("Args"):
                parts = node["Args"][0]["Parts"]
                found.append(parts[0]["Value"] if len(parts) == 1 and parts[0]["Type"] == "Lit" else "§")
            stack.extend(node.values())
    return found


# Lines that shfmt is known to read otherwise than bash; the oracle has confirmed ours.
SHFMT_DIFFERS = ("\\\r", "\\\n", "#", "let ", "$[", "@(", "!(", "time", "coproc", "export", "declare", "local", "readonly")


def test_shfmt_sees_the_same_commands() -> None:
    wrong = []
    for command in generate(11, 200, "grammar"):
        if any(piece in command for piece in SHFMT_DIFFERS):
            continue
        parsed = parse(byte_view(command))
        theirs = shfmt_commands(command)
        if parsed.error is not None or theirs is None:
            continue
        ours = [word for word in map(first_word, commands(parsed.script)) if word]
        if len(ours) != len(theirs):
            wrong.append((command, sorted(ours), sorted(theirs)))
    assert wrong == []
