"""git: the folder and the configuration given before the subcommand.  Source: git(1), git-config(1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.commands import Call, targets
from stockade.shell.variables import quiet_command
from stockade.shell.values import Field, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_HARMLESS = re.compile(
    r"(?:user\.(?:name|email)|color\.[a-z.]+|column\.[a-z]+|advice\.[a-z]+|core\.(?:quotepath|abbrev|autocrlf|filemode|safecrlf)"
    r"|log\.(?:date|decorate|showsignature|follow)|diff\.(?:algorithm|renames|context|noprefix|mnemonicprefix|colormoved)"
    r"|status\.[a-z]+|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|gc\.auto|pull\.rebase|push\.default|i18n\.[a-z]+"
    r"|safe\.directory|http\.(?:lowspeedlimit|lowspeedtime)|rebase\.autostash|merge\.conflictstyle|grep\.[a-z]+)$",
    re.IGNORECASE,
)
_PAGERS = re.compile(r"(?:core\.(?:pager|editor)|pager\.[a-z-]+|sequence\.editor)$", re.IGNORECASE)


@contextmanager
def entered(it: Interpreter, call: Call) -> Iterator[None]:
    """`git -C DIR`: every path of the call is meant from there."""
    before = it.state.cwd
    args = call.args
    at = 0
    while at < len(args):
        text = args[at].literal
        if text == "-C" and at + 1 < len(args):
            folder = args[at + 1].literal
            it.state.cwd = None if folder is None else _joined(it, folder)
            at += 2
        elif text in ("-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path", "--attr-source"):
            at += 2
        elif text is not None and text.startswith("-"):
            at += 1
        else:
            break
    try:
        yield
    finally:
        it.state.cwd = before


def _joined(it: Interpreter, folder: str) -> str | None:
    from stockade.shell.state import normal

    path = it.state.absolute(folder)
    return None if path is None else normal(path)


def read(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """The repository is that of the folder: its own configuration is obeyed, so it must be ours."""
    if not reading.path or reading.path[0] not in ("version", "help"):
        for target in targets(it, Field(".", call.start, call.end)):
            call.effects.append(Effect(Kind.LIST, target, "", call.start, call.end, "repository"))
    aliases: dict[str, str] = {}
    for field in [use.field for use in reading.uses if use.option == "-c"]:
        _setting(it, call, field, aliases)
    for command in [aliases[w] for w in (f.literal for f in call.args) if w in aliases]:
        text = command[1:] if command.startswith("!") else f"git {command}"
        it.nested += 1
        it.in_copy(lambda text=text: it.run_text(text, call.start, call.end))  # type: ignore[misc]
        it.nested -= 1
    return None


def _setting(it: Interpreter, call: Call, field: Field, aliases: dict[str, str]) -> None:
    """`-c NAME=VALUE`: most settings can start a program; the harmless ones are listed."""
    name, _, value = (field.literal or "").partition("=")
    if field.literal is not None:
        if _HARMLESS.match(name) or (_PAGERS.match(name) and quiet_command(value)):
            return
        if name.lower().startswith("alias."):
            aliases[name[6:]] = value
    begin, stop = it.span(field.start, field.end)
    shown = f"the setting `{name}`" if name else "a setting that is not known"
    call.effects.append(Effect(Kind.HIJACK, None, f"{shown} changes what git runs", begin, stop, "git-config"))
