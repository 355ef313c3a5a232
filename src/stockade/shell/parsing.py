"""The grammar of bash, read strictly: what is not recognised is refused.

`parse` gives the script that was understood and, where reading stopped, the reason.  bash runs
complete lines before it meets a later syntax error, so the lines before the error are kept: they can
make the answer stricter, and the error alone already makes it unknown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stockade.shell.conditions import ConditionReader
from stockade.shell.simple import ENDERS, FUNCTION_NAME, PARENS, bare
from stockade.shell.syntax import (
    LIMIT_BYTES,
    ArithCommand,
    Case,
    Command,
    Coproc,
    For,
    ForArith,
    Function,
    Group,
    If,
    Item,
    Loop,
    Pipeline,
    Refused,
    Script,
    Word,
)

_GATE = re.compile("[\x00\x01\x7f]")  # bash uses the last two for its own quoting
_ODD = re.compile("[\x02-\x08\x0b-\x1f]")
# What a person or a terminal would read otherwise than bash does: blanks that are none, invisible
# and direction-changing characters, byte-order marks.
_UNICODE_GATE = (
    "[\u0085\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_TIME_FLAG = re.compile(r"-p(?=[ \t\n;&|]|$)")
_COPROC_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[ \t]+(?=[({]|(?:if|while|until|for|case|\[\[)[ \t\n])")


class Parsed(NamedTuple):
    """`script` holds what was read completely; `error` says where and why reading stopped."""

    script: Script
    error: Refused | None


def parse(view: str, *, depth: int = 0) -> Parsed:
    """Reads a whole command given in the byte view (see `syntax.byte_view`).

    `depth` is how deep the text is nested already, for text that a command passes to a shell.
    """
    try:
        gate(view)
    except Refused as error:
        return Parsed(Script((), 0, 0), error)
    parser = Parser(view, 0, len(view), depth=depth)
    try:
        script = parser.script_until("", top=True)
        if parser.pos < parser.end:
            raise parser._fail("syntax", f"unexpected `{view[parser.pos]}`")
        return Parsed(script, None)
    except Refused as error:
        return Parsed(Script(tuple(parser.complete), 0, parser.pos), error)
    except RecursionError:
        return Parsed(Script(tuple(parser.complete), 0, 0), Refused("too-deep", "nested too deeply", 0, len(view)))


def gate(view: str) -> None:
    """Refuses text that bash and a reader of it could see differently."""
    if len(view) > LIMIT_BYTES:
        raise Refused("too-long", f"longer than {LIMIT_BYTES} bytes", LIMIT_BYTES, len(view))
    m = _GATE.search(view)
    if m is not None:
        raise Refused("control", f"a control character (byte {ord(m.group()):#04x})", m.start(), m.end())
    if not view.isascii():
        try:
            view.encode("latin-1").decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused("encoding", "not valid UTF-8", error.start, error.end) from None


def oddity(view: str) -> Refused | None:
    """A character that bash takes literally and a person reads otherwise: it asks, whatever else is said."""
    m = _ODD.search(view)
    if m is not None:
        return Refused("control", f"a control character (byte {ord(m.group()):#04x})", m.start(), m.end())
    if view.isascii():
        return None
    text = view.encode("latin-1").decode("utf-8")
    m = re.search(_UNICODE_GATE, text)
    if m is None:
        return None
    at = len(text[: m.start()].encode())
    return Refused("invisible", f"an invisible character (U+{ord(m.group()):04X})", at, at + len(m.group().encode()))


class Parser(ConditionReader):
    """Recursive descent over the command grammar."""

    __slots__ = ("complete",)

    def __init__(self, view: str, pos: int, end: int, *, depth: int = 0) -> None:
        super().__init__(view, pos, end, depth=depth)
        self.complete: list[Item] = []

    # -- lists -----------------------------------------------------------------------------------

    def script_until(self, close: str, *, top: bool = False) -> Script:
        """A list of commands up to `close` (a character), a reserved word that ends it, or the end."""
        start = self.pos
        items: list[Item] = []
        joined = ""
        self._newlines()
        while not self._at_end(close):
            items.extend(self._and_or(joined))
            joined = self._separator(items)
            if not joined:
                break
            if top and joined == "\n":
                self.complete = list(items)
        if top and self.pos >= self.end and self.pending:
            self.read_bodies()
        return Script(tuple(items), start, self.pos)

    def _at_end(self, close: str) -> bool:
        c = self._peek()
        if not c or c == close:
            return True
        if c == ")" or self._starts(";;") or self._starts(";&"):
            return True
        return self._reserved() in ENDERS

    def _separator(self, items: list[Item]) -> str:
        """What ends the and-or list just read: `;`, `&`, a newline, or nothing."""
        self._blanks()
        c = self._peek()
        if c == "\n":
            self._newlines()
            return "\n"
        if c == ";" and self._peek(1) not in (";", "&"):
            self.pos += 1
            self._no_glue()
            return "\n" if self._newlines() else ";"
        if c == "&" and self._peek(1) not in ("&", ">"):
            self.pos += 1
            self._no_glue()
            items[-1] = items[-1]._replace(background=True)
            self._newlines()
            return "&"
        return ""

    def _and_or(self, joined: str) -> list[Item]:
        items = [Item(joined, self._pipeline(), False)]
        while True:
            self._blanks()
            if not (self._starts("&&") or self._starts("||")):
                return items
            operator = self.s[self.pos : self.pos + 2]
            self.pos += 2
            self._newlines()
            items.append(Item(operator, self._pipeline(), False))

    def _pipeline(self) -> Pipeline:
        start = self.pos
        bare = self._prefixes()
        commands: list[Command] = []
        both: list[bool] = []
        if bare and (self._at_end("") or self._peek() in "\n;&"):
            return Pipeline((), (), start, self.pos)
        while True:
            commands.append(self._command())
            self._blanks()
            if self._peek() != "|" or self._peek(1) == "|":
                return Pipeline(tuple(commands), tuple(both), start, self.pos)
            self.pos += 1
            self._no_glue()
            both.append(self._peek() == "&")
            if both[-1]:
                self.pos += 1
            self._newlines()

    def _prefixes(self) -> bool:
        """Consumes `!` and `time [-p] [--]`; they change nothing about what runs."""
        seen = False
        while True:
            self._step()
            word = self._reserved()
            if word not in ("!", "time"):
                return seen
            seen = True
            self.pos += len(word)
            self._blanks()
            if word == "time":
                m = _TIME_FLAG.match(self.s, self.pos, self.end)
                if m is not None:
                    self.pos = m.end()
                    self._blanks()
                if self._starts("--"):
                    raise self._fail("syntax", "`time --` is not modelled")

    # -- commands --------------------------------------------------------------------------------

    def _compound(self) -> Command:
        """A compound command, as the body of a function."""
        self._newlines()
        if self._peek() != "(" and (self._reserved() in ("", "function", "coproc", "time", "!")):
            raise self._fail("syntax", "a function body that is no compound command")
        return self._command()

    def _command(self) -> Command:
        self._step()
        start = self.pos
        if self._peek() == "(":
            return self._parenthesised()
        word = self._reserved()
        if word in ENDERS or word in ("!", "in", "]]"):
            raise self._fail("syntax", f"unexpected `{word}`")
        reader = _COMPOUND.get(word)
        if reader is None:
            return self._simple()
        self._deeper()
        self.pos += len(word)
        command = reader(self, start)
        self.depth -= 1
        return command

    def _parenthesised(self) -> Command:
        start = self.pos
        self._deeper()
        if self._peek(1) == "(":
            self.pos += 2
            body = self.arith_body()
            if body is not None:
                self.depth -= 1
                return ArithCommand(body, self._redirects(), start, self.pos)
            self.pos = start
        self.pos += 1
        script = self._body(")")
        self.pos += 1
        self.depth -= 1
        return Group(script, True, self._redirects(), start, self.pos)

    def _body(self, close: str, *, empty: bool = False) -> Script:
        """A list that must not be empty, up to `close`."""
        script = self.script_until(close)
        if not script.items and not empty:
            raise self._fail("syntax", "a list without commands")
        at_close = self._peek() == close if len(close) == 1 and close != "}" else self._reserved() == close
        if not at_close and close:
            raise self._fail("syntax", f"`{close}` expected")
        return script

    def _group(self, start: int) -> Command:
        script = self._body("}")
        self._take("}")
        return Group(script, False, self._redirects(), start, self.pos)

    def _if(self, start: int) -> Command:
        branches: list[tuple[Script, Script]] = []
        orelse: Script | None = None
        while True:
            test = self._body("then")
            self._take("then")
            body = self._body("")
            branches.append((test, body))
            word = self._reserved()
            if word == "elif":
                self.pos += 4
                continue
            if word == "else":
                self.pos += 4
                orelse = self._body("fi")
            self._take("fi")
            return If(tuple(branches), orelse, self._redirects(), start, self.pos)

    def _loop(self, start: int) -> Command:
        test = self._body("do")
        body = self._do_done()
        return Loop(test, body, self._redirects(), start, self.pos)

    def _do_done(self) -> Script:
        self._take("do")
        body = self._body("done")
        self._take("done")
        return body

    def _for(self, start: int) -> Command:
        self._blanks()
        if self._starts("(("):
            return self._for_arith(start)
        name = self.word()
        if name is None or not (text := bare(name)) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
            raise self._fail("syntax", "a loop variable expected")
        words: tuple[Word, ...] | None = None
        self._newlines()
        if self._starts("in") and (not self._peek(2) or self._peek(2) in " \t\n;"):
            self.pos += 2
            words = self._words_until_separator()
        elif self._peek() == ";":
            self.pos += 1
            self._newlines()
        body = self._brace_or_do()
        return For(text, words, body, self._redirects(), start, self.pos)

    def _words_until_separator(self) -> tuple[Word, ...]:
        words: list[Word] = []
        while True:
            self._blanks()
            if self._peek() == ";" or self._peek() == "\n":
                if self._peek() == ";":
                    self.pos += 1
                self._newlines()
                return tuple(words)
            word = self.word()
            if word is None:
                raise self._fail("syntax", "a word or a separator expected")
            words.append(word)

    def _for_arith(self, start: int) -> Command:
        self.pos += 2
        head = self.arith_body()
        if head is None:
            raise self._fail("syntax", "the head of an arithmetic loop is not closed")
        self._blanks()
        if self._peek() == ";":
            self.pos += 1
        self._newlines()
        body = self._brace_or_do()
        return ForArith(head, body, self._redirects(), start, self.pos)

    def _brace_or_do(self) -> Script:
        if self._reserved() != "{":
            return self._do_done()
        self.pos += 1
        body = self._body("}")
        self._take("}")
        return body

    def _case(self, start: int) -> Command:
        self._blanks()
        subject = self.word()
        if subject is None:
            raise self._fail("syntax", "a word expected after `case`")
        self._newlines()
        if not self._starts("in") or self._peek(2) not in (" ", "\t", "\n", ""):
            raise self._fail("syntax", "`in` expected")
        self.pos += 2
        arms: list[tuple[tuple[Word, ...], Script]] = []
        while True:
            self._newlines()
            if self._reserved() == "esac":
                break
            patterns = self._patterns()
            body = self.script_until("")
            arms.append((patterns, body))
            if not self._arm_end():
                break
        self._take("esac")
        return Case(subject, tuple(arms), self._redirects(), start, self.pos)

    def _patterns(self) -> tuple[Word, ...]:
        if self._peek() == "(":
            self.pos += 1
        found: list[Word] = []
        while True:
            self._blanks()
            word = self.word()
            if word is None:
                raise self._fail("syntax", "a pattern expected")
            found.append(word)
            self._blanks()
            c = self._peek()
            self.pos += 1
            if c == ")":
                return tuple(found)
            if c != "|":
                raise self._fail("syntax", "`)` expected after a pattern")

    def _arm_end(self) -> bool:
        """Consumes `;;`, `;&` or `;;&`; False where the last arm ends without one."""
        self._blanks()
        for operator in (";;&", ";;", ";&"):
            if self._starts(operator):
                self.pos += len(operator)
                return True
        return False

    def _function_word(self, start: int) -> Command:
        self._blanks()
        word = self.word()
        name = bare(word) if word is not None else ""
        if not name or not FUNCTION_NAME.fullmatch(name):
            raise self._fail("function", "a function name that is not understood")
        self._blanks()
        m = PARENS.match(self.s, self.pos, self.end)
        if m is not None:
            self.pos = m.end()
        return Function(name, self._compound(), start, self.pos)

    def _coproc(self, start: int) -> Command:
        self._blanks()
        if self._reserved() == "" and self._peek() != "(":
            m = _COPROC_NAME.match(self.s, self.pos, self.end)
            if m is not None:
                self.pos = m.end()
        return Coproc(self._command(), start, self.pos)


_COMPOUND = {
    "{": Parser._group,
    "if": Parser._if,
    "while": Parser._loop,
    "until": Parser._loop,
    "for": Parser._for,
    "select": Parser._for,
    "case": Parser._case,
    "function": Parser._function_word,
    "coproc": Parser._coproc,
    "[[": Parser._cond,
}
