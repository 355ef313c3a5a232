"""Runs jobs, each in a workspace of its own: `python -m tests.jobs.run [--launcher NAME] [JOB…]`.

A job passes when its text ends with 0, prints what it must, leaves what it must in the workspace and
nothing in the home, and when the host agrees (`after`).  Without a launcher the home is not looked at.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

from tests.jobs import launch
from tests.jobs.jobs import USERS, Job, all_jobs
from tests.jobs.launch import LAUNCHERS, Place

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PREPARE_LIMIT = 240
SHOWN = 6000
"""Characters of a failed job's output that are shown, its last ones."""

_STRICT = "set -eu -o pipefail\n"
_BASH = ("bash", "--norc", "--noprofile", "-c")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`state` is `ok`, `failed` or `skipped`; `text` says why, `output` is what the job printed."""

    state: str
    seconds: float
    text: str = ""
    output: str = ""

    def report(self) -> str:
        return f"{self.text}\n{self.output[-SHOWN:]}"


def missing(job: Job, launcher: str) -> list[str]:
    """What the job needs and this machine lacks."""
    wanted = ["bash", *job.needs, *(["bwrap"] if launcher != "none" else [])]
    wanted += ["setpriv"] if launch.becomes_ordinary(job) else []
    lacking = [need for need in wanted if not _there(need, _path(job))]
    mine = job.home == "real" or "{base}" in job.options
    if launch.becomes_ordinary(job) and mine and not lacking and not launch.others_may_run():
        lacking.append("a home and a Python that an ordinary user may read")
    return lacking


def _real_home() -> str:
    """The user's home by the user database: that of the environment may be another, and empty."""
    return pwd.getpwuid(os.getuid()).pw_dir


def _there(need: str, path: str) -> bool:
    if need.startswith(("/", "~")):
        return Path(need.replace("~", _real_home(), 1)).exists()
    return shutil.which(need, path=path) is not None or (need.isidentifier() and find_spec(need) is not None)


def run_job(job: Job, launcher: str) -> Outcome:
    """Prepare, run and check one job; nothing of it is left afterwards."""
    if lacking := missing(job, launcher):
        return Outcome("skipped", 0, f"not here: {', '.join(lacking)}")
    with _place(job) as place:
        prepared, output = _execute([*_BASH, _STRICT + place.fill(job.prepare)], _outer(job, place), place, PREPARE_LIMIT)
        if prepared != 0:
            return Outcome("failed", 0, f"`prepare` ended with {prepared}", output)
        _hand_over(job, place)
        before = _listing(place)
        started = time.monotonic()
        argv = LAUNCHERS[launcher](job, place, [*_BASH, _STRICT + place.fill(job.shell)])
        status, output = _execute(argv, _inner(job, place), place, job.timeout)
        seconds = time.monotonic() - started
        wrong = _wrong(job, place, status, output)
        if launcher != "none" and job.home != "real" and (changed := before ^ _listing(place)):
            wrong.append(f"in the home folder, come or gone: {' '.join(sorted(changed)[:20])}")
        return Outcome("failed" if wrong else "ok", seconds, "; ".join(wrong), output)


def _wrong(job: Job, place: Place, status: int | None, output: str) -> list[str]:
    wrong = []
    if status != 0:
        wrong.append(f"no end within {job.timeout} s" if status is None else f"it ended with {status}")
    if place.fill(job.output) not in output:
        wrong.append(f"`{place.fill(job.output)}` is not in its output")
    left = sorted(os.listdir(place.workspace))
    if job.leaves is not None and left != sorted(job.leaves):
        wrong.append(f"it leaves {left}, not {sorted(job.leaves)}")
    if job.after and not wrong:
        argv = launch.plain(job, place, [*_BASH, _STRICT + place.fill(job.after)])
        status, text = _execute(argv, _outer(job, place), place, PREPARE_LIMIT)
        if status != 0:
            wrong.append(f"`after` ended with {status}: {text}")
    return wrong


@contextmanager
def _place(job: Job) -> Iterator[Place]:
    folder = os.path.realpath(tempfile.mkdtemp(prefix="stockade-job-"))
    try:
        home = f"{folder}/home"
        for name in (f"{home}/work", f"{folder}/cache", f"{folder}/settings"):
            os.makedirs(name)
        if job.home == "link":
            os.symlink(home, f"{folder}/link")
            home = f"{folder}/link"
        yield Place(folder, _real_home() if job.home == "real" else home, f"{home}/work", f"{folder}/cache")
    finally:
        _remove(folder)


