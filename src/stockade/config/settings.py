"""The settings table: the loader, `inspect`, `init`, the JSON Schema and the reference page read it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from stockade.policy.grants import POLICIES
from stockade.policy.modes import BOOT_MODE, MODES, POSTURES

PRESETS = ("s-code", "mendcode", "oceancode")
PROFILES = {"off": "off", "workspace": "workspace", "workspace-write": "workspace", "readonly": "readonly",
            "read-only": "readonly", "strict": "strict"}  # fmt: skip
_PROFILE_RANK = {"off": 0, "workspace": 1, "readonly": 2, "strict": 3}
_MODE_NAMES = tuple(name for mode in MODES for name in (mode.name, *mode.aliases) if name)


class Setting(NamedTuple):
    """One setting.

    `kind` is `word` (one of `values`), `flag`, `texts` (a list of texts), `table` (names to texts), `number` (from 0
    upward, 0 for no bound) or `size` (`512M`, `2G`, empty for no bound).
    `tightens(old, new)` says whether a change can only make answers stricter; what cannot is held
    where it comes from a project that is not trusted.
    """

    name: str
    kind: str
    default: Any
    values: tuple[str, ...]
    meaning: str
    tightens: Callable[[Any, Any], bool]


def _never(old: Any, new: Any) -> bool:
    return False


def _always(old: Any, new: Any) -> bool:
    return True


def _on(old: Any, new: Any) -> bool:
    return bool(new)


def _to(*stricter: str) -> Callable[[Any, Any], bool]:
    """Only a change to one of these words, from a word that is not further along."""

    def check(old: Any, new: Any) -> bool:
        return new in stricter and (old not in stricter or stricter.index(old) <= stricter.index(new))

    return check


def _ordered(*words: str) -> Callable[[Any, Any], bool]:
    """Words from lax to strict: a change to the right tightens."""

    def check(old: Any, new: Any) -> bool:
        return new in words and old in words and words.index(new) >= words.index(old)

    return check


def _profile(old: Any, new: Any) -> bool:
    return _PROFILE_RANK.get(PROFILES.get(new, ""), -1) >= _PROFILE_RANK.get(PROFILES.get(old, ""), 9)


def _smaller(old: Any, new: Any) -> bool:
    """A bound that is at least as tight; no bound is the widest."""
    was, will = size(old), size(new)
    return will != 0 and (was == 0 or will <= was)


SETTINGS: tuple[Setting, ...] = (
    Setting("permission_mode", "word", BOOT_MODE, _MODE_NAMES, "the mode that a session begins in", _to("ask", "plan")),
    Setting("posture", "word", "asking", POSTURES,
            "what happens where no rule matches: `asking` (reads run, the rest asks) or `open`", _ordered("open", "asking")),
    Setting("preset", "word", "", ("", *PRESETS), "a set of settings and rules below all others", _never),
    Setting("approvals.grants", "word", "exact", POLICIES,
            "what an approval may be remembered for: nothing, the exact call, or the tool", _ordered("tool", "exact", "none")),
    Setting("guards.env", "word", "deny", ("deny", "ask"), "reading `.env` files with a file tool", _ordered("ask", "deny")),
    Setting("guards.repository", "word", "ask", ("ask", "off"),
            "git in a repository whose own configuration starts programs", _ordered("off", "ask")),
    Setting("shell.safe_list_extra", "texts", (), (), "commands that only read, by the person's word", _never),
    Setting("shell.allow", "texts", (), (), "allow rules for commands, after the rules of `permission`", _never),
    Setting("shell.deny", "texts", (), (), "deny rules for commands, after `shell.allow`", _always),
    Setting("sandbox.profile", "word", "workspace", tuple(PROFILES), "the profile that confines commands", _profile),
    Setting("sandbox.required", "flag", False, (), "refuse to run what cannot be confined", _on),
    Setting("sandbox.network", "word", "off", ("off", "on"), "whether a confined command has the network", _ordered("on", "off")),
    Setting("sandbox.read", "texts", (), (),
            "folders besides the workspace that a confined command may read; `all` is the whole disk, secrets masked", _never),
    Setting("sandbox.write", "texts", (), (), "folders besides the workspace that a confined command may write", _never),
    Setting("sandbox.deny", "texts", (), (), "files and folders that a confined command does not see", _always),
    Setting("sandbox.unmask", "texts", (), (), "files that are shown although their names say that they hold secrets", _never),
    Setting("sandbox.processes", "number", 1024, (), "how many processes a confined command may have at a time", _smaller),
    Setting("sandbox.memory", "size", "", (), "how much memory a confined command may use", _smaller),
    Setting("sandbox.file_size", "size", "", (), "how large a file may become that a confined command writes", _smaller),
    Setting("sandbox.cpu_seconds", "number", 0, (), "how long each process of a confined command may compute", _smaller),
    Setting("child_env.inherit", "word", "all", ("all", "core", "none"),
            "which variables of the caller a command gets", _ordered("all", "core", "none")),
    Setting("child_env.strip_secrets", "flag", True, (),
            "drop variables whose name holds KEY, SECRET or TOKEN", _on),
    Setting("child_env.include_only", "texts", (), (), "if not empty: only these variables are inherited", _never),
    Setting("child_env.keep", "texts", (), (),
            "variables that are inherited although they change what a shell or a program runs, as `BASH_ENV` does", _never),
    Setting("child_env.set", "table", {}, (), "variables that are set last, whatever was dropped", _never),
)  # fmt: skip
BY_NAME = {setting.name: setting for setting in SETTINGS}
SECTIONS = frozenset(setting.name.partition(".")[0] for setting in SETTINGS if "." in setting.name)
TOP_KEYS = frozenset(setting.name.partition(".")[0] for setting in SETTINGS) | {"version", "permission"}


_SIZE = re.compile(r"([0-9]{1,6})([KMGT]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(value: Any) -> int:
    """A number, or a size in bytes; 0 for no bound.  What is neither counts as no bound."""
    if isinstance(value, int):
        return value
    m = _SIZE.fullmatch(value) if isinstance(value, str) else None
    return int(m.group(1)) * _UNITS[m.group(2).upper()] if m is not None else 0


def problem_with(setting: Setting, value: Any) -> str | None:
    """What is wrong with a value, or None."""
    if setting.kind == "flag":
        return None if isinstance(value, bool) else "it takes true or false"
    if setting.kind == "number":
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40
        return None if good else "it takes a whole number from 0 upward"
    if setting.kind == "size":
        good = isinstance(value, str) and (not value or _SIZE.fullmatch(value) is not None)
        return None if good else "it takes a size, as `512M` or `2G`"
    if setting.kind == "texts":
        good = isinstance(value, list) and all(isinstance(v, str) for v in value)
        return None if good else "it takes a list of texts"
    if setting.kind == "table":
        good = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        return None if good else "it takes a table of names and texts"
    if not isinstance(value, str) or (value not in setting.values and value.lower() not in {v.lower() for v in setting.values}):
        return "it takes one of " + ", ".join(f"`{v}`" for v in setting.values if v)
    return None


def normalised(setting: Setting, value: Any) -> Any:
    """The value as the program keeps it: lists frozen, aliases resolved."""
    if setting.kind == "texts":
        return tuple(value)
    if setting.kind == "word":
        value = next(v for v in setting.values if v.lower() == value.lower())
    if setting.name == "sandbox.profile":
        return PROFILES[value]
    if setting.name == "permission_mode":
        from stockade.policy.modes import mode

        return mode(value).name
    return value
