"""`stockade inspect`: what is in effect here, and where each of it comes from."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from stockade.cli.args import Formatter
from stockade.cli.common import World, open_world
from stockade.cli.config import places_of, problem_lines
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint
from stockade.config.layers import PROJECT_FILE, Effective
from stockade.config.settings import SETTINGS
from stockade.model.action import TOOL_KEYS
from stockade.policy.policy import Policy
from stockade.policy.rules import Rule
from stockade.store.switch import stopped

_EPILOG = """examples:
  stockade inspect
  stockade inspect --json | jq '.settings.posture'

Rules stand in their order of precedence: the last one that matches wins. What is `held` belongs to a
file that is not trusted (see `stockade trust`), and can only make an answer stricter.

exit codes: 0, 2 usage"""
_COLOUR = {"allow": "green", "ask": "yellow", "deny": "red"}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade inspect", description="Show every effective setting and rule, with layer, file and line.",
        epilog=_EPILOG, formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("--json", action="store_true", help="print all of it as JSON")
    made.add_argument("--config", metavar="FILE", help="use this configuration in place of the project's and the user's")
    made.add_argument("--context", metavar="FILE", help="inspect for the machine that this JSON file describes")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    world = open_world(config=options.config, context_file=options.context)
    policy = world.loaded.policy()
    if options.json:
        print(json.dumps(_json(world, policy), ensure_ascii=True))
        return 0
    on = colourful(sys.stdout)
    blocks = [_head(world, policy, on=on), _files(world, on=on), _settings(world, on=on), _held(world, on=on)]
    blocks += [_rules(policy, on=on), _hidden(policy, on=on), _problems(world, on=on)]
    print("\n\n".join("\n".join(block) for block in blocks if block))
    return 0


def origin(item: Effective | Rule) -> str:
    """`file:line`, or the name of what is built in."""
    return one_line(f"{item.file}:{item.line}" if item.line else item.file or "the command line")


def hidden_tools(policy: Policy) -> list[str]:
    """Tools that are not offered to a model: the last rule of their key denies everything."""
    hidden = policy.hidden()
    return sorted(tool for tool, key in TOOL_KEYS.items() if key in hidden)


def trust_state(world: World) -> str:
    """`none` (no project file), `trusted`, `held`, or `tightens only` where nothing in it is held."""
    if not world.loaded.project_digest:
        return "none"
    if world.loaded.trusted:
        return "trusted"
    return "held" if any(item.layer == "project" for item in world.loaded.held) else "tightens only"


# -- for a person ---------------------------------------------------------------------------------


def _head(world: World, policy: Policy, *, on: bool) -> list[str]:
    loaded, context = world.loaded, world.context
    mode = loaded.settings["permission_mode"]
    configured = loaded.value("posture")
    posture = policy.posture + (f" (of the mode; `{one_line(configured)}` is configured)" if configured != policy.posture else "")
    trust = {
        "none": "no project file", "trusted": f"{PROJECT_FILE} is trusted", "tightens only": f"{PROJECT_FILE} only tightens",
        "held": f"{PROJECT_FILE} is not trusted: what loosens is held (see `stockade trust`)",
    }[trust_state(world)]  # fmt: skip
    shown = f"{paint(policy.mode.name, 'bold', on=on)}, {policy.mode.meaning}"
    rows = [["workspace", one_line(context.workspace)], ["mode", shown]]
    rows += [["", f"set by {mode.layer} ({origin(mode)})"], ["posture", posture], ["trust", trust]]
    reason = stopped(context.state) if world.look and context.state else None
    if reason is not None:
        rows.append(["stopped", paint(f"everything is refused: {one_line(reason)}", "red", on=on)])
    return table(rows)


def _files(world: World, *, on: bool) -> list[str]:
    rows = [["builtin", "read", f.file] for f in world.loaded.files if f.layer == "builtin"]
    rows += [[p.layer, "read" if p.exists else paint("not there", "dim", on=on), one_line(p.path)] for p in places_of(world)]
    return [paint("files, lowest layer first", "bold", on=on), *table(rows, indent="  ")] if rows else []


def _settings(world: World, *, on: bool) -> list[str]:
    rows = []
    for setting in SETTINGS:
        item = world.loaded.settings[setting.name]
        builtin = item.layer == "builtin" and item.file == "default"
        where = paint("default", "dim", on=on) if builtin else f"{item.layer}  {origin(item)}"
        rows.append([setting.name, one_line(value_text(item.value)), where])
    return [paint("settings", "bold", on=on), *table(rows, indent="  ")]


def _held(world: World, *, on: bool) -> list[str]:
    held = world.loaded.held
    rows = [[one_line(item.name), one_line(value_text(item.value)), f"{item.layer}  {origin(item)}"] for item in held]
    return [paint("held", "bold", on=on), *table(rows, indent="  ")] if rows else []


def _rules(policy: Policy, *, on: bool) -> list[str]:
    rows = []
    for rule in policy.rules:
        verdict = paint(str(rule.verdict), _COLOUR[str(rule.verdict)], on=on)
        held = paint("  held", "yellow", on=on) if rule.held else "  pinned" if rule.pinned else ""
        rows.append([rule.key, one_line(rule.pattern), verdict, rule.layer, origin(rule) + held])
    return [paint("rules, the last one that matches wins", "bold", on=on), *table(rows, indent="  ")]


def _hidden(policy: Policy, *, on: bool) -> list[str]:
    tools = hidden_tools(policy)
    return [paint("tools not offered to a model", "bold", on=on), "  " + ", ".join(tools)] if tools else []


def _problems(world: World, *, on: bool) -> list[str]:
    lines = [line for problem in world.loaded.problems for line in problem_lines(problem, "", on=on)]
    return [paint("problems", "bold", on=on), *("  " + line for line in lines)] if lines else []


def value_text(value: Any) -> str:
    """A value as TOML has it, near enough to be read."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()) + " }" if value else "{}"
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


# -- for a program --------------------------------------------------------------------------------


def _json(world: World, policy: Policy) -> dict[str, Any]:
    loaded = world.loaded
    return {
        "v": 1,
        "cwd": world.context.cwd,
        "workspace": world.context.workspace,
        "mode": policy.mode.name,
        "posture": policy.posture,
        "settings": {name: _effective(item) for name, item in loaded.settings.items()},
        "held": [{"name": item.name, **_effective(item)} for item in loaded.held],
        "rules": [_rule(rule) for rule in policy.rules],
        "hidden": {"keys": sorted(policy.hidden()), "tools": hidden_tools(policy)},
        "files": [{"layer": p.layer, "path": p.path, "exists": p.exists} for p in places_of(world)],
        "preset": next((os.path.basename(f.file) for f in loaded.files if f.layer == "builtin"), None),
        "trust": {"state": trust_state(world), "trusted": loaded.trusted, "sha256": loaded.project_digest},
        "stopped": stopped(world.context.state) if world.look and world.context.state else None,
        "problems": [problem._asdict() for problem in loaded.problems],
    }


def _effective(item: Effective) -> dict[str, Any]:
    return {"value": item.value, "layer": item.layer, "file": item.file, "line": item.line, "held": item.held}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "rule": rule.id, "key": rule.key, "pattern": rule.pattern, "verdict": str(rule.verdict), "layer": rule.layer,
        "file": rule.file, "line": rule.line, "held": rule.held, "pinned": rule.pinned, "origin": rule.origin,
    }  # fmt: skip
