"""Reads an strace log: which paths changed, which programs were started, who was contacted.

An attempt counts as much as a success, as long as only the sandbox stood in its way (a read-only
mount, a missing permission, no network): on another machine it would have worked.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Change(NamedTuple):
    """One change of the file system; `path` is absolute, `real` where an open file really lies."""

    call: str
    path: str
    real: str
    creates: bool = False
    removes: bool = False


class Exec(NamedTuple):
    """One attempt to start a program."""

    path: str
    argv: tuple[str, ...]
    ok: bool


class Observed(NamedTuple):
    """Everything that one command did, in order; `contacts` are `host:port` or the path of a socket."""

    changes: tuple[Change, ...]
    execs: tuple[Exec, ...]
    contacts: tuple[str, ...]

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(change.path for change in self.changes)

    @property
    def programs(self) -> frozenset[str]:
        return frozenset(os.path.basename(one.path) for one in self.execs)

    @property
    def scratch(self) -> frozenset[str]:
        """Paths that the command itself made anew and that were gone when it ended."""
        made: set[str] = set()
        gone: set[str] = set()
        for change in self.changes:
            if change.creates:
                made.add(change.path)
                gone.discard(change.path)
            if change.removes:
                gone.add(change.path)
        return frozenset(made & gone)


# For each call: the places of its paths among the arguments, and what happens there: `c` creates what
# cannot have existed, `r` removes, `m` modifies or replaces.  A folder descriptor stands before the
# path where the name ends in `at`.
_PATHS: dict[str, tuple[tuple[int, str], ...]] = {
    "mkdir": ((0, "c"),), "mkdirat": ((1, "c"),), "mknod": ((0, "c"),), "mknodat": ((1, "c"),),
    "symlink": ((1, "c"),), "symlinkat": ((2, "c"),), "link": ((1, "c"),), "linkat": ((3, "c"),),
    "unlink": ((0, "r"),), "unlinkat": ((1, "r"),), "rmdir": ((0, "r"),),
    "rename": ((0, "r"), (1, "m")), "renameat": ((1, "r"), (3, "m")), "renameat2": ((1, "r"), (3, "m")),
    "chmod": ((0, "m"),), "fchmodat": ((1, "m"),), "chown": ((0, "m"),), "lchown": ((0, "m"),),
    "fchownat": ((1, "m"),), "truncate": ((0, "m"),), "utime": ((0, "m"),), "utimes": ((0, "m"),),
    "futimesat": ((1, "m"),), "utimensat": ((1, "m"),), "setxattr": ((0, "m"),), "lsetxattr": ((0, "m"),),
    "removexattr": ((0, "m"),), "lremovexattr": ((0, "m"),),
    "fchmod": ((0, "m"),), "fchown": ((0, "m"),), "fsetxattr": ((0, "m"),), "fremovexattr": ((0, "m"),),
}  # fmt: skip
_FORKS = ("clone", "clone3", "fork", "vfork")
_REFUSED = ("EROFS", "EACCES", "EPERM", "EBUSY", "EXDEV", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")
_LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += +(.+)", re.DOTALL)
_UNFINISHED = re.compile(r"(\d+) +(\w+)\((.*?),? *<unfinished \.\.\.>$")
_RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>,? ?(.*)$")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?:\.\.\.)?|[(\[{]|[)\]}]|,|(?:AT_FDCWD|\d+)<[^>]*>|\s+|[^\s",()\[\]{}]+')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-f]{2}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f"}
_DESCRIPTOR = re.compile(r"(?:AT_FDCWD|\d+)<(.*)>$", re.DOTALL)
_INET = re.compile(r"sin6?_port=htons\((\d+)\).*?(?:inet_addr\(\"([^\"]+)\"\)|inet_pton\(AF_INET6, \"([^\"]+)\")")
_UNIX = re.compile(r"sa_family=AF_UNIX, sun_path=(@?\"[^\"]*\")")


def parse_trace(lines: Iterable[str], *, cwd: str) -> Observed:
    """What the log of one command says; `cwd` is where the command started."""
    reader = _Reader(cwd)
    for pid, call, arguments, result in _calls(lines):
        reader.take(pid, call, split_arguments(arguments), result)
    return Observed(tuple(reader.changes), tuple(reader.execs), tuple(dict.fromkeys(reader.contacts)))


def _calls(lines: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Complete calls; one that another process interrupted in the log is put together again."""
    open_calls: dict[str, str] = {}
    for raw in lines:
        line = raw
        unfinished = _UNFINISHED.match(line)
        if unfinished is not None:
            pid, call, head = unfinished.groups()
            open_calls[pid] = head
            if call in _FORKS:
                yield pid, call, "", "?"
            continue
        resumed = _RESUMED.match(line)
        if resumed is not None:
            pid, call, tail = resumed.groups()
            head = open_calls.pop(pid, "")
            joint = ", " if head and not tail.startswith(")") else ""
            line = f"{pid} {call}({head}{joint}{tail}"
        found = _LINE.match(line)
        if found is not None:
            pid, call, arguments, result = found.groups()
            yield pid, call, arguments, result


