"""What is to be said about one effect: nothing, an ordinary edit, or a reason to ask.

The names are those of the smart rules; the guards of the other modes use the same findings.
"""

from __future__ import annotations

from typing import NamedTuple

from stockade.model.context import Context
from stockade.model.effects import Effect, Kind, Target
from stockade.model.paths import (
    can_match,
    canonical,
    glob_folder,
    glob_parts,
    is_pattern,
    lexical,
    listable,
    unescaped,
    zone,
)
from stockade.model.protected import AGENT_FILES, AGENT_FOLDERS, guarded_path
from stockade.secrets.names import SYSTEM, secret_path
from stockade.secrets.patterns import pattern_asks

# Findings in the order in which they are reported, the gravest first.
ORDER = (
    "privilege", "install", "network", "secrets-file", "git-internals", "agent-config", "outside-project", "destructive",
    "project-code", "unknown-effect", "edit-in-project",
)  # fmt: skip
RANK = {name: at for at, name in enumerate(ORDER)}
# These ask although a rule allows the command ("nothing below fires").
HIGH_RISK = frozenset(ORDER[:8])
# These are guards of their own in every mode: they also ask where the posture is open.
GUARDS = {
    "secrets-file": "guard/secret",
    "git-internals": "guard/protected-path",
    "agent-config": "guard/protected-path",
    "outside-project": "guard/external-directory",
}

REPOSITORY = "the repository's own configuration"
"""How the reasons about a repository begin; `guards.repository` is what lifts them."""


class Finding(NamedTuple):
    """A reason.  `rule` is a smart rule's name, `start` and `end` the bytes that caused it.

    `lifted` is False for what no allow rule lifts: an option, variable or file that changes what runs.
    """

    rule: str
    reason: str
    start: int
    end: int
    lifted: bool = True
    outer: bool = False  # of a wrapper: a rule for the command inside does not lift it


_PLAIN = {
    Kind.NETWORK: ("network", "contacts {}"),
    Kind.INSTALL: ("install", "installs, updates or publishes packages"),
    Kind.PRIVILEGE: ("privilege", "raises privilege or changes the system"),
    Kind.DESTRUCTIVE: ("destructive", "destroys data"),
    Kind.SECRET: ("secrets-file", "{}"),
    Kind.PROCESS: ("privilege", "signals or changes other processes"),
    Kind.SERVICE: ("project-code", "speaks to a service of this machine"),
    Kind.VCS: ("project-code", "changes the repository"),
    Kind.EXECUTE: ("project-code", "{}"),
    Kind.UNKNOWN: ("unknown-effect", "{}"),
    Kind.DISK: ("destructive", "overwrites a device or an image"),
    Kind.FLOOR: ("unknown-effect", "{}"),
    Kind.FORCED_PUSH: ("destructive", "overwrites a remote branch"),
}


def gravity(finding: Finding) -> tuple[int, bool]:
    """Sorts the gravest finding to the front."""
    return RANK[finding.rule], finding.lifted


