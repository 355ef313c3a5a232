"""Descriptions of programs that a person or a project adds: `programs/*.toml` beside the configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stockade.config.files import too_many_dots
from stockade.config.problems import Problem
from stockade.config.sources import Source, read_source

if TYPE_CHECKING:  # the shell reader is loaded only where there are descriptions
    from stockade.shell.catalog import Program
    from stockade.shell.own import Example, Own, Owns

FOLDER = "programs"
MAX_FILES = 64
_VERDICTS = ("allow", "ask", "deny")


class Descriptions(NamedTuple):
    """What all added descriptions say; `held` are those that could loosen and are not trusted."""

    owns: Owns
    problems: tuple[Problem, ...]
    held: tuple[Own, ...] = ()

    def all(self) -> list[Own]:
        """Every added description once."""
        return list(dict.fromkeys(own for several in self.owns.values() for own in several))


NONE = Descriptions({}, ())


def description_sources(folder: str, *, shown: str, layer: str, owner: int | None = None) -> list[Source]:
    """The files of a folder, in the order of their names."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".toml"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problem = Problem("config/unreadable", "error", shown, 0, f"cannot be read: {(error.strerror or 'error').lower()}")
        return [Source(None, shown, layer, (problem,), True)]
    if len(names) > MAX_FILES:
        message, hint = (
            f"holds more than {MAX_FILES} descriptions",
            "put those that belong together into one program's subcommands",
        )
        return [Source(None, shown, layer, (Problem("config/too-large", "error", shown, 0, message, hint),), True)]
    return [read_source(os.path.join(folder, n), shown=f"{shown}/{n}", layer=layer, owner=owner) for n in names]


def digest_of(config: Source | None, descriptions: Sequence[Source]) -> str:
    """The hash that trust in a project is bound to: of its configuration alone, or of all its files."""
    own = config.digest if config is not None else ""
    if not descriptions:
        return own
    import hashlib

    lines = [f"config.toml {own}", *(f"{source.shown} {source.digest}" for source in descriptions)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_descriptions(sources: Sequence[Source], *, trusted: bool) -> Descriptions:
    """Compiles the descriptions; those of a person stand before those of a project."""
    if not sources:
        return NONE
    from stockade.shell.catalog import DescriptionError
    from stockade.shell.own import Own

    owns: dict[str, tuple[Own, ...]] = {}
    problems: list[Problem] = []
    held: list[Own] = []
    for source in sorted(sources, key=lambda s: s.layer != "user"):
        problems += source.problems
        if source.text is None:
            continue
        try:
            program, names, examples = _compiled(source.text, source.shown)
        except DescriptionError as error:
            message = str(error).removeprefix(f"{source.shown}: ")
            problems.append(Problem("config/description", "error", source.shown, 0, message, "see docs/program-format.md"))
            continue
        is_held = source.distrusted or (source.layer == "project" and not trusted)
        own = Own(program, names, source.layer, source.shown, is_held, examples)
        held += [own] if own.held else []
        for name in names:
            owns[name] = (*owns.get(name, ()), own)
    return Descriptions(owns, tuple(problems), tuple(held))


def _compiled(text: str, where: str) -> tuple[Program, tuple[str, ...], tuple[Example, ...]]:
    import tomllib

    from stockade.shell.catalog import DescriptionError, Program, compile_text

    if too_many_dots(text):
        raise DescriptionError(f"{where}: its lines have too many dots")
    compiled = compile_text(text, where)
    table = tomllib.loads(text)
    if "reader" in table or any("reader" in sub for sub in table.get("sub", {}).values()):
        raise DescriptionError(f"{where}: `reader` is only for the programs that come with Stockade")
    names = (table["name"], *table.get("also", []))
    for name in names:
        if not name or "/" in name or not name.isprintable() or " " in name:
            raise DescriptionError(f"{where}: `{name}` is no name of a program")
    return Program(compiled), names, tuple(_example(row, where) for row in table["example"])


def _example(row: Mapping[str, Any], where: str) -> Example:
    from stockade.shell.catalog import DescriptionError
    from stockade.shell.own import Example

    command, want = row.get("command"), row.get("want")
    smart = row.get("smart", want)
    if not isinstance(command, str) or not command.strip():
        raise DescriptionError(f"{where}: an example has no `command`")
    if want not in _VERDICTS or smart not in _VERDICTS:
        raise DescriptionError(f"{where}: `want` and `smart` of the example `{command}` are allow, ask or deny")
    return Example(command, want, smart)
