"""The grammar of bash, read strictly: what is not recognised is refused.

`parse` gives the script that was understood and, where reading stopped, the reason.  bash runs
complete lines before it meets a later syntax error, so the lines before the error are kept: they can
make the answer stricter, and the error alone already makes it unknown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stockade.shell.lexing import WordReader
from stockade.shell.syntax import (
    LIMIT_BYTES,
    ArithCommand,
    Assign,
    Case,
    Command,
    Cond,
    Coproc,
    For,
    ForArith,
    Function,
    Group,
    Heredoc,
    If,
    Item,
    Lit,
    Loop,
    Part,
    Pipeline,
    Redirect,
    Refused,
    Script,
    Simple,
    Word,
)

_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_COMMENT = re.compile(r"#[^\n]*")
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_SUBSCRIPTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_FUNCTION_NAME = re.compile(r"[A-Za-z0-9_.:/@%+,-]+")
_FD_VARIABLE = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")
_REDIRECT = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>")
_PARENS = re.compile(r"\([ \t]*\)")
_GATE = re.compile("[\x00\x01\x7f]")  # bash uses the last two for its own quoting
_ODD = re.compile("[\x02-\x08\x0b-\x1f]")
# What a person or a terminal would read otherwise than bash does: blanks that are none, invisible
# and direction-changing characters, byte-order marks.
_UNICODE_GATE = re.compile(
    "[\u0085\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_ENDERS = frozenset(("then", "do", "done", "fi", "else", "elif", "esac", "}"))
_OPENERS = frozenset(
    ("if", "while", "until", "for", "select", "case", "function", "{", "[[", "coproc", "time", "!")
)
_RESERVED = re.compile(r"[a-z{}!\[]+")
_RESERVED_FIRST = frozenset(word[0] for word in _ENDERS | _OPENERS)
_DIGITS = re.compile(r"[0-9]+")
_TIME_FLAG = re.compile(r"-p(?=[ \t\n;&|]|$)")
_COPROC_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[ \t]+(?=[({]|(?:if|while|until|for|case|\[\[)[ \t\n])")
_DECLARING = frozenset(("declare", "typeset", "local", "export", "readonly"))
_COND_UNARY = re.compile(r"-[abcdefghknoprstuvwxzGLNORS]")
_COND_BINARY = frozenset(
    ("==", "=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
)


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
        error = Refused("too-deep", "nested too deeply", 0, len(view))
        return Parsed(Script(tuple(parser.complete), 0, 0), error)


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
    m = _UNICODE_GATE.search(text)
    if m is None:
        return None
    at = len(text[: m.start()].encode())
    return Refused("invisible", f"an invisible character (U+{ord(m.group()):04X})", at, at + len(m.group().encode()))


class Parser(WordReader):
    """Recursive descent over the command grammar."""

    __slots__ = ("complete",)

    def __init__(self, view: str, pos: int, end: int, *, depth: int = 0) -> None:
        super().__init__(view, pos, end, depth=depth)
        self.complete: list[Item] = []

    # -- blanks, newlines ------------------------------------------------------------------------

    def _blanks(self) -> None:
        if self.pos >= self.end or self.s[self.pos] not in " \t\\#":
            return
        m = _BLANKS.match(self.s, self.pos, self.end)
        assert m is not None
        self.pos = m.end()
        if self.pos < self.end and self.s[self.pos] == "#":
            m = _COMMENT.match(self.s, self.pos, self.end)
            assert m is not None
            self.pos = m.end()

    def _newlines(self) -> bool:
        seen = False
        while True:
            self._step()
            self._blanks()
            if self._peek() != "\n":
                return seen
            self.pos += 1
            seen = True
            if self.pending:
                self.read_bodies()

    def _reserved(self) -> str:
        """The reserved word at `pos`, without consuming it; empty where there is none."""
        if self.pos >= self.end or self.s[self.pos] not in _RESERVED_FIRST:
            return ""
        m = _RESERVED.match(self.s, self.pos, self.end)
        if m is None or (m.group() not in _ENDERS and m.group() not in _OPENERS):
            return ""
        after = self.s[m.end() : m.end() + 1] if m.end() < self.end else ""
        if after == "\\":
            raise self._fail("continuation", "a backslash right after a reserved word")
        return m.group() if after in "" or after in " \t\n;&|()<>" else ""

    def _take(self, word: str) -> None:
        if self._reserved() != word:
            raise self._fail("syntax", f"`{word}` expected")
        self.pos += len(word)

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
        return self._reserved() in _ENDERS

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

    def _command(self) -> Command:
        self._step()
        start = self.pos
        if self._peek() == "(":
            return self._parenthesised()
        word = self._reserved()
        if word in _ENDERS:
            raise self._fail("syntax", f"unexpected `{word}`")
        reader = _COMPOUND.get(word)
        if reader is None:
            return self._simple()
        self._deeper()
        self.pos += len(word)
        command = reader(self, start)
        self.depth -= 1
        return command

    def _compound(self) -> Command:
        """A compound command, as the body of a function."""
        self._newlines()
        if self._peek() != "(" and (self._reserved() in ("", "function", "coproc", "time", "!")):
            raise self._fail("syntax", "a function body that is no compound command")
        return self._command()

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        while True:
            self._blanks()
            redirect = self._redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

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
        if name is None or not (text := _bare(name)) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
            raise self._fail("syntax", "a loop variable expected")
        words: tuple[Word, ...] | None = None
        self._newlines()
        if self._starts("in") and (self._peek(2) in "" or self._peek(2) in " \t\n;"):
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
        name = _bare(word) if word is not None else ""
        if not name or not _FUNCTION_NAME.fullmatch(name):
            raise self._fail("function", "a function name that is not understood")
        self._blanks()
        m = _PARENS.match(self.s, self.pos, self.end)
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

    # -- [[ … ]] ---------------------------------------------------------------------------------

    def _cond(self, start: int) -> Command:
        tests: list[tuple[str, tuple[Word, ...]]] = []
        self._cond_or(tests)
        self._newlines()
        if not self._starts("]]"):
            raise self._fail("syntax", "`]]` expected")
        self.pos += 2
        return Cond(tuple(tests), self._redirects(), start, self.pos)

    def _cond_or(self, tests: list[tuple[str, tuple[Word, ...]]]) -> None:
        while True:
            self._cond_primary(tests)
            self._newlines()
            if not (self._starts("&&") or self._starts("||")):
                return
            self.pos += 2

    def _cond_primary(self, tests: list[tuple[str, tuple[Word, ...]]]) -> None:
        self._step()
        self._newlines()
        if self._starts("! ") or self._starts("!\n") or self._starts("!\t"):
            self.pos += 1
            self._deeper()
            self._cond_primary(tests)
            self.depth -= 1
            return
        if self._peek() == "(":
            self.pos += 1
            self._deeper()
            self._cond_or(tests)
            self.depth -= 1
            if self._peek() != ")":
                raise self._fail("syntax", "`)` expected inside `[[ ]]`")
            self.pos += 1
            return
        tests.append(self._cond_test())

    def _cond_test(self) -> tuple[str, tuple[Word, ...]]:
        left = self._cond_word()
        text = _bare(left)
        self._blanks()
        if _COND_UNARY.fullmatch(text) and not self._cond_ends():
            return text, (self._cond_word(),)
        if self._cond_ends():
            return "-n", (left,)
        operator = self._cond_operator()
        self._blanks()
        if operator == "=~":
            return operator, (left, self._regex_word())
        self.extglob = operator in ("==", "=", "!=")
        right = self._cond_word()
        self.extglob = False
        return operator, (left, right)

    def _cond_ends(self) -> bool:
        return self._starts("]]") or self._starts("&&") or self._starts("||") or self._peek() in ("\n", ")", "")

    def _cond_operator(self) -> str:
        if self._peek() in ("<", ">") and self._peek(1) != "(":
            self.pos += 1
            return self.s[self.pos - 1]
        word = self.word()
        text = _bare(word) if word is not None else ""
        if text not in _COND_BINARY:
            raise self._fail("syntax", "a binary operator expected inside `[[ ]]`")
        return text

    def _cond_word(self) -> Word:
        word = self.word()
        if word is None or _bare(word) == "]]":
            raise self._fail("syntax", "a word expected inside `[[ ]]`")
        return word

    def _regex_word(self) -> Word:
        """The right side of `=~`: parentheses and bars belong to the word."""
        start, level = self.pos, 0
        parts: list[Part] = []
        while self.pos < self.end:
            self._step()
            c = self._peek()
            if c in " \t\n" and level == 0:
                break
            if self._word_part(parts):
                continue
            if c not in "()|<>& \t":
                break
            level += (c == "(") - (c == ")")
            self.pos += 1
            parts.append(Lit(c, False, self.pos - 1, self.pos))
        if not parts or level != 0:
            raise self._fail("syntax", "a regular expression that is not understood")
        return Word(tuple(parts), start, self.pos)

    # -- simple commands -------------------------------------------------------------------------

    def _simple(self) -> Command:
        start = self.pos
        assigns: list[Assign] = []
        words: list[Word | Assign] = []
        redirects: list[Redirect] = []
        declaring = False
        while True:
            self._step()
            self._blanks()
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            word = self.word()
            if word is None:
                break
            assign = self._assignment(word) if not words or declaring else None
            if assign is not None and not words:
                assigns.append(assign)
                continue
            words.append(assign if assign is not None else word)
            if len(words) == 1:
                declaring = _bare(word) in _DECLARING
                function = self._function_parens(word, assigns, redirects, start)
                if function is not None:
                    return function
        if not (assigns or words or redirects):
            raise self._fail("syntax", "a command expected")
        if self._peek() == "(":
            raise self._fail("syntax", "an unexpected parenthesis")
        return Simple(tuple(assigns), tuple(words), tuple(redirects), start, self.pos)

    def _function_parens(
        self, word: Word, assigns: list[Assign], redirects: list[Redirect], start: int
    ) -> Function | None:
        self._blanks()
        m = _PARENS.match(self.s, self.pos, self.end)
        if m is None or assigns or redirects:
            return None
        name = _bare(word)
        if not name or not _FUNCTION_NAME.fullmatch(name):
            raise self._fail("function", "a function name that is not understood")
        self.pos = m.end()
        self._deeper()
        body = self._compound()
        self.depth -= 1
        return Function(name, body, start, self.pos)

    def _assignment(self, word: Word) -> Assign | None:
        first = word.parts[0]
        if not isinstance(first, Lit) or first.quoted:
            return None
        m = _ASSIGN.match(first.text)
        if m is not None:
            rest = self._rest_of(word, 0, m.end())
            return self._finish_assign(m.group(1), None, m.group(2) == "+", rest, word)
        if _SUBSCRIPTED.match(first.text) is None:
            return None
        return self._subscripted(word, first.text.index("["))

    def _subscripted(self, word: Word, bracket: int) -> Assign | None:
        """`name[…]=value`, where the subscript may hold expansions."""
        index: list[Part] = []
        level = 0
        for at, part in enumerate(word.parts):
            if not isinstance(part, Lit) or part.quoted:
                index.append(part)
                continue
            for i in range(bracket if at == 0 else 0, len(part.text)):
                level += (part.text[i] == "[") - (part.text[i] == "]")
                if level == 0:
                    m = re.compile(r"\](\+?)=").match(part.text, i)
                    if m is None:
                        return None
                    index.append(part._replace(text=part.text[bracket + 1 if at == 0 else 0 : i], quoted=True))
                    rest = self._rest_of(word, at, m.end())
                    name = word.parts[0].text[:bracket]  # type: ignore[union-attr]
                    subscript = Word(tuple(index), word.start, word.end)
                    return self._finish_assign(name, subscript, m.group(1) == "+", rest, word)
            index.append(part._replace(text=part.text[bracket + 1 :] if at == 0 else part.text, quoted=True))
        raise self._fail("subscript", "a subscript with blanks is not modelled")

    def _rest_of(self, word: Word, at: int, offset: int) -> Word:
        part = word.parts[at]
        assert isinstance(part, Lit)
        begin = part.start + offset if part.end - part.start == len(part.text) else part.start
        rest = part._replace(text=part.text[offset:], start=begin)
        parts = (rest, *word.parts[at + 1 :]) if rest.text else word.parts[at + 1 :]
        return Word(parts, begin, word.end)

    def _finish_assign(self, name: str, index: Word | None, append: bool, value: Word, word: Word) -> Assign:
        if value.parts or self._peek() != "(":
            return Assign(name, index, append, value, None, word.start, word.end)
        self.pos += 1
        self._deeper()
        elements: list[Word] = []
        while True:
            self._newlines()
            if self._peek() == ")":
                break
            element = self.word()
            if element is None:
                raise self._fail("syntax", "an array element expected")
            elements.append(element)
        self.pos += 1
        self.depth -= 1
        if self._peek() not in " \t\n;&|)<>" and self._peek():
            raise self._fail("syntax", "text glued to the end of an array")
        return Assign(name, index, append, value, tuple(elements), word.start, self.pos)

    # -- redirections ----------------------------------------------------------------------------

    def _redirect(self) -> Redirect | None:
        s, start = self.s, self.pos
        c = self._peek()
        if c not in "<>&0123456789{" or not c:
            return None
        fd = ""
        if c not in "<>&":
            m = _FD_VARIABLE.match(s, start, self.end) or _DIGITS.match(s, start, self.end)
            if m is None or s[m.end() : m.end() + 1] not in ("<", ">") or m.end() >= self.end:
                return None
            fd = m.group()
            self.pos = m.end()
        if self._peek() in "<>" and self._peek(1) == "(":
            self.pos = start
            if fd:
                raise self._fail("redirect", "a number glued to a process substitution")
            return None
        m = _REDIRECT.match(s, self.pos, self.end)
        if m is None or (fd and m.group().startswith("&")):
            self.pos = start
            return None
        self.pos = m.end()
        self._no_glue()
        if m.group() in ("<<", "<<-"):
            return self._heredoc(fd, m.group(), start)
        self._blanks_only()
        target = self.word()
        if target is None:
            raise self._fail("syntax", f"a file name expected after `{m.group()}`")
        return Redirect(fd, m.group(), target, None, start, self.pos)

    def _blanks_only(self) -> None:
        m = _BLANKS.match(self.s, self.pos, self.end)
        assert m is not None
        self.pos = m.end()

    def _heredoc(self, fd: str, operator: str, start: int) -> Redirect:
        self._blanks_only()
        at = self.pos
        target = self.word()
        if target is None:
            raise self._fail("heredoc", "a here-document delimiter expected")
        raw = self.s[at : self.pos]
        m = re.fullmatch(r"([A-Za-z0-9_.,:=@%+/!^-]+)|'([^'\n]*)'|\"([^\"\\$`\n]*)\"|\\([A-Za-z0-9_]+)", raw)
        if m is None:
            raise Refused("heredoc", "a here-document delimiter that is not modelled", at, self.pos)
        delimiter = next(group for group in m.groups() if group is not None)
        heredoc = Heredoc(delimiter, quoted=m.group(1) is None, strip=operator == "<<-")
        self.pending.append(heredoc)
        return Redirect(fd, operator, target, heredoc, start, self.pos)


def _bare(word: Word | None) -> str:
    """The text of a word that is one unquoted literal, else an empty string."""
    if word is None or len(word.parts) != 1:
        return ""
    part = word.parts[0]
    return part.text if isinstance(part, Lit) and not part.quoted else ""


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
