"""`stockade`: finds the sub-command, and imports only what it needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple


class Command(NamedTuple):
    """A sub-command: where it lives, and its line in the overview."""

    name: str
    module: str
    summary: str
    group: str


COMMANDS: tuple[Command, ...] = (
    Command("exec", "run", "decide on a command, ask where it must, run it, record it", "use"),
    Command("sandbox", "sandbox", "run one command in the kernel sandbox, and say what held", "use"),
    Command("check", "check", "say what would be decided: for a command, a tool call, or many lines", "use"),
    Command("explain", "explain", "show every rule, segment and finding behind a decision", "use"),
    Command("init", "init", "write a commented configuration", "configure"),
    Command("inspect", "inspect", "show every effective setting and rule, and where it comes from", "configure"),
    Command("modes", "modes", "show the modes", "configure"),
    Command("config", "config", "validate the configuration, print its schema", "configure"),
    Command("trust", "trust", "trust the configuration of this folder, or take that back", "configure"),
    Command("policy", "policy", "test the rules against examples and cases", "configure"),
    Command("programs", "programs", "show what is known about programs", "look"),
    Command("bench", "bench", "score guards over a corpus, Stockade among them", "look"),
    Command("doctor", "doctor", "say what this machine can enforce, what is missing, and how to get it", "look"),
    Command("log", "log", "show what was decided and what ran", "look"),
    Command("stop-all", "stop", "refuse everything until it is lifted", "look"),
    Command("completion", "completion", "print shell completion for bash, zsh or fish", "look"),
)
_BY_NAME = {command.name: command for command in COMMANDS}
_GROUPS = {"use": "Decide and run", "configure": "Configure", "look": "Look and stop"}


def overview() -> str:
    lines = ["usage: stockade COMMAND [OPTIONS] …", "", "Decides what a coding agent may do, and says why.", ""]
    for group, title in _GROUPS.items():
        lines.append(f"{title}:")
        lines.extend(f"  {c.name:<11} {c.summary}" for c in COMMANDS if c.group == group)
        lines.append("")
    lines += ["`stockade COMMAND --help` explains a command.", "Exit codes of check: 0 allow, 10 ask, 11 deny, 2 usage."]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a sub-command and gives its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        print(overview())
        return 0 if args else 2
    if args[0] in ("-V", "--version"):
        from stockade.version import VERSION

        print(f"stockade {VERSION}")
        return 0
    command = _BY_NAME.get(args[0])
    if command is None:
        return _unknown(args[0])
    return _run(command, args[1:])


def _unknown(name: str) -> int:
    import difflib

    near = difflib.get_close_matches(name, list(_BY_NAME), 1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    from stockade.cli.text import one_line

    print(f"stockade: there is no command `{one_line(name)}`{hint} (see `stockade --help`)", file=sys.stderr)
    return 2


def _run(command: Command, args: list[str]) -> int:
    from stockade.cli.common import UsageError
    from stockade.cli.text import one_line

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a captured stream has none
            stream.reconfigure(errors="backslashreplace")
    module = import_module(f"stockade.cli.{command.module}")
    try:
        return int(module.run(args))
    except UsageError as error:
        print(f"stockade {command.name}: {one_line(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        sys.stderr.close()
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
