"""Simple commands: blanks, reserved words, assignments, words and redirections."""

from __future__ import annotations

import re

from stockade.shell.lexing import WordReader
from stockade.shell.syntax import Assign, Command, Function, Heredoc, Lit, Part, Redirect, Refused, Simple, Word

_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_NEXT_WORD = re.compile(r"[ \t]+([^ \t\n|&;<>()\"'`$\\#][^ \t\n|&;<>()\"'`$\\]*)(?=[ \t\n;|&)]|\Z)")
_COMMENT = re.compile(r"#[^\n]*")
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_SUBSCRIPTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
FUNCTION_NAME = re.compile(r"[A-Za-z0-9_.:/@%+,-]+")
_FD_VARIABLE = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")
_REDIRECT = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>")
PARENS = re.compile(r"\([ \t]*\)")
ENDERS = frozenset(("then", "do", "done", "fi", "else", "elif", "esac", "}"))
OPENERS = frozenset(("if", "while", "until", "for", "select", "case", "function", "{", "[[", "coproc", "time", "!", "in", "]]"))
_RESERVED = re.compile(r"[a-z{}!\[\]]+")
_RESERVED_FIRST = frozenset(word[0] for word in ENDERS | OPENERS)
_VARIABLE_REDIRECT = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\[.*\]\}", re.DOTALL)
_DIGITS = re.compile(r"[0-9]+")
_DECLARING = frozenset(("declare", "typeset", "local", "export", "readonly"))


def bare(word: Word | None) -> str:
    """The text of a word that is one unquoted literal, else an empty string."""
    if word is None or len(word.parts) != 1:
        return ""
    part = word.parts[0]
    return part.text if isinstance(part, Lit) and not part.quoted else ""


class SimpleReader(WordReader):
    """Reads what stands between two operators."""

    __slots__ = ()

    def _compound(self) -> Command:
        raise NotImplementedError

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
        if m is None or (m.group() not in ENDERS and m.group() not in OPENERS):
            return ""
        after = self.s[m.end() : m.end() + 1] if m.end() < self.end else ""
        if after == "\\":
            raise self._fail("continuation", "a backslash right after a reserved word")
        return m.group() if not after or after in " \t\n;&|()<>" else ""

    def _take(self, word: str) -> None:
        if self._reserved() != word:
            raise self._fail("syntax", f"`{word}` expected")
        self.pos += len(word)

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
            if self._peek() and self._peek() in "<>" and _VARIABLE_REDIRECT.fullmatch(self.s, word.start, word.end):
                raise self._fail("subscript", "a subscripted variable that receives a descriptor")
            assign = self._assignment(word) if not words or declaring else None
            if assign is not None and not words:
                assigns.append(assign)
                continue
            words.append(assign if assign is not None else word)
            if len(words) == 1:
                declaring = bare(word) in _DECLARING
                function = self._function_parens(word, assigns, redirects, start)
                if function is not None:
                    return function
            if not declaring:
                self._plain_words(words)
        if not (assigns or words or redirects):
            raise self._fail("syntax", "a command expected")
        if self._peek() == "(":
            raise self._fail("syntax", "an unexpected parenthesis")
        return Simple(tuple(assigns), tuple(words), tuple(redirects), start, self.pos)

    def _plain_words(self, words: list[Word | Assign]) -> None:
        """Takes the words that nothing is special about, as `word` would, but faster."""
        m = _NEXT_WORD.match(self.s, self.pos, self.end)
        while m is not None:
            self._step()
            start, self.pos = m.span(1)
            words.append(Word((Lit(m.group(1), False, start, self.pos),), start, self.pos))
            m = _NEXT_WORD.match(self.s, self.pos, self.end)

    def _function_parens(self, word: Word, assigns: list[Assign], redirects: list[Redirect], start: int) -> Function | None:
        self._blanks()
        m = PARENS.match(self.s, self.pos, self.end)
        if m is None or assigns or redirects:
            return None
        name = bare(word)
        if not name or not FUNCTION_NAME.fullmatch(name):
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
        if target is None or (self._peek() and self._peek() in "<>" and bare(target).isdigit()):
            raise self._fail("syntax", f"a file name expected after `{m.group()}`")
        return Redirect(fd, m.group(), target, None, start, self.pos)

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        while True:
            self._blanks()
            redirect = self._redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

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
