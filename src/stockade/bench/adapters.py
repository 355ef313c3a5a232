"""How a guard is asked about one command: the event that its host would send, and what its reply means.

Protocols as their hosts document them; each is one row of `ADAPTERS`.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

SILENT = "silent"
"""The guard has no objection: the command runs if nobody else stops it."""
ERROR = "error"
TIMEOUT = 20.0  # seconds for one answer


class Adapter(NamedTuple):
    """`event` makes the input for a command in a folder; `answer` reads exit code, output and error output."""

    name: str
    event: Callable[[str, str], str]
    answer: Callable[[int, str], str]
    resident: bool = False
    last_word: bool = False
    """The command is the last word of the guard's own argument vector, and nothing stands on its input."""


def _claude(command: str, cwd: str) -> str:
    return json.dumps({
        "session_id": "bench", "transcript_path": "/dev/null", "cwd": cwd, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "bench",
    })  # fmt: skip


def _gemini(command: str, cwd: str) -> str:
    return json.dumps({
        "session_id": "bench", "cwd": cwd, "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
        "tool_input": {"command": command},
    })  # fmt: skip


def _cursor(command: str, cwd: str) -> str:
    return json.dumps({
        "conversation_id": "bench", "hook_event_name": "beforeShellExecution", "workspace_roots": [cwd], "command": command,
        "cwd": cwd,
    })  # fmt: skip


def _copilot(command: str, cwd: str) -> str:
    return json.dumps({"sessionId": "bench", "cwd": cwd, "toolName": "bash", "toolArgs": json.dumps({"command": command})})


def _lines(command: str, cwd: str) -> str:
    return json.dumps({"id": 1, "command": command, "cwd": cwd})


def _nothing(command: str, cwd: str) -> str:
    return ""


def _hook(*path: str) -> Callable[[int, str], str]:
    """The reading of a hook's reply: exit code 2 refuses, else JSON with the decision at `path`."""

    def answer(code: int, out: str) -> str:
        if code == 2:
            return "deny"
        if code != 0:
            return ERROR
        if not out.strip():
            return SILENT
        try:
            value: Any = json.loads(out)
        except ValueError:
            return SILENT
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return {"allow": "allow", "approve": "allow", "ask": "ask", "deny": "deny", "block": "deny"}.get(str(value), SILENT)

    return answer


def _exit(code: int, out: str) -> str:
    return {0: "allow", 10: "ask", 11: "deny"}.get(code, ERROR)


ADAPTERS: Mapping[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        Adapter("claude-hook", _claude, _hook("hookSpecificOutput", "permissionDecision")),
        Adapter("gemini-hook", _gemini, _hook("decision")),
        Adapter("cursor-hook", _cursor, _hook("permission")),
        Adapter("copilot-hook", _copilot, _hook("permissionDecision")),
        Adapter("stdin-json", _lines, _exit, resident=True),
        Adapter("exit-code", _nothing, _exit, last_word=True),
    )
}


def once(argv: list[str], adapter: Adapter, command: str, *, cwd: str, env: Mapping[str, str]) -> str:
    """The answer of a guard that is started for this one command."""
    words = [*argv, command] if adapter.last_word else argv
    try:
        done = subprocess.run(
            words, input=adapter.event(command, cwd), capture_output=True, text=True, errors="replace", cwd=cwd, env=env,
            timeout=TIMEOUT, check=False,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, ValueError, OSError):  # ValueError: a NUL in an argument
        return ERROR
    return adapter.answer(done.returncode, done.stdout)


class Resident:
    """A guard that stays: a line of JSON in, a line of JSON out."""

    def __init__(self, argv: list[str], *, cwd: str, env: Mapping[str, str]) -> None:
        self._child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=cwd, env=env, text=True,
        )  # fmt: skip
        self._cwd = cwd

    def ask(self, command: str) -> str:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(_lines(command, self._cwd) + "\n")
            self._child.stdin.flush()
            value = json.loads(self._child.stdout.readline())
        except (OSError, ValueError):
            return ERROR
        verdict = value.get("verdict") if isinstance(value, dict) else None
        return verdict if verdict in ("allow", "ask", "deny") else ERROR

    def close(self) -> None:
        self._child.kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout):
            with contextlib.suppress(OSError):  # what was not written yet goes nowhere
                if stream is not None:
                    stream.close()
