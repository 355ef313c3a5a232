"""Where in a TOML text a key stands: the parser of the standard library gives values without their lines."""

from __future__ import annotations

import re
import tomllib

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_ONE = re.compile(_PART)
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({_DOTTED})[ \t]*\]")
_KEY = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=[ \t]*")
_MULTILINE = ('"""', "'''")

Path = tuple[str, ...]


class Lines:
    """The line, counted from 1, of each key of a text that is valid TOML; of no importance but for messages."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._first: dict[Path, int] = {}
        self._scan()

    def of(self, *path: str) -> int:
        """The line on which a key first stands; a key of an inline table has the line of that table; else 0."""
        for length in range(len(path), 0, -1):
            line = self._first.get(path[:length])
            if line is not None:
                return line
        return 0

    def of_text(self, text: str, *path: str) -> int:
        """The line of a quoted text among the values of a key."""
        start = self.of(*path)
        forms = (f'"{text}"', f"'{text}'", '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
        for at in range(max(start - 1, 0), len(self.lines)):
            if any(form in self.lines[at] for form in forms):
                return at + 1
        return start

    def _scan(self) -> None:
        table: Path = ()
        closing = ""  # the mark that ends the multi-line string in which the line stands
        for number, line in enumerate(self.lines, 1):
            if closing:
                if closing in line:
                    closing = ""
                continue
            if header := _HEADER.match(line):
                table = _parts(header.group(1))
                self._note(table, number)
            elif key := _KEY.match(line):
                self._note(table + _parts(key.group(1)), number)
                opening = line[key.end() : key.end() + 3]
                if opening in _MULTILINE and opening not in line[key.end() + 3 :]:
                    closing = opening

    def _note(self, path: Path, number: int) -> None:
        for length in range(len(path), 0, -1):
            if path[:length] in self._first:
                return
            self._first[path[:length]] = number


def _parts(dotted: str) -> Path:
    return tuple(_unquoted(part) for part in _ONE.findall(dotted))


def _unquoted(part: str) -> str:
    if part[0] not in "\"'":
        return part
    try:
        return str(tomllib.loads(f"key = {part}")["key"])
    except tomllib.TOMLDecodeError:  # a line of a multi-line array that only looks like a key
        return part
