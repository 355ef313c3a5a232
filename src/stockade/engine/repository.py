"""Which programs a git repository's own configuration would start, also under a command that only reads.

A clone does not bring such a configuration along; an archive, a bare repository inside the project, or a
command that wrote into `.git` does.  Only the repository's files are read here, never the user's or the
system's: those are a person's own word.  Source: git-config(1), gitattributes(5), gitrepository-layout(5).
"""

from __future__ import annotations

import os
import re

from stockade.policy.findings import REPOSITORY
from stockade.vcs.config import Entry, Unreadable, entries, read_text

_BOOLEANS = frozenset(("", "true", "false", "yes", "no", "on", "off", "0", "1"))
# What plain reading commands obey: (section, has a name, key).
_RUNS = frozenset(
    (("core", False, "fsmonitor"), ("core", False, "pager"), ("core", False, "alternaterefscommand"),
     ("diff", False, "external"), ("diff", True, "command"), ("diff", True, "textconv"),
     ("filter", True, "clean"), ("filter", True, "smudge"), ("filter", True, "process"),
     ("gpg", False, "program"), ("gpg", True, "program"), ("interactive", False, "difffilter"),
     ("include", False, "path"), ("includeif", True, "path"))
)  # fmt: skip
_QUIET = re.compile(
    r"(?:less|more|cat|delta|bat|diff-so-fancy)(?:\s+-[A-Za-z]+)*\Z|git-lfs (?:clean|smudge|filter-process)\b[^;&|`$]*\Z"
)


def runs(folder: str) -> str:
    """What the configuration of the repository that holds a folder would start; empty if nothing, or no repository."""
    found = _repository(folder)
    if found is None:
        return ""
    git, common = found
    for path in (os.path.join(common, "config"), os.path.join(git, "config.worktree")):
        try:
            text = read_text(path)
            for entry in entries(text) if text is not None else ():
                if _starts(entry):
                    return f"{REPOSITORY} sets `{entry.shown}` to `{_short(entry.value)}` ({path}:{entry.line})"
        except Unreadable as error:
            return f"{REPOSITORY} `{path}` cannot be read: {error}"
    return ""


def _repository(folder: str) -> tuple[str, str] | None:
    """The git folder that git would find from a folder, and the one that holds the common configuration."""
    at = folder
    while True:
        git = os.path.join(at, ".git")
        if os.path.isdir(git):
            return git, _common(git)
        if os.path.isfile(git):
            text = read_text(git) or ""
            if text.startswith("gitdir: "):
                git = os.path.join(at, text[8:].strip())
                return git, _common(git)
        if os.path.isfile(os.path.join(at, "HEAD")) and all(os.path.isdir(os.path.join(at, n)) for n in ("objects", "refs")):
            return at, _common(at)
        parent = os.path.dirname(at)
        if parent == at:
            return None
        at = parent


def _common(git: str) -> str:
    text = read_text(os.path.join(git, "commondir"))
    return os.path.join(git, text.strip()) if text and text.strip() else git


def _starts(entry: Entry) -> bool:
    if (entry.section, entry.name is not None, entry.key) in _RUNS or entry.section == "pager":
        quiet = entry.value.lower() in _BOOLEANS or _QUIET.match(entry.value) is not None
        return not quiet or (entry.section == "diff" and entry.value.lower() not in ("", "false"))
    return entry.section == "core" and entry.key == "worktree" and entry.value != ""


def _short(value: str) -> str:
    return value if len(value) <= 60 else value[:57] + "…"
