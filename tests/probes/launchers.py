"""How a program is started confined: each launcher is a value that makes an argument vector."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.probes.probe import Probe

Places = Mapping[str, str | int]


@dataclass(frozen=True)
class Launcher:
    name: str
    words: Callable[[Probe, Places, Sequence[str]], list[str]]
    """(probe, places, program) → what to execute."""
    missing: Callable[[], str | None]
    """Why it can't be used on this machine."""


def options(probe: Probe, places: Places) -> list[str]:
    return [word.format(**places) for word in probe.options]


def pairs(probe: Probe, places: Places) -> list[tuple[str, str]]:
    words = options(probe, places)
    return list(zip(words[::2], words[1::2], strict=True))


def _none(_: Probe, __: Places, program: Sequence[str]) -> list[str]:
    return list(program)


_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/sys")


def _bwrap(probe: Probe, places: Places, program: Sequence[str]) -> list[str]:
    """Bubblewrap as people write it by hand: namespaces and binds, no filter, nothing masked inside the workspace."""
    words = ["bwrap", "--unshare-user", "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
    words += ["--share-net"] if probe.network == "on" else []
    for path in _SYSTEM:
        words += ["--ro-bind-try", path, path]
    words += ["--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--dir", "/run", "--dir", str(places["home"])]
    cwd, workspace = probe.cwd.format(**places), str(places["workspace"])
    workspace = workspace if cwd.startswith(workspace) else cwd
    words += ["--ro-bind" if probe.profile == "readonly" else "--bind", workspace, workspace]
    for option, value in pairs(probe, places):
        if option in ("--read", "--write"):
            words += ["--ro-bind-try" if option == "--read" else "--bind-try", value, value]
        elif option == "--deny":
            words += ["--tmpfs", value] if os.path.isdir(value) else ["--ro-bind", "/dev/null", value]
    return [*words, "--chdir", cwd, "--", *program]


@cache
def _python() -> str:
    """A Python that every user can start: the tests' own may lie below a home folder that is closed to others."""
    own = Path(sys.executable).resolve()
    return sys.executable if all(parent.stat().st_mode & 0o001 for parent in own.parents) else "/usr/bin/python3"


def _stockade(probe: Probe, places: Places, program: Sequence[str]) -> list[str]:
    words = [_python(), "-m", "stockade", "sandbox", "--profile", probe.profile, "--network", probe.network, "--yes"]
    return [*words, *options(probe, places), "--", *program]


def _codex(probe: Probe, places: Places, program: Sequence[str]) -> list[str]:
    mode = "read-only" if probe.profile == "readonly" else "workspace-write"
    words = ["codex", "sandbox", "-c", f'sandbox_mode="{mode}"']
    words += ["-c", f"sandbox_workspace_write.network_access={'true' if probe.network == 'on' else 'false'}"]
    roots = [value for option, value in pairs(probe, places) if option == "--write"]
    words += ["-c", f"sandbox_workspace_write.writable_roots={json.dumps(roots)}"]
    return [*words, "--", *program]


def _srt(probe: Probe, places: Places, program: Sequence[str]) -> list[str]:
    writes = [] if probe.profile == "readonly" else [str(places["workspace"])]
    writes += [value for option, value in pairs(probe, places) if option == "--write"]
    denied = [value for option, value in pairs(probe, places) if option == "--deny"]
    settings = {
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": [str(places["home"]), *denied], "allowWrite": writes, "denyWrite": denied},
    }
    path = Path(str(places["root"])) / "srt.json"
    path.write_text(json.dumps(settings))
    return ["srt", "--settings", str(path), *program]


def _on_path(name: str) -> Callable[[], str | None]:
    return lambda: None if shutil.which(name) else f"`{name}` is not installed"


LAUNCHERS = {
    one.name: one
    for one in (
        Launcher("none", _none, lambda: None),
        Launcher("bwrap", _bwrap, _on_path("bwrap")),
        Launcher("stockade", _stockade, _on_path("bwrap")),
        Launcher("codex", _codex, _on_path("codex")),
        Launcher("srt", _srt, _on_path("srt")),
    )
}
