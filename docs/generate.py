"""Writes the reference pages from the tables that the program itself reads.

    python docs/generate.py          write the pages
    python docs/generate.py --check  say which pages are not up to date (exit code 1)

A page has no text of its own that could grow stale: what stands here are the words for codes, and a
code without words ends the script with an error, so that it cannot be forgotten.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from docs import words  # noqa: E402
from docs.markdown import code, codes, page, table  # noqa: E402
from docs.scan import SOURCE, calls, literals, shown_text  # noqa: E402


class Incomplete(Exception):
    """A table of the code holds something that has no words here."""


def meaning(known: Mapping[str, str], name: str, what: str) -> str:
    """The meaning of a code.  Raises Incomplete for one that has none."""
    if name not in known:
        raise Incomplete(f"{what} `{name}` has no words in docs/words.py")
    return known[name]


# -- settings -------------------------------------------------------------------------------------


def settings() -> str:
    from stockade.config.settings import PROFILES, SETTINGS

    rows = [
        [code(s.name), words.KINDS[s.kind], code(_toml(s.default)), codes(s.values), _sentence(s.meaning), tightening(s)]
        for s in SETTINGS
    ]
    also = ", ".join(f"{code(name)} is {code(meant)}" for name, meant in PROFILES.items() if name != meant)
    return page(
        "Settings",
        "A configuration file is TOML and begins with `version = 1`. The part of a name before the dot is the table: "
        '`guards.env = "ask"` stands as `env = "ask"` below `[guards]`. Rules stand below `[permission]`; see '
        "[the decision model](../decision-model.md#rules).",
        "*Tightens* is the change that counts for a project's own file before it is trusted. Every other change of it is "
        "held until a person runs `stockade trust`.",
        table(("setting", "kind", "default", "values", "meaning", "tightens"), rows),
        f"Words are read without regard to case. Of the profiles {also}. A mode can be given by its other names "
        "([modes](modes.md)).",
        "Lists add to those of the layers below, except `child_env.include_only`, which replaces; tables are joined by key. "
        "What `sandbox.profile` asks for cannot be held yet: every command runs unconfined and is told so, and "
        "`sandbox.required = true` refuses to run it.",
    )


def _toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def tightening(setting: Any) -> str:
    """Which changes of a setting tighten, found by asking the setting itself."""
    if setting.kind == "flag":
        return "to `true`" if setting.tightens(False, True) and not setting.tightens(True, False) else "never"
    if setting.kind != "word":
        return "any addition" if setting.tightens((), ("x",)) else "never"
    from stockade.config.settings import normalised

    names = list(dict.fromkeys(normalised(setting, value) for value in setting.values))
    found = []
    for new in names:
        olds = [old for old in names if old != new and setting.tightens(old, new)]
        if olds:
            others = [old for old in names if old != new and old not in olds]
            few = f" from {codes(olds)}" if len(olds) <= len(others) else f", but not from {codes(others)}"
            found.append(f"to {code(new)}" + (few if others else ""))
    return "; ".join(found) or "never"


# -- modes, precedence ----------------------------------------------------------------------------


def modes() -> str:
    from stockade.policy.modes import BOOT_MODE, MODES

    rows = []
    for mode in MODES:
        more = ["lifts denies of project, user and session"] if mode.lifts_denies else []
        more += ["asks nobody"] if mode.asks_nobody else []
        rows.append(
            [code(mode.name), codes(mode.aliases), mode.posture or "configured", meaning(words.FATES, mode.writes, "the fate"),
             meaning(words.FATES, mode.commands, "the fate"), ", ".join(more), _sentence(mode.meaning)]
        )  # fmt: skip
    return page(
        "Modes",
        "A mode is one row of data over the posture. "
        f"A session begins in {code(BOOT_MODE)}, unless `permission_mode` says otherwise; "
        "`--mode` chooses another for one call. Names are read without regard to case.",
        table(("mode", "also called", "posture", "file edits", "commands", "besides", "meaning"), rows),
        "*File edits* are calls of editing tools. What a command writes is part of the command. "
        "In every mode the floor, managed rules and the denies of guards stand.",
    )


def precedence() -> str:
    from stockade.policy.evaluate import PRECEDENCE

    return page(
        "Precedence",
        "The stages in which a check is decided; [the decision model](../decision-model.md#precedence) explains them.",
        table(
            ("stage", "name", "may allow", "may ask", "may deny", "what lifts it"),
            [[s.number, s.name, s.allows or "no", s.asks or "no", s.denies or "no", s.lifted_by] for s in PRECEDENCE],
        ),
        "Requirements (stage 2) and the advisor (stage 7) have no source yet: nothing comes from them.",
    )


# -- rule ids -------------------------------------------------------------------------------------


def rules() -> str:
    return page("Rule ids", "A decision names the rule that made it. This is every id there is.", *_rule_blocks())


def _rule_blocks() -> Iterator[list[str] | str]:
    from stockade.model.decision import DECISION_LAYERS
    from stockade.policy.findings import HIGH_RISK, ORDER
    from stockade.policy.floor import ROWS
    from stockade.policy.modes import MODES

    yield "## Floor\n\nNothing lifts these; every mode, rule and grant stands below them."
    yield table(
        ("rule", "effects", "what it does"),
        [[code(f"floor/{r.code}"), codes(sorted(k.value for k in r.kinds)), _sentence(r.what)] for r in ROWS],
    )
    yield (
        "## Smart\n\nThe findings of `smart`, the gravest first. What is of high risk asks although a rule allows the command. "
        "In the other modes the same findings ask in the name of the rule that asks, or of a guard."
    )
    yield table(
        ("rule", "verdict", "high risk", "when"),
        [[code("smart/read"), "allow", "", "It only reads what may be read"]]
        + [
            [code(f"smart/{name}"), "allow" if name == "edit-in-project" else "ask", "yes" if name in HIGH_RISK else "",
             _sentence(meaning(words.SMART, name, "the finding"))]
            for name in reversed(ORDER)
        ],
    )  # fmt: skip
    yield "A command that a rule allows has that rule's own id, and one that is refused by the floor has the floor's."
    yield "## Guards"
    yield table(("rule", "verdict", "when"), _guard_rows())
    yield "## Modes and grants"
    yield table(
        ("rule", "meaning"),
        [[code(f"mode/{m.name}"), _mode_rule(m)] for m in MODES]
        + [
            [code("grant/exact"), "The same action was approved before in this session"],
            [code("grant/tool"), "The tool was approved before in this session"],
        ],
    )
    yield (
        "## Rules of a configuration\n\n`<layer>:<file>:<line>`, such as `user:~/.config/stockade/config.toml:7`. "
        "The rules of the posture are `builtin:asking/<key>` and `builtin:open/<key>`."
    )
    yield f"## Layers\n\nWhat `layer` can be, in the order of the stages: {codes(DECISION_LAYERS)}."


def _guard_rows() -> list[list[str]]:
    from stockade.policy.findings import GUARDS, ORDER

    found = sorted(literals("guard/") | set(GUARDS.values()))
    rows = []
    for name in found:
        if name.endswith("/"):
            continue
        verdict, when = words.GUARDS.get(name, ("", ""))
        if not verdict:
            raise Incomplete(f"the guard `{name}` has no words in docs/words.py")
        rows.append([code(name), verdict, _sentence(when)])
    for name in ORDER:
        if name not in GUARDS and name != "edit-in-project":
            when = f"A rule allows it, and that does not lift this finding: {words.SMART[name]}"
            rows.append([code(f"guard/{name}"), "ask", when])
    unreadable = codes(f"guard/unreadable/{name}" for name in refusals())
    return [*rows, [unreadable, "ask", "The command cannot be read: see [errors](errors.md#unreadable)"]]


def _mode_rule(mode: Any) -> str:
    if mode.asks_nobody:
        return "Denies what would ask"
    if mode.commands == "refuse":
        return "Denies until a plan is approved; allows writing one"
    if mode.lifts_denies:
        return "Lifts an ask, and a deny of project, user or session"
    if mode.writes in ("inside", "lift"):
        return "Lifts an ask"
    return "Never decides by itself: the rules, the guards or the smart rules do"


# -- what the source holds --------------------------------------------------------------------------


def refusals() -> dict[str, list[str]]:
    """The codes with which the reader gives up, with all their messages."""
    found: dict[str, set[str]] = {}
    for given in calls(("Refused", "_fail"), SOURCE / "shell"):
        if len(given) > 1 and shown_text(given[0]):
            found.setdefault(shown_text(given[0]), set()).add(shown_text(given[1]))
    found["other-shell"] = {"the shell that would run it is not bash"}
    found["empty"] = {"no command was found in the text"}
    return {name: sorted(m for m in found[name] if m) for name in sorted(found)}


# -- errors ---------------------------------------------------------------------------------------


def batch_codes() -> set[str]:
    return {shown_text(given[0]) for given in calls(("BadLine",), SOURCE / "cli") if given} - {""}


def errors() -> str:
    from stockade.config.problems import CODES

    return page(
        "Errors",
        "## Configuration\n\n`stockade config validate` shows all of them at once. An error makes every answer at least an ask, "
        "and of a file with an error only what tightens is applied; of a file that is no TOML, nothing is.",
        table(("code", "meaning"), [[code(name), _sentence(text)] for name, text in CODES.items()]),
        "## Batch\n\nA bad line of `check --batch` is answered by "
        '`{"id": …, "verdict": "deny", "error": {"code": …, "message": …, "line": …}}`.',
        table(("code", "meaning"), [[code(n), _sentence(meaning(words.BATCH, n, "the code"))] for n in sorted(batch_codes())]),
        "## Unreadable\n\nWhere the reader gives up, the whole command asks, by the rule `guard/unreadable/<code>`, and no mode "
        "lifts that. What was read before may still make it a deny. `…` stands for what is put into a message.",
        table(
            ("code", "about", "messages"),
            [[code(n), meaning(words.UNREADABLE, n, "the refusal"), "; ".join(messages)] for n, messages in refusals().items()],
        ),
        "## Exit codes",
        table(("command", "codes"), [[code(name), text] for name, text in words.EXITS]),
        "Those of every other command stand in [its own help](commands.md).",
    )


# -- commands -------------------------------------------------------------------------------------


def commands() -> str:
    from stockade.cli.main import COMMANDS

    blocks: list[Iterable[str] | str] = ["`stockade COMMAND --help` prints the same. What stands in capitals is a value."]
    for command in COMMANDS:
        parser = import_module(f"stockade.cli.{command.module}").parser()
        blocks.append(f"## stockade {command.name}\n\n{_sentence(parser.description or command.summary)}")
        blocks += _parser_blocks(parser)
        if parser.epilog:
            blocks.append(f"```text\n{parser.epilog.strip()}\n```")
    return page("Commands", *blocks)


def _parser_blocks(parser: argparse.ArgumentParser) -> Iterator[Iterable[str] | str]:
    """The arguments as a table: argparse's own layout differs from one Python to the next."""
    shown = [a for a in parser._actions if not isinstance(a, argparse._HelpAction | argparse._SubParsersAction)]
    rows = [[_argument(a), a.help or ""] for a in shown]
    if rows:
        yield table(("argument", "meaning"), rows)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                yield f"### {parser.prog} {name}\n\n{sub.description or ''}"
                yield from _parser_blocks(sub)


