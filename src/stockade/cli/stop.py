"""`stockade stop-all`: the panic switch."""

from __future__ import annotations

import argparse

from stockade.cli.args import Formatter
from stockade.cli.common import UsageError, _reason, own_places
from stockade.cli.text import one_line
from stockade.store import switch

_EPILOG = """examples:
  stockade stop-all 'the agent deletes branches'
  stockade stop-all --status
  stockade stop-all --lift

While it is on, every decision of this user is deny, in every folder and mode, also of sessions that run.

exit codes: 0 done (with --status: nothing is stopped), 1 with --status where everything is stopped, 2 usage or not possible"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade stop-all", description="Refuse everything until it is lifted.", epilog=_EPILOG,
        formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("reason", nargs="*", metavar="REASON", help="why, shown with every refusal")
    what = made.add_mutually_exclusive_group()
    what.add_argument("--lift", action="store_true", help="lift it: decide as before")
    what.add_argument("--status", action="store_true", help="say whether everything is stopped, and change nothing")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    reason = " ".join(options.reason).strip()
    if reason and (options.lift or options.status):
        raise UsageError("a reason belongs to stopping; leave it away with `--lift` and `--status`")
    state = own_places().state
    if options.status:
        return _status(state)
    try:
        return _lift(state) if options.lift else _stop(state, reason)
    except OSError as error:
        raise UsageError(f"the switch in `{one_line(state)}` cannot be changed: {_reason(error)}") from None


def _status(state: str) -> int:
    reason = switch.stopped(state)
    if reason is None:
        print("nothing is stopped")
        return 0
    print(f"everything is stopped: {one_line(reason)}")
    return 1


def _lift(state: str) -> int:
    print("lifted: decisions are made again" if switch.lift(state) else "nothing was stopped")
    return 0


def _stop(state: str, reason: str) -> int:
    switch.stop(state, reason)
    print(f"everything is stopped: {one_line(switch.stopped(state) or '')}")
    print("lift it with `stockade stop-all --lift`")
    return 0
