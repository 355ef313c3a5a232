"""`stockade config`: check the configuration, print its schema, say where it lies."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import Any, NamedTuple

from stockade.cli.args import Formatter
from stockade.cli.common import UsageError, World, open_world
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint, visible
from stockade.config.layers import PROJECT_FILE, merge
from stockade.config.problems import Problem
from stockade.config.sources import read_source

_EPILOG = """examples:
  stockade config validate
  stockade config validate .stockade/config.toml
  stockade config schema > stockade.schema.json
  stockade config path

exit codes: 0 (validate: no error), 1 validate found an error, 2 usage"""
_SEVERITY = {"error": "red", "warning": "yellow", "note": "dim"}


class Place(NamedTuple):
    """A file of a layer: its path, and how it is shown."""

    layer: str
    path: str
    shown: str

    @property
    def exists(self) -> bool:
        return os.path.lexists(self.path)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade config", description="Check the configuration, print its schema, or say which files it is read from.",
        epilog=_EPILOG, formatter_class=Formatter,
    )  # fmt: skip
    subs = made.add_subparsers(dest="what", required=True, metavar="{validate,schema,path}")
    validate = subs.add_parser("validate", help="show every problem of every file", description="Show every problem at once.")
    validate.add_argument("file", nargs="?", metavar="FILE", help="check this file alone (default: all files that are read here)")
    validate.add_argument("--json", action="store_true", help="print the problems as JSON")
    subs.add_parser("schema", help="print the JSON Schema of a file", description="Print the JSON Schema (2020-12) of a file.")
    path = subs.add_parser("path", help="show which files are read", description="Show which files are read, lowest layer first.")
    path.add_argument("--json", action="store_true", help="print the files as JSON")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    if options.what == "schema":
        from stockade.cli.schema import schema

        print(json.dumps(schema(), indent=2, ensure_ascii=True))
        return 0
    if options.what == "path":
        return _path(as_json=options.json)
    return _validate(options.file, as_json=options.json)


# -- where the files are --------------------------------------------------------------------------


def places_of(world: World) -> list[Place]:
    """The files that were looked for, lowest layer first; a preset is part of the package."""
    known = {PROJECT_FILE: os.path.join(world.context.workspace, PROJECT_FILE)}
    found = []
    for file in world.loaded.files:
        if file.layer == "builtin":
            continue
        path = known.get(file.file, file.file) if file.layer == "project" else file.file
        if file.layer == "user" and file.file.startswith("~/"):
            path = world.places.user_file
        found.append(Place(file.layer, os.path.abspath(path), file.file))
    for own in world.loaded.descriptions.all():
        home = os.path.join(world.context.home, own.file.removeprefix("~/")) if own.file.startswith("~/") else own.file
        found.append(Place(own.layer, os.path.join(world.context.workspace, home), own.file))
    return found


def _path(*, as_json: bool) -> int:
    world = open_world()
    found = places_of(world)
    if as_json:
        print(json.dumps([{"layer": p.layer, "path": p.path, "exists": p.exists} for p in found]))
        return 0
    on = colourful(sys.stdout)
    rows = [[p.layer, paint("read", "green", on=on) if p.exists else "not there", one_line(p.path)] for p in found]
    print("\n".join(table(rows)))
    return 0


# -- validate -------------------------------------------------------------------------------------


def _validate(file: str | None, *, as_json: bool) -> int:
    problems, found = _named(file) if file is not None else _all()
    errors = sum(p.severity == "error" for p in problems)
    if as_json:
        print(json.dumps(_json(problems, found)))
        return 1 if errors else 0
    texts = {place.shown: _text(place.path) for place in found}
    on = colourful(sys.stdout)
    for problem in problems:
        print("\n".join(problem_lines(problem, texts.get(problem.file, ""), on=on)))
    print(_count(problems, found))
    return 1 if errors else 0


def _named(file: str) -> tuple[list[Problem], list[Place]]:
    """The problems of one file, as it would be read if it were the user's."""
    source = read_source(file, shown=file, layer="user")
    if source.text is None and not source.problems:
        raise UsageError(f"`{one_line(file)}` is not there; `stockade config path` shows the files that are read")
    return list(merge([source]).problems), [Place("user", file, file)]


def _all() -> tuple[list[Problem], list[Place]]:
    world = open_world()
    return list(world.loaded.problems), places_of(world)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(1 << 20)
    except OSError:
        return ""


def _json(problems: list[Problem], found: list[Place]) -> dict[str, Any]:
    counts = {severity: sum(p.severity == severity for p in problems) for severity in _SEVERITY}
    return {
        "v": 1, "ok": not counts["error"], "errors": counts["error"], "warnings": counts["warning"], "notes": counts["note"],
        "files": [{"layer": p.layer, "path": p.path, "exists": p.exists} for p in found],
        "problems": [p._asdict() for p in problems],
    }  # fmt: skip


def _count(problems: list[Problem], found: list[Place]) -> str:
    files = [place.shown for place in found if place.exists]
    where = f"in {one_line(', '.join(files))}" if files else "and no file: the defaults hold (`stockade init` writes one)"
    said = []
    for severity in _SEVERITY:
        count = sum(p.severity == severity for p in problems)
        if count:
            said.append(f"{count} {severity}{'s' if count > 1 else ''}")
    return f"{', '.join(said) or 'no problem'} {where}"


# -- one problem ----------------------------------------------------------------------------------


def problem_lines(problem: Problem, text: str, *, on: bool) -> list[str]:
    """`file:line: severity: message`, the hint, and the line of the file with carets."""
    place = f"{problem.file}:{problem.line}" if problem.line else problem.file
    severity = paint(problem.severity, _SEVERITY.get(problem.severity, "bold"), on=on)
    lines = [f"{one_line(place)}: {severity}: {one_line(problem.message)}"]
    if problem.hint:
        lines.append(f"  {one_line(problem.hint)}")
    rows = text.split("\n")
    if 0 < problem.line <= len(rows):
        lines += _pointed(problem, rows[problem.line - 1].rstrip("\r"), text)
    return lines


def _pointed(problem: Problem, row: str, text: str) -> list[str]:
    gutter = f"  {problem.line:>4} | "
    lines = [gutter + visible(row).replace("\t", " ")]
    span = _span(problem, row, text)
    if span is not None:
        before, inside = (len(visible(part)) for part in (row[: span[0]], row[span[0] : span[1]]))
        lines.append(" " * (len(gutter) + before) + "^" * max(inside, 1))
    return lines


def _span(problem: Problem, row: str, text: str) -> tuple[int, int] | None:
    """The part of a line that a message names; for a value of the wrong kind that is the value."""
    if problem.code == "config/syntax":
        return _column(row, text)
    named = [word.removesuffix("…") for word in re.findall(r"`([^`]+)`", problem.message)]
    if problem.code == "config/wrong-type":
        named.reverse()
    for word in named:
        at = row.find(word)
        if word and at >= 0:
            return at, at + len(word)
    return None


def _column(row: str, text: str) -> tuple[int, int] | None:
    """Where the TOML reader stopped; it says so in its message only."""
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        m = re.search(r"column (\d+)", str(error))
        if m is not None:
            at = min(int(m.group(1)) - 1, len(row))
            return at, at + 1
    return None


__all__ = ["Place", "parser", "places_of", "problem_lines", "run"]
