"""The audit log: one JSON line a decision, redacted before it is written, bounded in size."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from typing import Any

from stockade.store.files import private_folder

MAX_BYTES = 16 << 20
_NAME = "decisions.jsonl"


def append(state: str, record: dict[str, Any]) -> None:
    """Adds a record.  Raises OSError where it cannot be stored: what is not recorded does not run."""
    folder = os.path.join(state, "log")
    private_folder(folder)
    path = os.path.join(folder, _NAME)
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
    lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one writer at a time, also while the file is being rotated
        if os.path.exists(path) and os.path.getsize(path) > MAX_BYTES:
            os.replace(path, path + ".1")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(line if _ends_a_line(path) else "\n" + line)
    finally:
        os.close(lock)


def _ends_a_line(path: str) -> bool:
    """False where a crash tore the last line off: what follows must not become part of it."""
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return True
        stream.seek(size - 1)
        return stream.read(1) == b"\n"


def read(state: str) -> Iterator[dict[str, Any]]:
    """All records, oldest first; a line that is damaged is given as `{"damaged": text}`.

    A command is recorded before it runs and again when it has ended: the later record of an `id` stands.
    """
    merged: dict[str, dict[str, Any]] = {}
    for at, record in enumerate(_lines(state)):
        merged[str(record.get("id", at))] = record
    yield from merged.values()


def _lines(state: str) -> Iterator[dict[str, Any]]:
    for name in (_NAME + ".1", _NAME):
        path = os.path.join(state, "log", name)
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as stream:
                yield from map(_record, stream)


def _record(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"damaged": line.rstrip("\n")[:200]}
