"""The host that probes attack: a throw-away home, workspace, listeners and processes, all of its own.

    root/outside          files that nobody inside may reach
    root/sockets          named sockets of host services
    root/home             HOME; the workspace is `code/project` below it, a git repository
    root/pristine         copies, from which what a probe broke is put back

`Host` is a context manager.  With `user` (only as root) everything belongs to that user, who also runs the
probes.  Nothing here reads or changes anything of the machine outside `root`, but for one System V segment,
one key and a few sockets, which are removed at the end.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import pwd
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

BASE = Path("/var/tmp")

_SOURCE = Path(__file__).resolve().parents[2] / "src"

SECRETS = {
    "MY_TOKEN": "probe-token-value",
    "AWS_SECRET_ACCESS_KEY": "probe-aws-value",
    "OPENAI_API_KEY": "probe-openai-value",
    "lower_secret_name": "probe-lower-value",
}
"""What stands in the environment of every launcher."""

OWN_FOLDERS = (".cache/stockade", ".local/state/stockade", ".local/share/stockade", ".codex")
"""Where launchers keep their own state: below the home, there from the start, and no concern of the probes."""

_BUILD = r"""
set -eu
mkdir -p "$HOME"/{.ssh,.aws,.config/gh,.local/share/keyrings} "$HOME/code" "$OUTSIDE"/{folder,rw,ro,repo} "$SOCKETS"
mkdir -p "$HOME"/{.cache/stockade,.local/state/stockade,.local/share/stockade,.codex}
echo unlisted > "$HOME/unlisted.txt"
echo 'probe private key' > "$HOME/.ssh/id_rsa"; chmod 600 "$HOME/.ssh/id_rsa"
echo 'ssh-ed25519 AAAA probe' > "$HOME/.ssh/authorized_keys"
echo 'aws_secret_access_key = probe' > "$HOME/.aws/credentials"
echo 'oauth_token: probe' > "$HOME/.config/gh/hosts.yml"
echo 'password probe' > "$HOME/.netrc"
echo '# shell' > "$HOME/.bashrc"; echo '# shell' > "$HOME/.profile"
printf '[user]\n\tname = Probe\n\temail = probe@example.com\n' > "$HOME/.gitconfig"
echo outside > "$OUTSIDE/file.txt"; echo inner > "$OUTSIDE/folder/inner.txt"; echo secret > "$OUTSIDE/secret.txt"
echo writable > "$OUTSIDE/rw/file.txt"; echo readable > "$OUTSIDE/ro/file.txt"
printf '#!/bin/sh\necho outside program\n' > "$OUTSIDE/program"; chmod 755 "$OUTSIDE/program"
printf 'leaked=yes; export leaked\n' > "$OUTSIDE/bash-env.sh"
touch -d '2020-01-01' "$OUTSIDE/old.txt"

export GIT_TEMPLATE_DIR= GIT_CONFIG_GLOBAL="$HOME/.gitconfig" GIT_CONFIG_NOSYSTEM=1
git() { command git -c protocol.file.allow=always -c advice.detachedHead=false "$@"; }
known() { git -C "$1" config user.name Probe; git -C "$1" config user.email probe@example.com; }
git init -q -b main "$OUTSIDE/library"; cd "$OUTSIDE/library"; echo library > lib.txt; git add .; git commit -qm library
git init -q -b main "$OUTSIDE/repo"; cd "$OUTSIDE/repo"; echo other > other.txt; git add .; git commit -qm other; mkdir .git/hooks
git init -q -b main "$WORKSPACE"; cd "$WORKSPACE"
mkdir -p src docs .git/hooks .git/info .github/workflows .vscode .husky
mkdir -p .claude .codex .cursor .gemini .stockade .devcontainer .cargo secrets deep/er
echo 'print("hello")' > src/main.py; echo '# readme' > README.md; echo text > docs/page.md
echo 'DATABASE_PASSWORD=probe' > .env; echo 'A=1' > .env.example; echo 'K=probe' > deep/er/prod.env
echo 'top secret' > secrets/key.pem
echo '{}' > .claude/settings.json; echo '# c' > .codex/config.toml; echo '{}' > .cursor/mcp.json
echo '{}' > .gemini/settings.json
echo '{}' > .vscode/tasks.json; echo '# s' > .stockade/config.toml
echo '#!/bin/sh' > .husky/pre-commit; echo '{}' > .devcontainer/devcontainer.json
echo '# e' > .envrc; echo '# n' > .npmrc; echo 'repos: []' > .pre-commit-config.yaml
echo '# c' > .cargo/config.toml; echo 'on: push' > .github/workflows/ci.yml
echo '{}' > .mcp.json
git add src docs README.md .env.example; git commit -qm first
git config alias.hello '!echo hello'
echo '# attributes' > .git/info/attributes; printf '#!/bin/sh\nexit 0\n' > .git/hooks/post-commit
chmod 755 .git/hooks/post-commit
git submodule -q add "$OUTSIDE/library" library; git commit -qm submodule
mkdir -p .git/modules/library/hooks
git init -q -b main nested; (cd nested; echo n > n.txt; git add .; git commit -qm nested; mkdir -p .git/hooks)
git init -q -b main a/b/c/d/far; (cd a/b/c/d/far; echo f > f.txt; git add .; git commit -qm far; mkdir -p .git/hooks)
for repository in . nested a/b/c/d/far library "$OUTSIDE/repo"; do known "$repository"; done
git worktree add -q "$HOME/code/linked" -b linked
git worktree add -q inside-tree -b inside
"""

# The victim belongs to the probes' user, as an editor or an agent of the user would.  It holds a marker in its
# memory and environment, lets everybody trace it (yama), and ends with its parent.
_VICTIM = """
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None)
libc.prctl(1, signal.SIGKILL)
libc.prctl(0x59616D61, ctypes.c_ulong(-1))
libc.prctl(4, 1)
marker = ctypes.create_string_buffer(b"probe-victim-memory")
kept = os.open(sys.argv[1], os.O_RDWR)
print(ctypes.addressof(marker), kept, flush=True)
while True:
    time.sleep(60)
