"""Small private files, written so that a reader never sees half of one."""

from __future__ import annotations

import os
from typing import Any


def private_folder(path: str) -> None:
    """Makes a folder that only its owner can enter."""
    os.makedirs(path, mode=0o700, exist_ok=True)


def write_private(path: str, text: str) -> None:
    """Replaces a file with mode 0600; raises OSError where that is not possible."""
    private_folder(os.path.dirname(path))
    scratch = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(scratch, path)
    except OSError:
        if os.path.exists(scratch):
            os.unlink(scratch)
        raise


def read_table(path: str) -> dict[str, Any]:
    """The object in a JSON file; an empty one where it is not there or cannot be read: then nothing is trusted."""
    if not os.path.exists(path):
        return {}
    import json

    try:
        with open(path, encoding="utf-8") as stream:
            value = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
