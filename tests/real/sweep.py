"""Tries every option of the descriptions on the real programs: `python -m tests.real.sweep [PROGRAM…]`.

A search, not a test: for each option that is described as harmless it runs a few small commands, and
prints what was not foreseen (MISS), which options the program itself does not take (TEXT), and which
seem to take a value where the description has none, or the other way round (ARITY).  What it finds
becomes a change of the description and a line in `more.toml`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from stockade.shell.catalog import Option, Program, catalog
from tests.real.commands import described
from tests.real.compare import foreseen, unforeseen
from tests.real.sandbox import Run, Workshop, installed

_OPERANDS = {
    "read": "notes.txt", "list": "src", "write": "build/new", "edit": "notes.txt", "delete": "notes.txt", "mode": "notes.txt",
    "text": "one", "host": "example.org", "rev": "HEAD",
}  # fmt: skip
_OTHER_FILES = ("data/blob.bin", "build/app", "dist/docs.zip", "data/report.json", "src/app.py")
_COMPLAINT = re.compile(
    r"unrecognized|unknown option|unknown flag|invalid option|illegal option|requires an argument|doesn't allow an argument"
    r"|option requires|no such option|unexpected argument|Unknown switch|expects a value|flag provided but not defined",
    re.IGNORECASE,
)
_WANTS_VALUE = re.compile(
    r"requires an argument|option requires|expects? (?:a|an|one|1) |expected one argument|missing argument|needs an argument"
    r"|requires a value|requires argument|requires parameter|argument missing|needs a value|missing parameter"
    r"|flag needs an argument|a value is required|requires an? ",
    re.IGNORECASE,
)


def option_commands(program: Program, words: tuple[str, ...]) -> Iterator[str]:
    """Commands with one option each, for a program or a subcommand (`words` name it)."""
    usual = " ".join(_OPERANDS.get(role, "") for role, _ in program.operands)
    for option_name, option in sorted(program.options.items()):
        if option.role in ("text", "read", "list", "rev", "write") and not option.effects:
            spelled = _spelled(option_name, option)
            yield " ".join((*words, spelled, usual))
            if any(role == "read" for role, _ in program.operands):
                yield " ".join((*words, spelled, *_OTHER_FILES))


def arity_commands(program: Program, words: tuple[str, ...]) -> Iterator[str]:
    """Commands that end in an option: only one that takes a value complains.

    The guard calls a missing value unknown, so these run uncompared; programs that change things by
    themselves are left out.
    """
    if program.effects:
        return
    usual = " ".join(_OPERANDS.get(role, "") for role, _ in program.operands)
    for name, option in sorted(program.options.items()):
        if not option.effects and not option.only and option.role in ("text", "read", "list"):
            yield " ".join((*words, usual, name) if program.style != "posix" else (*words, name))


def arity_report(program: Program, run: Run) -> Iterator[str]:
    name = run.command.split()[-1]
    option = program.options[name]
    wanted = _WANTS_VALUE.search(run.stderr) is not None
    if wanted != (option.arity == "value") and (wanted or not _COMPLAINT.search(run.stderr)):
        yield f"ARITY {run.command} | described: {option.arity} | {' '.join(run.stderr.split())[:90]}"


def _spelled(name: str, option: Option) -> str:
    if option.arity == "none":
        return name
    value = {"text": "1", "write": "build/out.txt"}.get(option.role, _OPERANDS.get(option.role, "1"))
    attached = f"{name}={value}" if name.startswith("--") else f"{name}{value}"
    return attached if option.arity == "optional" else f"{name} {value}"


def commands(stem: str, names: Iterable[str]) -> list[str]:
    """All commands of one description that are comparable."""
    program = catalog().get(stem)
    name = next((one for one in (stem, *sorted(names)) if installed(one)), None)
    if program is None or name is None:
        return []
    found = list(_all(program, (name,)))
    return [one for one in dict.fromkeys(found) if not foreseen(one).anything]


def _all(program: Program, words: tuple[str, ...], depth: int = 0) -> Iterator[str]:
    yield " ".join(words)
    yield from option_commands(program, words)
    if depth < 2:
        for name in program.subs:
            sub = program.sub(name)
            if sub is not None:
                yield " ".join((*words, name, "one"))
                yield from _all(sub, (*words, name), depth + 1)


def report(run: Run) -> Iterator[str]:
    found = unforeseen(run.observed, foreseen(run.command))
    if found:
        yield f"MISS {run.command} | {'; '.join(found[:5])}"
    complaint = next((line for line in run.stderr.splitlines() if _COMPLAINT.search(line)), None)
    if complaint is not None:
        yield f"TEXT {run.command} | {complaint.strip()[:110]}"


def arity(workshop: Workshop, stem: str, names: Iterable[str]) -> list[str]:
    """The findings on the values of the options of a program, its subcommands left out."""
    program = catalog().get(stem)
    name = next((one for one in (stem, *sorted(names)) if installed(one)), None)
    if program is None or name is None:
        return []
    plan = list(dict.fromkeys(arity_commands(program, (name,))))
    runs = workshop.run(plan, limit=1) if plan else []
    return [line for run in runs for line in arity_report(program, run)]


def main() -> None:
    chosen = set(sys.argv[1:])
    programs = [one for one in described() if not one.unchecked.startswith("never") and (not chosen or one.stem in chosen)]
    with Workshop() as workshop, ThreadPoolExecutor(2) as pool:
        plans = [(one.stem, commands(one.stem, one.names)) for one in programs]
        results = pool.map(lambda plan: workshop.run(plan[1], limit=2) if plan[1] else [], plans)
        values = pool.map(lambda one: arity(workshop, one.stem, one.names), programs)
        for (stem, plan), runs in zip(plans, results, strict=True):
            print(f"== {stem}: {len(plan)} commands", flush=True)
            for run in runs:
                for line in report(run):
                    print(line, flush=True)
        for lines in values:
            print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
