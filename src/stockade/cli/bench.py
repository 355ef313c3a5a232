"""`stockade bench guard`: scores guards that speak a hook protocol, Stockade first, in one table."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from stockade.bench.adapters import ADAPTERS
from stockade.bench.corpus import MEASURES, CorpusError, read
from stockade.bench.score import Guard, Score, child_env, ours, score
from stockade.cli.args import Formatter
from stockade.cli.common import UsageError
from stockade.cli.table import table
from stockade.cli.text import one_line

_EPILOG = """examples:
  stockade bench guard --corpus tests/corpus
  stockade bench guard --corpus corpora --guard 'other=other-guard hook' --adapter claude-hook --sample 200
  stockade bench guard --corpus corpora --json --svg scores.svg > scores.json

The corpus is a folder with any of floor, bypass, gtfo, readonly, benign .jsonl; its described home folder,
/home/dev, becomes a scratch folder with a project in it. No command of the corpus is run.
A guard is started without a shell, once for each command; with `stdin-json` it stays, and answers a line of
JSON with a line of JSON, as `stockade check --batch` does. Silence and errors count as letting a command run,
since that is what hosts do then.

adapters: claude-hook, gemini-hook, cursor-hook, copilot-hook, stdin-json, exit-code (0 allow, 10 ask, 11 deny)

exit codes: 0, 2 usage"""
_TITLES = {"floor": "floor stopped", "false-allow": "false allow", "false-prompt": "false prompt", "false-block": "false block"}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade bench", description="Measure guards. Nothing of a corpus is run.", epilog=_EPILOG,
        formatter_class=Formatter,
    )  # fmt: skip
    subs = made.add_subparsers(dest="what", required=True, metavar="{guard}")
    guard = subs.add_parser(
        "guard", help="score guards over a corpus", epilog=_EPILOG, formatter_class=Formatter,
        description="Score Stockade and other guards over a corpus: what they stop, let run, ask about and refuse, and how fast.",
    )  # fmt: skip
    guard.add_argument("--corpus", metavar="DIR", required=True, help="the folder of the corpus")
    guard.add_argument("--guard", metavar="COMMAND", action="append", default=[], help="another guard, `NAME=COMMAND` to name it")
    guard.add_argument(
        "--adapter", action="append", choices=sorted(ADAPTERS), default=[], metavar="NAME",
        help="how the guards are asked: once for all, or once for each `--guard` (default claude-hook)",
    )  # fmt: skip
    guard.add_argument("--sample", type=_count, default=0, metavar="N", help="at most N rows of each file, always the same ones")
    guard.add_argument("--jobs", type=_count, default=2, metavar="N", help="how many guards are started at a time (default 2)")
    guard.add_argument("--json", action="store_true", help="print the scores as JSON")
    guard.add_argument("--svg", metavar="FILE", help="write a picture of the scores")
    return made


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 1 up")
    return int(text)


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    guards = [ours(), *_guards(options.guard, options.adapter)]
    with tempfile.TemporaryDirectory(prefix="stockade-bench-") as scratch:
        home, project = _project(scratch)
        try:
            rows = read(options.corpus, home=home, sample=options.sample)
        except (CorpusError, OSError) as error:
            raise UsageError(str(error)) from None
        scores = []
        for guard in guards:
            progress = _Progress(guard.name, len(rows))
            scores.append(
                score(guard, rows, cwd=project, env=child_env(home), jobs=options.jobs, progress=progress.step)
            )  # fmt: skip
            progress.end()
    if options.svg:
        _write_picture(options.svg, scores)
    print(json.dumps(_json(scores, len(rows))) if options.json else "\n".join(_table(scores, len(rows))))
    return 0


def _guards(commands: list[str], adapters: list[str]) -> list[Guard]:
    if len(adapters) not in (0, 1, len(commands)):
        raise UsageError("give `--adapter` once for all guards, or once for each of them")
    found = []
    for at, text in enumerate(commands):
        name, equals, command = text.partition("=")
        if not equals or not name.replace("-", "").replace("_", "").isalnum():
            name, command = "", text
        try:
            argv = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"the guard `{one_line(text)}` cannot be read: {error}") from None
        program = shutil.which(argv[0]) if argv else None
        if program is None:
            raise UsageError(f"the guard `{one_line(text)}` cannot be started: there is no such program")
        chosen = (adapters or ["claude-hook"])[at if len(adapters) > 1 else 0]
        found.append(Guard(name or os.path.basename(argv[0]), (os.path.abspath(program), *argv[1:]), ADAPTERS[chosen]))
    return found


def _project(scratch: str) -> tuple[str, str]:
    """A home folder with a small project in it, as the corpora describe it."""
    home = os.path.join(scratch, "home", "dev")
    project = os.path.join(home, "app")
    for name in ("src", "tests", "docs", "logs", "data", "build"):
        os.makedirs(os.path.join(project, name))
    with open(os.path.join(project, "src", "app.py"), "w", encoding="utf-8") as stream:
        stream.write("print(1)\n")
    os.makedirs(os.path.join(project, ".git"))
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", project], check=False, env=child_env(home), capture_output=True)
    return home, project


class _Progress:
    """One line on the error stream of a terminal, and nothing elsewhere."""

    def __init__(self, name: str, total: int) -> None:
        self.name = one_line(name)
        self.total = total
        self.shown = sys.stderr.isatty()

    def step(self, done: int) -> None:
        if self.shown and (done % 25 == 0 or done == self.total):
            filled = 30 * done // self.total
            sys.stderr.write(f"\r{self.name}  {'█' * filled}{'░' * (30 - filled)}  {done} of {self.total}")
            sys.stderr.flush()

    def end(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _table(scores: list[Score], rows: int) -> list[str]:
    head = ["guard", *(_TITLES[m] for m in MEASURES), "errors", "cold p50 / p95", "resident p50 / p95"]
    lines = [
        [one_line(s.name), *(_share(s, m) for m in MEASURES), str(s.errors), _times(s.cold), _times(s.resident)] for s in scores
    ]
    note = "floor stopped: more is better; the false ones are mistakes. Silence and errors count as letting a command run."
    return [*table([head, *lines]), "", f"{rows} rows. {note}"]


def _share(one: Score, measure: str) -> str:
    count, total = one.counts[measure]
    return f"{count} of {total}" if total else "no rows"


def _times(pair: tuple[float, float] | None) -> str:
    return f"{pair[0]:.1f} / {pair[1]:.1f} ms" if pair is not None else "-"


def _json(scores: list[Score], rows: int) -> dict[str, Any]:
    return {"v": 1, "rows": rows, "guards": [_one(s) for s in scores]}


def _one(one: Score) -> dict[str, Any]:
    counts = {measure: {"count": count, "rows": total} for measure, (count, total) in one.counts.items()}
    cold = {"p50": one.cold[0], "p95": one.cold[1]} if one.cold is not None else None
    resident = {"p50": one.resident[0], "p95": one.resident[1]} if one.resident is not None else None
    return {"name": one.name, "adapter": one.adapter, **counts, "errors": one.errors, "cold_ms": cold, "resident_ms": resident}


def _write_picture(path: str, scores: list[Score]) -> None:
    from stockade.bench.picture import svg

    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(svg(scores))
    except OSError as error:
        raise UsageError(f"`{one_line(path)}` cannot be written: {(error.strerror or 'error').lower()}") from None
