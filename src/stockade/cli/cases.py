"""Files of policy cases: what should be answered, one case a line of JSON or a TOML table."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from stockade.model.action import Action, ActionError, command_action, from_tool
from stockade.model.verdict import Verdict
from stockade.policy.modes import ModeError, mode

KEYS = ("command", "tool", "input", "mode", "cwd", "want", "want_rule", "note")


class Case(NamedTuple):
    """One question with the answer that is wanted; `mode`, `cwd` and `want_rule` may be empty."""

    file: str
    line: int
    action: Action
    want: Verdict
    want_rule: str = ""
    mode: str = ""
    cwd: str = ""
    note: str = ""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def shown(self) -> str:
        """What is asked, in a few words."""
        action = self.action
        return action.command or f"{action.tool} {' '.join(action.paths) or action.subject}"


class CaseError(ValueError):
    """A case that cannot be asked; the message says what to write instead."""


class Cases(NamedTuple):
    """The cases of a file, and what is wrong with it as `file:line: message`."""

    cases: tuple[Case, ...]
    problems: tuple[str, ...]


def read_cases(text: str, file: str, workspace: str) -> Cases:
    """The cases of a file; every problem of it at once.  A relative `cwd` lies in the workspace."""
    found: list[Case] = []
    problems: list[str] = []
    entries = _toml(text) if file.endswith(".toml") else _lines(text)
    try:
        for line, value in entries:
            try:
                found.append(_case(value, file, line, workspace))
            except CaseError as error:
                problems.append(f"{file}:{line}: {error}")
    except CaseError as error:
        problems.append(f"{file}: {error}")
    if not found and not problems:
        problems.append(f"{file}: no case stands in it; write one with `command` and `want`")
    return Cases(tuple(found), tuple(problems))


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, CaseError(f"not valid JSON: {error}")


def _toml(text: str) -> Iterator[tuple[int, Any]]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CaseError(f"not valid TOML: {error}") from None
    odd = sorted(set(table) - {"case"})
    if odd:
        raise CaseError(f"unknown key `{odd[0]}`; cases stand in `[[case]]` tables")
    cases = table.get("case", [])
    if not isinstance(cases, list):
        raise CaseError("`case` is a list of tables; write `[[case]]` above each")
    heads = [number for number, line in enumerate(text.split("\n"), 1) if re.match(r"\s*\[\[\s*[\"']?case[\"']?\s*\]\]", line)]
    for at, value in enumerate(cases):
        yield heads[at] if len(heads) == len(cases) else 0, value


def _case(value: Any, file: str, line: int, workspace: str) -> Case:
    if isinstance(value, CaseError):
        raise value
    if not isinstance(value, dict):
        raise CaseError("a case is an object with `command`, or `tool` and `input`, and `want`")
    odd = sorted(set(value) - set(KEYS))
    if odd:
        raise CaseError(f"unknown key `{odd[0]}`; known are {', '.join(KEYS)}")
    for key in ("mode", "cwd", "want_rule", "note"):
        if not isinstance(value.get(key, ""), str):
            raise CaseError(f"`{key}` is a text")
    if value.get("want") not in ("allow", "ask", "deny"):
        raise CaseError("`want` is allow, ask or deny")
    cwd = posixpath.normpath(posixpath.join(workspace, value["cwd"])) if value.get("cwd") else ""
    return Case(
        file, line, _action(value), Verdict.parse(value["want"]), value.get("want_rule", ""), _mode(value.get("mode", "")), cwd,
        value.get("note", ""),
    )  # fmt: skip


def _mode(name: str) -> str:
    try:
        return mode(name).name if name else ""
    except ModeError as error:
        raise CaseError(str(error)) from None


def _action(value: dict[str, Any]) -> Action:
    command, tool, given = value.get("command"), value.get("tool"), value.get("input")
    if (command is None) == (tool is None):
        raise CaseError("a case has `command`, or `tool` and `input`")
    if tool is None:
        if not isinstance(command, str) or not command.strip() or given is not None:
            raise CaseError("`command` is a text that is not empty, and stands without `input`")
        return command_action(command)
    if not isinstance(tool, str) or not isinstance(given, dict):
        raise CaseError("`tool` is a name, and `input` an object")
    try:
        return from_tool(tool, given)
    except ActionError as error:
        raise CaseError(str(error)) from None
