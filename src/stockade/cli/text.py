"""Text for a terminal: nothing that an agent wrote reaches it as it is."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

# Control characters, and characters that a person cannot see or that turn the line around.
_HIDDEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1", "dim": "2", "underline": "4"}


def visible(text: str) -> str:
    """The text with hidden characters written out as `⟨U+200B⟩`; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_HIDDEN, lambda m: f"⟨U+{ord(m.group()):04X}⟩", text)


def one_line(text: str) -> str:
    """The same on one line."""
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def colourful(stream: TextIO) -> bool:
    """Whether colour may be used: on a terminal, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str, on: bool) -> str:
    if not on or not text:
        return text
    codes = ";".join(_COLOURS[style] for style in styles)
    return f"\x1b[{codes}m{text}\x1b[0m"


def marked(command: str, start: int, end: int, *, on: bool) -> str:
    """The command with the bytes from `start` to `end` underlined, by carets where there is no colour."""
    data = command.encode("utf-8", "surrogateescape")
    if not 0 <= start < end <= len(data):
        return visible(command)
    before, inside, after = (visible(part.decode("utf-8", "replace")) for part in (data[:start], data[start:end], data[end:]))
    if on:
        lines = [paint(line, "underline", "bold", on=True) for line in inside.split("\n")]
        return before + "\n".join(lines) + after
    return _carets(before, inside, after)


def _carets(before: str, inside: str, after: str) -> str:
    """A line of carets below every line that is concerned."""
    out: list[str] = []
    position = 0
    first, last = len(before), len(before) + len(inside)
    for line in (before + inside + after).split("\n"):
        out.append(line)
        low, high = max(first - position, 0), min(last - position, len(line))
        if low < high:
            out.append(" " * low + "^" * (high - low))
        position += len(line) + 1
    return "\n".join(out)


def say(text: str) -> None:
    print(text, file=sys.stderr)
