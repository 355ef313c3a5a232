"""`stockade explain`: every rule, segment and finding behind a decision, and what would change it.

The decision is made by the same function as that of `check` and `exec`, with its trace switched on.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import Any, NamedTuple

from stockade.cli import check as check_command
from stockade.cli.common import World, open_world, problems_to_stderr, short
from stockade.cli.show import decision_json, decision_text
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint
from stockade.engine.judge import judge
from stockade.model.action import Action
from stockade.model.context import Context
from stockade.model.decision import CheckResult, Decision
from stockade.model.effects import Effect, Kind, Segment
from stockade.model.verdict import EXIT_CODE, Verdict
from stockade.policy.findings import words_of
from stockade.policy.modes import MODES
from stockade.policy.rules import RANK, Rule

_EPILOG = """examples:
  stockade explain -- 'git status && rm -rf build'
  stockade explain --mode ask --json -- npm test
  stockade explain --tool read_file --input '{"path": ".env"}'

exit codes: 0 allow, 10 ask, 11 deny, 2 usage"""
_COLOUR = {"allow": "green", "ask": "yellow", "deny": "red"}
_ON_PATHS = {
    Kind.READ: "reads", Kind.LIST: "lists", Kind.WRITE: "writes", Kind.EDIT: "changes", Kind.DELETE: "removes",
    Kind.MODE: "changes the permissions or owner of", Kind.DISK: "overwrites the device or image",
}  # fmt: skip
_PLAIN = {
    Kind.EXECUTE: "runs code of the project", Kind.NETWORK: "contacts another machine",
    Kind.INSTALL: "installs, updates or publishes packages", Kind.PRIVILEGE: "raises privilege or changes the system",
    Kind.DESTRUCTIVE: "destroys data", Kind.SECRET: "prints or reads credentials",
    Kind.PROCESS: "signals or changes other processes",
    Kind.SERVICE: "speaks to a service of this machine", Kind.VCS: "changes the repository",
    Kind.FORCED_PUSH: "overwrites a remote branch", Kind.HIJACK: "changes what runs", Kind.UNKNOWN: "not known",
    Kind.FLOOR: "is of the kind that is always refused",
}  # fmt: skip


# A suggestion is pieces of a configuration with `; ` between them.  That can stand inside a subject
# too, but no subject holds a quotation mark.
_PIECES = re.compile(r'(?:(?<=")|(?<=" \})); (?=permission_mode = |"Bash\(|[a-z_]+ = \{)')


class Changes(NamedTuple):
    """What would change the answer: the suggestion, what is answered with it, and the verdict in every mode."""

    pieces: tuple[str, ...]
    after: Decision | None
    modes: dict[str, Verdict]


def parser() -> argparse.ArgumentParser:
    made = check_command.parser("explain", "Show every rule, segment and finding behind a decision. Nothing is run.")
    made.epilog = _EPILOG
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    world = open_world(cwd=options.cwd, config=options.config, context_file=options.context, mode_name=options.mode)
    problems_to_stderr(world.loaded)
    action = check_command.action_of(options.command, options.tool, options.input)
    decision = judge(action, world.context, world.loaded.policy(trace=True), look=world.look)
    changes = _changes(decision, action, world)
    if options.json:
        print(json.dumps(_json(decision, changes, world), ensure_ascii=True))
    else:
        print("\n\n".join("\n".join(block) for block in _text(decision, changes, world) if block))
    return EXIT_CODE[decision.verdict]


# -- what would change it -------------------------------------------------------------------------


def _changes(decision: Decision, action: Action, world: World) -> Changes:
    """Decides again: in every mode, and with what the decision suggests."""
    loaded, context, look = world.loaded, world.context, world.look
    modes = {m.name: judge(action, context, loaded.policy(mode_name=m.name), look=look).verdict for m in MODES}
    pieces = tuple(_PIECES.split(decision.suggestion)) if decision.suggestion else ()
    read = _suggested(pieces)
    if not pieces or read is None:
        return Changes(pieces, None, modes)
    rules, mode_name = read
    # As the user's own last rules: managed ones still stand behind them.
    joined = tuple(sorted((*loaded.rules, *rules), key=lambda rule: RANK[rule.layer]))
    policy = loaded._replace(rules=joined).policy(mode_name=mode_name or decision.mode)
    return Changes(pieces, judge(action, context, policy, look=look), modes)


def _suggested(pieces: tuple[str, ...]) -> tuple[tuple[Rule, ...], str] | None:
    """The rules and the mode of a suggestion; None where it is no configuration that loads."""
    from stockade.config.read import read_text

    rules: list[Rule] = []
    mode_name = ""
    for piece in pieces:
        head = "" if piece.startswith("permission_mode = ") else "[permission]\n"
        file = read_text(f"version = 1\n{head}{piece}\n", file="suggestion", layer="user")
        if file.broken:
            return None
        rules += file.rules
        mode_name = next((str(v.value) for v in file.values if v.name == "permission_mode"), mode_name)
    return tuple(rules), mode_name


# -- for a program --------------------------------------------------------------------------------


def _json(decision: Decision, changes: Changes, world: World) -> dict[str, Any]:
    value = decision_json(decision, world.context, whole=True)
    value["rules"] = matching(decision, value["checks"], world)
    value["would_change"] = {
        "suggestion": decision.suggestion or None,
        "verdict_with_it": str(changes.after.verdict) if changes.after is not None else None,
        "modes": {name: str(verdict) for name, verdict in changes.modes.items()},
        "other_modes": [name for name, verdict in changes.modes.items() if verdict is not decision.verdict],
    }
    return value


def matching(decision: Decision, checks: list[dict[str, Any]], world: World) -> list[dict[str, Any]]:
    """Every rule that matched, over all checks.

    `decisive` says that the answer as a whole is that rule's; a rule that decided its own check only
    says which part was stricter.
    """
    found = []
    for at, (check, shown) in enumerate(zip(decision.checks, checks, strict=True)):
        for rule in shown.get("rules", []) + _held_rule(check, shown, world):
            decisive = rule["decisive"] and rule["rule"] == decision.rule
            why = "" if decisive else rule["ignored_because"] or f"another part of the action decides: {decision.rule}"
            about = {"check": at, "key": check.key, "subject": check.subject}
            found.append({**rule, **about, "decisive": decisive, "ignored_because": why})
    return found


def _held_rule(check: CheckResult, shown: dict[str, Any], world: World) -> list[dict[str, Any]]:
    """The rule of an untrusted project that decided; the trace has the applied rules only."""
    if any(rule["decisive"] for rule in shown.get("rules", [])):
        return []
    # Several rules can stand on one line, and share its id: the reason names the one.
    held = next((r for r in world.loaded.rules if r.held and r.id == check.rule and f"`{r}`" in check.reason), None)
    if held is None:
        return []
    return [{
        "rule": held.id, "text": str(held), "layer": held.layer, "file": held.file, "line": held.line, "decisive": True,
        "ignored_because": "",
    }]  # fmt: skip


# -- for a person ---------------------------------------------------------------------------------


def _text(decision: Decision, changes: Changes, world: World) -> list[list[str]]:
    on = colourful(sys.stdout)
    head = decision_text(decision._replace(suggestion="")).split("\n")
    head.append(f"  mode {decision.mode}, risk {decision.risk}, in {one_line(short(world.context.cwd, world.context.home))}")
    return [head, _segments(decision, world.context, on=on), _checks(decision, world, on=on), _modes(decision, changes, on=on),
            _allowing(decision, changes, on=on)]  # fmt: skip


def _segments(decision: Decision, context: Context, *, on: bool) -> list[str]:
    analysis = decision.analysis
    if analysis is None:
        return []
    shown = [s for s in analysis.segments if s.argv or s.effects]
    lines = [paint("what it would do", "bold", on=on)]
    for number, segment in enumerate(shown, 1):
        lines.append(f"  {number}. {_argv(segment, on=on)}")
        lines += [f"       {line}" for line in _about(segment, context)]
    if analysis.error is not None:
        lines.append(f"  reading stops here: {one_line(analysis.error[1])}")
    return lines if len(lines) > 1 else []


def _argv(segment: Segment, *, on: bool) -> str:
    words = " ".join("…" if word is None else _word(word) for word in segment.argv)
    return paint(words, "bold", on=on) if words else "(no program of its own)"


def _word(word: str) -> str:
    """A word as one would type it, so that blanks inside it do not look like two words."""
    import shlex

    return one_line(word if word.isalnum() else shlex.quote(word))


def _about(segment: Segment, context: Context) -> list[str]:
    lines = []
    if segment.wrappers:
        lines.append("inside " + one_line(", ".join(segment.wrappers)))
    if segment.cwd != context.cwd:
        lines.append(f"in {one_line(short(segment.cwd, context.home))}" if segment.cwd else "in a folder that is not known")
    if segment.dormant:
        lines.append("defined and not run")
    named = bool(segment.hosts)
    for effect in segment.effects:
        if not (named and effect.kind is Kind.NETWORK and not effect.detail):
            lines.append(effect_words(effect, segment.cwd or context.cwd, context.home))
    return list(dict.fromkeys(lines)) or ["touches no file, host or other program"]


def effect_words(effect: Effect, cwd: str, home: str) -> str:
    """An effect in words, such as ``removes `build` and all below it``."""
    if effect.target is None or effect.kind not in _ON_PATHS:
        if effect.kind is Kind.NETWORK and effect.detail:
            return f"contacts {one_line(words_of(effect))}"
        if effect.code == "flow":
            return one_line(effect.detail)
        return _PLAIN.get(effect.kind, effect.kind.value) + (f": {one_line(effect.detail)}" if effect.detail else "")
    target = effect.target
    shown = target.word or target.path or "…"
    text = f"{_ON_PATHS[effect.kind]} `{one_line(shown)}`"
    if target.path is None:
        text += ", a path that is not known" + (f" below {one_line(short(target.under, home))}," if target.under else ",")
    elif target.path not in (shown, f"{cwd}/{shown}"):
        text += f" ({one_line(short(target.path, home))})"
    return text + " and all below it" if target.recursive else text.rstrip(",")


def _checks(decision: Decision, world: World, *, on: bool) -> list[str]:
    lines = [paint("checks, the strictest decides", "bold", on=on)]
    shown = decision_json(decision, world.context, whole=True)["checks"]
    rules = matching(decision, shown, world)
    for at, check in enumerate(decision.checks):
        verdict = paint(f"{check.verdict!s:<5}", _COLOUR[str(check.verdict)], on=on)
        lines.append(f"  {verdict}  {check.key} {one_line(check.subject)}")
        lines.append(f"         {one_line(check.rule)}: {one_line(check.reason)}")
        rows = [_rule_row(rule, on=on) for rule in rules if rule["check"] == at]
        lines += table(rows, indent="           ")
    return lines


def _rule_row(rule: dict[str, Any], *, on: bool) -> list[str]:
    verb = paint("decides", "bold", on=on) if rule["decisive"] else one_line(rule["ignored_because"])
    return [one_line(rule["text"]), one_line(rule["rule"]), verb]


def _modes(decision: Decision, changes: Changes, *, on: bool) -> list[str]:
    rows = []
    for verdict in Verdict:
        names = [name for name, answer in changes.modes.items() if answer is verdict]
        shown = [paint(name, "bold", on=on) + " (now)" if name == decision.mode else name for name in names]
        if names:
            rows.append([paint(str(verdict), _COLOUR[str(verdict)], on=on), ", ".join(shown)])
    return [paint("in each mode", "bold", on=on), *table(rows, indent="  ")]


def _allowing(decision: Decision, changes: Changes, *, on: bool) -> list[str]:
    if decision.verdict is Verdict.ALLOW:
        return []
    title = paint("what would allow it", "bold", on=on)
    if decision.layer == "floor":
        return [title, "  nothing: the floor stands in every mode, under every rule and grant"]
    if not changes.pieces:
        return [title, "  no rule in this mode"]
    lines = [f"  {one_line(piece)}" for piece in changes.pieces]
    after = changes.after
    if after is not None and after.verdict is not Verdict.ALLOW:
        lines.append(f"  but that is not enough: {one_line(after.rule)} still says {after.verdict}")
    return [title, *lines]
