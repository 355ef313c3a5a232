"""What the interpreter knows at one point of a script: variables, folder, functions, files written."""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from stockade.model.context import Context
from stockade.shell.syntax import Function, byte_view
from stockade.shell.values import ANYTHING, EMPTY, INTEGER, Value, join, known

# Variables that bash sets by itself, also in an empty environment.
_SET_BY_BASH = frozenset(
    ("PATH", "PWD", "OLDPWD", "SHLVL", "_", "IFS", "PS4", "TERM", "SHELL", "HOSTNAME", "HOSTTYPE", "OSTYPE", "MACHTYPE", "OPTERR",
     "DIRSTACK", "GROUPS", "PIPESTATUS", "FUNCNAME", "REPLY", "SHELLOPTS")
)  # fmt: skip
# Those that evaluate to nothing but numbers.
_INTEGERS = frozenset(
    ("RANDOM", "SRANDOM", "SECONDS", "LINENO", "BASHPID", "UID", "EUID", "PPID", "OPTIND", "SHLVL",
     "EPOCHSECONDS", "HISTCMD", "COLUMNS", "LINES", "#", "?", "$", "!")
)  # fmt: skip


class Variable(NamedTuple):
    """`array` is set for arrays; `integer` for `declare -i`, `reference` for `declare -n`."""

    value: Value
    array: tuple[Value, ...] | None = None
    exported: bool = False
    integer: bool = False
    reference: bool = False
    associative: bool = False


