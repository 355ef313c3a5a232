"""`python -m tests.probes.run --launcher bwrap --launcher stockade`: what holds, as one table."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.probes.host import BASE, Host
from tests.probes.launchers import LAUNCHERS
from tests.probes.probe import GROUPS, Probe, probes
from tests.probes.running import Outcome, run_all, skip_reason


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    os.environ["PATH"] = os.pathsep.join([*options.path, os.environ["PATH"]])
    names = options.launcher or ["stockade"]
    missing = {name: reason for name in names if (reason := LAUNCHERS[name].missing())}
    for name, reason in missing.items():
        print(f"{name} is left out: {reason}", file=sys.stderr)
    usable = [name for name in names if name not in missing]
    chosen = [one for one in probes() if _wanted(one, options)]
    with Host(user=options.user, base=options.base) as host:
        for probe in chosen:
            if not options.json and (reason := skip_reason(probe, host)):
                print(f"{probe.id} is left out: {reason}", file=sys.stderr)
        outcomes = list(run_all(chosen, usable, host))
    print(_as_json(outcomes) if options.json else _as_text(outcomes, usable))
    return 0 if all(one.held for one in outcomes) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.probes.run", description="Ask the kernel whether a sandbox holds.")
    parser.add_argument("--launcher", action="append", choices=sorted(LAUNCHERS), help="may be given several times")
    parser.add_argument("--group", action="append", choices=GROUPS)
    parser.add_argument("--only", action="append", metavar="ID")
    parser.add_argument("--user", help="run the probes as this user (only as root)")
    parser.add_argument("--base", type=Path, default=BASE, help="where the throw-away host is made")
    parser.add_argument("--path", action="append", default=[], help="a folder with programs of launchers, as `node_modules/.bin`")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _wanted(probe: Probe, options: argparse.Namespace) -> bool:
    return (not options.group or probe.group in options.group) and (not options.only or probe.id in options.only)


def _as_json(outcomes: Sequence[Outcome]) -> str:
    rows = [
        {"id": one.probe.id, "group": one.probe.group, "expect": one.probe.expect, "launcher": one.launcher, "user": one.user,
         "held": one.held, "seconds": one.seconds, "problems": list(one.problems)}
        for one in outcomes
    ]  # fmt: skip
    return json.dumps(rows, indent=1)


def _as_text(outcomes: Sequence[Outcome], names: Sequence[str]) -> str:
    lines = ["".join([f"{'group':14}", *(f"{name:>18}" for name in names)])]
    for group in [*GROUPS, "all"]:
        cells = [_cell([one for one in outcomes if one.launcher == name and group in (one.probe.group, "all")]) for name in names]
        if any(cells):
            lines.append("".join([f"{group:14}", *(f"{cell:>18}" for cell in cells)]))
    failed = [one for one in outcomes if not one.held]
    lines += [f"{one.launcher}: {one.probe.id} ({one.probe.expect}): {'; '.join(one.problems)}" for one in failed]
    return "\n".join(lines)


def _cell(outcomes: Sequence[Outcome]) -> str:
    held = sum(one.held for one in outcomes)
    return f"{held} held, {len(outcomes) - held} not" if outcomes else ""


if __name__ == "__main__":
    sys.exit(main())
