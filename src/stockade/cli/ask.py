"""Asking a person in the terminal: one key, the whole command in view, nothing hidden in it."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from stockade.cli.text import colourful, marked, one_line, paint, say, visible
from stockade.model.decision import Decision

_KEYS = "[y] run it once   [n] refuse   [r] refuse, with a reason   [e] edit the command   [?] explain"


class Answer(NamedTuple):
    """`kind` is `allowed`, `refused`, `edited`, or empty where nobody was asked; `text` a reason or the new command."""

    kind: str
    text: str = ""


def terminal() -> bool:
    """Whether there is a person to ask: input and errors both go to a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def card(decision: Decision, *, on: bool) -> str:
    """What is to be decided: the command, why it asks, how grave it is."""
    lines = ["", paint("Stockade asks", "yellow", "bold", on=on) + f"  {decision.rule}  risk: {decision.risk}", ""]
    shown = marked(decision.action.command, decision.start, decision.end, on=on)
    lines.extend("    " + line for line in shown.split("\n"))
    lines += ["", f"  why: {one_line(decision.reason)}"]
    for check in decision.checks:
        if check.verdict is decision.verdict and check.reason != decision.reason:
            lines.append(f"  and: {one_line(check.reason)}")
    if decision.suggestion:
        lines.append(f"  to allow it always: {one_line(decision.suggestion)}")
    lines += ["", "  " + _KEYS]
    return "\n".join(lines)


def ask(decision: Decision) -> Answer:
    """Shows the card and waits for one key; end of input refuses."""
    on = colourful(sys.stderr)
    say(card(decision, on=on))
    while True:
        pressed = key()
        if pressed in ("y", "Y"):
            return Answer("allowed")
        if pressed in ("n", "N", "\x03", "\x04", "\x1b", ""):
            return Answer("refused")
        if pressed in ("r", "R"):
            return Answer("refused", _line("reason: "))
        if pressed in ("e", "E"):
            text = _edited(decision.action.command)
            return Answer("edited", text) if text.strip() else Answer("refused")
        if pressed == "?":
            say(_explained(decision))
        say("  " + _KEYS)


def key() -> str:
    """One key without waiting for the line to end."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        termios.tcflush(descriptor, termios.TCIFLUSH)  # what was typed before the question is no answer to it
        data = os.read(descriptor, 1)
    except KeyboardInterrupt:
        return "\x03"
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    return data.decode("latin-1")


def _line(prompt: str) -> str:
    try:
        sys.stderr.write(f"  {prompt}")
        sys.stderr.flush()
        return sys.stdin.readline().strip()
    except KeyboardInterrupt:
        return ""


def _edited(command: str) -> str:
    """The command as the person changes it: on one line here, or in their editor."""
    if "\n" in command:
        return _in_editor(command)
    import readline

    readline.set_startup_hook(lambda: readline.insert_text(command))
    try:
        return input("  command: ")
    except (EOFError, KeyboardInterrupt):
        return ""
    finally:
        readline.set_startup_hook(None)


def _in_editor(command: str) -> str:
    import shlex
    import subprocess

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    import tempfile  # only here: it takes longer to load than the rest of a question

    with tempfile.NamedTemporaryFile("w+", suffix=".sh", encoding="utf-8") as stream:
        stream.write(command)
        stream.flush()
        try:
            done = subprocess.run([*shlex.split(editor), stream.name], check=False).returncode
        except OSError as error:
            say(f"  the editor `{visible(editor)}` cannot be started: {error.strerror}")
            return ""
        stream.seek(0)
        return stream.read() if done == 0 else ""


def _explained(decision: Decision) -> str:
    lines = []
    for check in decision.checks:
        lines.append(f"  {check.key:<19} {check.verdict!s:<6} {check.rule:<32} {one_line(check.reason)}")
    for segment in decision.analysis.segments if decision.analysis is not None else ():
        if segment.argv:
            lines.append("  runs: " + one_line(" ".join("…" if w is None else w for w in segment.argv)))
    return "\n".join(lines)
