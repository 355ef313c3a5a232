"""How a job's text is started: with nothing around it, in bare bubblewrap, or by `stockade sandbox`.

Bare bubblewrap has the profile that the jobs are written for: the workspace and a private `/tmp` can be
written, the home is an empty one in memory, `/usr`, `/etc` and `/opt` can be read, there is a loopback of
its own and no other process.  A job that fails there is wrong, or asks for more than that profile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.jobs.jobs import Job

SOURCE = Path(__file__).resolve().parents[2] / "src"
SYSTEM = ("/usr", "/etc", "/opt")
MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
RUNTIMES = (".pyenv", ".rustup", ".nvm", ".cargo/bin")
"""Folders of version managers in the home, which are there to be read."""

EXTRA_PATH = tuple(filter(None, os.environ.get("STOCKADE_JOBS_PATH", "").split(":")))
"""Further folders of programs, for what the system does not have."""

NOBODY = 65534


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one run; `home` and `workspace` are spelled as the job's environment spells them."""

    folder: str
    home: str
    workspace: str
    cache: str

    def fill(self, text: str) -> str:
        """`text` with every placeholder replaced."""
        values = {
            "folder": self.folder, "home": self.home, "workspace": self.workspace, "cache": self.cache,
            "python": sys.executable, "prefix": sys.prefix, "base": sys.base_prefix,
        }  # fmt: skip
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    def options(self, words: Sequence[str]) -> list[str]:
        reads = [word for folder in EXTRA_PATH for word in ("--read", folder)]
        return [*reads, *map(self.fill, words)]


Launcher = Callable[[Job, Place, Sequence[str]], list[str]]
"""The argument list that starts a command for a job."""


def plain(job: Job, place: Place, command: Sequence[str]) -> list[str]:
    return [*_as_user(job), *command]


def bubblewrap(job: Job, place: Place, command: Sequence[str]) -> list[str]:
    home = os.path.realpath(place.home)
    argv = ["bwrap", "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--dir", "/run"]
    for path in SYSTEM:
        argv += ["--ro-bind-try", path, path]
    for path in MERGED:
        argv += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind-try", path, path]
    argv += ["--tmpfs", "/tmp", "--tmpfs", home, "--setenv", "TMPDIR", "/tmp"]
    for path in (os.path.join(home, name) for name in RUNTIMES):
        argv += ["--ro-bind-try", path, path]
    if home != place.home:
        argv += ["--symlink", home, place.home]
    argv += ["--bind", os.path.realpath(place.workspace), os.path.realpath(place.workspace)]
    words = iter(place.options([*job.options, *job.bare]))
    for option, value in zip(words, words, strict=True):
        match option:
            case "--read" | "--write":
                argv += ["--ro-bind" if option == "--read" else "--bind", value, value]
            case "--env" if "=" in value:
                argv += ["--setenv", *value.split("=", 1)]
    return [*_as_user(job), *argv, "--chdir", place.workspace, "--", *command]


def stockade(job: Job, place: Place, command: Sequence[str]) -> list[str]:
    start = [*_interpreter(job), "-m", "stockade", "sandbox", "--profile", "workspace", "--network", "off", "--yes"]
    return [*_as_user(job), *start, *place.options(job.options), "--", *command]


LAUNCHERS: dict[str, Launcher] = {"none": plain, "bwrap": bubblewrap, "stockade": stockade}


def becomes_ordinary(job: Job) -> bool:
    """Whether the job runs as another user than the tests do."""
    return job.user == "ordinary" and os.geteuid() == 0


def _as_user(job: Job) -> list[str]:
    if not becomes_ordinary(job):
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]


def _interpreter(job: Job) -> list[str]:
    """Python with Stockade on its path and the workspace off it."""
    if becomes_ordinary(job) and not others_may_run():
        return ["/usr/bin/env", f"PYTHONPATH={copy_for_others()}", "/usr/bin/python3", "-P"]
    return ["/usr/bin/env", f"PYTHONPATH={SOURCE}", sys.executable, "-P"]


@cache
def others_may_run() -> bool:
    """Whether an ordinary user can start the tests' Python; not where it lies in root's home."""
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    # by `env`: setpriv itself still has root's capabilities when it starts a program
    return subprocess.run([*command, "/usr/bin/env", sys.executable, "-c", "0"], capture_output=True, check=False).returncode == 0


@cache
def copy_for_others() -> str:
    """A folder with Stockade and what it imports, for the system's Python of the same version; it lives as long as the tests."""
    folder = tempfile.mkdtemp(prefix="stockade-jobs-")
    _KEPT.append(folder)
    os.chmod(folder, 0o755)
    for name in ("tree_sitter", "tree_sitter_bash"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, Path(folder, name))
    shutil.copytree(SOURCE / "stockade", Path(folder, "stockade"), ignore=shutil.ignore_patterns("__pycache__"))
    return folder


_KEPT: list[str] = []


def remove_copies() -> None:
    """Removes what `copy_for_others` made."""
    while _KEPT:
        shutil.rmtree(_KEPT.pop(), ignore_errors=True)
    copy_for_others.cache_clear()
