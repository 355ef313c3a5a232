"""`stockade sandbox`: one command in the kernel sandbox, shown first, then run, then told what held."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from typing import Any

from stockade.cli.args import Formatter, seconds
from stockade.cli.ask import terminal
from stockade.cli.common import UsageError, World, open_world, problems_to_stderr
from stockade.cli.confined import after_text, plan_text, problem_text, result_json
from stockade.cli.text import colourful, one_line, paint, say
from stockade.config.settings import PROFILES, size
from stockade.confine.environment import ChildEnv
from stockade.confine.run import NotConfined
from stockade.engine.confining import Confined, ConfineError, Prepared, confine, env_of, prepare, profile_json, request

FAILED, REFUSED, TIMED_OUT, INTERRUPTED = 125, 126, 124, 130
STOPPED = {"time": TIMED_OUT, "interrupt": INTERRUPTED, "terminate": 143, "output": 153}
_EPILOG = """examples:
  stockade sandbox -- ls -la
  stockade sandbox --profile workspace --yes -- 'npm test'
  stockade sandbox --profile workspace --network on -- pip install -r requirements.txt
  stockade sandbox --explain -- make
  stockade sandbox --read ~/data --write ./out --deny ./secrets -- python train.py

Nothing is decided here: whoever runs it has chosen the command, and the kernel holds it to the profile.
profiles: readonly (the default), workspace, strict; `stockade doctor` says what this machine can hold.

exit codes: the command's own (128+n for a signal); 124 it took too long, 125 it cannot be confined as required,
126 nobody agreed, 130 interrupted, 153 it printed too much, 2 usage."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade sandbox", description="Run one command in the kernel sandbox.", epilog=_EPILOG, formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument(
        "command",
        nargs="*",
        metavar="COMMAND",
        help="after `--`: one argument is bash text, several are a program and its arguments",
    )
    made.add_argument("--profile", choices=[p for p in PROFILES if p != "off"], default="readonly", help="how it is confined")
    made.add_argument("--network", choices=("off", "on"), default="off", help="whether it has the network (default off)")
    made.add_argument(
        "--read", metavar="DIR", action="append", default=[], help="a further folder that it may read; `all` for the whole disk"
    )
    made.add_argument("--write", metavar="DIR", action="append", default=[], help="a further folder that it may write")
    made.add_argument("--deny", metavar="PATH", action="append", default=[], help="a file or folder that it does not see")
    made.add_argument(
        "--unmask",
        metavar="PATH",
        action="append",
        default=[],
        help="a file that it sees although its name says that it holds secrets",
    )
    made.add_argument(
        "--env",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help="a variable that it gets, also one that would be dropped",
    )
    made.add_argument("--timeout", metavar="SECONDS", type=seconds, help="end it after this time")
    made.add_argument("--memory", metavar="SIZE", type=_size, help="how much memory it may use, as 512M or 2G")
    made.add_argument("--pids", metavar="N", type=_count, help="how many processes it may have at a time")
    made.add_argument("--file-size", metavar="SIZE", type=_size, help="how large a file of its may become")
    made.add_argument("--cpu", metavar="SECONDS", type=_count, help="how long each of its processes may compute")
    made.add_argument("--output", metavar="SIZE", type=_size, help="how much it may print")
    made.add_argument("--cwd", metavar="DIR", help="run in this folder")
    made.add_argument("--yes", action="store_true", help="run it without asking; needed where there is no terminal")
    made.add_argument("--explain", action="store_true", help="print the plan and run nothing")
    made.add_argument(
        "--json",
        action="store_true",
        help="print the plan (with --explain) or what happened as JSON, on standard error after a run",
    )
    made.add_argument("--report", metavar="FILE", help="write what happened as JSON")
    made.add_argument("--quiet", action="store_true", help="print nothing of our own unless something was refused or failed")
    return made


