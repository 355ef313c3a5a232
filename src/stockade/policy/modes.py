"""The modes: one table, a row a mode.  `docs/reference/modes.md` is printed from it."""

from __future__ import annotations

from typing import NamedTuple

POSTURES = ("asking", "open")


class Mode(NamedTuple):
    """What a mode changes.

    `posture` overrides the configured one where it is set.  `writes` and `commands` say what becomes
    of an ask: `rules` (as the rules say), `inside` (allowed inside the workspace, never on guarded
    paths), `smart` (by the smart rules), `confined` (allowed when confined without network), `refuse`,
    `lift`.  `lifts_denies` is for denies of project, user and session only.
    """

    name: str
    aliases: tuple[str, ...]
    posture: str
    writes: str
    commands: str
    meaning: str
    lifts_denies: bool = False
    asks_nobody: bool = False


MODES: tuple[Mode, ...] = (
    Mode("default", ("normal", ""), "", "rules", "rules", "the rules decide"),
    Mode("ask", ("manual",), "asking", "rules", "rules", "writes and commands ask unless a rule allows them"),
    Mode("acceptEdits", ("auto",), "", "inside", "rules", "an edit that would ask is allowed inside the workspace"),
    Mode("edits", ("accept-edits",), "asking", "inside", "rules",
         "edits run inside the workspace; commands ask unless a rule allows them"),
    Mode("workspace", (), "asking", "inside", "confined",
         "edits run inside the workspace, and commands where they are confined without network"),
    Mode("smart", (), "asking", "smart", "smart", "what is plainly low risk runs, everything else asks; the default"),
    Mode("plan", (), "asking", "refuse", "refuse", "reads only, until a plan is approved"),
    Mode("dontAsk", (), "", "rules", "rules", "nobody is asked: what would ask is denied", asks_nobody=True),
    Mode("full", (), "", "lift", "lift", "an ask becomes allow; denies stand"),
    Mode("bypassPermissions", ("always-approve",), "open", "lift", "lift",
         "everything is allowed but the floor, managed rules and the denies of guards", lifts_denies=True),
)  # fmt: skip
BOOT_MODE = "smart"

_BY_NAME = {name.lower(): mode for mode in MODES for name in (mode.name, *mode.aliases)}


class ModeError(ValueError):
    """A name that is no mode."""


def mode(name: str) -> Mode:
    """The mode of a name or alias, in any case.  Raises ModeError and names what there is."""
    found = _BY_NAME.get(name.lower())
    if found is None:
        raise ModeError(f"`{name}` is no mode; the modes are {', '.join(m.name for m in MODES)}")
    return found


class Chosen(NamedTuple):
    """The mode that holds after somebody asked for one; `reason` says why it is another."""

    mode: Mode
    requested: str
    reason: str = ""


def choose(name: str, *, sandbox_works: bool, locked: frozenset[str] = frozenset()) -> Chosen:
    """The mode for a request: a locked one, or `workspace` without a working sandbox, gives `default`."""
    wanted = mode(name)
    if wanted.name in locked:
        return Chosen(mode("default"), wanted.name, f"`{wanted.name}` is locked by the requirements")
    if wanted.name == "workspace" and not sandbox_works:
        return Chosen(mode("default"), wanted.name, "`workspace` needs a working sandbox, and there is none")
    return Chosen(wanted, wanted.name)
