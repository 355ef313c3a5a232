"""Builtins that change the state of the shell: folders, variables, options."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell import streams
from stockade.shell.assignments import variable_effects
from stockade.shell.calls import Call, emit
from stockade.shell.commands import interpreted
from stockade.shell.roles import field_value
from stockade.shell.state import Variable, normal
from stockade.shell.syntax import Assign, Lit, Word, byte_view, text_of
from stockade.shell.values import ANYTHING, EMPTY, INTEGER, Field, Value, is_integer, unknown

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


QUIET_SHOPTS = frozenset(
    ("nullglob", "globstar", "failglob", "nocasematch", "inherit_errexit", "checkwinsize", "histappend",
     "cmdhist", "checkhash", "globasciiranges", "huponexit", "expand_aliases")
)  # fmt: skip


QUIET_OPTIONS = frozenset(
    ("errexit", "nounset", "pipefail", "xtrace", "noglob", "verbose", "noclobber", "monitor", "notify", "errtrace",
     "functrace", "hashall", "braceexpand", "physical", "allexport")
)  # fmt: skip


def add(it: Interpreter, call: Call, kind: Kind, detail: str, field: Field | None = None, code: str = "") -> None:
    start, end = it.span(field.start, field.end) if field is not None else (call.start, call.end)
    call.effects.append(Effect(kind, None, detail, start, end, code))


def done(it: Interpreter, call: Call, out: Value = EMPTY) -> Value:
    emit(it, call, call.fields[0].text, builtin=True)
    return out


def _folder_argument(call: Call) -> Field | None:
    operands = [f for f in call.args if not re.fullmatch(r"-[LPe@n]+|--", f.literal or "")]
    return operands[0] if operands else None


def subscript(it: Interpreter, field: Field) -> None:
    """A word that should name a variable, and may have a subscript: bash evaluates that."""
    it.taint("the subscript of a variable name is evaluated", field.start, field.end)
    text = field.literal
    if text is not None and "[" in text:
        it.in_copy(lambda: it.run_text(f"(({text.partition('[')[2].rpartition(']')[0]}))", field.start, field.end))


def cd(it: Interpreter, call: Call) -> Value:
    state = it.state
    field = _folder_argument(call)
    emit(it, call, "cd", builtin=True)
    if field is None:
        home = state.lookup("HOME").text
        state.change_folder(None if home is None else text_of(home))
    elif field.literal == "-":
        state.change_folder(state.oldcwd)
    else:
        _change(it, _folder_text(it, field))
    return EMPTY


def _change(it: Interpreter, path: str | None) -> None:
    """Changes the folder, from each of the folders that the shell may be in."""
    state = it.state
    before = state.cwd
    state.change_folder(path)
    if path is None or path.startswith("/"):
        return
    moved = [None if folder is None else normal(posixpath.join(folder, path)) for folder in it.fallbacks]
    found = tuple(dict.fromkeys((*it.fallbacks, *(m for m in moved if m != state.cwd))))
    it.fallbacks = found if len(found) <= 8 and before is not None else (None,)


def _folder_text(it: Interpreter, field: Field) -> str | None:
    """The folder that a word names: also a possible one, since losing it would lose a danger."""
    if field.literal is None:
        if field.text is not None and not field.glob and not field.many:
            it.note(Kind.UNKNOWN, "the folder is not certain", field.start, field.end, "value")
            return field.text
        return None
    search = it.state.variables.get("CDPATH")
    if search is not None and not field.literal.startswith(("/", ".")):
        it.note(Kind.UNKNOWN, "CDPATH decides which folder this is", field.start, field.end, "value")
        return f"{text_of(search.value.text)}/{field.literal}" if search.value.text else None
    return field.literal


def pushd(it: Interpreter, call: Call) -> Value:
    state = it.state
    field = _folder_argument(call)
    emit(it, call, "pushd", builtin=True)
    if field is None or re.fullmatch(r"[+-][0-9]+", field.literal or ""):
        state.change_folder(state.stack.pop() if len(state.stack) == 1 else None)
        return ANYTHING
    state.stack.append(state.cwd)
    _change(it, _folder_text(it, field))
    return ANYTHING


def popd(it: Interpreter, call: Call) -> Value:
    emit(it, call, "popd", builtin=True)
    it.state.change_folder(it.state.stack.pop() if it.state.stack and not call.args else None)
    return ANYTHING


def pwd(it: Interpreter, call: Call) -> Value:
    return done(it, call, _line(it.state.lookup("PWD")))


def _line(value: Value) -> Value:
    if value.texts is None:
        return value
    return value._replace(texts=tuple(t + "\n" for t in value.texts))


def declare(it: Interpreter, call: Call, operands: list[tuple[Assign, Value, tuple[Value, ...] | None]]) -> Value:
    """declare, typeset, local, export, readonly."""
    name = call.fields[0].text or ""
    flags = "".join((f.literal or "")[1:] for f in call.args if (f.literal or "").startswith("-"))
    values = {assign.name: (assign, value, array) for assign, value, array in operands}
    if "f" in flags and name in ("export", "declare", "typeset"):
        it.state.exported_functions |= {f.literal for f in call.args if f.literal in it.state.functions and f.literal}
        return done(it, call, ANYTHING)
    names = [f for f in call.args if not (f.literal or "-").startswith(("-", "+")) or f.literal is None]
    if not names or ("p" in flags and name in ("export", "declare", "typeset") and not values):
        if not set(flags) & set("fF") or "p" in flags:
            add(it, call, Kind.SECRET, "prints the variables of the environment", call.fields[0])
    for field in names:
        _declare_one(it, call, field, flags, values, exported=name == "export" or "x" in flags)
    return done(it, call, ANYTHING)


def _declare_one(
    it: Interpreter,
    call: Call,
    field: Field,
    flags: str,
    values: dict[str, tuple[Assign, Value, tuple[Value, ...] | None]],
    *,
    exported: bool,
) -> None:
    text = field.text if field.text is not None else field.prefix
    name = text.partition("=")[0].rstrip("+")
    if name in values:
        _, value, array = values[name]
    else:
        if NAME.fullmatch(name) is None:
            subscript(it, field)
            return
        if "=" not in text:
            old = it.state.variables.get(name)
            value, array = (old.value if old else it.state.lookup(name)), (old.array if old else None)
        else:
            value, array = (field_value(field._replace(text=text.partition("=")[2])), None)
    if "i" in flags and not is_integer(value):
        it.taint("text is evaluated as a number by an integer variable", field.start, field.end)
        value = INTEGER
    if set(flags) & set("luc"):  # the case of what is assigned changes
        value, array = unknown(value.tags), None
    if "n" in flags:
        add(it, call, Kind.HIJACK, f"`{name}` becomes another name for a variable", field, "variable")
    name = it.state.resolve(name)
    it.state.assign(name, value, array=array)
    it.state.variables[name] = Variable(value, array, exported, "i" in flags, "n" in flags, "A" in flags)
    if "r" in flags or call.fields[0].text == "readonly":
        it.state.constant |= {name}
    call.effects.extend(variable_effects(it, name, value, *it.span(field.start, field.end)))


def unset(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        text = field.literal
        if text is None or "[" in text:
            subscript(it, field)
        elif not text.startswith("-"):
            it.state.variables.pop(text, None)
            it.state.functions.pop(text, None)
            it.state.unset |= {text}
            it.state.ifs_changed |= text == "IFS"
            if text in ("PATH", "HOME"):
                add(it, call, Kind.HIJACK, f"the variable {text} changes what runs", field, "variable")
    return done(it, call)


_READ_VALUES = frozenset("adinNptu")


def names_after_options(call: Call, with_value: frozenset[str]) -> tuple[list[Field], dict[str, Field]]:
    """The operands and the option values of a builtin with one-letter options."""
    names: list[Field] = []
    values: dict[str, Field] = {}
    args = list(call.args)
    while args:
        field = args.pop(0)
        text = field.literal
        if text is None or not text.startswith("-") or len(text) < 2 or names:
            names.append(field)
            continue
        if text == "--":
            names.extend(args)
            break
        for at, letter in enumerate(text[1:], 1):
            if letter in with_value:
                if at + 1 < len(text):
                    values[letter] = field._replace(text=text[at + 1 :])
                elif args:
                    values[letter] = args.pop(0)
                break
            values[letter] = field
    return names, values


def read(it: Interpreter, call: Call) -> Value:
    names, values = names_after_options(call, _READ_VALUES)
    stdin = call.stdin
    by_lines = not values.keys() & {"n", "N", "d", "t"}
    it.taken = max(it.taken, streams.LINES if by_lines else streams.ANY)
    ifs = it.state.variables.get("IFS")
    separators = ifs.value.text if ifs is not None else None
    if "a" in values:
        names.append(values["a"])
    for at, field in enumerate(names):
        text = field.literal
        if text is None or NAME.fullmatch(text) is None:
            subscript(it, field)
        elif "a" in values:
            array = _read_array(stdin)
            it.set_variable(text, array.value, field.start, field.end, array=array.array)
        else:
            value = _read_value(stdin, whole=True) if len(names) == 1 else _read_part(stdin, at, len(names), separators)
            it.set_variable(text, value, field.start, field.end)
    if not names:
        it.state.assign("REPLY", _read_value(stdin, whole=True))
    return done(it, call)


def _read_part(stdin: Value, at: int, count: int, separators: str | None) -> Value:
    """One of several names: the words of a known line, as a possibility."""
    if stdin.texts is None or len(stdin.texts) != 1:
        return unknown(stdin.tags)
    line = stdin.texts[0].split("\n")[0]
    words = re.split(f"[{re.escape(separators)}]", line, maxsplit=count - 1) if separators else line.split(None, count - 1)
    return Value((words[at] if at < len(words) else "",), False, tags=stdin.tags)


def _read_array(stdin: Value) -> Variable:
    if stdin.texts is None or len(stdin.texts) != 1:
        return Variable(unknown(stdin.tags))
    words = tuple(Value((w,), False, tags=stdin.tags) for w in stdin.texts[0].split("\n")[0].split())
    return Variable(words[0] if words else EMPTY, words)


def _read_value(stdin: Value, *, whole: bool) -> Value:
    if stdin.kind in ("listed", "int") and whole:
        return stdin
    if stdin.texts:
        lines = tuple(dict.fromkeys(line for text in stdin.texts for line in text.split("\n") if line))
        if lines and len(lines) <= 16 and whole:
            return Value(lines, False, tags=stdin.tags)
    return unknown(stdin.tags)


def mapfile(it: Interpreter, call: Call) -> Value:
    names, values = names_after_options(call, frozenset("dnOsuCc"))
    it.taken = streams.ANY
    if "C" in values:
        interpreted(it, call, field_value(values["C"]), "shell", values["C"])
        add(it, call, Kind.UNKNOWN, "runs a command for what it reads", values["C"], "callback")
    for field in names:
        text = field.literal
        if text is None or NAME.fullmatch(text) is None:
            subscript(it, field)
        else:
            array = _lines_array(call.stdin)
            it.set_variable(text, array.value, field.start, field.end, array=array.array)
    return done(it, call)


def _lines_array(stdin: Value) -> Variable:
    if stdin.texts is None or len(stdin.texts) != 1:
        return Variable(unknown(stdin.tags))
    lines = tuple(Value((line,), False, tags=stdin.tags) for line in stdin.texts[0].split("\n") if line)
    return Variable(lines[0] if lines else EMPTY, lines)


def let(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        text = field.literal
        if text is None or re.search(r"[$`\\\[]", text):
            it.taint("text that is not known is evaluated as a number", field.start, field.end)
        else:
            lit = Lit(byte_view(text), True, field.start, field.end)
            it.expander().arithmetic(Word((lit,), field.start, field.end))
    return done(it, call)


def getopts(it: Interpreter, call: Call) -> Value:
    for field in call.args[1:2]:
        if field.literal is not None and NAME.fullmatch(field.literal):
            it.set_variable(field.literal, ANYTHING, field.start, field.end)
        else:
            subscript(it, field)
    return done(it, call)


def shift(it: Interpreter, call: Call) -> Value:
    arguments = it.state.arguments
    count = call.args[0].literal if call.args else "1"
    if arguments is None or count is None or not re.fullmatch(r"[0-9]{1,9}", count):
        it.state.arguments = None
    elif int(count) <= len(arguments):  # by more than there are, it does nothing
        it.state.arguments = arguments[int(count) :]
    return done(it, call)


def set_options(it: Interpreter, call: Call) -> Value:
    args = list(call.args)
    if not args:
        add(it, call, Kind.SECRET, "prints the variables of the environment", call.fields[0])
    while args:
        field = args.pop(0)
        text = field.literal
        if text == "--" or (text is not None and not text.startswith(("-", "+"))):
            rest = args if text == "--" else [field, *args]
            it.state.arguments = None if any(f.many for f in rest) else tuple(_argument(f) for f in rest)
            break
        if text is None or set(text[1:]) & set("knpr"):
            add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", field, "shell-option")
        if text is not None and "x" in text[1:]:
            it.state.tracing = True
        if text is not None and "o" in text[1:] and args:
            named = args.pop(0)
            if named.literal not in QUIET_OPTIONS:
                add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", named, "shell-option")
    return done(it, call)


def _argument(field: Field) -> Value:
    from stockade.shell.fields import field_value as as_value

    return as_value(field)


def shopt(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        text = field.literal
        if text == "expand_aliases":
            it.state.expand_aliases = True
        elif text is None or (not text.startswith("-") and text not in QUIET_SHOPTS | QUIET_OPTIONS):
            add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", field, "shell-option")
    return done(it, call)


def wait(it: Interpreter, call: Call) -> Value:
    _, values = names_after_options(call, frozenset("p"))
    field = values.get("p")
    if field is not None:
        if field.literal is None or NAME.fullmatch(field.literal) is None:
            subscript(it, field)
        else:
            it.set_variable(field.literal, ANYTHING, field.start, field.end)
    return done(it, call)
