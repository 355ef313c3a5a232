"""sed: a script is read command by command; only what reads and prints passes.

Source: sed(1) and the GNU sed 4.9 manual, "Commands" and "The `s` Command".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, targets
from stockade.shell.values import Field, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_ADDRESS = re.compile(r"[0-9]+(?:~[0-9]+)?|\$")
_STEP = re.compile(r"[+~][0-9]+")
_ALONE = frozenset("=dDgGhHnNpPxzF}")
_LABELLED = frozenset("btT:")
_TEXTUAL = frozenset("aic")
_FILES = {"r": Kind.READ, "R": Kind.READ, "w": Kind.WRITE, "W": Kind.WRITE}


def read(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    scripts = [use.field for use in reading.uses if use.option in ("-e", "--expression")]
    operands = list(reading.operands)
    if not scripts and not any(use.option in ("-f", "--file") for use in reading.uses):
        if not operands:
            return None
        scripts = [operands.pop(0)]
    in_place = "-i" in reading.options
    suffix = reading.values.get("-i")
    if suffix is not None and re.search(r"[/*]", suffix.text or "/"):
        begin, stop = it.span(suffix.start, suffix.end)
        call.effects.append(Effect(Kind.UNKNOWN, None, "the suffix of `-i` puts the backup somewhere else", begin, stop))
    for field in operands:
        for target in targets(it, field):
            kind = Kind.EDIT if in_place else Kind.READ
            call.effects.append(Effect(kind, target, "", *it.span(field.start, field.end)))
    if any(f.many for f in operands) and in_place:
        call.effects.append(Effect(Kind.UNKNOWN, None, "the files that it edits are not known", call.start, call.end))
    sandboxed = "--sandbox" in reading.options
    for script in scripts:
        if not sandboxed:
            _script(it, call, script)
    return None


def _script(it: Interpreter, call: Call, field: Field) -> None:
    text = field.literal
    if text is None:
        call.effects.append(Effect(Kind.UNKNOWN, None, "the script of sed is not known", *it.span(field.start, field.end)))
        return
    reader = _Script(it, call, field, text)
    if not reader.read():
        call.effects.append(
            Effect(Kind.UNKNOWN, None, "the script of sed is not understood", *it.span(field.start, field.end), code="sed")
        )


class _Script:
    """One pass over a script; every method gives False where it does not understand."""

    __slots__ = ("at", "call", "field", "it", "text")

    def __init__(self, it: Interpreter, call: Call, field: Field, text: str) -> None:
        self.it = it
        self.call = call
        self.field = field
        self.text = text
        self.at = 0

    def _rest_of_line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line = self.text[self.at : end]
        self.at = end
        return line.strip()

    def read(self) -> bool:
        while True:
            while self.text[self.at : self.at + 1] in (" ", "\t", "\n", ";"):
                self.at += 1
            if self.at >= len(self.text):
                return True
            if not (self._addresses() and self._command()):
                return False

    def _addresses(self) -> bool:
        if not self._address():
            return False
        self._blanks()
        if self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self._blanks()
            step = _STEP.match(self.text, self.at)
            if step is not None:
                self.at = step.end()
            elif not self._address():
                return False
            self._blanks()
        while self.text[self.at : self.at + 1] in ("!", " "):
            self.at += 1
        return True

    def _blanks(self) -> None:
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1

    def _address(self) -> bool:
        m = _ADDRESS.match(self.text, self.at)
        if m is not None:
            self.at = m.end()
            return True
        c = self.text[self.at : self.at + 1]
        if c == "/":
            delimiter = "/"
        elif c == "\\":
            self.at += 1
            delimiter = self.text[self.at : self.at + 1]
        else:
            return True
        if not delimiter or self._delimited(delimiter) is None:
            return False
        while self.text[self.at : self.at + 1] in ("I", "M"):
            self.at += 1
        return True

    def _delimited(self, delimiter: str) -> str | None:
        """Text from the delimiter at `at` to the next one; a bracket hides it only inside a regex."""
        begin = self.at + 1
        at = begin
        while at < len(self.text):
            c = self.text[at]
            if c == "\\":
                at += 2
                continue
            if c == delimiter:
                self.at = at + 1
                return self.text[begin:at]
            if c == "[" and (close := _bracket_end(self.text, at)) > at:
                if delimiter in self.text[at:close]:  # versions of sed differ on whether the bracket hides it
                    return None
                at = close
                continue
            at += 1
        return None

    def _command(self) -> bool:
        c = self.text[self.at : self.at + 1]
        self.at += 1
        if c in _ALONE or c == "{":
            return c == "{" or self._end()
        if c in "qQlL" and c:
            m = re.compile(r"\s*[0-9]*").match(self.text, self.at)
            self.at = m.end() if m else self.at
            return self._end()
        if c in _LABELLED and c:
            end = re.compile(r"[^;\n}]*").match(self.text, self.at)
            self.at = end.end() if end else self.at
            return True
        if c in _TEXTUAL and c:
            return self._textual()
        if c in _FILES:
            return self._file(_FILES[c])
        if c == "#":
            self._rest_of_line()
            return True
        if c == "e":
            return self._execute()
        if c == "s":
            return self._substitute()
        return c == "y" and self._transliterate()

    def _end(self) -> bool:
        self._blanks()
        c = self.text[self.at : self.at + 1]
        return c in ("", "\n", ";", "}", "#")

    def _textual(self) -> bool:
        while True:
            line_end = self.text.find("\n", self.at)
            if line_end < 0:
                self.at = len(self.text)
                return True
            line = self.text[self.at : line_end]
            continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
            self.at = line_end + 1
            if not continued:
                return True

    def _file(self, kind: Kind) -> bool:
        name = self._rest_of_line()
        if not name:
            return False
        if name not in ("/dev/stdout", "/dev/stderr", "/dev/stdin"):
            for target in targets(self.it, self.field._replace(text=name)):
                self.call.effects.append(Effect(kind, target, "", *self.it.span(self.field.start, self.field.end)))
        return True

    def _execute(self) -> bool:
        command = self._rest_of_line()
        self._runs(command or None)
        return True

    def _runs(self, command: str | None) -> None:
        begin, stop = self.it.span(self.field.start, self.field.end)
        self.call.effects.append(Effect(Kind.EXECUTE, None, "sed runs a command", begin, stop, "code"))
        if command is not None:
            self.it.in_copy(lambda: self.it.run_text(command, self.field.start, self.field.end))
        else:
            self.call.effects.append(Effect(Kind.UNKNOWN, None, "sed runs the text that it edits", begin, stop))

    def _substitute(self) -> bool:
        delimiter = self.text[self.at : self.at + 1]
        if not delimiter or delimiter in "\\\n":
            return False
        if self._delimited(delimiter) is None:
            return False
        self.at -= 1
        begin = self.at + 1
        if self._replacement(delimiter) is None:
            return False
        replacement = self.text[begin : self.at - 1]
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in "gpiImM" or c.isdigit():
                self.at += 1
            elif c == "e":
                self._runs(replacement)
                self._runs(None)
                self.at += 1
            elif c == "w":
                self.at += 1
                return self._file(Kind.WRITE)
            else:
                break
        return self._end()

    def _replacement(self, delimiter: str) -> str | None:
        at = self.at + 1
        while at < len(self.text):
            if self.text[at] == "\\":
                at += 2
                continue
            if self.text[at] == delimiter:
                self.at = at + 1
                return ""
            at += 1
        return None

    def _transliterate(self) -> bool:
        delimiter = self.text[self.at : self.at + 1]
        if not delimiter or self._replacement(delimiter) is None:
            return False
        self.at -= 1
        return self._replacement(delimiter) is not None and self._end()


def _bracket_end(text: str, at: int) -> int:
    """The position behind the bracket expression at `at`, or `at` where there is none."""
    i = at + 1
    if text[i : i + 1] == "^":
        i += 1
    if text[i : i + 1] == "]":
        i += 1
    while i < len(text) and text[i] != "]":
        if text[i] == "\n":
            return at
        i += 1
    return i + 1 if i < len(text) else at
