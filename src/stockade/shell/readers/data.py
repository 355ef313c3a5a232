"""make, sqlite3, jq: words that are text for another reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, targets
from stockade.shell.state import normal
from stockade.shell.syntax import text_of
from stockade.shell.values import Field, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_MAKE_SAFE = frozenset(("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "V", "VERBOSE", "DESTDIR", "PREFIX", "prefix", "J", "JOBS"))
_DOT = re.compile(r"^\s*\.(\w+)\s*(.*)$", re.MULTILINE)
_SQL_WRITES = re.compile(
    r"\b(?:writefile|readfile|fsdir|lsdir|zipfile|load_extension|edit|fts3_tokenizer)\s*\(|\battach\b|\bvacuum\s+into\b",
    re.IGNORECASE,
)
_SQL_CHANGES = re.compile(
    r"(?:^|;|\n)\s*(?:insert|update|delete|drop|alter|create|replace|reindex|vacuum|begin|with|pragma\s+\w+\s*=)\b", re.IGNORECASE
)
_SQL_LOSES = re.compile(r"\b(?:delete\s+from|drop\s+\w+|update\s+\w+|truncate)\b", re.IGNORECASE)


def make(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """Variables that replace what recipes run, and a makefile from standard input."""
    if (
        "network" in call.stdin.tags
        and reading.values.get("-f") is not None
        and reading.values["-f"].literal in ("-", "/dev/stdin")
    ):
        call.effects.append(
            Effect(Kind.FLOOR, None, "runs a makefile from the network", call.start, call.end, "network-to-interpreter")
        )
    for field in reading.operands:
        m = re.match(r"([A-Za-z_.][A-Za-z0-9_.]*)\s*[:?+]?=", field.text or field.prefix)
        if m is not None and m.group(1) not in _MAKE_SAFE:
            begin, stop = it.span(field.start, field.end)
            call.effects.append(
                Effect(Kind.HIJACK, None, f"the variable {m.group(1)} changes what make runs", begin, stop, "variable")
            )
    for text in _makefile(it, call, reading):
        for line in text.split("\n"):
            if line.startswith("\t"):
                _recipe(it, call, line.strip().lstrip("@-+"))
    return None


def _makefile(it: Interpreter, call: Call, reading: Reading) -> list[str]:
    """The makefile, where this line wrote it or gives it on standard input."""
    named = reading.values.get("-f")
    if named is not None and named.literal in ("-", "/dev/stdin"):
        return [text_of(text) for text in call.stdin.texts or ()]
    for name in (named.literal,) if named is not None else ("GNUmakefile", "makefile", "Makefile"):
        path = it.state.absolute(name) if name else None
        content = it.state.written.get(normal(path)) if path is not None else None
        if content is not None and content.texts is not None:
            return [text_of(text) for text in content.texts]
    return []


def _recipe(it: Interpreter, call: Call, command: str) -> None:
    it.in_copy(lambda: it.run_text(command, call.start, call.end))


def sqlite3(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """Statements and dot commands; `-safe` refuses those that leave the database."""
    operands = list(reading.operands)
    database = operands.pop(0) if operands else None
    readonly = "-readonly" in reading.options
    safe = "-safe" in reading.options
    statements: list[Field] = operands + [u.field for u in reading.uses if u.option in ("-cmd",)]
    texts = [field.literal for field in statements]
    if not statements:
        texts = [text_of(t) for t in call.stdin.texts] if call.stdin.texts is not None and call.stdin.sure else [None]
    if not statements and not safe:
        call.effects.append(Effect(Kind.EXECUTE, None, "runs statements from its input", call.start, call.end, "code"))
    for text in texts:
        _statement(it, call, text, safe=safe, readonly=readonly)
    if database is not None and database.literal not in (":memory:", ""):
        unknown = any(t is None for t in texts)
        kind = Kind.READ if readonly else Kind.EDIT
        for target in targets(it, database):
            call.effects.append(Effect(kind, target, "", *it.span(database.start, database.end)))
        if unknown:
            call.effects.append(Effect(Kind.UNKNOWN, None, "statements that are not known", call.start, call.end))
    return None


def _statement(it: Interpreter, call: Call, text: str | None, *, safe: bool, readonly: bool) -> None:
    if text is None:
        return
    span = (call.start, call.end)
    if not safe:
        for m in _DOT.finditer(text):
            _dot(it, call, m.group(1), m.group(2).strip())
        if _SQL_WRITES.search(text):
            call.effects.append(Effect(Kind.UNKNOWN, None, "the statement leaves the database", *span))
    if _SQL_LOSES.search(text) and not readonly:
        call.effects.append(Effect(Kind.DESTRUCTIVE, None, "the statement changes or removes rows", *span))
    elif _SQL_CHANGES.search(text) and not readonly:
        call.effects.append(Effect(Kind.UNKNOWN, None, "the statement changes the database", *span))


_DOT_READS = frozenset(
    ("tables", "schema", "indexes", "indices", "headers", "header", "mode", "width", "help", "show", "databases", "dump",
     "print", "quit", "exit", "separator", "nullvalue", "timer", "stats", "fullschema", "changes", "echo", "bail", "eqp")
)  # fmt: skip


def _dot(it: Interpreter, call: Call, name: str, rest: str) -> None:
    span = (call.start, call.end)
    if name in ("shell", "system"):
        call.effects.append(Effect(Kind.EXECUTE, None, f"`.{name}` runs a command", *span, code="code"))
        it.in_copy(lambda: it.run_text(rest, *span))
    elif name in ("output", "once", "save", "backup", "log", "clone") and rest and not rest.startswith("|"):
        word = rest.split()[-1].strip("'\"")
        for target in targets(it, Field(word, *span)):
            call.effects.append(Effect(Kind.WRITE, target, "", *span))
    elif name not in _DOT_READS:
        call.effects.append(Effect(Kind.UNKNOWN, None, f"`.{name}` is not described", *span))


_JQ_ENVIRONMENT = re.compile(
    r"(?<![.\w\"'])(?:env|strenv|envsubst|load\w*)\b(?!\s*:)|\$ENV|\$__prog|\bimport\b|\binclude\b|input_filename"
)


def jq(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """Filters that read the environment, modules or other files."""
    for field in call.args:
        if field.text is not None and _JQ_ENVIRONMENT.search(field.text) and not field.text.startswith(("/", "./")):
            begin, stop = it.span(field.start, field.end)
            call.effects.append(Effect(Kind.SECRET, None, "a filter that reads the environment or other files", begin, stop))
    return None
