"""`stockade doctor`: what this machine can enforce, proven by trying it, and how to get what is missing."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from stockade.cli.args import Formatter
from stockade.cli.common import own_places
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint
from stockade.confine.ability import Ability, probe
from stockade.confine.limits import groups
from stockade.confine.plan import Limits

_EPILOG = """examples:
  stockade doctor
  stockade doctor --json

Every line was tried just now, with a sandbox of its own and files of its own.

exit codes: 0 commands can be confined, 1 they cannot, 2 usage"""
_COLOURS = {"ok": "green", "weak": "yellow", "missing": "red"}


class Line(NamedTuple):
    """One thing that was tried: `state` is `ok`, `weak` or `missing`, `remedy` says how to get it."""

    name: str
    state: str
    found: str
    remedy: str = ""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade doctor", description="Say what this machine can enforce, what is missing, and how to get it.",
        epilog=_EPILOG, formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="print it as JSON")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    able = probe()
    lines = list(_lines(able))
    if options.json:
        print(json.dumps({"v": 1, "confines": able.confines, "lines": [line._asdict() for line in lines]}, indent=1))
    else:
        print(_text(lines))
    return 0 if able.confines else 1


def _text(lines: list[Line]) -> str:
    on = colourful(sys.stdout)
    rows = [(paint(f"{line.state:<7}", _COLOURS[line.state], on=on), line.name, one_line(line.found)) for line in lines]
    text = table(rows)
    remedies = [f"  {line.name}: {line.remedy}" for line in lines if line.remedy]
    return "\n".join([*text, *(["", "how to get what is missing:", *remedies] if remedies else [])])


def _lines(able: Ability) -> Iterator[Line]:
    yield _bubblewrap(able)
    yield _namespaces(able)
    yield _filter(able)
    yield _landlock(able)
    if able.confines:
        yield from _trials(able)
    yield from _bounds()
    yield _shell()
    yield _state()


def _bubblewrap(able: Ability) -> Line:
    if able.bubblewrap:
        return Line("bubblewrap", "ok", f"{able.bubblewrap}: namespaces and mounts work")
    if able.namespaces:
        return Line("bubblewrap", "weak", f"{able.problem}; namespaces of our own are used", _remedy(able.problem))
    return Line("bubblewrap", "missing", able.problem, _remedy(able.problem))


def _namespaces(able: Ability) -> Line:
    if able.namespaces:
        return Line("namespaces", "ok", "the kernel lets us make them: many covers are quick, and Landlock can be added")
    return Line("namespaces", "weak", "only bubblewrap may make them: many covers are slow", _remedy("namespaces are refused"))


def _remedy(problem: str) -> str:
    """What to do about a way in which bubblewrap fails."""
    if "not installed" in problem:
        return "install it: `apt install bubblewrap`, `dnf install bubblewrap`, `apk add bubblewrap`, `pacman -S bubblewrap`"
    if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor refuses user namespaces (Ubuntu 23.10 and later): install the profile for bwrap with "
            "`apt install apparmor-profiles` and load `bwrap-userns-restrict`, or set the sysctl "
            "kernel.apparmor_restrict_unprivileged_userns to 0"
        )
    if _reads("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "the kernel refuses user namespaces to users: set the sysctl kernel.unprivileged_userns_clone to 1"
    if _reads("/proc/sys/user/max_user_namespaces") == "0":
        return "the kernel allows no user namespaces: set the sysctl user.max_user_namespaces above 0"
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return (
            "this is a container whose filter refuses namespaces or a new /proc: start it with "
            "`--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or with a filter that allows them"
        )
    return "the kernel refused a step: it may be too old (5.10 and later work), or another security module refuses it"


def _reads(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def _filter(able: Ability) -> Line:
    if able.filters:
        return Line("system calls", "ok", f"a filter for {able.machine}")
    return Line("system calls", "missing", f"no filter for {able.machine}", "x86_64 and aarch64 have one")


def _landlock(able: Ability) -> Line:
    if able.landlock >= 6:
        return Line("Landlock", "ok", f"version {able.landlock}: abstract sockets are refused where the network is on")
    if able.landlock:
        return Line(
            "Landlock", "weak", f"version {able.landlock}", "Linux 6.12 and later close abstract sockets with the network on"
        )
    return Line("Landlock", "weak", "the kernel has none", "add `landlock` to the `lsm=` parameter of the kernel")


def _trials(able: Ability) -> Iterator[Line]:
    """Confined commands on files of their own: each tries what must not be possible, and what must be."""
    from stockade.cli.trials import TRIALS, trial

    with tempfile.TemporaryDirectory(prefix="stockade-doctor-") as folder:
        for one in TRIALS:
            state, found = trial(one, able, os.path.realpath(folder))
            yield Line(one.name, state, found, "" if state == "ok" else "report it: this must hold wherever bubblewrap works")


def _bounds() -> Iterator[Line]:
    with groups(Limits(processes=64, memory=1 << 26)) as made:
        for name in ("processes", "memory"):
            if name in made.holds:
                yield Line(f"bound on {name}", "ok", "a control group for the whole tree")
            elif name == "processes" and os.getuid() != 0:
                yield Line(f"bound on {name}", "ok", "for the whole tree, by its user namespace")
            else:
                yield Line(f"bound on {name}", "weak", "no control group that may be used: each process by itself",
                           "run below a delegated group: `systemd-run --user --scope -p Delegate=yes …`")  # fmt: skip


def _shell() -> Line:
    if os.access("/bin/bash", os.X_OK):
        return Line("bash", "ok", "/bin/bash runs what is decided on")
    return Line("bash", "missing", "there is no /bin/bash", "install bash: commands are read as bash, and must run under it")


def _state() -> Line:
    state = own_places().state
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        about = os.stat(state)
    except OSError as error:
        return Line("state folder", "missing", f"{state}: {(error.strerror or '').lower()}", "set STOCKADE_STATE_DIR")
    if about.st_uid != os.getuid() or about.st_mode & 0o022:
        return Line("state folder", "weak", f"{state} can be written by others", f"chmod 700 {state}")
    return Line("state folder", "ok", state)
