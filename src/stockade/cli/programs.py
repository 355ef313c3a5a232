"""`stockade programs`: what is known about programs."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import textwrap
from typing import Any, NamedTuple

from stockade.cli.args import Formatter
from stockade.cli.common import open_world, problems_to_stderr
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint, say
from stockade.shell.catalog import Option, Program, catalog
from stockade.shell.own import Example, Own

_EPILOG = """examples:
  stockade programs
  stockade programs tar
  stockade programs git push
  stockade programs sort --json | jq '.[0].options'

A program that is not listed, and an option that its description does not list, is an unknown effect, and asks.
Descriptions of your own lie in `programs/` beside your configuration, those of a project in
.stockade/programs (held until trusted). They come on top of those that are listed here.

exit codes: 0, 1 there is no description of that name, 2 usage"""
# What a word is, for a person; the words of docs/program-format.md.
_ROLES = {
    "read": "a path that is read", "list": "a path whose names or metadata are read", "write": "a path that is written",
    "edit": "a path that is changed in place", "move": "a path that is moved", "delete": "a path that is removed",
    "mode": "a path whose permissions or owner change", "disk": "a device or image that is overwritten",
    "run": "a program that is run", "load": "code or configuration that is loaded", "shell": "text for a shell",
    "code": "program text", "script": "a file of program text", "argv": "a command that is run",
    "env": "NAME=VALUE for what is run",
    "host": "a host that is contacted", "remote": "host:path, or a path that is read",
    "remote-write": "host:path, or a path that is written", "rev": "a revision or path", "refspec": "a refspec",
    "unknown": "cannot be told", "text": "text",
}  # fmt: skip
_COUNTS = {"1": "", "?": " (may be left away)", "*": " (any number)"}


class Entry(NamedTuple):
    """A described program with the other names that it goes by; `own` says who added the description."""

    program: Program
    also: tuple[str, ...]
    own: Own | None = None


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade programs", description="Show the programs that are described, or what is known about one.",
        epilog=_EPILOG, formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("name", nargs="*", metavar="NAME", help="a program, and a subcommand of it if you like")
    made.add_argument("--json", action="store_true", help="print an array")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    world = open_world()
    problems_to_stderr(world.loaded)
    added = world.loaded.descriptions.all()
    if not options.name:
        return _all(added, as_json=options.json)
    found = _found(options.name, added)
    if not found:
        say(f"stockade programs: {_missing(options.name)}")
        return 1
    if options.json:
        print(json.dumps([{**_json(entry), "examples": examples} for entry, examples in found], ensure_ascii=True))
    else:
        on = colourful(sys.stdout)
        print("\n\n".join("\n".join(_text(entry, examples, on=on)) for entry, examples in found))
    return 0


# -- finding --------------------------------------------------------------------------------------


def entries() -> list[Entry]:
    """Every described program once, in the order of their names."""
    known = catalog()
    also: dict[str, list[str]] = {}
    programs: dict[str, Program] = {}
    for name in known.names():
        program = known.get(name)
        if program is not None:
            programs[program.name] = program
            also.setdefault(program.name, []).extend([name] if name != program.name else [])
    return [Entry(programs[name], tuple(also[name])) for name in sorted(programs)]


def _found(names: list[str], added: list[Own]) -> list[tuple[Entry, list[dict[str, Any]]]]:
    """The description of that name and those that come on top of it, each with its examples."""
    found = []
    program = _below(catalog().get(names[0]), names[1:])
    if program is not None:
        others = (entry.also for entry in entries() if entry.program is program)
        found.append((Entry(program, next(others, ())), _examples(names)))
    for own in added:
        program = _below(own.program, names[1:]) if names[0] in own.names else None
        if program is not None:
            shown = [_example(e) for e in own.examples if all(name in e.command.split() for name in names[1:])]
            found.append((Entry(program, own.names[1:], own), shown))
    return found


def _example(example: Example) -> dict[str, Any]:
    shown = {"command": example.command, "want": example.want}
    return shown if example.smart == example.want else {**shown, "smart": example.smart}


def _below(program: Program | None, names: list[str]) -> Program | None:
    for name in names:
        program = program.sub(name) if program is not None else None
    return program


def _missing(names: list[str]) -> str:
    """Says what is not described, and what is near to it."""
    parent = catalog().get(names[0])
    known = list(catalog().names())
    for at, name in enumerate(names[1:], 1):
        if parent is None:
            break
        known, below = list(parent.subs), parent.sub(name)
        if below is None:
            return f"`{one_line(' '.join(names[:at]))}` has no subcommand `{one_line(name)}`{_near(name, known)}"
        parent = below
    return f"there is no description of `{one_line(names[0])}`{_near(names[0], known)}"


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 3)
    return f"; did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else " (see `stockade programs`)"


def _examples(names: list[str]) -> list[dict[str, Any]]:
    """The examples of the description's file; for a subcommand, those that use it."""
    import tomllib
    from importlib.resources import files

    program = catalog().get(names[0])
    assert program is not None
    text = files("stockade.shell.programs").joinpath(f"{program.name}.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text).get("example", [])
    return [e for e in found if all(name in str(e.get("command", "")).split() for name in names[1:])]


# -- printing -------------------------------------------------------------------------------------


def _all(added: list[Own], *, as_json: bool) -> int:
    found = [*entries(), *(Entry(own.program, own.names[1:], own) for own in added)]
    if as_json:
        print(json.dumps([_brief(entry) for entry in found], ensure_ascii=True))
        return 0
    rows = [[entry.program.name, _few(entry.also), entry.program.summary] for entry in found if entry.own is None]
    print("\n".join(table(rows, widest=24)))
    mine = [[one_line(own.program.name), one_line(own.program.summary), _origin(own)] for own in added]
    if mine:
        print("\n".join(["", "added", *table(mine, indent="  ")]))
    print(f"\n{len(rows)} programs; `stockade programs NAME` shows one")
    return 0


def _few(names: tuple[str, ...], *, width: int = 24) -> str:
    """As many names as fit into a column."""
    shown = ", ".join(names)
    if len(shown) <= width:
        return shown
    return shown[: shown.rfind(", ", 0, width - 3) + 2 or width - 1] + "…"


def _brief(entry: Entry) -> dict[str, Any]:
    program = entry.program
    return {
        "name": program.name, "also": list(entry.also), "summary": program.summary, "source": program.source,
        "subcommands": sorted(program.subs),
        **({"layer": entry.own.layer, "file": entry.own.file, "held": entry.own.held} if entry.own is not None else {}),
    }  # fmt: skip


def _text(entry: Entry, examples: list[dict[str, Any]], *, on: bool) -> list[str]:
    program = entry.program
    rows = [row for title, value in _facts(entry) if value for row in _wrapped(title, one_line(value))]
    title = paint(one_line(program.name), "bold", on=on) + (f": {one_line(program.summary)}" if program.summary else "")
    blocks = [[title, *table(rows, indent="  ")]]
    options = [[one_line(" ".join(names)), _option_words(option)] for names, option in grouped(program)]
    blocks.append([paint("options", "bold", on=on), *table(options, indent="  ")] if options else [])
    subs = [[one_line(name), _sub_words(program.sub(name))] for name in sorted(program.subs)]
    blocks.append([paint("subcommands", "bold", on=on), *table(subs, indent="  ")] if subs else [])
    shown = [[_verdict(example), one_line(str(example.get("command", "")))] for example in examples]
    blocks.append([paint("examples", "bold", on=on), *table(shown, indent="  ")] if shown else [])
    return "\n\n".join("\n".join(block) for block in blocks if block).split("\n")


def _wrapped(title: str, value: str) -> list[list[str]]:
    lines = textwrap.wrap(value, 90, break_on_hyphens=False, break_long_words=False)
    return [[title if at == 0 else "", line] for at, line in enumerate(lines)]


def _facts(entry: Entry) -> list[tuple[str, str]]:
    program = entry.program
    env = ", ".join(f"{name} ({role})" if role != "text" else name for name, role in program.env.items())
    return [
        ("added by", _origin(entry.own) if entry.own is not None else ""),
        ("also", ", ".join(entry.also)), ("source", program.source), ("effects", _effect_words(program)),
        ("operands", _operand_words(program.operands)),
        ("with none", f"as if `{program.implied}` were given" if program.implied else ""),
        ("input", f"standard input is {program.stdin}" if program.stdin else ""), ("language", program.language),
        ("variables", env),
    ]  # fmt: skip


def _origin(own: Own) -> str:
    return f"{own.layer}  {one_line(own.file)}" + ("  held: it only makes answers stricter" if own.held else "")


def _effect_words(program: Program) -> str:
    if program.effects:
        return ", ".join(program.effects)
    return "only help, where no subcommand is given" if program.bare == "info" else "none of its own" if not program.subs else ""


def _operand_words(operands: tuple[tuple[str, str], ...]) -> str:
    return ", then ".join(_role(role) + _COUNTS.get(count, "") for role, count in operands)


def _role(role: str) -> str:
    return _ROLES.get(role, f"anything, with the effect {role}")


def _option_words(option: Option) -> str:
    """What an option does; nothing for a harmless one."""
    said = []
    if option.arity != "none":
        said.append("takes a value" if option.role == "text" else f"takes {_role(option.role)}")
    said += option.effects
    said += [f"no longer {effect}" for effect in option.drop]
    said += [f"then it only does this with paths: {option.only}"] if option.only else []
    said += [f"operands become: {_operand_words(option.operands)}"] if option.operands is not None else []
    flags = {"whole trees": option.recursive, "prints and exits": option.info, "ends the options": option.stop}
    return ", ".join([*said, *(word for word, there in flags.items() if there)])


def _sub_words(program: Program | None) -> str:
    if program is None:
        return ""
    said = [", ".join(program.effects), _operand_words(program.operands)]
    return "; ".join(part for part in said if part)


def _verdict(example: dict[str, Any]) -> str:
    smart = example.get("smart")
    return f"{example.get('want', '')}" + (f" ({smart} in smart)" if smart else "")


def grouped(program: Program) -> list[tuple[list[str], Option]]:
    """The options with all their names together."""
    found: dict[Option, list[str]] = {}
    for name, option in program.options.items():
        found.setdefault(option, []).append(name)
    return [(names, option) for option, names in found.items()]


# -- for a program --------------------------------------------------------------------------------


def _json(entry: Entry) -> dict[str, Any]:
    return {**_brief(entry), **_described(entry.program)}


def _described(program: Program) -> dict[str, Any]:
    return {
        "effects": list(program.effects),
        "operands": [{"role": role, "count": count} for role, count in program.operands],
        "implied": program.implied, "style": program.style, "language": program.language, "stdin": program.stdin,
        "env": program.env, "options": [_option(names, option) for names, option in grouped(program)],
        "subcommands": {name: _described(sub) for name in sorted(program.subs) if (sub := program.sub(name)) is not None},
    }  # fmt: skip


def _option(names: list[str], option: Option) -> dict[str, Any]:
    value: dict[str, Any] = {"names": names, "arity": option.arity, "role": option.role, "effects": list(option.effects)}
    if option.operands is not None:
        value["operands"] = [{"role": role, "count": count} for role, count in option.operands]
    extra = {
        "only": option.only, "drop": list(option.drop), "recursive": option.recursive, "info": option.info, "stop": option.stop,
    }  # fmt: skip
    return {**value, **{name: given for name, given in extra.items() if given}}
