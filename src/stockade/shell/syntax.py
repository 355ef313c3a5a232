"""The nouns of bash syntax, as the guard reads it.

Text is kept as the *byte view*: the UTF-8 bytes of the command decoded as latin-1, so that one
character is one byte and every `start`/`end` is a byte offset into what will run.  `text_of` turns
a piece of the byte view back into text.

Nodes are immutable, but for the body of a here-document, which is read later than its operator.
`quoted` says that a part stood inside quotes (or after a backslash), so
it is neither split, nor a glob, nor a tilde, nor a reserved word.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

LIMIT_BYTES = 64 * 1024
LIMIT_DEPTH = 64
STEPS_PER_BYTE = 200


class Refused(Exception):
    """The reader does not model this text; the caller must treat the command as unknown.

    `code` is stable, `start` and `end` are byte offsets of what it stumbled over.
    """

    def __init__(self, code: str, message: str, start: int = 0, end: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end


class Lit(NamedTuple):
    """A run of literal characters, after quote removal."""

    text: str
    quoted: bool
    start: int
    end: int


class Param(NamedTuple):
    """`$x`, `${x}`, `${x:-w}`, `${#x}`, `${!x}`, `${x@Q}` …

    `op` is the operator as written (`:-`, `##`, `//`, `@Q`); `#len`, `!` and `!names` stand for
    `${#x}`, `${!x}` and `${!x*}`; an empty `op` is a plain expansion.
    """

    name: str
    op: str
    arg: Word | None
    subscript: Word | None
    quoted: bool
    start: int
    end: int


class Subst(NamedTuple):
    """A substitution: `kind` is `$(`, `` ` ``, `<(` or `>(`."""

    kind: str
    script: Script
    quoted: bool
    start: int
    end: int


class Arith(NamedTuple):
    """`$((…))` or `$[…]`; `body` holds the text with its expansions."""

    body: Word
    quoted: bool
    start: int
    end: int


Part: TypeAlias = Lit | Param | Subst | Arith


class Word(NamedTuple):
    """One shell word before expansion, in source order."""

    parts: tuple[Part, ...]
    start: int
    end: int


class Assign(NamedTuple):
    """`name=value`, `name+=value`, `name[subscript]=value`; `array` is set for `name=(…)`."""

    name: str
    subscript: Word | None
    append: bool
    value: Word
    array: tuple[Word, ...] | None
    start: int
    end: int


class Heredoc:
    """A here-document: `body` is filled once, when the line with its operator has ended.

    A quoted delimiter makes the body one literal; `strip` is `<<-`.
    """

    __slots__ = ("body", "delimiter", "quoted", "stop", "strip")

    def __init__(self, delimiter: str, *, quoted: bool, strip: bool) -> None:
        self.delimiter = delimiter
        self.quoted = quoted
        self.strip = strip
        self.body = Word((), 0, 0)
        self.stop = 0  # behind the line that ends it


class Redirect(NamedTuple):
    """`fd` is the number or `{name}` as written, or empty; `op` is the operator."""

    fd: str
    op: str
    target: Word
    heredoc: Heredoc | None
    start: int
    end: int


class Simple(NamedTuple):
    assigns: tuple[Assign, ...]
    words: tuple[Word | Assign, ...]  # an Assign only as operand of declare, export, …
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class Group(NamedTuple):
    """`{ …; }`, or `( … )` when `subshell`."""

    body: Script
    subshell: bool
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class If(NamedTuple):
    branches: tuple[tuple[Script, Script], ...]
    orelse: Script | None
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class Loop(NamedTuple):
    """`while` and `until`."""

    test: Script
    body: Script
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class For(NamedTuple):
    """`for` and `select`; `words` is None where `in …` is missing."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class ForArith(NamedTuple):
    head: Word
    body: Script
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class Case(NamedTuple):
    subject: Word
    arms: tuple[tuple[tuple[Word, ...], Script], ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class Function(NamedTuple):
    name: str
    body: Command
    start: int
    end: int


class Cond(NamedTuple):
    """`[[ … ]]`: the primaries in order, each an operator and its operands."""

    tests: tuple[tuple[str, tuple[Word, ...]], ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class ArithCommand(NamedTuple):
    body: Word
    redirects: tuple[Redirect, ...]
    start: int
    end: int


class Coproc(NamedTuple):
    body: Command
    start: int
    end: int


Command: TypeAlias = Simple | Group | If | Loop | For | ForArith | Case | Function | Cond | ArithCommand | Coproc


class Pipeline(NamedTuple):
    """Commands joined by `|` (`|&` where `both` says so); `!` and `time` are dropped."""

    commands: tuple[Command, ...]
    both: tuple[bool, ...]
    start: int
    end: int


class Item(NamedTuple):
    """A pipeline with what joins it to the one before: `""`, `;`, newline, `&`, `&&` or `||`."""

    joined_by: str
    pipeline: Pipeline
    background: bool


class Script(NamedTuple):
    items: tuple[Item, ...]
    start: int
    end: int


def byte_view(text: str) -> str:
    """The byte view of a text. Raises UnicodeEncodeError for lone surrogates."""
    return text if text.isascii() else text.encode("utf-8").decode("latin-1")


def text_of(view: str) -> str:
    """The text behind a piece of the byte view; broken UTF-8 shows as replacement characters."""
    return view if view.isascii() else view.encode("latin-1").decode("utf-8", "replace")
