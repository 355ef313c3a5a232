"""Abstract values: what is known about a word before it is expanded by a real shell.

A value is exact (`texts` lists every text it can be), or unknown with what is still known about it.
Resolution is monotone towards danger: where a text is only *possible* (`sure` is False), it can
make the answer stricter, and it never makes it laxer.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_ALTERNATIVES = 64
MAX_TEXT = 1 << 16  # a longer text is not followed
NO_TAGS: frozenset[str] = frozenset()

# Where a text came from; a tag survives every filter that the text passes.
NETWORK, DECODED, SECRET = "network", "decoded", "secret"
OWN = "own"  # numbers of Stockade's own processes


class Value(NamedTuple):
    """A string that the shell will hold.

    `kind` is `int` for a number whose digits are not known, `listed` for names that a program
    listed below `under`; `prefix` and `suffix` are the known ends of an unknown text.
    """

    texts: tuple[str, ...] | None
    sure: bool = True
    kind: str = ""
    prefix: str = ""
    suffix: str = ""
    under: str = ""
    tags: frozenset[str] = NO_TAGS

    @property
    def text(self) -> str | None:
        """The one text that it certainly is, else None."""
        return self.texts[0] if self.texts is not None and len(self.texts) == 1 and self.sure else None


EMPTY = Value(("",))
ANYTHING = Value(None, sure=False)
INTEGER = Value(None, kind="int")


def known(text: str, tags: frozenset[str] = NO_TAGS) -> Value:
    return Value((text,), True, "", "", "", "", tags)


def unknown(tags: frozenset[str] = NO_TAGS) -> Value:
    return Value(None, False, "", "", "", "", tags) if tags else ANYTHING


def join(a: Value, b: Value) -> Value:
    """A value that can be either."""
    if a == b:
        return a
    tags = a.tags | b.tags
    if a.texts is not None and b.texts is not None:
        texts = tuple(dict.fromkeys(a.texts + b.texts))
        if len(texts) <= MAX_ALTERNATIVES:
            return Value(texts, a.sure and b.sure, tags=tags)
    if is_integer(a) and is_integer(b):
        return Value(None, kind="int", tags=tags)
    hints = (a.texts or ()) + (b.texts or ())
    if hints and len(hints) <= MAX_ALTERNATIVES:
        return Value(hints, False, tags=tags)
    if a.kind == b.kind == "listed" and a.under == b.under:
        return Value(None, True, "listed", under=a.under, tags=tags)
    return unknown(tags)


def with_errors(out: Value) -> Value:
    """What a command printed, mixed with messages that nobody knows."""
    return out if out.texts is None and not out.kind else join(out, unknown(out.tags))


def is_integer(value: Value) -> bool:
    """Whether evaluating it as arithmetic can only give a number, and runs nothing."""
    if value.kind == "int":
        return True
    return value.texts is not None and value.sure and all(_number(t) for t in value.texts)


def _number(text: str) -> bool:
    digits = text.strip().lstrip("+-")
    return not text.strip() or (digits.isascii() and digits.isdigit())


def concat(a: Value, b: Value) -> Value:
    """The output of one command after another."""
    if a == EMPTY:
        return b
    tags = a.tags | b.tags
    long = a.texts is not None and b.texts is not None and len(a.texts[0]) + len(b.texts[0]) > MAX_TEXT
    if a.texts is not None and b.texts is not None and len(a.texts) * len(b.texts) <= MAX_ALTERNATIVES and not long:
        texts = tuple(dict.fromkeys(x + y for x in a.texts for y in b.texts))
        return Value(texts, a.sure and b.sure, tags=tags)
    if a.texts == ("",):
        return b if b.tags == tags else b._replace(tags=tags)
    if b.texts == ("",):
        return a if a.tags == tags else a._replace(tags=tags)
    if a.kind == b.kind == "listed" and a.under == b.under:
        return Value(None, True, "listed", under=a.under, tags=tags)
    return unknown(tags)


class Field(NamedTuple):
    """One argument (or 0..n of them, with `many`) as it reaches a program.

    `text` is the argument where it is known; with `glob`, it is a pattern that the shell expands.
    `sure` is False where the text is only one possibility.  `prefix`, `suffix`, `kind`, `under` and
    `tags` are those of the value.
    """

    text: str | None
    start: int
    end: int
    sure: bool = True
    many: bool = False
    glob: bool = False
    kind: str = ""
    prefix: str = ""
    suffix: str = ""
    under: str = ""
    tags: frozenset[str] = NO_TAGS
    alts: tuple[str, ...] = ()
    dynamic: bool = False

    @property
    def literal(self) -> str | None:
        """The text if it is certain and no pattern, else None."""
        return self.text if self.sure and not self.glob and not self.alts else None

    @property
    def can_be_option(self) -> bool:
        """Whether a program could read this as an option."""
        if self.text is not None and self.sure:
            first = self.text[:1]
            return first == "-" or (self.glob and first in ("*", "?", "[", ""))
        if self.kind == "int":
            return False
        return self.prefix[:1] in ("", "-")


def common_prefix(texts: list[str]) -> str:
    first = texts[0]
    for text in texts[1:]:
        while not text.startswith(first):
            first = first[:-1]
    return first


def glue(a: Value, b: Value) -> Value:
    """The text of `a` directly followed by that of `b`."""
    if a.texts == ("",) and a.sure and not a.tags:
        return b
    if b.texts == ("",) and b.sure and not b.tags:
        return a
    tags = a.tags | b.tags
    sure = a.sure and b.sure
    if a.texts is not None and b.texts is not None and len(a.texts) * len(b.texts) <= MAX_ALTERNATIVES:
        if len(a.texts[0]) + len(b.texts[0]) > MAX_TEXT:
            return unknown(tags)
        return Value(tuple(x + y for x in a.texts for y in b.texts), sure, tags=tags)
    prefix = common_prefix(list(a.texts)) if a.texts and a.sure else a.prefix
    if a.texts is not None and len(a.texts) == 1 and a.sure:
        prefix += b.prefix
    suffix = b.texts[0] if b.texts is not None and len(b.texts) == 1 else b.suffix
    if b.texts is not None and len(b.texts) == 1 and a.suffix:
        suffix = a.suffix + suffix
    return Value(None, sure, "", prefix, suffix, "", tags)


def chomped(out: Value) -> Value:
    if out.texts is None:
        return out
    return out._replace(texts=tuple(text.replace("\0", "").rstrip("\n") for text in out.texts))


def repeated(out: Value) -> Value:
    """What a body prints that runs any number of times."""
    if out.texts == ("",) or out.kind == "listed":
        return out
    return Value(None, False, tags=out.tags)