"""

_Stamp = tuple[int, ...]


class Listener(NamedTuple):
    name: str
    socket: socket.socket
    path: str


class Host:
    """See the module's docstring; `places` are the constants that a probe sees."""

    def __init__(self, *, user: str | None = None, base: Path = BASE) -> None:
        self.user = pwd.getpwnam(user) if user else pwd.getpwuid(os.getuid())
        self._switch = self.user.pw_uid != os.getuid()
        assert not self._switch or os.getuid() == 0, "only root can probe as another user"
        self._base = base
        self._listeners: list[Listener] = []
        self._descriptors: list[int] = []
        self._victim: subprocess.Popen[str] | None = None
        self._segment = self._key = -1
        self._copied = ""
        """The sources for a user who cannot come into the checkout."""

    # Building and removing

    def __enter__(self) -> Host:
        self.root = Path(tempfile.mkdtemp(prefix="probe-", dir=self._base))
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _build(self) -> None:
        self.root.chmod(0o755)
        self._own(self.root)
        if self._switch and not all(parent.stat().st_mode & 0o001 for parent in (_SOURCE, *_SOURCE.parents)):
            self._copied = tempfile.mkdtemp(prefix="probe-source-", dir=self._base)
            os.chmod(self._copied, 0o755)
            shutil.copytree(_SOURCE / "stockade", Path(self._copied, "stockade"), ignore=shutil.ignore_patterns("__pycache__"))
        home = self.root / "home"
        self.places: dict[str, str | int] = {
            "root": str(self.root), "home": str(home), "code_folder": str(home / "code"), "outside": str(self.root / "outside"),
            "workspace": str(home / "code/project"), "linked": str(home / "code/linked"), "sockets": str(self.root / "sockets"),
            "own_uid": self.user.pw_uid, "own_gid": self.user.pw_gid,
        }  # fmt: skip
        self.on_host(_BUILD, check=True, cwd="/")
        self._listen()
        self._open_descriptors()
        self._start_victim()
        self._share_memory()
        self._add_key()
        self._keep_pristine()

    def __exit__(self, *_: object) -> None:
        if self._victim:
            self._victim.kill()
            self._victim.wait()
            assert self._victim.stdout
            self._victim.stdout.close()
        for one in self._listeners:
            one.socket.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        if self._segment >= 0:
            _libc.shmctl(self._segment, 0, None)  # IPC_RMID
        if self._key > 0:
            _libc.syscall(_KEYCTL, 3, ctypes.c_long(self._key))  # KEYCTL_REVOKE
        if self._copied:
            shutil.rmtree(self._copied, ignore_errors=True)
        deadline = time.monotonic() + 6  # what an unconfined probe left running may still write
        while self.root.exists() and time.monotonic() < deadline:
            shutil.rmtree(self.root, ignore_errors=True)
            time.sleep(0.02)

    def _own(self, path: Path | str) -> None:
        if self._switch:
            os.chown(path, self.user.pw_uid, self.user.pw_gid, follow_symlinks=False)

    def _listen(self) -> None:
        kinds = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "seqpacket": socket.SOCK_SEQPACKET}
        for name, kind in kinds.items():
            self._bind(name, socket.AF_UNIX, kind, f"{self.places['sockets']}/{name}.sock")
        for name in ("stream", "datagram"):
            self._bind(f"workspace-{name}", socket.AF_UNIX, kinds[name], f"{self.places['workspace']}/host-{name}.sock")
        self._bind("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0probe-{self.root.name}")
        self.places["abstract"] = f"probe-{self.root.name}"
        for name, family, kind in (
            ("tcp", socket.AF_INET, socket.SOCK_STREAM), ("udp", socket.AF_INET, socket.SOCK_DGRAM),
            ("tcp6", socket.AF_INET6, socket.SOCK_STREAM),
        ):  # fmt: skip
            try:
                self._bind(name, family, kind, "")
            except OSError:  # a machine without IPv6
                self.places[f"{name}_port"] = 9
                continue
            self.places[f"{name}_port"] = self._listeners[-1].socket.getsockname()[1]

    def _bind(self, name: str, family: int, kind: int, path: str) -> None:
        made = socket.socket(family, kind)
        address: object = path if family == socket.AF_UNIX else ("127.0.0.1" if family == socket.AF_INET else "::1", 0)
        made.bind(address)
        if path and path[0] != "\0":
            os.chmod(path, 0o777)
            self._own(path)
        if kind != socket.SOCK_DGRAM:
            made.listen(32)
        made.setblocking(False)
        self._listeners.append(Listener(name, made, path))

    def _open_descriptors(self) -> None:
        """Two descriptors that a launcher inherits by mistake: a low one and one above what careless loops close."""
        made = os.open(f"{self.places['outside']}/file.txt", os.O_RDWR | os.O_APPEND)
        high = fcntl.fcntl(made, fcntl.F_DUPFD, 300)
        folder = os.open(str(self.places["outside"]), os.O_RDONLY | os.O_DIRECTORY)
        self._descriptors = [made, high, folder]
        self.places |= {"descriptor": made, "high_descriptor": high, "folder_descriptor": folder}

    def _start_victim(self) -> None:
        words = self.as_user([sys.executable, "-I", "-c", _VICTIM, f"{self.places['outside']}/secret.txt"])
        environment = {**self.environment(), "VICTIM_TOKEN": "probe-victim-environment"}
        self._victim = subprocess.Popen(words, env=environment, cwd="/", stdout=subprocess.PIPE, text=True)
        assert self._victim.stdout
        address, kept = self._victim.stdout.readline().split()
        self.places |= {"victim": self._victim.pid, "victim_address": int(address), "victim_descriptor": int(kept)}

    def _share_memory(self) -> None:
        key = 0x50520000 + os.getpid() % 0xFFFF
        self._segment = _libc.shmget(key, 4096, 0o1666)  # IPC_CREAT, readable and writable for all
        self.places |= {"segment_key": key, "segment": self._segment}

    def _add_key(self) -> None:
        """A key in the session keyring, which every child possesses; machines without keyrings have none."""
        _libc.syscall(_KEYCTL, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING: an anonymous one of our own
        name = f"probe:{self.root.name}".encode()
        self._key = _libc.syscall(_ADD_KEY, b"user", name, b"probe-key-value", 15, -3)  # KEY_SPEC_SESSION_KEYRING
        if self._key > 0:
            _libc.syscall(_KEYCTL, 5, ctypes.c_long(self._key), ctypes.c_long(0x3F3F3F3F))  # KEYCTL_SETPERM
        self.places |= {"key": self._key, "key_name": name.decode()}

    # Running things on the host

    def environment(self) -> dict[str, str]:
        """What a person's shell has, secrets and all."""
        return {
            "PATH": os.environ["PATH"], "PYTHONPATH": self._copied or str(_SOURCE), "PYTHONDONTWRITEBYTECODE": "1",
            **SECRETS, "HOME": str(self.places["home"]), "USER": self.user.pw_name, "LOGNAME": self.user.pw_name,
            "LANG": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/bash", "EDITOR": "true",
            "SSH_AUTH_SOCK": f"{self.places['sockets']}/stream.sock",
        }  # fmt: skip

    def as_user(self, words: Sequence[str]) -> list[str]:
        if not self._switch:
            return list(words)
        return [
            shutil.which("setpriv") or "setpriv",
            "--reuid",
            str(self.user.pw_uid),
            "--regid",
            str(self.user.pw_gid),
            "--clear-groups",
            "--",
            *words,
        ]

    def on_host(self, text: str, *, check: bool = False, cwd: str | None = None) -> str | None:
        """Run bash as the person at the keyboard; what went wrong, or None."""
        variables = {name.upper(): str(value) for name, value in self.places.items()}
        workspace = str(self.places["workspace"])
        there = workspace if os.path.isdir(workspace) else str(self.root)  # a probe may have moved it away
        done = subprocess.run(
            self.as_user(["bash", "-c", f"set -eu\n{text}"]),
            env={**self.environment(), **variables}, cwd=cwd or there,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60, check=False,
        )  # fmt: skip
        said = f"status {done.returncode}: {(done.stderr.strip() or done.stdout.strip())[-200:]}"
        assert not check or done.returncode == 0, said
        return None if done.returncode == 0 else said

    @property
    def descriptors(self) -> Sequence[int]:
        return tuple(self._descriptors)

    # What a probe left behind

    def heard(self) -> set[str]:
        """The listeners that were reached since the last call."""
        return {one.name for one in self._listeners if _drain(one.socket)}

    def victim_lives(self) -> bool:
        assert self._victim
        return self._victim.poll() is None

    def stamps(self, *, workspace: bool) -> Mapping[str, _Stamp]:
        """(mode, owner, size, times) of each file outside the workspace, or of those inside."""
        top = str(self.places["workspace"])
        found: dict[str, _Stamp] = {}
        starts = [top] if workspace else [str(self.places["home"]), str(self.places["outside"]), str(self.places["sockets"])]
        while starts:
            path = starts.pop()
            if path == top and not workspace:
                continue
            try:
                info = os.lstat(path)
                names = os.listdir(path) if stat.S_ISDIR(info.st_mode) else []
            except OSError:
                found[path] = ()
                continue
            found[path] = (info.st_mode, info.st_uid, info.st_gid, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            starts += [f"{path}/{name}" for name in names]
        return found

    def _keep_pristine(self) -> None:
        self._pristine = self.root / "pristine"
        self._pristine.mkdir()
        for name in ("home", "outside"):
            subprocess.run(["cp", "-a", str(self.root / name), str(self._pristine / name)], check=True)
        self._clean = self._all_stamps()

    def _all_stamps(self) -> Mapping[str, _Stamp]:
        return {**self.stamps(workspace=False), **self.stamps(workspace=True)}

    def reset(self) -> None:
        """Put everything back as it was, where anything changed."""
        self.heard()
        if not self.victim_lives():
            self._start_victim()
        now = self._all_stamps()
        changed = {path for path in now.keys() | self._clean.keys() if now.get(path) != self._clean.get(path)}
        if not changed:
            return
        for unit in {self._unit(path) for path in changed} - {""}:
            self._restore(unit)
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._open_descriptors()
        self._rebind()
        self._clean = self._all_stamps()

    def _unit(self, path: str) -> str:
        """The entry of the workspace, of the home or of the tree to put back for a changed path; "" for nothing."""
        tops = (str(self.places["workspace"]), str(self.places["code_folder"]), str(self.places["home"]))
        if not all(os.path.isdir(top) for top in tops):
            return str(self.places["home"])
        for top in tops:
            if path == top:
                return ""  # only its list of entries, which differ themselves
            if path.startswith(f"{top}/"):
                return f"{top}/{path[len(top) + 1 :].partition('/')[0]}"
        return str(self.places["outside"]) if path.startswith(str(self.places["outside"])) else ""

    def _restore(self, path: str) -> None:
        good = self._pristine / os.path.relpath(path, self.root)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.lexists(path):
            os.unlink(path)
        if os.path.lexists(good):
            subprocess.run(["cp", "-a", str(good), path], check=True)

    def _rebind(self) -> None:
        kept = list(self._listeners)
        self._listeners.clear()
        for one in kept:
            if one.path.startswith(str(self.root)):
                if _is_bound(one):
                    self._listeners.append(one)
                    continue
                one.socket.close()
                Path(one.path).unlink(missing_ok=True)
                self._bind(one.name, socket.AF_UNIX, _TYPES[one.name], one.path)
            else:
                self._listeners.append(one)


_TYPES = {
    "stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "seqpacket": socket.SOCK_SEQPACKET,
    "workspace-stream": socket.SOCK_STREAM, "workspace-datagram": socket.SOCK_DGRAM,
}  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)
_KEYCTL, _ADD_KEY = (250, 248) if os.uname().machine == "x86_64" else (219, 217)


def _is_bound(one: Listener) -> bool:
    """Whether its path still leads to this socket, and not to a copy of the file."""
    with socket.socket(socket.AF_UNIX, _TYPES[one.name]) as tried:
        try:
            tried.connect(one.path)
        except OSError:
            return False
    _drain(one.socket)
    return True


def _drain(one: socket.socket) -> bool:
    """Take everything that waits at a socket; descriptors that came along are closed."""
    heard = False
    while True:
        try:
            if one.type == socket.SOCK_DGRAM:
                _, descriptors, _, _ = socket.recv_fds(one, 65536, 16)
                for descriptor in descriptors:
                    os.close(descriptor)
            else:
                one.accept()[0].close()
        except OSError:
            return heard
        heard = True
