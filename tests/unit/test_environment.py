"""The environment of a command: inherit, strip secrets, include only, set; in this order."""

from __future__ import annotations

from typing import Any

import pytest

from stockade.confine.environment import CORE, ChildEnv, compose, secret_name

PARENT = {
    "PATH": "/bin", "HOME": "/home/dev", "LANG": "C", "PWD": "/w", "EDITOR": "vi", "API_KEY": "k", "my_secret": "s",
    "Token_2": "t",
    "MONKEY": "m", "BASH_ENV": "/x", "ENV": "/x", "LD_PRELOAD": "x.so", "PS4": "$(x)", "IFS": "x", "BASH_FUNC_ls%%": "() { x; }",
    "GIT_PAGER": "less",
}  # fmt: skip
OPEN: dict[str, Any] = {"inherit": "all", "strip_secrets": True, "include_only": (), "fixed": {}}
SECRET = ("API_KEY", "MONKEY", "Token_2", "my_secret")
PLAIN = {"PATH": "/bin", "HOME": "/home/dev", "LANG": "C", "PWD": "/w", "EDITOR": "vi", "GIT_PAGER": "less"}
CASES: list[tuple[str, dict[str, Any], dict[str, str], tuple[str, ...]]] = [
    ("all, without what is secret and what changes the reader", {}, PLAIN, SECRET),
    ("core", {"inherit": "core"}, {name: PARENT[name] for name in ("PATH", "HOME", "LANG", "PWD")}, ()),
    ("none", {"inherit": "none"}, {}, ()),
    ("secrets stay where that is asked for", {"strip_secrets": False},
     PLAIN | {name: PARENT[name] for name in SECRET}, ()),
    ("only", {"include_only": ["PATH", "EDITOR", "NOT_SET"]}, {"PATH": "/bin", "EDITOR": "vi"}, SECRET),
    ("only does not bring a secret back", {"include_only": ["PATH", "API_KEY"]}, {"PATH": "/bin"}, SECRET),
    ("only does not bring back what changes the reader", {"include_only": ["BASH_ENV", "LD_PRELOAD"]}, {}, SECRET),
    ("only what was inherited", {"inherit": "core", "include_only": ["EDITOR", "LANG"]}, {"LANG": "C"}, ()),
    ("set is last", {"inherit": "none", "fixed": {"PATH": "/usr/bin", "API_KEY": "own"}}, {"PATH": "/usr/bin",
    "API_KEY": "own"}, ()),
    ("set brings back what was stripped", {"fixed": {"API_KEY": "own"}}, PLAIN | {"API_KEY": "own"}, SECRET),
    ("set is not filtered by only", {"include_only": ["PATH"], "fixed": {"A": "1"}}, {"PATH": "/bin", "A": "1"}, SECRET),
]  # fmt: skip


@pytest.mark.parametrize(("how", "variables", "withheld"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_compose(how: dict[str, Any], variables: dict[str, str], withheld: tuple[str, ...]) -> None:
    before = dict(PARENT)
    assert compose(PARENT, **(OPEN | how)) == ChildEnv(variables, withheld)
    assert before == PARENT


NAMES = [("API_KEY", True), ("apikey", True), ("MY_SECRETS", True), ("token", True), ("GITHUB_TOKEN_FILE", True),
("PASSWORD", False),
         ("PATH", False), ("", False), ("TOKE", False)]  # fmt: skip


@pytest.mark.parametrize(("name", "wanted"), NAMES)
def test_secret_names(name: str, wanted: bool) -> None:
    assert secret_name(name) is wanted


def test_the_core_has_no_secret_and_nothing_that_changes_the_reader() -> None:
    kept = compose(dict.fromkeys(CORE, "x"), **OPEN)
    assert kept == ChildEnv(dict.fromkeys(CORE, "x"), ())
