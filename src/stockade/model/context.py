"""What the core must know about the world, gathered before deciding and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

_NOTHING: Mapping[str, FileFact] = MappingProxyType({})


class FileFact(NamedTuple):
    """`kind` is file, dir, link, fifo, socket, block, char or missing; `target` is where a link points."""

    kind: str
    target: str | None = None
    digest: str | None = None


class Context(NamedTuple):
    """The machine as a decision sees it.

    All paths are absolute and normalised.  `env` is the environment of the child (None: not known).
    `files` holds the facts that were gathered; a path that is not in it is taken to be an ordinary
    file or folder inside its parent.  `tmp` is the session's own temporary folder, `sandbox` the
    profile that will confine the run (empty: none), `state` and `config` Stockade's own folders.
    """

    cwd: str
    workspace: str
    home: str
    uid: int = 1000
    env: Mapping[str, str] | None = None
    shell: str = "bash"
    sandbox: str = ""
    files: Mapping[str, FileFact] = _NOTHING
    tmp: str = ""
    roots: tuple[str, ...] = ()
    state: str = ""
    config: str = ""
    env_complete: bool = False  # a variable that is not in `env` is not set
    definitions: Mapping[str, str] = MappingProxyType({})  # digests of the files that define what a command runs
    repositories: Mapping[str, str] = MappingProxyType({})  # what the repository of a folder would start, by the folder
