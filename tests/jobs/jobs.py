"""The jobs: what the user of an agent expects to work inside, one row a job, in the `*.toml` files here.

    [[job]]
    id = "pytest-xdist"
    needs = ["pytest"]              # programs, python modules, or paths; a missing one skips the job
    prepare = "…"                   # bash, on the host with the network, in the workspace; warms caches
    options = ["--read", "{cache}"] # further options of the sandbox
    bare = ["--write", "{home}/x"]  # what only bare bubblewrap must be told, Stockade finds it by itself
    environment = { TMPDIR = "…" }  # of the sandbox itself, on the host
    home = "own"                    # `own`: a new folder; `link`: a link to one; `real`: the user's
    user = "any"                    # `ordinary`: not as root, also when the tests run as root
    shell = '''…'''                 # bash, inside, in the workspace
    output = "3 passed"             # is in its output, which is that of both streams
    leaves = ["a.txt"]              # all that is in the workspace afterwards
    after = "…"                     # bash, on the host afterwards
    timeout = 60                    # seconds that `shell` may take

Every text of bash runs under `set -eu -o pipefail` and must succeed.  `{workspace}`, `{home}`, `{cache}`,
`{folder}` (which holds these three), `{python}` (that of the tests), `{prefix}` and `{base}` (its venv,
and what the venv was made from) are replaced in all of them, so a variable of bash has no braces there.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PLACEHOLDERS = ("workspace", "home", "cache", "folder", "python", "prefix", "base")
HOMES = ("own", "link", "real")
USERS = ("any", "ordinary")

_BRACED = re.compile(rf"\$\{{({'|'.join(PLACEHOLDERS)})\}}")


class JobError(Exception):
    """A row that is not one of the described form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One row; `file` is the name of its file without the ending."""

    id: str
    file: str
    shell: str
    needs: list[str] = field(default_factory=list)
    prepare: str = ""
    options: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    home: str = "own"
    user: str = "any"
    output: str = ""
    leaves: list[str] | None = None
    after: str = ""
    timeout: int = 60


@cache
def all_jobs() -> tuple[Job, ...]:
    """Every row of every file, in their order; raises JobError for the first wrong one."""
    jobs = [_job(path.stem, row) for path in sorted(HERE.glob("*.toml")) for row in _rows(path)]
    seen: set[str] = set()
    for job in jobs:
        if job.id in seen:
            raise JobError(f"{job.file}.toml: `{job.id}` stands twice")
        seen.add(job.id)
    return tuple(jobs)


def _rows(path: Path) -> list[dict[str, Any]]:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    if set(table) != {"job"}:
        raise JobError(f"{path.name}: only [[job]] may stand here")
    return list(table["job"])


def _job(file: str, row: dict[str, Any]) -> Job:
    where = f"{file}.toml: `{row.get('id', '?')}`"
    known = {one.name for one in fields(Job)} - {"file"}
    if unknown := set(row) - known:
        raise JobError(f"{where}: unknown: {', '.join(sorted(unknown))}")
    if missing := {"id", "shell"} - set(row):
        raise JobError(f"{where}: missing: {', '.join(sorted(missing))}")
    if not re.fullmatch(r"[a-z0-9-]+", row["id"]):
        raise JobError(f"{where}: an id has small letters, digits and hyphens")
    job = Job(file=file, **row)
    if job.home not in HOMES or job.user not in USERS:
        raise JobError(f"{where}: home is one of {', '.join(HOMES)}; user is one of {', '.join(USERS)}")
    if clash := _BRACED.search(job.prepare + job.shell + job.after):
        raise JobError(f"{where}: `{clash[0]}` would be replaced")
    return job
