"""The configuration files of git, read as git reads them.  Source: git-config(1)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

_MAX_BYTES = 1 << 20
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$", re.DOTALL)
_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\](.*)$', re.DOTALL)


class Entry(NamedTuple):
    """One line of a configuration: `name` is that of `[section "name"]`; names of keys are lower case."""

    section: str
    name: str | None
    key: str
    value: str
    line: int

    @property
    def shown(self) -> str:
        return ".".join(part for part in (self.section, self.name, self.key) if part is not None)


class Unreadable(Exception):
    """A configuration that is not read as git would read it."""


def read_text(path: str) -> str | None:
    """The text of a file; None where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unreadable((error.strerror or "error").lower()) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("it is no regular file")
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise Unreadable("it is too large")
    return data.decode("utf-8", "surrogateescape")


def entries(text: str) -> Iterator[Entry]:
    """The lines of a configuration file; raises where git's syntax is not followed."""
    section, name = "", None
    lines = text.replace("\r\n", "\n").lstrip("\ufeff").split("\n")
    at = 0
    while at < len(lines):
        start, line = at, lines[at]
        at += 1
        head = _SECTION.match(line)
        if head is not None:
            section, _, dotted = head.group(1).lower().partition(".")
            name = re.sub(r"\\(.)", r"\1", head.group(2)) if head.group(2) is not None else dotted or None
            line = head.group(3)
        while _continues(line) and at < len(lines):
            line = line[:-1] + lines[at]
            at += 1
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        m = _LINE.match(line)
        if m is None:
            raise Unreadable(f"line {start + 1} is not understood")
        value = "true" if m.group(2) is None else _value(m.group(2))
        yield Entry(section, name, m.group(1).lower(), value, start + 1)


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _value(raw: str) -> str:
    """A value without its quotes, its comment, and the blanks at its end that are not quoted."""
    out: list[str] = []
    kept = 0  # how much of it stays in any case
    quoted = False
    at = 0
    while at < len(raw):
        c = raw[at]
        if c in "#;" and not quoted:
            break
        if c == '"':
            quoted = not quoted
        elif c == "\\" and at + 1 < len(raw):
            at += 1
            out.append({"n": "\n", "t": "\t", "b": "\b"}.get(raw[at], raw[at]))
        else:
            out.append(c)
        kept = len(out) if quoted or c not in " \t" else kept
        at += 1
    return "".join(out[:kept])
