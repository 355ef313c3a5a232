"""`stockade check`: what would be decided, and nothing run."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from stockade.cli.args import Formatter
from stockade.cli.common import UsageError, World, open_world, problems_to_stderr
from stockade.cli.show import decision_json, decision_text
from stockade.engine.judge import judge
from stockade.model.action import Action, ActionError, command_action, from_tool
from stockade.model.verdict import EXIT_CODE

_EPILOG = """examples:
  stockade check -- 'git status && ls -la | head'
  stockade check --mode ask --json -- rm -rf build
  stockade check --tool read_file --input '{"path": ".env"}'
  stockade check --batch --config policy.toml --context machine.json < lines.jsonl

exit codes: 0 allow, 10 ask, 11 deny, 2 usage; with --batch 0, or 2 if a line was bad"""


def parser(name: str = "check", description: str = "Say what would be decided. Nothing is run.") -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=f"stockade {name}", description=description, epilog=_EPILOG.replace("stockade check", f"stockade {name}"),
        formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument(
        "command", nargs="*", metavar="COMMAND", help="after `--`: one argument is bash text, several are an argument vector"
    )
    made.add_argument("--mode", metavar="MODE", help="decide in this mode (see `stockade modes`)")
    made.add_argument("--cwd", metavar="DIR", help="decide for this working folder")
    made.add_argument("--json", action="store_true", help="print the whole decision as JSON")
    made.add_argument("--tool", metavar="NAME", help="decide on a call of this tool instead of a command")
    made.add_argument("--input", metavar="JSON", help="the input of the tool call: JSON, `-`, or `@FILE`")
    made.add_argument("--config", metavar="FILE", help="use this configuration in place of the project's and the user's")
    made.add_argument("--context", metavar="FILE", help="decide for the machine that this JSON file describes")
    if name == "check":
        made.add_argument("--batch", action="store_true", help="judge JSON lines from standard input")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    if options.batch and options.command:
        raise UsageError("`--batch` reads its commands from standard input; leave the command away")
    world = open_world(cwd=options.cwd, config=options.config, context_file=options.context, mode_name=options.mode)
    problems_to_stderr(world.loaded)
    if options.batch:
        from stockade.cli.batch import batch

        return batch(sys.stdin.buffer, sys.stdout, world)
    import json

    action = action_of(options.command, options.tool, options.input)
    decision = judge(action, world.context, world.loaded.policy(), look=world.look)
    print(json.dumps(decision_json(decision, world.context), ensure_ascii=True) if options.json else decision_text(decision))
    return EXIT_CODE[decision.verdict]


def action_of(command: list[str], tool: str | None, given: str | None) -> Action:
    """The action that the command line names.  Raises UsageError."""
    if tool is not None:
        if command:
            raise UsageError("give a command or `--tool`, not both")
        try:
            return from_tool(tool, _input(given))
        except ActionError as error:
            raise UsageError(str(error)) from None
    if given is not None:
        raise UsageError("`--input` belongs to `--tool`")
    return command_action(command_text(command))


def command_text(words: list[str]) -> str:
    """One argument is bash text, several are an argument vector."""
    if not words or (len(words) == 1 and not words[0].strip()):
        raise UsageError("a command is missing; write it after `--`, such as `-- 'git status'`")
    if len(words) == 1:
        return words[0]
    import shlex

    return shlex.join(words)


def _input(given: str | None) -> dict[str, Any]:
    from stockade.cli.common import _read

    if given is None:
        raise UsageError('`--tool` needs `--input`, such as `--input \'{"path": "README.md"}\'`')
    text = _read(given[1:]) if given.startswith("@") else _read("-") if given == "-" else given
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"`--input` is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError("`--input` is a JSON object")
    return value


__all__ = ["World", "action_of", "command_text", "parser", "run"]
