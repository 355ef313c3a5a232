"""`stockade exec`: decide, ask where it must, run under the terms, record."""

from __future__ import annotations

import argparse
import json
import os
import signal as signals
import sys
import time
import uuid
from typing import Any, NamedTuple

from stockade.cli.args import Formatter, seconds
from stockade.cli.ask import Answer, ask, key, terminal
from stockade.cli.check import command_text
from stockade.cli.common import UsageError, World, open_world, problems_to_stderr
from stockade.cli.confined import after_text, problem_text
from stockade.cli.sandbox import folder_of
from stockade.cli.show import decision_json, decision_text
from stockade.cli.text import one_line, say, visible
from stockade.config.settings import PROFILES
from stockade.confine.plain import bash
from stockade.confine.run import NotConfined
from stockade.engine.confining import Confined, ConfineError, Prepared, confine, env_of, prepare, request
from stockade.engine.judge import judge
from stockade.engine.terms import widened
from stockade.model.action import command_action
from stockade.model.decision import Decision, digest
from stockade.model.verdict import Verdict

FAILED, REFUSED, TIMED_OUT = 125, 126, 124
_SIGNALS = frozenset(int(number) for number in signals.Signals)
UNCONFINED = "stockade: this runs unconfined: nothing but the decision stands between it and your files"
_EPILOG = """examples:
  stockade exec -- 'git status && ls -la | head'
  stockade exec --mode ask --timeout 60 -- npm test

exit codes: the command's own (128+n for a signal); 124 it took too long, 125 Stockade failed or
cannot confine it as required, 126 it was refused, 2 usage.
Without a terminal, what would ask is refused at once, naming the rule that would allow it."""


