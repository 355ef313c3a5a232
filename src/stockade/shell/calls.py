"""A program about to run: its words, the paths they mean, and the segment that it becomes."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from stockade.model.effects import Effect, Kind, Segment, Target
from stockade.shell.state import normal
from stockade.shell.values import NETWORK, OWN, SECRET, Field, Value, unknown

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter


class Call:
    """One program about to run: its words, where its input comes from, and what wraps it."""

    __slots__ = ("argvs", "effects", "end", "external", "fields", "printed", "runs", "start", "stdin", "wrappers")

    def __init__(
        self,
        fields: list[Field],
        stdin: Value,
        effects: list[Effect],
        start: int,
        end: int,
    ) -> None:
        self.fields = fields
        self.stdin = stdin
        self.effects = effects
        self.start = start
        self.end = end
        self.wrappers: tuple[str, ...] = ()
        self.argvs: tuple[tuple[str | None, ...], ...] = ()
        self.external = False
        self.runs: tuple[str, ...] = ()

    def inside(self, fields: list[Field], wrapper: str, *, external: bool = True) -> Call:
        """The call that this one makes, with itself as a wrapper around it."""
        effects = [e if e.code else e._replace(code="wrapper") for e in self.effects]
        call = Call(fields, self.stdin, effects, self.start, self.end)
        call.wrappers = (*self.wrappers, wrapper)
        call.argvs = (*self.argvs, shown(self.fields))
        call.external = external
        return call

    @property
    def name(self) -> str:
        """The program's base name, as written."""
        return (self.fields[0].text or "").rpartition("/")[2]

    @property
    def args(self) -> list[Field]:
        return self.fields[1:]

    def texts(self) -> list[str] | None:
        """All words after the name, if every one of them is certain."""
        out: list[str] = []
        for field in self.fields[1:]:
            text = field.literal
            if text is None:
                return None
            out.append(text)
        return out


def shown(fields: list[Field]) -> tuple[str | None, ...]:
    return tuple(_shown(f) for f in fields)


def _shown(field: Field) -> str | None:
    if not field.sure or field.glob or field.many or field.alts:
        return None
    # The number of a process substitution is the shell's to choose.
    return None if field.text is not None and "/dev/fd/" in field.text and field.dynamic else field.text


class Ran(NamedTuple):
    """A reader's word that the segments are reported already; `out` is what was printed."""

    out: Value


def ran(out: Value) -> Ran:
    return Ran(out)


def emit(it: Interpreter, call: Call, program: str | None, *, trusted: bool = True, builtin: bool = False) -> None:
    """Reports the segment of a call."""
    argv = shown(call.fields)
    nested = it.nested > 0
    if program in ("kill", "xargs", "pkill", "killall") and any(OWN in f.tags for f in call.fields):
        call.effects.append(Effect(Kind.HIJACK, None, "stops Stockade", call.start, call.end, "self-control"))
    _judge_flow(it, call, program)
    effects = tuple(e._replace(code=_nested_code(e.code)) for e in call.effects) if nested else tuple(call.effects)
    it.emit(
        Segment(argv, program, call.wrappers, (*call.argvs, argv), effects, call.start, call.end,
                it.state.cwd, builtin, trusted, False, call.runs)
    )  # fmt: skip


def _nested_code(code: str) -> str:
    return "nested-redirect" if code == "redirect" else code or "nested"


_SILENT = frozenset(("test", "[", "true", ":", "read", "export"))


def _judge_flow(it: Interpreter, call: Call, program: str | None) -> None:
    """A secret that this line holds is printed, or reaches something that sends."""
    words = False
    for field in call.fields:
        if field.tags and SECRET in field.tags:
            words = True
    if not words and SECRET not in call.stdin.tags:
        return
    if any(e.kind is Kind.NETWORK for e in call.effects):
        call.effects.append(
            Effect(Kind.HIJACK, None, "a secret that this line reads goes to the network", call.start, call.end, "flow")
        )
    elif program not in _SILENT or it.state.tracing:
        call.effects.append(Effect(Kind.SECRET, None, "uses the value of a secret variable", call.start, call.end))


def forget_written(it: Interpreter, call: Call) -> None:
    """What a program wrote replaces what this line knew about the file."""
    tags = call.stdin.tags
    for effect in call.effects:
        if effect.kind is Kind.NETWORK:
            tags |= {NETWORK}
    for effect in call.effects:
        target = effect.target
        if target is None or effect.kind not in (Kind.WRITE, Kind.EDIT, Kind.DELETE):
            continue
        if target.path is None or target.glob:
            it.state.written = dict.fromkeys(it.state.written, unknown(tags))
        elif any(path.startswith(normal(target.path).rstrip("/") + "/") for path in it.state.written):
            below = normal(target.path).rstrip("/") + "/"
            it.state.written.update({path: unknown(tags) for path in it.state.written if path.startswith(below)})
        elif NETWORK in tags or normal(target.path) in it.state.written:
            it.state.written[normal(target.path)] = unknown(tags)


def targets(it: Interpreter, field: Field, *, recursive: bool = False) -> list[Target]:
    """The paths that a word can mean: in the current folder, and where a `cd` may have failed."""
    text = field.text
    if text is None:
        return [_unknown_target(it, field, recursive)]
    if text == "" and not field.glob:
        return []
    path = it.state.absolute(text)
    if path is None:
        return [Target(None, "", text, field.glob, recursive)]
    found = [Target(path, "", text, field.glob, recursive)]
    if not field.sure:
        found.append(Target(None, "", f"{field.prefix}…", False, recursive))
    if it.fallbacks and not text.startswith("/"):
        for folder in it.fallbacks:
            other = None if folder is None else posixpath.join(folder, text)
            if other != path:
                found.append(Target(other, "", text, field.glob, recursive))
    return found


def _unknown_target(it: Interpreter, field: Field, recursive: bool) -> Target:
    word = f"{field.prefix}…{field.suffix}"
    under = ""
    suffix = ".env" if SECRET in field.tags else field.suffix  # names that were asked for as secrets
    confined = field.kind in ("listed", "int") and ".." not in field.prefix.split("/")
    if confined:
        base = (
            field.under
            if field.under.startswith("/")
            else posixpath.dirname(field.prefix)
            if field.prefix
            else field.under or "."
        )
        under = it.state.absolute(base) or ""
        if any(folder is None for folder in it.fallbacks):
            under = ""
    return Target(None, under, word, False, recursive, field.kind == "listed", suffix)


def effect_at(it: Interpreter, kind: Kind, detail: str, field: Field, code: str = "") -> Effect:
    start, end = it.span(field.start, field.end)
    return Effect(kind, None, detail, start, end, code)


def exact_path(it: Interpreter, field: Field) -> str | None:
    text = field.literal
    path = None if text is None else it.state.absolute(text)
    return None if path is None else normal(path)
