"""dd, less, ps, chmod, ln, unzip: argument vectors of their own kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.secrets.names import secret_variable
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, targets
from stockade.shell.values import Field, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_STREAMS = frozenset(("/dev/stdout", "/dev/stderr", "/dev/null", "/dev/fd/1", "/dev/fd/2"))


def dd(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """`if=` is read and `of=` is written; the rest are numbers and flags."""
    for field in call.args:
        text = field.text if field.text is not None else field.prefix
        key, equals, value = text.partition("=")
        if field.text is None and not equals:
            call.effects.append(Effect(Kind.UNKNOWN, None, "an operand that is not known", *it.span(field.start, field.end)))
        if key not in ("if", "of") or not equals or value in _STREAMS:
            continue
        kind = Kind.READ if key == "if" else Kind.WRITE
        path = field._replace(text=value) if field.text is not None else field._replace(prefix=value)
        for target in targets(it, path):
            call.effects.append(Effect(kind, target, "", *it.span(field.start, field.end)))
    return None


_CLUSTER = re.compile(r"-(?!-)[^oOkT]*[bhjxyzPD#\"t].*[oOkT]")


def less(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """An operand `+command` is typed into the pager; only movements are harmless."""
    for field in call.args:
        text = field.literal or ""
        if _CLUSTER.match(text):
            detail = "letters behind the value of an option, which are options again"
            call.effects.append(Effect(Kind.UNKNOWN, None, detail, *it.span(field.start, field.end)))
        if text.startswith("+") and not re.fullmatch(r"\+(?:[0-9gGF]+|/[^\n!|]*)", text):
            call.effects.append(
                Effect(
                    Kind.UNKNOWN,
                    None,
                    "a command that the pager runs at its start",
                    *it.span(field.start, field.end),
                    code="pager",
                )
            )
            _typed(it, text.lstrip("+").lstrip("!"), field)
    return None


def _typed(it: Interpreter, command: str, field: Field) -> None:
    it.in_copy(lambda: it.run_text(command, field.start, field.end))


def ps(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """BSD letters: `e` shows the environment of every process."""
    dashed = [f for f in call.args if (f.literal or "").startswith("-")]
    for field in (*reading.operands, *dashed):
        text = field.literal or ""
        if re.fullmatch(r"[A-Za-z]+|-(?=[a-z]*a)(?=[a-z]*x)[a-z]+", text) and "e" in text:
            call.effects.append(Effect(Kind.SECRET, None, "shows the environment of processes", *it.span(field.start, field.end)))
    for field in call.args:
        if "environ" in (field.text or "").lower():
            call.effects.append(Effect(Kind.SECRET, None, "shows the environment of processes", *it.span(field.start, field.end)))
    return None


def response(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """`@FILE` stands for the words in the file: any option can be among them."""
    for field in call.args:
        if (field.text or field.prefix).startswith("@"):
            detail = "takes its options from a file"
            call.effects.append(Effect(Kind.UNKNOWN, None, detail, *it.span(field.start, field.end), code="option"))
    return None


def chmod(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """A set-user-ID or set-group-ID bit raises privilege for whoever runs the file."""
    for field in call.args:
        text = field.literal or ""
        if re.fullmatch(r"[ugoa]*[+=][rwxXt]*s[rwxXst]*|0*[2-7][0-7]{3}", text):
            call.effects.append(
                Effect(Kind.PRIVILEGE, None, "sets a bit that raises privilege", *it.span(field.start, field.end))
            )
    return None


def ln(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """A symbolic link's text is meant from the folder of the link: where it leads is looked at."""
    if "-s" not in reading.options:
        return None
    operands = list(reading.operands)
    if len(operands) < 2 and "-t" not in reading.values:
        folder, sources = ".", operands
    else:
        last = reading.values.get("-t") or operands.pop()
        name = last.text or ""
        folder = name if name.endswith("/") or name in (".", "..") else name.rpartition("/")[0] or "."
        sources = operands
    for field in sources:
        text = field.text
        joined = field if text is None or text.startswith("/") else field._replace(text=f"{folder}/{text}")
        for target in targets(it, joined):
            # What is written through the link later changes what it leads to.
            for kind in (Kind.READ, Kind.EDIT):
                call.effects.append(Effect(kind, target, "", *it.span(field.start, field.end)))
    return None


def printenv(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """Names of variables; without one, everything."""
    names = [f.literal for f in reading.operands]
    if not names or any(name is None or secret_variable(name) for name in names):
        call.effects.append(Effect(Kind.SECRET, None, "prints variables that can hold secrets", call.start, call.end))
    return None


def unzip(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """Words after the archive are members, but for `-d DIR` and `-x`, which may stand there too."""
    rest = reading.operands[1:]
    for at, field in enumerate(rest):
        text = field.literal or ""
        if text.startswith("-d") and not reading.only:
            following = rest[at + 1] if at + 1 < len(rest) else field
            folder = field._replace(text=text[2:]) if len(text) > 2 else following
            for target in targets(it, folder, recursive=True):
                call.effects.append(Effect(Kind.WRITE, target, "", *it.span(folder.start, folder.end)))
            call.effects = [e for e in call.effects if e.kind is not Kind.DESTRUCTIVE]
        elif text.startswith("-") and text not in ("-x", "-d"):
            call.effects.append(Effect(Kind.UNKNOWN, None, f"`{text}` behind the archive", *it.span(field.start, field.end)))
    return None


def mv(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """A move onto a device replaces or loses what is moved."""
    last = reading.operands[-1].literal if reading.operands else None
    if last is not None and last.startswith("/dev/") and not last.startswith("/dev/shm"):
        call.effects.append(Effect(Kind.DESTRUCTIVE, None, f"moves onto `{last}`", call.start, call.end))
    return None


def date(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """An operand of digits sets the clock; `+FORMAT` prints."""
    for field in reading.operands:
        if field.literal is None or not field.literal.startswith("+"):
            call.effects.append(Effect(Kind.PRIVILEGE, None, "sets the clock", *it.span(field.start, field.end)))
    return None


def parted(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """parted takes commands as words: only those that print leave the disk alone."""
    operands = reading.operands
    if not operands or "-l" in reading.options:
        return None
    words = [f.literal for f in operands[1:]]
    reads = "print" in words and not any(w in _PARTED_WRITES for w in words)
    for target in targets(it, operands[0]):
        kind = Kind.LIST if reads else Kind.DISK
        call.effects.append(Effect(kind, target, "", *it.span(operands[0].start, operands[0].end)))
    if reads:
        call.effects.append(Effect(Kind.PRIVILEGE, None, "reads a disk", call.start, call.end))
    return None


_PARTED_WRITES = frozenset(
    ("mklabel", "mktable", "mkpart", "mkfs", "rm", "resizepart", "rescue", "set", "toggle", "name", "disk_set", "disk_toggle",
     "resize", "move", "cp", "type", None)
)  # fmt: skip


def sysctl(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """A name is read; `name=value` is set."""
    for field in reading.operands:
        if field.literal is None or "=" in field.literal:
            call.effects.append(Effect(Kind.PRIVILEGE, None, "sets a parameter of the kernel", *it.span(field.start, field.end)))
    return None