def _argument(action: argparse.Action) -> str:
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    shown = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return code(f"[{shown} …]" if action.nargs == "*" else f"[{shown}]" if action.nargs == "?" else shown)
    return ", ".join(code(f"{name} {shown}".strip() if action.nargs != 0 else name) for name in action.option_strings)


# -- environment ----------------------------------------------------------------------------------


def environment() -> str:
    from stockade.confine.environment import _READER, CORE

    return page(
        "Environment",
        "## Variables that Stockade reads\n\nA command that sets a `STOCKADE_…` variable is refused by `floor/self-control`.",
        table(("variable", "meaning", "default"), [[code(n), _sentence(m), d] for n, m, d in words.VARIABLES]),
        "## What a command gets\n\nIn this order: `child_env.inherit`, then `child_env.strip_secrets`, then "
        "`child_env.include_only`, then `child_env.set`. What was dropped stays away unless `set` names it.",
        f'`inherit = "core"` keeps {codes(CORE)}.',
        f"Dropped whatever is configured, because bash would read the command otherwise, or another program would run "
        f"something: {codes(_READER)}, "
        "exported functions (`BASH_FUNC_…`), `DYLD_…` and git's `GIT_CONFIG_KEY_…`. `child_env.keep` keeps one.",
        "In the sandbox `TMPDIR` is `/tmp`, `GIT_TEMPLATE_DIR` an empty folder, `STOCKADE_SANDBOX` the profile, and variables "
        "that name sockets of the session (`SSH_AUTH_SOCK` and their like) are gone.",
        "A variable that makes another program run something (`PAGER`, `LD_PRELOAD`, `GIT_SSH_COMMAND` and their like) "
        "is an effect of the command that sets it, and asks.",
        "## Variables of the tests",
        table(("variable", "meaning"), [[code(n), _sentence(m)] for n, m in words.TEST_VARIABLES]),
    )


