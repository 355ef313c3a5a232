"""Small private files, written so that a reader never sees half of one."""

from __future__ import annotations

import os


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
