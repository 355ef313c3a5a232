"""Files that define what an approved command runs: found, digested, and compared by grants and pinned rules."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stockade.engine import definitions as module
from stockade.engine.definitions import MISSING, definitions, digest_of
from stockade.engine.judge import judge
from stockade.model.action import command_action
from stockade.model.context import Context
from stockade.model.decision import Decision, digest
from stockade.model.verdict import Verdict
from stockade.policy.grants import UNREADABLE, Grants
from stockade.policy.policy import build, pin_name
from stockade.policy.rules import Rule
from stockade.shell import analyze
from stockade.store.pins import pin, pins


@pytest.fixture
def project(tmp_path: Path) -> Path:
    app = tmp_path / "app"
    for folder in ("src", "tests", "web", "node_modules/x", ".venv/bin", ".git"):
        (app / folder).mkdir(parents=True)
    (app / "package.json").write_text(json.dumps({"name": "app", "scripts": {"test": "jest"}}))
    (app / "Makefile").write_text("test:\n\tpytest\n")
    (app / "tests" / "conftest.py").write_text("x = 1\n")
    (app / "node_modules" / "x" / "conftest.py").write_text("x = 1\n")
    (app / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (app / ".venv" / "bin" / "conftest.py").write_text("x = 1\n")
    (app / ".venv" / "bin" / "python").write_text("#!/bin/sh\n")
    (app / "src" / "app.py").write_text("print(1)\n")
    return app


def context(project: Path, cwd: str = "") -> Context:
    return Context(str(project / cwd) if cwd else str(project), str(project), str(project.parent))


def found(command: str, project: Path, cwd: str = "") -> dict[str, str]:
    where = context(project, cwd)
    return {os.path.relpath(path, project): d for path, d in definitions(analyze(command, where), where).items()}


def decided(command: str, project: Path, grants: Grants, **settings: object) -> Decision:
    return judge(command_action(command), context(project), build((), mode_name="default", grants=grants, **settings))  # type: ignore[arg-type]


PLACES = [
    ("make test", "", {"Makefile"}), ("npm test", "", {"package.json#scripts"}), ("npm test", "web", {"package.json#scripts"}),
    ("pytest -q", "", {"tests/conftest.py"}), ("python -m pytest tests", "", {"tests/conftest.py"}),
    ("cd web && make", "", {"Makefile"}), ("ls && pytest | tail", "", {"tests/conftest.py"}),
    (".venv/bin/python -m pytest", "", {".venv/bin/python", "tests/conftest.py"}),
    ("./Makefile", "", {"Makefile"}), ("ls src", "", set()),
    ("python src/app.py", "", set()), ("/usr/bin/python3 x.py", "", set()), ("timeout 5 npx jest", "", {"package.json#jest"}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "cwd", "wanted"), PLACES, ids=[f"{c} in {d or '.'}" for c, d, _ in PLACES])
def test_the_files_that_define_a_command(project: Path, command: str, cwd: str, wanted: set[str]) -> None:
    assert {path for path, digest in found(command, project, cwd).items() if digest != MISSING} == wanted


CHANGES = [
    ("npm test", "package.json", '{"name": "app", "scripts": {"test": "curl evil"}}'), ("make", "Makefile", "test:\n\tevil\n"),
    ("make", "GNUmakefile", "all:\n\tevil\n"), ("pytest", "conftest.py", "evil"), ("pytest", "src/deep/conftest.py", "evil"),
    ("pytest", "tests/conftest.py", "evil"), ("pytest", "pytest.ini", "[pytest]\naddopts = -p evil\n"),
    ("make", "rules.mk", "x:\n"),
    (".venv/bin/python -V", ".venv/bin/python", "evil"), ("npm test", "package.json", "not json"),
    ("npx jest", "jest.config.js", "x"),
    ("cargo test", "build.rs", "evil"), ("npm test", ".npmrc", "script-shell=evil"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "file", "text"), CHANGES, ids=[f"{c}: {f}" for c, f, _ in CHANGES])
def test_a_grant_ends_when_what_it_runs_changes(project: Path, command: str, file: str, text: str) -> None:
    here = context(project)
    grants = Grants().with_exact(digest(command_action(command), here.cwd), definitions(analyze(command, here), here))
    assert decided(command, project, grants).layer == "grant"
    (project / "src" / "app.py").write_text("print(2)\n")
    (project / "package.json").write_text(json.dumps({"version": "2", "scripts": {"test": "jest"}}, indent=2))
    assert decided(command, project, grants).layer == "grant"  # ordinary edits do not count
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    decision = decided(command, project, grants)
    assert decision.verdict is Verdict.ASK
    assert f"approved before, but since then `{file}" in decision.reason
    renewed = grants.with_exact(digest(command_action(command), here.cwd), definitions(analyze(command, here), here))
    assert decided(command, project, renewed).layer == "grant"


def test_a_file_that_was_taken_away_counts_as_changed(project: Path) -> None:
    here = context(project)
    grants = Grants().with_exact(digest(command_action("make"), here.cwd), definitions(analyze("make", here), here))
    (project / "Makefile").unlink()
    assert decided("make", project, grants).verdict is Verdict.ASK


def test_a_grant_by_tool_covers_only_what_it_has_seen(project: Path) -> None:
    here = context(project)
    grants = Grants().with_tool("bash", definitions(analyze("make", here), here))
    assert decided("make all", project, grants, grants_policy="tool").layer == "grant"
    assert decided("make", project, grants, grants_policy="tool").layer == "grant"
    assert decided("npm test", project, grants, grants_policy="tool").verdict is Verdict.ASK
    more = grants.with_tool("bash", definitions(analyze("npm test", here), here))
    assert decided("npm test", project, more, grants_policy="tool").layer == "grant"
    assert decided("make", project, more, grants_policy="tool").layer == "grant"


def test_what_cannot_be_looked_at_equals_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(project / "pytest.ini")
    assert digest_of(str(project / "pytest.ini")) == UNREADABLE
    assert digest_of(str(project / "src")) == UNREADABLE
    assert digest_of(str(project / "Makefile" / "x")) == MISSING
    here = context(project)
    grants = Grants().with_exact(digest(command_action("pytest"), here.cwd), definitions(analyze("pytest", here), here))
    assert decided("pytest", project, grants).verdict is Verdict.ASK
    (project / "pytest.ini").unlink()
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    assert UNREADABLE in found("pytest", project).values()


RULE = Rule("bash", "npm test *", Verdict.ALLOW, "user", "config.toml", 3, pinned=True)


def pinned(command: str, project: Path, state: Path, mode: str = "smart") -> Decision:
    policy = build((RULE,), mode_name=mode, pins=pins(str(state / "pins.json"), str(project)))
    return judge(command_action(command), context(project), policy)


def test_a_pinned_rule_allows_what_a_person_agreed_to(project: Path, tmp_path: Path) -> None:
    decision = pinned("npm test", project, tmp_path)
    assert (decision.verdict, decision.rule) == (Verdict.ASK, RULE.id)
    assert "nobody has agreed" in decision.reason
    assert decision.suggestion == ""
    assert pinned("npm test", project, tmp_path, "full").verdict is Verdict.ASK
    assert pinned("npm test", project, tmp_path, "dontAsk").verdict is Verdict.DENY
    here = context(project)
    pin(str(tmp_path / "pins.json"), str(project), [pin_name(RULE)], definitions(analyze("npm test", here), here))
    assert pinned("npm test", project, tmp_path).verdict is Verdict.ALLOW
    assert pinned("npm test -- -t x", project, tmp_path).verdict is Verdict.ALLOW
    assert pinned("cd web && npm test", project, tmp_path).verdict is Verdict.ASK  # web/package.json was not known to be missing
    (project / "package.json").write_text('{"scripts": {"test": "curl evil"}}')
    decision = pinned("npm test", project, tmp_path)
    assert decision.verdict is Verdict.ASK
    assert decision.reason == "the rule is pinned, and since then `package.json#scripts` changed"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"%s": 5}', '{"%s": {"allow bash npm test *": 5}}', "[" * 100_000])
def test_a_store_of_pins_that_cannot_be_read_holds_nothing(project: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "pins.json").write_text(text.replace("%s", str(project)))
    assert pinned("npm test", project, tmp_path).verdict is Verdict.ASK
    pin(str(tmp_path / "pins.json"), str(project), [pin_name(RULE)], {"a": "1"})
    assert pins(str(tmp_path / "pins.json"), str(project)) == {pin_name(RULE): {"a": "1"}}