# -- effects and programs -------------------------------------------------------------------------


def effects() -> str:
    from stockade.model.effects import Kind
    from stockade.shell.catalog import EFFECTS, ROLES

    described = [
        [code(k.value), "yes" if k.value in EFFECTS else "", _sentence(meaning(words.EFFECTS, k.value, "effect")), _finding(k)]
        for k in Kind
    ]
    return page(
        "Effects and roles",
        "An effect is one thing that a segment of a command does. A path effect names its target; "
        "which finding it makes depends on where the target lies.",
        table(("effect", "word of a description", "meaning", "finding"), described),
        "## Roles\n\nWhat a word is, in [a description of a program](../program-format.md). "
        "An effect word may stand as a role too.",
        table(("role", "the word is"), [[code(r), _sentence(meaning(words.ROLES, r, "the role"))] for r in sorted(ROLES)]),
    )


def _finding(kind: Any) -> str:
    """The finding that an effect without a path makes."""
    from stockade.model.context import Context
    from stockade.model.effects import Effect, Kind
    from stockade.policy.findings import judge

    if kind in (Kind.READ, Kind.LIST, Kind.WRITE, Kind.EDIT, Kind.DELETE, Kind.MODE):
        return "by its path"
    if kind is Kind.FLOOR:
        return "the floor"
    finding = judge(Effect(kind), Context("/w", "/w", "/home/user"))
    return code(finding.rule) if finding is not None else ""


