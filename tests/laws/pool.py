"""What the laws are tried on: lines of the corpora, tool calls, and rules that are about them."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from stockade.model.action import Action, command_action, from_tool
from stockade.model.context import Context
from stockade.model.effects import Analysis
from stockade.model.verdict import Verdict
from stockade.policy.floor import floor
from stockade.policy.rules import LAYERS, Rule, parse_subject
from stockade.shell import analyze
from tests.laws.reference import Case
from tests.support.corpora import CONTEXT, rows

MODES = ("default", "ask", "acceptEdits", "edits", "workspace", "smart", "plan", "dontAsk", "full", "bypassPermissions")
# Of each corpus so many lines, evenly spread.
_SHARES = {"floor": 25, "readonly": 25, "everyday": 40, "bypass": 25, "gtfo": 25, "benign": 10}
# Lines in which something is not known, that touch several things, or that are wrapped.
_OWN = (
    "git $x origin main", "$x status", "cat src/*/x", "cat $x", 'cat "src/private/$x"', "rm src/private/k",
    "cat src/private/k", "cat .env", "cat .env > /tmp/x", "cp src/private/k /home/dev/other/k", "touch src/a ../b",
    'curl "$u"', "curl https://example.com/x", "curl -o src/x https://example.com/x https://evil.example/y", "git fetch",
    "git push origin main", "git push --force origin main", "sudo git push origin main", "env A=1 make test",
    "timeout 5 git push origin main", "make test", "./make test", "uv run pytest -q", "npm test && git push", "echo hi > src/x",
    "echo hi > ../x", "echo hi > .git/config", "ls /home/dev/other", "cat /home/dev/other/x", "cat ~/.ssh/id_rsa",
    "f() { rm -r src; }", "echo 'a b' | tee src/x", "rm -rf /", "git status; git push", 'echo "', "if", "# nothing", "true",
    "python3 -m stockade trust", "x=src/private/k; cat $x", "npm install left-pad", 'git commit -m "a b"', "git log --oneline",
)  # fmt: skip
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {"path": "src/a"}), ("read_file", {"path": "src/private/k"}), ("read_file", {"path": ".env"}),
    ("read_file", {"path": "/etc/passwd"}), ("read_file", {"path": "~/.ssh/id_rsa"}), ("read_file", {"path": "../other/x"}),
    ("list_files", {}), ("grep", {"path": "/home/dev/other"}), ("git_status", {}), ("write_file", {"path": "src/a"}),
    ("write_file", {"path": "src/private/k"}), ("write_file", {"path": ".git/config"}), ("write_file", {"path": "CLAUDE.md"}),
    ("write_file", {"path": "/home/dev/other/x"}), ("write_file", {"path": ".stockade/config.toml"}),
    ("write_file", {"path": ".stockade/plans/a.md"}), ("write_file", {"path": ".env"}), ("write_file", {"path": "/dev/sda"}),
    ("apply_patch", {"files": ["src/a", "../other/x"]}), ("webfetch", {"url": "https://example.com/x"}),
    ("mcp__github__delete_repo", {}), ("mcp__github__list", {}), ("task", {"name": "x"}), ("plan", {"name": "x"}),
    ("process", {"name": "hook"}), ("sandbox", {"name": "off"}), ("external_directory", {"path": "/home/dev/other"}),
)  # fmt: skip


def _sample(corpus: str, count: int) -> list[str]:
    commands = list(dict.fromkeys(row["command"] for row in rows(corpus) if len(row["command"]) <= 160))
    return commands[:: max(1, len(commands) // count)][:count]


COMMANDS = tuple(dict.fromkeys([line for name, count in _SHARES.items() for line in _sample(name, count)] + list(_OWN)))
ACTIONS = tuple(command_action(command) for command in COMMANDS) + tuple(from_tool(tool, given) for tool, given in _CALLS)


@cache
def read(command: str, context: Context = CONTEXT) -> Analysis:
    """The facts about a command, read once."""
    return analyze(command, context)


def facts(action: Action) -> Analysis | None:
    return read(action.command) if action.key == "bash" else None


FLOORED = tuple(c for c in COMMANDS if any(floor(segment, CONTEXT) is not None for segment in read(c).segments))

_SUBJECTS = (
    "Bash", "Bash(git *)", "Bash(git push *)", "Bash(git push:*)", "Bash(git push --force *)", "Bash(git status)",
    "Bash(make*)", "Bash(make test)", "Bash(npm:*)", "Bash(npm * test:*)", "Bash(cat *)", "Bash(cat .env)", "Bash(rm *)",
    "Bash(curl *)", "Bash(sudo *)", "Bash(sudo git push *)", "Bash(uv run pytest:*)", "Bash(pytest *)", "Bash(echo *)",
    "Bash(* src/*)", "Bash(timeout *)", "Bash(./make test)", "Bash(* *)", "Read", "Read(src/private/**)", "Read(src/**)",
    "Read(.env)", "Read(*.py)", "Read(~/.ssh/**)", "Read(../other)", "Read(/etc/**)", "Read(**/k)", "Edit", "Edit(src/**)",
    "Edit(src/private/**)", "Edit(/tmp/*)", "Edit(**/x)", "Edit(.)", "Edit(../**)", "Edit(.stockade/plans/**)",
    "external_directory", "external_directory(~/other/**)", "external_directory(/tmp)", "external_directory(/home/dev/other)",
    "WebFetch", "WebFetch(example.com)", "WebFetch(*.example:443)", "WebFetch(example.com:*)", "mcp", "mcp(github/*)",
    "mcp(github/delete_repo)", "task", "process(hook)", "sandbox(off)",
)  # fmt: skip
SUBJECTS = (*(parse_subject(text) for text in _SUBJECTS), ("*", "*"))


def ordered(rules: list[Rule]) -> tuple[Rule, ...]:
    """In the order of the layers; within one, as they come.  Lines are numbered, so that every rule is another."""
    numbered = [rule._replace(line=at) for at, rule in enumerate(rules, 1)]
    return tuple(sorted(numbered, key=lambda rule: LAYERS.index(rule.layer)))


def _rule(number: int, layers: tuple[str, ...], *, held: bool) -> Rule:
    """The rule of a number: numbers are drawn much faster than their parts."""
    number, verdict = divmod(number, len(Verdict))
    subject, layer = divmod(number, len(layers))
    key, pattern = SUBJECTS[subject]
    name = layers[layer]
    return Rule(key, pattern, Verdict(verdict), name, f"{name}.toml", 1, held and name == "project")


def rules(
    *, layers: tuple[str, ...] = LAYERS[1:], held: bool | None = None, most: int = 6
) -> st.SearchStrategy[tuple[Rule, ...]]:
    """Rules of these layers; those of the project are held, or not, together."""
    numbers = st.lists(st.integers(0, len(SUBJECTS) * len(layers) * len(Verdict) - 1), max_size=most)
    hold = st.booleans() if held is None else st.just(held)
    parts = st.tuples(numbers, hold)
    return parts.map(lambda drawn: ordered([_rule(number, layers, held=drawn[1]) for number in drawn[0]]))


_SETTINGS = tuple(
    (mode, posture, env_guard, safe_extra)
    for mode in MODES
    for posture in ("asking", "open")
    for env_guard in ("deny", "ask")
    for safe_extra in ((), ("make test", "* x"))
)


def cases(given_rules: st.SearchStrategy[tuple[Rule, ...]] | None = None) -> st.SearchStrategy[Case]:
    parts = st.tuples(rules() if given_rules is None else given_rules, st.sampled_from(_SETTINGS))
    return parts.map(lambda drawn: Case(drawn[0], *drawn[1]))


commands = st.sampled_from(COMMANDS)
actions = st.sampled_from(ACTIONS)
# Some actions at once, spread over all: an example costs more than a decision.
several = st.integers(0, 29).map(lambda first: ACTIONS[first::30])
