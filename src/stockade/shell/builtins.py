"""The builtins of bash: what they do to the shell's state, and what they evaluate.

A builtin that is missing here is looked up as a program, and asks if it is not described.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind, Segment
from stockade.shell.commands import (
    Call,
    emit,
    interpreted,
    resolve_name,
    run,
    run_file,
    run_program,
    shadows,
    targets,
    variable_effects,
)
from stockade.shell.outputs import echo_text, printf_text
from stockade.shell.roles import field_value
from stockade.shell.state import Variable, normal
from stockade.shell.syntax import Assign, Lit, Word, byte_view, text_of
from stockade.shell.values import ANYTHING, EMPTY, INTEGER, Field, Value, is_integer, known, unknown

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE_TESTS = frozenset(f"-{c}" for c in "abcdefghkprsuwxGLNOS")
_QUIET_SHOPTS = frozenset(
    ("nullglob", "globstar", "failglob", "nocaseglob", "nocasematch", "inherit_errexit", "checkwinsize", "histappend",
     "cmdhist", "checkhash", "globasciiranges", "huponexit", "xpg_echo", "expand_aliases")
)  # fmt: skip
_QUIET_OPTIONS = frozenset(
    ("errexit", "nounset", "pipefail", "xtrace", "noglob", "verbose", "noclobber", "monitor", "notify", "errtrace",
     "functrace", "hashall", "braceexpand", "physical", "allexport")
)  # fmt: skip


def _add(it: Interpreter, call: Call, kind: Kind, detail: str, field: Field | None = None, code: str = "") -> None:
    start, end = it.span(field.start, field.end) if field is not None else (call.start, call.end)
    call.effects.append(Effect(kind, None, detail, start, end, code))


def _done(it: Interpreter, call: Call, out: Value = EMPTY) -> Value:
    emit(it, call, call.fields[0].text, builtin=True)
    return out


def _wait(it: Interpreter, call: Call) -> Value:
    _, values = _names_after_options(call, frozenset("p"))
    field = values.get("p")
    if field is not None and (field.literal is None or _NAME.fullmatch(field.literal) is None):
        it.taint("the subscript of a variable name is evaluated", field.start, field.end)
    return _done(it, call)


def _quiet(it: Interpreter, call: Call) -> Value:
    """A builtin that changes and reveals nothing that matters."""
    return _done(it, call)


# -- folders --------------------------------------------------------------------------------------


def _folder_argument(call: Call) -> Field | None:
    operands = [f for f in call.args if not re.fullmatch(r"-[LPe@n]+|--", f.literal or "")]
    return operands[0] if operands else None


def _cd(it: Interpreter, call: Call) -> Value:
    state = it.state
    field = _folder_argument(call)
    emit(it, call, "cd", builtin=True)
    if field is None:
        home = state.lookup("HOME").text
        state.change_folder(None if home is None else text_of(home))
    elif field.literal == "-":
        state.change_folder(state.oldcwd)
    else:
        state.change_folder(_folder_text(it, field))
    return EMPTY


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


def _pushd(it: Interpreter, call: Call) -> Value:
    state = it.state
    field = _folder_argument(call)
    emit(it, call, "pushd", builtin=True)
    if field is None or re.fullmatch(r"[+-][0-9]+", field.literal or ""):
        state.change_folder(state.stack.pop() if len(state.stack) == 1 else None)
        return ANYTHING
    state.stack.append(state.cwd)
    state.change_folder(_folder_text(it, field))
    return ANYTHING


def _popd(it: Interpreter, call: Call) -> Value:
    emit(it, call, "popd", builtin=True)
    it.state.change_folder(it.state.stack.pop() if it.state.stack and not call.args else None)
    return ANYTHING


def _pwd(it: Interpreter, call: Call) -> Value:
    return _done(it, call, _line(it.state.lookup("PWD")))


def _line(value: Value) -> Value:
    if value.texts is None:
        return value
    return value._replace(texts=tuple(t + "\n" for t in value.texts))


# -- variables ------------------------------------------------------------------------------------


def declare(it: Interpreter, call: Call, operands: list[tuple[Assign, Value, tuple[Value, ...] | None]]) -> Value:
    """declare, typeset, local, export, readonly."""
    name = call.fields[0].text or ""
    flags = "".join((f.literal or "")[1:] for f in call.args if (f.literal or "").startswith("-"))
    values = {assign.name: (assign, value, array) for assign, value, array in operands}
    if "f" in flags and name in ("export", "declare", "typeset"):
        it.state.exported_functions |= {f.literal for f in call.args if f.literal in it.state.functions and f.literal}
        return _done(it, call, ANYTHING)
    names = [f for f in call.args if not (f.literal or "-").startswith(("-", "+")) or f.literal is None]
    if not names or ("p" in flags and name in ("export", "declare", "typeset") and not values):
        if not set(flags) & set("fF") or "p" in flags:
            _add(it, call, Kind.SECRET, "prints the variables of the environment", call.fields[0])
    for field in names:
        _declare_one(it, call, field, flags, values, exported=name == "export" or "x" in flags)
    return _done(it, call, ANYTHING)


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
        assign, value, array = values[name]
    else:
        if _NAME.fullmatch(name) is None:
            it.taint("the subscript of a variable name is evaluated", field.start, field.end)
            return
        if "=" not in text:
            old = it.state.variables.get(name)
            value, array = (old.value if old else it.state.lookup(name)), (old.array if old else None)
        else:
            value, array = (field_value(field._replace(text=text.partition("=")[2])), None)
    if "i" in flags and not is_integer(value):
        it.taint("text is evaluated as a number by an integer variable", field.start, field.end)
        value = INTEGER
    it.state.assign(name, value, array=array)
    it.state.variables[name] = Variable(value, array, exported, "i" in flags, "n" in flags, "A" in flags)
    call.effects.extend(variable_effects(it, name, value, *it.span(field.start, field.end)))


def _unset(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        text = field.literal
        if text is None or "[" in text:
            it.taint("the subscript of a variable name is evaluated", field.start, field.end)
        elif not text.startswith("-"):
            it.state.variables.pop(text, None)
            it.state.functions.pop(text, None)
            it.state.unset |= {text}
            it.state.ifs_changed |= text == "IFS"
            if text in ("PATH", "HOME"):
                _add(it, call, Kind.HIJACK, f"the variable {text} changes what runs", field, "variable")
    return _done(it, call)


_READ_VALUES = frozenset("adinNptu")


def _names_after_options(call: Call, with_value: frozenset[str]) -> tuple[list[Field], dict[str, Field]]:
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


def _read(it: Interpreter, call: Call) -> Value:
    names, values = _names_after_options(call, _READ_VALUES)
    stdin = call.stdin
    if "a" in values:
        names.append(values["a"])
    for at, field in enumerate(names):
        text = field.literal
        if text is None or _NAME.fullmatch(text) is None:
            it.taint("the subscript of a variable name is evaluated", field.start, field.end)
        elif "a" in values:
            it.state.variables[text] = _read_array(stdin)
        else:
            it.state.assign(text, _read_value(stdin, whole=len(names) == 1) if len(names) == 1 else _read_part(stdin, at, len(names)))
    if not names:
        it.state.assign("REPLY", _read_value(stdin, whole=True))
    return _done(it, call)


def _read_part(stdin: Value, at: int, count: int) -> Value:
    """One of several names: the words of a known line, as a possibility."""
    if stdin.texts is None or len(stdin.texts) != 1:
        return unknown(stdin.tags)
    words = stdin.texts[0].split("\n")[0].split(None, count - 1)
    return Value((words[at] if at < len(words) else "",), False, tags=stdin.tags)


def _read_array(stdin: Value) -> Variable:
    if stdin.texts is None or len(stdin.texts) != 1:
        return Variable(unknown(stdin.tags))
    words = tuple(Value((w,), False, tags=stdin.tags) for w in stdin.texts[0].split("\n")[0].split())
    return Variable(words[0] if words else EMPTY, words)


def _read_value(stdin: Value, *, whole: bool) -> Value:
    if stdin.kind == "listed" and whole:
        return stdin
    if stdin.texts:
        lines = tuple(dict.fromkeys(line for text in stdin.texts for line in text.split("\n") if line))
        if lines and len(lines) <= 16 and whole:
            return Value(lines, False, tags=stdin.tags)
    return unknown(stdin.tags)


def _mapfile(it: Interpreter, call: Call) -> Value:
    names, values = _names_after_options(call, frozenset("dnOsuCc"))
    if "C" in values:
        interpreted(it, call, field_value(values["C"]), "shell", values["C"])
        _add(it, call, Kind.UNKNOWN, "runs a command for what it reads", values["C"], "callback")
    for field in names:
        text = field.literal
        if text is None or _NAME.fullmatch(text) is None:
            it.taint("the subscript of a variable name is evaluated", field.start, field.end)
        else:
            it.state.variables[text] = _lines_array(call.stdin)
    return _done(it, call)


def _lines_array(stdin: Value) -> Variable:
    if stdin.texts is None or len(stdin.texts) != 1:
        return Variable(unknown(stdin.tags))
    lines = tuple(Value((line,), False, tags=stdin.tags) for line in stdin.texts[0].split("\n") if line)
    return Variable(lines[0] if lines else EMPTY, lines)


def _let(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        text = field.literal
        if text is None or re.search(r"[$`\\\[]", text):
            it.taint("text that is not known is evaluated as a number", field.start, field.end)
        else:
            lit = Lit(byte_view(text), True, field.start, field.end)
            it.expander().arithmetic(Word((lit,), field.start, field.end))
    return _done(it, call)


def _getopts(it: Interpreter, call: Call) -> Value:
    for field in call.args[1:2]:
        if field.literal is not None and _NAME.fullmatch(field.literal):
            it.state.assign(field.literal, ANYTHING)
        else:
            it.taint("the subscript of a variable name is evaluated", field.start, field.end)
    return _done(it, call)


def _shift(it: Interpreter, call: Call) -> Value:
    arguments = it.state.arguments
    count = call.args[0].literal if call.args else "1"
    it.state.arguments = arguments[int(count) :] if arguments and count and count.isdigit() else None
    return _done(it, call)


# -- running text and programs --------------------------------------------------------------------


def _eval(it: Interpreter, call: Call) -> Value:
    emit(it, call, "eval", builtin=True)
    if not call.args:
        return EMPTY
    value = field_value(call.args[0])
    from stockade.shell.expanding import glue

    for field in call.args[1:]:
        value = glue(glue(value, known(" ")), field_value(field))
    whole = call.args[0]._replace(end=call.args[-1].end)
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
    from stockade.shell.values import DECODED, NETWORK

    if NETWORK in value.tags:
        it.note(Kind.FLOOR, "evaluates what the network answers", field.start, field.end, "network-to-interpreter")
    elif DECODED in value.tags:
        it.note(Kind.UNKNOWN, "evaluates text that was decoded", field.start, field.end, "decoded")


def _source(it: Interpreter, call: Call) -> Value:
    if not call.args:
        return _done(it, call)
    field = call.args[0]
    text = field.literal
    content: Value | None = None
    if text in ("/dev/stdin", "/dev/fd/0", "-"):
        content = call.stdin
    elif text is not None and (path := it.state.absolute(text)) is not None:
        content = it.state.written.get(normal(path))
    if content is None:
        for target in targets(it, field):
            call.effects.append(Effect(Kind.READ, target, "", *it.span(field.start, field.end)))
        run_file(it, call, field)
        return _done(it, call, ANYTHING)
    emit(it, call, "source", builtin=True)
    _judge_source(it, content, field)
    if content.texts is None:
        it.note(Kind.UNKNOWN, "runs text that is not known", field.start, field.end, "unknown-text")
        return ANYTHING
    for one in content.texts:
        it.run_text(text_of(one), field.start, field.end)
    return ANYTHING


def _exec(it: Interpreter, call: Call) -> Value:
    args = list(call.args)
    while args and re.match(r"-[cl]*(?:a|[cl]$)", args[0].literal or ""):
        flags = args.pop(0).literal or ""
        if flags.endswith("a") and flags.count("a") == 1 and args:
            args.pop(0)
    if not args:
        return _done(it, call)
    return run(it, call.inside(args, "exec", external=True))


def _command(it: Interpreter, call: Call) -> Value:
    args = list(call.args)
    while args and re.fullmatch(r"-[pvV]+|--", args[0].literal or ""):
        flag = args.pop(0).literal or ""
        if "v" in flag or "V" in flag:
            out = _location(it, args)
            return _done(it, call, out)
    return _without_functions(it, call, args, "command")


def _location(it: Interpreter, args: list[Field]) -> Value:
    if len(args) == 1 and args[0].literal is not None:
        return known(byte_view(args[0].literal) + "\n")._replace(sure=False)
    return ANYTHING


def _builtin(it: Interpreter, call: Call) -> Value:
    return _without_functions(it, call, list(call.args), "builtin")


def _without_functions(it: Interpreter, call: Call, args: list[Field], wrapper: str) -> Value:
    if not args:
        return _done(it, call)
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


def _alias(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        name, equals, value = (field.text or "").partition("=")
        if equals or field.literal is None:
            it.state.aliases[name] = known(byte_view(value)) if field.literal is not None else ANYTHING
            _add(it, call, Kind.UNKNOWN, f"defines the alias `{name}`", field, "defines")
    return _done(it, call)


def _trap(it: Interpreter, call: Call) -> Value:
    args = [f for f in call.args if f.literal != "--"]
    if not args or args[0].literal in ("-p", "-l", "-", "") or (args[0].literal or "").isdigit():
        return _done(it, call)
    _add(it, call, Kind.UNKNOWN, "a command that runs later", args[0], "trap")
    interpreted(it, call, field_value(args[0]), "shell", args[0])
    return _done(it, call)


def _set(it: Interpreter, call: Call) -> Value:
    args = list(call.args)
    if not args:
        _add(it, call, Kind.SECRET, "prints the variables of the environment", call.fields[0])
    while args:
        field = args.pop(0)
        text = field.literal
        if text == "--" or (text is not None and not text.startswith(("-", "+"))):
            rest = args if text == "--" else [field, *args]
            it.state.arguments = None if any(f.many for f in rest) else tuple(_argument(f) for f in rest)
            break
        if text is None or set(text[1:]) & set("knpr"):
            _add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", field, "shell-option")
        if text is not None and "x" in text[1:]:
            it.state.tracing = True
        if text is not None and "o" in text[1:] and args:
            named = args.pop(0)
            if named.literal not in _QUIET_OPTIONS:
                _add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", named, "shell-option")
    return _done(it, call)


def _argument(field: Field) -> Value:
    from stockade.shell.interpret import field_value as as_value

    return as_value(field)


def _shopt(it: Interpreter, call: Call) -> Value:
    for field in call.args:
        text = field.literal
        if text == "expand_aliases":
            it.state.expand_aliases = True
        elif text is None or (not text.startswith("-") and text not in _QUIET_SHOPTS | _QUIET_OPTIONS):
            _add(it, call, Kind.UNKNOWN, "an option of the shell that is not modelled", field, "shell-option")
    return _done(it, call)


def _hash(it: Interpreter, call: Call) -> Value:
    if any((f.literal or "-p").startswith("-") and "p" in (f.literal or "-p") for f in call.args):
        _add(it, call, Kind.HIJACK, "binds a name to another program", call.args[0], "hash")
        it.state.lookup_changed = True
    return _done(it, call)


def _unmodelled(it: Interpreter, call: Call) -> Value:
    """A builtin whose work cannot be followed."""
    _add(it, call, Kind.UNKNOWN, f"`{call.fields[0].text}` is not modelled", call.fields[0], "builtin")
    return _done(it, call, ANYTHING)


def _complete(it: Interpreter, call: Call) -> Value:
    _, values = _names_after_options(call, frozenset("ACFGPSWXo"))
    for letter in ("C", "F"):
        if letter in values:
            _add(it, call, Kind.HIJACK, "registers a command that runs later", values[letter], "runs")
            interpreted(it, call, field_value(values[letter]), "shell", values[letter])
    for letter in ("W", "X", "P", "S"):
        if letter in values and (values[letter].literal is None or re.search(r"[$`]", values[letter].literal or "")):
            it.taint("words that are expanded", values[letter].start, values[letter].end)
    return _done(it, call, ANYTHING)


def _history(it: Interpreter, call: Call) -> Value:
    _add(it, call, Kind.SECRET, "shows or changes the history of commands", call.fields[0])
    return _done(it, call, ANYTHING)


# -- reading builtins -----------------------------------------------------------------------------


def _test(it: Interpreter, call: Call) -> Value:
    args = call.args
    for at, field in enumerate(args[:-1]):
        operand = args[at + 1]
        if field.literal in _FILE_TESTS:
            for target in targets(it, operand):
                call.effects.append(Effect(Kind.LIST, target, "", *it.span(operand.start, operand.end)))
        elif field.literal in ("-v", "-R") and (operand.literal is None or "[" in operand.literal):
            it.taint("the subscript of a variable name is evaluated", operand.start, operand.end)
    if any(f.many and not f.sure for f in args) and not all(f.literal for f in args[:1]):
        if args and args[0].many:
            it.taint("an operator of a test that is not known", args[0].start, args[0].end)
    return _done(it, call)


def _echo(it: Interpreter, call: Call) -> Value:
    return _done(it, call, echo_text(call.args))


def _printf(it: Interpreter, call: Call) -> Value:
    args = call.args
    if args and args[0].literal == "-v":
        field = args[1] if len(args) > 1 else args[0]
        text = field.literal
        if text is None or _NAME.fullmatch(text) is None:
            it.taint("the subscript of a variable name is evaluated", field.start, field.end)
        else:
            it.state.assign(text, printf_text(args[2:]))
        return _done(it, call)
    if args and args[0].literal is None and args[0].can_be_option:
        it.taint("an option of printf that is not known", args[0].start, args[0].end)
    return _done(it, call, printf_text(args))


def _type(it: Interpreter, call: Call) -> Value:
    if call.fields[0].text == "type" and call.args and (call.args[0].literal or "") in ("-P", "-p"):
        return _done(it, call, _location(it, call.args[1:]))
    return _done(it, call, ANYTHING)


def _external(it: Interpreter, call: Call) -> Value:
    """A builtin that does what the program of the same name does."""
    return run_program(it, call, call.fields[0].text or "")


BUILTINS: dict[str, Callable[[Interpreter, Call], Value]] = {
    "cd": _cd, "pushd": _pushd, "popd": _popd, "pwd": _pwd, "dirs": _type,
    "unset": _unset, "read": _read, "mapfile": _mapfile, "readarray": _mapfile, "let": _let, "getopts": _getopts,
    "shift": _shift, "eval": _eval, "source": _source, ".": _source, "exec": _exec, "command": _command,
    "builtin": _builtin, "alias": _alias, "unalias": _quiet, "trap": _trap, "set": _set, "shopt": _shopt,
    "hash": _hash, "enable": _unmodelled, "bind": _unmodelled, "fc": _unmodelled, "complete": _complete,
    "compgen": _complete, "compopt": _quiet, "history": _history, "test": _test, "[": _test, "echo": _echo,
    "printf": _printf, "type": _type, "help": _type, "true": _quiet, "false": _quiet, ":": _quiet, "umask": _quiet,
    "ulimit": _quiet, "wait": _wait, "jobs": _type, "exit": _quiet, "return": _quiet, "break": _quiet,
    "continue": _quiet, "times": _quiet, "disown": _quiet, "fg": _quiet, "bg": _quiet, "caller": _quiet,
    "logout": _quiet, "kill": _external,
}  # fmt: skip

__all__ = ["BUILTINS", "Segment", "call_alias", "declare", "posixpath", "resolve_name", "shadows"]
