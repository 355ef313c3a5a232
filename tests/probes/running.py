"""One probe against one launcher: run it, read what it said, look at the host afterwards."""

from __future__ import annotations

import contextlib
import errno
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Iterable, Mapping, Sequence
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple

from tests.probes.host import OWN_FOLDERS, Host
from tests.probes.launchers import LAUNCHERS, Launcher
from tests.probes.probe import Probe

LIMIT = 25
"""Seconds for one probe."""

PYTHON = next((path for path in ("/usr/bin/python3",) if os.path.exists(path)), "python3")
"""The system's own: every profile must have it, what a virtual environment is made of need not be there."""

_MESSAGES = {os.strerror(code): name for code, name in errno.errorcode.items()}
_LINE = re.compile(r"^PROBE (ok|refused)(?: (\S+))?", re.MULTILINE)


class Answer(NamedTuple):
    """What a run said: the errnos of the refusals ("" for something that worked), and how it ended."""

    said: tuple[str, ...]
    status: int
    output: str


class Outcome(NamedTuple):
    probe: Probe
    launcher: str
    user: str
    problems: tuple[str, ...]
    seconds: float = 0.0

    @property
    def held(self) -> bool:
        return not self.problems


def skip_reason(probe: Probe, host: Host) -> str | None:
    if probe.needs and shutil.which(probe.needs) is None:
        return f"`{probe.needs}` is not installed"
    if probe.as_root and host.user.pw_uid != 0:
        return "only means something for uid 0"
    return None


def run(probe: Probe, launcher: Launcher, host: Host) -> Outcome:
    host.reset()
    places = host.places
    if probe.setup and (failed := host.on_host(probe.setup)):
        return Outcome(probe, launcher.name, host.user.pw_name, (f"broken: setup: {failed}",))
    before = host.stamps(workspace=False)
    host.heard()
    words = host.as_user(launcher.words(probe, places, probe.program(places, PYTHON)))
    started = time.monotonic()
    try:
        answer = _execute(probe, host, words)
    except FileNotFoundError as error:
        answer = Answer(("STATUS",) if probe.shell else (), 127, f"it cannot be started: {error}")
    except subprocess.TimeoutExpired:
        answer = Answer((), -1, f"no end within {LIMIT} s")
    seconds = time.monotonic() - started
    problems = [*judge(probe, answer), *_left_behind(probe, host, before)]
    return Outcome(probe, launcher.name, host.user.pw_name, tuple(problems), round(seconds, 3))


def run_all(chosen: Iterable[Probe], names: Sequence[str], host: Host) -> Iterable[Outcome]:
    for name in names:
        for probe in chosen:
            if skip_reason(probe, host) is None:
                yield run(probe, LAUNCHERS[name], host)


def _execute(probe: Probe, host: Host, words: Sequence[str]) -> Answer:
    places = {name: str(value) for name, value in host.places.items()}
    environment = {**host.environment(), **{name: value.format(**places) for name, value in probe.env.items()}}
    cwd = probe.cwd.format(**places)
    with contextlib.ExitStack() as stack:
        stdin: int = subprocess.DEVNULL
        before = None
        if probe.tty:
            ours, stdin = pty.openpty()
            stack.callback(os.close, ours)
            stack.callback(os.close, stdin)
            terminal = stdin

            def before() -> None:
                os.setsid()
                ioctl(terminal, termios.TIOCSCTTY, 0)

        (out_read, out_write), (err_read, err_write) = pipes = os.pipe(), os.pipe()
        for end in (*pipes[0], *pipes[1]):
            os.fchown(end, host.user.pw_uid, -1)  # what opens /dev/stdout must own it
        try:
            started = subprocess.Popen(
                words, cwd=cwd, env=environment, stdin=stdin, stdout=out_write, stderr=err_write,
                pass_fds=host.descriptors, preexec_fn=before, start_new_session=not probe.tty,
            )  # fmt: skip
        except OSError:
            os.close(out_read)
            os.close(err_read)
            raise
        finally:
            os.close(out_write)
            os.close(err_write)
        try:
            if probe.interrupt:
                _interrupt(started, Path(cwd) / "started", probe.interrupt)
            out, err = _collect(started, out_read, err_read)
        finally:
            _end(started)
            os.close(out_read)
            os.close(err_read)
    stdout, stderr = out.decode(errors="replace"), err.decode(errors="replace")
    return Answer(read_answer(probe, stdout, stderr, started.returncode), started.returncode, (stdout + stderr)[-100_000:])


