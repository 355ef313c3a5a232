"""What a sandbox will be, as a value.  Pure: computed from a request and the facts of the machine, printed, tested,
and only then carried out by a backend.

The order of the mounts is the meaning: a later one lies over an earlier one.
  1. the system, read-only; then a new /proc and /dev, and what root could write in them covered again
  2. empty places of its own: /tmp, /run, the home folder; in it the runtimes of version managers, read-only
  3. the roots, shallow before deep: the workspace, what was listed to be read or written, parts of git elsewhere
  4. what must stay as it is inside them: hooks and configuration of git, of agents and editors, read-only
  5. what must not be seen: secrets, sockets of other programs, what was denied
Nothing of 4 and 5 is a place that does not exist yet: a mount point would have to be made, and would be left behind.
What a command makes anew is looked at afterwards, by `sweep`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from stockade.confine.index import Find
from stockade.confine.places import COVERED, HOME_SECRETS, PRIVATE, RUNTIMES, STRICT, SYSTEM, SYSTEM_SECRETS
from stockade.confine.repositories import Shared
from stockade.model.paths import inside


class Kind(StrEnum):
    """What a mount puts at its target."""

    READ = "read"
    WRITE = "write"
    EMPTY = "empty"
    LINK = "link"
    PROC = "proc"
    DEVICES = "devices"
    HIDE_FILE = "hide-file"
    HIDE_FOLDER = "hide-folder"


class Mount(NamedTuple):
    """One step: `source` is a path of the host, or the text of a link."""

    kind: Kind
    target: str
    source: str = ""
    why: str = ""


class Limits(NamedTuple):
    """Bounds of one command; None is no bound.  Seconds, bytes, numbers of processes."""

    seconds: float | None = None
    cpu_seconds: int | None = None
    memory: int | None = None
    processes: int | None = None
    file_size: int | None = None
    output: int | None = None


class Request(NamedTuple):
    """What is asked for.  All paths are absolute and canonical.

    By a person's word `unmask` are secrets that are shown, and `release` what may change or be removed with all in it.
    `links` are other names of the home folder, with where they lead.
    """

    profile: str
    network: str
    workspace: str
    cwd: str
    home: str
    env: Mapping[str, str]
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    unmask: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    read_all: bool = False
    limits: Limits = Limits()


class Place(NamedTuple):
    """What lies at a path of the host: `kind` is `file`, `folder` or `link`.

    Of a link, `target` is the text, and `real` where it leads in the end.
    """

    path: str
    kind: str
    target: str = ""
    real: str = ""


class Facts(NamedTuple):
    """What the machine has of all that a plan may mention; what is not here does not exist."""

    places: Mapping[str, Place]
    finds: tuple[Find, ...] = ()
    git_parts: tuple[str, ...] = ()
    shared: tuple[Shared, ...] = ()
    python: str = ""
    resolver: str = ""
    """Where `/etc/resolv.conf` really lies, if that is below /run."""


class SandboxPlan(NamedTuple):
    """The whole of what a backend carries out."""

    profile: str
    network: str
    mounts: tuple[Mount, ...]
    cwd: str
    env: Mapping[str, str]
    limits: Limits
    missing: tuple[str, ...] = ()

    @property
    def covers(self) -> tuple[Mount, ...]:
        """The steps 4 and 5, of which there can be thousands."""
        return tuple(mount for mount in self.mounts if mount.why in _COVERING)

    @property
    def base(self) -> tuple[Mount, ...]:
        """The steps 1 to 3."""
        return tuple(mount for mount in self.mounts if mount.why not in _COVERING)


STAYS = "makes git, an agent or an editor run something"
SECRET = "its name says that it holds secrets"
SOCKET = "a socket of a program outside"
DENIED = "denied by the settings"
PINNED = "cannot be renamed away, nor what lies in it"
_COVERING = frozenset((STAYS, SECRET, SOCKET, DENIED, PINNED))

GIT_TEMPLATE = "/run/stockade/git-template"
_DROPPED = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DOCKER_HOST", "GPG_AGENT_INFO",
            "TMP", "TEMP", "TMPDIR", "PWD", "OLDPWD", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "WAYLAND_DISPLAY")  # fmt: skip


def plan(request: Request, facts: Facts) -> SandboxPlan:
    """The plan for a request; `off` has none.  What is asked for and does not exist is named in `missing`."""
    roots = _roots(request)
    mounts = (
        *_system(request, facts),
        *_private(request, facts),
        *_rooted(request, facts, roots),
        *_staying(request, facts),
        *_hidden(request, facts, roots),
    )
    missing = tuple(path for path in (*request.read, *request.write) if path not in facts.places)
    return SandboxPlan(request.profile, request.network, mounts, request.cwd, _env(request), request.limits, missing)


def wanted(request: Request) -> tuple[str, ...]:
    """Every path that a plan may mention by name: what must be looked at to make the facts."""
    home = request.home.rstrip("/")
    return tuple(
        dict.fromkeys(
            (*SYSTEM, *STRICT, *COVERED, *SYSTEM_SECRETS, *PRIVATE, *(f"{home}/{name}" for name in (*RUNTIMES, *HOME_SECRETS)),
             home, request.workspace, *request.read, *request.write, *request.deny, "/var")
        )
    )  # fmt: skip


def writable(request: Request) -> tuple[str, ...]:
    """The roots that a command may write to, the workspace among them where its profile says so."""
    own = () if request.profile == "readonly" else (request.workspace,)
    return tuple(dict.fromkeys((*own, *request.write)))


def readable(request: Request) -> tuple[str, ...]:
    """All roots, for whose secrets and sockets must be looked."""
    return tuple(dict.fromkeys((request.workspace, *request.write, *request.read)))


# -- 1: the system --------------------------------------------------------------------------------


def _system(request: Request, facts: Facts) -> Iterator[Mount]:
    if request.read_all:
        yield Mount(Kind.READ, "/", "/", "`sandbox.read` is `all`")
    else:
        for path in STRICT if request.profile == "strict" else SYSTEM:
            place = facts.places.get(path)
            if place is None:
                continue
            if place.kind == "link" and path.count("/") == 1:
                yield Mount(Kind.LINK, path, place.target, "as on the host")
            else:
                yield Mount(Kind.READ, path, place.real or path, "the system")
    yield Mount(Kind.PROC, "/proc", why="processes of its own")
    yield Mount(Kind.DEVICES, "/dev", why="devices of its own")
    for path in COVERED:
        if path in facts.places:
            yield Mount(Kind.READ, path, path, "root could change the machine there")


# -- 2: places of its own -------------------------------------------------------------------------


def _private(request: Request, facts: Facts) -> Iterator[Mount]:
    for path in PRIVATE:
        if not request.read_all or path in facts.places:
            yield Mount(Kind.EMPTY, path, why="empty, for this command")
    if not request.read_all and "/var" in facts.places:
        yield Mount(Kind.LINK, "/var/run", "/run", "as on most hosts")
    yield Mount(Kind.EMPTY, GIT_TEMPLATE, why="new repositories get no hooks")
    if request.network != "off" and facts.resolver:
        yield Mount(Kind.READ, facts.resolver, facts.resolver, "names are looked up there")
    if request.home in ("", "/") or request.read_all:
        return
    yield Mount(Kind.EMPTY, request.home, why="the home folder is not there")
    for path, to in request.links:
        if not any(inside(path, root) for root in (*request.read, *request.write, request.workspace)):
            yield Mount(Kind.LINK, path, to, "another name of the home folder")
    for path in _runtimes(request, facts):
        yield Mount(Kind.READ, path, path, "an installed runtime")
    if facts.python and not _shown(facts.python, request, facts):
        yield Mount(Kind.READ, facts.python, facts.python, "the Python that sets the sandbox up")


def _runtimes(request: Request, facts: Facts) -> Iterator[str]:
    searched = tuple(part for part in request.env.get("PATH", "").split(":") if part)
    for name in RUNTIMES:
        path = f"{request.home}/{name}"
        if path in facts.places and (request.profile != "strict" or any(inside(one, path) for one in searched)):
            yield path


def _shown(path: str, request: Request, facts: Facts) -> bool:
    system = STRICT if request.profile == "strict" else SYSTEM
    seen = (*(one for one in system if one in facts.places), *_runtimes(request, facts))
    return any(inside(path, one) for one in seen)


# -- 3: roots -------------------------------------------------------------------------------------


def _roots(request: Request) -> dict[str, Kind]:
    """Every root and how it is mounted; to write wins where a path is listed twice."""
    kinds = dict.fromkeys(request.read, Kind.READ)
    kinds[request.workspace] = Kind.READ if request.profile == "readonly" else Kind.WRITE
    kinds.update(dict.fromkeys(request.write, Kind.WRITE))
    return kinds


def _rooted(request: Request, facts: Facts, roots: Mapping[str, Kind]) -> Iterator[Mount]:
    kinds = {path: kind for path, kind in roots.items() if path in facts.places}
    why = {path: "listed to be read" if kind is Kind.READ else "listed to be written" for path, kind in kinds.items()}
    why[request.workspace] = "the workspace"
    for shared in facts.shared:
        if not any(inside(shared.path, root) and kind is Kind.WRITE for root, kind in roots.items()):
            kinds[shared.path] = Kind.WRITE if shared.writable and request.profile != "readonly" else Kind.READ
            why[shared.path] = "the repository of a work tree"
    for path in sorted(kinds, key=lambda one: (one.count("/"), one)):
        yield Mount(kinds[path], path, path, why[path])


# -- 4 and 5: what stays as it is, and what is not seen -------------------------------------------


def _staying(request: Request, facts: Facts) -> Iterator[Mount]:
    roots = writable(request)

    def changeable(path: str) -> bool:
        return any(inside(path, root) for root in roots) and not _released(path, request)

    found = [find for find in facts.finds if changeable(find.path)]
    for find in found:
        if find.sort in ("git", "pin") and find.path not in roots:
            yield Mount(Kind.WRITE, find.path, find.path, PINNED)
    for path in facts.git_parts:
        if changeable(path):
            yield Mount(Kind.READ, path, path, STAYS)
    for find in found:
        if find.sort in ("held", "gitfile"):
            yield Mount(Kind.READ, find.path, find.path, STAYS)


def _released(path: str, request: Request) -> bool:
    return any(inside(path, one) for one in request.release)


def _hidden(request: Request, facts: Facts, roots: Mapping[str, Kind]) -> Iterator[Mount]:
    shown = frozenset(request.unmask)
    for find in facts.finds:
        if find.sort in ("secret", "socket") and not any(inside(find.path, one) for one in (*shown, *request.release)):
            yield Mount(Kind.HIDE_FILE, find.path, why=SECRET if find.sort == "secret" else SOCKET)
    visible = ("/",) if request.read_all else (*roots, *(path for path in SYSTEM if request.profile != "strict"))
    own = (*SYSTEM_SECRETS, *(f"{request.home}/{name}" for name in HOME_SECRETS))
    for path in own:
        if any(inside(path, one) for one in visible) and path not in roots and not any(inside(path, one) for one in shown):
            yield from _hide(facts.places.get(path), SECRET)
    for path in request.deny:
        if any(inside(path, one) or inside(one, path) for one in visible):
            yield from _hide(facts.places.get(path), DENIED)


def _hide(place: Place | None, why: str) -> Iterator[Mount]:
    if place is not None and place.kind != "link":
        yield Mount(Kind.HIDE_FOLDER if place.kind == "folder" else Kind.HIDE_FILE, place.path, why=why)


# -- the environment ------------------------------------------------------------------------------


def _env(request: Request) -> dict[str, str]:
    """The environment that was composed, and what the sandbox itself changes of it."""
    env = {name: value for name, value in request.env.items() if name not in _DROPPED}
    env["TMPDIR"] = "/tmp"
    env["GIT_TEMPLATE_DIR"] = GIT_TEMPLATE
    env["STOCKADE_SANDBOX"] = request.profile
    if request.home not in ("", "/") and env.get("HOME") not in [path for path, _ in request.links]:
        env["HOME"] = request.home
    return env
