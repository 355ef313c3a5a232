"""Confined commands, as `exec` and `sandbox` run them; what `doctor` says of this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import stockade
from stockade.cli.main import main

SOURCES = str(Path(stockade.__file__).resolve().parents[1])
UNCONFINED = "stockade: this runs unconfined: nothing but the decision stands between it and your files\n"
FULL = "stockade: confined: 9 of 9 controls held fully\n"


def start(what: str, *args: str, **more: Any) -> subprocess.Popen[str]:
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | more
    return subprocess.Popen([sys.executable, "-m", "stockade", what, *args], env={**os.environ, "PYTHONPATH": SOURCES}, **given)


def finish(child: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = child.communicate(timeout=60)
    return child.returncode, out, err


def sandbox(*args: str) -> tuple[int, str, str]:
    return finish(start("sandbox", *args))


# -- exec ----------------------------------------------------------------------------------------------


@pytest.fixture
def run(place):
    """`exec`, without a terminal."""

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        code, out, err = finish(start("exec", *args))
        return subprocess.CompletedProcess(args, code, out, err)

    return call


def test_unconfined_only_where_it_was_chosen(run, place):
    done = run("--profile", "off", "--report", "r.json", "--", "echo hi")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hi\n", UNCONFINED)
    assert json.loads((place.project / "r.json").read_text())["confined"] == "none"


def test_what_the_sandbox_refuses_is_told_with_the_setting(run, place):
    (place.project / ".git" / "hooks").mkdir()
    (place.project / "s.sh").write_text("touch .git/hooks/post-commit\n")
    done = run("--mode", "full", "--report", "r.json", "--", "sh s.sh")
    assert done.returncode == 1
    assert "stockade: the sandbox refused" in done.stderr
    refused = json.loads((place.project / "r.json").read_text())["refused"]
    assert [one["what"] for one in refused] == [f"{place.project}/.git/hooks/post-commit"]


def test_what_a_command_leaves_behind_is_put_away(run, place):
    (place.project / "s.sh").write_text("mkdir .vscode && echo {} >.vscode/tasks.json\n")
    done = run("--mode", "full", "--", "sh s.sh")
    assert done.returncode == 0
    assert f"stockade: put away `{place.project}/.vscode`: " in done.stderr
    assert not (place.project / ".vscode").exists()
    (kept,) = (place.state / "sandbox" / "quarantine").iterdir()
    assert (kept / "tasks.json").read_text() == "{}\n"


def test_a_rule_about_a_folder_outside_widens_the_sandbox_and_a_mode_does_not(run, place):
    outside = place.home.parent / "outside"
    outside.mkdir()
    command = f"echo hi > {outside}/new && cat {outside}/new"
    refused = run("--mode", "full", "--", command)
    assert (refused.returncode, refused.stdout) == (1, "")
    place.user_config(f'version = 1\n[permission]\nexternal_directory = {{ "{outside}/**" = "allow" }}\n')
    done = run("--mode", "full", "--", command)
    assert (done.returncode, done.stdout) == (0, "hi\n")
    assert done.stderr == f"stockade: for this command `{outside}` can be written\n"
    (place.project / "s.sh").write_text(f"echo again > {outside}/new\n")
    assert run("--mode", "full", "--", "sh s.sh").returncode != 0
    assert (outside / "new").read_text() == "hi\n"


# -- sandbox -------------------------------------------------------------------------------------------

RUNS = [
    (("--", "true"), 0, "", FULL),
    (("--", "echo a b | tr a c"), 0, "c b\n", FULL),
    (("--", "printf", "%s|", "a b", "$HOME"), 0, "a b|$HOME|", FULL),
    (("--quiet", "--", "exit 7"), 7, "", ""),
    (("--quiet", "--", "kill -TERM $$"), 143, "", ""),
    (("--quiet", "--", "touch x"), 1, "", None),
    (("--quiet", "--profile", "workspace", "--", "touch x && ls"), 0, "x\n", ""),
    (("--quiet", "--timeout", "0.3", "--", "sleep 60 & sleep 60"), 124, "",
     "stockade: ended, with all of its processes: it took longer than 0.3 s\n"),
    (("--quiet", "--output", "1K", "--", "yes"), 153, None,
     "stockade: ended, with all of its processes: it printed more than it may\n"),
    (("--quiet", "--env", "A=b", "--", 'echo "$A"'), 0, "b\n", ""),
    (("--quiet", "--file-size", "1K", "--profile", "workspace", "--", "head -c 5000 /dev/zero > big"), 153, "", None),
    (("--quiet", "--", "nosuchprogram"), 127, "", "/bin/bash: line 1: nosuchprogram: command not found\n"),
]  # fmt: skip


@pytest.mark.parametrize(("args", "code", "out", "err"), RUNS)
def test_a_run(place, args, code, out, err):
    got = sandbox("--yes", *args)
    assert (got[0], got[1] if out is not None else None, got[2] if err is not None else None) == (code, out, err)


@pytest.mark.usefixtures("place")
def test_it_must_be_agreed_to():
    code, out, err = sandbox("--", "touch x")
    assert (code, out) == (126, "")
    assert "  profile  readonly\n  network  off, loopback of its own\n" in err
    assert err.endswith("stockade: refused: it must ask, and there is no terminal to ask on; `--yes` runs it\n")


BAD = [
    ((), "there is no command; write it after `--`"),
    (("--env", "NONE_SUCH", "--", "true"), "`--env NONE_SUCH`: there is no such variable; write NAME=VALUE"),
    (("--memory", "much", "--", "true"), "a size, as 512M or 2G"),
    (("--pids", "0", "--", "true"), "a whole number above 0"),
    (("--profile", "off", "--", "true"), "invalid choice: 'off'"),
]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("args", "message"), BAD)
def test_a_bad_call(args, message):
    code, _, err = sandbox("--yes", *args)
    assert code == 2
    assert message in err


@pytest.mark.usefixtures("place")
def test_what_cannot_be_held_does_not_start():
    code, _, err = sandbox("--yes", "--write", "/", "--", "true")
    assert (code, err) == (125, "stockade: the whole disk cannot be a place to write (list the folders that are needed)\n")
    code, _, err = sandbox("--yes", "--read", "$NONE_SUCH/x", "--", "true")
    assert code == 125
    assert "the variable `NONE_SUCH` is not set" in err


def test_explain_runs_nothing(place, cli):
    (place.project / ".env").write_text("A=1\n")
    made = cli(
        "sandbox", "--explain", "--json", "--profile", "workspace", "--write", str(place.home / "none"), "--", "touch x"
    ).json()
    assert (made["profile"], made["network"], made["missing"]) == ("workspace", "off", [f"{place.home}/none"])
    by_target = {mount["target"]: mount for mount in made["mounts"]}
    assert by_target[str(place.project)]["kind"] == "write"
    assert by_target[f"{place.project}/.env"] == {
        "kind": "hide-file", "target": f"{place.project}/.env", "source": "", "why": "its name says that it holds secrets",
    }  # fmt: skip
    assert {control["level"] for control in made["controls"]} == {"full"}
    assert f"write   {place.project}" in cli("sandbox", "--explain", "--profile", "workspace", "--", "touch x").out
    assert not (place.project / "x").exists()


def test_a_report(place):
    code, _, _ = sandbox("--yes", "--report", "r.json", "--", "touch made")
    report = json.loads((place.project / "r.json").read_text())
    assert (code, report["code"], report["profile"], report["stopped"]) == (1, 1, "readonly", None)
    assert report["refused"] == [
        {"what": f"{place.project}/made", "why": "the profile only reads", "setting": 'sandbox.profile = "workspace"'},
    ]  # fmt: skip


def test_a_run_is_recorded_before_and_after(place, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "s3cret-value")
    assert sandbox("--yes", "--quiet", "--", "echo s3cret-value; exit 3")[0] == 3
    lines = (place.state / "log" / "decisions.jsonl").read_text().splitlines()
    before, after = (json.loads(line) for line in lines)
    assert (before["phase"], before["exit"], after["phase"], after["exit"]) == ("start", None, "end", 3)
    assert before["id"] == after["id"]
    assert (after["event"], after["profile"], after["command"]) == ("sandbox", "readonly", "echo ‹redacted›; exit 3")
    shutil.rmtree(place.state / "log")
    (place.state / "log").write_text("in the way")
    assert sandbox("--yes", "--profile", "workspace", "--", "touch made")[0] == 125
    assert not (place.project / "made").exists()


def test_while_everything_is_stopped(place, cli):
    cli("stop-all", "smoke")
    assert sandbox("--yes", "--", "true")[0] == 126


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_the_tree_ends_with_stockade(place, number, code):
    child = start(
        "sandbox",
        "--yes",
        "--quiet",
        "--profile",
        "workspace",
        "--",
        "(while :; do touch alive; sleep 0.05; done) & touch on; wait",
    )
    alive, on = place.project / "alive", place.project / "on"
    while not (on.exists() and alive.exists()):
        assert child.poll() is None
        time.sleep(0.02)
    child.send_signal(number)
    assert finish(child)[0] == code
    time.sleep(0.3)
    alive.unlink()
    time.sleep(0.3)
    assert not alive.exists()


def test_a_sweep_that_was_never_made_is_made_up_for(place):
    (place.project / ".git" / "hooks").mkdir()
    child = start(
        "sandbox", "--yes", "--quiet", "--profile", "workspace", "--", "mkdir .vscode && touch .vscode/x on && sleep 60"
    )
    while not (place.project / "on").exists():
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    finish(child)
    assert (place.project / ".vscode").exists()
    code, _, err = sandbox("--yes", "--quiet", "--", "true")
    assert code == 0
    assert f"stockade: put away `{place.project}/.vscode`: " in err
    assert not (place.project / ".vscode").exists()
    assert [name for name in os.listdir(place.state / "sandbox") if name.startswith("pending")] == []


# -- doctor --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_doctor(cli):
    answer = cli("doctor", "--json")
    lines = {line["name"]: line for line in answer.json()["lines"]}
    assert answer.code == 0
    assert answer.json()["confines"] is True
    tried = ("files", "secrets", "git metadata", "processes", "network", "kernel settings")
    assert {lines[name]["state"] for name in tried} == {"ok"}
    assert cli("doctor").out.startswith("ok       bubblewrap")


REMEDIES = [
    ("bubblewrap is not installed", "apt install bubblewrap"),
    ("bwrap: setting up uid map: Permission denied", "AppArmor refuses user namespaces"),
    ("bwrap: Can't mount proc on /newroot/proc", "seccomp=unconfined"),
]


def test_remedies(monkeypatch):
    from stockade.cli import doctor

    monkeypatch.setattr(doctor, "_reads", lambda path: "1" if "apparmor" in path else "")
    assert REMEDIES[0][1] in doctor._remedy(REMEDIES[0][0])
    assert REMEDIES[1][1] in doctor._remedy(REMEDIES[1][0])
    monkeypatch.setattr(doctor, "_reads", lambda path: "")
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/.dockerenv")
    assert REMEDIES[2][1] in doctor._remedy(REMEDIES[2][0])


@pytest.mark.usefixtures("place")
def test_without_a_backend(monkeypatch, capfd):
    """Nothing runs; the message says where to look."""
    from stockade.confine.ability import Ability
    from stockade.engine import confining

    monkeypatch.setattr(confining, "ability", lambda folder: Ability("", "bubblewrap is not installed", False, "x86_64", 0, 0))
    assert main(["sandbox", "--yes", "--", "touch made"]) == 125
    assert main(["exec", "--", "touch made"]) == 126
    assert main(["exec", "--", "true"]) == 126
    err = capfd.readouterr().err
    assert "stockade: commands cannot be confined here: bubblewrap is not installed (see `stockade doctor`)\n" in err
    assert "refused: it would run unconfined, and there is no terminal to ask on" in err
    assert not os.path.exists("made")