def _collect(started: subprocess.Popen[bytes], *ends: int) -> tuple[bytes, ...]:
    """The output until the launcher ends: a process that it left behind may hold the pipes for longer."""
    texts = {end: bytearray() for end in ends}
    waiting = set(ends)
    deadline = time.monotonic() + LIMIT
    while waiting:
        ended = started.poll() is not None
        ready, _, _ = select.select(list(waiting), [], [], 0 if ended else 0.02)
        for end in ready:
            piece = os.read(end, 65536)
            texts[end] += piece
            if not piece:
                waiting.discard(end)
        if ended and not ready:
            break
        if time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(started.args, LIMIT)
    started.wait(max(0.1, deadline - time.monotonic()))
    return tuple(bytes(texts[end]) for end in ends)


def _interrupt(started: subprocess.Popen[bytes], mark: Path, name: str) -> None:
    deadline = time.monotonic() + 10
    while not mark.exists() and started.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    started.send_signal(signal.Signals[name])


def _end(started: subprocess.Popen[bytes]) -> None:
    if started.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def read_answer(probe: Probe, stdout: str, stderr: str, status: int) -> tuple[str, ...]:
    if probe.code:
        found = tuple("" if word == "ok" else name for word, name in _LINE.findall(stdout))
        return found or (("SIGKILL",) if status in (137, -9) else ())
    if status == 0:
        return ("",)
    named = [name for message, name in _MESSAGES.items() if message.lower() in stderr.lower()]
    return (named[0] if named else "STATUS",)


def judge(probe: Probe, answer: Answer) -> list[str]:
    tail = " ".join(answer.output.split())[-200:]
    if not answer.said and not probe.interrupt and probe.status is None:
        return [f"broken: it said nothing (status {answer.status}): {tail}"]
    problems = []
    if probe.status is not None and answer.status != probe.status:
        problems.append(f"status {answer.status}, wanted {probe.status}: {tail}")
    if probe.expect == "refused":
        problems += ["it worked"] if "" in answer.said else []
        problems += [f"refused with {one}" for one in answer.said if one and not {one, "STATUS"} & set(probe.errno)]
    elif probe.expect == "works":
        problems += [f"refused with {one}: {tail}" for one in answer.said if one]
        if probe.status is None and answer.status != 0 and not probe.interrupt:
            problems.append(f"broken: status {answer.status}: {tail}")
    return problems


def _left_behind(probe: Probe, host: Host, before: Mapping[str, tuple[int, ...]]) -> list[str]:
    problems = []
    places = host.places
    exempt = [f"{places['home']}/{folder}" for folder in OWN_FOLDERS]
    exempt += [word.format(**places) for word in probe.options if word.startswith("{")]
    exempt.append(probe.cwd.format(**places))
    after = host.stamps(workspace=False)
    changed = sorted(
        path.removeprefix(f"{host.root}/")
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path) and not any(path == one or path.startswith(f"{one}/") for one in exempt)
    )
    if changed:
        problems.append(f"changed outside: {', '.join(changed[:4])}")
    heard = host.heard()
    problems += [f"the host's {one} was reached" for one in sorted(heard - set(probe.hears))]
    problems += [f"the host's {one} was not reached" for one in sorted(set(probe.hears) - heard)]
    if not host.victim_lives():
        problems.append("the victim died")
    if probe.after and (failed := host.on_host(probe.after)):
        problems.append(f"afterwards: {failed}")
    return problems
