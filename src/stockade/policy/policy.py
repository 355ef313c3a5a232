"""A policy: the rules of all layers and the settings that a decision needs, ready to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from stockade.model.action import KEYS
from stockade.model.verdict import Verdict
from stockade.policy.grants import Grants
from stockade.policy.modes import Mode, mode
from stockade.policy.rules import Rule

if TYPE_CHECKING:
    from stockade.shell.own import Owns

Pins = Mapping[str, Mapping[str, str]]
_ASKING = {"read": Verdict.ALLOW, "plan": Verdict.ALLOW, "task": Verdict.ALLOW}


def posture_rules(posture: str) -> tuple[Rule, ...]:
    """The built-in rules of a posture, the lowest layer."""
    if posture == "open":
        verdicts = {key: Verdict.ASK if key == "external_directory" else Verdict.ALLOW for key in KEYS}
        return tuple(Rule(key, "*", verdict, "builtin", f"open/{key}") for key, verdict in verdicts.items())
    return tuple(Rule(key, "*", _ASKING.get(key, Verdict.ASK), "builtin", f"asking/{key}") for key in KEYS)


class Policy(NamedTuple):
    """`by_key` holds the rules of each key in order, built-in ones first; `held` those of an untrusted project."""

    mode: Mode
    posture: str
    by_key: dict[str, tuple[Rule, ...]]
    held: dict[str, tuple[Rule, ...]]
    rules: tuple[Rule, ...]
    grants_policy: str = "exact"
    env_guard: str = "deny"
    safe_extra: tuple[str, ...] = ()
    grants: Grants = Grants()
    degraded: str = ""
    touches_paths: frozenset[str] = frozenset()
    careful: bool = False  # what is of high risk asks as in `smart`: a held file has set the mode
    trace: bool = False  # also say which other rules matched, and why they did not decide
    owns: Owns = MappingProxyType({})  # added descriptions of programs
    pinned: Mapping[str, str] = MappingProxyType({})  # rules that are pinned: their ids, and the names of what was agreed
    pins: Pins = MappingProxyType({})  # by such a name, the files that a person agreed to, with their digests
    trusts_repositories: bool = False  # what a repository's own configuration starts is not looked at

    @property
    def needs_definitions(self) -> bool:
        """Whether a decision can depend on the files that define what a command runs."""
        return bool(self.grants.items or self.pinned)

    @property
    def asks_high_risk(self) -> bool:
        """Whether what is of high risk asks although a rule allows it."""
        return self.careful or self.mode.name == "smart"

    def hidden(self) -> frozenset[str]:
        """Keys whose last rule is a bare deny: their tools are not offered to the model."""
        return frozenset(
            key
            for key, rules in self.by_key.items()
            if any(rule.bare and rule.verdict is Verdict.DENY for rule in (rules[-1], *self.held[key][-1:]))
        )


def pin_name(rule: Rule) -> str:
    """The name under which an agreement to a pinned rule is kept; its place in the file is not part of it."""
    return f"{rule.verdict} {rule.key} {rule.pattern}"


def build(
    rules: tuple[Rule, ...],
    *,
    mode_name: str = "smart",
    posture: str = "asking",
    grants_policy: str = "exact",
    env_guard: str = "deny",
    safe_extra: tuple[str, ...] = (),
    grants: Grants | None = None,
    degraded: str = "",
    careful: bool = False,
    trace: bool = False,
    owns: Owns | None = None,
    trusts_repositories: bool = False,
    pins: Pins | None = None,
) -> Policy:
    """A policy from rules in precedence order (lowest layer first) and settings.

    `degraded` says why every answer must be at least an ask (a configuration that does not load).
    """
    chosen = mode(mode_name)
    effective = chosen.posture or posture
    base = posture_rules(effective)
    applied = [rule for rule in rules if not rule.held]
    held = [rule for rule in rules if rule.held]
    by_key = {key: tuple(r for r in (*base, *applied) if r.key in (key, "*")) for key in KEYS}
    held_by_key = {key: tuple(r for r in held if r.key in (key, "*")) for key in KEYS}
    touches = frozenset(r.key for r in rules) | (frozenset(KEYS) if any(r.key == "*" for r in rules) else frozenset())
    pinned = {rule.id: pin_name(rule) for rule in applied if rule.pinned}
    return Policy(
        chosen, effective, by_key, held_by_key, (*base, *rules), grants_policy, env_guard, safe_extra,
        grants or Grants(), degraded, touches, careful, trace, owns or MappingProxyType({}),
        pinned, pins or {}, trusts_repositories,
    )  # fmt: skip
