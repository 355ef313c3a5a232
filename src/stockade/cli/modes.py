"""`stockade modes`: what each mode does, and which one is on."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from stockade.cli.args import Formatter
from stockade.cli.common import UsageError, open_world
from stockade.cli.table import table
from stockade.cli.text import colourful, paint
from stockade.policy.modes import BOOT_MODE, MODES, Mode

_EPILOG = """examples:
  stockade modes
  stockade check --mode plan -- 'touch notes.md'

The mode of a session is `permission_mode` of the configuration, `smart` where nothing sets it.

exit codes: 0, 2 usage"""
# What becomes of an ask; the words of the mode table, for a person.
_FATE = {
    "rules": "by the rules",
    "inside": "run inside",
    "smart": "if low risk",
    "confined": "if confined",
    "refuse": "refused",
    "lift": "run",
}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade modes", description="Show what each mode makes of writes and commands. `*` marks the one that is on.",
        epilog=_EPILOG, formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="print the table as JSON")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    current = current_mode()
    if options.json:
        print(json.dumps({"v": 1, "current": current, "boot": BOOT_MODE, "modes": [_json(m, current) for m in MODES]}))
        return 0
    on = colourful(sys.stdout)
    titles = [paint(title, "dim", on=on) for title in ("  mode", "also called", "posture", "writes", "commands")]
    head, *lines = table([titles, *(_row(mode, current, on=on) for mode in MODES)])
    print(head)
    for line, mode in zip(lines, MODES, strict=True):
        print(f"{line}\n    {paint(mode.meaning, 'dim', on=on)}")
    return 0


def current_mode() -> str:
    """The configured mode, or nothing where there is no workspace to have one."""
    try:
        return str(open_world().loaded.value("permission_mode"))
    except UsageError:
        return ""


def _row(mode: Mode, current: str, *, on: bool) -> list[str]:
    mark = "* " if mode.name == current else "  "
    name = paint(mode.name, "bold", on=on and mode.name == current)
    also = ", ".join(a for a in mode.aliases if a) or "-"
    return [mark + name, also, mode.posture or "configured", _FATE[mode.writes], _FATE[mode.commands]]


def _json(mode: Mode, current: str) -> dict[str, Any]:
    return {
        "name": mode.name, "aliases": list(mode.aliases), "posture": mode.posture or "configured", "writes": mode.writes,
        "commands": mode.commands, "meaning": mode.meaning, "lifts_denies": mode.lifts_denies, "asks_nobody": mode.asks_nobody,
        "current": mode.name == current,
    }  # fmt: skip
