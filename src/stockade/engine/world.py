"""The context of a decision, gathered from this machine or read from a description of another."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from stockade.model.context import Context, FileFact
from stockade.model.effects import Analysis

_MAX_PATHS = 4096
_KINDS = {
    stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link", stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "block", stat.S_IFCHR: "char",
}  # fmt: skip


class ContextError(ValueError):
    """A context that cannot be used: a workspace that is refused, or a description that is wrong."""


class TooManyPaths(Exception):
    """An action that names more paths than are looked at; what is not looked at could be a link."""


def home_of(env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    if home.startswith("/"):
        return os.path.normpath(home)
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/nonexistent"


def find_workspace(cwd: str, home: str) -> str:
    """The nearest folder upward with `.stockade` or `.git`, else the working folder.

    Raises ContextError where that is `/` or the home folder: nothing there is a project.
    """
    at = cwd
    while True:
        if at not in ("/", home) and (
            os.path.lexists(os.path.join(at, ".stockade")) or os.path.lexists(os.path.join(at, ".git"))
        ):
            return at
        parent = os.path.dirname(at)
        if parent == at:
            break
        at = parent
    if cwd in ("/", home):
        raise ContextError(
            f"`{cwd}` is refused as a workspace: go into a project's folder, or make one with `mkdir` and `git init`"
        )
    return cwd


def gather(cwd: str | None, env: Mapping[str, str], *, state: str, config: str) -> Context:
    """The context of this machine.  Raises ContextError for a folder that is not there or is refused."""
    try:
        folder = os.path.realpath(cwd, strict=True) if cwd else os.getcwd()
    except OSError as error:
        raise ContextError(f"the working folder `{cwd}` cannot be entered: {(error.strerror or 'error').lower()}") from None
    if not os.path.isdir(folder):
        raise ContextError(f"`{cwd}` is no folder")
    home = home_of(env)
    workspace = find_workspace(folder, os.path.realpath(home))
    return Context(
        folder,
        workspace,
        home,
        os.getuid(),
        dict(env),
        state=os.path.realpath(state),
        config=os.path.realpath(config),
        env_complete=True,
    )


def facts_for(analysis: Analysis | None, paths: Iterable[str] = ()) -> dict[str, FileFact]:
    """What lies at the paths that a command names: the links in them above all."""
    wanted = list(paths)
    for segment in analysis.segments if analysis is not None else ():
        for effect in segment.effects:
            target = effect.target
            if target is not None and target.path is not None and not target.glob:
                wanted.append(target.path)
    found: dict[str, FileFact] = {}
    names = dict.fromkeys(wanted)
    if len(names) > _MAX_PATHS:
        raise TooManyPaths(f"names more than {_MAX_PATHS} paths")
    for path in names:
        _facts_along(path, found)
    return found


def repositories_for(analysis: Analysis | None) -> dict[str, str]:
    """What the repositories that a command works in would start, by the folder; only those that start something."""
    folders = {
        os.path.normpath(effect.target.path)
        for segment in (analysis.segments if analysis is not None else ())
        for effect in segment.effects
        if effect.code == "repository" and effect.target is not None and effect.target.path is not None
    }
    if not folders:
        return {}
    from stockade.engine.repository import runs

    return {folder: starts for folder in sorted(folders) if (starts := runs(folder))}


def _facts_along(path: str, found: dict[str, FileFact]) -> None:
    """Every component of a path, links followed as the kernel does."""
    done = ""
    left = [c for c in path.split("/") if c not in ("", ".")]
    for _ in range(200):
        if not left:
            return
        component = left.pop(0)
        if component == "..":
            done = os.path.dirname(done) if done.count("/") > 1 else ""
            continue
        here = f"{done}/{component}"
        fact = found.get(here) or _fact(here)
        found[here] = fact
        if fact.kind == "missing":
            return
        if fact.kind != "link" or fact.target is None:
            done = here
            continue
        left = [c for c in fact.target.split("/") if c not in ("", ".")] + left
        done = "" if fact.target.startswith("/") else done


def _fact(path: str) -> FileFact:
    try:
        mode = os.lstat(path).st_mode
        kind = _KINDS.get(stat.S_IFMT(mode), "file")
        return FileFact(kind, os.readlink(path) if kind == "link" else None)
    except OSError:
        return FileFact("missing")


# -- a described machine --------------------------------------------------------------------------

_FIELDS = frozenset(("cwd", "workspace", "home", "uid", "env", "shell", "sandbox", "files", "tmp", "roots"))


def described(text: str, where: str) -> Context:
    """A context from its JSON description.  Raises ContextError and names what is wrong."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContextError(f"{where}: not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ContextError(f"{where}: a context is an object")
    odd = sorted(set(value) - _FIELDS)
    if odd:
        raise ContextError(f"{where}: unknown key `{odd[0]}`; known are {', '.join(sorted(_FIELDS))}")
    cwd = _path(value, "cwd", where)
    workspace = _path(value, "workspace", where, cwd)
    home = _path(value, "home", where, "/nonexistent")
    if workspace in ("/", home):
        raise ContextError(f"{where}: `{workspace}` is refused as a workspace")
    env = value.get("env")
    if env is not None and not (isinstance(env, dict) and all(isinstance(v, str) for v in env.values())):
        raise ContextError(f"{where}: `env` is an object of texts")
    return Context(
        cwd, workspace, home, _number(value, where), env, str(value.get("shell", "bash")), str(value.get("sandbox") or ""),
        _files(value.get("files") or {}, where), str(value.get("tmp") or ""), _roots(value.get("roots") or [], where),
    )  # fmt: skip


def _roots(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) and v.startswith("/") for v in value):
        raise ContextError(f"{where}: `roots` is a list of absolute paths")
    return tuple(os.path.normpath(v) for v in value)


def _number(value: Mapping[str, Any], where: str) -> int:
    uid = value.get("uid", 1000)
    if not isinstance(uid, int) or isinstance(uid, bool):
        raise ContextError(f"{where}: `uid` is a number")
    return uid


def _path(value: Mapping[str, Any], name: str, where: str, default: str | None = None) -> str:
    text = value.get(name, default)
    if not isinstance(text, str) or not text.startswith("/"):
        raise ContextError(f"{where}: `{name}` is an absolute path")
    return os.path.normpath(text)


def _files(value: Any, where: str) -> dict[str, FileFact]:
    if not isinstance(value, dict):
        raise ContextError(f"{where}: `files` is an object of paths")
    found: dict[str, FileFact] = {}
    for path, fact in value.items():
        if not isinstance(fact, dict) or not isinstance(fact.get("kind"), str):
            raise ContextError(f"{where}: the fact of `{path}` needs a `kind`")
        if not all(isinstance(fact.get(name), str | None) for name in ("target", "digest")):
            raise ContextError(f"{where}: `target` and `digest` of `{path}` are texts")
        found[os.path.normpath(path)] = FileFact(fact["kind"], fact.get("target"), fact.get("digest"))
    return found
