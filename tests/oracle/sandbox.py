"""Runs bash commands in a sandbox of stubs and tells what each of them executed.

`Oracle` compiles the helpers, starts one sandbox and keeps it: a request costs one bash process and one
small process for each program that the command starts. The driver inside limits each command to two
seconds; a deadline out here restarts the sandbox should the driver itself stop answering.
"""

from __future__ import annotations

import os
import selectors
import shutil
import struct
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple, Self

from tests.oracle.layout import NOT_FOUND, WORKDIR, LayoutError, build, bwrap_command
from tests.oracle.xtrace import Traced, decode, parse_trace

HOST_DEADLINE = 8.0
"""Seconds until a sandbox that does not answer is replaced; the driver's own limit is 2."""

SCHEDULES: tuple[tuple[int, bytes], ...] = ((0, b""), (1, b""), (0, b"rm x\n"), (1, b"-delete\n"))
"""Stub status and output pairs that together reach both sides of `||`, `if` and `case $(…)`."""

_REQUEST = struct.Struct("=IIi")
_ANSWER = struct.Struct("=iIIIII")
_RECORD_MARK = b"\x1e"
_SYNTAX_ERROR = b"/usr/bin/bash: -c: line "
_HERE_DOC_PREFIX = "/tmp/sh-thd"


class OracleError(Exception):
    """The sandbox cannot be started or broke its protocol."""


class _Wedged(Exception):
    """The sandbox did not answer before the host's deadline, or went away."""


class Exec(NamedTuple):
    """One program start: the file that the kernel loaded and the words that it was given.

    `path` is empty for a name that bash looked up and did not find.
    """

    path: str
    argv: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """`argv` with the name of the loaded file first, whatever argv[0] claims."""
        return (os.path.basename(self.path), *self.argv[1:]) if self.path else self.argv


class Run(NamedTuple):
    """What one command did.

    `files` are those that were created or changed: relative to the working folder, absolute outside it.
    `status` is bash's exit status, or 128 + n when signal n ended it.
    """

    execs: tuple[Exec, ...]
    traced: tuple[Traced, ...]
    files: frozenset[str]
    status: int
    syntax_error: bool
    timed_out: bool


class Oracle:
    """A running sandbox; use it as a context manager.

    Raises `OracleError` on entry when the sandbox cannot be built or started.
    """

    def __enter__(self) -> Self:
        self._temp = tempfile.TemporaryDirectory(prefix="stockade-oracle-")
        self._folder = Path(self._temp.name)
        self.restarts = 0
        try:
            build(self._folder)
            self._command = bwrap_command(self._folder)
            self._start()
        except (LayoutError, OSError) as error:
            self._temp.cleanup()
            raise OracleError(str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._temp.cleanup()

    @staticmethod
    def available() -> str | None:
        """Why the oracle cannot run on this machine, or None when it can."""
        return _probe()

    def run(self, command: bytes, *, rc: int = 0, out: bytes = b"") -> Run:
        """Run `command` in a fresh working folder; every stub prints `out` and exits with `rc`."""
        if b"\0" in command or b"\0" in out:
            raise ValueError("a command cannot hold a NUL byte")
        try:
            return self._exchange(_REQUEST.pack(len(command), len(out), rc) + command + out)
        except _Wedged:
            self._stop()
            self._start()
            self.restarts += 1
            return Run((), (), frozenset(), -1, syntax_error=False, timed_out=True)

    def _start(self) -> None:
        with (self._folder / "errors").open("wb") as errors:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0
            )

    def _stop(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _exchange(self, request: bytes) -> Run:
        deadline = time.monotonic() + HOST_DEADLINE
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(request)
        except BrokenPipeError:
            raise self._lost() from None
        head = _ANSWER.unpack(self._read(self._process.stdout, _ANSWER.size, deadline))
        wait_status, timed_out, *sizes = head
        log, trace, errors, files = (self._read(self._process.stdout, size, deadline) for size in sizes)
        return Run(
            execs=parse_log(log),
            traced=parse_trace(trace),
            files=_file_names(files),
            status=_exit_status(wait_status),
            syntax_error=any(line.startswith(_SYNTAX_ERROR) for line in errors.splitlines()),
            timed_out=bool(timed_out),
        )

    def _read(self, stream: IO[bytes], size: int, deadline: float) -> bytes:
        data = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while len(data) < size:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise _Wedged
                chunk = stream.read(size - len(data))
                if not chunk:
                    raise self._lost()
                data += chunk
        return bytes(data)

    def _lost(self) -> Exception:
        """A sandbox that never worked is an error to report; one that died is replaced."""
        message = (self._folder / "errors").read_text(errors="replace").strip()
        return OracleError(f"the sandbox ended: {message}") if message else _Wedged()


def parse_log(log: bytes) -> tuple[Exec, ...]:
    """The records of the stubs' log, in the order in which the programs started."""
    fields = log.split(b"\0")
    found, at = [], 0
    while at + 5 <= len(fields):
        mark, _pid, _parent, path, count = fields[at : at + 5]
        if mark != _RECORD_MARK or not count.isdigit():
            raise OracleError("the argv log is damaged")
        end = at + 5 + int(count)
        argv = tuple(decode(field) for field in fields[at + 5 : end])
        found.append(_exec(decode(path), argv))
        at = end
    return tuple(found)


def _exec(path: str, argv: tuple[str, ...]) -> Exec:
    if os.path.basename(path) == NOT_FOUND:
        return Exec("", argv[1:])
    return Exec(path, argv)


def _file_names(names: bytes) -> frozenset[str]:
    paths = (decode(name) for name in names.split(b"\0") if name)
    inside = WORKDIR + "/"
    return frozenset(path.removeprefix(inside) for path in paths if not path.startswith(_HERE_DOC_PREFIX))


def _exit_status(wait_status: int) -> int:
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else 128 - code


@cache
def _probe() -> str | None:
    for program in ("bwrap", "gcc", "ldd"):
        if shutil.which(program) is None:
            return f"`{program}` is not installed"
    try:
        with Oracle() as oracle:
            run = oracle.run(b"ls")
    except OracleError as error:
        return str(error)
    return None if run.execs == (Exec("/usr/bin/ls", ("ls",)),) else "the sandbox does not log programs"
