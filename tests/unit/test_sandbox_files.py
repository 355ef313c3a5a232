"""What a look at a workspace finds, which parts of git stay, and what the sweep puts away: on real files, by real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from stockade.confine.index import Find, Index, load, look, save
from stockade.confine.repositories import Shared, changing, parts, shared
from stockade.confine.sweep import git_state, put_back, saved, sweep
from tests.support.required import required


def git(folder: Path, *words: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_TEMPLATE_DIR": ""}
    config = ["-c", "user.name=a", "-c", "user.email=b", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *config, *words], cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    required("git")
    root = tmp_path / "app"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a").write_text("a")
    git(root, "add", "a")
    git(root, "commit", "-qm", "one")
    return root


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# -- the look ------------------------------------------------------------------------------------------

FINDS = [
    ("a/.env", "secret"), ("a/prod.env", "secret"), ("a/.env.example", None), ("credentials.json", "secret"),
    ("a.tfstate", "secret"),
    ("deep/er/.vscode/tasks.json", "held:deep/er/.vscode"), (".github/workflows/ci.yml", "held:.github/workflows"),
    (".github/CODEOWNERS", None), (".cargo/config.toml", "held"), ("x/.envrc", "held"), ("x/AGENTS.md", None),
    ("node_modules/p/.env", "secret"), ("node_modules/p/credentials.json", None), ("node_modules/p/.npmrc", None),
    ("node_modules/p/.github/workflows/ci.yml", None), ("node_modules/p/.vscode/x", None),
]  # fmt: skip


@pytest.mark.parametrize(("path", "wanted"), FINDS)
def test_a_find(tmp_path: Path, path: str, wanted: str | None) -> None:
    write(tmp_path / path)
    found = [(find.sort, os.path.relpath(find.path, tmp_path)) for find in look(str(tmp_path)).finds if find.sort != "pin"]
    sort, _, where = (wanted or "").partition(":")
    assert found == ([(sort, where or path)] if wanted else [])


CONTENTS = [
    ("k.pem", "-----BEGIN CERTIFICATE-----", None), ("k.pem", "-----BEGIN PRIVATE KEY-----", "secret"),
    (".npmrc", "registry=https://r", "held"), (".npmrc", "//r/:_authToken=x", "secret"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "wanted"), CONTENTS)
def test_some_are_told_by_their_content_each_time(tmp_path: Path, name: str, text: str, wanted: str | None) -> None:
    path = write(tmp_path / name, "harmless")
    first = look(str(tmp_path))
    path.write_text(text)
    again = look(str(tmp_path), first.known)
    assert [find.sort for find in again.finds] == ([wanted] if wanted else [])


def test_a_folder_that_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a" / "b" / ".env")
    known = {path: (1 << 62, folders, finds) for path, (_, folders, finds) in look(str(tmp_path)).known.items()}
    for path in known:
        known[path] = (os.lstat(path).st_ctime_ns, *known[path][1:])
    read: list[str] = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (read.append(str(path)), real(path))[1])
    assert look(str(tmp_path), known).finds == (Find(f"{tmp_path}/a/b/.env", "secret"),)
    assert read == []
    write(tmp_path / "a" / ".envrc")
    assert {find.sort for find in look(str(tmp_path), known).finds} == {"secret", "held"}
    assert read == [f"{tmp_path}/a"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "out" / ".env")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to("../out")
    (tmp_path / "in" / ".git").symlink_to("../out")
    assert look(f"{tmp_path}/in").finds == (Find(f"{tmp_path}/in/.git", "gitlink"),)


def test_a_root_that_looks_like_a_bare_repository_is_searched_all_the_same(tmp_path: Path) -> None:
    for name in ("HEAD", "objects/x", "refs/x", "sub/.env"):
        write(tmp_path / name)
    assert {find.sort for find in look(str(tmp_path)).finds} == {"git", "secret"}


def test_a_look_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "w" / ".env")
    index = look(f"{tmp_path}/w")
    save(f"{tmp_path}/s", index)
    assert load(f"{tmp_path}/s", f"{tmp_path}/w") == index.known
    assert load(f"{tmp_path}/s", f"{tmp_path}/other") == {}
    (kept,) = (tmp_path / "s").iterdir()
    kept.write_bytes(b"nonsense")
    assert load(f"{tmp_path}/s", f"{tmp_path}/w") == {}


# -- parts of git --------------------------------------------------------------------------------------


def test_parts_of_a_repository_with_a_submodule_and_a_work_tree(repository: Path) -> None:
    git(repository, "submodule", "--quiet", "add", str(repository), "lib")
    git(repository, "worktree", "add", "-q", "../wt")
    write(repository / ".git" / "hooks" / "pre-commit")
    base = f"{repository}/.git"
    assert sorted(path.removeprefix(base) for path in parts(base)) == [
        "/config", "/hooks", "/worktrees/wt/commondir", "/worktrees/wt/gitdir",
    ]  # fmt: skip
    assert list(changing(base)) == [f"{base}/modules/lib/config"]


def test_a_work_tree_shares_its_repository_only_if_that_names_it(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "../wt")
    base = f"{repository}/.git"
    assert shared(f"{tmp_path}/wt/.git")[:4] == (
        Shared(base, False), Shared(f"{base}/worktrees/wt", True), Shared(f"{base}/objects", True), Shared(f"{base}/refs", True),
    )  # fmt: skip
    thief = write(tmp_path / "thief" / ".git", f"gitdir: {base}/worktrees/wt\n")
    assert shared(str(thief)) == ()
    assert shared(str(write(tmp_path / "other" / ".git", f"gitdir: {base}\n"))) == ()


# -- the sweep -----------------------------------------------------------------------------------------


class Sweeper:
    """A workspace before and after: what was put away, by its path in it."""

    def __init__(self, root: Path) -> None:
        self.root, self.keep = root, root.parent / "kept"
        self.before: Index = look(str(root))
        self.state = git_state(self.before.finds)
        self.saved = saved(self.before.finds)

    def __call__(self) -> list[str]:
        moved = sweep(self.before, look(str(self.root)), self.state, str(self.keep))
        put_back(moved, self.saved)
        assert all(os.path.lexists(one.kept) and one.why for one in moved)
        return sorted(os.path.relpath(one.path, self.root) for one in moved)


HARMFUL = [
    (".git/hooks/post-commit", "#!/bin/sh", ".git/hooks/post-commit"),
    (".git/config.worktree", "[core]\nfsmonitor = x\n", ".git/config.worktree"),
    (".git/info/attributes", "* filter=x\n", ".git/info/attributes"),
    (".git/commondir", "/tmp/evil\n", ".git/commondir"),
    ("sub/.vscode/tasks.json", "{}", "sub/.vscode"),
    ("sub/.envrc", "x", "sub/.envrc"),
    ("sub/.git", "gitdir: /tmp/evil\n", "sub/.git"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "gone"), HARMFUL)
def test_what_is_new_and_would_run_is_put_away(repository: Path, path: str, text: str, gone: str) -> None:
    swept = Sweeper(repository)
    write(repository / path, text)
    assert swept() == [gone]
    assert not os.path.lexists(repository / gone)
    assert swept() == []


def test_honest_work_stays(repository: Path) -> None:
    swept = Sweeper(repository)
    (repository / "b").write_text("b")
    git(repository, "add", "b")
    git(repository, "commit", "-qm", "two")
    git(repository, "worktree", "add", "-q", "inside")
    git(repository, "clone", "-q", ".", "clone")
    git(repository, "init", "-q", "new")
    git(repository / "new", "submodule", "--quiet", "add", str(repository), "lib")
    write(repository / ".git" / "hooks" / "x.sample")
    write(repository / "AGENTS.md")
    assert swept() == []


def test_settings_of_agents_that_came_with_a_clone_stay_and_others_do_not(repository: Path) -> None:
    swept = Sweeper(repository)
    git(repository, "clone", "-q", ".", "clone")
    write(repository / "clone" / ".vscode" / "tasks.json")
    write(repository / "there" / "x")
    assert swept() == []
    again = Sweeper(repository)
    git(repository / "there", "init", "-q", ".")
    write(repository / "there" / ".vscode" / "tasks.json")
    write(repository / ".vscode" / "tasks.json")
    assert again() == [".vscode", "there/.vscode"]


def test_a_repository_that_was_moved_keeps_its_own_hooks(repository: Path) -> None:
    git(repository, "init", "-q", "sub")
    write(repository / "sub" / ".git" / "hooks" / "pre-commit")
    git(repository / "sub", "config", "core.hooksPath", "x")
    swept = Sweeper(repository)
    (repository / "sub").rename(repository / "elsewhere")
    assert swept() == []
    write(repository / "elsewhere" / ".git" / "hooks" / "post-commit")
    assert swept() == ["elsewhere/.git/hooks/post-commit"]


CONFIGS = [
    "[core]\nhooksPath = x\n", "[core]\nsshCommand = x\n", "[alias]\nst = !x\n", "[filter \"x\"]\nclean = x\n",
    "[include]\npath = x\n",
    "[remote \"o\"]\nurl = ext::sh -c x\n", "[remote \"o\"]\nuploadpack = x\n", "[diff \"x\"]\ntextconv = x\n",
    "[credential]\nhelper = x\n",
    "[submodule \"x\"]\nupdate = !x\n", "[init]\ntemplateDir = x\n", "not a config",
]  # fmt: skip


@pytest.mark.parametrize("text", CONFIGS)
def test_a_new_repository_that_would_run_something_goes_away_whole(repository: Path, text: str) -> None:
    swept = Sweeper(repository)
    git(repository, "init", "-q", "new")
    with (repository / "new" / ".git" / "config").open("a") as stream:
        stream.write(text)
    assert swept() == ["new/.git"]


def test_a_link_in_the_place_of_a_repository(repository: Path) -> None:
    swept = Sweeper(repository)
    (repository / "sub").mkdir()
    (repository / "sub" / ".git").symlink_to("../evil")
    assert swept() == ["sub/.git"]


def test_the_configuration_of_a_submodule_is_written_back(repository: Path) -> None:
    git(repository, "submodule", "--quiet", "add", str(repository), "lib")
    swept = Sweeper(repository)
    config = repository / ".git" / "modules" / "lib" / "config"
    before = config.read_text()
    git(repository / "lib", "config", "status.short", "true")
    assert swept() == []
    config.write_text("[core]\nfsmonitor = x\n")
    assert swept() == [".git/modules/lib/config"]
    assert config.read_text() == before
