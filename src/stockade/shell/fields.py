"""Collects the pieces of a word into the fields that a program receives."""

from __future__ import annotations

import re

from stockade.model.paths import is_pattern
from stockade.secrets.patterns import pattern_asks
from stockade.shell.syntax import byte_view, text_of
from stockade.shell.values import ANYTHING, MAX_ALTERNATIVES, MAX_TEXT, NO_TAGS, SECRET, Field, Value, common_prefix, unknown

_GLOB = re.compile(r"[*?\[]")


class FieldBuilder:
    """Collects the pieces of a word into fields."""

    __slots__ = (
        "_alts",
        "_glob",
        "_kind",
        "_many",
        "_open",
        "_prefix",
        "_suffix",
        "_sure",
        "_tags",
        "_under",
        "_unknown",
        "done",
        "dynamic",
        "end",
        "start",
    )  # fmt: skip

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.done: list[Field] = []
        self.dynamic = False
        self._reset()

    def _reset(self) -> None:
        self._alts = [""]  # patterns: glob characters that are text are escaped
        self._glob = False
        self._open = False
        self._unknown = False
        self._many = False
        self._sure = True
        self._prefix = ""
        self._suffix = ""
        self._kind = ""
        self._under = ""
        self._tags: frozenset[str] = NO_TAGS

    def literal(self, text: str) -> None:
        self._open = True
        self._add((_escaped(text),))

    def unquoted(self, text: str) -> None:
        self._open = True
        if _GLOB.search(text):
            self._glob = True
        self._add((text.replace("\\", "\\\\"),))

    def value(self, value: Value, *, pattern: bool = False) -> None:
        self._open = True
        self._tags |= value.tags
        self._sure &= value.sure
        if value.texts is None:
            self._lost(value)
            return
        if pattern and any(_GLOB.search(t) for t in value.texts):
            self._glob = True
            self._add(tuple(t.replace("\\", "\\\\") for t in value.texts))
        else:
            self._add(tuple(_escaped(t) for t in value.texts))

    def _add(self, texts: tuple[str, ...]) -> None:
        if self._unknown:
            self._suffix = (self._suffix + texts[0]) if len(texts) == 1 else ""
            if self._kind != "int" or "/" in texts[0]:
                self._kind = self._under = ""
            return
        if len(self._alts[0]) + len(texts[0]) > MAX_TEXT:
            self._lost(ANYTHING)
            self._sure = False
        elif len(texts) == 1:
            self._alts = [a + texts[0] for a in self._alts]
        elif len(self._alts) * len(texts) <= MAX_ALTERNATIVES:
            self._alts = [a + t for a in self._alts for t in texts]
        else:
            self._lost(ANYTHING)

    def _lost(self, value: Value) -> None:
        whole = self._alts == [""] and not self._unknown
        if not self._unknown:
            self._prefix = common_prefix(self._alts) + value.prefix
        self._kind = value.kind if whole else ""
        self._under = value.under if whole else ""
        self._suffix = value.suffix
        self._unknown = True

    def unknown_fields(self, value: Value) -> None:
        """An unquoted unknown: it may vanish, be one word, or many, and is a pattern as well."""
        self._open = True
        self._tags |= value.tags
        self._many = True
        self._sure = False
        if value.texts:
            self._add(tuple(_escaped(t) for t in value.texts))
        else:
            self._lost(value)

    def anything(self, tags: frozenset[str]) -> None:
        self.unknown_fields(unknown(tags))

    def cut(self) -> None:
        """Ends the field here, if one has begun."""
        self._flush()

    def _flush(self) -> None:
        if self._open:
            self.done.append(self._field())
        self._reset()

    def _field(self) -> Field:
        common = (self.start, self.end)
        if self._unknown:
            prefix = text_of(_plain(self._prefix))
            suffix = text_of(_plain(self._suffix))
            return Field(None, *common, self._sure and not self._many, self._many, False, self._kind,
                         prefix, suffix, self._under, self._tags, (), self.dynamic)  # fmt: skip
        glob = self._glob and any(is_pattern(a) for a in self._alts)
        texts = [text_of(a if glob else _plain(a)) for a in self._alts]
        alts = tuple(texts) if len(texts) > 1 else ()
        return Field(texts[0], *common, self._sure, self._many, glob, "", "", "", "", self._tags, alts, self.dynamic)

    def finish(self) -> list[Field]:
        self._flush()
        return self.done


def _escaped(text: str) -> str:
    return re.sub(r"[*?\[\]\\]", lambda m: "\\" + m.group(), text) if re.search(r"[*?\[\]\\]", text) else text


def _plain(pattern: str) -> str:
    """A pattern with its escapes removed."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL) if "\\" in pattern else pattern


def field_value(field: Field) -> Value:
    """A field as the value of a variable."""
    if field.glob:
        fixed = (field.text or "").split("*")[0].split("?")[0].split("[")[0]
        folder = fixed[: fixed.rfind("/") + 1]
        asks = any(pattern_asks(part) for part in (field.text or "").split("/"))
        tags = field.tags | {SECRET} if asks else field.tags
        return Value(None, True, "listed", prefix=folder or fixed, under=folder or ".", tags=tags)
    if field.text is not None:
        texts = field.alts or (field.text,)
        return Value(tuple(byte_view(t) for t in texts), field.sure, tags=field.tags)
    return Value(None, field.sure, field.kind, field.prefix, field.suffix, field.under, field.tags)
