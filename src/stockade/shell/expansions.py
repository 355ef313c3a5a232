"""Expansions of bash: parameters, commands, arithmetic.

Follows `parse.y` of bash 5.2 (parse_matched_pair, parse_comsub) for the part that is modelled.
"""

from __future__ import annotations

import re

from stockade.shell.cursor import Cursor, merged
from stockade.shell.syntax import Arith, Lit, Param, Part, Refused, Script, Subst, Word

_BRACE_PLAIN = re.compile(r"[^}\"'`$\\<>]+")
_ARITH_PLAIN = re.compile(r"[^()\"'`$\\\]\[]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
_BRACE_PARAM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_OPERATOR = re.compile(r":?[-=?+]|##?|%%?|//|/[#%]?|\^\^?|,,?|~~?|@[A-Za-z]|:")
_DEFAULTS = frozenset((":-", "-", ":=", "=", ":?", "?", ":+", "+"))
_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9A-Fa-f]{1,2})|x\{([0-9A-Fa-f]{1,8})\}|u([0-9A-Fa-f]{1,4})"
    r"|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.))|([^\\]+|\\)",
    re.DOTALL,
)
_ANSI_CHARS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r",
    "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def ansi_c(text: str, at: int, *, nul: bool = False) -> str:
    """The value of `$'text'` in the byte view; only programs that print can hold a NUL."""
    out: list[str] = []
    for m in _ANSI.finditer(text):
        simple, hexa, braced, u4, u8, octal, control, plain = m.groups()
        if plain is not None:
            out.append(plain)
        elif simple:
            out.append(_ANSI_CHARS[simple])
        elif control:
            if not control.isascii():
                raise Refused("ansi-c", "a control character that is not ASCII", at, at + 1)
            out.append(chr(ord(control.upper()) & 0x1F) if control != "?" else "\x7f")
        elif braced:
            out.append(chr(int(braced, 16) & 0xFF))
        elif u4 or u8:
            point = int(u4 or u8, 16)
            if point > 0x10FFFF or 0xD800 <= point < 0xE000:
                raise Refused("ansi-c", "not a Unicode character", at, at + 1)
            out.append(chr(point).encode().decode("latin-1"))
        else:
            out.append(chr(int(hexa, 16) if hexa else int(octal, 8) & 0xFF))
    value = "".join(out)
    if "\0" in value and not nul:
        raise Refused("ansi-c", "a NUL character in a quoted string", at, at + 1)
    return value


