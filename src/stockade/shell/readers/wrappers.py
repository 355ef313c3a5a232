"""env, xargs, parallel: programs that run another with words of their own added."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.assignments import variable_effects
from stockade.shell.calls import Call, emit, exact_path, ran
from stockade.shell.commands import interpreted, run
from stockade.shell.roles import field_value
from stockade.shell.state import Variable, normal
from stockade.shell.syntax import byte_view, text_of
from stockade.shell.values import ANYTHING, Field, Value, known, unknown

if TYPE_CHECKING:
    from stockade.shell.calls import Ran
    from stockade.shell.interpret import Interpreter

_ASSIGNMENT = re.compile(r"([^=]+)=(.*)", re.DOTALL)  # env takes any name
_MAX_WORDS = 64


def env(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """`env`, `sudo` and their like: assignments, then a command; `env -S` splits a string."""
    command = reading.commands.pop() if reading.commands else []
    before_run = it.state.copy()
    plain = call.name in ("env", "genv")
    if plain:
        _taken_away(it, reading, cleared="-i" in reading.options)
    while command:
        if command[0].literal == "-":  # the old spelling of `-i`
            command.pop(0)
            _taken_away(it, reading, cleared=True)
            continue
        m = _ASSIGNMENT.fullmatch(command[0].text or "")
        if m is None:
            break
        field = command.pop(0)
        value = Value((byte_view(m.group(2)),), field.sure, tags=field.tags)
        call.effects.extend(variable_effects(it, m.group(1), value, *it.span(field.start, field.end)))
        it.state.variables[m.group(1)] = Variable(value, exported=True)
    split = reading.values.get("-S")
    if split is not None:
        return _split_string(it, call, split, command)
    if not command and reading.options.keys() & {"-s", "-i"} and call.name != "env":
        from stockade.shell.readers.shells import child_shell

        emit(it, call, call.fields[0].text)
        inner = call.inside(list(call.fields), call.fields[0].text or "sudo")
        inner.effects = []
        child_shell(it, inner, call.stdin, call.fields[0], [])
        return ran(ANYTHING)
    if not command:
        if plain:
            call.effects.append(Effect(Kind.SECRET, None, "prints the variables of the environment", call.start, call.end))
        return None
    folder = reading.values.get("-C") if plain else reading.values.get("-D")
    before = it.state.cwd
    if folder is not None:
        path = it.state.absolute(folder.literal) if folder.literal is not None else None
        it.state.cwd = normal(path) if path is not None else None
    out = run(it, call.inside(command, call.fields[0].text or "env"))
    it.state.cwd = before
    it.state.variables, it.state.unset, it.state.emptied = before_run.variables, before_run.unset, before_run.emptied
    return ran(out)


def _taken_away(it: Interpreter, reading: Reading, *, cleared: bool) -> None:
    """`-i` and `-u NAME`: variables that the command does not get."""
    if cleared:
        it.state.variables = {name: v for name, v in it.state.variables.items() if not v.exported}
        it.state.emptied = True
    for use in reading.uses:
        if use.option in ("-u", "--unset") and use.field.literal:
            it.state.variables.pop(use.field.literal, None)
            it.state.unset |= {use.field.literal}


def _split_string(it: Interpreter, call: Call, split: Field, command: list[Field]) -> Value | Ran | None:
    """`env -S`: quotes and blanks as in a shell, and nothing else of it."""
    text = split.literal
    try:
        words = shlex.split(text) if text is not None and not re.search(r"[\\$#]", text) else None
    except ValueError:
        words = None
    if words is None:
        value = Value((byte_view(text),), False) if text is not None else Value(None, False)
        interpreted(it, call, value, "shell", split)
        return None
    fields = [Field(word, split.start, split.end) for word in words] + command
    while fields and _ASSIGNMENT.fullmatch(fields[0].text or ""):
        m = _ASSIGNMENT.fullmatch(fields.pop(0).text or "")
        assert m is not None
        call.effects.extend(variable_effects(it, m.group(1), known(byte_view(m.group(2))), split.start, split.end))
    return ran(run(it, call.inside(fields, "env"))) if fields else None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# -- xargs ----------------------------------------------------------------------------------------


def xargs(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """The command gets words from standard input: known, listed, or anything."""
    command = reading.commands.pop() if reading.commands else [Field("echo", call.start, call.end)]
    stdin = call.stdin
    if "-a" in reading.values:
        path = exact_path(it, reading.values["-a"])
        stdin = it.state.written.get(path, Value(None, False)) if path is not None else Value(None, False)
    marker = _marker(reading)
    it.nested += 1
    if marker is not None:
        fields = [_replaced(field, marker, stdin) for field in command]
    else:
        fields = command + _words(call, reading, stdin)
    inner = call.inside(fields, "xargs")
    inner.stdin = Value(("",))
    out = run(it, inner)
    it.nested -= 1
    if out.texts is not None and (marker is not None or stdin.texts is None):
        out = unknown(out.tags)  # it may have run often, or never
    return ran(out)


def _marker(reading: Reading) -> str | None:
    for name in ("-I", "-i", "--replace"):
        if name in reading.options:
            value = reading.values.get(name)
            return value.text if value is not None and value.text else "{}"
    return None


def _words(call: Call, reading: Reading, stdin: Value) -> list[Field]:
    if stdin.texts is None or len(stdin.texts) != 1:
        return [_unknown(call, stdin)]
    words = _split(reading, text_of(stdin.texts[0]))
    if words is None or len(words) > _MAX_WORDS:
        return [_unknown(call, stdin)]
    if reading.options.keys() & {"-n", "-L", "-l", "-s", "-P"} and len(words) > 1:
        # Several runs, each with some of the words: every word can be the only one.
        hint = Field(words[0], call.start, call.end, sure=False, tags=stdin.tags, alts=tuple(words), dynamic=True)
        return [hint, _unknown(call, stdin)]
    return [Field(w, call.start, call.end, sure=stdin.sure, tags=stdin.tags, dynamic=True) for w in words]


def _split(reading: Reading, text: str) -> list[str] | None:
    if "-0" in reading.options:
        return [w for w in text.split("\0") if w]
    if "-d" in reading.options:
        value = reading.values.get("-d")
        separator = _separator(value.literal if value is not None else None)
        return None if separator is None else [w for w in text.split(separator) if w]
    return None if any(c in text for c in "'\"\\") else text.split()


_ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "r": "\r", "v": "\v"}
_NUMBERED = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3}))$")


def _separator(text: str | None) -> str | None:
    """The value of `-d`: a character, or an escape as in C."""
    if text is None or len(text) == 1:
        return text
    if len(text) == 2 and text[0] == "\\" and text[1] in _ESCAPES:
        return _ESCAPES[text[1]]
    m = _NUMBERED.match(text)
    if m is None:
        return None
    number = int(m.group(1), 16) if m.group(1) else int(m.group(2), 8)
    return chr(number) if number < 128 else None


def _unknown(call: Call, stdin: Value) -> Field:
    listed = stdin.kind in ("listed", "int")
    return Field(
        None, call.start, call.end, sure=listed, many=True, kind=stdin.kind, prefix=text_of(stdin.prefix),
        under=stdin.under, tags=stdin.tags,
    )  # fmt: skip


def _replaced(field: Field, marker: str, stdin: Value) -> Field:
    """A word of the command with the marker in it."""
    text = field.text
    if text is None or marker not in text:
        return field
    lines = _lines(stdin)
    if lines is not None:
        texts = tuple(dict.fromkeys(text.replace(marker, line) for line in lines)) or ("",)
        return field._replace(text=texts[0], alts=texts if len(texts) > 1 else (), sure=stdin.sure, tags=stdin.tags, dynamic=True)
    before, _, after = text.partition(marker)
    whole = after == "" and (before == "" or before.endswith("/"))
    if whole and before and stdin.kind == "names" and normal(before) == stdin.under:
        return Field(None, field.start, field.end, kind="listed", prefix=before, under=stdin.under, tags=stdin.tags)
    if whole and before and stdin.kind == "listed":
        return Field(
            None,
            field.start,
            field.end,
            kind="listed",
            prefix=before,
            under=before if before.startswith("/") else "",
            tags=stdin.tags,
        )
    return Field(
        None, field.start, field.end, sure=stdin.kind == "listed", kind=stdin.kind if whole else "",
        prefix=before or text_of(stdin.prefix), suffix=after, under=stdin.under if whole else "", tags=stdin.tags,
    )  # fmt: skip


def _lines(stdin: Value) -> list[str] | None:
    if stdin.texts is None:
        return None
    lines = [line.strip() for text in stdin.texts for line in text_of(text).split("\n") if line.strip()]
    return lines if len(lines) <= _MAX_WORDS else None


# -- parallel -------------------------------------------------------------------------------------


def parallel(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """GNU parallel gives a joined string to a shell, with arguments from `:::` or standard input."""
    command = reading.commands.pop() if reading.commands else []
    texts = [f.text for f in command]
    at = next((i for i, t in enumerate(texts) if t is not None and t.startswith(":::")), len(texts))
    words, given = command[:at], command[at + 1 :]
    call.effects.append(Effect(Kind.EXECUTE, None, "runs a command for every argument", call.start, call.end, "code"))
    if not words:
        interpreted(it, call, call.stdin, "shell", call.fields[0])
        return None
    if any(f.text is None for f in words):
        call.effects.append(Effect(Kind.UNKNOWN, None, "the command that it runs is not known", call.start, call.end))
        return None
    emit(it, call, "parallel")
    arguments = [f.text for f in given] if at < len(texts) else _lines(call.stdin)
    it.nested += 1
    if arguments is None or any(a is None for a in arguments):
        run(it, call.inside([*words, _unknown(call, call.stdin)], "parallel"))
    else:
        line = " ".join(f.text or "" for f in words)
        for argument in arguments[:_MAX_WORDS]:
            quoted = _quoted(argument or "")
            text = line.replace("{}", quoted) if "{}" in line else f"{line} {quoted}"
            it.run_text(text, call.start, call.end)
    it.nested -= 1
    return ran(ANYTHING)


def flock(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """`flock FILE -c TEXT`: an option behind the lock, and a text for the shell."""
    command = reading.commands[0] if reading.commands else []
    if command and command[0].literal in ("-c", "--command") and len(command) > 1:
        reading.commands.clear()
        interpreted(it, call, field_value(command[1]), "shell", command[1])
    return None


def joined(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """watch and their like: the words are joined and given to a shell."""
    words = reading.operands or (reading.commands.pop() if reading.commands else [])
    reading.commands.clear()
    if not words:
        return None
    texts = [f.text for f in words]
    emit(it, call, call.fields[0].text)
    inner = call.inside(list(call.fields), call.fields[0].text or "watch")
    inner.effects = []
    sure = all(f.literal is not None for f in words)
    value = (
        Value((byte_view(" ".join(t or "" for t in texts)),), sure) if all(t is not None for t in texts) else Value(None, False)
    )
    it.nested += 1
    interpreted(it, inner, value, "shell", words[0])
    it.nested -= 1
    it.emit_effects(inner)
    return ran(ANYTHING)
