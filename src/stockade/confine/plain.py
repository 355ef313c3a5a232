"""Runs a command with nothing around it: the backend for the profile `off`."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

_BASH = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash")
_GRACE = 2.0  # seconds between asking a command to end and ending it


class Ended(NamedTuple):
    """`code` is the exit status, negative for the signal that ended it."""

    code: int
    timed_out: bool = False


def bash() -> str:
    """The bash that runs commands, by a fixed path: never one that a changed PATH names."""
    for path in _BASH:
        if os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(2, "bash is not installed", _BASH[0])


def run_bash(command: str, *, cwd: str, env: Mapping[str, str], timeout: float | None = None) -> Ended:
    """Runs bash text as the reader assumed it: no start-up files, no options from outside.

    Raises OSError where it cannot be started.  With a timeout the command has a process group of its
    own, which is ended as a whole.
    """
    argv = [bash(), "--norc", "--noprofile", "-c", command]
    with _interrupts() as group:
        child = subprocess.Popen(argv, cwd=cwd, env=dict(env), process_group=0 if timeout is not None else None)
        if timeout is not None:
            group.append(child)
        try:
            return Ended(child.wait(timeout))
        except subprocess.TimeoutExpired:
            return Ended(_end(child), timed_out=True)


@contextmanager
def _interrupts() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keeps an interrupt from raising: one that came as the command ended would lose its exit status.

    The terminal sends it to the command as well, whose own end counts; to the processes in the list it
    is passed on, since they have a group of their own.
    """
    group: list[subprocess.Popen[bytes]] = []

    def on_interrupt(number: int, frame: object) -> None:
        for child in group:
            _signal_group(child, signal.SIGINT)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield group
    finally:
        signal.signal(signal.SIGINT, before)


def _end(child: subprocess.Popen[bytes]) -> int:
    _signal_group(child, signal.SIGTERM)
    try:
        return child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        _signal_group(child, signal.SIGKILL)
        return child.wait()


def _signal_group(child: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        return
