"""`analyze` against the rows of `effects.jsonl`: what a line must do, must not do, and where reading stops.

A row holds `area`, `command`, `note`, and what is expected: `effects` that must be there, `not_effects`
that must not, `argv` of one segment (or a list of them; null is a word that is not known), `program` of
one, `dormant` for the program of one that does not run, `complete`, and the code of an `error`.  `cwd`,
`env` and `env_complete` describe the machine.

An effect is its kind and what it is about: an absolute path, `under /x` for a name below a folder,
`anywhere` for a path that nothing is known of, the code, a piece of the detail, or null for anything.
"""

from __future__ import annotations

import json
import posixpath
from pathlib import Path
from typing import Any

import pytest

from stockade.model.context import Context
from stockade.model.effects import Effect, Kind
from stockade.shell import Analysis, analyze

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "effects.jsonl"
ROWS = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
KEYS = frozenset(
    ("area", "command", "note", "program", "argv", "effects", "not_effects", "complete", "error", "cwd", "env", "env_complete",
     "dormant")
)  # fmt: skip
EXPECTATIONS = ("effects", "not_effects", "argv", "program", "dormant", "complete", "error")
WORKSPACE, HOME = "/home/dev/app", "/home/dev"


def is_about(effect: Effect, what: str | None) -> bool:
    target = effect.target
    if what is None:
        return True
    if what.startswith("/"):
        return target is not None and target.path == what
    if what == "anywhere":
        return target is not None and target.path is None and not target.under
    if what.startswith("under "):
        return target is not None and target.path is None and target.under != "" and posixpath.normpath(target.under) == what[6:]
    return what == effect.code or what in effect.detail


def has(analysis: Analysis, wanted: list[str | None]) -> bool:
    kind = Kind(wanted[0])
    return any(e.kind is kind and is_about(e, wanted[1]) for segment in analysis.segments for e in segment.effects)


def wrong(row: dict[str, Any], analysis: Analysis) -> list[str]:
    """What the row expects and the analysis does not say."""
    found = [f"effect {wanted} is missing" for wanted in row.get("effects", []) if not has(analysis, wanted)]
    found += [f"effect {other} must not be" for other in row.get("not_effects", []) if has(analysis, other)]
    vectors = row.get("argv", [])
    for vector in vectors if vectors and isinstance(vectors[0], list) else [vectors] if vectors else []:
        if tuple(vector) not in [segment.argv for segment in analysis.segments]:
            found.append(f"no segment is {vector}")
    if "program" in row and row["program"] not in [segment.program for segment in analysis.segments]:
        found.append(f"no segment runs `{row['program']}`")
    if "dormant" in row and row["dormant"] not in [segment.program for segment in analysis.segments if segment.dormant]:
        found.append(f"no dormant segment runs `{row['dormant']}`")
    if "complete" in row and row["complete"] is not analysis.complete:
        found.append(f"complete is {analysis.complete}")
    code = analysis.error[0] if analysis.error is not None else None
    if code != row.get("error"):
        found.append(f"the error is {analysis.error}")
    return found


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['area']} {at}" for at, row in enumerate(ROWS)])
def test_row(row: dict[str, Any]) -> None:
    assert set(row) <= KEYS, row
    assert row["note"]
    assert any(row.get(name) not in (None, [], "") for name in EXPECTATIONS), "the row expects nothing"
    context = Context(row.get("cwd", WORKSPACE), WORKSPACE, HOME, env=row.get("env"), env_complete=row.get("env_complete", False))
    analysis = analyze(row["command"], context)
    assert wrong(row, analysis) == [], analysis.segments


def test_no_row_stands_twice() -> None:
    seen = [json.dumps([row["command"], row.get("cwd"), row.get("env")]) for row in ROWS]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"effects": [["read", "/home/dev/app/g"]]}, "missing"),
        ({"effects": [["read", "anywhere"]]}, "missing"),
        ({"effects": [["read", "under /home"]]}, "missing"),
        ({"effects": [["write", None]]}, "missing"),
        ({"effects": [["read", "host"]]}, "missing"),
        ({"not_effects": [["read", None]]}, "must not be"),
        ({"argv": ["cat", "g"]}, "no segment is"),
        ({"argv": [["cat", "f"], ["ls"]]}, "no segment is"),
        ({"program": "ls"}, "no segment runs"),
        ({"dormant": "cat"}, "no dormant segment"),
        ({"complete": False}, "complete is"),
        ({"error": "syntax"}, "the error is"),
    ],
)
def test_a_wrong_expectation_is_noticed(row: dict[str, Any], complaint: str) -> None:
    found = wrong(row, analyze("cat f", Context(WORKSPACE, WORKSPACE, HOME)))
    assert len(found) == 1
    assert complaint in found[0]
