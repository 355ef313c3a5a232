"""Speed as ratios to a peer in the same run: decisions, the batch rate, and a cold start.

    python benchmarks/decisions.py [--json]

* a decision over distinct corpus lines, with no cache of answers, against a tree-sitter parse of the
  same text (targets: at most 40 x at p50, 400 x at p99);
* `check --batch` over the same lines, in decisions a second (target: at least 2,000);
* a cold `stockade check -- 'git status | head'` against `python -I -S -c pass` of the same
  interpreter (target: at most 10 x).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from stockade.model.action import command_action  # noqa: E402
from stockade.policy.evaluate import decide  # noqa: E402
from tests.support.corpora import CONTEXT, policy, rows  # noqa: E402

CORPORA = ("floor", "bypass", "gtfo", "readonly", "benign", "everyday")


def lines() -> list[str]:
    return list(dict.fromkeys(row["command"] for name in CORPORA for row in rows(name)))


def quantiles(run: Callable[[str], Any], commands: list[str], rounds: int = 9) -> tuple[float, float]:
    """(p50, p99) in microseconds, each command at its best of some rounds."""
    for command in commands:
        run(command)
    best = []
    for command in commands:
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            run(command)
            times.append(time.perf_counter() - begin)
        best.append(min(times) * 1e6)
    best.sort()
    return best[len(best) // 2], best[int(len(best) * 0.99)]


def decisions(commands: list[str]) -> dict[str, float]:
    import tree_sitter
    import tree_sitter_bash

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    smart = policy("smart")
    peer50, peer99 = quantiles(lambda text: parser.parse(text.encode()), commands)
    ours50, ours99 = quantiles(lambda text: decide(command_action(text), CONTEXT, smart), commands)
    return {
        "lines": len(commands), "parse_p50_us": peer50, "parse_p99_us": peer99, "decision_p50_us": ours50,
        "decision_p99_us": ours99, "ratio_p50": ours50 / peer50, "ratio_p99": ours99 / peer99,
    }  # fmt: skip


def batch(commands: list[str]) -> dict[str, float]:
    """Distinct decisions a second through the command, start-up included."""
    described = ROOT / "benchmarks" / "machine.json"
    given = "".join(json.dumps({"id": at, "command": text}) + "\n" for at, text in enumerate(commands))
    argv = [sys.executable, "-m", "stockade", "check", "--batch", "--context", str(described)]
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        done = subprocess.run(argv, input=given.encode(), capture_output=True, check=False, cwd=ROOT / "src")
        best = min(best, time.perf_counter() - begin)
        assert done.stdout.count(b"\n") == len(commands), done.stderr.decode()
    return {"batch_per_second": len(commands) / best}


def cold(rounds: int = 25) -> dict[str, float]:
    """The best of many starts, each against the bare interpreter in turn."""
    script = Path(sys.executable).with_name("stockade")
    ours = [str(script), "check", "--", "git status | head"]
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    best = {"ours": float("inf"), "bare": float("inf")}
    for _ in range(rounds):
        for name, argv in (("bare", bare), ("ours", ours)):
            begin = time.perf_counter()
            subprocess.run(argv, capture_output=True, check=False, cwd=ROOT)
            best[name] = min(best[name], time.perf_counter() - begin)
    return {"bare_ms": best["bare"] * 1e3, "cold_ms": best["ours"] * 1e3, "ratio_cold": best["ours"] / best["bare"]}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    commands = lines()
    found = decisions(commands) | batch(commands) | cold()
    if chosen.json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(f"{name:<18} {value:>10.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
