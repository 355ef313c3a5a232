"""Deciding on a machine: links are followed first, errors become denies, and everything can be stopped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stockade.engine import judge as module
from stockade.engine.judge import judge
from stockade.engine.world import ContextError, described, facts_for, find_workspace, gather, home_of
from stockade.model.action import command_action, from_tool
from stockade.model.context import Context, FileFact
from stockade.model.verdict import Verdict
from stockade.policy.modes import MODES
from stockade.policy.policy import build
from stockade.store.switch import lift, stop

DENY = Verdict.DENY


@pytest.fixture
def context(tmp_path: Path) -> Context:
    for folder in ("app/src", "app/.git", "home", "state", "other"):
        (tmp_path / folder).mkdir(parents=True)
    app = str(tmp_path / "app")
    return Context(
        app, app, str(tmp_path / "home"), state=str(tmp_path / "state"), config=str(tmp_path / "home/.config/stockade")
    )


def verdict(action: str, context: Context, mode: str = "smart", *, look: bool = True) -> tuple[str, str]:
    decision = judge(command_action(action), context, build((), mode_name=mode), look=look)
    return str(decision.verdict), decision.rule


@pytest.mark.parametrize(
    "error", [ValueError("x"), RecursionError(), MemoryError(), AssertionError(), KeyError("x")], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("part", ["analyze", "facts_for", "decide", "stopped"])
def test_an_error_inside_is_a_deny(context: Context, monkeypatch: pytest.MonkeyPatch, part: str, error: Exception) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(module, part, failing)
    for mode in MODES:
        decision = judge(command_action("ls"), context, build((), mode_name=mode.name))
        assert (decision.verdict, decision.rule, decision.layer, decision.mode) == (
            DENY,
            "guard/internal-error",
            "guard",
            mode.name,
        )
        assert type(error).__name__ in decision.reason
        assert decision.suggestion == ""
        assert [(c.verdict, c.liftable) for c in decision.checks] == [(DENY, False)]


def test_an_interrupt_is_no_answer(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "decide", interrupted)
    with pytest.raises(KeyboardInterrupt):
        judge(command_action("ls"), context, build(()))


def test_while_everything_is_stopped_everything_is_denied(context: Context) -> None:
    stop(context.state, "smoke")
    for mode in MODES:
        assert verdict("ls", context, mode.name) == ("deny", "guard/stopped")
        read = judge(from_tool("read", {"path": "a"}), context, build((), mode_name=mode.name))
        assert (read.verdict, read.rule) == (DENY, "guard/stopped")
        assert read.reason == "everything is stopped: smoke; a person lifts it with `stockade stop-all --lift`"
    assert verdict("ls", context, look=False) == ("allow", "smart/read")  # only a description is judged
    lift(context.state)
    assert verdict("ls", context) == ("allow", "smart/read")


@pytest.mark.parametrize(
    ("shell", "wanted"),
    [
        ("bash", "allow"),
        ("sh", "allow"),
        ("", "allow"),
        ("zsh", "ask"),
        ("fish", "ask"),
        ("pwsh", "ask"),
        ("Bash", "ask"),
        ("/bin/bash", "ask"),
    ],
)
def test_another_shell_asks(context: Context, shell: str, wanted: str) -> None:
    there = context._replace(shell=shell)
    assert verdict("ls src", there)[0] == wanted
    assert verdict("ls src", there, "bypassPermissions")[0] == wanted
    assert verdict("rm -rf /", there, "full") == ("deny", "floor/delete-root")
    assert verdict("ls src", there, "plan")[0] == "deny"


def test_a_parse_error_stays_the_reason_in_another_shell(context: Context) -> None:
    assert verdict('echo "', context._replace(shell="zsh"))[1] == "guard/unreadable/unterminated"


LINKS: list[tuple[str, str, str]] = [
    ("cat src/out", "ask", "smart/outside-project"),
    ("cat src/folder/x", "ask", "smart/outside-project"),
    ("echo x > src/out", "ask", "smart/outside-project"),
    ("cat src/key", "ask", "smart/secrets-file"),
    ("cat src/inside", "allow", "smart/read"),
    ("cat src/missing", "allow", "smart/read"),
    ("cat src/loop", "allow", "smart/read"),
    ("echo x > src/hook", "ask", "smart/git-internals"),
    ("echo x > src/state", "deny", "floor/self-control"),
]


@pytest.mark.parametrize(("command", "wanted", "rule"), LINKS)
def test_links_are_followed(context: Context, tmp_path: Path, command: str, wanted: str, rule: str) -> None:
    (tmp_path / "home/.ssh").mkdir()
    (tmp_path / "app/a").write_text("")
    links = {"out": "../../other/x", "folder": str(tmp_path / "other"), "key": str(tmp_path / "home/.ssh/id_rsa"),
    "inside": "../a",
             "loop": "loop", "hook": "../.git/hooks/pre-commit", "state": str(tmp_path / "state/trust.json")}  # fmt: skip
    for name, target in links.items():
        (tmp_path / "app/src" / name).symlink_to(target)
    assert verdict(command, context) == (wanted, rule)
    tool = judge(from_tool("read", {"path": "src/out"}), context, build(()))
    assert (str(tool.verdict), tool.rule) == ("ask", "smart/outside-project")


def test_without_looking_a_link_is_a_name(context: Context, tmp_path: Path) -> None:
    (tmp_path / "app/src/out").symlink_to("../../other/x")
    assert verdict("cat src/out", context, look=False) == ("allow", "smart/read")


def test_a_path_that_the_system_cannot_take_is_a_deny(context: Context) -> None:
    for path in ("a\0b", "a\ud800b"):
        decision = judge(from_tool("read", {"path": path}), context, build((), mode_name="full"))
        assert decision.verdict is DENY


def test_facts(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("")
    (tmp_path / "l").symlink_to("d")
    os.mkfifo(tmp_path / "p")
    found = facts_for(None, [f"{tmp_path}/l/f", f"{tmp_path}/none/x", f"{tmp_path}/p", f"{tmp_path}/d/../p"])
    below = {path.removeprefix(f"{tmp_path}/"): fact for path, fact in found.items() if path.startswith(f"{tmp_path}/")}
    assert below == {
        "l": FileFact("link", "d"), "d": FileFact("dir"), "d/f": FileFact("file"), "none": FileFact("missing"),
        "p": FileFact("fifo"),
    }  # fmt: skip


def test_links_without_end_are_not_followed_without_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b/x")
    (tmp_path / "b").symlink_to("a/x")
    assert set(facts_for(None, [f"{tmp_path}/a/c"])) >= {f"{tmp_path}/a", f"{tmp_path}/b"}


# -- where it works -------------------------------------------------------------------------------------


def test_the_workspace_is_the_nearest_project(tmp_path: Path) -> None:
    deep = tmp_path / "p/q/r"
    deep.mkdir(parents=True)
    home = str(tmp_path / "home")
    assert find_workspace(str(deep), home) == str(deep)
    (tmp_path / "p/.git").mkdir()
    assert find_workspace(str(deep), home) == str(tmp_path / "p")
    (tmp_path / "p/q/.stockade").mkdir()
    assert find_workspace(str(deep), home) == str(tmp_path / "p/q")
    (deep / ".git").write_text("gitdir: elsewhere")
    assert find_workspace(str(deep), home) == str(deep)


def test_the_home_folder_is_no_workspace(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "x").mkdir()
    assert find_workspace(str(tmp_path / "x"), str(tmp_path)) == str(tmp_path / "x")
    for folder in (str(tmp_path), "/"):
        with pytest.raises(ContextError, match="is refused as a workspace"):
            find_workspace(folder, str(tmp_path))


def test_gather(tmp_path: Path) -> None:
    (tmp_path / "real/.git").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    env = {"HOME": str(tmp_path / "home"), "A": "1"}
    found = gather(str(tmp_path / "link"), env, state=str(tmp_path / "s"), config=str(tmp_path / "c"))
    real = str(tmp_path / "real")
    wanted = Context(
        real, real, str(tmp_path / "home"), os.getuid(), env, state=str(tmp_path / "s"), config=str(tmp_path / "c"),
        env_complete=True
    )  # fmt: skip
    assert found == wanted


@pytest.mark.parametrize(
    ("name", "message"), [("none", "cannot be entered: no such file or directory"), ("file", "is no folder")]
)
def test_gather_refuses(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ContextError, match=message):
        gather(str(tmp_path / name), {}, state="", config="")


def test_home() -> None:
    assert home_of({"HOME": "/home/dev/../x/"}) == "/home/x"
    assert home_of({"HOME": "relative"}) == home_of({}) == home_of({"HOME": ""})


# -- a machine that is described --------------------------------------------------------------------------


def test_described() -> None:
    text = """{"cwd": "/w/a/../b", "workspace": "/w", "home": "/home/dev/", "uid": 0, "env": {"A": "1"},
               "shell": "zsh", "sandbox": "strict", "tmp": "/t", "roots": ["/r/"],
               "files": {"/w/./l": {"kind": "link", "target": "/etc"}, "/w/f": {"kind": "file", "digest": "d"}}}"""
    assert described(text, "f") == Context(
        "/w/b", "/w", "/home/dev", 0, {"A": "1"}, "zsh", "strict",
        {"/w/l": FileFact("link", "/etc"), "/w/f": FileFact("file", None, "d")}, "/t", ("/r",),
    )  # fmt: skip
    assert described('{"cwd": "/w"}', "f") == Context("/w", "/w", "/nonexistent", files={})


BAD: list[tuple[str, str]] = [
    ("{", "f: not valid JSON"), ("[" * 100_000, "f: not valid JSON"), ("[]", "f: a context is an object"),
    ("{}", "f: `cwd` is an absolute path"),
    ('{"cwd": "w"}', "f: `cwd` is an absolute path"), ('{"cwd": "/w", "x": 1}', "f: unknown key `x`; known are cwd, env, "),
    ('{"cwd": "/"}', "f: `/` is refused as a workspace"), ('{"cwd": "/h", "home": "/h"}', "f: `/h` is refused as a workspace"),
    ('{"cwd": "/w", "env": {"A": 1}}', "f: `env` is an object of texts"), ('{"cwd": "/w", "uid": true}', "f: `uid` is a number"),
    ('{"cwd": "/w", "roots": ["r"]}', "f: `roots` is a list of absolute paths"),
    ('{"cwd": "/w", "files": {"/w/a": 1}}', "f: the fact of `/w/a` needs a `kind`"),
    ('{"cwd": "/w", "files": {"/w/a": {"kind": "link", "target": 1}}}', "f: `target` and `digest` of `/w/a` are texts"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD)
def test_described_refuses(text: str, message: str) -> None:
    with pytest.raises(ContextError) as caught:
        described(text, "f")
    assert str(caught.value).startswith(message)
