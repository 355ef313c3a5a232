"""git: the folder and the configuration given before the subcommand.  Source: git(1), git-config(1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, targets
from stockade.shell.values import Field, Value
from stockade.shell.variables import quiet_command

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_HARMLESS = frozenset(
    "user.name user.email core.quotepath core.abbrev core.autocrlf core.filemode core.safecrlf log.date log.decorate "
    "log.showsignature log.follow diff.algorithm diff.renames diff.context diff.noprefix diff.mnemonicprefix diff.colormoved "
    "init.defaultbranch commit.gpgsign tag.gpgsign gc.auto pull.rebase push.default safe.directory http.lowspeedlimit "
    "http.lowspeedtime rebase.autostash merge.conflictstyle".split()
)
_HARMLESS_SECTIONS = ("color.", "column.", "advice.", "status.", "i18n.", "grep.")
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
    for field in [use.field for use in reading.uses[: reading.globals if reading.path else None] if use.option == "-c"]:
        _setting(it, call, field, aliases)
    _words(it, call, reading)
    if reading.path == ["format-patch"]:
        _patches(it, call, reading)
    for command in [aliases[w] for w in (f.literal for f in call.args) if w in aliases]:
        text = command[1:] if command.startswith("!") else f"git {command}"
        it.nested += 1
        it.in_copy(lambda text=text: it.run_text(text, call.start, call.end))  # type: ignore[misc]
        it.nested -= 1
    return None


_PUTS_FILES = frozenset(("checkout", "restore", "rm", "mv", "clean", "apply", "stash"))


def _patches(it: Interpreter, call: Call, reading: Reading) -> None:
    """Without a place for them, `git format-patch` writes its files into the working folder."""
    if not {"--stdout", "-o", "--output-directory", "--output", "-h", "--help"} & reading.options.keys():
        for target in targets(it, Field(".", call.start, call.end)):
            call.effects.append(Effect(Kind.WRITE, target, "", call.start, call.end))


def _words(it: Interpreter, call: Call, reading: Reading) -> None:
    """Words of a subcommand that are commands or paths."""
    span = (call.start, call.end)
    if reading.path[:2] == ["submodule", "foreach"] or reading.path[:2] == ["bisect", "run"]:
        texts = [f.text or "" for f in reading.operands if f.literal not in ("--recursive", "--quiet")]
        it.nested += 1
        it.in_copy(lambda: it.run_text(" ".join(texts), *span))
        it.nested -= 1
    if reading.path[:1] and reading.path[0] in _PUTS_FILES:
        for field in reading.operands:
            if ".stockade" in (field.text or "").split("/"):
                for target in targets(it, field):
                    call.effects.append(Effect(Kind.WRITE, target, "", *it.span(field.start, field.end)))
    for use in reading.uses:
        text = use.field.text or ""
        if use.option == "-L" and ":" in text:
            for target in targets(it, use.field._replace(text=text.rpartition(":")[2])):
                call.effects.append(Effect(Kind.READ, target, "", *it.span(use.field.start, use.field.end)))
    if reading.path[:1] == ["config"]:
        _config(it, call, reading)
    _assembled(it, call)


_CONFIG_READS = frozenset(("get", "list"))
_CONFIG_CHANGES = frozenset(("set", "unset", "rename-section", "remove-section", "edit"))


def _config(it: Interpreter, call: Call, reading: Reading) -> None:
    """`git config get NAME` and its like, the subcommands since git 2.46."""
    word = reading.operands[0].literal if reading.operands else None
    if word in _CONFIG_READS and "secret" not in (reading.operands[-1].text or ""):
        call.effects = [e for e in call.effects if e.kind is not Kind.UNKNOWN or not e.detail.startswith("what the operand")]
    elif word in _CONFIG_CHANGES:
        call.effects.append(Effect(Kind.UNKNOWN, None, f"`git config {word}` changes the configuration", call.start, call.end))


def _assembled(it: Interpreter, call: Call) -> None:
    """A repository whose files this line has written is no repository to trust."""
    folder = it.state.cwd or ""
    for path in it.state.written:
        if path.startswith(folder + "/") and path.rpartition("/")[2] in ("HEAD", "config", "commondir", "gitdir"):
            detail = "the repository was put together by this line"
            call.effects.append(Effect(Kind.HIJACK, None, detail, call.start, call.end, "git-config"))
            return


def _setting(it: Interpreter, call: Call, field: Field, aliases: dict[str, str]) -> None:
    """`-c NAME=VALUE`: most settings can start a program; the harmless ones are listed."""
    name, _, value = (field.literal or "").partition("=")
    if field.literal is not None:
        if (
            name.lower() in _HARMLESS
            or name.lower().startswith(_HARMLESS_SECTIONS)
            or (_PAGERS.match(name) and quiet_command(value))
        ):
            return
        if name.lower().startswith("alias."):
            aliases[name[6:]] = value
    begin, stop = it.span(field.start, field.end)
    if re.match(r"remote\..*\.(?:push$|mirror$)", name, re.IGNORECASE) and (
        value.startswith("+") or value.lower() in ("true", "yes", "1", "on")
    ):
        call.effects.append(Effect(Kind.FORCED_PUSH, None, f"the setting `{name}` forces the push", begin, stop))
    if value and not name.lower().startswith("alias."):
        it.nested += 1
        it.in_copy(lambda: it.run_text(value.lstrip("!"), field.start, field.end))
        it.nested -= 1
    shown = f"the setting `{name}`" if name else "a setting that is not known"
    call.effects.append(Effect(Kind.HIJACK, None, f"{shown} changes what git runs", begin, stop, "git-config"))
