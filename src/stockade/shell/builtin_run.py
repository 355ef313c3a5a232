"""Builtins that run text or programs: eval, source, exec, command, trap, alias."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell import streams
from stockade.shell.builtin_state import add, done, names_after_options
from stockade.shell.calls import Call, emit, targets
from stockade.shell.commands import interpreted, run, run_file
from stockade.shell.roles import field_value
from stockade.shell.state import normal
from stockade.shell.syntax import byte_view, text_of
from stockade.shell.values import ANYTHING, DECODED, EMPTY, NETWORK, Field, Value, glue, known

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter


def _operands(call: Call) -> list[Field]:
    args = list(call.args)
    return args[1:] if args and args[0].literal == "--" else args


def evaluate(it: Interpreter, call: Call) -> Value:
    emit(it, call, "eval", builtin=True)
    args = _operands(call)
    if not args:
        return EMPTY
    value = field_value(args[0])
    for field in args[1:]:
        value = glue(glue(value, known(" ")), field_value(field))
    whole = args[0]._replace(end=args[-1].end)
    if value.texts is not None and len(value.texts) == 1:
        out = it.run_text(text_of(value.texts[0]), whole.start, whole.end)
        if not value.sure:
            it.note(Kind.UNKNOWN, "evaluates text that is not certain", whole.start, whole.end, "unknown-text")
        _judge_source(it, value, whole)
        return out
    _judge_source(it, value, whole)
    it.note(Kind.UNKNOWN, "evaluates text that is not known", whole.start, whole.end, "unknown-text")
    return ANYTHING


def _judge_source(it: Interpreter, value: Value, field: Field) -> None:

    if NETWORK in value.tags:
        it.note(Kind.FLOOR, "evaluates what the network answers", field.start, field.end, "network-to-interpreter")
    elif DECODED in value.tags:
        it.note(Kind.UNKNOWN, "evaluates text that was decoded", field.start, field.end, "decoded")


def source(it: Interpreter, call: Call) -> Value:
    args = _operands(call)
    if not args:
        return done(it, call)
    field = args[0]
    text = field.literal
    content: Value | None = None
    if text in ("/dev/stdin", "/dev/fd/0", "-"):
        content = call.stdin
        it.taken = streams.ANY
    elif text is not None and (path := it.state.absolute(text)) is not None:
        content = it.state.written.get(normal(path))
    if content is None:
        for target in targets(it, field):
            call.effects.append(Effect(Kind.READ, target, "", *it.span(field.start, field.end)))
        run_file(it, call, field)
        return done(it, call, ANYTHING)
    emit(it, call, "source", builtin=True)
    _judge_source(it, content, field)
    if content.texts is None:
        it.note(Kind.UNKNOWN, "runs text that is not known", field.start, field.end, "unknown-text")
        return ANYTHING
    for one in content.texts:
        it.run_text(text_of(one), field.start, field.end)
    return ANYTHING


def execute(it: Interpreter, call: Call) -> Value:
    args = list(call.args)
    while args and re.match(r"-[cl]*(?:a|[cl]$)", args[0].literal or ""):
        flags = args.pop(0).literal or ""
        if flags.endswith("a") and flags.count("a") == 1 and args:
            args.pop(0)
    if args and args[0].literal == "--":
        args.pop(0)
    if not args:
        return done(it, call)
    return run(it, call.inside(args, "exec", external=True))


def command(it: Interpreter, call: Call) -> Value:
    args = list(call.args)
    while args and re.fullmatch(r"-[pvV]+|--", args[0].literal or ""):
        flag = args.pop(0).literal or ""
        if "v" in flag or "V" in flag:
            out = location(it, args)
            return done(it, call, out)
    return _without_functions(it, call, args, "command")


def location(it: Interpreter, args: list[Field]) -> Value:
    if len(args) == 1 and args[0].literal is not None:
        return known(byte_view(args[0].literal) + "\n")._replace(sure=False)
    return ANYTHING


def builtin(it: Interpreter, call: Call) -> Value:
    return _without_functions(it, call, _operands(call), "builtin")


def _without_functions(it: Interpreter, call: Call, args: list[Field], wrapper: str) -> Value:
    if not args:
        return done(it, call)
    functions, it.state.functions = it.state.functions, {}
    out = run(it, call.inside(args, wrapper, external=False))
    it.state.functions = functions | it.state.functions
    return out


def call_alias(it: Interpreter, call: Call, value: Value) -> Value:
    """An alias puts its text in the place of the word; what follows is read again."""
    it.note(Kind.UNKNOWN, "an alias is used", call.start, call.end, "alias")
    words = [f.literal for f in call.args]
    if value.text is None or any(w is None for w in words):
        it.note(Kind.UNKNOWN, "the words after an alias are not known", call.start, call.end, "alias")
        words = [w for w in words if w is not None]
    quoted = " ".join("'" + (w or "").replace("'", "'\\''") + "'" for w in words)
    name = call.fields[0].text or ""
    aliases, it.state.aliases = it.state.aliases, {k: v for k, v in it.state.aliases.items() if k != name}
    out = it.run_text(f"{text_of(value.texts[0]) if value.texts else ''} {quoted}".strip(), call.start, call.end)
    it.state.aliases = aliases
    return out


def alias(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        name, equals, value = (field.text if field.text is not None else field.prefix).partition("=")
        if equals or field.literal is None:
            it.state.aliases[name] = known(byte_view(value)) if field.literal is not None else ANYTHING
            add(it, call, Kind.UNKNOWN, f"defines the alias `{name}`", field, "defines")
    return done(it, call)


def trap(it: Interpreter, call: Call) -> Value:
    args = [f for f in call.args if f.literal != "--"]
    if not args or args[0].literal in ("-p", "-l", "-", "") or (args[0].literal or "").isdigit():
        return done(it, call)
    add(it, call, Kind.UNKNOWN, "a command that runs later", args[0], "trap")
    interpreted(it, call, field_value(args[0]), "shell", args[0])
    return done(it, call)


def hash_names(it: Interpreter, call: Call) -> Value:
    if any((f.literal or "-p").startswith("-") and "p" in (f.literal or "-p") for f in call.args):
        add(it, call, Kind.HIJACK, "binds a name to another program", call.args[0], "hash")
        it.state.lookup_changed = True
    return done(it, call)


def complete(it: Interpreter, call: Call) -> Value:
    _, values = names_after_options(call, frozenset("ACFGPSWXo"))
    for letter in ("C", "F"):
        if letter in values:
            add(it, call, Kind.HIJACK, "registers a command that runs later", values[letter], "runs")
            interpreted(it, call, field_value(values[letter]), "shell", values[letter])
    for letter in ("W", "X", "P", "S"):
        if letter in values and (values[letter].literal is None or re.search(r"[$`]", values[letter].literal or "")):
            it.taint("words that are expanded", values[letter].start, values[letter].end)
    return done(it, call, ANYTHING)
