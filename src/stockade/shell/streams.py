"""How much of a shared standard input is left: `{ head -1; sh; }` gives the second one only the rest."""

from __future__ import annotations

from stockade.shell.arguments import Reading
from stockade.shell.values import Field, Value, unknown

UNREAD, LINES, ANY = range(3)
"""What commands before this one have read of it: nothing, whole lines, or any part."""

_DEAF = frozenset(
    ("ls", "pwd", "date", "whoami", "id", "uname", "hostname", "which", "basename", "dirname", "mkdir", "touch", "true",
     "false", "sleep", "stat", "seq", "find", "realpath", "readlink", "mktemp", "nproc", "printenv", "du", "df", "ps",
     "echo", "printf", "chmod", "chown", "ln", "[", "test")
)  # fmt: skip
_OPERAND_INSTEAD = frozenset(("read", "list", "mode", "move", "delete"))
_STANDARD_INPUT = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


def holds_text(stdin: Value) -> bool:
    """Whether what is read there is known, so that it matters how much of it is left."""
    return stdin.texts is not None and stdin.texts != ("",)


def left(stdin: Value, taken: int, *, by_lines: bool) -> Value:
    """What a command finds there; one that reads by lines goes on where the lines before it ended."""
    whole = taken == UNREAD or (taken == LINES and by_lines)
    return stdin if whole or not holds_text(stdin) else unknown(stdin.tags)


def reads_input(base: str, reading: Reading) -> bool:
    """Whether a program may read its standard input: not one that is given a file to read instead."""
    if base in _DEAF or reading.info:
        return False
    files = [use.field for use in reading.uses if not use.option and use.role in _OPERAND_INSTEAD]
    return not files or any(_may_be_input(field) for field in files)


def _may_be_input(field: Field) -> bool:
    return field.many or field.text is None or field.text in _STANDARD_INPUT
