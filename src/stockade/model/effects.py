"""What one piece of a command does, as far as its text tells."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """The kinds of effect; the values are the words of the program descriptions and the docs."""

    READ = "read"
    LIST = "list"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    MODE = "mode"
    DISK = "disk"
    EXECUTE = "execute"
    NETWORK = "network"
    INSTALL = "install"
    PRIVILEGE = "privilege"
    DESTRUCTIVE = "destructive"
    SECRET = "secret"
    PROCESS = "process"
    SERVICE = "service"
    VCS = "vcs"
    FORCED_PUSH = "forced-push"
    HIJACK = "hijack"
    UNKNOWN = "unknown"
    FLOOR = "floor"

    __hash__ = object.__hash__  # members are singletons; the inherited hash is a Python call


class Target(NamedTuple):
    """A path as the text gives it.

    `path` is absolute and joined to the working folder, but not resolved: `..` and links are left to
    the facts.  With `glob`, it is a pattern in which a backslash takes a character's meaning away.
    Where the name is not known, `path` is None, and `under` is the folder that it is known to lie in
    (empty: anywhere).  `word` is how it was written.
    """

    path: str | None
    under: str = ""
    word: str = ""
    glob: bool = False
    recursive: bool = False
    listed: bool = False
    suffix: str = ""


class Effect(NamedTuple):
    """One effect of one segment; `start` and `end` are the bytes of the command that cause it.

    `detail` says what it is about in a few words: a host, a variable, an option, or why it is
    unknown.  `code` names the floor row or the reason for an unknown.
    """

    kind: Kind
    target: Target | None = None
    detail: str = ""
    start: int = 0
    end: int = 0
    code: str = ""


class Segment(NamedTuple):
    """One program that the command runs, with everything that wraps it peeled.

    `argv` is None where a word is not known; `all_argvs` holds the argument vector before and after
    each wrapper; `runs` names the files that define what it does, as `docs/program-format.md` says.
    """

    argv: tuple[str | None, ...]
    program: str | None
    wrappers: tuple[str, ...]
    all_argvs: tuple[tuple[str | None, ...], ...]
    effects: tuple[Effect, ...]
    start: int
    end: int
    cwd: str | None = None
    builtin: bool = False
    trusted_name: bool = True
    dormant: bool = False
    runs: tuple[str, ...] = ()

    @property
    def writes(self) -> tuple[str | None, ...]:
        """The paths that this segment writes, None where one is not known: also where an option may be any."""
        any_option = any(e.kind is Kind.UNKNOWN and e.code == "option" for e in self.effects)
        return (*self._paths(_WRITING), *((None,) if any_option else ()))

    @property
    def reads(self) -> tuple[str | None, ...]:
        return self._paths(_READING)

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(e.detail for e in self.effects if e.kind is Kind.NETWORK and e.code == "host")

    def _paths(self, kinds: frozenset[Kind]) -> tuple[str | None, ...]:
        found = [e.target for e in self.effects if e.kind in kinds and e.target is not None]
        return tuple(None if target.glob else target.path for target in found)


_WRITING = frozenset((Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE, Kind.DISK))
_READING = frozenset((Kind.READ, Kind.LIST, Kind.EDIT))


class Analysis(NamedTuple):
    """What a command would do.

    `complete` is False where anything about what it runs is not known.  `error` is set where reading
    stopped (code, message, start, end); the segments before it are kept, so that they can make the
    answer stricter.  `nothing_runs` says that the text is positively nothing but blanks and comments.
    """

    segments: tuple[Segment, ...]
    complete: bool
    error: tuple[str, str, int, int] | None = None
    nothing_runs: bool = False
    syntax: object = None  # what the reader saw, for a second opinion
