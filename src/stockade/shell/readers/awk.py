"""awk: a program is tokenised; redirections, pipes, `system` and `getline` are found in the tokens.

Source: POSIX awk, the gawk manual ("Redirecting Output", "Using getline", "Dynamic Extensions").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, targets
from stockade.shell.values import Field, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n)|(?P<newline>\n)|(?P<comment>\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>[0-9.]+(?:[eE][+-]?[0-9]+)?)|(?P<name>@?[A-Za-z_][A-Za-z0-9_:]*)
    |(?P<op>\|&|\|\||&&|>>|[<>=!+\-*/%^]=|\+\+|--|\*\*|[\[\](){};,<>|~!?:=+\-*/%^$&.@])""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*/")
# A slash divides after these, and begins a regular expression otherwise.
_GOES_ON = frozenset((",", "&&", "||", "{", "else", "do"))  # a newline after these ends no statement
_VALUES = frozenset(("number", "string", "regex", "name"))
_KEYWORDS = frozenset(
    ("print", "printf", "return", "in", "if", "while", "for", "do", "else", "case", "delete", "exit", "getline")
)


class Token(NamedTuple):
    kind: str
    text: str


def tokens(program: str) -> list[Token] | None:
    """The tokens of a program, None where something is not understood."""
    out: list[Token] = []
    at = 0
    while at < len(program):
        if program[at] == "/" and not _divides(out):
            m = _REGEX.match(program, at)
            if m is None:
                return None
            out.append(Token("regex", m.group()))
            at = m.end()
            continue
        m = _TOKEN.match(program, at)
        if m is None:
            return None
        kind = m.lastgroup or ""
        if kind not in ("blank", "comment"):
            out.append(Token(kind, m.group()))
        at = m.end()
    return out


def _divides(before: list[Token]) -> bool:
    if not before:
        return False
    last = before[-1]
    if last.kind == "name":
        return last.text not in _KEYWORDS
    return last.kind in _VALUES or last.text in (")", "]", "++", "--", "$")


def read(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    programs = [use.field for use in reading.uses if use.option in ("-e", "--source")]
    from_file = any(use.option in ("-f", "--file", "-E", "--exec") for use in reading.uses)
    operands = list(reading.operands)
    if not programs and not from_file:
        if not operands:
            return None
        programs = [operands.pop(0)]
    for field in operands:
        if field.text is not None and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", field.text):
            continue
        for target in targets(it, field):
            call.effects.append(Effect(Kind.READ, target, "", *it.span(field.start, field.end)))
    for program in programs:
        _program(it, call, program)
    return None


def _program(it: Interpreter, call: Call, field: Field) -> None:
    found = tokens(field.literal) if field.literal is not None else None
    if found is None:
        call.effects.append(
            Effect(Kind.UNKNOWN, None, "the program of awk is not understood", *it.span(field.start, field.end), code="awk")
        )
        return
    _Program(it, call, field, found).read()


class _Program:
    """Looks for what leaves the program: files, commands, variables of the environment."""

    __slots__ = ("call", "field", "it", "tokens")

    def __init__(self, it: Interpreter, call: Call, field: Field, found: list[Token]) -> None:
        self.it = it
        self.call = call
        self.field = field
        self.tokens = found

    def _add(self, kind: Kind, detail: str, code: str = "") -> None:
        self.call.effects.append(Effect(kind, None, detail, *self.it.span(self.field.start, self.field.end), code=code))

    def read(self) -> None:
        printing, depth = False, 0
        for at, token in enumerate(self.tokens):
            text = token.text
            if token.kind == "op":
                depth += (text in "([") - (text in ")]")
                if text in (";", "}", "{") and depth <= 0:
                    printing, depth = False, 0
                elif text == "|" or text == "|&":
                    self._pipe(at)
                elif text in (">", ">>") and printing and depth <= 0:
                    self._file(at, Kind.WRITE)
                elif text == "<" and self._after_getline(at):
                    self._file(at, Kind.READ)
                elif text == "@":
                    self._add(Kind.UNKNOWN, "awk calls a function by a name that is computed", "awk")
            elif token.kind == "newline" and depth <= 0 and self._text(at - 1) not in _GOES_ON:
                printing = False
            elif token.kind == "name":
                if text in ("print", "printf"):
                    printing, depth = True, 0
                self._name(at, text)

    def _after_getline(self, at: int) -> bool:
        """Whether `getline` or `getline lvalue` stands before: anywhere in the statement, to be sure."""
        for token in reversed(self.tokens[max(0, at - 24) : at]):
            if token.text == "getline":
                return True
            if token.kind == "newline" or token.text in (";", "{", "}"):
                return False
        return False

    def _name(self, at: int, text: str) -> None:
        if text == "system":
            self._runs(self._literal(at + 2) if self._text(at + 3) == ")" else None)
        elif text == "ARGV" and any(t.text in ("=", "split") for t in self.tokens[at : at + 8]):
            self._add(Kind.UNKNOWN, "awk changes which files it reads", "awk")
        elif text == "ENVIRON":
            self._environment(at)
        elif text.startswith("@"):
            self._add(Kind.UNKNOWN, f"awk loads code with `{text}`", "awk")

    def _environment(self, at: int) -> None:
        from stockade.secrets.names import secret_variable

        name = self._literal(at + 2) if self._text(at + 1) == "[" else None
        if name is None or secret_variable(name):
            self._add(Kind.SECRET, "awk reads the environment")

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _literal(self, at: int) -> str | None:
        if not 0 <= at < len(self.tokens) or self.tokens[at].kind != "string":
            return None
        text = self.tokens[at].text[1:-1]
        if re.search(r"\\[0-9x]", text):
            return None
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text)

    def _alone(self, at: int) -> bool:
        """Whether the token at `at` is the whole operand: nothing is glued to it."""
        return self._text(at + 1) in ("", ";", "}", "\n", ")", "|", "|&") or self.tokens[at + 1].kind == "newline"

    def _file(self, at: int, kind: Kind) -> None:
        name = self._literal(at + 1)
        if name is None or not self._alone(at + 1):
            self._add(Kind.UNKNOWN, "awk opens a file whose name is not known", "awk")
            return
        if name in ("/dev/stdout", "/dev/stderr", "-"):
            return
        if name.startswith("/inet"):
            self._add(Kind.NETWORK, name, "")
            return
        for target in targets(self.it, self.field._replace(text=name)):
            self.call.effects.append(Effect(kind, target, "", *self.it.span(self.field.start, self.field.end)))

    def _pipe(self, at: int) -> None:
        after = self._text(at + 1)
        command = self._literal(at - 1) if after == "getline" else self._literal(at + 1)
        if after == "getline":
            command = None if at > 1 and self.tokens[at - 2].kind in ("string", "number", "name") else command
        elif not self._alone(at + 1):
            command = None
        if command is not None and command.startswith("/inet"):
            self._add(Kind.NETWORK, command, "")
        if command is not None and command.split("/")[-1].split(" ")[0] in ("sh", "bash", "dash") and after != "getline":
            for token in range(at - 1, max(at - 8, -1), -1):
                text = self._literal(token)
                if text is not None:
                    self.it.in_copy(lambda text=text: self.it.run_text(text, self.field.start, self.field.end))  # type: ignore[misc]
        self._runs(command)

    def _runs(self, command: str | None) -> None:
        self._add(Kind.EXECUTE, "awk runs a command", "code")
        if command is None:
            self._add(Kind.UNKNOWN, "the command that awk runs is not known", "awk")
        else:
            self.it.in_copy(lambda: self.it.run_text(command, self.field.start, self.field.end))
