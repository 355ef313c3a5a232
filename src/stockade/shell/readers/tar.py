"""tar: one operation, bundled letters without a dash, and hooks that run programs.  Source: GNU tar 1.34."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, targets
from stockade.shell.catalog import Program
from stockade.shell.values import Field, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_CREATE = frozenset(("-c", "-r", "-u", "-A"))


def prepare(program: Program, args: list[Field]) -> list[Field]:
    """`tar czfC a.tgz dir x` in the old style is `tar -c -z -f a.tgz -C dir x`."""
    if not args or args[0].literal is None or args[0].literal.startswith("-") or not args[0].literal:
        return args
    first, rest = args[0], list(args[1:])
    out: list[Field] = []
    for letter in args[0].literal:
        option = program.options.get("-" + letter)
        out.append(first._replace(text="-" + letter))
        if option is not None and option.arity == "value" and rest:
            out.append(rest.pop(0))
    return out + rest


def read(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    options = reading.options
    archive = reading.values.get("-f")
    to_pipe = archive is None or archive.literal == "-"
    if archive is not None and ":" in (archive.text or "") and "--force-local" not in options:
        call.effects.append(Effect(Kind.NETWORK, None, (archive.text or "").split(":")[0], call.start, call.end, "host"))
    if options.keys() & _CREATE:
        _create(it, call, reading, archive, to_pipe)
    elif "-x" in options or "--delete" in options:
        _extract(it, call, reading, archive, to_pipe)
    elif "-t" in options or "-d" in options or not reading.operands:
        _paths(it, call, Kind.READ, archive, to_pipe)
    else:
        call.effects.append(Effect(Kind.UNKNOWN, None, "tar without an operation", call.start, call.end))
    action = [use.field for use in reading.uses if use.option == "--checkpoint-action"]
    for field in action:
        _action(it, call, field)
    return None


def _paths(it: Interpreter, call: Call, kind: Kind, field: Field | None, to_pipe: bool) -> None:
    if field is None or to_pipe:
        return
    for target in targets(it, field):
        call.effects.append(Effect(kind, target, "", *it.span(field.start, field.end)))


def _create(it: Interpreter, call: Call, reading: Reading, archive: Field | None, to_pipe: bool) -> None:
    _paths(it, call, Kind.WRITE, archive, to_pipe)
    base = reading.values.get("-C")
    for field in reading.operands:
        text = field.text
        if base is not None and text is not None and base.text is not None and not text.startswith("/"):
            field = field._replace(text=f"{base.text}/{text}")
        for target in targets(it, field, recursive=True):
            call.effects.append(Effect(Kind.READ, target, "", *it.span(field.start, field.end)))
    if to_pipe:
        call.effects.append(
            Effect(Kind.UNKNOWN, None, "whole folders, with the secrets in them, go to its output", call.start, call.end)
        )


def _extract(it: Interpreter, call: Call, reading: Reading, archive: Field | None, to_pipe: bool) -> None:
    _paths(it, call, Kind.READ, archive, to_pipe)
    if "-O" in reading.options:
        return
    base = reading.values.get("-C") or Field(".", call.start, call.end)
    for target in targets(it, base):
        call.effects.append(Effect(Kind.WRITE, target, "", *it.span(base.start, base.end)))
    call.effects.append(Effect(Kind.UNKNOWN, None, "the names that it unpacks are not known", call.start, call.end, "archive"))


def _action(it: Interpreter, call: Call, field: Field) -> None:
    text = field.literal
    if text is not None and not text.startswith("exec"):
        return
    begin, stop = it.span(field.start, field.end)
    call.effects.append(Effect(Kind.HIJACK, None, "`--checkpoint-action` runs a command", begin, stop, "runs"))
    if text is not None and text.startswith("exec="):
        it.in_copy(lambda: it.run_text(text[5:], field.start, field.end))