def programs() -> str:
    from stockade.cli.programs import entries

    found = entries()
    return page(
        "Programs",
        f"The {len(found)} described programs. `stockade programs NAME` shows everything that is known about one; "
        "[the format](../program-format.md) says how to describe another. "
        "A program that is not here is an unknown effect, and asks.",
        table(
            ("program", "other names", "summary", "source"),
            [[code(e.program.name), codes(e.also), e.program.summary, e.program.source] for e in found],
        ),
    )


# -- the attack catalogue -------------------------------------------------------------------------


def corpus() -> dict[str, str]:
    """The commands of the corpora by the id of their row."""
    found = {}
    for path in sorted((ROOT / "tests" / "corpus").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "id" in row:
                found[row["id"]] = row["command"]
    return found


def attacks() -> str:
    """Each technique with a line of a corpus, and what is answered to it now."""
    from stockade.model.action import command_action
    from stockade.model.context import Context
    from stockade.policy.evaluate import decide
    from stockade.policy.policy import build

    context = Context("/home/dev/app", "/home/dev/app", "/home/dev")
    smart = build((), mode_name="smart")
    known = corpus()
    blocks: list[Iterable[str] | str] = [
        "What attackers and careless agents write, by technique, and what is answered in `smart` with no configuration: "
        "the workspace is `/home/dev/app`, the home folder `/home/dev`. Nothing here may be allowed. "
        "The last column is the row of `tests/corpus/*.jsonl` that the line is from. "
        "`⏎` is a newline, `⟨U+…⟩` a character that cannot be seen.",
        "A technique that is missing is a report that we want: see [SECURITY.md](../SECURITY.md).",
    ]
    for one in tomllib.loads((DOCS / "attacks.toml").read_text(encoding="utf-8"))["class"]:
        rows = []
        for technique, ident in one["rows"]:
            if ident not in known:
                raise Incomplete(f"docs/attacks.toml names `{ident}`, which is no row of a corpus")
            decision = decide(command_action(known[ident]), context, smart)
            rows.append([technique, code(line(known[ident])), str(decision.verdict), code(decision.rule), code(ident)])
        blocks += [f"## {one['name']}", table(("technique", "line", "answer", "rule", "row"), rows)]
    return page("Attack catalogue", *blocks)


def line(command: str, limit: int = 100) -> str:
    """A command on one line, with what cannot be seen written out."""
    from stockade.cli.text import one_line

    shown = one_line(command)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


# -- writing --------------------------------------------------------------------------------------

PAGES: dict[str, Callable[[], str]] = {
    "reference/settings.md": settings,
    "reference/modes.md": modes,
    "reference/precedence.md": precedence,
    "reference/rules.md": rules,
    "reference/errors.md": errors,
    "reference/commands.md": commands,
    "reference/environment.md": environment,
    "reference/effects.md": effects,
    "reference/programs.md": programs,
    "attack-catalogue.md": attacks,
}


def stale() -> list[str]:
    """The pages that are not what the code says."""
    return [name for name, make in PAGES.items() if _read(DOCS / name) != make()]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the reference pages.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is not up to date")
    try:
        if parser.parse_args().check:
            names = stale()
            for name in names:
                print(f"docs/{name} is not up to date: run `python docs/generate.py`", file=sys.stderr)
            return 1 if names else 0
        (DOCS / "reference").mkdir(exist_ok=True)
        for name, make in PAGES.items():
            (DOCS / name).write_text(make(), encoding="utf-8")
    except Incomplete as error:
        print(f"docs/generate.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
