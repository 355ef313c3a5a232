"""Redirections: the files, hosts and texts that a command is connected to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind, Segment
from stockade.secrets.names import secret_path
from stockade.shell.calls import exact_path, targets
from stockade.shell.fields import field_value
from stockade.shell.state import State
from stockade.shell.syntax import Redirect, Script, Simple
from stockade.shell.values import ANYTHING, EMPTY, NETWORK, SECRET, Field, Value, concat, join, known, unknown, with_errors

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_DEV_NET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/([^/]+)")


_STREAMS = frozenset(("/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2", "/dev/tty"))
_NUMBER_OF_STREAM = {"t": "1", "1": "1", "r": "2", "2": "2"}  # by the last letter of the path
_DUPLICATE = re.compile(r"[0-9]*-?|[0-9]+")


class Opened:
    """The redirections of one command: their effects, its input, and where its output goes."""

    __slots__ = ("append", "captured", "diverted", "effects", "errors", "file", "missing", "stdin")

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.stdin: Value | None = None
        self.file: str | None = None
        self.append = False
        self.captured = False
        self.errors = False  # what goes to the error stream is printed as well
        self.missing = False  # a file to read may not be there, and then nothing runs
        self.diverted = False  # what is printed goes to another stream, which may still reach the pipe

    def finish(self, state: State, out: Value) -> Value:
        """Puts what was printed where it goes; gives what is left for the pipe."""
        if self.errors:
            out = with_errors(out)
        if not self.captured:
            return join(EMPTY, out) if self.diverted or (self.missing and out.texts is not None) else out
        if self.file is not None:
            old = state.written.get(self.file, ANYTHING)
            state.written[self.file] = concat(old, out) if self.append else out
        return EMPTY


def open_redirects(it: Interpreter, redirects: tuple[Redirect, ...]) -> Opened:
    opened = Opened()
    for redirect in redirects:
        _open(it, opened, redirect)
    return opened


def _open(it: Interpreter, opened: Opened, redirect: Redirect) -> None:
    op = redirect.op
    if redirect.heredoc is not None:
        if redirect.fd in ("", "0"):
            opened.stdin = it.expander().value(redirect.heredoc.body)
        else:
            it.expander().value(redirect.heredoc.body)
        return
    if op == "<<<":
        value = it.expander().value(redirect.target)
        from stockade.shell.values import glue

        opened.stdin = glue(value, known("\n"))
        return
    fields = it.expander().fields(redirect.target)
    field = fields[0] if len(fields) == 1 else Field(None, redirect.target.start, redirect.target.end)
    value = field_value(field)
    if op in ("<&", ">&") and _is_duplicate(value):
        if op == "<&" and redirect.fd in ("", "0"):
            opened.stdin = it.state.written.get(f"&{value.text}", ANYTHING)
        elif op == ">&":
            _divert(opened, redirect.fd, "" if value.text is None else value.text.removesuffix("-"))
        return
    start, end = it.span(field.start, field.end)
    _open_file(it, opened, redirect, field._replace(start=start, end=end, sure=field.sure and not field.many))


def _divert(opened: Opened, fd: str, to: str) -> None:
    """`2>&1`, `>&2`, and what else makes one descriptor another's."""
    if fd == "2" and to != "2":
        opened.errors = True
    elif fd in ("", "1") and to != "1":
        opened.diverted = True


def _is_duplicate(value: Value) -> bool:
    text = value.text
    return value.kind == "int" or (text is not None and _DUPLICATE.fullmatch(text) is not None)


def _open_file(it: Interpreter, opened: Opened, redirect: Redirect, field: Field) -> None:
    op, fd = redirect.op, redirect.fd
    begin, stop = it.span(redirect.start, redirect.end)
    network = _DEV_NET.match(field.text or field.prefix)
    if network is not None:
        detail = f"{network.group(1)}:{network.group(2)}"
        opened.effects.append(Effect(Kind.NETWORK, None, detail, begin, stop, "host"))
        if fd not in ("", "0", "1", "2"):
            it.state.written[f"&{fd}"] = unknown(frozenset((NETWORK,)))
        elif op == "<":
            opened.stdin = unknown(frozenset((NETWORK,)))
        return
    writes = op not in ("<",)
    kind = Kind.WRITE if writes else Kind.READ
    for text in field.alts or (field.text,):
        for target in targets(it, field._replace(text=text, alts=())):
            opened.effects.append(Effect(kind, target, "", begin, stop, "redirect" if writes else ""))
    if not field.sure or (writes and field.glob):
        opened.effects.append(Effect(Kind.UNKNOWN, None, "the file of a redirection is not known", begin, stop, "value"))
    path = exact_path(it, field)
    if op == "<>" and fd in ("", "0"):
        opened.stdin = _content(it, path, field)
    elif not writes:
        content = _content(it, path, field)
        opened.missing |= path not in it.state.written and field.literal != "/dev/null"
        if fd in ("", "0"):
            opened.stdin = content
        else:
            it.state.written[f"&{fd}"] = content
    elif field.literal in _STREAMS:
        _divert(opened, "2" if op.startswith("&") else fd, _NUMBER_OF_STREAM.get((field.literal or "")[-1], ""))
    elif fd in ("", "1") or op.startswith("&") or op == ">&":
        opened.captured = True
        opened.file = path
        opened.append = ">>" in op
    elif path is not None:
        it.state.written[path] = ANYTHING


def _content(it: Interpreter, path: str | None, field: Field) -> Value:
    """What reading a file gives: what this line wrote there, or something unknown."""
    if path is None:
        return unknown(field.tags)
    written = it.state.written.get(path)
    if written is not None:
        return written
    return unknown(frozenset((SECRET,))) if secret_path(path) else ANYTHING


def file_content(it: Interpreter, redirect: Redirect) -> Value:
    """`$(< file)`: a read of the file, and its content."""
    opened = open_redirects(it, (redirect,))
    begin, stop = it.span(redirect.start, redirect.end)
    it.emit(Segment((), None, (), (), tuple(opened.effects), begin, stop, it.state.cwd, builtin=True))
    return opened.stdin if opened.stdin is not None else ANYTHING


def look_at(it: Interpreter, value: Value, start: int, end: int) -> None:
    """`[[ -f x ]]` looks at a path's metadata."""
    begin, stop = it.span(start, end)
    text = value.text
    field = (
        Field(text, begin, stop)
        if text is not None
        else Field(None, begin, stop, prefix=value.prefix, under=value.under, kind=value.kind)
    )
    found = tuple(Effect(Kind.LIST, target, "", begin, stop) for target in targets(it, field))
    it.emit(Segment((), None, (), (), found, begin, stop, it.state.cwd, builtin=True))


def file_read(script: Script) -> Redirect | None:
    """The redirection of `$(< file)`, which reads the file."""
    if len(script.items) != 1 or len(script.items[0].pipeline.commands) != 1:
        return None
    command = script.items[0].pipeline.commands[0]
    if isinstance(command, Simple) and not command.words and not command.assigns and len(command.redirects) == 1:
        redirect = command.redirects[0]
        return redirect if redirect.op == "<" and not redirect.fd else None
    return None
