"""Configuration files as they are found: their bytes, and what is odd about who could have written them."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from stockade.config.files import MAX_BYTES
from stockade.config.problems import Problem


class Source(NamedTuple):
    """A file as it was found: its text (None: not there), and what is odd about it."""

    text: str | None
    shown: str
    layer: str
    problems: tuple[Problem, ...] = ()
    distrusted: bool = False
    digest: str = ""


def read_source(path: str, *, shown: str, layer: str, owner: int | None = None) -> Source:
    """Reads a configuration file.  Foreign or writable-by-others user files and links are distrusted."""
    problems: list[Problem] = []
    distrusted = False
    try:
        linked = stat.S_ISLNK(os.lstat(path).st_mode)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Source(None, shown, layer)
    except OSError as error:
        problem = Problem(
            "config/unreadable",
            "error",
            shown,
            0,
            f"cannot be read: {(error.strerror or 'error').lower()}",
            "check its permissions",
        )
        return Source(None, shown, layer, (problem,), True)
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        problem = Problem("config/unreadable", "error", shown, 0, "is no regular file", "replace it by a file")
        return Source(None, shown, layer, (problem,), True)
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if linked and layer == "project":
        problems.append(
            Problem(
                "config/symlink",
                "warning",
                shown,
                0,
                "is a symbolic link; only what tightens is applied",
                "replace the link by a file",
            )
        )
        distrusted = True
    if owner is not None and layer == "user":
        wrong = _ownership(facts, owner)
        if wrong:
            problems.append(
                Problem(
                    "config/permissions",
                    "warning",
                    shown,
                    0,
                    f"{wrong}; only what tightens is applied",
                    f"chown it to you, and chmod 600 `{shown}`",
                )
            )
            distrusted = True
    return _decoded(data, shown, layer, problems, distrusted)


def _ownership(facts: os.stat_result, owner: int) -> str:
    if facts.st_uid not in (owner, 0):
        return "belongs to another user"
    return "can be written by others" if facts.st_mode & 0o022 else ""


def _decoded(data: bytes, shown: str, layer: str, problems: list[Problem], distrusted: bool) -> Source:
    if len(data) > MAX_BYTES:
        problems.append(Problem("config/too-large", "error", shown, 0, f"is larger than {MAX_BYTES} bytes", "make it smaller"))
        return Source(None, shown, layer, tuple(problems), True)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        problems.append(Problem("config/encoding", "error", shown, 0, "is not valid UTF-8", "save it as UTF-8"))
        return Source(None, shown, layer, tuple(problems), True)
    import hashlib

    return Source(text, shown, layer, tuple(problems), distrusted, hashlib.sha256(data).hexdigest())