class State:
    """The mutable state of one shell; a subshell works on a `copy`."""

    __slots__ = (
        "aliases",
        "arguments",
        "constant",
        "context",
        "cwd",
        "emptied",
        "expand_aliases",
        "exported_functions",
        "functions",
        "ifs_changed",
        "lookup_changed",
        "moved",
        "oldcwd",
        "stack",
        "tracing",
        "unset",
        "variables",
        "written",
        "zero",
    )

    def __init__(self, context: Context) -> None:
        self.context = context
        self.cwd: str | None = context.cwd
        self.oldcwd: str | None = None
        self.moved = False  # a `cd` was met, and may have failed
        self.constant: frozenset[str] = frozenset()  # declared readonly: an assignment fails
        self.stack: list[str | None] = []
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, tuple[Function, ...]] = {}  # every body that a name can have
        self.aliases: dict[str, Value] = {}
        self.arguments: tuple[Value, ...] | None = None
        self.expand_aliases = False
        self.ifs_changed = False
        self.lookup_changed = False
        self.tracing = False
        self.zero: Value | None = None
        self.exported_functions: frozenset[str] = frozenset()
        self.unset: frozenset[str] = frozenset()
        self.emptied = False  # of all variables that came from the environment
        self.written: dict[str, Value] = {}

    def copy(self) -> State:
        other = State.__new__(State)  # field by field: this is called for every part of a pipe
        other.aliases = dict(self.aliases)
        other.arguments = self.arguments
        other.constant = self.constant
        other.context = self.context
        other.cwd = self.cwd
        other.emptied = self.emptied
        other.expand_aliases = self.expand_aliases
        other.exported_functions = self.exported_functions
        other.functions = dict(self.functions)
        other.ifs_changed = self.ifs_changed
        other.lookup_changed = self.lookup_changed
        other.moved = self.moved
        other.oldcwd = self.oldcwd
        other.stack = list(self.stack)
        other.tracing = self.tracing
        other.unset = self.unset
        other.variables = dict(self.variables)
        other.written = dict(self.written)
        other.zero = self.zero
        return other

    def join(self, other: State) -> None:
        """Becomes what either of two branches may have left."""
        if self.cwd != other.cwd:
            self.cwd = None
        if self.oldcwd != other.oldcwd:
            self.oldcwd = None
        if self.stack != other.stack:
            self.stack = []
        for name in self.variables.keys() | other.variables.keys():
            mine, theirs = self.variables.get(name), other.variables.get(name)
            if mine is not theirs:
                self.variables[name] = _joined(mine, theirs)
        self.join_names(other.functions, other.aliases)
        self.constant |= other.constant
        self.expand_aliases |= other.expand_aliases
        self.ifs_changed |= other.ifs_changed
        self.lookup_changed |= other.lookup_changed
        self.tracing |= other.tracing
        self.moved |= other.moved
        self.exported_functions |= other.exported_functions
        self._join_unset(other)
        for path, value in other.written.items():
            self.written[path] = join(self.written.get(path, value), value)

    def _join_unset(self, other: State) -> None:
        """A variable that only one of two branches has taken away has either value."""
        if self.emptied != other.emptied:
            self.variables = {**dict.fromkeys(self.context.env or (), Variable(ANYTHING)), **self.variables}
            self.emptied = False
        for name in self.unset ^ other.unset:
            if name not in self.variables:
                self.variables[name] = Variable(join(self.lookup(name), other.lookup(name)))
        self.unset &= other.unset

    def join_names(self, functions: dict[str, tuple[Function, ...]], aliases: dict[str, Value]) -> None:
        """Functions and aliases as they may have been in another state."""
        for name, bodies in functions.items():
            self.functions[name] = tuple(dict.fromkeys((*self.functions.get(name, ()), *bodies)))
        for name, value in aliases.items():
            self.aliases[name] = join(self.aliases.get(name, value), value)

    # -- variables -------------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """The value of `$name`."""
        variable = self.variables.get(name)
        if variable is not None:
            return variable.value
        if self.is_unset(name):
            return EMPTY
        environment = self.context.env
        if name == "HOME":
            if environment is not None and ("HOME" in environment or self.context.env_complete):
                return known(byte_view(environment.get("HOME", "")))
            return known(byte_view(self.context.home))
        if name == "PWD":
            return ANYTHING if self.cwd is None else Value((byte_view(self.cwd),), not self.moved)
        if name == "OLDPWD":
            return ANYTHING if self.oldcwd is None else Value((byte_view(self.oldcwd),), False)
        if name in _INTEGERS:
            return INTEGER
        if name == "IFS":
            return known(" \t\n")
        if name.isdigit():
            return self._positional(int(name)) if len(name) < 10 else ANYTHING
        if name in ("USER", "LOGNAME") and (environment is None or name not in environment):
            return Value((byte_view(posixpath.basename(self.context.home)),), sure=False)
        if environment is not None and name in environment:
            return Value((byte_view(environment[name]),), sure=False)
        return ANYTHING

    def is_unset(self, name: str) -> bool:
        """Whether it is known that no variable of that name is set."""
        if name in self.variables:
            return False
        ordinary = name.isidentifier() and not name.startswith("BASH") and name not in _SET_BY_BASH and name not in _INTEGERS
        return name in self.unset or (self.emptied and ordinary)

    def number(self, name: str) -> Value:
        """The value of a name in arithmetic, where a variable that is not set counts as 0."""
        value = self.lookup(name)
        environment = self.context.env
        unset = value is ANYTHING and name not in self.variables and environment is not None and name not in environment
        return INTEGER if unset and self.context.env_complete else value

    def _positional(self, number: int) -> Value:
        if number == 0:
            return self.zero or ANYTHING
        if self.arguments is None:
            return ANYTHING
        return self.arguments[number - 1] if number <= len(self.arguments) else EMPTY

    def array(self, name: str) -> tuple[Value, ...] | None:
        """The elements of `${name[@]}` or `$@`, None where they are not known."""
        if name in ("@", "*"):
            return self.arguments
        variable = self.variables.get(name)
        if variable is None:
            return None
        return variable.array if variable.array is not None else (variable.value,)

    def resolve(self, name: str) -> str:
        """The variable that a name stands for: itself, or what its `declare -n` points at."""
        variable = self.variables.get(name)
        return variable.value.text if variable is not None and variable.reference and variable.value.text else name

    def assign(self, name: str, value: Value, *, array: tuple[Value, ...] | None = None) -> None:
        name = self.resolve(name)
        old = self.variables.get(name)
        if name in self.constant and old is not None:
            value, array = join(old.value, value), None
        exported = old.exported if old is not None else False
        integer = old.integer if old is not None else False
        associative = old.associative if old is not None else False
        self.variables[name] = Variable(value, array, exported, integer, False, associative)
        if name == "IFS":
            self.ifs_changed = True
        elif name == "PATH":
            self.lookup_changed = True

    # -- paths -----------------------------------------------------------------------------------

    def absolute(self, path: str) -> str | None:
        """`path` joined to the working folder, `..` and links left alone; None where that is unknown."""
        if path.startswith("/"):
            return path
        if self.cwd is None:
            return None
        return posixpath.join(self.cwd, path) if path else self.cwd

    def change_folder(self, path: str | None) -> None:
        self.oldcwd = self.cwd
        self.moved = True
        target = None if path is None else self.absolute(path)
        self.cwd = None if target is None else normal(target)


def normal(path: str) -> str:
    """`path` without `.`, `..` and doubled slashes, as text (links are not looked at)."""
    result = posixpath.normpath(path)
    return "/" + result.lstrip("/") if result.startswith("//") else result


def _joined(mine: Variable | None, theirs: Variable | None) -> Variable:
    if mine is None or theirs is None:
        present = mine or theirs
        assert present is not None
        hints = present.value.texts
        value = Value(hints, False, tags=present.value.tags) if hints else ANYTHING
        return Variable(value, None, present.exported, False, False)
    array = mine.array if mine.array == theirs.array else None
    return Variable(
        join(mine.value, theirs.value), array, mine.exported or theirs.exported,
        mine.integer and theirs.integer, mine.reference or theirs.reference,
    )  # fmt: skip
