"""`stockade log` and `stockade stop-all`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from stockade.cli.common import UsageError
from stockade.cli.log import moment
from stockade.store.audit import append

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


def _record(command: str, **other) -> dict:
    base = {
        "v": 1, "time": "2026-05-04T10:00:00Z", "event": "exec", "verdict": "allow", "rule": "smart/read", "layer": "mode",
        "reason": "r", "risk": "low", "mode": "smart", "digest": "d", "command": command, "cwd": "/w", "workspace": "/w",
        "answer": "", "exit": 0, "signal": None, "duration_ms": 1500, "user": 0,
    }  # fmt: skip
    return base | other


def _fill(place) -> None:
    old = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    records = [
        _record("ls\nls -la", id="a", exit=None, duration_ms=0), _record("ls\nls -la", id="a"),
        _record("rm -rf /", verdict="deny", rule="floor/delete-root", exit=None, duration_ms=0),
        _record("npm test", verdict="ask", rule="smart/project-code", answer="refused", exit=None, duration_ms=0, time=old),
        _record("", tool="read_file", target=".env", event="check", exit=None, duration_ms=0, time=old),
        _record("sleep 9", signal=15, exit=None, duration_ms=120, time=old),
    ]  # fmt: skip
    for record in records:
        append(str(place.state), record)


def test_one_line_a_call(cli, place):
    _fill(place)
    lines = [line.split("  ") for line in cli("log").out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    when = datetime(2026, 5, 4, 10, tzinfo=UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert cells[0] == [when, "allow", "exit 0", "1.5 s", "smart/read", "ls⏎ls -la"]
    assert cells[1] == [when, "deny", "not run", "-", "floor/delete-root", "rm -rf /"]
    assert [c[1:] for c in cells[2:]] == [
        ["ask, refused", "not run", "-", "smart/project-code", "npm test"],
        ["allow", "checked", "-", "smart/read", "read_file .env"],
        ["allow", "signal 15", "120 ms", "smart/read", "sleep 9"],
    ]


def test_json_lines(cli, place):
    _fill(place)
    records = [json.loads(line) for line in cli("log", "--json").out.splitlines()]
    assert [r["command"] for r in records] == ["ls\nls -la", "rm -rf /", "npm test", "", "sleep 9"]
    assert records[0] == _record("ls\nls -la", id="a")


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (("--verdict", "deny"), ["rm -rf /"]),
        (("--rule", "floor/"), ["rm -rf /"]),
        (("--limit", "1"), ["sleep 9"]),
        (("--since", "2h"), ["npm test", "", "sleep 9"]),
        (("--since", "2020-01-01", "--until", ""), None),
        (("--grep", "NPM"), ["npm test"]),
        (("--grep", ".env"), [""]),
        (("--verdict", "allow", "--grep", "sleep"), ["sleep 9"]),
        (("--rule", "nothing"), []),
    ],
)
def test_filters(cli, place, args, wanted):
    _fill(place)
    answer = cli("log", "--json", *args)
    if wanted is None:
        assert answer.code == 2
        return
    assert [json.loads(line)["command"] for line in answer.out.splitlines()] == wanted


def test_damaged_lines_are_shown_and_never_crash(cli, place):
    _fill(place)
    path = place.state / "log" / "decisions.jsonl"
    odd = [
        b"not json \x1b[2J", b"\xff\xfe", b"[1]", b"{}",
        b'{"command": "\\ud800 \\u001b[31m", "verdict": 7, "exit": {}, "duration_ms": "x"}',
        b'{"time": "yesterday", "command": ["a"], "rule": null, "signal": true}',
        b'{"duration_ms": 1e400, "time": "0001-01-01T00:00:00Z"}',
    ]  # fmt: skip
    with open(path, "ab") as stream:
        stream.write(b"\n".join(odd))
    answer = cli("log")
    assert answer.code == 0
    assert len(answer.out.splitlines()) == 5 + len(odd)
    assert answer.out.count("damaged line") == 3
    assert "\x1b" not in answer.out
    assert len(cli("log", "--json").out.splitlines()) == 5 + len(odd)
    assert "damaged" not in cli("log", "--verdict", "allow").out


def test_an_allowed_command_without_an_end_is_not_said_to_be_not_run(cli, place):
    append(str(place.state), _record("make", exit=None, id="x"))
    assert "  no end  " in cli("log").out


def test_nothing_recorded(cli):
    answer = cli("log")
    assert (answer.code, answer.out) == (0, "")
    assert "nothing was recorded" in answer.err


@pytest.mark.parametrize(("text", "wanted"), [
    ("2h", NOW - timedelta(hours=2)), ("3d", NOW - timedelta(days=3)), ("30m", NOW - timedelta(minutes=30)),
    ("1w", NOW - timedelta(weeks=1)), ("2026-05-01T10:00:00Z", datetime(2026, 5, 1, 10, tzinfo=UTC)),
    ("2026-05-01T12:00+02:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
])  # fmt: skip
def test_moments(text, wanted):
    assert moment(text, NOW) == wanted


@pytest.mark.parametrize("text", ["", "x", "2", "2y", "-3d", "999999999w", "2026-13-01", "99999-01-01"])
def test_bad_moments(text):
    with pytest.raises(UsageError, match="is no time"):
        moment(text, NOW)


@pytest.mark.parametrize("args", [("--limit", "0"), ("--limit", "x"), ("--verdict", "maybe"), ("--since", "soon"), ("extra",)])
def test_bad_input(cli, args):
    answer = cli("log", *args)
    assert (answer.code, answer.out) == (2, "")


def test_a_log_that_cannot_be_read(cli, place):
    (place.state / "log").mkdir()
    (place.state / "log" / "decisions.jsonl").mkdir()
    answer = cli("log")
    assert answer.code == 2
    assert "cannot be read" in answer.err


# -- stop-all -------------------------------------------------------------------------------------


def test_stop_status_and_lift(cli):
    assert (cli("stop-all", "--status").code, cli("check", "--", "ls").code) == (0, 0)
    assert cli("stop-all", "the", "agent", "\x1b[2Jmisbehaves").code == 0
    answer = cli("stop-all", "--status")
    assert (answer.code, answer.out) == (1, "everything is stopped: the agent ⟨U+001B⟩[2Jmisbehaves\n")
    assert cli("check", "--", "ls").code == 11
    assert cli("stop-all", "--lift").out.startswith("lifted")
    assert cli("stop-all", "--lift").out == "nothing was stopped\n"
    assert cli("check", "--", "ls").code == 0


def test_stop_without_a_reason(cli):
    assert "no reason given" in cli("stop-all").out


@pytest.mark.parametrize("args", [("--lift", "--status"), ("why", "--lift"), ("--nonsense",)])
def test_bad_stop(cli, args):
    assert cli("stop-all", *args).code == 2


def test_a_switch_that_cannot_be_written(cli, place, monkeypatch):
    (place.home / "file").write_text("")
    monkeypatch.setenv("STOCKADE_STATE_DIR", f"{place.home}/file/state")
    answer = cli("stop-all")
    assert (answer.code, answer.out) == (2, "")
