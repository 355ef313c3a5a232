"""Runs a command with nothing around it: the backend for the profile `off`."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
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
    child = subprocess.Popen(argv, cwd=cwd, env=dict(env), process_group=0 if timeout is not None else None)
    while True:
        try:
            return Ended(child.wait(timeout))
        except subprocess.TimeoutExpired:
            return Ended(_end(child), timed_out=True)
        except KeyboardInterrupt:
            # The terminal sent the interrupt to the command as well; its own end counts.
            if timeout is not None:
                _signal_group(child, signal.SIGINT)


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