class Unconfined(Exception):
    """A command that was allowed and is not run, because nothing would confine it."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Outcome(NamedTuple):
    """What became of a command: `exit` is None where it did not run."""

    exit: int | None
    signal: int | None = None
    timed_out: bool = False
    duration_ms: int = 0
    withheld: tuple[str, ...] = ()


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade exec", description="Decide on a command, ask where it must, run it, record it.", epilog=_EPILOG,
        formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument(
        "command", nargs="*", metavar="COMMAND", help="after `--`: one argument is bash text, several are an argument vector"
    )
    made.add_argument("--mode", metavar="MODE", help="decide in this mode (see `stockade modes`)")
    made.add_argument("--cwd", metavar="DIR", help="run in this folder")
    made.add_argument("--config", metavar="FILE", help="use this configuration in place of the project's and the user's")
    made.add_argument("--profile", choices=tuple(PROFILES), help="how it is confined, in place of `sandbox.profile`")
    made.add_argument("--network", choices=("off", "on"), help="whether it has the network, in place of `sandbox.network`")
    made.add_argument("--timeout", metavar="SECONDS", type=seconds, help="stop the command after this time")
    made.add_argument("--report", metavar="FILE", help="write what happened as JSON")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    world = open_world(cwd=options.cwd, config=options.config, mode_name=options.mode)
    problems_to_stderr(world.loaded)
    session = _Exec(world, options)
    return session.go(command_text(options.command))


class _Exec:
    """One call of `exec`, from the decision to the record."""

    def __init__(self, world: World, options: argparse.Namespace) -> None:
        self.env = env_of(world.loaded.value, os.environ)
        home = self.env.variables.get("HOME") or world.context.home
        context = world.context._replace(env=self.env.variables, home=home)
        if options.profile is not None:
            context = context._replace(sandbox="" if PROFILES[options.profile] == "off" else PROFILES[options.profile])
        self.world = world._replace(context=context)  # what is decided on is what will run: in its own environment
        self.options = options
        self.policy = world.loaded.policy()
        self.id = uuid.uuid4().hex
        self.answer = Answer("")
        self.held: Confined | None = None

    def go(self, command: str) -> int:
        decision = self._decide(command)
        while decision.verdict is Verdict.ASK and terminal():
            shown = self._definitions(decision)
            self.answer = ask(decision)
            if self.answer.kind == "edited":
                decision = self._decide(self.answer.text)
                continue
            if self.answer.kind == "allowed" and shown != self._definitions(decision):
                say("stockade: refused: a file that defines what it runs has changed since you were asked")
                self.answer = Answer("")
                return self._refuse(decision)
            if self.answer.kind == "allowed":
                self._pin(decision, shown)
            break
        if decision.verdict is Verdict.DENY or (decision.verdict is Verdict.ASK and self.answer.kind != "allowed"):
            return self._refuse(decision)
        return self._run(decision)

    def _definitions(self, decision: Decision) -> dict[str, str]:
        """The files that define what would run; only pinned rules need them here."""
        if not self.policy.pinned:
            return {}
        from stockade.engine.definitions import definitions

        return definitions(decision.analysis, self.world.context)

    def _pin(self, decision: Decision, shown: dict[str, str]) -> None:
        """Remembers what a person has agreed to under a pinned rule."""
        names = [self.policy.pinned[c.rule] for c in decision.checks if c.verdict is Verdict.ASK and c.rule in self.policy.pinned]
        if names:
            from stockade.store.pins import pin

            pin(self.world.places.pins_file, self.world.context.workspace, names, shown)

    def _decide(self, command: str) -> Decision:
        return judge(command_action(command), self.world.context, self.policy)

    def _refuse(self, decision: Decision) -> int:
        if decision.verdict is Verdict.DENY or self.answer.kind == "":
            say(decision_text(decision, stream=sys.stderr))
        if decision.verdict is Verdict.DENY:
            say("stockade: refused")
        elif self.answer.kind == "":
            say("stockade: refused: it must ask, and there is no terminal to ask on")
        else:
            say("stockade: refused" + (f": {visible(self.answer.text)}" if self.answer.text else ""))
        self._record(decision, Outcome(None), "refused")
        return self._report(decision, Outcome(None), REFUSED)

    def _run(self, decision: Decision) -> int:
        frozen = self._digest(decision)
        try:
            prepared = self._prepared(decision)
        except Unconfined as error:
            self._record(decision, Outcome(None), "refused")
            return self._report(decision, Outcome(None), error.code)
        if not self._record(decision, Outcome(None), "start"):
            return FAILED
        if self._digest(decision) != frozen:
            say("stockade: refused: the command is not the one that was approved")
            return REFUSED
        if self.env.withheld:
            say(f"stockade: withheld from it: {', '.join(visible(n) for n in self.env.withheld)} (`child_env.strip_secrets`)")
        try:
            outcome = self._child(decision.action.command) if prepared is None else self._confined(decision, prepared)
        except (OSError, NotConfined) as error:
            text = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            say(f"stockade: the command cannot be started: {one_line(text[:1].lower() + text[1:])}")
            return self._report(decision, Outcome(None), FAILED)
        except ConfineError as error:
            say(f"stockade: it has run; {problem_text(error)}")
            self._record(decision, Outcome(None), "end")
            return self._report(decision, Outcome(None), FAILED)
        self._record(decision, outcome, "end")
        code = TIMED_OUT if outcome.timed_out else 128 + outcome.signal if outcome.signal else outcome.exit
        return self._report(decision, outcome, int(code or 0))

    def _digest(self, decision: Decision) -> str:
        return digest(decision.action, self.world.context.cwd, self.world.context.sandbox)

    # -- confined --------------------------------------------------------------------------------

    def _prepared(self, decision: Decision) -> Prepared | None:
        """The sandbox of an allowed command; None where it runs unconfined by a person's word.

        Raises Unconfined where that is not to be.
        """
        value = self.world.loaded.value
        if not self.world.context.sandbox:
            if value("sandbox.required"):
                say("stockade: refused: `sandbox.required` is set, and the profile is `off`")
                raise Unconfined(FAILED)
            say(UNCONFINED)
            return None
        try:
            changes: dict[str, Any] = {"profile": self.world.context.sandbox}
            if self.options.network is not None:
                changes["network"] = self.options.network
            wide = widened(decision, request(self.world.context, value, **changes), approved=self.answer.kind == "allowed")
            for reason in wide.reasons:
                say(f"stockade: for this command {one_line(reason)}")
            limits = wide.request.limits._replace(seconds=self.options.timeout)
            return prepare(wide.request._replace(limits=limits), folder_of(self.world))
        except ConfineError as error:
            self._weaker(error)
            return None

    def _weaker(self, error: ConfineError) -> None:
        """What cannot be confined runs only if a person agrees, and never where a sandbox is required."""
        say(f"stockade: {problem_text(error)}")
        if self.world.loaded.value("sandbox.required"):
            say("stockade: refused: `sandbox.required` is set")
            raise Unconfined(FAILED)
        if not terminal():
            say("stockade: refused: it would run unconfined, and there is no terminal to ask on")
            raise Unconfined(REFUSED)
        say("  run it unconfined?  [y] yes   [n] no")
        if key() not in ("y", "Y"):
            raise Unconfined(REFUSED)
        self.world = self.world._replace(context=self.world.context._replace(sandbox=""))

    def _confined(self, decision: Decision, prepared: Prepared) -> Outcome:
        argv = [bash(), "--norc", "--noprofile", "-c", decision.action.command]
        done = confine(prepared, argv, folder_of(self.world))
        text = after_text(prepared, done, quiet=True)
        if text:
            say(text)
        self.held = done
        code = done.ended.code
        if done.ended.stopped == "interrupt":
            code = 130
        number = code - 128 if code > 128 and code - 128 in _SIGNALS else None
        took = int(done.ended.seconds * 1000)
        return Outcome(None if number else code, number, done.ended.stopped == "time", took, self.env.withheld)

    def _child(self, command: str) -> Outcome:
        from stockade.confine.plain import run_bash

        env = self.env
        begin = time.monotonic()
        ended = run_bash(command, cwd=self.world.context.cwd, env=env.variables, timeout=self.options.timeout)
        took = int((time.monotonic() - begin) * 1000)
        if ended.timed_out:
            say(f"stockade: stopped after {self.options.timeout:g} s")
        signal = -ended.code if ended.code < 0 else None
        return Outcome(None if signal else ended.code, signal, ended.timed_out, took, env.withheld)

    def _sandbox_json(self) -> dict[str, Any]:
        done = self.held
        if done is None:
            return {"confined": "none"}
        return {
            "confined": "full" if all(control.level == "full" for control in done.controls) else "partial",
            "profile": self.world.context.sandbox, "controls": [control._asdict() for control in done.controls],
            "refused": [refusal._asdict() for refusal in done.refused],
            "quarantined": [moved._asdict() for moved in done.moved],
        }  # fmt: skip

    # -- what is kept ----------------------------------------------------------------------------

    def _record(self, decision: Decision, outcome: Outcome, phase: str) -> bool:
        """Stores the decision, redacted; says so and gives False where that is not possible."""
        from stockade.secrets.redact import redact, secret_values
        from stockade.store.audit import append

        secrets = secret_values(os.environ)
        record: dict[str, Any] = {
            "v": 1, "id": self.id, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": "exec", "phase": phase,
            "verdict": str(decision.verdict), "rule": decision.rule, "layer": decision.layer,
            "reason": redact(decision.reason, secrets), "risk": decision.risk, "mode": decision.mode,
            "digest": self._digest(decision), "command": redact(decision.action.command, secrets),
            "cwd": self.world.context.cwd, "workspace": self.world.context.workspace, "answer": self.answer.kind,
            "answer_reason": redact(self.answer.text, secrets) if self.answer.kind == "refused" else "",
            "exit": outcome.exit, "signal": outcome.signal, "timed_out": outcome.timed_out, "duration_ms": outcome.duration_ms,
            "user": os.getuid(),
        }  # fmt: skip
        try:
            append(self.world.places.state, record)
        except OSError as error:
            say(f"stockade: not run: the log in `{self.world.places.state}` cannot be written: {(error.strerror or '').lower()}")
            return False
        return True

    def _report(self, decision: Decision, outcome: Outcome, code: int) -> int:
        if self.options.report is None:
            return code
        value = {
            "v": 1, "command": decision.action.command, "decision": decision_json(decision, self.world.context),
            "answer": self.answer.kind, "ran": outcome.exit is not None or outcome.signal is not None, "exit": outcome.exit,
            "signal": outcome.signal, "timed_out": outcome.timed_out, "duration_ms": outcome.duration_ms,
            "cwd": self.world.context.cwd, "withheld": list(outcome.withheld), "code": code,
            **self._sandbox_json(),
        }  # fmt: skip
        try:
            with open(self.options.report, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(value, ensure_ascii=True, indent=1) + "\n")
        except OSError as error:
            raise UsageError(f"the report `{self.options.report}` cannot be written: {(error.strerror or '').lower()}") from None
        return code
