"""`stockade check --batch`: JSON lines in, JSON lines out, in the same order, each flushed."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable
from typing import Any, BinaryIO, TextIO

from stockade.cli.common import World
from stockade.engine.judge import judge
from stockade.model.action import Action, ActionError, command_action, from_tool
from stockade.model.context import Context
from stockade.policy.modes import ModeError, mode
from stockade.policy.policy import Policy

MAX_LINE = 4 << 20
_KEYS = frozenset(("id", "command", "cwd", "mode", "tool", "input"))


class BadLine(ValueError):
    """A line that cannot be judged; `code` is stable."""

    def __init__(self, code: str, message: str, ident: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.ident = ident


def batch(source: BinaryIO, sink: TextIO, world: World) -> int:
    """Judges every line; 0, or 2 if any line was bad."""
    policies: dict[str, Policy] = {}
    bad = False
    for number, raw in enumerate(_lines(source), 1):
        if not raw.strip():
            continue
        try:
            answer = _answer(raw, world, policies)
        except BadLine as error:
            bad = True
            answer = {"id": error.ident, "verdict": "deny", "error": {"code": error.code, "message": str(error), "line": number}}
        sink.write(json.dumps(answer, ensure_ascii=True, separators=(",", ":")) + "\n")
        sink.flush()
    return 2 if bad else 0


def _lines(source: BinaryIO) -> Iterable[bytes]:
    while True:
        line = source.readline(MAX_LINE)
        if not line:
            return
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (more := source.readline(MAX_LINE)) and not more.endswith(b"\n"):
                pass
        yield line


def _answer(raw: bytes, world: World, policies: dict[str, Policy]) -> dict[str, Any]:
    value = _object(raw)
    ident = value.get("id")
    action = _action(value, ident)
    name = value.get("mode")
    if name is not None and not isinstance(name, str):
        raise BadLine("bad-mode", "`mode` is a text", ident)
    policy = policies.get(name or "")
    if policy is None:
        policy = policies[name or ""] = _policy(world, name, ident)
    decision = judge(action, _context(value, world.context, ident), policy, look=world.look)
    return {
        "id": ident,
        "verdict": str(decision.verdict),
        "rule": decision.rule,
        "layer": decision.layer,
        "reason": decision.reason,
    }


def _object(raw: bytes) -> dict[str, Any]:
    if len(raw) >= MAX_LINE:
        raise BadLine("line-too-long", f"a line is limited to {MAX_LINE} bytes")
    try:
        value = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise BadLine("encoding", "the line is not valid UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BadLine("json", f"the line is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadLine("not-an-object", "a line is a JSON object with `command`, or `tool` and `input`")
    odd = sorted(set(value) - _KEYS)
    if odd:
        raise BadLine("unknown-key", f"unknown key `{odd[0]}`; known are {', '.join(sorted(_KEYS))}", value.get("id"))
    return value


def _action(value: dict[str, Any], ident: Any) -> Action:
    if "tool" in value:
        given = value.get("input")
        if not isinstance(value["tool"], str) or not isinstance(given, dict):
            raise BadLine("bad-tool", "`tool` is a name and `input` an object", ident)
        try:
            return from_tool(value["tool"], given)
        except ActionError as error:
            raise BadLine("bad-tool", str(error), ident) from None
    command = value.get("command")
    if not isinstance(command, str) or not command.strip():
        raise BadLine("no-command", "`command` is a text that is not empty", ident)
    return command_action(command)


def _policy(world: World, name: str | None, ident: Any) -> Policy:
    try:
        return world.loaded.policy(mode_name=mode(name).name if name else "")
    except ModeError as error:
        raise BadLine("bad-mode", str(error), ident) from None


def _context(value: dict[str, Any], context: Context, ident: Any) -> Context:
    cwd = value.get("cwd")
    if cwd is None:
        return context
    if not isinstance(cwd, str) or not cwd.startswith("/"):
        raise BadLine("bad-cwd", "`cwd` is an absolute path", ident)
    return context._replace(cwd=posixpath.normpath(cwd))
