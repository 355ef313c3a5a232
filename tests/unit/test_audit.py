"""The audit log: appended line by line, merged by id, bounded, and readable whatever happened to it."""

from __future__ import annotations

import json
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stockade.store import audit
from stockade.store.files import private_folder, write_private
from stockade.store.switch import lift, stop, stopped


def log(state: Path) -> Path:
    return state / "log" / "decisions.jsonl"


def test_append_makes_private_files(tmp_path: Path) -> None:
    state = tmp_path / "state"
    audit.append(str(state), {"id": "a", "text": "é\udcff\n"})
    assert log(state).read_bytes() == '{"id":"a","text":"é\\udcff\\n"}\n'.encode()
    assert [log(state).stat().st_mode & 0o777, (state / "log").stat().st_mode & 0o777] == [0o600, 0o700]
    assert sorted(os.listdir(state / "log")) == ["decisions.jsonl", "decisions.jsonl.lock"]


def test_nothing_recorded(tmp_path: Path) -> None:
    assert list(audit.read(str(tmp_path))) == []


def test_the_later_record_of_an_id_stands_in_the_place_of_the_first(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"id": "a", "phase": "start"}, {"id": "b", "phase": "start"}, {"id": "a", "phase": "end", "exit": 0}, {"x": 1}, {"x": 2},
    ]  # fmt: skip
    for record in records:
        audit.append(str(tmp_path), record)
    assert list(audit.read(str(tmp_path))) == [records[2], records[1], {"x": 1}, {"x": 2}]


def test_damaged_lines_are_shown(tmp_path: Path) -> None:
    audit.append(str(tmp_path), {"id": "a"})
    with log(tmp_path).open("ab") as stream:
        stream.write(b'{"id": "b", \n[1]\n\xff\xfe\n' + b"[" * 100_000 + b"\n" + b"9" * 10_000 + b"\n\n")
    audit.append(str(tmp_path), {"id": "c"})
    found = list(audit.read(str(tmp_path)))
    assert found == [
        {"id": "a"}, {"damaged": '{"id": "b", '}, {"damaged": "[1]"}, {"damaged": "\ufffd\ufffd"}, {"damaged": "[" * 200},
        {"damaged": "9" * 200}, {"damaged": ""}, {"id": "c"},
    ]  # fmt: skip


def test_a_line_that_was_torn_off_does_not_take_the_next_with_it(tmp_path: Path) -> None:
    audit.append(str(tmp_path), {"id": "a"})
    with log(tmp_path).open("ab") as stream:
        stream.write(b'{"id": "b", "pha')
    audit.append(str(tmp_path), {"id": "c"})
    assert list(audit.read(str(tmp_path))) == [{"id": "a"}, {"damaged": '{"id": "b", "pha'}, {"id": "c"}]


def test_rotation_keeps_the_file_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_BYTES", 30)
    for number in range(8):
        audit.append(str(tmp_path), {"id": str(number)})  # eleven bytes each
    assert [json.loads(line)["id"] for line in log(tmp_path).read_text().splitlines()] == ["6", "7"]
    assert [json.loads(line)["id"] for line in Path(f"{log(tmp_path)}.1").read_text().splitlines()] == ["3", "4", "5"]
    assert [record["id"] for record in audit.read(str(tmp_path))] == ["3", "4", "5", "6", "7"]


def test_a_log_of_just_the_size_is_not_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_BYTES", 11)
    audit.append(str(tmp_path), {"id": "0"})
    audit.append(str(tmp_path), {"id": "1"})
    assert not Path(f"{log(tmp_path)}.1").exists()


def write_many(state: str, writer: int) -> int:
    for number in range(100):
        audit.append(state, {"id": f"{writer}-{number}", "text": "x" * 5000})
    return writer


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3) as pool:
        assert list(pool.map(write_many, [str(tmp_path)] * 3, range(3))) == [0, 1, 2]
    found = list(audit.read(str(tmp_path)))
    assert {record["id"] for record in found} == {f"{writer}-{number}" for writer in range(3) for number in range(100)}
    for writer in range(3):
        mine = [record["id"] for record in found if record["id"].startswith(f"{writer}-")]
        assert mine == [f"{writer}-{number}" for number in range(100)]


def test_writers_while_the_file_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_BYTES", 800_000)
    with ProcessPoolExecutor(3) as pool:
        list(pool.map(write_many, [str(tmp_path)] * 3, range(3)))
    assert Path(f"{log(tmp_path)}.1").exists()
    found = list(audit.read(str(tmp_path)))
    assert all("damaged" not in record for record in found)
    assert len(found) >= 160


def test_a_log_that_cannot_be_written_raises(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file where the folder must be")
    with pytest.raises(OSError, match="exists"):
        audit.append(str(tmp_path), {"id": "a"})


# -- small private files ------------------------------------------------------------------------------


def test_write_private_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "f.json"
    write_private(str(path), "one")
    write_private(str(path), "two é")
    assert path.read_text() == "two é"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "deep") == ["f.json"]
    private_folder(str(tmp_path / "deep"))
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700


def test_write_private_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_private(str(tmp_path / "f"), "text")
    assert os.listdir(tmp_path) == ["f"]


# -- the switch ---------------------------------------------------------------------------------------


def test_the_switch(tmp_path: Path) -> None:
    state = str(tmp_path)
    assert (stopped(state), lift(state)) == (None, False)
    stop(state, "smoke")
    assert stopped(state) == "smoke"
    assert lift(state) is True
    assert stopped(state) is None


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "no reason given"), (b" \n", "no reason given"), (b"\xff", "\ufffd"), (b"x" * 900, "x" * 500)]
)
def test_whatever_the_switch_holds_it_is_thrown(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "stopped").write_bytes(content)
    assert stopped(str(tmp_path)) == reason


def test_a_switch_that_cannot_be_read_is_thrown(tmp_path: Path) -> None:
    (tmp_path / "stopped").mkdir()
    assert stopped(str(tmp_path)) == "the switch cannot be read: Is a directory"
    assert stopped(str(tmp_path / "stopped" / "none")) is None


def test_a_state_that_is_a_file_has_no_switch(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    assert stopped(str(tmp_path / "f")) is None
