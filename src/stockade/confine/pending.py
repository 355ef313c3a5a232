"""Runs that never came to their sweep, because Stockade was killed: noted before a run, and made up for before the next.

Without a note, what such a run has planted would be taken for something that was there before.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterable

from stockade.confine.index import Find, Index, look
from stockade.confine.sweep import Moved, State, sweep

_FORMAT = 1
_PREFIX = "pending-"


def note(folder: str, indexes: Iterable[Index], state: State) -> str:
    """Writes down how everything was before a run; gives the note.  Raises OSError where that is not possible."""
    rows = [(index.root, [tuple(find) for find in index.finds], list(index.known)) for index in indexes]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}")
    with open(path, "wb") as stream:
        stream.write(marshal.dumps((_FORMAT, rows, state)))
    return path


def forget(path: str) -> None:
    """The sweep has been made."""
    os.unlink(path)


def make_up(folder: str, keep: str) -> tuple[Moved, ...]:
    """Sweeps after every run whose process is gone; raises OSError where something cannot be put away."""
    moved: list[Moved] = []
    for path in _left(folder):
        try:
            with open(path, "rb") as stream:
                form, rows, state = marshal.loads(stream.read())
        except (EOFError, ValueError, TypeError):
            form, rows, state = _FORMAT, [], {}  # it was being written: the run had not begun
        for root, finds, known in rows if form == _FORMAT else ():
            before = Index(root, tuple(Find(*find) for find in finds), dict.fromkeys(known, (0, (), ())))
            moved += sweep(before, look(root), state, keep)
        os.unlink(path)
    return tuple(moved)


def _left(folder: str) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(_PREFIX))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if not _alive(name)]


def _alive(name: str) -> bool:
    """Whether the process that wrote a note still runs; one of another user counts as running."""
    number = name.removeprefix(_PREFIX).partition("-")[0]
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError):
        return True
    return True