def split_arguments(text: str) -> list[str]:
    """The arguments of a call as strace prints them, split at the commas of the outermost level."""
    found, depth, current = [], 0, ""
    for token in _TOKEN.findall(text):
        if token == "," and depth == 0:
            found.append(current.strip())
            current = ""
            continue
        depth += (token in "([{") - (token in ")]}")
        current += token
    return [*found, current.strip()] if current.strip() or found else []


def unquote(text: str) -> str | None:
    """The string that strace shows quoted, or None where it shows something else."""
    body = text.removesuffix("...")
    if not (body.startswith('"') and body.endswith('"') and len(body) >= 2):
        return None
    return _ESCAPE.sub(_unescape, body[1:-1])


def _unescape(found: re.Match[str]) -> str:
    code = found.group(1)
    if code[0] in "01234567":
        return chr(int(code, 8))
    if code[0] == "x" and len(code) == 3:
        return chr(int(code[1:], 16))
    return _SIMPLE.get(code, code)


class _Reader:
    """Follows the working folder of every process while the log goes by."""

    def __init__(self, cwd: str) -> None:
        self.changes: list[Change] = []
        self.execs: list[Exec] = []
        self.contacts: list[str] = []
        self._start = cwd
        self._folders: dict[str, str] = {}
        self._forking = ""

    def take(self, pid: str, call: str, args: list[str], result: str) -> None:
        if pid not in self._folders:
            self._folders[pid] = self._folders.get(self._forking, self._start)
        if call in _FORKS:
            self._fork(pid, result)
        elif call in ("chdir", "fchdir"):
            self._chdir(pid, args, result)
        elif call in ("execve", "execveat"):
            self._exec(pid, call, args, result)
        elif call in ("open", "openat", "openat2", "creat"):
            self._open(pid, call, args, result)
        elif call in _PATHS:
            self._change(pid, call, args, result)
        elif call == "bind":
            self._bind(pid, args, result)
        else:
            self._contact(args)

    def _fork(self, pid: str, result: str) -> None:
        self._forking = pid
        child = result.split()[0]
        if child.isdigit():
            self._folders.setdefault(child, self._folders[pid])

    def _chdir(self, pid: str, args: list[str], result: str) -> None:
        if args and result.split()[0] == "0":
            self._folders[pid] = self._absolute(pid, None, args[0])

    def _exec(self, pid: str, call: str, args: list[str], result: str) -> None:
        at = 1 if call == "execveat" else 0
        if unquote(args[at]) is None:
            return  # cut off by a kill
        path = self._absolute(pid, args[0] if at else None, args[at])
        words = args[at + 1].strip("[]") if len(args) > at + 1 else ""
        argv = tuple(unquote(word) or "" for word in split_arguments(words))
        self.execs.append(Exec(path, argv, result.split()[0] == "0"))

    def _open(self, pid: str, call: str, args: list[str], result: str) -> None:
        at = 1 if call.startswith("openat") else 0
        flags = "O_WRONLY|O_CREAT" if call == "creat" else ", ".join(args[at + 1 :])
        if not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE", flags):
            return
        opened = _DESCRIPTOR.match(result)
        if opened is None and not any(code in result for code in _REFUSED):
            return
        path = self._absolute(pid, args[0] if at else None, args[at])
        nameless = "O_TMPFILE" in flags
        self.changes.append(
            Change(call, path, opened.group(1) if opened else path, creates="O_EXCL" in flags or nameless, removes=nameless)
        )

    def _change(self, pid: str, call: str, args: list[str], result: str) -> None:
        if result.split()[0] != "0" and not any(code in result for code in _REFUSED):
            return
        for at, what in _PATHS[call]:
            if at >= len(args) or args[at].startswith("0x"):
                continue  # cut off by a kill
            folder = args[at - 1] if call.endswith(("at", "at2")) and at else None
            path = self._absolute(pid, folder, args[at])
            self.changes.append(Change(call, path, path, creates=what == "c", removes=what == "r"))

    def _bind(self, pid: str, args: list[str], result: str) -> None:
        """A socket with a path is a new file."""
        socket = _UNIX.search(", ".join(args))
        if socket is not None and not socket.group(1).startswith("@") and result.split()[0] == "0":
            path = self._absolute(pid, None, socket.group(1))
            self.changes.append(Change("bind", path, path, creates=True))

    def _contact(self, args: list[str]) -> None:
        for text in args:
            inet = _INET.search(text)
            if inet is not None:
                self.contacts.append(f"{inet.group(2) or inet.group(3)}:{inet.group(1)}")
            unix = _UNIX.search(text)
            if unix is not None:
                self.contacts.append(unix.group(1).replace('"', ""))

    def _absolute(self, pid: str, folder: str | None, text: str) -> str:
        """The path of an argument: a string relative to a folder, or an open file."""
        opened = _DESCRIPTOR.match(text)
        path = opened.group(1) if opened is not None else unquote(text)
        base = _DESCRIPTOR.match(folder) if folder is not None else None
        start = base.group(1) if base is not None else self._folders[pid]
        return os.path.normpath(os.path.join(start, path or ""))
