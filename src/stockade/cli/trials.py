"""The live trials of `doctor`: small confined commands whose outcome shows whether a control holds here."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from stockade.confine.ability import Ability
from stockade.confine.facts import gather
from stockade.confine.plan import Request, plan
from stockade.confine.run import NotConfined
from stockade.confine.run import run as run_confined


class Trial(NamedTuple):
    """One trial: bash text that must succeed inside; `{outside}` is a folder that must not be reachable."""

    name: str
    text: str
    holds: str


TRIALS = (
    Trial(
        "files",
        "touch made && ! cat {outside}/secret && ! touch {outside}/made && ! touch /usr/made",
        "only the workspace can be written",
    ),
    Trial("secrets", "! cat .env", "a file of secrets cannot be read"),
    Trial("git metadata", "! touch .git/hooks/post-commit && ! mv .git other", "hooks stay as they are"),
    Trial("processes", '[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 12 ] && ! kill -0 {pid}', "no process outside is seen"),
    Trial("network", "! (exec 3<>/dev/tcp/192.0.2.1/80)", "with the network off there is no way out"),
    Trial(
        "kernel settings",
        "! (exec 3>/proc/sys/kernel/core_pattern) && ! (exec 3>/proc/sysrq-trigger)",
        "root cannot change the machine",
    ),
)


def trial(one: Trial, able: Ability, folder: str) -> tuple[str, str]:
    """Whether a trial holds, in a fresh workspace below `folder`: its state, and what was found."""
    workspace, outside = f"{folder}/{one.name.replace(' ', '-')}", f"{folder}/outside"
    for path in (f"{workspace}/.git/hooks", outside):
        os.makedirs(path, exist_ok=True)
    for path in (f"{workspace}/.env", f"{outside}/secret", f"{workspace}/.git/config"):
        with open(path, "w", encoding="ascii") as stream:
            stream.write("[core]\n")
    request = Request("workspace", "off", workspace, workspace, f"{folder}/home", {"PATH": "/usr/bin:/bin"})
    made = plan(request, gather(request, f"{folder}/state").facts)
    text = one.text.replace("{outside}", outside).replace("{pid}", str(os.getppid()))
    try:
        ended = run_confined(made, ["/bin/bash", "-c", f"({text}) 2>/dev/null"], able, f"{folder}/state")
    except (NotConfined, OSError, subprocess.SubprocessError) as error:
        return "missing", f"the trial could not run: {error}"
    return ("ok", one.holds) if ended.code == 0 else ("missing", "the trial failed")
