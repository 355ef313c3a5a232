"""`stockade exec`: what runs, with which code, what is asked, and what is kept."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

import stockade
from stockade.model.action import command_action
from stockade.model.decision import digest
from stockade.store.switch import stop
from tests.support.required import required

SOURCES = str(Path(stockade.__file__).resolve().parents[1])
UNCONFINED = "stockade: this runs unconfined: nothing but the decision stands between it and your files\n"
MAKE = "version = 1\n[permission]\n" + "".join(f'"Bash({name} *)" = "allow"\n' for name in ("make", "sh", "kill", "sleep", "env"))
STOCKADE = [sys.executable, "-m", "stockade"]


@pytest.fixture
def run(place, monkeypatch):
    """Runs the program as a person or an agent does, without a terminal."""
    monkeypatch.setenv("PYTHONPATH", SOURCES)

    def call(*args: str, **more: Any) -> subprocess.CompletedProcess[str]:
        given = {"capture_output": True, "text": True, "timeout": 60, "stdin": subprocess.DEVNULL} | more
        return subprocess.run([*STOCKADE, "exec", *args], check=False, **given)

    return call


def records(place) -> list[dict[str, Any]]:
    path = place.state / "log" / "decisions.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


# -- exit codes ---------------------------------------------------------------------------------------

FLOORED = (
    "deny  floor/delete-root\n  removes the root folder or what lies directly in it\n"
    "    rm -rf /\n           ^\nstockade: refused\n"
)
CODES = [
    ("true", 0, "", ""),
    ("false", 1, "", ""),
    ("echo hi | cat", 0, "hi\n", ""),
    ("sh -c 'exit 3'", 3, "", ""),
    ("sh -c 'exit 255'", 255, "", ""),
    ("sh -c 'kill -TERM $$'", 143, "", ""),
    ("kill -KILL $$", 137, "", ""),
    ("rm -rf /", 126, "", FLOORED),
    ("", 2, "", "stockade exec: a command is missing; write it after `--`, such as `-- 'git status'`\n"),
]


@pytest.mark.parametrize(("command", "code", "out", "err"), CODES)
def test_exit_code(run, place, command, code, out, err):
    place.user_config(MAKE)
    done = run("--mode", "default", "--", command)
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


def test_several_arguments_are_a_vector(run):
    done = run("--", "echo", "a b", "$HOME", ";", "*")
    assert (done.returncode, done.stdout) == (0, "a b $HOME ; *\n")


def test_a_command_that_takes_too_long(run, place):
    place.user_config(MAKE)
    done = run("--mode", "default", "--timeout", "0.3", "--report", "r.json", "--", "sleep 60 & sleep 60")
    assert (done.returncode, done.stderr) == (124, "stockade: ended, with all of its processes: it took longer than 0.3 s\n")
    report = json.loads((place.project / "r.json").read_text())
    assert (report["timed_out"], report["code"], report["signal"]) == (True, 124, signal.SIGKILL)


def test_a_command_that_does_not_end_when_it_is_asked_to(run, place):
    place.user_config(MAKE)
    done = run("--mode", "default", "--timeout", "0.3", "--", "sh -c 'trap \"\" TERM; while :; do sleep 0.1; done'")
    assert done.returncode == 124


@pytest.mark.parametrize("value", ["0", "-1", "x", "nan", "inf", ""])
def test_a_bad_timeout(run, value):
    done = run("--timeout", value, "--", "true")
    assert done.returncode == 2
    assert "a number of seconds above 0" in done.stderr


def test_a_folder(run, place):
    (place.project / "src").mkdir()
    assert run("--cwd", "src", "--", "pwd").stdout == f"{place.project}/src\n"
    assert run("--cwd", "none", "--", "pwd").returncode == 2


def test_a_required_sandbox_refuses(run, place):
    place.user_config("version = 1\n[sandbox]\nrequired = true\n")
    assert run("--", "true").returncode == 0
    done = run("--profile", "off", "--report", "r.json", "--", "true")
    assert (done.returncode, done.stderr) == (125, "stockade: refused: `sandbox.required` is set, and the profile is `off`\n")
    assert json.loads((place.project / "r.json").read_text())["code"] == 125
    assert [record["phase"] for record in records(place)] == ["start", "end", "refused"]


def test_what_cannot_be_recorded_does_not_run(run, place):
    (place.state / "log").write_text("in the way")
    done = run("--", "touch ran")
    assert done.returncode == 125
    assert done.stderr.startswith(f"stockade: not run: the log in `{place.state}` cannot be written: ")
    assert not (place.project / "ran").exists()


def test_while_everything_is_stopped(run, place):
    stop(str(place.state), "smoke")
    done = run("--", "true")
    assert done.returncode == 126
    assert done.stderr.startswith("deny  guard/stopped\n  everything is stopped: smoke; ")


# -- refusals and reports -----------------------------------------------------------------------------


def test_what_would_ask_is_refused_without_a_terminal_and_names_the_rule(run, place):
    done = run("--mode", "default", "--", "make test")
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr == (
        "ask  builtin:asking/bash\n  runs the project's code\n    make test\n    ^^^^^^^^^\n"
        '  to allow it: "Bash(make test)" = "allow"\nstockade: refused: it must ask, and there is no terminal to ask on\n'
    )
    allowed = done.stderr.partition("to allow it: ")[2].partition("\n")[0]
    place.user_config(f"version = 1\n[permission]\n{allowed}\n")
    assert run("--mode", "default", "--", "make test").returncode != 126


def test_a_refusal_names_the_rule_that_denies(run, place):
    place.user_config('version = 1\n[permission]\n"Bash(echo *)" = "deny"\n')
    done = run("--", "echo hi")
    assert done.returncode == 126
    assert done.stderr.startswith(f"deny  user:{place.config}/config.toml:3\n  the rule `bash echo * deny` denies it\n")


def test_report(run, place):
    assert run("--report", "r.json", "--", "echo hi").returncode == 0
    report = json.loads((place.project / "r.json").read_text())
    decision = report.pop("decision")
    assert report.pop("duration_ms") >= 0
    assert {control["level"] for control in report.pop("controls")} == {"full"}
    assert report == {
        "v": 1, "command": "echo hi", "answer": "", "ran": True, "exit": 0, "signal": None, "timed_out": False,
        "cwd": str(place.project), "confined": "full", "profile": "workspace", "withheld": [], "code": 0,
        "refused": [], "quarantined": [],
    }  # fmt: skip
    assert (decision["verdict"], decision["rule"], decision["digest"]) == (
        "allow", "smart/read", digest(command_action("echo hi"), str(place.project), "workspace"),
    )  # fmt: skip


def test_report_of_a_refusal_and_of_a_signal(run, place):
    place.user_config(MAKE)
    run("--report", "r.json", "--", "rm -rf /")
    report = json.loads((place.project / "r.json").read_text())
    assert [report[k] for k in ("ran", "exit", "signal", "code", "answer")] == [False, None, None, 126, ""]
    run("--mode", "default", "--report", "r.json", "--", "sh -c 'kill -TERM $$'; kill -KILL $$")
    report = json.loads((place.project / "r.json").read_text())
    assert [report[k] for k in ("ran", "exit", "signal", "code")] == [True, None, 9, 137]


def test_a_report_that_cannot_be_written(run, place):
    done = run("--report", "none/r.json", "--", "true")
    assert done.returncode == 2
    assert done.stderr.endswith("stockade exec: the report `none/r.json` cannot be written: no such file or directory\n")


# -- the environment ----------------------------------------------------------------------------------


def test_secrets_are_withheld_and_named(run, place, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "s3cret-value")
    monkeypatch.setenv("PLAIN", "p")
    place.user_config(MAKE + '[child_env]\nset = { ADDED = "1" }\n')
    done = run("--mode", "default", "--report", "r.json", "--", "env -u X")
    lines = done.stdout.splitlines()
    assert {"PLAIN=p", "ADDED=1"} <= set(lines)
    assert "s3cret-value" not in done.stdout + done.stderr
    assert "stockade: withheld from it: MY_API_KEY (`child_env.strip_secrets`)\n" in done.stderr
    assert json.loads((place.project / "r.json").read_text())["withheld"] == ["MY_API_KEY"]


def test_start_up_files_and_functions_of_the_caller_do_not_run(run, place, monkeypatch):
    (place.project / "start").write_text("echo started\n")
    monkeypatch.setenv("BASH_ENV", str(place.project / "start"))
    monkeypatch.setenv("BASH_FUNC_echo%%", "() { printf hijacked; }")
    monkeypatch.setenv("SHELLOPTS", "xtrace")
    done = run("--", "echo hi")
    assert (done.stdout, done.stderr) == ("hi\n", "")


# The child's environment, the command, and whether its path is inside the project for the child.
OWN_ENVIRONMENT = [
    ('inherit = "none"', "touch $HOME/x"),
    ('set = { HOME = "/etc" }', "touch ~/x"),
    ('set = { HOME = "/etc" }', 'touch "$HOME/x"'),
    ('include_only = ["PATH"]', "touch $HOME/x"),
]


@pytest.mark.parametrize(("setting", "command"), OWN_ENVIRONMENT)
def test_a_command_is_decided_on_in_the_environment_that_it_runs_in(run, place, monkeypatch, setting, command):
    """The home folder lies in the project here, so that only the child's own value makes it another path."""
    monkeypatch.setenv("HOME", str(place.project / "src"))
    (place.project / "src").mkdir()
    assert run("--", command).returncode == 0
    place.user_config(f"version = 1\n[child_env]\n{setting}\n")
    assert run("--", command).returncode == 126


