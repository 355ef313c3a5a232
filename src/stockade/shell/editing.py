"""What the operators of `${name…}` do to a text that is known."""

from __future__ import annotations

import fnmatch
import re

from stockade.shell.expansions import ansi_c
from stockade.shell.syntax import Refused
from stockade.shell.values import Value, unknown


def recased(value: Value, op: str) -> Value:
    """`${x@L}`, `${x@U}`, `${x@E}` of a known text."""
    if value.texts is None or not all(text.isascii() for text in value.texts):
        return unknown(value.tags)
    try:
        if op == "@E":
            return value._replace(texts=tuple(ansi_c(text, 0) for text in value.texts))
        return value._replace(texts=tuple(text.lower() if op == "@L" else text.upper() for text in value.texts))
    except Refused:
        return unknown(value.tags)


def edited(text: str, op: str, pattern: str) -> str:
    if not text.isascii() or len(text) > 4096:
        raise Refused("parameter", "a long or non-ASCII value")
    if op in ("^^", ",,") and pattern == "":
        return text.upper() if op == "^^" else text.lower()
    if op in ("^", ",") and pattern == "":
        return (text[:1].upper() if op == "^" else text[:1].lower()) + text[1:]
    if op in ("#", "##", "%", "%%"):
        return trimmed(text, op, pattern)
    if op in ("/", "//"):
        old, _, new = pattern.partition("/")
        if re.fullmatch(r"\[[A-Za-z0-9_-]+\]", old) and "&" not in new and "\\" not in new:
            return re.sub(old, lambda _: new, text, count=0 if op == "//" else 1)  # a plain class means the same to both
        if old == "" or re.search(r"[*?\[\\]", old) or "&" in new or "\\" in new:
            raise Refused("parameter", "a replacement with a pattern")
        return text.replace(old, new) if op == "//" else text.replace(old, new, 1)
    raise Refused("parameter", "an operator that is not evaluated")


def trimmed(text: str, op: str, pattern: str) -> str:
    if len(pattern) > 64 or "\\" in pattern or "[" in re.sub(r"\[[A-Za-z0-9_.-]+\]", "", pattern):
        raise Refused("parameter", "a long pattern, or a class that is not plain")
    if pattern.count("*") > 2:
        raise Refused("parameter", "an intricate pattern")
    lengths = range(len(text) + 1)
    for size in lengths if len(op) == 1 else reversed(lengths):
        piece = text[:size] if op[0] == "#" else text[len(text) - size :]
        if fnmatch.fnmatchcase(piece, pattern):
            return text[size:] if op[0] == "#" else text[: len(text) - size]
    return text
