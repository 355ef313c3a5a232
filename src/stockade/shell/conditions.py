"""`[[ … ]]`: its own little grammar of words and operators."""

from __future__ import annotations

import re

from stockade.shell.simple import SimpleReader, bare
from stockade.shell.syntax import Command, Cond, Lit, Part, Word

_COND_UNARY = re.compile(r"-[abcdefghknoprstuvwxzGLNORS]")
_COND_BINARY = frozenset(("==", "=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"))


class ConditionReader(SimpleReader):
    """Reads conditional expressions."""

    __slots__ = ()

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
        text = bare(left)
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
        text = bare(word) if word is not None else ""
        if text not in _COND_BINARY:
            raise self._fail("syntax", "a binary operator expected inside `[[ ]]`")
        return text

    def _cond_word(self) -> Word:
        word = self.word()
        if word is None or bare(word) == "]]":
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
