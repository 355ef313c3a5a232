"""Patterns of rules: commands, paths, hosts and tools; and what no pattern may do to the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from stockade.model.context import Context, FileFact
from stockade.model.paths import canonical, glob_folder, inside, lexical, zone
from stockade.model.verdict import Verdict
from stockade.policy.patterns import (
    HOLE,
    Match,
    command_text,
    could_match,
    match_command,
    match_component,
    match_host,
    match_path,
    prefix_of,
    star_match,
)
from stockade.policy.rules import (
    LAYERS,
    RANK,
    Rule,
    RuleError,
    Subject,
    check_pattern,
    matches,
    parse_subject,
    shadowed,
    show_rule,
)

CONTEXT = Context("/w/app", "/w/app", "/home/dev")
NO, MAYBE, YES = Match.NO, Match.MAYBE, Match.YES
ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY


def argv(text: str) -> tuple[str | None, ...]:
    """Words; `$` stands for one that is not known, `␣` for a blank inside a word."""
    return tuple(None if word == "$" else word.replace("␣", " ") for word in text.split(" "))


# -- commands ---------------------------------------------------------------------------------------

# Pattern, command, as a deny or ask rule, as an allow rule.
COMMANDS = [
    ("git status", "git status", YES, YES),
    ("git status", "git status -s", NO, NO),
    ("git *", "git status", YES, YES),
    ("git *", "git", YES, YES),
    ("git *", "gitk", NO, NO),
    ("git*", "gitk --all", YES, YES),
    ("git:*", "git", YES, YES),
    ("git:*", "git push a/b c", YES, YES),
    ("git:*", "gitk", NO, NO),
    ("npm run test:*", "npm run test", YES, YES),
    ("npm run test:*", "npm run test:unit", NO, NO),
    ("npm run test:*", "npm run test -- -x", YES, YES),
    ("npm * test:*", "npm run test -- -x", YES, YES),
    ("npm * test:*", "npm run test", YES, YES),
    ("npm * test:*", "npm run testevil", NO, NO),
    ("* --force", "git push --force", YES, YES),
    ("* --force", "git push --force x", NO, NO),
    ("*--force*", "git push --force x", YES, YES),
    ("git * main", "git push origin main", YES, YES),
    ("git push *", "git pushx", NO, NO),
    ("rm *", "rm a/b c", YES, YES),
    ("rm", "rm a", NO, NO),
    ("", "rm", NO, NO),
    ("echo a b", "echo a␣b", YES, NO),
    ("echo a *", "echo a␣b", YES, NO),
    ("echo *", "echo a␣b", YES, YES),
    ("echo 'a'", "echo 'a'", YES, YES),
    ("a[b]", "ab", NO, NO),
    ("a?", "ab", NO, NO),
    ("git push *", "git $ origin", MAYBE, NO),
    ("git push *", "git push $", YES, YES),
    ("git push --force", "git push $", MAYBE, NO),
    ("git push", "git $", MAYBE, NO),
    ("git push", "$ push", MAYBE, NO),
    ("git push", "$", MAYBE, NO),
    ("git", "git $", MAYBE, NO),
    ("git:*", "git $", YES, YES),
    ("gi:*", "git $", NO, NO),
    ("git push:*", "git $ x", MAYBE, NO),
    ("npm *", "git $ x", NO, NO),
    ("* push", "git $", MAYBE, NO),
    ("*", "git $", YES, YES),
    ("git * x", "git $ y", NO, NO),
    ("git * x", "git $ x", YES, YES),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "command", "denying", "allowing"), COMMANDS)
def test_command(pattern: str, command: str, denying: Match, allowing: Match) -> None:
    words = argv(command)
    found = match_command(pattern, words, allowing=False), match_command(pattern, words, allowing=True)
    assert found == (denying, allowing)


def test_command_text() -> None:
    assert command_text(("a", None, "b c", ""), glued=False) == f"a {HOLE} b c "
    assert command_text(("a", None, "b c", ""), glued=True) == f"a {HOLE} b\x01c "
    assert command_text((), glued=True) == ""
    assert [prefix_of(p) for p in ("npm test:*", ":*", "npm *", "a:")] == ["npm test", "", None, None]


# -- which form of a command a rule is compared with -------------------------------------------------

# Pattern, the vectors of the command (outermost first), whether its name can be trusted, deny, allow.
FORMS: list[tuple[str, tuple[str, ...], bool, Match, Match]] = [
    ("git push *", ("sudo git push", "git push"), True, YES, YES),
    ("sudo *", ("sudo git push", "git push"), True, YES, NO),
    ("sudo git push *", ("sudo git push", "git push"), True, YES, YES),
    ("uv run pytest:*", ("uv run pytest -q", "pytest -q"), True, YES, YES),
    ("uv run:*", ("uv run pytest -q", "pytest -q"), True, YES, NO),
    ("uv run * -q", ("uv run pytest -q", "pytest -q"), True, YES, NO),
    ("uv run pytest:*", ("/opt/bin/uv run pytest", "pytest"), True, YES, YES),
    ("git *", ("/usr/bin/git status",), True, YES, YES),
    ("/usr/bin/git *", ("/usr/bin/git status",), True, YES, NO),
    ("git *", ("./git status",), False, YES, NO),
    ("./git *", ("./git status",), False, YES, YES),
    ("git *", ("git status",), False, YES, YES),
    ("git *", ("/opt/git/ status",), True, YES, YES),
    ("git push", ("sudo $ push", "$ push"), True, MAYBE, NO),
    ("ls *", (), True, NO, NO),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "forms", "trusted", "denying", "allowing"), FORMS)
def test_forms_of_a_command(pattern: str, forms: tuple[str, ...], trusted: bool, denying: Match, allowing: Match) -> None:
    subject = Subject(tuple(argv(form) for form in forms), (), trusted)
    found = [matches(Rule("bash", pattern, verdict, "user"), "bash", subject, CONTEXT) for verdict in Verdict]
    assert found == [allowing, denying, denying]


def test_a_rule_is_about_its_own_key() -> None:
    subject = Subject((("git", "push"),), ("/w/app/x",))
    assert matches(Rule("read", "*", DENY, "user"), "bash", subject, CONTEXT) is NO
    assert matches(Rule("*", "*", DENY, "user"), "bash", subject, CONTEXT) is YES
    assert matches(Rule("*", "git *", DENY, "user"), "bash", subject, CONTEXT) is YES
    assert matches(Rule("*", "x", DENY, "user"), "edit", subject, CONTEXT) is YES
    assert matches(Rule("*", "y", DENY, "user"), "edit", subject, CONTEXT) is NO


# -- paths ------------------------------------------------------------------------------------------

PATHS = [
    ("*", "/anything", True),
    ("w", "/w/app/x", True),
    ("**", "/", True),
    ("src/**", "/w/app/src/a/b", True),
    ("src/**", "/w/app/src", True),
    ("src/**", "/w/app/srcx", False),
    ("src/**", "/other/src/a", False),
    ("src/", "/w/app/src/a", True),
    ("src", "/w/app/deep/src/a", True),
    ("src", "/w/app/source", False),
    ("./src", "/w/app/src/a", True),
    ("./src", "/w/app/deep/src/a", False),
    ("src/*.py", "/w/app/src/a.py", True),
    ("src/*.py", "/w/app/src/b/a.py", False),
    ("src/*.py", "/w/app/src/a.py/x", True),
    ("*.py", "/w/app/src/b/a.py", True),
    ("*.py", "/other/a.py", True),
    ("*.py", "/other/a.pyc", False),
    ("**/k", "/w/app/k", True),
    ("**/k", "/w/app/a/b/k/c", True),
    ("a/**/k", "/w/app/a/k", True),
    ("a/**/k", "/w/app/a/b/c/k", True),
    ("a/**/k", "/w/app/k", False),
    ("a/**/**/k", "/w/app/a/k", True),
    ("**/**/k", "/w/app/k", True),
    ("/etc/**", "/etc/passwd", True),
    ("/etc/**", "/w/app/etc/passwd", False),
    ("/etc", "/etc/ssh/x", True),
    ("/", "/etc/passwd", True),
    ("/", "/", True),
    ("//", "/etc", True),
    ("/**", "/", True),
    ("~/.ssh/**", "/home/dev/.ssh/id", True),
    ("~/.ssh/**", "/home/other/.ssh/id", False),
    ("~", "/home/dev/x", True),
    ("~", "/home/devx", False),
    ("~x", "/w/app/~x", True),
    (".", "/w/app/x", True),
    ("./", "/w/app", True),
    (".", "/w/other", False),
    ("..", "/w/other", True),
    ("../**", "/w/other/x", True),
    ("../other/*", "/w/other/x", True),
    ("../other/*", "/w/app/x", False),
    ("/etc/../var/*", "/var/x", True),
    ("/etc/./x", "/etc/x", True),
    ("/w//app/x", "/w/app/x", True),
    ("../../../../etc", "/etc/x", True),
    ("src/a?c", "/w/app/src/abc", True),
    ("src/a?c", "/w/app/src/a/c", False),
    ("src/[ab]", "/w/app/src/a", True),
    ("src/[!ab]", "/w/app/src/a", False),
    ("src/[a-c]x", "/w/app/src/bx", True),
    ("src/\\*", "/w/app/src/*", True),
    ("src/\\*", "/w/app/src/a", False),
    ("SRC/a", "/w/app/src/a", False),
    ("é", "/w/app/é", True),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path", "wanted"), PATHS)
def test_path(pattern: str, path: str, wanted: bool) -> None:
    assert match_path(pattern, path, CONTEXT) is wanted


COMPONENTS = [
    ("", "", True), ("", "a", False), ("*", "", True), ("a*b*c", "aXbYc", True), ("a*b*c", "abc", True), ("a*b*c", "acb", False),
    ("*a", "ba", True), ("*a", "ab", False), ("?", "", False), ("??", "ab", True), ("[a]", "a", True), ("[a", "[a", True),
    ("[a", "a", False), ("[]a]", "]", True), ("[]a]", "a", True), ("[!a]", "b", True), ("[^a]", "a", False), ("[!a]", "a", False),
    ("[a-]", "-", True), ("[a-]", "b", False), ("[a-c-e]", "d", False), ("[a-c-e]", "-", True), ("[c-a]", "b", False),
    ("[a-c]", "c", True), ("[a-cd-fx]", "x", True), ("[a-cx-z]", "y", True),
    ("\\a", "a", True), ("\\", "\\", True), ("a\\", "a\\", True), ("\\?", "x", False), ("*\\*", "a*", True),
    ("*.[ch]", "x.c", True),
    ("x**y", "xy", True), ("a*", "a", True), ("a*", "b", False), ("a**", "a", True), ("*b", "aab", True), ("[!]a]", "b", True),
    ("[!]a]", "]", False), ("[x]*", "xyz", True), ("*[0-9]", "a1b2", True), ("*[0-9]", "a1b", False),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "name", "wanted"), COMPONENTS)
def test_component(pattern: str, name: str, wanted: bool) -> None:
    assert match_component(pattern, name) is wanted


SUBJECTS = [
    # pattern, subject, allow, deny
    ("src/**", Subject(texts=("/w/app/src/a",)), YES, YES),
    ("src/**", Subject(texts=("/w/app/src/a", "/etc/a")), NO, YES),
    ("src/**", Subject(texts=("/w/app/src/a", "/w/app/src/b")), YES, YES),
    ("src/**", Subject(texts=("/etc/a",)), NO, NO),
    ("src/**", Subject(unknown=True), NO, MAYBE),
    ("src/**", Subject(texts=("/w/app/src",), unknown=True), YES, YES),
    ("src/**", Subject(texts=("/w/app",), unknown=True), NO, MAYBE),
    ("src/private/**", Subject(texts=("/w/app/src",), tree="/w/app/src"), NO, MAYBE),
    ("./src/private", Subject(texts=("/w/app/src",), tree="/w/app/src"), NO, MAYBE),
    ("~/other/x", Subject(texts=("/home/dev",), tree="/home/dev"), NO, MAYBE),
    ("private/**", Subject(texts=("/w/app/src",), tree="/w/app/src"), NO, NO),
    ("src/**/k", Subject(texts=("/w/app/src/a",), tree="/w/app/src/a"), NO, MAYBE),
    ("*.pem", Subject(texts=("/w/app/src",), tree="/w/app/src"), NO, NO),
    ("/", Subject(texts=("/w",), tree="/w"), YES, YES),
    ("X/private/**", Subject(texts=("/w/app/src",), tree="/w/app/src"), NO, NO),
    ("src/p?i/k", Subject(texts=("/w/app/src/p",), tree="/w/app/src/p"), NO, MAYBE),
    ("src/[p]/k", Subject(texts=("/w/app/src/p",), tree="/w/app/src/p"), NO, MAYBE),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "subject", "allowing", "denying"), SUBJECTS)
def test_path_rules(pattern: str, subject: Subject, allowing: Match, denying: Match) -> None:
    for key in ("read", "edit", "external_directory"):
        found = [matches(Rule(key, pattern, verdict, "user"), key, subject, CONTEXT) for verdict in Verdict]
        assert found == [allowing, denying, denying]


# -- hosts, tools of servers, names -------------------------------------------------------------------

HOSTS = [
    ("*", "anything:1", True), ("example.com", "example.com:443", True), ("example.com", "example.com", True),
    ("Example.COM", "example.com:80", True), ("example.com", "EXAMPLE.com", True), ("example.com", "www.example.com", False),
    ("example.com", "example.com.evil", False), ("example.com", "example.com.:443", True), ("example.com.", "example.com", True),
    ("*.example.com", "www.example.com:443", True), ("*.example.com", "a.example.com", True),
    ("*.example.com", "a.b.example.com", True),
    ("*.example.com", "example.com", False),
    ("*.example.com", ".example.com", False), ("*.example.com", "evilexample.com", False),
    ("example.com:443", "example.com:443", True),
    ("example.com:443", "example.com:80", False), ("example.com:443", "example.com", False),
    ("example.com:*", "example.com:80", True),
    ("example.com:*", "example.com", True), ("*:22", "a:22", True), ("*:22", "a:23", False), ("[::1]", "[::1]:80", True),
    ("[::1]:80", "[::1]:80", True), ("[::1]", "::1:80", True), ("[::1]:80", "::1:80", True), ("[::1]:81", "::1:80", False),
    ("[::1]:81", "[::1]:80", False), ("10.0.0.1", "10.0.0.1:8080", True),
    ("ex*", "example.com", False),
    ("", "example.com", False),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "subject", "wanted"), HOSTS)
def test_host(pattern: str, subject: str, wanted: bool) -> None:
    assert match_host(pattern, subject) is wanted
    found = [
        matches(Rule("network", pattern, verdict, "user"), "network", Subject((), (subject,)), CONTEXT) for verdict in Verdict
    ]
    assert found == [YES if wanted else NO] * 3


def test_a_host_that_is_not_known_could_be_any() -> None:
    found = [matches(Rule("network", "example.com", v, "user"), "network", Subject(unknown=True), CONTEXT) for v in Verdict]
    assert found == [NO, MAYBE, MAYBE]
    assert matches(Rule("network", "*", ALLOW, "user"), "network", Subject(unknown=True), CONTEXT) is YES


TOOLS = [
    ("mcp", "github/*", "github/delete_repo", True), ("mcp", "github/*", "gitlab/x", False),
    ("mcp", "*/delete_*", "a/delete_b", True),
    ("mcp", "github/delete_repo", "github/delete_repo", True), ("mcp", "github/delete_repo", "github/delete_repos", False),
    ("task", "review*", "reviewer", True), ("process", "hook", "hook", True), ("process", "hook", "hooks", False),
    ("sandbox", "off", "off", True),
]  # fmt: skip


@pytest.mark.parametrize(("key", "pattern", "subject", "wanted"), TOOLS)
def test_tool(key: str, pattern: str, subject: str, wanted: bool) -> None:
    for verdict in Verdict:
        found = matches(Rule(key, pattern, verdict, "user"), key, Subject((), (subject,)), CONTEXT)
        assert found is (YES if wanted else NO)


# -- `Tool(pattern)` --------------------------------------------------------------------------------

PARSED = [
    ("Bash(git push *)", ("bash", "git push *")), ("bash(git push *)", ("bash", "git push *")), ("BASH", ("bash", "*")),
    ("Bash()", ("bash", "*")), ("Bash( )", ("bash", "*")), ("Bash(*)", ("bash", "*")), ("  Bash( ls ) ", ("bash", "ls")),
    ("Shell(ls)", ("bash", "ls")), ("run_shell_command(ls)", ("bash", "ls")), ("Read(a)", ("read", "a")),
    ("Grep(a)", ("read", "a")),
    ("Edit(src/**)", ("edit", "src/**")), ("Write(a)", ("edit", "a")), ("MultiEdit", ("edit", "*")),
    ("apply_patch", ("edit", "*")),
    ("hashline(x)", ("edit", "x")), ("WebFetch(a.com)", ("network", "a.com")), ("mcp(a/b)", ("mcp", "a/b")),
    ("Task", ("task", "*")),
    ("external_directory(/a)", ("external_directory", "/a")), ("ExternalDirectory(/a)", ("external_directory", "/a")),
    ("Bash(echo (a) b)", ("bash", "echo (a) b")), ("Bash(a\nb)", ("bash", "a\nb")), ("plan", ("plan", "*")),
    ("sandbox(off)", ("sandbox", "off")), ("process(x)", ("process", "x")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), PARSED)
def test_parse(text: str, wanted: tuple[str, str]) -> None:
    assert parse_subject(text) == wanted
    assert parse_subject(show_rule(Rule(*wanted, DENY, "user"))) == wanted


@pytest.mark.parametrize("text", ["Reed(a)", "", "(a)", "Bash(a", "Bash a)", "Bash(a)b", "*", "Bash2(a)", "mcp__a__b(c)"])
def test_parse_refuses(text: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_subject(text)
    assert str(caught.value).startswith(f"`{text}` names no tool that exists; use one of read, edit, bash, network, ")


PATTERN_PROBLEMS = [
    ("bash", "a\0b", "a pattern cannot hold a newline or a NUL character"),
    ("bash", "a\nb", "a pattern cannot hold a newline or a NUL character"),
    ("read", "a" * 1001, "a pattern is limited to 1000 characters"),
    ("bash", ":*", "`:*` needs a command in front of it; write `*` for every command"),
    ("bash", "  :*", "`:*` needs a command in front of it; write `*` for every command"),
    ("mcp", "github", "an MCP rule names `server/tool`; write `github/*` for all tools of a server"),
]


@pytest.mark.parametrize(("key", "pattern", "message"), PATTERN_PROBLEMS)
def test_pattern_problem(key: str, pattern: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        check_pattern(key, pattern)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("key", "pattern"), [("bash", "a:*"), ("read", ":*"), ("mcp", "*"), ("mcp", "a/b"), ("read", "a" * 1000)]
)
def test_pattern_without_problem(key: str, pattern: str) -> None:
    check_pattern(key, pattern)
    assert Rule(key, pattern, ASK, "user").bare is (pattern == "*")


def test_names_of_rules() -> None:
    assert Rule("bash", "*", DENY, "user", "a.toml", 3).id == "user:a.toml:3"
    assert Rule("bash", "*", DENY, "builtin", "open/bash").id == "builtin:open/bash"
    assert str(Rule("bash", "git push *", DENY, "user")) == "bash git push * deny"
    assert [Rule("bash", p, ASK, "user").bare for p in ("*", "**", "***", "* *", "a")] == [True, True, False, False, False]
    assert LAYERS == ("builtin", "project", "user", "session", "cli", "managed")
    assert [RANK[layer] for layer in LAYERS] == [0, 1, 2, 3, 4, 5]


# -- rules that can never win -------------------------------------------------------------------------


def made(*texts: str) -> tuple[Rule, ...]:
    """`LAYER VERDICT SUBJECT`, in order; `held` is the layer of a project that is not trusted."""
    rules = []
    for line, text in enumerate(texts, 1):
        layer, verdict, subject = text.split(" ", 2)
        key, pattern = ("*", "*") if subject == "*" else parse_subject(subject)
        name = {"held": "project"}.get(layer, layer)
        rules.append(Rule(key, pattern, Verdict.parse(verdict), name, "t.toml", line, layer == "held"))
    return tuple(rules)


# The rules, and the pairs of lines (rule, what shadows it).
SHADOWED: list[tuple[tuple[str, ...], list[tuple[int, int]]]] = [
    ((), []),
    (("user allow Bash(ls)", "user deny Bash(ls)"), [(1, 2)]),
    (("user allow Bash(ls)", "user deny Bash"), [(1, 2)]),
    (("user allow Bash(ls)", "user deny *"), [(1, 2)]),
    (("user allow Bash(ls)", "user deny Read"), []),
    (("user allow Bash", "user deny Bash(ls)"), []),
    (("user allow Bash(git push origin)", "user deny Bash(git push *)"), [(1, 2)]),
    (("user allow Bash(git push:*)", "user deny Bash(git *)"), [(1, 2)]),
    (("user allow Bash(git push *)", "user deny Bash(git:*)"), [(1, 2)]),
    (("user allow Bash(git *)", "user deny Bash(git push *)"), []),
    (("user allow Bash(git* push)", "user deny Bash(git *)"), []),
    (("user allow Bash(ls)", "user deny Bash(ls *)", "user allow Bash"), [(1, 2), (2, 3)]),
    (("user allow mcp(a/b)", "user deny mcp(a/*)"), [(1, 2)]),
    (("user allow mcp(a/*)", "user deny mcp(a/b)"), []),
    (("user allow Read(a)", "user deny Read(a)"), [(1, 2)]),
    (("user allow Read(src/a)", "user deny Read(src/**)"), []),
    (("user allow WebFetch(a.com)", "user deny WebFetch(*.com)"), []),
    (("project deny Bash(git push *)", "user allow Bash"), []),
    (("project deny Bash(git push *)", "user allow Bash(git push *)"), [(1, 2)]),
    (("project allow Bash(git push *)", "user ask Bash"), [(1, 2)]),
    (("project deny Bash(git push *)", "project allow Bash"), [(1, 2)]),
    (("project deny Bash", "user allow Bash"), [(1, 2)]),
    (("held deny Bash(ls)", "user allow Bash(ls)"), []),
    (("user deny Bash(ls)", "held allow Bash(ls)"), []),
    (("builtin ask Bash", "user deny Bash"), []),
    (("held deny Bash(ls)", "user allow Bash(a)", "user deny Bash(a)"), [(2, 3)]),
    (("user allow Bash(a)", "user deny Bash(b)", "user deny Bash(a)"), [(1, 3)]),
    (("project ask Bash(a)", "user ask Bash"), [(1, 2)]),
    (("user allow task(ab)", "user deny task(a*)"), [(1, 2)]),
    (("user allow process(ab)", "user deny process(a*)"), [(1, 2)]),
    (("user allow plan(ab)", "user deny plan(a*)"), [(1, 2)]),
    (("user allow sandbox(off)", "user deny sandbox(o*)"), [(1, 2)]),
    (("user allow external_directory(ab)", "user deny external_directory(a*)"), []),
    (("user allow Bash(git* push)", "user deny Bash(g*)"), []),
    (("user allow Bash(a  b)", "user deny Bash(a b)"), []),
]


@pytest.mark.parametrize(("texts", "pairs"), SHADOWED)
def test_shadowed(texts: tuple[str, ...], pairs: list[tuple[int, int]]) -> None:
    assert [(rule.line, later.line) for rule, later in shadowed(made(*texts))] == pairs


# -- nothing that a pattern or a subject can be takes long ---------------------------------------------

LIMIT = 10.0  # seconds; each of these takes milliseconds
STARS = "*" * 1000
EVIL: list[tuple[str, Callable[[], object], object]] = [
    ("stars", lambda: star_match(STARS, "a" * 100_000), True),
    ("stars and a letter", lambda: star_match("a*" * 500 + "b", "a" * 100_000), False),
    ("stars and a letter, component", lambda: match_component("a*" * 500 + "b", "a" * 5_000), False),
    ("stars, component", lambda: match_component(STARS, "a" * 100_000), True),
    ("stars in a path", lambda: match_path("/".join(["**"] * 300) + "/b", "/a" * 1000, CONTEXT), False),
    ("stars in a name", lambda: match_path("*a" * 400, "/" + "/".join(["a" * 200] * 100), CONTEXT), False),
    ("holes", lambda: could_match("*a" * 500, (HOLE + "a") * 1000), True),
    ("holes beyond the bound", lambda: could_match("b" * 1000, "a" * 100_000), True),
    ("holes below the bound", lambda: could_match("b" * 1000, HOLE + "a" * 1000), False),
    ("stars, command", lambda: match_command(STARS, ("a",) * 50_000, allowing=False), YES),
    ("words that are not known", lambda: match_command("b *" * 300, (None,) * 400, allowing=False), MAYBE),
    ("classes", lambda: match_component("[" * 1000, "[" * 1000), True),
    ("open classes", lambda: match_component("*[" * 300, "[" * 3_000), True),
    ("ranges", lambda: match_component("[a-z]" * 200 + "*", "a" * 200), True),
    ("a regular expression", lambda: match_path("(a+)+$", "/w/" + "a" * 100_000 + "b", CONTEXT), False),
    ("labels", lambda: match_host("*." + "a." * 400 + "b", "a." * 50_000 + "b"), True),
    ("shadows", lambda: len(shadowed(made(*(f"user deny Bash(c{n} *)" for n in range(300))))), 0),
]  # fmt: skip


@pytest.mark.parametrize(("work", "wanted"), [row[1:] for row in EVIL], ids=[row[0] for row in EVIL])
def test_evil_patterns_end(work: Callable[[], object], wanted: object) -> None:
    begin = time.monotonic()
    assert work() == wanted
    assert time.monotonic() - begin < LIMIT


# -- paths as values ----------------------------------------------------------------------------------

LEXICAL = [("/a//b/./c/..", "/a/b"), ("//a", "/a"), ("/..", "/"), ("///", "/"), ("/a/", "/a"), ("/", "/")]


@pytest.mark.parametrize(("path", "wanted"), LEXICAL)
def test_lexical(path: str, wanted: str) -> None:
    assert lexical(path) == wanted


LINKS = CONTEXT._replace(
    files={
        "/w/app/out": FileFact("link", "/etc"), "/w/app/up": FileFact("link", "../other"),
        "/w/app/loop": FileFact("link", "loop"),
        "/w/app/two": FileFact("link", "out/ssh"), "/w/app/file": FileFact("file"), "/w/app/odd": FileFact("link", None),
        "/w/app/root": FileFact("link", "/"), "/w/app/dot": FileFact("link", "./src/."),
    }
)  # fmt: skip
CANONICAL = [
    ("/w/app/src/x", "/w/app/src/x"), ("/w/app/out", "/etc"), ("/w/app/out/passwd", "/etc/passwd"), ("/w/app/up/x", "/w/other/x"),
    ("/w/app/out/../x", "/x"), ("/w/app/src/../x", "/w/app/x"), ("/w/app/two", "/etc/ssh"), ("/w/app/loop", "/w/app/loop"),
    ("/w/app/file/x", "/w/app/file/x"), ("/w/app/odd", "/w/app/odd"), ("/w/app/root/etc", "/etc"), ("/../../x", "/x"), ("/", "/"),
    ("/w/app/dot/a", "/w/app/src/a"), ("/w/..", "/"), ("/w/app/root", "/"), ("/w/app/root/..", "/"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "wanted"), CANONICAL)
def test_canonical(path: str, wanted: str) -> None:
    assert canonical(path, LINKS) == wanted


def test_canonical_without_facts_is_lexical() -> None:
    assert canonical("/w/app/out/../x", CONTEXT) == "/w/app/x"


def test_inside() -> None:
    inner = [("/a/b", "/a"), ("/a", "/a"), ("/a", "/"), ("/", "/")]
    outer = [("/ab", "/a"), ("/", "/a"), ("/a", "/a/b")]
    assert [inside(*pair) for pair in inner + outer] == [True] * 4 + [False] * 3


ZONES = [
    ("/w/app", "workspace"), ("/w/app/x", "workspace"), ("/w/apple", "outside"), ("/root2/x", "workspace"), ("/tmp/own/x", "tmp"),
    ("/tmp/x", "outside"), ("/usr/lib/x", "system"), ("/usrx", "outside"), ("/etc/hosts", "system"), ("/dev/null", "device"),
    ("/dev/fd/3", "device"), ("/dev/sda", "outside"), ("/proc", "system"), ("/proc/cpuinfo", "system"), ("/proc/self", "system"),
    ("/proc/self/status", "system"), ("/proc/1/status", "system"), ("/proc/1/environ", "outside"),
    ("/proc/1/task/1/status", "outside"),
    ("/proc/sys/kernel", "system"), ("/proc/net/tcp", "system"), ("/proc/keys", "outside"), ("/proc/x/status", "outside"),
    ("/home/dev/.pyenv/versions/3.11/x", "system"), ("/home/dev/.pyenv/x", "outside"), ("/home/devx/.pyenv/versions", "outside"),
    ("/home/dev", "outside"), ("/", "outside"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "wanted"), ZONES)
def test_zone(path: str, wanted: str) -> None:
    assert zone(path, CONTEXT._replace(roots=("/root2",), tmp="/tmp/own")) == wanted


def test_zone_without_a_tmp_of_its_own() -> None:
    assert zone("/tmp/own/x", CONTEXT) == "outside"


GLOBS = [("/a/b*/c", "/a"), ("/a/b/c", "/a/b/c"), ("/*", "/"), ("/a/\\*/b?", "/a/*"), ("/a/../b/[x]", "/b"), ("/a/[x", "/a/[x")]


@pytest.mark.parametrize(("pattern", "folder"), GLOBS)
def test_glob_folder(pattern: str, folder: str) -> None:
    assert glob_folder(pattern) == folder
