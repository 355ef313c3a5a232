"""Which programs a git repository's own configuration would start, also under a command that only reads.

A clone does not bring such a configuration along; an archive, a bare repository inside the project, or a
command that wrote into `.git` does.  Only the repository's files are read here, never the user's or the
system's: those are a person's own word.  Source: git-config(1), gitattributes(5), gitrepository-layout(5).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from stockade.policy.findings import REPOSITORY

_MAX_BYTES = 1 << 20
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$", re.DOTALL)
_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\](.*)$', re.DOTALL)
_BOOLEANS = frozenset(("", "true", "false", "yes", "no", "on", "off", "0", "1"))
# What plain reading commands obey: (section, has a name, key).
_RUNS = frozenset(
    (("core", False, "fsmonitor"), ("core", False, "pager"), ("core", False, "alternaterefscommand"),
     ("diff", False, "external"), ("diff", True, "command"), ("diff", True, "textconv"),
     ("filter", True, "clean"), ("filter", True, "smudge"), ("filter", True, "process"),
     ("gpg", False, "program"), ("gpg", True, "program"), ("interactive", False, "difffilter"),
     ("include", False, "path"), ("includeif", True, "path"))
)  # fmt: skip
_QUIET = re.compile(
    r"(?:less|more|cat|delta|bat|diff-so-fancy)(?:\s+-[A-Za-z]+)*\Z|git-lfs (?:clean|smudge|filter-process)\b[^;&|`$]*\Z"
)


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


class _Unreadable(Exception):
    """A configuration that is not read as git would read it."""


def runs(folder: str) -> str:
    """What the configuration of the repository that holds a folder would start; empty if nothing, or no repository."""
    found = _repository(folder)
    if found is None:
        return ""
    git, common = found
    for path in (os.path.join(common, "config"), os.path.join(git, "config.worktree")):
        try:
            text = _text(path)
            for entry in entries(text) if text is not None else ():
                if _starts(entry):
                    return f"{REPOSITORY} sets `{entry.shown}` to `{_short(entry.value)}` ({path}:{entry.line})"
        except _Unreadable as error:
            return f"{REPOSITORY} `{path}` cannot be read: {error}"
    return ""


def _repository(folder: str) -> tuple[str, str] | None:
    """The git folder that git would find from a folder, and the one that holds the common configuration."""
    at = folder
    while True:
        git = os.path.join(at, ".git")
        if os.path.isdir(git):
            return git, _common(git)
        if os.path.isfile(git):
            text = _text(git) or ""
            if text.startswith("gitdir: "):
                git = os.path.join(at, text[8:].strip())
                return git, _common(git)
        if os.path.isfile(os.path.join(at, "HEAD")) and all(os.path.isdir(os.path.join(at, n)) for n in ("objects", "refs")):
            return at, _common(at)
        parent = os.path.dirname(at)
        if parent == at:
            return None
        at = parent


def _common(git: str) -> str:
    text = _text(os.path.join(git, "commondir"))
    return os.path.join(git, text.strip()) if text and text.strip() else git


def _text(path: str) -> str | None:
    """The text of a file; None where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _Unreadable((error.strerror or "error").lower()) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _Unreadable("it is no regular file")
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise _Unreadable("it is too large")
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
            raise _Unreadable(f"line {start + 1} is not understood")
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


def _starts(entry: Entry) -> bool:
    if (entry.section, entry.name is not None, entry.key) in _RUNS or entry.section == "pager":
        quiet = entry.value.lower() in _BOOLEANS or _QUIET.match(entry.value) is not None
        return not quiet or (entry.section == "diff" and entry.value.lower() not in ("", "false"))
    return entry.section == "core" and entry.key == "worktree" and entry.value != ""


def _short(value: str) -> str:
    return value if len(value) <= 60 else value[:57] + "…"