# -- what is kept -------------------------------------------------------------------------------------


def test_a_record_before_and_after(run, place, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "s3cret-value")
    assert (
        run(
            "--",
            "echo hi",
        ).returncode
        == 0
    )
    before, after = records(place)
    assert [before.pop("phase"), after.pop("phase")] == ["start", "end"]
    assert [before.pop("exit"), after.pop("exit")] == [None, 0]
    assert before.pop("duration_ms") == 0
    assert after.pop("duration_ms") >= 0
    for name in ("time", "id"):
        assert before[name]
    before.pop("time"), after.pop("time")
    assert before == after
    before.pop("id")
    assert before == {
        "v": 1, "event": "exec", "verdict": "allow", "rule": "smart/read", "layer": "mode",
        "reason": "it only reads what may be read",
        "risk": "low", "mode": "smart", "command": "echo hi",
        "digest": digest(command_action("echo hi"), str(place.project), "workspace"),
        "cwd": str(place.project), "workspace": str(place.project),
        "answer": "", "answer_reason": "", "signal": None, "timed_out": False,
        "user": os.getuid(),
    }  # fmt: skip


def test_the_record_before_is_written_before(run, place):
    place.user_config(MAKE)
    log = place.state / "log" / "decisions.jsonl"
    done = run("--mode", "full", "--", f"cat {log}")
    assert done.returncode == 126  # the log is Stockade's own
    killed = run("--mode", "default", "--profile", "off", "--", "sh -c 'kill -KILL $PPID'")  # Stockade itself
    assert killed.returncode == -signal.SIGKILL
    assert [record["phase"] for record in records(place)] == ["refused", "start"]


