"""Carries a plan out with bubblewrap: starts it, waits, ends it in time, says what held.

Everything large goes through descriptors of memory: the options, the filter, what `stage` needs.  The environment of
bubblewrap itself is already the child's, since its first process inside can be read there.  The command is started by a
line of bash that says on a descriptor that it has come so far; before that, a failure is the sandbox's own.
"""

from __future__ import annotations

import marshal
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, Any, NamedTuple

from stockade.confine.ability import Ability
from stockade.confine.bubblewrap import FEW, words
from stockade.confine.inner_words import HIDDEN, argv_for, memory, text, told_for, write_all
from stockade.confine.limits import Groups, groups, shell_limits
from stockade.confine.plan import SandboxPlan
from stockade.confine.seccomp import filter_for

_KEPT = 65536
_GRACE = 1.0
ABSTRACT_SOCKETS = 1
"""LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, Linux 6.12 (ABI 6)."""


class NotConfined(Exception):
    """The sandbox could not be set up, and nothing has run; the message is bubblewrap's or the kernel's."""


class Ended(NamedTuple):
    """How a confined command ended.  `code` is its own, 128 + n for a signal; `errors` the end of its error stream."""

    code: int
    stopped: str
    seconds: float
    errors: str
    holds: frozenset[str]
    backend: str


def run(plan: SandboxPlan, command: Sequence[str], able: Ability, folder: str) -> Ended:
    """Runs a command under a plan; `folder` is a private one of ours.

    Raises NotConfined where the sandbox cannot be set up, OSError where bubblewrap cannot be started.
    """
    with groups(plan.limits) as group:
        return _Run(plan, able, group, _blank(folder)).go(command)


def _blank(folder: str) -> str:
    """An empty file that nobody can read, to lie over those that are hidden."""
    path = os.path.join(folder, "hidden")
    if not os.path.exists(path):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o000))
    return path


def backend_of(plan: SandboxPlan, able: Ability) -> str:
    """Which backend carries a plan out: bubblewrap, but for many covers, or where Landlock is needed."""
    if able.bubblewrap and not (able.namespaces and _many(plan, able)):
        return "bubblewrap"
    return "namespaces"


def _many(plan: SandboxPlan, able: Ability) -> bool:
    return len(plan.covers) > FEW or _scopes(plan, able) != 0


def _scopes(plan: SandboxPlan, able: Ability) -> int:
    return ABSTRACT_SOCKETS if plan.network != "off" and able.landlock >= 6 and able.inner else 0


