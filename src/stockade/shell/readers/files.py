"""dd, less, ps: argument vectors of their own kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.commands import Call, targets
from stockade.shell.values import Value

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


def less(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """An operand `+command` is typed into the pager; only movements are harmless."""
    for field in call.args:
        text = field.literal or ""
        if text.startswith("+") and not re.fullmatch(r"\+(?:[0-9gGF]+|/[^\n!|]*)", text):
            call.effects.append(
                Effect(Kind.UNKNOWN, None, "a command that the pager runs at its start", *it.span(field.start, field.end), code="pager")
            )
            command = text.lstrip("+").lstrip("!")
            it.in_copy(lambda command=command: it.run_text(command, field.start, field.end))  # type: ignore[misc]
    return None


def ps(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """BSD letters: `e` shows the environment of every process."""
    for field in call.args:
        text = field.literal or ""
        if re.fullmatch(r"[A-Za-z]+", text) and "e" in text:
            call.effects.append(
                Effect(Kind.SECRET, None, "shows the environment of processes", *it.span(field.start, field.end))
            )
    return None
