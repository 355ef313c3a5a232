"""How many of the flags that a program lists itself are described: `python tools/flags.py [--missing] [PROGRAM…]`.

For every described program that is installed here, and each of its subcommands, it reads the program's own
`--help` (in the sandbox of tests/real) or its manual page, and counts the flags in it that the description
has.  The aim is 80 of 100 for each program.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from stockade.model.effects import Kind  # noqa: E402
from stockade.shell import analyze  # noqa: E402
from stockade.shell.catalog import Program, catalog  # noqa: E402
from tests.real.commands import described  # noqa: E402
from tests.real.compare import CONTEXT  # noqa: E402
from tests.real.sandbox import SandboxError, Workshop, installed  # noqa: E402

ENOUGH = 0.8
_FLAG = re.compile(r"(?:^|(?<=[\s,|/(\[]))(--\[no-\][A-Za-z][\w-]*|--?[A-Za-z0-9?][\w.-]*|-[#@])")
_USAGE = re.compile(r"\[\s*(-[^\[\]]*)\]")
_CLUSTER = re.compile(r"-[A-Za-z0-9?]{2,}")


class Count(NamedTuple):
    """The flags that one program, or one subcommand of it, lists; and those that are not described."""

    words: tuple[str, ...]
    listed: frozenset[str]
    missing: frozenset[str]


def flags_of(text: str, *, single: bool) -> set[str]:
    """The flags that a help text or a manual page lists: at the head of a line, or in brackets of a usage line."""
    found: set[str] = set()
    for line in text.replace("\b", "").splitlines():
        stripped = line.strip()
        if stripped.startswith("-") and not stripped.startswith(("---", "- ")):
            head = re.split(r"\s{2,}|\t|: ", stripped, maxsplit=1)[0]
            found.update(_spelled(_FLAG.findall(head)))
        elif re.match(r"(?:usage|or):?\s", stripped, re.IGNORECASE):
            for group in _USAGE.findall(stripped):
                for flag in _FLAG.findall(group):
                    cluster = not single and _CLUSTER.fullmatch(flag) is not None
                    found.update(f"-{letter}" for letter in flag[1:]) if cluster else found.update(_spelled([flag]))
    return {flag for flag in found if flag not in ("-", "--")}


def _spelled(flags: list[str]) -> Iterator[str]:
    for flag in flags:
        flag = flag.rstrip(".-") or flag
        if flag.startswith("--[no-]"):
            yield f"--{flag[7:]}"
            yield f"--no-{flag[7:]}"
        else:
            yield flag


def is_described(words: tuple[str, ...], program: Program, flag: str) -> bool:
    """Whether the guard knows the flag: by its table, as letters of a cluster, or in the program's own language."""
    if flag in program.options or (program.numeric and re.fullmatch(r"-([0-9]+|NUM)", flag)):
        return True
    analysis = analyze(" ".join((*words, flag)), CONTEXT)
    details = [effect.detail for segment in analysis.segments for effect in segment.effects if effect.kind is Kind.UNKNOWN]
    return analysis.error is None and not any("is not described" in detail for detail in details)


def parts(program: Program, words: tuple[str, ...], depth: int = 0) -> Iterator[tuple[tuple[str, ...], Program]]:
    yield words, program
    for name in program.subs if depth < 2 else ():
        sub = program.sub(name)
        if sub is not None:
            yield from parts(sub, (*words, name), depth + 1)


def manual(words: tuple[str, ...]) -> str:
    """The manual page of a program or, where it has one, of its subcommand."""
    page = "-".join(words)
    done = subprocess.run(["man", "-P", "cat", page], capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})
    return done.stdout


def counts(workshop: Workshop, stem: str, names: frozenset[str]) -> list[Count]:
    program = catalog().get(stem)
    name = next((one for one in (stem, *sorted(names)) if installed(one)), None)
    if program is None or name is None:
        return []
    todo = list(parts(program, (name,)))
    try:
        runs = workshop.run([f"{' '.join(words)} --help" for words, _ in todo], limit=4)
    except SandboxError:
        return []
    found = []
    for (words, part), run in zip(todo, runs, strict=True):
        listed = flags_of(run.stdout + "\n" + run.stderr, single=part.style == "single")
        if len(listed) < 3 and len(words) == 1:
            listed = flags_of(manual(words), single=part.style == "single") or listed
        if listed:
            missing = frozenset(flag for flag in listed if not is_described(words, part, flag))
            found.append(Count(words, frozenset(listed), missing))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--missing", action="store_true", help="print the flags that are not described")
    options = parser.parse_args()
    chosen = [one for one in described() if one.stem in options.programs or not options.programs]
    chosen = [one for one in chosen if not one.unchecked.startswith("never") and any(map(installed, one.names))]
    few = listed = known = measured = 0
    with Workshop() as workshop, ThreadPoolExecutor(2) as pool:
        for one, found in zip(chosen, pool.map(lambda one: counts(workshop, one.stem, one.names), chosen), strict=True):
            total = sum(len(count.listed) for count in found)
            have = total - sum(len(count.missing) for count in found)
            if not total:
                continue
            measured, listed, known = measured + 1, listed + total, known + have
            low = have < ENOUGH * total
            few += low
            if low or options.programs:
                print(f"{one.stem:<20} {have:>4} of {total:>4} ({have / total:.0%})", flush=True)
            if options.missing and (low or options.programs):
                for count in found:
                    if count.missing:
                        print(f"    {' '.join(count.words)}: {' '.join(sorted(count.missing))}", flush=True)
    print(f"{measured} programs list {listed} flags, {known} are described ({known / max(listed, 1):.1%}); {few} are below 80 %")
    return 1 if few else 0


if __name__ == "__main__":
    sys.exit(main())
