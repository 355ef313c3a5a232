"""Runs commands with the real programs in a throw-away sandbox, and reads what strace saw.

One sandbox runs all commands of one description: `tests/support/real_driver.sh` is its first process
and puts a fresh copy of the project in place before each command.  The host's programs are mounted
read-only; the home and `/tmp` are memory; there is no network and no other user's process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.real.project import HOME, PROJECT, build
from tests.real.trace import Observed, parse_trace

LIMIT = 5
"""Seconds after which a command is ended."""

_DRIVER = Path(__file__).resolve().parent.parent / "support" / "real_driver.sh"

EXTRA_FOLDERS = tuple(filter(None, os.environ.get("STOCKADE_REAL_PATH", "").split(":")))
"""Further folders of programs (a venv, `node_modules/.bin`), for what Debian does not have."""

SEARCH = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", *EXTRA_FOLDERS)

_READ_ONLY = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/sys"),
    *("/var/lib/dpkg", "/var/lib/apt", "/var/cache/apt", "/var/cache/man", "/var/lib/plocate"),
    *("/var/lib/gems", "/var/lib/ghc", "/var/lib/php", "/var/lib/usbutils"),
)

# What programs need of /etc; users, hosts and git's settings are the sandbox's own.
_ETC = """
    ImageMagick-6 alternatives apt bash.bashrc bindresvport.blacklist debian_version default dpkg fonts gdb
    host.conf init.d inputrc java-17-openjdk java-11-openjdk ld.so.cache ld.so.conf ld.so.conf.d lesskey
    locale.alias localtime login.defs logrotate.d magic magic.mime mailcap manpath.config maven mercurial
    mime.types mke2fs.conf modprobe.d modules mysql nsswitch.conf os-release perl php postgresql-common
    profile protocols python3 python3.11 python3.12 python3.13 rpc rpm services ssl subversion terminfo
    vim wgetrc xattr.conf xdg
"""

_OWN_ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\ndev:x:1000:1000:Dev,,,:/home/dev:/bin/bash\n"
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\ndaemon:x:1:\nstaff:x:50:\ndev:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n127.0.1.1 sandbox\n",
    "hostname": "sandbox\n",
    "shells": "/bin/sh\n/bin/bash\n",
    "machine-id": "0" * 32 + "\n",
}

_ENVIRONMENT = {
    "PATH": ":".join(SEARCH), "HOME": HOME, "USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/bash",
    "LANG": "C.UTF-8", "TERM": "dumb", "TZ": "UTC",
}  # fmt: skip


class SandboxError(Exception):
    """The sandbox cannot be started."""


class Run(NamedTuple):
    """What one command did; `status` is bash's, 124 or 137 where the command was ended."""

    command: str
    observed: Observed
    status: int
    stdout: str
    stderr: str

    @property
    def ended(self) -> bool:
        return self.status in (124, 137)


class Workshop:
    """The prepared project and the folders that its sandboxes share; a context manager."""

    def __enter__(self) -> Workshop:
        self._temp = tempfile.TemporaryDirectory(prefix="stockade-real-")
        self._folder = Path(self._temp.name)
        self._seed = self._folder / "seed"
        self._seed.mkdir()
        build(self._seed)
        etc = self._folder / "etc"
        etc.mkdir()
        for name, text in _OWN_ETC.items():
            (etc / name).write_text(text)
        return self

    def __exit__(self, *_: object) -> None:
        self._temp.cleanup()

    def run(self, commands: Sequence[str], *, limit: int = LIMIT) -> list[Run]:
        """Run each of `commands` in a fresh project; raises SandboxError when the sandbox fails."""
        with tempfile.TemporaryDirectory(dir=self._folder, prefix="run-") as name:
            folder = Path(name)
            (folder / "jobs").mkdir()
            (folder / "out").mkdir()
            for at, command in enumerate(commands):
                (folder / "jobs" / f"{at:05}.sh").write_text(command)
            deadline = 30 + len(commands) * (limit + 2)
            done = subprocess.run(self._bwrap(folder, limit), capture_output=True, text=True, timeout=deadline, check=False)
            if done.returncode != 0 or not (folder / "out" / f"{len(commands) - 1:05}.status").exists():
                raise SandboxError(f"the sandbox ended early: {done.stderr.strip()[-300:]}")
            return [_result(folder / "out" / f"{at:05}", command) for at, command in enumerate(commands)]

    def _bwrap(self, folder: Path, limit: int) -> list[str]:
        command = ["bwrap", "--unshare-user", "--unshare-all", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
        command += ["--cap-drop", "ALL", "--clearenv", "--die-with-parent", "--as-pid-1", "--new-session"]
        command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home", "--dir", "/run"]
        for path in (*_READ_ONLY, *(f"/etc/{name}" for name in _ETC.split()), *EXTRA_FOLDERS):
            command += ["--ro-bind-try", path, path]
        for name in _OWN_ETC:
            command += ["--ro-bind", str(self._folder / "etc" / name), f"/etc/{name}"]
        command += ["--ro-bind", str(self._seed), "/seed", "--ro-bind", str(folder / "jobs"), "/jobs"]
        command += ["--bind", str(folder / "out"), "/out", "--ro-bind", str(_DRIVER), "/driver"]
        for name, value in _ENVIRONMENT.items():
            command += ["--setenv", name, value]
        return [*command, "--remount-ro", "/", "--chdir", "/", "bash", "/driver", str(limit)]


def _result(stem: Path, command: str) -> Run:
    def text(ending: str) -> str:
        return stem.with_name(f"{stem.name}.{ending}").read_text(errors="replace")

    observed = parse_trace(text("trace").splitlines(), cwd=PROJECT)
    return Run(command, observed, int(text("status")), text("stdout"), text("stderr"))


def installed(name: str) -> bool:
    """Whether the sandbox finds a program of this name."""
    return shutil.which(name, path=":".join(SEARCH)) is not None


@cache
def unavailable() -> str | None:
    """Why the sandbox cannot run on this machine, or None when it can."""
    for program in ("bwrap", "strace", "git", "timeout"):
        if shutil.which(program) is None:
            return f"`{program}` is not installed"
    try:
        with Workshop() as workshop:
            (run,) = workshop.run(["cat README.md > copy; exec ls"])
    except (SandboxError, OSError, subprocess.SubprocessError) as error:
        return str(error)
    seen = run.observed
    return None if {"cat", "ls"} <= seen.programs and f"{PROJECT}/copy" in seen.changed else "strace sees nothing there"
