"""Reads what bash writes under `set -x` with PS4=$'\\x01'.

A record starts with one \\x01 for each level of nesting and ends before the next line that starts with
\\x01; a quoted word may hold newlines. For a simple command bash prints the expanded words, quoted where
they need it, so the words can be recovered exactly. For everything else (assignments, `[[ ]]`, `(( ))`,
`for`, `case`) it prints text that is not quoted, and no words are given. A word that itself holds a newline
before \\x01 splits its record; no generator makes one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BUILTIN_NAMES = """
    . : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local
    logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend
    test times trap true type typeset ulimit umask unalias unset wait
"""

BUILTINS = frozenset(_BUILTIN_NAMES.split())

DECLARING = frozenset({"declare", "export", "local", "readonly", "typeset"})
"""Builtins whose traced words differ from the written ones: `declare y=(a)` is traced as `declare y`."""

_MARK = "\x01"
_NOT_WORDS = re.compile(r"\[\[ |\(\( |case |for |select |[A-Za-z_]\w*(\[.*\])?\+?=", re.DOTALL | re.ASCII)
_PIECE = re.compile(r"'([^']*)'|\$'((?:[^'\\]|\\.)*)'|\\(.)|([^'\\ $\n]+)|(\$)", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"E": b"\x1b", b"e": b"\x1b", b"f": b"\f"}
_ESCAPED |= {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class Traced(NamedTuple):
    """One xtrace record. `words` is None where bash does not print a simple command's words."""

    depth: int
    raw: str
    words: tuple[str, ...] | None


def parse_trace(trace: bytes) -> tuple[Traced, ...]:
    """All records of a trace, in the order in which bash wrote them.

    What follows the last newline was cut off by the size limit and is left out.
    """
    whole, newline, _ = ("\n" + decode(trace)).rpartition("\n")
    if not newline:
        return ()
    return tuple(_record(_MARK + record) for record in whole.split("\n" + _MARK)[1:])


def decode(data: bytes) -> str:
    """Bytes of a command as text; bytes that are not UTF-8 survive as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def _record(text: str) -> Traced:
    raw = text.lstrip(_MARK)
    return Traced(len(text) - len(raw), raw, split_words(raw))


def split_words(raw: str) -> tuple[str, ...] | None:
    """The words that bash printed as `raw`, or None when `raw` is not a list of quoted words."""
    if raw == "" or _NOT_WORDS.match(raw):
        return None
    words, at = [""], 0
    while at < len(raw):
        if raw[at] == " ":
            words.append("")
            at += 1
            continue
        piece = _PIECE.match(raw, at)
        if piece is None:
            return None
        words[-1] += _piece_text(piece)
        at = piece.end()
    return tuple(words)


def _piece_text(piece: re.Match[str]) -> str:
    if piece[2] is not None:
        return decode(_ESCAPE.sub(_unescape, piece[2].encode("utf-8", "surrogateescape")))
    return next(text for text in piece.groups() if text is not None)


def _unescape(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    if code.isdigit():
        return bytes([int(code, 8) & 0xFF])
    return _ESCAPED.get(code, code)
