"""What the configuration of a repository would start, and when that is asked about; git itself is the referee."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stockade.engine.judge import judge
from stockade.engine.repository import runs
from stockade.model.action import command_action
from stockade.model.context import Context
from stockade.model.decision import Decision
from stockade.model.verdict import Verdict
from stockade.policy.policy import build
from stockade.policy.rules import Rule
from stockade.vcs.config import Unreadable, entries
from tests.support.required import required

EVIL = [
    '[core]\n\tfsmonitor = "./x"', "[core]\nfsmonitor=./x ; a comment", "[Core]\nFsMonitor = ./x", "[core]fsmonitor = ./x",
    "[core]\n\tpager = sh x", '[diff]\n\texternal = ./x', '[diff "a b"]\n\ttextconv = ./x', "[diff.old]\n\tcommand = ./x",
    '[filter "f"]\n\tclean = ./x', '[filter "f"]\n\tprocess = ./x', '[filter "lfs"]\n\tclean = "git-lfs clean; ./x"',
    "[pager]\n\tlog = ./x", "[include]\n\tpath = other", '[includeIf "gitdir:/"]\n\tpath = other', "[gpg]\n\tprogram = ./x",
    '[gpg "ssh"]\n\tprogram = ./x', "[interactive]\n\tdiffFilter = ./x", "[core]\n\talternateRefsCommand = ./x",
    "[core]\n\tworktree = /", "[core]\n\tfsmonitor = \\\n./x", '[core]\n\tfsmonitor = "./x" # "', "no section = 1",
    "[core\nx = 1",
    "[core]\n\tbad_key = 1", "\ufeff[core]\n\tfsmonitor = ./x", "[core]\r\n\tfsmonitor = ./x\r\n",
]  # fmt: skip
HARMLESS = [
    "", "# a comment\n; another", "[core]\n\tbare = false\n\tfilemode", "[core]\n\tfsmonitor = true", "[core]\n\tfsmonitor",
    "[core]\n\tpager = less -FRX", '[pager]\n\tlog = false', '[diff]\n\texternal =', '[user]\n\tname = "A \\"B\\" # C"',
    '[remote "origin"]\n\turl = https://example.com/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*',
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true',
    '[alias]\n\tst = !./x', "[core]\n\thooksPath = .husky", "[credential]\n\thelper = store",
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git = tmp_path / "app" / ".git"
    for folder in (git / "objects", git / "refs", tmp_path / "app" / "src"):
        folder.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path / "app"


def decided(command: str, project: Path, *, rules: tuple[Rule, ...] = (), mode: str = "smart", trusts: bool = False) -> Decision:
    context = Context(str(project), str(project), str(project.parent))
    return judge(command_action(command), context, build(rules, mode_name=mode, trusts_repositories=trusts))


@pytest.mark.parametrize("text", EVIL)
def test_what_starts_a_program_asks(project: Path, text: str) -> None:
    (project / ".git" / "config").write_bytes(text.encode())
    assert runs(str(project / "src")).startswith("the repository's own configuration")
    decision = decided("git status", project)
    assert (decision.verdict, decision.rule) == (Verdict.ASK, "smart/project-code")
    assert decision.suggestion == 'guards.repository = "off"'
    assert decided("cd src && git log -1", project).verdict is Verdict.ASK
    assert decided("git status", project, trusts=True).verdict is Verdict.ALLOW
    rule = Rule("bash", "git *", Verdict.ALLOW, "user", "t.toml", 1)
    assert decided("git status", project, rules=(rule,), mode="default").verdict is Verdict.ASK
    assert decided("ls", project).verdict is Verdict.ALLOW


@pytest.mark.parametrize("text", HARMLESS)
def test_what_starts_nothing(project: Path, text: str) -> None:
    (project / ".git" / "config").write_text(text)
    assert runs(str(project)) == ""
    assert decided("git status", project).verdict is Verdict.ALLOW


def test_where_a_configuration_lies(project: Path) -> None:
    evil = "[core]\n\tfsmonitor = ./x\n"
    (project / ".git" / "config.worktree").write_text(evil)
    assert "config.worktree:2" in runs(str(project))
    (project / ".git" / "config.worktree").unlink()
    bare = project / "fixtures" / "b"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(evil)
    assert decided("git -C fixtures/b log", project).verdict is Verdict.ASK
    assert decided("cd fixtures/b && git log", project).verdict is Verdict.ASK
    assert decided("git log", project).verdict is Verdict.ALLOW
    linked = project / "linked"
    linked.mkdir()
    (linked / ".git").write_text("gitdir: ../fixtures/w\n")
    (project / "fixtures" / "w").mkdir()
    (project / "fixtures" / "w" / "commondir").write_text("../b\n")
    assert decided("git -C linked status", project).verdict is Verdict.ASK
    (project / ".git" / "config").mkdir()
    assert "cannot be read" in runs(str(project))


def test_a_configuration_without_end(project: Path) -> None:
    (project / ".git" / "config").write_text("[core]\n" + "\tbare = false\n" * 100_000)
    assert "too large" in runs(str(project))


LINES = [
    '[a]\n\tb = c', '[a "x y"]\n\tb = " c "', '[a "q\\"uo\\\\te"]\n\tb = 1', "[a]\n\tb", "[a]\n\tb =", "[a.sub]\n\tb = 2",
    '[a]\n\tb = "x # y" ; z', "[a]\n\tb = one \\\n  two", '[a]\n\tb = x\\ty\\nz', '[a] b = 1\n[c] d = 2', "[a]\n\tb-c1 = 3",
    "[A]\n\tB = C", '[a "B"]\n\tc = d',
]  # fmt: skip


@pytest.mark.parametrize("text", LINES)
def test_a_configuration_is_read_as_git_reads_it(tmp_path: Path, text: str) -> None:
    required("git")
    (tmp_path / "config").write_text(text + "\n")
    command = ["git", "config", "--file", "config", "--null", "--list"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    wanted = [tuple(one.partition("\n")[::2]) if "\n" in one else (one, "true") for one in done.stdout.split("\0")[:-1]]
    assert [(entry.shown, entry.value) for entry in entries(text)] == wanted


@pytest.mark.parametrize("text", ["[a", "[a]\n= 1", "[a]\n1b = 2", '[a "x]\nb = 1'])
def test_what_git_refuses_is_not_read(tmp_path: Path, text: str) -> None:
    required("git")
    (tmp_path / "config").write_text(text + "\n")
    done = subprocess.run(["git", "config", "--file", "config", "--list"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode != 0
    with pytest.raises(Unreadable):
        list(entries(text))