def _remove(folder: str) -> None:
    """By `rm`: Python's own removal stops at paths that are longer than the system takes."""
    subprocess.run(["chmod", "-R", "u+rwX", folder], capture_output=True, check=False)
    subprocess.run(["rm", "-rf", folder], capture_output=True, check=False)


def _hand_over(job: Job, place: Place) -> None:
    if launch.becomes_ordinary(job):
        owner = f"{launch.NOBODY}:{launch.NOBODY}"
        subprocess.run(["chown", "-hR", owner, place.folder], check=True)


def _listing(place: Place) -> set[str]:
    """The paths of the home folder, without those of the workspace."""
    home, work = os.path.realpath(place.home), os.path.realpath(place.workspace)
    found: set[str] = set()
    for root, folders, files in os.walk(home):
        found.update(os.path.relpath(os.path.join(root, name), home) for name in (*folders, *files))
        folders[:] = [name for name in folders if os.path.join(root, name) != work]
    return found


def _path(job: Job) -> str:
    path = f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}" if job.home == "real" else SYSTEM_PATH
    return ":".join((path, *launch.EXTRA_PATH))


def _inner(job: Job, place: Place) -> dict[str, str]:
    """The environment from which the launcher is started."""
    user = "nobody" if launch.becomes_ordinary(job) else os.environ.get("USER", "root")
    mine = {
        "PATH": _path(job), "HOME": place.home, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "PWD": place.workspace,
        "LANG": "C.UTF-8", "TERM": "xterm", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada", "GIT_CEILING_DIRECTORIES": place.folder, "GIT_COMMITTER_EMAIL": "ada@example.org",
        "STOCKADE_CONFIG_DIR": f"{place.folder}/settings", "STOCKADE_STATE_DIR": f"{place.folder}/settings/state",
    }  # fmt: skip
    return mine | {name: place.fill(value) for name, value in job.environment.items()}


def _outer(job: Job, place: Place) -> dict[str, str]:
    """The environment of what runs on the host; the network may need the machine's own settings."""
    return {**os.environ, **_inner(job, place)}


def _execute(argv: list[str], env: Mapping[str, str], place: Place, limit: int) -> tuple[int | None, str]:
    """The status, None where the time was up, and the output of both streams."""
    reading, writing = os.pipe()
    os.fchown(writing, os.stat(place.workspace).st_uid, -1)  # whoever opens /dev/stderr must own the pipe
    process = subprocess.Popen(
        argv, cwd=place.workspace, env=env, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing, start_new_session=True
    )
    os.close(writing)
    out = bytearray()
    reader = Thread(target=_read, args=(reading, out), daemon=True)
    reader.start()
    try:
        status: int | None = process.wait(limit)
    except subprocess.TimeoutExpired:
        status = None
    _end(process)
    reader.join(5)
    return status, bytes(out).decode(errors="replace")


def _read(reading: int, out: bytearray) -> None:
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while chunk := pipe.read(1 << 16):
            out += chunk


def _end(process: subprocess.Popen[bytes]) -> None:
    """What is left of the job's session ends, too."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def main(words: list[str] | None = None) -> int:
    """Run the named jobs, or all; 1 when one failed."""
    parser = argparse.ArgumentParser(prog="tests.jobs.run", description="Runs jobs inside a sandbox.")
    parser.add_argument("--launcher", choices=sorted(LAUNCHERS), default="stockade")
    parser.add_argument("--user", choices=USERS, default="any", help="`ordinary`: no job runs as root")
    parser.add_argument("job", nargs="*", help="ids, or names of files; all without any")
    asked = parser.parse_args(words)
    names = set(asked.job)
    chosen = [job for job in all_jobs() if not names or {job.id, job.file} & names]
    if unknown := names - {job.id for job in chosen} - {job.file for job in chosen}:
        parser.error(f"no such job: {', '.join(sorted(unknown))}")
    counts = {"ok": 0, "failed": 0, "skipped": 0}
    for job in chosen:
        outcome = run_job(job if asked.user == "any" else replace(job, user=asked.user), asked.launcher)
        counts[outcome.state] += 1
        print(f"{outcome.state:8}{outcome.seconds:6.1f}  {job.id}  {outcome.text}".rstrip(), flush=True)
        if outcome.state == "failed":
            print("\n".join(f"    {line}" for line in outcome.output[-SHOWN:].splitlines()), flush=True)
    launch.remove_copies()
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
