"""One configuration file: TOML text in, rules, settings and problems out.  No file is opened here."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from stockade.config.files import MAX_RULES, File, Value, too_many_dots
from stockade.config.lines import Lines
from stockade.config.problems import Problem
from stockade.config.settings import BY_NAME, SECTIONS, TOP_KEYS, normalised, problem_with
from stockade.model.context import Context
from stockade.model.verdict import Verdict
from stockade.policy.patterns import Match
from stockade.policy.rules import Rule, RuleError, Subject, check_pattern, matches, parse_subject

_RULE_KEYS = frozenset(("verdict", "match", "not_match", "reason", "pinned"))


def read_text(text: str, *, file: str, layer: str) -> File:
    """Reads a configuration.  Never raises: problems say what is wrong, and where."""
    try:
        if too_many_dots(text):
            raise ValueError("its lines have too many dots")
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # for numbers and nesting without end too
        return File(file, layer, (), (), (_syntax(error, file),))
    return _Reader(text, table, file, layer).read()


def _syntax(error: Exception, file: str) -> Problem:
    message = str(error)
    m = re.search(r"line (\d+)", message)
    line = int(m.group(1)) if m else 0
    twice = "duplicate" in message.lower() or "overwrite" in message or "twice" in message or "immutable" in message
    if twice:
        return Problem(
            "config/syntax",
            "error",
            file,
            line,
            "a key stands here twice",
            "keep one of the two: order is meaning, and the last must not win silently",
        )
    plain = re.sub(r" \(at (?:line.*|end.*)\)", "", message)
    return Problem(
        "config/syntax", "error", file, line, f"not valid TOML: {plain[:1].lower()}{plain[1:]}", "see toml.io for the syntax"
    )


class _Reader:
    """Walks the table in the order of the document, and finds the line of what it reads."""

    def __init__(self, text: str, table: dict[str, Any], file: str, layer: str) -> None:
        self.lines = Lines(text)
        self.table = table
        self.file = file
        self.layer = layer
        self.rules: list[Rule] = []
        self.values: list[Value] = []
        self.problems: list[Problem] = []

    def read(self) -> File:
        if self.table.get("version") != 1 or not isinstance(self.table["version"], int) or self.table["version"] is True:
            line = self.lines.of("version")
            self._problem("config/version", "warning", line, "`version = 1` is missing", "write `version = 1` at the top")
        for key, value in self.table.items():
            if key == "version":
                continue
            if key == "permission":
                self._permission(value)
            elif key in SECTIONS and key != "preset":
                self._section(key, value)
            elif key in BY_NAME:
                self._setting(key, value, self.lines.of(key))
            else:
                self._unknown(key, "", TOP_KEYS)
        self._shell_rules()
        return File(self.file, self.layer, tuple(self.rules), tuple(self.values), tuple(self.problems))

    def _problem(self, code: str, severity: str, line: int, message: str, hint: str = "") -> None:
        self.problems.append(Problem(code, severity, self.file, line, message, hint))

    # -- settings --------------------------------------------------------------------------------

    def _section(self, section: str, table: Any) -> None:
        line = self.lines.of(section)
        if not isinstance(table, dict):
            self._problem(
                "config/wrong-type", "error", line, f"`{section}` is a table", f"write `[{section}]` and its keys below it"
            )
            return
        for key, value in table.items():
            name = f"{section}.{key}"
            if name not in BY_NAME:
                self._unknown(key, section, {n.partition(".")[2] for n in BY_NAME if n.startswith(section + ".")})
                continue
            self._setting(name, value, self.lines.of(section, key))

    def _setting(self, name: str, value: Any, line: int) -> None:
        setting = BY_NAME[name]
        wrong = problem_with(setting, value)
        if wrong is not None:
            self._problem(
                "config/wrong-type",
                "error",
                line,
                f"`{name}` cannot be `{_short(value)}`: {wrong}",
                f"the default is `{setting.default}`",
            )
            return
        self.values.append(Value(name, normalised(setting, value), self.file, line))

    def _unknown(self, key: str, section: str, known: Any) -> None:
        import difflib

        near = difflib.get_close_matches(key, sorted(known), 1) or [k for k in sorted(known) if key in k.split("_")][:1]
        where = f" in `[{section}]`" if section else ""
        hint = f"did you mean `{near[0]}`?" if near else "known are " + ", ".join(sorted(known))
        line = self.lines.of(section, key) if section else self.lines.of(key)
        self._problem("config/unknown-key", "error", line, f"unknown key `{key}`{where}", hint)

    # -- rules -----------------------------------------------------------------------------------

    def _permission(self, table: Any) -> None:
        line = self.lines.of("permission")
        if not isinstance(table, dict):
            self._problem(
                "config/wrong-type", "error", line, "`permission` is a table", "write `[permission]` and rules below it"
            )
            return
        for subject, value in table.items():
            if self._too_many():
                return
            at = self.lines.of("permission", subject)
            if isinstance(value, dict) and "(" not in subject and not (set(value) & {"verdict"}):
                self._patterns(subject, value)
            else:
                self._rule(subject, "", value, at)

    def _too_many(self) -> bool:
        """A file whose rules have no end: each decision would look at them all."""
        if len(self.rules) < MAX_RULES:
            return False
        if not any(problem.code == "config/too-large" for problem in self.problems):
            self._problem("config/too-large", "error", 0, f"has more than {MAX_RULES} rules", "join some with `*`")
        return True

    def _patterns(self, subject: str, table: dict[str, Any]) -> None:
        """`bash = { "*" = "ask", "git push *" = "deny" }`."""
        for pattern, value in table.items():
            if self._too_many():
                return
            self._rule(subject, pattern, value, self.lines.of("permission", subject, pattern))

    def _rule(self, subject: str, pattern: str, value: Any, line: int) -> None:
        verdict, match, not_match = self._verdict(subject, value, line)
        if verdict is None:
            return
        try:
            key, inner = ("*", "*") if subject == "*" else parse_subject(subject)
        except RuleError as error:
            self._problem("config/unknown-tool", "error", line, str(error), "see the list of tools in `stockade inspect`")
            return
        pinned = isinstance(value, dict) and value.get("pinned", False)
        if not isinstance(pinned, bool) or (pinned and (verdict is not Verdict.ALLOW or key != "bash")):
            hint = "only a rule that allows commands can be pinned, with `pinned = true`"
            self._problem("config/wrong-type", "error", line, f"`pinned` of the rule `{subject}` cannot be used", hint)
            return
        reason = value.get("reason", "") if isinstance(value, dict) else ""
        if not isinstance(reason, str):
            self._problem("config/wrong-type", "error", line, f"the `reason` of the rule `{subject}` is no text")
            reason = ""
        rule = Rule(key, pattern.strip() or inner, verdict, self.layer, self.file, line, False, match, not_match)
        self._add(rule._replace(reason=reason, pinned=pinned))

    def _add(self, rule: Rule) -> None:
        try:
            check_pattern(rule.key, rule.pattern)
        except RuleError as error:
            message = f"the pattern `{_short(rule.pattern)}` cannot be used: {error}"
            self._problem("config/bad-rule", "error", rule.line, message)
            return
        self.rules.append(rule)
        for problem in failed_examples(rule):
            self._problem("config/example", "error", rule.line, problem, "change the pattern or the example")

    def _verdict(self, subject: str, value: Any, line: int) -> tuple[Verdict | None, tuple[str, ...], tuple[str, ...]]:
        match: Any = []
        not_match: Any = []
        if isinstance(value, dict):
            odd = sorted(set(value) - _RULE_KEYS)
            if odd:
                self._problem(
                    "config/unknown-key",
                    "error",
                    line,
                    f"unknown key `{odd[0]}` in the rule `{subject}`",
                    "a rule has verdict, match, not_match, reason, pinned",
                )
                return None, (), ()
            match, not_match, value = value.get("match", []), value.get("not_match", []), value.get("verdict")
        if value not in ("allow", "ask", "deny"):
            self._problem(
                "config/bad-rule",
                "error",
                line,
                f"`{_short(value)}` is no verdict in the rule `{subject}`",
                "write allow, ask or deny",
            )
            return None, (), ()
        for examples in (match, not_match):
            if not isinstance(examples, list) or not all(isinstance(e, str) for e in examples):
                self._problem("config/wrong-type", "error", line, f"the examples of `{subject}` are no list of texts")
                return Verdict.parse(value), (), ()
        return Verdict.parse(value), tuple(match), tuple(not_match)

    def _shell_rules(self) -> None:
        """`shell.allow`, then `shell.deny`, behind the rules of the document."""
        for name, verdict in (("shell.allow", Verdict.ALLOW), ("shell.deny", Verdict.DENY)):
            for value in self.values:
                if value.name == name:
                    for text in value.value:
                        if self._too_many():
                            return
                        self._shell_rule(text, verdict, name)

    def _shell_rule(self, text: str, verdict: Verdict, origin: str) -> None:
        at = self.lines.of_text(text, *origin.split("."))
        try:
            key, pattern = parse_subject(text) if re.match(r"[A-Za-z_]+\(.*\)$", text, re.DOTALL) else ("bash", text)
        except RuleError as error:
            self._problem("config/unknown-tool", "error", at, str(error))
            return
        if key != "bash":
            self._problem(
                "config/bad-rule",
                "error",
                at,
                f"`{origin}` takes rules for commands, not `{_short(text)}`",
                "put it into [permission]",
            )
            return
        self._add(Rule(key, pattern, verdict, self.layer, self.file, at, origin=origin))


def failed_examples(rule: Rule) -> list[str]:
    """The examples beside a rule that it does not meet."""
    context = Context("/workspace", "/workspace", "/home/user")
    found = []
    for examples, wanted in ((rule.match, True), (rule.not_match, False)):
        for example in examples:
            subject = _example_subject(rule.key, example, context)
            if (matches(rule, rule.key, subject, context) is Match.YES) != wanted:
                verb = "does not match" if wanted else "matches"
                found.append(f"the rule `{rule.pattern}` {verb} its example `{_short(example)}`")
    return found


def _example_subject(key: str, example: str, context: Context) -> Subject:
    if key == "bash":
        return Subject((tuple(example.split(" ")),))
    if key in ("read", "edit", "external_directory"):
        from stockade.model.action import absolute
        from stockade.model.paths import lexical

        return Subject((), (lexical(absolute(example, context.cwd, context.home)),))
    return Subject((), (example,))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
