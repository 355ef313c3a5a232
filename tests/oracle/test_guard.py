"""The guard against bash itself: nothing runs, and no file appears, that was not foreseen.

`STOCKADE_ORACLE_COUNT` sets how many generated commands are compared (CI: 20,000).
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter

import pytest

from stockade.model.action import command_action
from stockade.model.context import Context
from stockade.model.verdict import Verdict
from stockade.policy.evaluate import decide
from stockade.policy.policy import build
from stockade.shell import analyze
from tests.oracle.compare import missed
from tests.oracle.generate import CORPUS, generate
from tests.oracle.layout import HOME, WORKDIR
from tests.oracle.sandbox import SCHEDULES, Oracle
from tests.support.corpora import rows

COUNT = int(os.environ.get("STOCKADE_ORACLE_COUNT", "900"))
SHARDS = 6
SEED = 20261130
# Mutations bend lines that mislead parsers, and most of them are unknown by right; the grammar makes what people write.
SHARES = {"grammar": 40, "fuzz": 20, "mutation": 15, "described": 25}
# Programs whose output the guard foresees and that are only stubs in the sandbox: `$(git rev-parse …)`, `| tr a b`.
FORESEEN_OUTPUT = re.compile(r"\b(?:git|rev|tr|cut|sed|openssl|base32|xxd|realpath|readlink|which|type|pgrep|root)\b")
ENV = {"HOME": HOME, "PATH": "/usr/bin:/bin", "PWD": WORKDIR, "LC_ALL": "C.UTF-8"}
CONTEXT = Context(WORKDIR, WORKDIR, HOME, env=ENV, env_complete=True)
SMART = build((), mode_name="smart")


class Tally:
    """What a run of many commands found."""

    def __init__(self) -> None:
        self.accepted = 0
        self.complete = 0
        self.missed: list[str] = []
        self.foreseen_too_much = 0

    def compare(self, oracle: Oracle, command: str, schedule: tuple[int, bytes]) -> None:
        analysis = analyze(command, CONTEXT)
        run = oracle.run(command.encode(), rc=schedule[0], out=schedule[1])
        if run.syntax_error:
            return
        self.accepted += 1
        self.complete += analysis.complete
        self.foreseen_too_much += sum(bool(s.argv) for s in analysis.segments) > len(run.execs) + len(run.traced)
        for line in missed(run, analysis, cwd=WORKDIR):
            self.missed.append(f"{command!r} under {schedule}: {line}")
        if decide(command_action(command), CONTEXT, SMART, facts=analysis).verdict is Verdict.ALLOW and not analysis.complete:
            self.missed.append(f"{command!r}: allowed although not everything about it is known")


@pytest.mark.parametrize("shard", range(SHARDS))
def test_nothing_runs_that_was_not_foreseen(oracle: Oracle, shard: int) -> None:
    tally = Tally()
    kinds: Counter[str] = Counter()
    for at, kind in enumerate(SHARES):
        count = COUNT * SHARES[kind] // SHARDS // 100
        for index, command in enumerate(generate(SEED + shard, count, kind)):
            if kind == "described" and FORESEEN_OUTPUT.search(command):
                continue  # of these programs the guard knows more than their stubs do
            tally.compare(oracle, command, SCHEDULES[(index + at) % len(SCHEDULES)])
            kinds[kind] += 1
    print(
        f"shard {shard}: {dict(kinds)}, accepted {tally.accepted}, complete {tally.complete}, "
        f"more than ran {tally.foreseen_too_much}"
    )
    assert tally.missed == []
    # Unknown is no way out: 70 of 100 are fully analysed; a small sample may lie a little off.
    assert tally.complete >= (0.70 if COUNT >= 10_000 else 0.60) * tally.accepted


@pytest.mark.parametrize("corpus", ["readonly", "benign", "everyday", "floor", "bypass", "gtfo"])
def test_corpus_lines_run_as_foreseen(oracle: Oracle, corpus: str) -> None:
    tally = Tally()
    for at, row in enumerate(rows(corpus)):
        if "fork" in row.get("rationale", "") or ":|:" in row["command"]:
            continue  # RLIMIT_NPROC does not bind for a sandbox that root started
        if FORESEEN_OUTPUT.search(row["command"]) and re.search(r"\$\(|`|\||<<<|~", row["command"]):
            continue
        tally.compare(oracle, row["command"], SCHEDULES[at % 2])
    print(f"{corpus}: accepted {tally.accepted}, complete {tally.complete}")
    assert tally.missed == []


def test_corpora_are_fully_analysed(oracle: Oracle) -> None:
    """Answering `unknown` is no way out: of what people and agents write, nearly all is understood."""
    lines = [row["command"] for corpus in ("readonly", "benign", "everyday") for row in rows(corpus)]
    accepted = [line for line in lines if not oracle.run(line.encode()).syntax_error]
    complete = [line for line in accepted if analyze(line, CONTEXT).complete]
    assert len(complete) >= 0.95 * len(accepted), sorted(set(accepted) - set(complete))


WRONG_PARSES = [json.loads(line) for line in (CORPUS / "wrong_parses.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", WRONG_PARSES, ids=[row["id"] for row in WRONG_PARSES])
def test_lines_that_mislead_parsers(oracle: Oracle, row: dict[str, str]) -> None:
    """Each line is foreseen under every schedule, or it is unknown and asks."""
    tally = Tally()
    for schedule in SCHEDULES:
        tally.compare(oracle, row["command"], schedule)
    assert tally.missed == []
    removes = any(run.startswith("rm") for run in row["runs"])
    if removes:
        assert decide(command_action(row["command"]), CONTEXT, SMART).verdict is not Verdict.ALLOW
