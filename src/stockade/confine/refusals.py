"""What the sandbox refused a command, as far as its own errors tell, with the smallest setting that would allow it.  Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from stockade.confine.plan import STAYS, Kind, Mount, SandboxPlan
from stockade.model.paths import inside


class Refusal(NamedTuple):
    """Something that the sandbox refused, as far as the command's own errors tell, and what would allow it."""

    what: str
    why: str
    setting: str


_QUOTES = "['\"`\u2018\u2019]?"
_PATH = f"{_QUOTES}([^\\s'\"`\u2018\u2019:]+){_QUOTES}"
_READ_ONLY = re.compile(f"{_PATH}: Read-only file system|Read-only file system: {_PATH}")
_DENIED = re.compile(f"{_PATH}: Permission denied|Permission denied: {_PATH}")
_NOWHERE = re.compile(
    r"Could not resolve host: ?'?([\w.-]+)|getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)"
    r"|Network is unreachable|Temporary failure in name resolution|ENETUNREACH"
)
_MANY = 8


def refusals(errors: str, plan: SandboxPlan) -> tuple[Refusal, ...]:
    """What a command's error stream says was refused, at most a few lines, each once."""
    found: dict[str, Refusal] = {}
    for m in _READ_ONLY.finditer(errors):
        refusal = _read_only(_absolute(m.group(1) or m.group(2), plan), plan)
        found.setdefault(refusal.what, refusal)
    for m in _DENIED.finditer(errors):
        path = _absolute(m.group(1) or m.group(2), plan)
        cover = next((one for one in plan.covers if one.kind in _HIDING and inside(path, one.target)), None)
        if cover is not None:
            found.setdefault(path, Refusal(path, cover.why, f'sandbox.unmask = ["{path}"]'))
    nowhere = _NOWHERE.search(errors) if plan.network == "off" else None
    if nowhere is not None:
        host = nowhere.group(1) or nowhere.group(2) or "the network"
        found.setdefault(host, Refusal(host, "the network is off", 'sandbox.network = "on"'))
    return tuple(found.values())[:_MANY]


_HIDING = (Kind.HIDE_FILE, Kind.HIDE_FOLDER)


def _absolute(path: str, plan: SandboxPlan) -> str:
    return path if path.startswith("/") else f"{plan.cwd}/{path}"


def _read_only(path: str, plan: SandboxPlan) -> Refusal:
    over = [mount for mount in plan.mounts if inside(path, mount.target) and mount.kind is not Kind.LINK]
    last: Mount | None = max(over, key=lambda mount: (len(mount.target), plan.mounts.index(mount)), default=None)
    if last is not None and last.why == STAYS:
        return Refusal(path, last.why, "nothing: do it outside of the sandbox")
    if last is not None and last.why == "the workspace":
        return Refusal(path, "the profile only reads", 'sandbox.profile = "workspace"')
    folder = path.rpartition("/")[0] or "/"
    return Refusal(path, "it is not listed to be written", f'sandbox.write = ["{folder}"]')
