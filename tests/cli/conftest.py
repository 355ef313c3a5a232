"""A folder of its own for every test, and the command line run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stockade.cli.main import main


class Place(NamedTuple):
    """Where a test runs: `project` is the working folder, and a git repository by its looks."""

    home: Path
    project: Path
    state: Path
    config: Path

    def project_config(self, text: str) -> Path:
        return _written(self.project / ".stockade" / "config.toml", text)

    def user_config(self, text: str) -> Path:
        path = _written(self.config / "config.toml", text)
        path.chmod(0o600)
        return path


class Result(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path / "home", tmp_path / "project", tmp_path / "state", tmp_path / "config")
    for folder in made:
        folder.mkdir()
    (made.project / ".git").mkdir()
    monkeypatch.chdir(made.project)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("STOCKADE_STATE_DIR", str(made.state))
    monkeypatch.setenv("STOCKADE_CONFIG_DIR", str(made.config))
    monkeypatch.setenv("STOCKADE_MANAGED_CONFIG", str(tmp_path / "managed.toml"))
    monkeypatch.setenv("TZ", "UTC")
    return made


@pytest.fixture
def cli(place: Place, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs `stockade` with these arguments."""

    def call(*args: str) -> Result:
        capsys.readouterr()
        try:
            code = main(list(args))
        except SystemExit as stop:  # argparse ends the process itself
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return call
