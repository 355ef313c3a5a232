"""Readers of little languages and odd argument vectors: what a table of options cannot say.

A reader gets the walk, the call and the reading of its words; it adds effects to the call, runs nested
text through the walk, and may say what the program prints.  `DONE` says that it has reported the
segment itself.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockade.shell.arguments import Reading
    from stockade.shell.calls import Call, Ran
    from stockade.shell.catalog import Program
    from stockade.shell.interpret import Interpreter
    from stockade.shell.values import Field, Value

    Reader = Callable[[Interpreter, Call, Reading], Value | Ran | None]

# The readers by the name that a description gives: module and function, loaded when they are met.
READERS: dict[str, tuple[str, str]] = {
    "awk": ("awk", "read"),
    "chmod": ("files", "chmod"),
    "curl": ("hosts", "curl"),
    "date": ("files", "date"),
    "dd": ("files", "dd"),
    "docker": ("hosts", "docker"),
    "env": ("wrappers", "env"),
    "fd": ("find", "fd"),
    "find": ("find", "read"),
    "flock": ("wrappers", "flock"),
    "git": ("git", "read"),
    "interpreter": ("code", "interpreter"),
    "joined": ("wrappers", "joined"),
    "jq": ("data", "jq"),
    "less": ("files", "less"),
    "ln": ("files", "ln"),
    "make": ("data", "make"),
    "mv": ("files", "mv"),
    "parted": ("files", "parted"),
    "parallel": ("wrappers", "parallel"),
    "printenv": ("files", "printenv"),
    "ps": ("files", "ps"),
    "response": ("files", "response"),
    "rsync": ("hosts", "rsync"),
    "search": ("find", "search"),
    "sed": ("sed", "read"),
    "shell": ("shells", "read"),
    "sqlite3": ("data", "sqlite3"),
    "ss": ("hosts", "ss"),
    "ssh": ("hosts", "ssh"),
    "stdin-shell": ("shells", "on_stdin"),
    "su": ("shells", "su"),
    "sysctl": ("files", "sysctl"),
    "tar": ("tar", "read"),
    "unzip": ("files", "unzip"),
    "xargs": ("wrappers", "xargs"),
}
_loaded: dict[str, Reader] = {}


def reader(name: str) -> Reader | None:
    """The reader of that name, None for a description that needs none."""
    found = _loaded.get(name)
    if found is None and name in READERS:
        module, function = READERS[name]
        found = _loaded[name] = getattr(import_module(f"stockade.shell.readers.{module}"), function)
    return found


def prepare(program: Program, args: list[Field]) -> list[Field]:
    """The words in the order that the description reads them in."""
    if program.reader != "tar":
        return args
    from stockade.shell.readers.tar import prepare as old_style

    return old_style(program, args)
