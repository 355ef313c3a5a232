"""The panic switch: while its file is there, everything is refused."""

from __future__ import annotations

import os

from stockade.store.files import write_private

_NAME = "stopped"


def stopped(state: str) -> str | None:
    """Why everything is refused, or None.  A switch that cannot be looked at counts as thrown."""
    path = os.path.join(state, _NAME)
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(500).strip() or "no reason given"
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"the switch cannot be read: {error.strerror}"


def stop(state: str, reason: str) -> None:
    write_private(os.path.join(state, _NAME), reason + "\n")


def lift(state: str) -> bool:
    """Lifts the switch; False where it was not thrown."""
    try:
        os.unlink(os.path.join(state, _NAME))
    except FileNotFoundError:
        return False
    return True
