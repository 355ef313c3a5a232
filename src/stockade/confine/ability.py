"""What this machine can enforce, found out by trying it, and kept for as long as nothing of it changes."""

from __future__ import annotations

import json
import os
import subprocess
from typing import NamedTuple

from stockade.confine.seccomp import supported

BUBBLEWRAP = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap", "/bin/bwrap")
"""Fixed places, never PATH: and the one that Ubuntu's AppArmor profile names is the first."""

_LANDLOCK_CREATE, _VERSION = 444, 1
_SECONDS = 5


class Ability(NamedTuple):
    """`bubblewrap` is its path, empty where it cannot be used, and `problem` then says why.

    `namespaces` says whether we can make them ourselves, which is the other way, and the faster one for many covers.
    """

    bubblewrap: str
    problem: str
    namespaces: bool
    machine: str
    landlock: int
    uid: int

    @property
    def confines(self) -> bool:
        return self.bubblewrap != "" or self.namespaces

    @property
    def inner(self) -> bool:
        """Whether the last steps can be made from within: bubblewrap leaves the power for them to root only."""
        return self.namespaces or self.uid == 0

    @property
    def filters(self) -> bool:
        return supported(self.machine)


def ability(folder: str) -> Ability:
    """What can be enforced here; `folder` keeps the answer until the machine, bubblewrap or the user changes."""
    key = _key()
    try:
        with open(os.path.join(folder, "ability.json"), encoding="utf-8") as stream:
            kept = json.load(stream)
        found = Ability(*kept["value"])
        if kept["key"] == key and found.confines:  # what did not work is tried again
            return found
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        pass  # nothing is kept, or it is not readable: it is asked for now
    found = probe()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.path.join(folder, "ability.json"), "w", encoding="utf-8") as stream:
            json.dump({"key": key, "value": list(found)}, stream)
    except OSError:
        pass  # it is asked again next time
    return found


def _key() -> list[str]:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            boot = stream.read().strip()
    except OSError:
        boot = ""
    path = _installed()
    try:
        about = os.stat(path) if path else None
    except OSError:
        about = None
    return [boot, path, str(about.st_mtime_ns if about else 0), str(os.getuid())]


def _installed() -> str:
    return next((path for path in BUBBLEWRAP if os.access(path, os.X_OK)), "")


def probe() -> Ability:
    """Starts a confined `true`, and asks for the version of Landlock."""
    path = _installed()
    problem = "bubblewrap is not installed" if not path else _try(path)
    return Ability("" if problem else path, problem, _own(), os.uname().machine, landlock_version(), os.getuid())


def _own() -> bool:
    """Whether `inner` can set a whole sandbox up without bubblewrap."""
    from stockade.confine.inner_words import started

    mounts = [("read", b"/", b"/"), ("proc", b"/proc", b""), ("devices", b"/dev", b""), ("empty", b"/tmp", b"")]
    told = {"mounts": mounts, "covers": [], "blank": b"", "cwd": "/", "network": False, "filter": b"", "scopes": 0}
    try:
        with started(told, ["/bin/sh", "-c", ":"]) as (argv, numbers):
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, env={}, pass_fds=numbers,
            )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _try(path: str) -> str:
    """What is wrong with a sandbox of everything that plans use, in bubblewrap's words; empty if it works."""
    words = [path, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--disable-userns",
             "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
             "--tmpfs", "/tmp", "--", "/bin/sh", "-c", ":"]  # fmt: skip
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, env={})
    except subprocess.TimeoutExpired:
        return "bubblewrap does not end"
    except OSError as error:
        return f"bubblewrap cannot be started: {(error.strerror or 'error').lower()}"
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode(errors="backslashreplace").strip().splitlines()
    return lines[-1] if lines else f"bubblewrap ends with {done.returncode}"


def landlock_version() -> int:
    """The version of Landlock's interface that the kernel has, 0 where it has none.  Source: landlock(7)."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_LANDLOCK_CREATE, None, 0, _VERSION)))