def _size(text: str) -> int:
    value = size(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("a size, as 512M or 2G")
    return value


def _count(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 1 << 31:
        raise argparse.ArgumentTypeError("a whole number above 0")
    return int(text)


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    if not options.command:
        raise UsageError("there is no command; write it after `--`")
    world = open_world(cwd=options.cwd)
    problems_to_stderr(world.loaded)
    env = _environment(options, world)
    try:
        prepared = _prepared(options, world, env)
    except ConfineError as error:
        say(f"stockade: {problem_text(error)}")
        return FAILED
    if options.explain:
        print(
            json.dumps(profile_json(prepared), indent=1)
            if options.json
            else plan_text(_shown(options.command), prepared, whole=True)
        )
        return 0
    return _ask_and_run(options, world, prepared)


def _environment(options: argparse.Namespace, world: World) -> ChildEnv:
    env = env_of(world.loaded.value, os.environ)
    for text in options.env:
        name, equals, value = text.partition("=")
        if not name or (not equals and name not in os.environ):
            raise UsageError(f"`--env {one_line(text)}`: there is no such variable; write NAME=VALUE")
        env.variables[name] = value if equals else os.environ[name]
    return env


def _prepared(options: argparse.Namespace, world: World, env: ChildEnv) -> Prepared:
    wanted = request(
        world.context._replace(env=env.variables), world.loaded.value,
        profile=PROFILES[options.profile], network=options.network,
        read=options.read, write=options.write, deny=options.deny, unmask=options.unmask,
    )  # fmt: skip
    given = {
        "seconds": options.timeout, "output": options.output, "memory": options.memory, "processes": options.pids,
        "file_size": options.file_size, "cpu_seconds": options.cpu,
    }  # fmt: skip
    limits = wanted.limits._replace(**{name: value for name, value in given.items() if value is not None})
    return prepare(wanted._replace(limits=limits), folder_of(world))


def folder_of(world: World) -> str:
    """Where the sandbox keeps what it knows of this machine, and what it put away."""
    return os.path.join(world.places.state, "sandbox")


def _shown(command: list[str]) -> str:
    return command[0] if len(command) == 1 else shlex.join(command)


def _argv(command: list[str]) -> list[str]:
    """One argument is bash text, as everywhere; several are a program and its arguments."""
    return ["/bin/bash", "--norc", "--noprofile", "-c", command[0]] if len(command) == 1 else command


def _ask_and_run(options: argparse.Namespace, world: World, prepared: Prepared) -> int:
    from stockade.store.switch import stopped

    if stopped(world.places.state):
        say("stockade: refused: everything is stopped (`stockade stop-all --off` lifts it)")
        return REFUSED
    if not options.quiet and (not options.yes or terminal()):
        say(plan_text(_shown(options.command), prepared, whole=False))
    if not options.yes:
        if not terminal():
            say("stockade: refused: it must ask, and there is no terminal to ask on; `--yes` runs it")
            return REFUSED
        if not _agreed():
            say("stockade: refused")
            return REFUSED
    record = _Record(world, prepared, _shown(options.command), "" if options.yes else "allowed")
    if not record.keep("start"):
        return FAILED
    try:
        done = confine(prepared, _argv(options.command), folder_of(world))
    except (NotConfined, OSError) as error:
        text = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
        say(f"stockade: it cannot be confined, and has not run: {one_line(text)} (see `stockade doctor`)")
        return FAILED
    except ConfineError as error:
        say(f"stockade: {problem_text(error)}")
        return FAILED
    code = STOPPED.get(done.ended.stopped, done.ended.code)
    record.keep("end", done, code)
    result = result_json(_shown(options.command), prepared, done, code) if options.json or options.report is not None else {}
    _report(options, result)
    if options.json:
        say(json.dumps(result))
    else:
        text = after_text(prepared, done, quiet=options.quiet)
        if text:
            say(text)
    return code


class _Record:
    """What the log keeps of a run: before it, and after it under the same id."""

    def __init__(self, world: World, prepared: Prepared, command: str, answer: str) -> None:
        from stockade.secrets.redact import redact, secret_values

        self.state = world.places.state
        self.value: dict[str, Any] = {
            "v": 1, "id": os.urandom(16).hex(), "event": "sandbox", "verdict": "allow", "rule": "sandbox", "answer": answer,
            "command": redact(command, secret_values(os.environ)), "cwd": prepared.plan.cwd, "profile": prepared.plan.profile,
            "network": prepared.plan.network, "user": os.getuid(),
        }  # fmt: skip

    def keep(self, phase: str, done: Confined | None = None, code: int | None = None) -> bool:
        """Stores it; says so and gives False where that is not possible."""
        from stockade.store.audit import append

        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        took = 0 if done is None else int(done.ended.seconds * 1000)
        try:
            append(self.state, {**self.value, "phase": phase, "time": when, "exit": code, "duration_ms": took})
        except OSError as error:
            begin = "not run: " if phase == "start" else ""
            say(f"stockade: {begin}the log in `{self.state}` cannot be written: {(error.strerror or '').lower()}")
            return False
        return True


def _agreed() -> bool:
    from stockade.cli.ask import key

    say(paint("  run it?  [y] yes   [n] no", "bold", on=colourful(sys.stderr)))
    return key() in ("y", "Y")


def _report(options: argparse.Namespace, value: dict[str, Any]) -> None:
    if options.report is None:
        return
    try:
        with open(options.report, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(value, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"the report `{options.report}` cannot be written: {(error.strerror or '').lower()}") from None
