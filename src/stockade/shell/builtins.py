"""The builtins of bash: what they do to the shell's state, and what they evaluate.

A builtin that is missing here is looked up as a program, and asks if it is not described.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.builtin_run import alias, builtin, command, complete, evaluate, execute, hash_names, location, source, trap
from stockade.shell.builtin_state import (
    NAME,
    add,
    cd,
    done,
    getopts,
    let,
    mapfile,
    names_after_options,
    popd,
    pushd,
    pwd,
    read,
    set_options,
    shift,
    shopt,
    subscript,
    unset,
    wait,
)
from stockade.shell.calls import Call, targets
from stockade.shell.commands import run, run_program
from stockade.shell.outputs import echo_text, printf_text
from stockade.shell.values import ANYTHING, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_FILE_TESTS = frozenset(f"-{c}" for c in "abcdefghkprsuwxGLNOS")


def _quiet(it: Interpreter, call: Call) -> Value:
    """A builtin that changes and reveals nothing that matters."""
    return done(it, call)


# -- folders --------------------------------------------------------------------------------------


# -- variables ------------------------------------------------------------------------------------


# -- running text and programs --------------------------------------------------------------------


def _unmodelled(it: Interpreter, call: Call) -> Value:
    """A builtin whose work cannot be followed."""
    add(it, call, Kind.UNKNOWN, f"`{call.fields[0].text}` is not modelled", call.fields[0], "builtin")
    return done(it, call, ANYTHING)


def _history(it: Interpreter, call: Call) -> Value:
    add(it, call, Kind.SECRET, "shows or changes the history of commands", call.fields[0])
    return done(it, call, ANYTHING)


# -- reading builtins -----------------------------------------------------------------------------


def _test(it: Interpreter, call: Call) -> Value:
    args = call.args
    for at, field in enumerate(args[:-1]):
        operand = args[at + 1]
        if field.literal in _FILE_TESTS:
            for target in targets(it, operand):
                call.effects.append(Effect(Kind.LIST, target, "", *it.span(operand.start, operand.end)))
        elif field.literal in ("-v", "-R") and (operand.literal is None or "[" in operand.literal):
            subscript(it, operand)
    if any(f.many and not f.sure for f in args) and not all(f.literal for f in args[:1]):
        if args and args[0].many:
            it.taint("an operator of a test that is not known", args[0].start, args[0].end)
    return done(it, call)


def _echo(it: Interpreter, call: Call) -> Value:
    if it.posix and any("\\" in (f.text or "") for f in call.args):  # the `echo` of dash reads escapes
        return done(it, call, ANYTHING)
    return done(it, call, echo_text(call.args))


def _printf(it: Interpreter, call: Call) -> Value:
    args = call.args
    if args and (args[0].literal or "").startswith("-v"):
        words, values = names_after_options(call, frozenset("v"))
        field = values.get("v", args[0])
        if field.literal is None or NAME.fullmatch(field.literal) is None:
            subscript(it, field)
        else:
            it.set_variable(field.literal, printf_text(words), field.start, field.end)
        return done(it, call)
    if args and args[0].literal is None and args[0].can_be_option:
        it.taint("an option of printf that is not known", args[0].start, args[0].end)
    return done(it, call, printf_text(args))


def _jobs(it: Interpreter, call: Call) -> Value:
    """`jobs -x COMMAND` runs the command."""
    args = list(call.args)
    while args and re.fullmatch(r"-[a-z]+|--", args[0].literal or ""):
        if "x" in (args.pop(0).literal or ""):
            return run(it, call.inside(args, "jobs", external=False)) if args else done(it, call)
    if args and args[0].literal is None:
        add(it, call, Kind.UNKNOWN, "an option of `jobs` that is not known", args[0], "option")
    return done(it, call, ANYTHING)


def _type(it: Interpreter, call: Call) -> Value:
    if call.fields[0].text == "type" and call.args and (call.args[0].literal or "") in ("-P", "-p"):
        return done(it, call, location(it, call.args[1:]))
    return done(it, call, ANYTHING)


def _external(it: Interpreter, call: Call) -> Value:
    """A builtin that does what the program of the same name does."""
    return run_program(it, call, call.fields[0].text or "")


BUILTINS: dict[str, Callable[[Interpreter, Call], Value]] = {
    "cd": cd, "pushd": pushd, "popd": popd, "pwd": pwd, "dirs": _type,
    "unset": unset, "read": read, "mapfile": mapfile, "readarray": mapfile, "let": let, "getopts": getopts,
    "shift": shift, "eval": evaluate, "source": source, ".": source, "exec": execute, "command": command,
    "builtin": builtin, "alias": alias, "unalias": _quiet, "trap": trap, "set": set_options, "shopt": shopt,
    "hash": hash_names, "enable": _unmodelled, "bind": _unmodelled, "fc": _unmodelled, "complete": complete,
    "compgen": complete, "compopt": _quiet, "history": _history, "test": _test, "[": _test, "echo": _echo,
    "printf": _printf, "type": _type, "help": _type, "true": _quiet, "false": _quiet, ":": _quiet, "umask": _quiet,
    "ulimit": _quiet, "wait": wait, "jobs": _jobs, "exit": _quiet, "return": _quiet, "break": _quiet,
    "continue": _quiet, "times": _quiet, "disown": _quiet, "fg": _quiet, "bg": _quiet, "caller": _quiet,
    "logout": _quiet, "kill": _external,
}  # fmt: skip