def test_secrets_are_not_recorded(run, place, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "s3cret-value")
    run("--", "echo s3cret-value postgres://u:hunter2@db/x API_TOKEN=abcdef")
    text = (place.state / "log" / "decisions.jsonl").read_text()
    assert not [word for word in ("s3cret-value", "hunter2", "abcdef") if word in text]
    assert records(place)[0]["command"] == "echo ‹redacted› postgres://u:‹redacted›@db/x API_TOKEN=‹redacted›"


# -- a person at a terminal -----------------------------------------------------------------------------


class Terminal:
    """The program on a pseudo-terminal: what it shows is read, and keys are pressed when it asks."""

    def __init__(self, *args: str, env: dict[str, str] | None = None) -> None:
        self.shown = ""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "dumb", "PYTHONPATH": SOURCES} | (env or {}))
            os.execv(sys.executable, [*STOCKADE, "exec", *args])

    def until(self, text: str, limit: float = 60.0) -> Terminal:
        """Reads on until `text` is shown behind what was read before."""
        start = len(self.shown)
        end = time.monotonic() + limit
        while text not in self.shown[start:]:
            if not select.select([self.descriptor], [], [], max(end - time.monotonic(), 0))[0]:
                raise AssertionError(f"{text!r} was not shown in time:\n{self.shown}")
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"it ended before {text!r} was shown:\n{self.shown}")
            self.shown += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return self

    def asked(self) -> Terminal:
        """Reads on until it waits for a key: it has set the terminal so that a key needs no Return, and sleeps."""
        self.until("[?] explain\n")
        end = time.monotonic() + 60
        while termios.tcgetattr(self.descriptor)[3] & termios.ICANON or not self._sleeps():
            assert time.monotonic() < end
        return self

    def _sleeps(self) -> bool:
        stat = Path(f"/proc/{self.pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "S"

    def press(self, keys: str) -> Terminal:
        os.write(self.descriptor, keys.encode())
        return self

    def end(self) -> tuple[int, str]:
        """The exit code, and everything that was shown."""
        try:
            while data := os.read(self.descriptor, 65536):
                self.shown += data.decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError:
            pass
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.shown


ASKING = ("--mode", "default", "--", "touch ran")


def test_the_card(place):
    terminal = Terminal("--mode", "default", "--", "make test").asked()
    code, shown = terminal.press("n").end()
    assert (code, shown) == (
        126,
        "\nStockade asks  builtin:asking/bash  risk: medium\n\n    make test\n    ^^^^^^^^^\n\n  why: runs the project's code\n"
        '  to allow it always: "Bash(make test)" = "allow"\n\n'
        "  [y] run it once   [n] refuse   [r] refuse, with a reason   [e] edit the command   [?] explain\nstockade: refused\n",
    )
    assert [(r["phase"], r["answer"]) for r in records(place)] == [("refused", "refused")]


@pytest.mark.parametrize(("keys", "code", "ran", "answer"), [
    ("y", 0, True, "allowed"), ("Y", 0, True, "allowed"), ("n", 126, False, "refused"), ("N", 126, False, "refused"),
    ("\x03", 126, False, "refused"), ("\x04", 126, False, "refused"), ("\x1b", 126, False, "refused"),
])  # fmt: skip
def test_keys(place, keys, code, ran, answer):
    assert Terminal(*ASKING).asked().press(keys).end()[0] == code
    assert (place.project / "ran").exists() is ran
    assert {record["answer"] for record in records(place)} == {answer}


def test_another_key_asks_again(place):
    terminal = Terminal(*ASKING).asked()
    for key in ("x", "\n", " ", "é"):
        terminal.press(key).asked()
    assert terminal.press("n").end()[0] == 126
    assert not (place.project / "ran").exists()


def test_explain_and_then_yes(place):
    code, shown = Terminal(*ASKING).asked().press("?").asked().press("y").end()
    assert code == 0
    assert "  bash                ask    builtin:asking/bash              writes `ran`\n" in shown
    assert "  runs: touch ran\n" in shown


def test_a_reason(place):
    terminal = Terminal(*ASKING).asked().press("r").until("reason: ").press("use the other folder\n")
    code, shown = terminal.end()
    assert code == 126
    assert shown.endswith("stockade: refused: use the other folder\n")
    assert [(r["answer"], r["answer_reason"]) for r in records(place)] == [("refused", "use the other folder")]


def test_ctrl_c_at_the_reason_refuses(place):
    assert Terminal(*ASKING).asked().press("r").until("reason: ").press("\x03\n").end()[0] == 126
    assert not (place.project / "ran").exists()


def test_an_edited_command_is_decided_on_anew(place):
    terminal = Terminal(*ASKING).asked().press("e").until("command: touch ran")
    terminal.press("2\n").asked()  # the text of the command stands there, and is added to
    assert "    touch ran2\n" in terminal.shown
    assert terminal.press("y").end()[0] == 0
    assert [(place.project / name).exists() for name in ("ran", "ran2")] == [False, True]
    assert [(r["command"], r["answer"]) for r in records(place)] == [("touch ran2", "allowed")] * 2


@pytest.mark.parametrize(("keys", "code", "rule"), [
    ("\x15ls\n", 0, "guard/safe-list"), ("\x15rm -rf /\n", 126, "floor/delete-root"), ("\x15\n", 126, "builtin:asking/bash"),
    ("\x03\n", 126, "builtin:asking/bash"), ("\x15\x04", 126, "builtin:asking/bash"),
])  # fmt: skip
def test_what_an_edit_leads_to(place, keys, code, rule):
    assert Terminal(*ASKING).asked().press("e").until("command: touch ran").press(keys).end()[0] == code
    assert not (place.project / "ran").exists()
    assert {record["rule"] for record in records(place)} == {rule}


def test_several_lines_are_edited_in_the_editor(place):
    editor = place.home / "editor"
    editor.write_text("#!/bin/sh\necho 'touch edited' > \"$1\"\n")
    editor.chmod(0o700)
    terminal = Terminal("--mode", "default", "--", "touch a\ntouch b", env={"VISUAL": str(editor)}).asked().press("e").asked()
    assert terminal.press("y").end()[0] == 0
    assert sorted(path.name for path in place.project.iterdir()) == [".git", "edited"]


@pytest.mark.parametrize("editor", ["/none/editor", "false"])
def test_an_editor_that_fails_refuses(place, editor):
    code, shown = Terminal("--mode", "default", "--", "touch a\ntouch b", env={"VISUAL": editor}).asked().press("e").end()
    assert code == 126
    assert ("cannot be started" in shown) is (editor == "/none/editor")
    assert not (place.project / "a").exists()


def test_what_was_typed_before_the_question_is_no_answer(place):
    terminal = Terminal(*ASKING)
    terminal.press("y" * 50).asked()
    assert not (place.project / "ran").exists()
    assert terminal.press("n").end()[0] == 126
    assert not (place.project / "ran").exists()


def test_hidden_characters_are_shown_escaped(place):
    terminal = Terminal("--mode", "default", "--", "touch 'a\u200bb\x1b[31m\u202ec'").asked()
    shown = terminal.press("n").end()[1]
    assert "    touch 'a⟨U+200B⟩b⟨U+001B⟩[31m⟨U+202E⟩c'\n" in shown
    assert not [c for c in shown if c in "\u200b\x1b\u202e"]


def test_input_that_is_no_terminal_is_not_asked(place):
    """Errors go to the terminal, and input comes from somewhere else: there is nobody to ask."""
    code, shown = Terminal("--mode", "default", "--", "touch ran", env={"IN": "x"}).asked().press("n").end()
    assert (code, "refused" in shown) == (126, True)
    parent, child = pty.openpty()
    done = subprocess.run([*STOCKADE, "exec", *ASKING], stdin=subprocess.DEVNULL, stderr=child, check=False, timeout=60,
                          env=os.environ | {"PYTHONPATH": SOURCES})  # fmt: skip
    os.close(child)
    os.close(parent)
    assert done.returncode == 126
    assert not (place.project / "ran").exists()


def test_an_interrupt_while_it_runs_ends_the_command(place):
    place.user_config(MAKE)
    terminal = Terminal("--mode", "default", "--", "sh -c 'echo started; sleep 60'").until("started\n").press("\x03")
    assert terminal.end()[0] == 130
    assert [record["phase"] for record in records(place)] == ["start", "end"]


def test_a_pinned_rule_asks_until_it_is_agreed_to_and_after_a_change(run, place):
    required("make")
    place.user_config('version = 1\n[permission]\n"Bash(make *)" = { verdict = "allow", pinned = true }\n')
    makefile = place.project / "Makefile"
    makefile.write_text("all:\n\t@echo one\n")
    refused = run("--", "make")
    assert refused.returncode == 126
    assert "the rule is pinned, and nobody has agreed to what it runs yet" in refused.stderr
    code, shown = Terminal("--", "make").asked().press("y").end()
    assert code == 0
    assert "why: the rule is pinned" in shown
    again = run("--", "make")
    assert (again.returncode, again.stdout) == (0, "one\n")
    makefile.write_text("all:\n\t@echo two\n")
    changed = run("--", "make")
    assert (changed.returncode, changed.stdout) == (126, "")
    assert "since then `Makefile` changed" in changed.stderr


def test_a_change_while_a_person_is_asked_is_refused(place):
    place.user_config('version = 1\n[permission]\n"Bash(make *)" = { verdict = "allow", pinned = true }\n')
    makefile = place.project / "Makefile"
    makefile.write_text("all:\n\t@echo one\n")
    terminal = Terminal("--", "make").asked()
    makefile.write_text("all:\n\t@touch evil\n")
    code, shown = terminal.press("y").end()
    assert code == 126
    assert "has changed since you were asked" in shown
    assert not (place.project / "evil").exists()
    assert not (place.state / "pins.json").exists()
