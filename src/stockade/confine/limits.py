"""Bounds on what a command may use: a control group for the whole tree where there is one, else one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from stockade.confine.plan import Limits

_V1 = "/sys/fs/cgroup"


class Groups(NamedTuple):
    """The control groups of one command: folders to enter, and which bounds they hold."""

    folders: tuple[str, ...]
    holds: frozenset[str]


@contextmanager
def groups(limits: Limits) -> Iterator[Groups]:
    """Makes control groups for the bounds on memory and processes, and removes them in the end."""
    made: list[str] = []
    holds: set[str] = set()
    for name, controller, files in (
        ("processes", "pids", {"pids.max": limits.processes}),
        ("memory", "memory", {"memory.max": limits.memory, "memory.limit_in_bytes": limits.memory}),
    ):
        if any(value is not None for value in files.values()) and (folder := _make(controller, files, made)):
            made.append(folder)
            holds.add(name)
    try:
        yield Groups(tuple(dict.fromkeys(made)), frozenset(holds))
    finally:
        for folder in dict.fromkeys(made):
            _remove(folder)


def _make(controller: str, files: dict[str, int | None], made: list[str]) -> str:
    parent = _parent(controller)
    if parent is None:
        return ""
    unified = os.path.exists(f"{parent}/cgroup.controllers")
    folder = next((one for one in made if unified and os.path.dirname(one) == parent), f"{parent}/stockade-{os.urandom(6).hex()}")
    try:
        os.makedirs(folder, exist_ok=True)
        wrote = False
        for name, value in files.items():
            if value is not None and os.path.exists(f"{folder}/{name}"):
                with open(f"{folder}/{name}", "w", encoding="ascii") as stream:
                    stream.write(str(value))
                wrote = True
    except OSError:
        wrote = False
    if wrote:
        return folder
    if folder not in made:
        _remove(folder)
    return ""


def _parent(controller: str) -> str | None:
    """The group that this process is in, for a controller, where it may have groups below it."""
    try:
        with open("/proc/self/cgroup", encoding="ascii") as stream:
            rows = [line.rstrip("\n").split(":", 2) for line in stream]
    except OSError:
        return None
    for _, names, path in rows:
        if controller in names.split(","):
            return f"{_V1}/{controller}{path}".rstrip("/") if os.path.isdir(f"{_V1}/{controller}{path}") else None
    for number, names, path in rows:
        if number == "0" and not names and os.path.exists(f"{_V1}{path}/cgroup.controllers"):
            parent = os.path.dirname(f"{_V1}{path}".rstrip("/"))
            return parent if controller in _enabled(parent) else None
    return None


def _enabled(parent: str) -> list[str]:
    try:
        with open(f"{parent}/cgroup.subtree_control", encoding="ascii") as stream:
            return stream.read().split()
    except OSError:
        return []


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        return  # a process of it is still ending; an empty group costs nothing


def shell_limits(limits: Limits, held: frozenset[str]) -> str:
    """The bounds of single processes, as bash's `ulimit` sets them.  Source: bash(1), setrlimit(2)."""
    words = ["ulimit -c 0"]
    if limits.processes is not None and "processes" not in held:
        words.append(f"ulimit -u {limits.processes}")
    if limits.memory is not None and "memory" not in held:
        words.append(f"ulimit -v {max(1, limits.memory // 1024)}")
    if limits.file_size is not None:
        words.append(f"ulimit -f {max(1, limits.file_size // 1024)}")
    if limits.cpu_seconds is not None:
        words.append(f"ulimit -t {limits.cpu_seconds}")
    return " && ".join(words)