class _Run:
    """One command from its start to its end."""

    def __init__(self, plan: SandboxPlan, able: Ability, group: Groups, blank: str) -> None:
        self.plan = plan
        self.able = able
        self.group = group
        self.blank = blank
        self.scopes = _scopes(plan, able)
        self.passed: list[int] = []
        self.stopped = ""
        self.written = 0
        self.errors = bytearray()

    def go(self, command: Sequence[str]) -> Ended:
        begin = time.monotonic()
        started, start = os.pipe2(os.O_CLOEXEC)
        try:
            argv = self._argv(command, self._passed(start))
            child = self._popen(argv)
        finally:
            for number in self.passed:
                os.close(number)
        threads = self._readers(child)
        code = self._wait(child)
        for thread in threads:
            thread.join(_GRACE)
        with os.fdopen(started, "rb") as stream:
            came = stream.read()
        said = self.errors.decode(errors="backslashreplace")
        if not came and not self.stopped:
            raise NotConfined(_last(said) or f"bubblewrap ends with {code}")
        return Ended(code, self.stopped, time.monotonic() - begin, said, self.group.holds, backend_of(self.plan, self.able))

    # -- the words -------------------------------------------------------------------------------

    def _argv(self, command: Sequence[str], start: int) -> list[str]:
        filtered = filter_for(self.able.machine) if self.able.filters else b""
        inner = ["/bin/bash", "--norc", "--noprofile", "-c", self._prelude(start), "bash", *command]
        if backend_of(self.plan, self.able) == "namespaces":
            told = told_for(self.plan, whole=True, blank=self.blank, filtered=filtered, scopes=self.scopes)
            return [*self._entering(), *self._inner(told, inner)]
        staged = _many(self.plan, self.able) and self.able.inner
        options = list(words(self.plan, blank=self.blank, staged=staged))
        if staged:
            options += ["--ro-bind", self.blank, HIDDEN]
            told = told_for(self.plan, whole=False, blank=self.blank, filtered=filtered, scopes=self.scopes)
            inner = self._inner(told, inner)
        elif filtered:
            options += ["--seccomp", str(self._memory(filtered))]
        listed = self._memory(b"".join(os.fsencode(word) + b"\0" for word in options))
        return [*self._entering(), self.able.bubblewrap, "--args", str(listed), "--", *inner]

    def _entering(self) -> list[str]:
        """A line of shell that enters the control groups before bubblewrap starts."""
        if not self.group.folders:
            return []
        text = " && ".join(f'echo $$ >"${at}"' for at in range(1, len(self.group.folders) + 1))
        files = [f"{folder}/cgroup.procs" for folder in self.group.folders]
        return ["/bin/bash", "--norc", "--noprofile", "-c", f'{text} && shift {len(files)} && exec "$@"', "bash", *files]

    def _prelude(self, start: int) -> str:
        bounds = shell_limits(self.plan.limits, self.group.holds)
        return f'printf s >&{start} && exec {start}>&- && {bounds} && exec -- "$@"'

    def _inner(self, told: dict[str, Any], command: list[str]) -> list[str]:
        return argv_for(self._memory(text()), self._memory(marshal.dumps(told)), command)

    def _memory(self, data: bytes) -> int:
        return self._passed(memory(data))

    def _passed(self, number: int) -> int:
        self.passed.append(number)
        return number

    # -- the process -----------------------------------------------------------------------------

    def _popen(self, argv: list[str]) -> subprocess.Popen[bytes]:
        """In a session of its own only where nobody sits at a terminal."""
        counted = self.plan.limits.output is not None
        errors = None if sys.stderr.isatty() and not counted else subprocess.PIPE
        return subprocess.Popen(
            argv, stdout=subprocess.PIPE if counted else None, stderr=errors, env=dict(self.plan.env), cwd="/",
            pass_fds=self.passed, close_fds=True,
        )  # fmt: skip

    def _readers(self, child: subprocess.Popen[bytes]) -> list[threading.Thread]:
        made = []
        for stream, out, kept in ((child.stdout, 1, False), (child.stderr, 2, True)):
            if stream is not None:
                thread = threading.Thread(target=self._forward, args=(child, stream, out, kept), daemon=True)
                thread.start()
                made.append(thread)
        return made

    def _forward(self, child: subprocess.Popen[bytes], stream: IO[bytes], out: int, kept: bool) -> None:
        bound = self.plan.limits.output
        while data := os.read(stream.fileno(), 65536):
            if bound is not None and self.written + len(data) > bound:
                self._stop(child, "output")
                return
            self.written += len(data)
            if kept:
                self.errors += data
                del self.errors[:-_KEPT]
            try:
                write_all(out, data)
            except OSError:
                return  # the reader of our output has gone

    def _wait(self, child: subprocess.Popen[bytes]) -> int:
        before = signal.signal(signal.SIGINT, lambda *_: self._stop(child, "interrupt"))
        term = signal.signal(signal.SIGTERM, lambda *_: self._stop(child, "terminate"))
        try:
            code = child.wait(self.plan.limits.seconds)
        except subprocess.TimeoutExpired:
            self._stop(child, "time")
            code = child.wait()
        finally:
            signal.signal(signal.SIGINT, before)
            signal.signal(signal.SIGTERM, term)
        return code if code >= 0 else 128 - code

    def _stop(self, child: subprocess.Popen[bytes], why: str) -> None:
        """Ends the whole tree: with bubblewrap dies the first process inside, and with that all others."""
        self.stopped = self.stopped or why
        child.kill()


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.startswith(("bwrap: ", "stockade: ", "bash: "))]
    return lines[-1].partition(": ")[2] if lines else ""
