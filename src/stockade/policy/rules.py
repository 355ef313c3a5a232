"""Rules: `key pattern verdict`, in layers, the last match wins."""

from __future__ import annotations

import re
from typing import NamedTuple

from stockade.model.action import KEYS, TOOL_KEYS
from stockade.model.context import Context
from stockade.model.verdict import Verdict
from stockade.policy.patterns import (
    HOLE,
    Match,
    inside,
    match_command,
    match_host,
    match_path,
    pattern_folder,
    prefix_of,
    star_match,
)

# Later layers win; managed always does.
LAYERS = ("builtin", "project", "user", "session", "cli", "managed")
RANK = {layer: at for at, layer in enumerate(LAYERS)}
_TOOL = re.compile(r"([A-Za-z_]+)\((.*)\)", re.DOTALL)


class RuleError(ValueError):
    """A rule that cannot be used; the message says what to write instead."""


class Rule(NamedTuple):
    """One rule.  `bare` says that its pattern is no more than `*`.

    `held` marks a rule of a project that is not trusted: it can only make an answer stricter.
    `file` and `line` say where it stands; `match` and `not_match` are its own examples.
    """

    key: str
    pattern: str
    verdict: Verdict
    layer: str
    file: str = ""
    line: int = 0
    held: bool = False
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    origin: str = "permission"
    reason: str = ""  # why, in the words of whoever wrote it
    pinned: bool = False  # allows only while the files that define what runs are as they were when a person agreed

    @property
    def bare(self) -> bool:
        return self.pattern in ("*", "**")

    @property
    def id(self) -> str:
        """`<layer>:<file>:<line>`; a built-in rule has a name in place of the file."""
        return f"{self.layer}:{self.file}:{self.line}" if self.line else f"{self.layer}:{self.file}"

    def __str__(self) -> str:
        return f"{self.key} {self.pattern} {self.verdict}"

    def says(self, what: str) -> str:
        """`the rule … denies it`, with the reason that stands beside the rule."""
        return f"the rule `{self}` {what}" + (f": {self.reason}" if self.reason else "")


def parse_subject(text: str) -> tuple[str, str]:
    """`Tool(pattern)` to (key, pattern); raises RuleError for an unknown tool."""
    m = _TOOL.fullmatch(text.strip())
    if m is None:
        return _key(text.strip(), text), "*"
    pattern = m.group(2).strip()
    return _key(m.group(1), text), pattern or "*"


def _key(name: str, whole: str) -> str:
    lower = name.lower()
    if lower in KEYS:
        return lower
    key = TOOL_KEYS.get(lower)
    if key is None:
        raise RuleError(
            f"`{whole}` names no tool that exists; use one of {', '.join(KEYS)}, or Bash, Read, Edit, Write, WebFetch"
        )
    return key


def check_pattern(key: str, pattern: str) -> None:
    """Raises RuleError for a pattern that can never mean what it says."""
    if "\0" in pattern or "\n" in pattern:
        raise RuleError("a pattern cannot hold a newline or a NUL character")
    if len(pattern) > 1000:
        raise RuleError("a pattern is limited to 1000 characters")
    if key == "bash" and pattern.endswith(":*") and not pattern[:-2].strip():
        raise RuleError("`:*` needs a command in front of it; write `*` for every command")
    if key == "mcp" and pattern != "*" and "/" not in pattern:
        raise RuleError(f"an MCP rule names `server/tool`; write `{pattern}/*` for all tools of a server")


def show_rule(rule: Rule) -> str:
    """The rule as `Tool(pattern)`, which `parse_subject` reads back."""
    return f"{rule.key}({rule.pattern})"


def matches(rule: Rule, key: str, subject: Subject, context: Context) -> Match:
    """Whether a rule is about a subject."""
    if rule.key != key and rule.key != "*":
        return Match.NO
    if rule.bare:
        return Match.YES
    if key == "bash":
        return _command(rule, subject)
    if key in ("read", "edit", "external_directory"):
        return _path(rule, subject, context)
    if key == "network":
        if subject.unknown and rule.verdict is not Verdict.ALLOW:
            return Match.MAYBE
        return Match.YES if any(match_host(rule.pattern, text) for text in subject.texts) else Match.NO
    return Match.YES if any(star_match(rule.pattern, text) for text in subject.texts) else Match.NO


