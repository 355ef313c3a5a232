"""A probe: one thing that a program tries inside a sandbox, and what the kernel should answer.

Probes are rows of the TOML files of this folder, a file a group:

    id        unique over all groups
    trap      why it is asked: a number of the list in `docs/sandbox.md`, or a row of a corpus ("peer:...", "bug:...")
    profile   readonly | workspace (default) | strict
    network   off (default) | on
    options   further options of the launcher: --read, --write, --deny, --pids, --memory, --timeout
    env       further variables of the launcher's environment
    setup     bash, on the host, in the workspace, before
    code      Python, inside, after `prelude.py`; or `shell`, bash, inside
    cwd       where it starts; the workspace when not given
    expect    refused | works | either (only what is left on the host counts)
    errno     the refusals that count; the file's own default when not given.  ABSENT is what the
              prelude's `seen` says, STATUS any failing status of a shell probe, SIGKILL a kill
    after     bash, on the host, afterwards; a failing status is a failure
    status    the exit status that the launcher must have
    hears     the host's listeners that must be reached; all others must not
    tty       the program gets a terminal of its own
    interrupt a signal for the launcher as soon as `started` exists in the workspace
    needs     a program without which the probe is skipped
    as_root   the attack only works, or is only refused here, for uid 0: skipped for others
    known     why `stockade` does not hold it, as the threat model says: there it must fail
    sure      why no sandbox at all refuses it too (on this kernel, or for everyone)

Outside the workspace nothing may change on the host, whatever a probe does; that is checked for every
probe, and so is that no listener of the host hears anything.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).resolve().parent

GROUPS = ("files", "git", "sockets", "processes", "kernel", "environment", "limits", "honest")

_PRELUDE = (HERE / "prelude.py").read_text()


@dataclass(frozen=True, kw_only=True)
class Probe:
    id: str
    trap: str
    group: str
    expect: Literal["refused", "works", "either"]
    profile: Literal["readonly", "workspace", "strict"] = "workspace"
    network: Literal["off", "on"] = "off"
    options: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    setup: str = ""
    code: str = ""
    shell: str = ""
    cwd: str = "{workspace}"
    errno: tuple[str, ...] = ()
    after: str = ""
    status: int | None = None
    hears: tuple[str, ...] = ()
    tty: bool = False
    interrupt: str = ""
    needs: str = ""
    as_root: bool = False
    known: str = ""
    sure: str = ""

    def __post_init__(self) -> None:
        assert bool(self.code) != bool(self.shell), f"{self.id}: either code or shell"
        assert self.expect in ("refused", "works", "either"), self.id
        assert self.profile in ("readonly", "workspace", "strict"), self.id
        assert self.network in ("off", "on"), self.id
        assert self.expect != "either" or self.after, f"{self.id}: `either` needs something to look at afterwards"

    def program(self, places: Mapping[str, str | int], python: str) -> list[str]:
        """The words to run inside; `places` become constants of the program."""
        if self.shell:
            lines = [f"{name.upper()}='{value}'" for name, value in places.items()]
            return ["bash", "-c", "\n".join([*lines, self.shell])]
        lines = [f"{name.upper()} = {value!r}" for name, value in places.items()]
        return [python, "-I", "-c", "\n".join([_PRELUDE, *lines, self.code])]


@cache
def probes() -> tuple[Probe, ...]:
    """All rows of all groups; raises on an unknown key or an id that is there twice."""
    rows = tuple(one for group in GROUPS for one in _group(group))
    ids = [one.id for one in rows]
    twice = {one for one in ids if ids.count(one) > 1}
    assert not twice, f"twice: {sorted(twice)}"
    return rows


def _group(group: str) -> list[Probe]:
    path = HERE / f"{group}.toml"
    table = tomllib.loads(path.read_text())
    defaults = {"errno": table.get("errno", [])}
    assert table.keys() <= {"errno", "probe"}, path.name
    return [_row(group, {**defaults, **row}) for row in table["probe"]]


def _row(group: str, row: dict[str, Any]) -> Probe:
    unknown = row.keys() - {one.name for one in fields(Probe)}
    assert not unknown, f"{row.get('id')}: unknown {sorted(unknown)}"
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return Probe(group=group, **{**row, **lists})
