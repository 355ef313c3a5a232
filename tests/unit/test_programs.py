"""Every description follows the format, and every example gets the verdict that it names."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from stockade.model.verdict import Verdict
from stockade.shell import catalog
from stockade.shell.catalog import DescriptionError, compile_text
from stockade.shell.readers import READERS, reader
from tests.support.corpora import judged, policy

FOLDER = Path(catalog.__file__).parent / "programs"
FILES = sorted(FOLDER.glob("*.toml"))


def examples(path: Path) -> list[dict[str, Any]]:
    return tomllib.loads(path.read_text(encoding="utf-8"))["example"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_description(path: Path) -> None:
    compiled = compile_text(path.read_text(encoding="utf-8"), path.name)
    assert compiled["reader"] == "" or compiled["reader"] in READERS
    assert {e["want"] for e in examples(path)} >= {"allow", "ask"} - ONE_SIDED.get(compiled["name"], set())


# Programs without a form that asks: said here, not hidden.
ONE_SIDED = {"stockade": {"ask"}}  # what it may not do is floor


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_examples(path: Path) -> None:
    wrong = []
    for example in examples(path):
        assert set(example) <= {"command", "want", "smart", "note"}, example
        strict = judged(example["command"], policy("bash-ask")).verdict
        smart = judged(example["command"], policy("smart")).verdict
        wanted = Verdict.parse(example["want"])
        may = Verdict.parse(example.get("smart", example["want"]))
        if strict is not wanted or smart is not may:
            wrong.append((example["command"], f"{strict}, in smart {smart}", f"wanted {wanted}, in smart {may}"))
    assert wrong == []


def test_no_name_is_described_twice() -> None:
    catalog.pack()  # raises DescriptionError


@pytest.mark.parametrize("name", sorted(READERS))
def test_reader_exists(name: str) -> None:
    assert callable(reader(name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 'x'", "`summary` is missing"),
        ("name = 'x'\nsummary='s'\nsource='s'\noops=1\n[[example]]\ncommand='x'", "unknown key `oops`"),
        ("name = 'x'\nsummary='s'\nsource='s'\nstyle='odd'\n[[example]]\ncommand='x'", "`style` of `x`"),
        ("name = 'x'\nsummary='s'\nsource='s'\noperands='reed*'\n[[example]]\ncommand='x'", "`reed` in the operands"),
        ("name = 'x'\nsummary='s'\nsource='s'\noperands='read* read*'\n[[example]]\ncommand='x'", "two starred operands"),
        ("name = 'x'\nsummary='s'\nsource='s'\neffects=['boom']\n[[example]]\ncommand='x'", "`boom` in `x` is no effect"),
        ("name = 'x'\nsummary='s'\nsource='s'\noptions='-a A B'\n[[example]]\ncommand='x'", "is not understood"),
        ("name = 'x'\nsummary='s'\nsource='s'\noptions='-a : wriet'\n[[example]]\ncommand='x'", "neither a role"),
        ("name = ", "not valid TOML"),
    ],
)
def test_errors_name_file_and_place(text: str, message: str) -> None:
    with pytest.raises(DescriptionError, match=r"x\.toml") as caught:
        compile_text(text, "x.toml")
    assert message in str(caught.value)
