"""`stockade log`: what was decided, and what ran."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from stockade.cli.args import Formatter
from stockade.cli.common import UsageError, _reason, own_places
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint, say

_EPILOG = """examples:
  stockade log
  stockade log --verdict deny --since 2h
  stockade log --json --rule smart/ | jq -r .command

Times are local; --since takes 30m, 2h, 3d, 1w, or a date such as 2025-06-01 or 2025-06-01T12:00.

exit codes: 0, 2 usage"""
_NEWEST = 100
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_COLOUR = {"allow": "green", "ask": "yellow", "deny": "red"}
_SEARCHED = ("command", "tool", "target", "reason", "rule", "cwd")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade log", description="Show what was decided and what ran, oldest first.", epilog=_EPILOG,
        formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="print the records as JSON lines")
    made.add_argument("--verdict", choices=("allow", "ask", "deny"), help="only decisions with this verdict")
    made.add_argument("--rule", metavar="PREFIX", help="only decisions by a rule whose id begins like this, such as `floor/`")
    made.add_argument("--since", metavar="TIME", help="only what is newer than this age or date")
    made.add_argument("--limit", metavar="N", type=int, help=f"the newest N records (default: {_NEWEST}, with --json all)")
    made.add_argument("--grep", metavar="TEXT", help="only records that hold this text, in any case")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    if options.limit is not None and options.limit < 1:
        raise UsageError("`--limit` takes a number above 0")
    since = moment(options.since, datetime.now().astimezone()) if options.since is not None else None
    limit = options.limit or (None if options.json else _NEWEST)
    state = own_places().state
    try:
        records = deque(_chosen(_records(state), options, since), limit)
    except OSError as error:
        raise UsageError(f"the log in `{one_line(state)}` cannot be read: {_reason(error)}") from None
    if options.json:
        for record in records:
            print(json.dumps(record, ensure_ascii=True, separators=(",", ":")))
    else:
        _print(list(records))
    return 0


def moment(text: str, now: datetime) -> datetime:
    """The time that `--since` names: an age, or an ISO date that is local where it names no zone."""
    m = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    try:
        if m is not None:
            return now - timedelta(**{_UNITS[m.group(2)]: int(m.group(1))})
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        message = f"`{one_line(text)}` is no time; write an age such as `2h` or `3d`, or a date such as `2025-06-01`"
        raise UsageError(message) from None


# -- choosing -------------------------------------------------------------------------------------


def _records(state: str) -> Iterator[dict[str, Any]]:
    from stockade.store.audit import read

    return read(state)


def _chosen(records: Iterable[dict[str, Any]], options: argparse.Namespace, since: datetime | None) -> Iterator[dict[str, Any]]:
    """The records that are asked for; a damaged line answers no filter, and is shown where there is none."""
    filtered = since is not None or any((options.verdict, options.rule, options.grep))
    for record in _folded(records):
        if "damaged" in record:
            if not filtered:
                yield record
        elif _wanted(record, options, since):
            yield record


def _folded(records: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """One record a call: a command is recorded before it runs and when it ends, under one id."""
    found: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(records):
        ident = record.get("id")
        found[ident if isinstance(ident, str) and ident else f"#{number}"] = record
    return found.values()


def _wanted(record: dict[str, Any], options: argparse.Namespace, since: datetime | None) -> bool:
    if options.verdict and record.get("verdict") != options.verdict:
        return False
    if options.rule and not _text(record, "rule").startswith(options.rule):
        return False
    if options.grep and not any(options.grep.lower() in _text(record, name).lower() for name in _SEARCHED):
        return False
    when = _time(record)
    return since is None or (when is not None and when >= since)


def _time(record: dict[str, Any]) -> datetime | None:
    """The time of a record as local time, None where it has none that can be read."""
    try:
        when = datetime.fromisoformat(_text(record, "time"))
        return when.astimezone() if when.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _text(record: dict[str, Any], name: str) -> str:
    """A field as text that can be printed: JSON can carry half a character, a terminal cannot."""
    value = record.get(name)
    text = "" if value is None else str(value)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


# -- printing -------------------------------------------------------------------------------------


def _print(records: list[dict[str, Any]]) -> None:
    if not records:
        say("nothing was recorded, or nothing that fits")
        return
    on = colourful(sys.stdout)
    for line in table([_row(record, on=on) for record in records], widest=32):
        print(line)


def _row(record: dict[str, Any], *, on: bool) -> list[str]:
    if "damaged" in record:
        return [paint("damaged line", "red", on=on), one_line(_text(record, "damaged"))]
    when = _time(record)
    verdict = _text(record, "verdict")
    shown = paint(one_line(verdict), _COLOUR.get(verdict, "bold"), on=on)
    answer = _text(record, "answer")
    return [
        when.strftime("%Y-%m-%d %H:%M:%S") if when is not None else "no time",
        shown + (f", {one_line(answer)}" if answer else ""),
        _outcome(record), _duration(record.get("duration_ms")), one_line(_text(record, "rule")), _subject(record),
    ]  # fmt: skip


def _outcome(record: dict[str, Any]) -> str:
    if record.get("signal"):
        return f"signal {one_line(_text(record, 'signal'))}"
    if record.get("exit") is not None:
        return f"exit {one_line(_text(record, 'exit'))}"
    if record.get("event") == "check":
        return "checked"
    # Allowed, and no end was recorded: it runs still, or Stockade was killed with it.
    return "no end" if "allow" in (record.get("verdict"), _text(record, "answer")[:5]) else "not run"


def _duration(value: Any) -> str:
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        return "-"
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s" if value < 60000 else f"{value / 60000:.1f} min"


def _subject(record: dict[str, Any]) -> str:
    command = _text(record, "command") or f"{_text(record, 'tool')} {_text(record, 'target')}".strip()
    return one_line(command) or "-"
