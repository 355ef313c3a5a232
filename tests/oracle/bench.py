"""Prints how many commands a second the oracle runs: `python -m tests.oracle.bench [COUNT]`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.oracle.generate import KINDS, generate
from tests.oracle.sandbox import Oracle, Run

TYPICAL = (
    "ls -la",
    "git status && rm x",
    "cat in.txt | grep a > out",
    "for f in a b; do echo $f; done",
    "env A=1 rm x",
)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    sources = {"typical": [TYPICAL[index % len(TYPICAL)] for index in range(count)]}
    sources |= {kind: list(generate(1, count, kind)) for kind in KINDS}
    with Oracle() as oracle:
        for name, commands in sources.items():
            started = time.monotonic()
            runs = [oracle.run(command.encode()) for command in commands]
            print(f"{name:9} {_summary(runs, time.monotonic() - started)}")
        print(f"restarts  {oracle.restarts}")


def _summary(runs: Sequence[Run], seconds: float) -> str:
    count = len(runs)
    executed = sum(len(run.execs) for run in runs) / count
    rejected = sum(run.syntax_error for run in runs) / count
    late = sum(run.timed_out for run in runs)
    return f"{count / seconds:6.0f}/s  {executed:4.1f} execs each  {rejected:4.0%} rejected  {late} timed out"


if __name__ == "__main__":
    main()
