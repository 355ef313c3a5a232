"""Words of bash: quoting and here-documents, with the expansions inside them.

Follows the reader of bash 5.2 (`parse.y`: read_token_word) for the part that is modelled; everything
else raises Refused.  A backslash-newline is removed where bash removes it (words, double quotes,
unquoted here-documents) and refused where it would glue an operator together.
"""

from __future__ import annotations

import re

from stockade.shell.cursor import merged
from stockade.shell.expansions import ExpansionReader
from stockade.shell.syntax import Heredoc, Lit, Part, Refused, Word

_PLAIN = re.compile(r"[^ \t\n|&;<>()\"'`$\\]+")
_DQ_PLAIN = re.compile(r"[^\"$`\\]+")
_BODY_PLAIN = re.compile(r"[^$`\\]+")


class WordReader(ExpansionReader):
    """Reads words at `pos`; the grammar above it is in `parsing`."""

    __slots__ = ()

    # -- words -----------------------------------------------------------------------------------

    def word(self) -> Word | None:
        """The word at `pos`, or None where no word starts there."""
        s, start, end = self.s, self.pos, self.end
        m = _PLAIN.match(s, start, end)
        if m is not None and (m.end() == end or s[m.end()] in " \t\n;|&)"):
            self.pos = m.end()
            self._step()
            return Word((Lit(m.group(), False, start, self.pos),), start, self.pos)
        parts: list[Part] = []
        while self.pos < end:
            self._step()
            if not self._word_part(parts):
                break
        if self.pos == start:
            return None
        self._no_newline_while_pending(start)
        return Word(merged(parts), start, self.pos)

    def _word_part(self, parts: list[Part]) -> bool:
        s, at = self.s, self.pos
        m = _PLAIN.match(s, at, self.end)
        if m is not None:
            self.pos = m.end()
            parts.append(Lit(m.group(), False, at, self.pos))
            return True
        c = s[at]
        if c == "'":
            parts.append(self._single_quoted())
        elif c == '"':
            self._double_quoted(parts)
        elif c == "\\":
            self._backslash(parts)
        elif c == "$":
            parts.extend(self._dollar(quoted=False))
        elif c == "`":
            parts.append(self._backtick(quoted=False))
        elif c in "<>" and self._peek(1) == "(":
            parts.append(self._process_subst())
        elif c == "(" and self.extglob and parts and _ends_extglob(parts):
            self._extglob_group(parts)
        else:
            return False
        return True

    def _single_quoted(self) -> Lit:
        start = self.pos
        close = self.s.find("'", start + 1, self.end)
        if close < 0:
            raise self._fail("unterminated", "no closing single quote")
        self.pos = close + 1
        return Lit(self.s[start + 1 : close], True, start, self.pos)

    def _backslash(self, parts: list[Part]) -> None:
        at = self.pos
        if at + 1 >= self.end:
            raise self._fail("backslash", "a backslash at the end of the command")
        c = self.s[at + 1]
        self.pos = at + 2
        if c != "\n":
            parts.append(Lit(c, True, at, self.pos))

    def _double_quoted(self, parts: list[Part]) -> None:
        start = self.pos
        self._deeper()
        self.pos += 1
        before = len(parts)
        while True:
            self._step()
            if self.pos >= self.end:
                self.pos = start
                raise self._fail("unterminated", "no closing double quote")
            if self.s[self.pos] == '"':
                self.pos += 1
                break
            self._quoted_part(parts, _DQ_PLAIN, '$`"\\')
        if len(parts) == before:
            parts.append(Lit("", True, start, self.pos))
        self.depth -= 1

    def _quoted_part(self, parts: list[Part], plain: re.Pattern[str], escapes: str) -> None:
        """One part of double-quoted text; `escapes` is what a backslash takes away."""
        s, at = self.s, self.pos
        m = plain.match(s, at, self.end)
        if m is not None:
            self.pos = m.end()
            parts.append(Lit(m.group(), True, at, self.pos))
            return
        c = s[at]
        if c == "$":
            parts.extend(self._dollar(quoted=True, body='"' not in escapes))
        elif c == "`":
            parts.append(self._backtick(quoted=True, body='"' not in escapes))
        elif c == "\\":
            following = self._peek(1)
            self.pos = at + 2 if following else at + 1
            if following == "\n":
                return
            if following and following in escapes:
                parts.append(Lit(following, True, at, self.pos))
            else:
                parts.append(Lit("\\" + following, True, at, self.pos))
        else:
            self.pos += 1
            parts.append(Lit(c, True, at, self.pos))

    # -- extended patterns and here-documents -----------------------------------------------------

    def _extglob_group(self, parts: list[Part]) -> None:
        """`@(a|b)` inside `[[ ]]`: alternatives are words again."""
        self._deeper()
        start = self.pos
        self.pos += 1
        parts.append(Lit("(", False, start, self.pos))
        while self._peek() != ")":
            self._step()
            at = self.pos
            if not self._peek():
                raise self._fail("unterminated", "no closing parenthesis of a pattern")
            if not self._word_part(parts):
                self.pos = at + 1
                parts.append(Lit(self.s[at], False, at, self.pos))
        parts.append(Lit(")", False, self.pos, self.pos + 1))
        self.pos += 1
        self.depth -= 1

    def read_bodies(self) -> None:
        """Reads the bodies of all pending here-documents; `pos` is behind the newline."""
        for pending in self.pending:
            pending.body = self._heredoc_body(pending)
            pending.stop = self.pos
        self.pending = []

    def _heredoc_body(self, pending: Heredoc) -> Word:
        start = self.pos
        lines: list[tuple[int, int]] = []
        while self.pos < self.end:
            self._step()
            begin, end, after = self._heredoc_line(pending)
            self.pos = after
            if self.s[begin:end].replace("\\\n", "" if not pending.quoted else "\\\n") == pending.delimiter:
                return self._heredoc_word(pending, start, lines)
            lines.append((begin, after))
        if self.depth:
            raise Refused("heredoc", "a here-document that does not end", start, self.pos)
        return self._heredoc_word(pending, start, lines)

    def _heredoc_line(self, pending: Heredoc) -> tuple[int, int, int]:
        """(start, end, next): one line, joined over backslash-newlines unless quoted."""
        begin = self.pos
        while pending.strip and self.s[begin : begin + 1] == "\t":
            begin += 1
        at = begin
        while True:
            end = self.s.find("\n", at, self.end)
            if end < 0:
                return begin, self.end, self.end
            slashes = end - len(self.s[begin:end].rstrip("\\")) - begin
            if pending.quoted or slashes % 2 == 0:
                return begin, end, end + 1
            if pending.strip:
                raise Refused("heredoc", "a continued line in a tab-stripped here-document", begin, end)
            at = end + 1

    def _heredoc_word(self, pending: Heredoc, start: int, lines: list[tuple[int, int]]) -> Word:
        end = lines[-1][1] if lines else start
        if pending.quoted:
            text = "".join(self.s[a:b] for a, b in lines)
            return Word((Lit(text, True, start, end),), start, end)
        parts: list[Part] = []
        back, bound = self.pos, self.end
        for begin, stop in lines if pending.strip else [(start, end)]:
            self.pos, self.end = begin, stop
            while self.pos < self.end:
                self._step()
                self._quoted_part(parts, _BODY_PLAIN, "$`\\")
        self.pos, self.end = back, bound
        return Word(merged(parts), start, end)


def _ends_extglob(parts: list[Part]) -> bool:
    last = parts[-1]
    return isinstance(last, Lit) and not last.quoted and last.text[-1:] in "?*+@!"