def telling(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects without those that say no more than "the network" where others name the hosts."""
    if len(effects) > 1 and any(effect.kind is Kind.NETWORK and effect.code == "host" for effect in effects):
        return tuple(effect for effect in effects if effect.kind is not Kind.NETWORK or effect.detail or effect.code == "wrapper")
    return effects


def judge(effect: Effect, context: Context) -> Finding | None:
    """What is to be said about one effect, None where it is a read of what may be read."""
    kind = effect.kind
    if kind is Kind.HIJACK and effect.code == "flow":
        return Finding("network", effect.detail, effect.start, effect.end, False)
    if kind is Kind.HIJACK:
        return Finding("unknown-effect", effect.detail, effect.start, effect.end, False)
    plain = _PLAIN.get(kind)
    if plain is not None:
        if kind is Kind.EXECUTE and effect.target is not None:
            secret = _secret(effect.target, context)
            if secret is not None:
                return Finding("secrets-file", f"runs {secret}", effect.start, effect.end)
        reason = plain[1].format(words_of(effect))
        return Finding(plain[0], reason, effect.start, effect.end, True, effect.code == "wrapper")
    assert effect.target is not None
    if kind in (Kind.READ, Kind.LIST):
        return _read(effect, effect.target, context)
    return _write(effect, effect.target, context)


_PLAIN_DETAIL = {Kind.NETWORK: "another machine", Kind.EXECUTE: "runs the project's code"}


def words_of(effect: Effect) -> str:
    """What an effect without a path is about, as a part of a sentence."""
    if effect.kind is Kind.NETWORK and effect.code != "host" and effect.detail:
        return effect.detail if effect.detail.startswith("a host") else f"another machine: {effect.detail}"
    return effect.detail or _PLAIN_DETAIL.get(effect.kind, "something that is not known")


# -- reading --------------------------------------------------------------------------------------


def _read(effect: Effect, target: Target, context: Context) -> Finding | None:
    listing = effect.kind is Kind.LIST
    if effect.code == "repository" and target.path is not None:
        starts = context.repositories.get(lexical(target.path))
        if starts:
            return Finding("project-code", starts, effect.start, effect.end, False)
    if not listing:
        secret = _secret(target, context)
        if secret is not None:
            return Finding("secrets-file", f"reads {secret}", effect.start, effect.end)
    where = _zones(target, context)
    if where is None:
        return Finding("outside-project", f"reads `{target.word}`, a path that is not known", effect.start, effect.end)
    for path, name in where:
        if name != "outside" or (listing and not target.recursive and not target.glob and listable(path)):
            continue
        return Finding("outside-project", f"reads `{path}` outside the project", effect.start, effect.end)
    return None


def _zones(target: Target, context: Context) -> list[tuple[str, str]] | None:
    """The paths that a target means, each with its zone; None where nothing is known."""
    if target.path is None:
        return [(target.under, zone(lexical(target.under), context))] if target.under else None
    if target.glob:
        folder = glob_folder(target.path)
        return [(folder, zone(folder, context))]
    given = lexical(target.path)
    if not context.files:
        return [(given, zone(given, context))]
    real = canonical(target.path, context)
    return [(given, zone(given, context)), (real, zone(real, context))]


def _secret(target: Target, context: Context) -> str | None:
    if target.path is None:
        if target.listed and (target.under == "/proc" or target.under.startswith("/proc/")):
            return f"`{target.word}`: the memory or environment of processes"
        if target.suffix and secret_path("/" + target.suffix.lstrip("/")):
            return f"`{target.word}`, which looks like a secret"
        return None
    if target.glob:
        return _secret_glob(target)
    if target.recursive and lexical(target.path) == "/proc":
        return f"`{target.word}`: the memory and environment of all processes"
    for path in {lexical(target.path), canonical(target.path, context)}:
        why = secret_path(path)
        if why is not None:
            return f"`{target.word}`: {why}"
    return None


_PROC_SECRETS = ("environ", "mem", "fd", "root", "cwd", "maps", "cmdline")


_SYSTEM_PARTS = tuple(tuple(path.split("/")[1:]) for path in SYSTEM)


def _secret_glob(target: Target) -> str | None:
    """A pattern is a secret if its last component asks for one by name, not if it merely could match."""
    parts = glob_parts(target.path or "")
    if len(parts) > 2 and parts[0] == "proc" and any(any(can_match(p, n) for n in _PROC_SECRETS) for p in parts[2:]):
        return f"`{target.word}`, which can match the environment of a process"
    for system in _SYSTEM_PARTS:
        if len(parts) >= len(system) and all(map(can_match, parts, system)) and parts[len(system) - 1].strip("*"):
            return f"`{target.word}`, which can match credentials of the system"
    literal = "/" + "/".join(unescaped(p) for p in parts if not is_pattern(p))
    if parts and secret_path(literal + "/x"):
        return f"`{target.word}` in a folder of credentials"
    last = parts[-1] if parts else ""
    if not is_pattern(last):
        why = secret_path("/" + unescaped(last))
        return f"`{target.word}`: {why}" if why else None
    asked = pattern_asks(last)
    return f"`{target.word}`, {asked}" if asked else None


# -- writing --------------------------------------------------------------------------------------


def _write(effect: Effect, target: Target, context: Context) -> Finding | None:
    start, end = effect.start, effect.end
    secret = _secret(target, context)
    if secret is not None:
        return Finding("secrets-file", f"writes {secret}", start, end)
    guarded = _guarded(target, context)
    if guarded is not None:
        return Finding(guarded, f"changes `{target.word}`", start, end)
    where = _zones(target, context)
    if where is None:
        return Finding("outside-project", f"writes `{target.word}`, a path that is not known", start, end)
    names = {name for _, name in where}
    if names == {"device"}:
        return None
    if not names <= {"workspace", "tmp", "device"}:
        path = next(p for p, name in where if name not in ("workspace", "tmp", "device"))
        return Finding("outside-project", f"writes `{path}` outside the project", start, end)
    if effect.kind is Kind.DELETE:
        return Finding("destructive", f"removes `{target.word}`", start, end)
    if effect.kind in _WHOLE and target.recursive and any(path == context.workspace for path, _ in where):
        return Finding("git-internals", f"changes everything in `{target.word}`, where .git lies", start, end)
    if effect.code in ("nested", "nested-redirect"):
        return Finding("project-code", f"writes `{target.word}` from inside another command", start, end)
    if target.path is None:
        return Finding("unknown-effect", f"writes `{target.word}`, which is not known", start, end)
    return Finding("edit-in-project", f"writes `{target.word}`", start, end)


_WHOLE = frozenset((Kind.WRITE, Kind.MODE, Kind.EDIT))


def _guarded(target: Target, context: Context) -> str | None:
    if target.path is None:
        return None
    if target.glob:
        return _guarded_glob(glob_parts(target.path))
    return guarded_path(lexical(target.path)) or guarded_path(canonical(target.path, context))


def _guarded_glob(parts: list[str]) -> str | None:
    """A pattern that can match a protected name, at any depth of it."""
    if not any(is_pattern(part) for part in parts):
        return guarded_path("/" + "/".join(unescaped(p) for p in parts))
    for part in parts:
        if not is_pattern(part):
            found = guarded_path("/" + unescaped(part) + "/x")
            if found is not None:
                return found
            continue
        lower = part.lower()
        if can_match(lower, ".git") and part.startswith((".", "\\.", "[")):
            return "git-internals"
        if any(can_match(lower, name) for name in _NAMED_BY_PATTERN if name.startswith(".") or _begins_like(lower, name)):
            return "agent-config"
    last = unescaped(parts[-1]) if not is_pattern(parts[-1]) else ""
    return guarded_path("/" + last) if last else None


def _begins_like(pattern: str, name: str) -> bool:
    """Whether a pattern is about this name: its literal beginning, or its ending `.md`."""
    literal = pattern.split("*")[0].split("?")[0].split("[")[0]
    return len(literal) >= 2 or (name.endswith(".md") and pattern.endswith(".md"))


_NAMED_BY_PATTERN = AGENT_FOLDERS | AGENT_FILES