class Subject(NamedTuple):
    """What a check is about, in the forms that a rule may have been written for.

    `argvs` are argument vectors, the innermost command last; `texts` are paths (as given and
    resolved), hosts or names.  `trusted` is False where the program is not the one of that name.
    `unknown` says that the path or name is not known at all; `tree` is a folder of which everything
    is touched, so that a rule for a path inside it could match.
    """

    argvs: tuple[tuple[str | None, ...], ...] = ()
    texts: tuple[str, ...] = ()
    trusted: bool = True
    unknown: bool = False
    tree: str = ""


def _command(rule: Rule, subject: Subject) -> Match:
    allowing = rule.verdict is Verdict.ALLOW
    if not subject.argvs:
        return Match.NO
    inner = subject.argvs[-1]
    if allowing:
        if not subject.trusted and inner and inner[0] and "/" in inner[0]:
            return match_command(rule.pattern, inner, allowing=True)
        best = match_command(rule.pattern, _named(inner), allowing=True)
        for outer in subject.argvs[:-1] if best is not Match.YES else ():
            if _names_inner(rule.pattern, inner) and match_command(rule.pattern, _named(outer), allowing=True) is Match.YES:
                return Match.YES
        return best
    best = Match.NO
    for argv in subject.argvs:
        for form in {argv, _named(argv)}:
            best = max(best, match_command(rule.pattern, form, allowing=False))
    return best


def _named(argv: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The vector with the program's base name in place of its path."""
    if argv and argv[0] is not None and "/" in argv[0]:
        return (argv[0].rstrip("/").rpartition("/")[2], *argv[1:])
    return argv


def _names_inner(pattern: str, inner: tuple[str | None, ...]) -> bool:
    """Whether a pattern for a wrapper names the command inside it: `uv run pytest:*` names pytest."""
    literal = (prefix_of(pattern) or pattern).split("*")[0].split()
    return bool(inner) and inner[0] is not None and inner[0] in literal[1:]


def _path(rule: Rule, subject: Subject, context: Context) -> Match:
    if any(match_path(rule.pattern, text, context) for text in subject.texts):
        if rule.verdict is Verdict.ALLOW and not all(match_path(rule.pattern, t, context) for t in subject.texts):
            return Match.NO
        return Match.YES
    if subject.unknown and rule.verdict is not Verdict.ALLOW:
        return Match.MAYBE
    if subject.tree and rule.verdict is not Verdict.ALLOW and "/" in rule.pattern.rstrip("/"):
        folder = pattern_folder(rule.pattern, context)
        return Match.MAYBE if inside(folder, subject.tree) or inside(subject.tree, folder) else Match.NO
    return Match.NO


# -- rules that can never win ---------------------------------------------------------------------


def shadowed(rules: tuple[Rule, ...]) -> list[tuple[Rule, Rule]]:
    """Pairs (rule, later rule) where the later one matches whatever the first one does.

    A later bare `*` does not lift a project's narrower, stricter rule, so it does not shadow it.
    """
    found: list[tuple[Rule, Rule]] = []
    for at, rule in enumerate(rules):
        if rule.layer == "builtin" or rule.held:
            continue
        for later in rules[at + 1 :]:
            if later.held or not _covers(later, rule) or _stands(rule, later):
                continue
            found.append((rule, later))
            break
    return found


def _stands(rule: Rule, later: Rule) -> bool:
    """Whether a catch-all of a later layer leaves a project's narrower, stricter rule alone."""
    return rule.layer == "project" and later.layer != "project" and later.bare and not rule.bare and rule.verdict > later.verdict


def _covers(later: Rule, rule: Rule) -> bool:
    if later.key != rule.key and later.key != "*":
        return False
    if later.bare or later.pattern == rule.pattern:
        return True
    if later.key != rule.key or later.key not in ("bash", "mcp", "task", "process", "plan", "sandbox"):
        return False
    text = rule.pattern.replace(":*", " " + HOLE).replace("*", HOLE)
    argv = tuple(None if w == HOLE else w for w in text.split(" "))
    if later.key == "bash":
        return HOLE not in text.replace(" " + HOLE, "") and match_command(later.pattern, argv, allowing=True) is Match.YES
    return star_match(later.pattern, text)