class ExpansionReader(Cursor):
    """Reads what a dollar sign, a backtick or a process substitution begins."""

    __slots__ = ()

    def _single_quoted(self) -> Lit:
        raise NotImplementedError

    def _double_quoted(self, parts: list[Part]) -> None:
        raise NotImplementedError

    def _backslash(self, parts: list[Part]) -> None:
        raise NotImplementedError

    def _dollar(self, *, quoted: bool, body: bool = False) -> list[Part]:
        s, at = self.s, self.pos
        following = self._peek(1)
        if following == "\\" and self._peek(2) == "\n":
            raise self._fail("continuation", "a line continuation after a dollar sign")
        if following == "(":
            if self._peek(2) == "(":
                arith = self._arith_expansion(quoted)
                if arith is not None:
                    return [arith]
            return [self._comsub(quoted)]
        if following == "{":
            return [self._brace_param(quoted, body)]
        if following == "[":
            return [self._old_arith(quoted)]
        if not quoted and following == "'":
            return [self._ansi_quoted()]
        if not quoted and following == '"':
            self.pos += 1
            parts: list[Part] = []
            self._double_quoted(parts)
            return parts
        m = _PARAM.match(s, at + 1, self.end)
        if m is None:
            self.pos = at + 1
            return [Lit("$", True, at, self.pos)]
        self.pos = m.end()
        return [Param(m.group(), "", None, None, quoted, at, self.pos)]

    def _ansi_quoted(self) -> Lit:
        start = self.pos
        at = start + 2
        while at < self.end and self.s[at] != "'":
            at += 2 if self.s[at] == "\\" else 1
        if at >= self.end:
            raise self._fail("unterminated", "no closing quote of $'")
        self.pos = at + 1
        return Lit(ansi_c(self.s[start + 2 : at], start), True, start, self.pos)

    def _comsub(self, quoted: bool) -> Subst:
        start = self.pos
        self.pos += 2
        script = self._nested_script(start, "$(")
        return Subst("$(", script, quoted, start, self.pos)

    def _process_subst(self) -> Subst:
        start = self.pos
        kind = self.s[start : start + 2]
        self.pos += 2
        script = self._nested_script(start, kind)
        return Subst(kind, script, False, start, self.pos)

    def _nested_script(self, start: int, kind: str) -> Script:
        self._deeper()
        outer, self.pending = self.pending, []
        script = self.script_until(")")
        if self._peek() != ")":
            self.pos = start
            raise self._fail("unterminated", f"no closing parenthesis of {kind}")
        if self.pending:
            raise self._fail("heredoc", "a here-document without its body inside a substitution")
        self.pos += 1
        self.pending = outer
        self.depth -= 1
        self._no_newline_while_pending(start)
        return script

    def script_until(self, close: str, *, top: bool = False) -> Script:
        raise NotImplementedError

    def _backtick(self, *, quoted: bool, body: bool = False) -> Subst:
        """A quote behind a backslash loses that between double quotes, but not in a here-document (`body`)."""
        start = self.pos
        at = start + 1
        while at < self.end and self.s[at] != "`":
            at += 2 if self.s[at] == "\\" else 1
        if at >= self.end:
            raise self._fail("unterminated", "no closing backtick")
        raw = self.s[start + 1 : at]
        escapes = '$`\\"' if quoted and not body else "$`\\"
        inner = re.sub(r"\\(.)", lambda m: m.group(1) if m.group(1) in escapes else m.group(), raw, flags=re.S)
        self._deeper()
        # Padding keeps every offset inside the backticks; unescaping only shortens the text.
        reader = type(self)(self.s[: start + 1] + inner, start + 1, start + 1 + len(inner), depth=self.depth)
        reader.budget = self.budget
        script = reader.script_until("")
        self.budget = reader.budget
        if reader.pos < reader.end:
            raise reader._fail("syntax", "unexpected text inside backticks")
        self.depth -= 1
        self.pos = at + 1
        self._no_newline_while_pending(start)
        return Subst("`", script, quoted, start, self.pos)

    def _brace_param(self, quoted: bool, body: bool) -> Param:
        s, start = self.s, self.pos
        self._deeper()
        self.pos += 2
        prefix = ""
        if self._peek() in ("!", "#") and self._peek(1) not in ("}", ""):
            follows = _BRACE_PARAM.match(s, self.pos + 1, self.end)
            # `${#-x}` and `${#?x}` operate on `$#`; `${#-}` and `${#x}` are lengths.
            if follows and (self._peek() == "!" or s[follows.end() : follows.end() + 1] in ("}", "[")):
                prefix = self._peek()
                self.pos += 1
        m = _BRACE_PARAM.match(s, self.pos, self.end)
        if m is None:
            raise self._fail("parameter", "not a parameter expansion that bash 5.2 knows")
        name = m.group()
        self.pos = m.end()
        index = self._subscript() if self._peek() == "[" else None
        op, arg = self._operator(prefix, quoted, body)
        if self._peek() != "}":
            self.pos = start
            raise self._fail("parameter", "a parameter expansion that is not understood")
        self.pos += 1
        self.depth -= 1
        self._no_newline_while_pending(start)
        return Param(name, op, arg, index, quoted, start, self.pos)

    def _operator(self, prefix: str, quoted: bool, body: bool) -> tuple[str, Word | None]:
        if prefix == "#":
            return "#len", None
        if prefix == "!":
            if self._peek() in ("*", "@") and self._peek(1) == "}":
                self.pos += 1
                return "!names", None
            if self._peek() == "}":
                return "!", None
            raise self._fail("parameter", "an indirect expansion with an operator")
        if self._peek() == "}":
            return "", None
        m = _OPERATOR.match(self.s, self.pos, self.end)
        if m is None:
            raise self._fail("parameter", "a parameter operator that is not understood")
        op = m.group()
        self.pos = m.end()
        return op, self._operand(op, quoted, body)

    def _operand(self, op: str, quoted: bool, body: bool) -> Word:
        """The word of `${x<op>word}`, up to the first unquoted `}`."""
        start = self.pos
        parts: list[Part] = []
        literal_single = quoted and op in _DEFAULTS
        while self._peek() != "}":
            self._step()
            at, c = self.pos, self._peek()
            if not c:
                raise self._fail("unterminated", "no closing brace of a parameter expansion")
            m = _BRACE_PLAIN.match(self.s, at, self.end)
            if m is not None:
                self.pos = m.end()
                parts.append(Lit(m.group(), quoted, at, self.pos))
            elif c == "'" and not literal_single:
                parts.append(self._single_quoted())
            elif c == '"':
                if body:
                    raise self._fail("heredoc", "quotes inside an expansion of a here-document")
                self._double_quoted(parts)
            elif c == "\\":
                self._operand_backslash(parts, quoted)
            elif c == "$":
                parts.extend(self._dollar(quoted=quoted, body=body))
            elif c == "`":
                parts.append(self._backtick(quoted=quoted, body=body))
            elif c in "<>" and self._peek(1) == "(":
                if quoted:
                    raise self._fail("parameter", "a process substitution inside a quoted expansion")
                parts.append(self._process_subst())
            else:
                self.pos += 1
                parts.append(Lit(c, quoted, at, self.pos))
        return Word(merged(parts), start, self.pos)

    def _operand_backslash(self, parts: list[Part], quoted: bool) -> None:
        if not quoted:
            self._backslash(parts)
            return
        at, following = self.pos, self._peek(1)
        self.pos += 2
        if following == "\n":
            return
        text = following if following and following in '$`"\\}' else "\\" + following
        parts.append(Lit(text, True, at, self.pos))

    def _subscript(self) -> Word:
        """`[…]` after a name; `pos` is on the bracket, and ends behind the closing one."""
        start = self.pos
        self.pos += 1
        parts = self._arith_parts("]")
        self.pos += 1
        return Word(parts, start + 1, self.pos - 1)

    def _arith_expansion(self, quoted: bool) -> Arith | None:
        start = self.pos
        self._deeper()
        self.pos += 3
        body = self.arith_body()
        self.depth -= 1
        if body is None:
            self.pos = start
            return None
        return Arith(body, quoted, start, self.pos)

    def _old_arith(self, quoted: bool) -> Arith:
        start = self.pos
        self._deeper()
        self.pos += 2
        parts = self._arith_parts("]")
        self.pos += 1
        self.depth -= 1
        return Arith(Word(parts, start + 2, self.pos - 1), quoted, start, self.pos)

    def arith_body(self) -> Word | None:
        """What stands up to `))`; None (with `pos` anywhere) where a single `)` closes it."""
        start = self.pos
        parts = self._arith_parts(")")
        if self._peek(1) != ")":
            return None
        body = Word(parts, start, self.pos)
        self.pos += 2
        self._no_newline_while_pending(start)
        return body

    def _arith_parts(self, close: str) -> tuple[Part, ...]:
        opening = "(" if close == ")" else "["
        parts: list[Part] = []
        level = 0
        while True:
            self._step()
            at, c = self.pos, self._peek()
            if not c:
                raise self._fail("unterminated", f"no closing {close} of an arithmetic expression")
            m = _ARITH_PLAIN.match(self.s, at, self.end)
            if m is not None:
                self.pos = m.end()
                parts.append(Lit(m.group(), True, at, self.pos))
                continue
            if c == close and level == 0:
                return merged(parts)
            if c == '"':
                self._double_quoted(parts)
            elif c == "$":
                parts.extend(self._dollar(quoted=True))
            elif c == "`":
                parts.append(self._backtick(quoted=True))
            elif c in "'\\":
                raise self._fail("arithmetic", "quoting inside an arithmetic expression")
            else:
                level += (c == opening) - (c == close)
                self.pos += 1
                parts.append(Lit(c, True, at, self.pos))
