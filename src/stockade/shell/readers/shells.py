"""Shells that are given text: `-c`, a script file, or standard input.  Source: bash(1) "Invocation"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading, Use
from stockade.shell.calls import Call, emit, ran
from stockade.shell.commands import interpreted, run
from stockade.shell.roles import apply_use, field_value
from stockade.shell.values import ANYTHING, EMPTY, Field, Value

if TYPE_CHECKING:
    from stockade.shell.calls import Ran
    from stockade.shell.interpret import Interpreter

_BASH_LIKE = frozenset(("bash", "sh", "dash", "ash", "rbash"))
_POSIX = frozenset(("sh", "dash", "ash"))
_WITH_VALUE = frozenset(("--rcfile", "--init-file"))
_LONG = frozenset(("--norc", "--noprofile", "--login", "--posix", "--restricted", "--verbose", "--noediting", "--debugger"))


def read(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """Splits the words of a shell into options, text or script, and positional parameters."""
    args = list(call.args)
    letters = ""
    while args and (args[0].literal or "")[:1] in ("-", "+") and len(args[0].literal or "") > 1:
        field = args.pop(0)
        text = field.literal or ""
        if text in ("--", "-"):
            break
        if text in _WITH_VALUE and args:
            apply_use(it, call, reading, Use("load", args.pop(0), text))
        elif text.startswith("--"):
            if text not in _LONG:
                _add(it, call, Kind.UNKNOWN, f"the option `{text}` of a shell is not described", field)
        else:
            letters = _lettered(it, call, field, letters, args)
    name = (call.fields[0].text or "").rsplit("/", 1)[-1]
    if name not in _BASH_LIKE:
        _add(it, call, Kind.UNKNOWN, f"{name} is not bash; its own syntax is not modelled", call.fields[0], "other-shell")
    if "i" in letters:
        _add(it, call, Kind.UNKNOWN, "an interactive shell runs its start-up files", call.fields[0], "start-up")
    if args and args[0].literal is None and "c" not in letters and args[0].many:
        _add(it, call, Kind.UNKNOWN, "the options of a shell are not known", args[0], "program-text")
    emit(it, call, name)
    inner = call.inside(list(call.fields), name)
    inner.effects = []
    outer, it.posix = it.posix, name in _POSIX
    out = _run(it, inner, letters, args)
    it.posix = outer
    return ran(out)


def _lettered(it: Interpreter, call: Call, field: Field, letters: str, args: list[Field]) -> str:
    """A group of one-letter options: `+n` takes `-n` back, `-o` and `-O` name an option of the shell."""
    from stockade.shell.builtin_state import QUIET_OPTIONS, QUIET_SHOPTS

    text = field.literal or ""
    if set(text[1:]) & set("kpr"):
        _add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", field, "shell-option")
    for letter, quiet in (("o", QUIET_OPTIONS), ("O", QUIET_SHOPTS)):
        if letter in text[1:] and args:
            named = args.pop(0)
            if named.literal not in quiet:
                _add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", named, "shell-option")
    if text.startswith("+"):
        return "".join(letter for letter in letters if letter not in text)
    return letters + text[1:]


def _add(it: Interpreter, call: Call, kind: Kind, detail: str, field: Field, code: str = "") -> None:
    call.effects.append(Effect(kind, None, detail, *it.span(field.start, field.end), code=code))


def _run(it: Interpreter, call: Call, letters: str, args: list[Field]) -> Value:
    if "n" in letters and "c" not in letters:
        return EMPTY
    if "c" in letters:
        if not args:
            return EMPTY
        zero = args[1] if len(args) > 1 else None
        return child_shell(it, call, field_value(args[0]), args[0], args[2:], zero=zero)
    if args and "s" not in letters:
        if len(args) > 1 and args[0].text is None and not args[0].prefix:  # it may be `-c`
            _add(it, call, Kind.UNKNOWN, "the options of a shell are not known", args[0], "program-text")
        reading = _script_reading()
        apply_use(it, call, reading, Use("script", args[0]))
        it.emit_effects(call)
        return ANYTHING
    return child_shell(it, call, call.stdin, call.fields[0], args)


def _script_reading() -> Reading:
    from stockade.shell.catalog import catalog

    program = catalog().get("bash")
    assert program is not None
    return Reading(program)


def child_shell(
    it: Interpreter, call: Call, text: Value, field: Field, arguments: list[Field], *, zero: Field | None = None
) -> Value:
    """A new shell: only exported variables reach it, and nothing comes back."""
    from stockade.shell.fields import field_value as as_value

    def action() -> Value:
        state = it.state
        state.variables = {n: v for n, v in state.variables.items() if v.exported}
        state.functions = {n: f for n, f in state.functions.items() if n in state.exported_functions}
        state.zero = as_value(zero) if zero is not None else None
        state.aliases = {}
        state.expand_aliases = False
        state.arguments = None if any(f.many for f in arguments) else tuple(as_value(f) for f in arguments)
        interpreted(it, call, text, "shell", field, stdin=EMPTY if text is call.stdin else call.stdin)
        return ANYTHING

    fallbacks = it.fallbacks
    out = it.in_copy(action)
    it.fallbacks = fallbacks
    it.emit_effects(call)
    from stockade.shell.values import unknown

    return unknown(text.tags) if out is ANYTHING else out


def su(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """`su -c TEXT`, `runuser -c`, `sg GROUP -c`: another user's shell runs the text."""
    field = reading.values.get("-c")
    operands = [f for f in reading.operands if f.literal != "-"]
    if field is None and "-u" in reading.values and operands:
        return ran(run(it, call.inside(operands, call.fields[0].text or "su")))
    if field is None:
        emit(it, call, call.fields[0].text)
        inner = call.inside(list(call.fields), call.fields[0].text or "su")
        inner.effects = []
        child_shell(it, inner, call.stdin, call.fields[0], [])
        return ran(ANYTHING)
    emit(it, call, call.fields[0].text)
    inner = call.inside(list(call.fields), call.fields[0].text or "su")
    inner.effects = []
    child_shell(it, inner, field_value(field), field, [])
    return ran(ANYTHING)


def on_stdin(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """at, batch, crontab -: standard input is shell text that runs later."""
    if reading.only or "-f" in reading.options:
        return None
    emit(it, call, call.fields[0].text)
    inner = call.inside(list(call.fields), call.fields[0].text or "at")
    inner.effects = []
    child_shell(it, inner, call.stdin, call.fields[0], [])
    return ran(ANYTHING)
