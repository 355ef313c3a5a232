"""Seeded sources of bash commands for the oracle.

Four kinds, because they find different mistakes: `grammar` makes realistic valid text, `fuzz` fills
templates with hostile tokens, `mutation` bends lines that are known to mislead parsers, and `described`
puts the examples of all described programs into wrappers, pipes, loops and substitutions. The command at
one index depends on the seed, the kind and that index only, so a failure can be repeated alone.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

import stockade.shell
from tests.oracle.grammar import random_program

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
DESCRIPTIONS = Path(stockade.shell.__file__).resolve().parent / "programs"

FRAGMENT_COUNTS = (1, 1, 1, 2, 2, 3, 4)
MAX_HOLES = 8


def generate(seed: int, count: int, kind: str | None = None) -> Iterator[str]:
    """Yield `count` commands of one kind, or of all kinds in turn when `kind` is None.

    Raises `KeyError` for a kind that is not in `KINDS`.
    """
    names = tuple(KINDS) if kind is None else (kind,)
    for index in range(count):
        name = names[index % len(names)]
        yield KINDS[name](Random(f"{seed}/{name}/{index}"))


def _from_template(rng: Random) -> str:
    data = _fuzz_data()
    skeleton = rng.choice(data["skeletons"])
    return skeleton.format(*(_fragments(rng) for _ in range(MAX_HOLES)))


def _fragments(rng: Random) -> str:
    return "".join(rng.choices(_fuzz_data()["fragments"], k=rng.choice(FRAGMENT_COUNTS)))


def _from_tricky_line(rng: Random) -> str:
    text = rng.choice(tricky_lines())
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = rng.choice(MUTATIONS)(text, rng)
    return text


def _insert(text: str, rng: Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_fuzz_data()["fragments"]) + text[at:]


def _delete(text: str, rng: Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.choice((1, 1, 2, 4)) :]


def _swap_blank(text: str, rng: Random) -> str:
    blanks = [at for at, character in enumerate(text) if character in " \n;"]
    if not blanks:
        return text
    at = rng.choice(blanks)
    return text[:at] + rng.choice(("\n", "\t", ";", " \\\n", "  ", " # ", " && ", " | ")) + text[at + 1 :]


def _join(text: str, rng: Random) -> str:
    return text + rng.choice(("\n", "; ", " && ", " | ", " || ", " & ")) + rng.choice(tricky_lines())


def _splice(text: str, rng: Random) -> str:
    other = rng.choice(tricky_lines())
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _wrap(text: str, rng: Random) -> str:
    frame = rng.choice(
        (
            "{{ {}\n}}",
            "( {} )",
            "if {}\nthen rm w; fi",
            "f() {{ {}\n}}; f",
            "echo $({}\n)",
            "ls && {}",
            "! {}",
            'echo "$({})"',
        )
    )
    if rng.random() < 0.3:
        return rng.choice(("bash -c {}", "eval {}", "timeout 5 bash -c {}")).format(shlex.quote(text))
    return str(frame.format(text))


MUTATIONS: tuple[Callable[[str, Random], str], ...] = (
    _insert,
    _insert,
    _delete,
    _swap_blank,
    _join,
    _splice,
    _wrap,
)

_FRAMES = (
    "{0}", "{0}", "{0} | {1}", "{0} && {1}", "{0}; {1}", "! {0} || {1}", "( {0}; {1} )", "{{ {0}; }} > out", "{0} 2>&1 | {1}",
    "x=$({0}); {1}", 'echo "$({0})"', "cat <({0})", "{0} > >({1})", "if {0}; then {1}; else {0}; fi",
    "while {0}; do {1}; break; done",
    "for f in a b; do {0}; done", "case a in a) {0};; *) {1};; esac", "f() {{ {0}; }}; f", "{0} &", "time {0}", "timeout 5 {0}",
    "env A=1 {0}", "nice {0}", "nohup {0}", "command {0}", "stdbuf -oL {0}", "bash -c {2}", "sh -c {2}", "eval {2}",
    "bash <<< {2}",
    "cat <<E | bash\n{0}\nE", "echo a b | xargs {0}", "find . -exec {0} \\;", "trap {2} EXIT", "cd src && {0}", "coproc {0}",
)  # fmt: skip


def _from_descriptions(rng: Random) -> str:
    """One or two examples in a frame, now and then with a word changed."""
    one, two = (_bent(rng.choice(described_lines()), rng) for _ in range(2))
    return rng.choice(_FRAMES).format(one, two, shlex.quote(one))


def _bent(text: str, rng: Random) -> str:
    words = text.split(" ")
    if len(words) > 1 and rng.random() < 0.5:
        at = rng.randrange(len(words))
        if re.fullmatch(r"[\w./=-]+", words[at]):
            words[at] = rng.choice(
                (f"'{words[at]}'", f'"{words[at]}"', f"\\{words[at]}", f"$v{words[at]}", f'"$v"{words[at]}', words[at] + "*")
            )
    return " ".join(words)


@cache
def described_lines() -> list[str]:
    """The examples of the program descriptions that fit on a line and read nobody's output."""
    found = []
    for path in sorted(DESCRIPTIONS.glob("*.toml")):
        for example in tomllib.loads(path.read_text(encoding="utf-8"))["example"]:
            text = example["command"]
            if "\n" not in text and len(text) < 200 and not re.search(r"[$`|<>~]|:\(\)", text):
                found.append(text)
    return found


KINDS: dict[str, Callable[[Random], str]] = {
    "grammar": random_program,
    "fuzz": _from_template,
    "mutation": _from_tricky_line,
    "described": _from_descriptions,
}


@cache
def _fuzz_data() -> dict[str, list[str]]:
    data: dict[str, list[str]] = json.loads((CORPUS / "fuzz_fragments.json").read_text())
    return data


@cache
def tricky_lines() -> tuple[str, ...]:
    """The commands of the wrong-parse corpus."""
    rows = (CORPUS / "wrong_parses.jsonl").read_text().splitlines()
    return tuple(json.loads(row)["command"] for row in rows)
