"""Nothing that can be asked makes the decision fail, run without end, or come out as an allow."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stockade.engine.judge import judge
from stockade.model.action import ActionError, command_action, from_tool
from stockade.model.context import Context
from stockade.model.verdict import Verdict
from stockade.policy.policy import Policy, build
from stockade.policy.rules import Rule
from stockade.shell import analyze
from tests.support.corpora import CONTEXT

LIMIT = 10.0  # seconds of work for one decision; each of these takes a fraction of it
DEEP = 10_000
BIG = 1 << 20
HELD = 64 << 10  # as much as is read

NESTED = {
    name: opening * DEEP + middle + closing * DEEP
    for name, opening, middle, closing in (
        ("(", "(", "ls", ")"), ("( open", "( ", "ls", ""), ("[", "[ ", "x", " ]"), ("[[ (", "[[ ", "x", " ]]"),
        ("{", "{ ", "ls; ", "}; "),
        ("{a,", "echo {a,", "b", "}"), ("$(", "$(", "ls", ")"), ('"$(', '"$(', "ls", ')"'), ("`", "`", "ls", "`"),
        ("${x:-", "${x:-", "y", "}"),
        ("$((", "$((", "1", "))"), ('"', '"', "", ""), ("'", "'", "", "'x"), ("\\", "\\", "ls", ""),
        ("if", "if ", "ls", "; then :; fi"),
        ("case", "case x in x) ", "ls", ";; esac"), ("while", "while ", "ls", "; do :; done"), ("!", "! ", "ls", ""),
        ("<(", "cat <(", "ls", ")"),
        ("for", "for x in a; do ", "ls", "; done"), ("f()", "f() { ", "ls", "; }"), ("eval", "eval ", "ls", ""),
        ("sudo", "sudo ", "ls", ""),
        ("bash -c", "bash -c '", "ls", "'"), ("env", "env A=1 ", "ls", ""), ("xargs", "xargs ", "ls", ""), ("$[", "$[", "1", "]"),
        ("&&", "ls && ", "ls", ""), ("x=", "x=", "y", ""), ("a[", "a[", "0", "]=1"), ("time", "time ", "ls", ""),
    )
}  # fmt: skip
ODD = {
    "NUL": "ls\0-la", "NUL at the end": "ls\0", "carriage return": "ls\r\nrm -r src", "carriage return in a word": "ls a\rb",
    "a lone surrogate": "ls \ud800", "bytes that are no text": "ls \udcff\udcfe", "a control character": "ls \x1b[2J",
    "backspace": "ls \b\brm",
    "a right-to-left mark": "ls \u202e", "a byte order mark": "\ufeffls", "a no-break space": "ls\u00a0-la",
    "a wide space": "ls\u3000rm",
    "a letter that looks like another": "l\u0455 -la", "no word": "''", "a quote": "'", "a backslash": "\\",
    "a dollar": "$", "dots": "...", "a bang": "!",
    "a semicolon": ";", "an ampersand": "&", "two bars": "||", "a redirection": ">", "a closing brace": "}",
    "a closing bracket": ")",
    "a here-document without an end": "cat <<E\nx", "an odd number": "ls 99999999999999999999>x",
    "a huge descriptor": "exec 99999999999>x",
}  # fmt: skip
LONG = {
    "a word": "a" * BIG, "words": "a " * (BIG // 2), "text with a newline": "ls\n" * (BIG // 3),
    "spaces": "ls" + " " * BIG, "quotes": "'" * BIG,
    "dollars": "$x" * (BIG // 2), "stars": "ls " + "*" * BIG, "backslashes": "ls " + "\\" * BIG, "a comment": "ls # " + "x" * BIG,
    "letters of three bytes": "\u20ac" * (BIG // 3),
    "surrogates": "\udcff" * BIG, "NULs": "\0" * BIG, "a quoted text": f"echo '{'a' * BIG}'",
}  # fmt: skip
MANY = {
    "pipes": "ls" + "|ls" * (HELD // 3 - 1), "semicolons": "ls;" * (HELD // 3 - 1),
    "ands": "ls&&" * (HELD // 4 - 2) + "ls", "jobs": "ls&" * (HELD // 3 - 1),
    "empty semicolons": ";" * (HELD - 1), "here-documents": "cat <<E\nE\n" * (HELD // 10 - 1),
    "here-documents in a row": "cat" + " <<E" * 10_000 + "\n" + "E\n" * 10_000,
    "here-strings": "cat" + " <<<x" * 4_000, "redirections": "ls" + " >x" * 4_000, "substitutions": "echo" + " $(ls)" * 10_000,
    "assignments": "".join(f"x{n}=$x{n - 1}$x{n - 1};" for n in range(1, 3_000)) + "$x2999",
    "doubling": "x=aa;" + "x=$x$x;" * 5_000 + "$x",
    "functions": "".join(f"f{n}() {{ f{n + 1}; f{n + 1}; }};" for n in range(1_500)) + "f0",
    "a function that calls itself": "f() { f|f& }; f",
    "braces": "echo {1..999999}", "braces in braces": "echo " + "{a,b}" * 1_000,
    "braces and numbers": "rm {1..9999}{1..9999}{1..9999}",
    "braces with a step": "echo {1..999999999..1}", "negative braces": "echo {-999999999..999999999}",
    "letters": "echo {a..z}{a..z}{a..z}{a..z}{a..z}",
    "open braces": "echo " + "{" * 20_000, "commas": "echo {" + "," * 60_000 + "}", "globs": "ls " + "*/" * 20_000,
    "classes": "ls " + "[a-z]" * 10_000,
    "open classes": "ls " + "[" * 60_000, "extended globs": "ls " + "+(a" * 10_000 + ")" * 10_000,
    "arithmetic": "echo $((" + "1+" * 30_000 + "1))",
    "powers": "echo $((9**9**9**9**9))", "a huge number": "echo $((" + "9" * 60_000 + "))",
    "shifts": "echo $((1<<99999999999))", "printf": "x=$(printf %999999999d 1); $x",
    "repeats": "printf -v x %1000000s; $x", "patterns": "x=" + "a" * 30_000 + "; echo ${x//a*a*a*a*a*b/}",
    "slices": "x=" + "a" * 30_000 + "; echo ${x:0:99999999}",
    "options": "ls " + "-" * 60_000, "flags": "git " + "-c a=b " * 8_000 + "status",
    "paths": "cat " + "../" * 20_000 + "etc/passwd", "slashes": "cat " + "/" * 60_000,
    "cases": "case x in " + "a|" * 20_000 + "b) ls;; esac", "aliases": "alias " + "a='a a' " * 5_000 + "; a",
    "xargs": "xargs " * 10_000 + "ls",
    "loops": "for x in " + "a " * 20_000 + "; do for y in $x; do $x$y; done; done",
    "sed": "sed -e " + "'s/a/b/;'" * 5_000 + " f", "awk": "awk '" + "{" * 20_000 + "' f",
    "find": "find . " + "-exec " * 8_000 + "ls", "tests": "[ " + "a -a " * 10_000 + "a ]",
    "conditions": "[[ " + "a && " * 10_000 + "a ]]", "ends": "ls" + "\\\n" * 30_000,
}  # fmt: skip
# What `smart` may allow all the same: it is long or odd, and does no more than read, or write ordinary files of the project.
ORDINARY = frozenset((
    "[", "!", "x=", "time", "&&", "a here-document without an end", "an odd number", "a huge descriptor", "pipes",
    "semicolons", "ands",
    "here-documents", "here-documents in a row", "here-strings", "redirections", "open braces", "globs", "classes",
    "open classes",
    "arithmetic", "powers", "a huge number", "shifts", "patterns", "slices", "paths", "cases", "sed", "awk", "tests", "ends",
))  # fmt: skip


def _evil() -> Policy:
    """An open policy whose rules would take any careless matcher without end."""
    commands = ("*" * 1000, "*a" * 500, "(a+)+$", "[" * 1000, "a{1,99999}", "^(.*)*$", "\\" * 999, ".*" * 500)
    paths = ("**/" * 300 + "x", "*a" * 500, "[!" * 500)
    rules = [Rule("bash", pattern, Verdict.DENY, "user", "t", 1) for pattern in commands]
    rules += [Rule(key, pattern, Verdict.DENY, "user", "t", 1) for pattern in paths for key in ("read", "edit")]
    return build(tuple(rules), mode_name="default", posture="open")


SMART, EVIL = build((), mode_name="smart"), _evil()
EVERYTHING = {
    f"{kind}: {name}": text
    for kind, texts in (("nested", NESTED), ("odd", ODD), ("long", LONG), ("many", MANY))
    for name, text in texts.items()
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_decided_in_time_and_not_allowed(name: str) -> None:
    begin = time.process_time()
    decisions = [judge(command_action(EVERYTHING[name]), CONTEXT, policy, look=False) for policy in (SMART, EVIL)]
    assert [d.rule for d in decisions if d.rule == "guard/internal-error"] == [], decisions[0].reason
    if name.partition(": ")[2] not in ORDINARY:
        assert decisions[0].verdict is not Verdict.ALLOW, decisions[0].reason
    assert time.process_time() - begin < 2 * LIMIT


@pytest.mark.parametrize("name", [f"nested: {n}" for n in NESTED] + [f"long: {n}" for n in LONG])
def test_the_reader_never_raises(name: str) -> None:
    analysis = analyze(EVERYTHING[name], CONTEXT)
    assert analysis.error is not None or not analysis.complete or len(analysis.segments) > 0


TOOLS = [
    ("read_file", {"path": "a" * BIG}), ("read_file", {"path": "/" * BIG}), ("read_file", {"path": "../" * (BIG // 3)}),
    ("read_file", {"path": "a/" * (BIG // 16)}),
    ("read_file", {"path": "a\0b"}), ("write_file", {"path": "\ud800"}), ("write_file", {"path": "*" * BIG}),
    ("write_file", {"path": "~" * BIG}),
    ("apply_patch", {"patch": "*** Add File: a\n" * 2_000}), ("apply_patch", {"files": ["../x"] * 2_000}),
    ("webfetch", {"url": "https://" + "a." * (BIG // 2)}),
    ("webfetch", {"url": "https://" + "@" * BIG}), ("webfetch", {"url": "://" * (BIG // 3)}), ("mcp__" + "a" * BIG, {}),
    ("mcp__" + "_" * BIG, {}),
    ("task", {"name": "a" * BIG}), ("process", {"name": {"a": ["b"] * 1000}}), ("bash", {"command": "\0" * BIG}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given"), TOOLS, ids=[f"{t[:12]} {str(g)[:30]!r}" for t, g in TOOLS])
def test_tool_calls(tool: str, given: dict[str, object]) -> None:
    begin = time.process_time()
    for policy in (SMART, EVIL):
        assert judge(from_tool(tool, given), CONTEXT, policy, look=False).rule != "guard/internal-error"
    assert time.process_time() - begin < 2 * LIMIT


@pytest.mark.parametrize("given", [{"path": None, "files": [None]}, {"files": ["x"] * 20_000 + [1]}, {"patch": "+\n" * BIG}])
def test_tool_calls_without_a_path(given: dict[str, object]) -> None:
    with pytest.raises(ActionError):
        from_tool("edit", given)


# -- nothing is left unlooked at ------------------------------------------------------------------------


@pytest.mark.parametrize("count", [10, 600, 5_000])
def test_a_link_behind_many_names_is_seen(tmp_path: Path, count: int) -> None:
    (tmp_path / "app/src").mkdir(parents=True)
    (tmp_path / "other").write_text("")
    (tmp_path / "app/src/link").symlink_to("../../other")
    app = str(tmp_path / "app")
    context = Context(app, app, str(tmp_path / "home"))
    names = [*(f"f{n}" for n in range(count)), "src/link"]
    for action in (command_action("cat " + " ".join(names)), from_tool("apply_patch", {"files": names})):
        assert judge(action, context, SMART).verdict is not Verdict.ALLOW
