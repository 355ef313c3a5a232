"""`stockade policy test`: the rules against their own examples, and against files of cases."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, NamedTuple

from stockade.cli.args import Formatter
from stockade.cli.cases import Case, read_cases
from stockade.cli.common import USAGE, World, _read, open_world, problems_to_stderr
from stockade.cli.text import colourful, one_line, paint, say
from stockade.model.decision import Decision
from stockade.policy.policy import Policy, build
from stockade.shell.own import Own

_EPILOG = """examples:
  stockade policy test
  stockade policy test cases.jsonl more.toml --config policy.toml --context machine.json

A case is a line of JSON, or a `[[case]]` table of a .toml file:
  {"command": "git push", "want": "ask"}
  {"command": "rm -rf build", "mode": "full", "want": "allow", "want_rule": "mode/full", "note": "build output"}
  {"tool": "read_file", "input": {"path": ".env"}, "want": "deny"}
Keys: command | tool and input, want (allow, ask or deny), and if you like mode, cwd, want_rule, note.

exit codes: 0 all passed, 1 something failed, 2 usage, or a file of cases that cannot be read"""


class Failure(NamedTuple):
    """What did not come out as wanted: `about` is the rule or the command."""

    file: str
    line: int
    about: str
    note: str
    wanted: str
    got: str
    rule: str
    reason: str


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade policy", description="Test the rules. Nothing is run.", epilog=_EPILOG,
        formatter_class=Formatter,
    )  # fmt: skip
    subs = made.add_subparsers(dest="what", required=True, metavar="{test}")
    test = subs.add_parser(
        "test", help="check the examples beside the rules, and files of cases", epilog=_EPILOG,
        description="Check the `match` and `not_match` examples beside the rules, and every case of the files.",
        formatter_class=Formatter,
    )  # fmt: skip
    test.add_argument("cases", nargs="*", metavar="CASES", help="files of cases: JSON lines, or TOML")
    test.add_argument("--config", metavar="FILE", help="use this configuration in place of the project's and the user's")
    test.add_argument("--context", metavar="FILE", help="decide for the machine that this JSON file describes")
    test.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    world = open_world(config=options.config, context_file=options.context)
    problems_to_stderr(world.loaded)
    read = [read_cases(_read(file), file, world.context.workspace) for file in options.cases]
    problems = [problem for file in read for problem in file.problems]
    for problem in problems:
        say(f"stockade policy: {one_line(problem)}")
    if problems:
        return USAGE
    cases = [case for file in read for case in file.cases]
    examples, failures = _examples(world)
    failures += _asked(world, cases)
    if options.json:
        print(json.dumps(_json(examples, len(cases), failures), ensure_ascii=True))
    else:
        _print(examples, len(cases), failures)
    return 1 if failures else 0


def _examples(world: World) -> tuple[int, list[Failure]]:
    """How many examples stand beside the rules, and those that their rule does not meet."""
    from stockade.config.read import failed_examples

    count = 0
    failures: list[Failure] = []
    for rule in world.loaded.rules:
        count += len(rule.match) + len(rule.not_match)
        failures += [Failure(rule.file, rule.line, str(rule), "", "", "", rule.id, message) for message in failed_examples(rule)]
    for own in world.loaded.descriptions.all():
        count += len(own.examples)
        failures += _of_description(world, own)
    return count, failures


def _of_description(world: World, own: Own) -> list[Failure]:
    """The examples of an added description, decided as if it were trusted, without rules."""
    from stockade.engine.judge import judge
    from stockade.model.action import command_action

    owns = {name: (own._replace(held=False),) for name in own.names}
    policies = {mode: build((), mode_name=mode, owns=owns) for mode in ("default", "smart")}
    failures = []
    for example in own.examples:
        for mode, wanted in (("default", example.want), ("smart", example.smart)):
            policy = policies[mode]
            decision = judge(command_action(example.command), world.context, policy, look=False)
            got = str(decision.verdict)
            if got != wanted:
                about = (example.command, f"in {mode}", wanted, got, decision.rule, decision.reason)
                failures.append(Failure(own.file, 0, *about))
                break
    return failures


def _asked(world: World, cases: list[Case]) -> list[Failure]:
    from stockade.engine.judge import judge

    policies: dict[str, Policy] = {}
    failures: list[Failure] = []
    for case in cases:
        policy = policies.get(case.mode)
        if policy is None:
            policy = policies[case.mode] = world.loaded.policy(mode_name=case.mode)
        context = world.context._replace(cwd=case.cwd) if case.cwd else world.context
        failure = _failure(case, judge(case.action, context, policy, look=world.look))
        failures += [failure] if failure is not None else []
    return failures


def _failure(case: Case, decision: Decision) -> Failure | None:
    if decision.verdict is case.want and case.want_rule in ("", decision.rule):
        return None
    wanted = f"{case.want} by {case.want_rule}" if case.want_rule else str(case.want)
    got = f"{decision.verdict} by {decision.rule}" if case.want_rule else str(decision.verdict)
    return Failure(case.file, case.line, case.shown, case.note, wanted, got, decision.rule, decision.reason)


def _print(examples: int, cases: int, failures: list[Failure]) -> None:
    on = colourful(sys.stdout)
    for failure in failures:
        note = f"  ({one_line(failure.note)})" if failure.note else ""
        place = f"{failure.file}:{failure.line}" if failure.line else failure.file
        print(f"{one_line(place)}: {one_line(failure.about)}{note}")
        if failure.wanted:
            print(f"  wanted {paint(failure.wanted, 'green', on=on)}, got {paint(failure.got, 'red', on=on)}")
            print(f"  {one_line(failure.rule)}: {one_line(failure.reason)}")
        else:
            print(f"  {one_line(failure.reason)}")
    total = examples + cases
    if not total:
        print("nothing was tested: no rule has examples, and no file of cases was given")
        return
    print(f"{_some(examples, 'example')} and {_some(cases, 'case')}: {total - len(failures)} passed, {len(failures)} failed")


def _some(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _json(examples: int, cases: int, failures: list[Failure]) -> dict[str, Any]:
    return {
        "v": 1, "ok": not failures, "examples": examples, "cases": cases, "passed": examples + cases - len(failures),
        "failed": len(failures), "failures": [failure._asdict() for failure in failures],
    }  # fmt: skip
