"""How many of the flags that a program lists itself are described: `python tools/flags.py [--missing] [PROGRAM…]`.

For every described program that is installed here, and each of its subcommands, it reads the program's own
`--help` (in the sandbox of tests/real) or its manual page, and counts the flags in it that the description
has.  A help text that hides a part of itself unless it is asked to be verbose is asked for all of it.  A manual
page that bears the name of another program (atq has that of at) counts only with what its synopsis gives to
this one.  The aim is 80 of 100 for each program.
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
_FLAG = re.compile(r"(?:^|(?<=[\s,|/(\[]))(--\[no-?\][A-Za-z][\w-]*|--?[A-Za-z0-9?][\w.-]*|-[#@])")
_USAGE = re.compile(r"\[\s*(-[^\[\]]*)\]")
_CLUSTER = re.compile(r"-[A-Za-z0-9?]{2,}")
_LONGER = re.compile(r"(--\w[\w-]*)\[(-\w[\w-]*)\]")
"""Two flags in one word: `--list[-full]`."""
_GLUED = re.compile(r"(?<=\w)\[[^\[\]]*\]")
"""The optional value at the end of a word: `-d[num]`."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m|.\x08")
_MORE = re.compile(r"use .{0,20}(?:--verbose|help -v)\b.{0,10} to show", re.IGNORECASE)
"""How a help text says that it has hidden a part of itself."""


class Count(NamedTuple):
    """The flags that one program, or one subcommand of it, lists; and those that are not described."""

    words: tuple[str, ...]
    listed: frozenset[str]
    missing: frozenset[str]


def flags_of(text: str, name: str, *, single: bool) -> set[str]:
    """The flags that a help text of a program lists: at the head of a line, or in a line of usage."""
    text = _COLOUR.sub("", text)
    found = {flag for line in _usages(text, name) for flag in _in_usage(line, text, single=single)}
    for line in text.splitlines():
        stripped = _plain(line)
        if stripped.startswith("-") and not stripped.startswith(("---", "- ")):
            head = re.split(r"\s{2,}|\t|: ", stripped, maxsplit=1)[0]
            found.update(_spelled(_FLAG.findall(head)))
    return {flag for flag in found if flag not in ("-", "--")}


def _plain(line: str) -> str:
    return _GLUED.sub("", _LONGER.sub(r"\1 \1\2", line.strip().lstrip('"')))


def _usages(text: str, name: str) -> list[str]:
    """The lines of usage; only those of this program where the text begins with the usage of another (atq: `at …`)."""
    block = re.search(r"^usage:?\s+(.*?)(?:\n\s*\n|\Z)", text, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    forms = [line.strip() for line in block[1].splitlines()] if block else []
    own = [form for form in forms if form.split()[:1] == [name]]
    if own and forms[0].split()[0] != name:
        return own
    return [line.strip() for line in text.splitlines() if re.match(r"\s*(?:usage|or):?\s", line, re.IGNORECASE)]


def _in_usage(line: str, text: str, *, single: bool) -> Iterator[str]:
    """The flags of one line of usage; the letters of a cluster in brackets are flags each."""
    line = _plain(line)
    for group in _USAGE.findall(line):
        for flag in _FLAG.findall(group):
            if single or not _CLUSTER.fullmatch(flag):
                yield from _spelled([flag])
            elif not _is_value(flag[1:], text):
                yield from (f"-{letter}" for letter in flag[1:])
    bare = _FLAG.findall(re.sub(r"\[[^\[\]]*\]", " ", line))
    yield from _spelled([flag for flag in bare if single or not _CLUSTER.fullmatch(flag)])


def _is_value(word: str, text: str) -> bool:
    """Whether a word in capitals is the name of a value (`-WIDTH`, where the text has `--width=WIDTH`) and no cluster."""
    return word.isupper() and re.search(rf"=\[?{re.escape(word)}\b", text) is not None


def flags_of_page(text: str, page: str, *, single: bool) -> set[str]:
    """The flags that the manual page of that name lists, or what a page of another name gives to it in the synopsis."""
    title = re.match(r"\s*([^\s(]+)\(", text)
    own = [] if title is None or title[1].lower() == page.lower() else _synopsis(text, page)
    if own and not any(re.search(r"\boptions?\b", line, re.IGNORECASE) for line in own):
        return {flag for line in own for flag in _in_usage(line, text, single=single)}
    return flags_of("\n".join(_without_prose(text)), page, single=single)


def _synopsis(text: str, page: str) -> list[str]:
    """The forms of the synopsis that begin with this program, each with the deeper lines that continue it."""
    section = re.search(r"^SYNOPSIS\n(.*?)^\S", text, re.MULTILINE | re.DOTALL)
    lines = [line for line in (section[1].splitlines() if section else ()) if line.strip()]
    least = min((_indent(line) for line in lines), default=0)
    forms: list[str] = []
    for line in lines:
        if _indent(line) > least and forms:
            forms[-1] += " " + line.strip()
        else:
            forms.append(line.strip())
    return [form for form in forms if form.split()[0] == page]


def _without_prose(text: str) -> Iterator[str]:
    """The lines of a manual page without those that begin with a dash because a sentence was broken there."""
    before, prose = 0, False
    for line in text.splitlines():
        flag = line.strip().startswith("-")
        if flag and prose and _indent(line) == before:
            continue
        yield line
        before, prose = _indent(line), bool(line.strip()) and not flag and not line.rstrip().endswith((".", ":"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _spelled(flags: list[str]) -> Iterator[str]:
    for flag in flags:
        flag = flag.rstrip(".-") or flag
        if flag.startswith("--["):
            no, name = flag[3:].split("]", 1)
            yield f"--{name}"
            yield f"--{no}{name}"
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


def helps(workshop: Workshop, programs: list[str]) -> list[str]:
    """What each of them prints for `--help`; with `--verbose` where it says that there is more."""
    texts = _printed(workshop, [f"{program} --help" for program in programs])
    more = [index for index, text in enumerate(texts) if _MORE.search(text)]
    for index, text in zip(more, _printed(workshop, [f"{programs[index]} --help --verbose" for index in more]), strict=True):
        texts[index] = text
    return texts


def _printed(workshop: Workshop, commands: list[str]) -> list[str]:
    runs = workshop.run(commands, limit=4) if commands else []
    return [run.stdout + "\n" + run.stderr for run in runs]


def counts(workshop: Workshop, stem: str, names: frozenset[str]) -> list[Count]:
    program = catalog().get(stem)
    name = next((one for one in (stem, *sorted(names)) if installed(one)), None)
    if program is None or name is None:
        return []
    todo = list(parts(program, (name,)))
    try:
        texts = helps(workshop, [" ".join(words) for words, _ in todo])
    except SandboxError:
        return []
    found = []
    for (words, part), text in zip(todo, texts, strict=True):
        listed = flags_of(text, words[0], single=part.style == "single")
        if len(listed) < 3 and len(words) == 1:
            listed = flags_of_page(manual(words), words[0], single=part.style == "single") or listed
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
