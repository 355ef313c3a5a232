"""Grants: remembered approvals, exact (one digest) or by tool.  Values with laws; sessions keep them."""

from __future__ import annotations

from typing import NamedTuple

POLICIES = ("none", "exact", "tool")


class Grant(NamedTuple):
    """`kind` is `exact` (then `value` is a digest) or `tool` (then `value` is a tool's name)."""

    kind: str
    value: str


class Grants(NamedTuple):
    """The grants of a session."""

    items: frozenset[Grant] = frozenset()

    def with_exact(self, digest: str) -> Grants:
        return Grants(self.items | {Grant("exact", digest)})

    def with_tool(self, tool: str) -> Grants:
        return Grants(self.items | {Grant("tool", tool)})

    def covers(self, *, digest: str, tool: str, policy: str, mode: str, high_risk: bool) -> Grant | None:
        """The grant that covers a call: never a high-risk one, in `smart` only an exact one."""
        if policy == "none" or high_risk:
            return None
        exact = Grant("exact", digest)
        if exact in self.items:
            return exact
        by_tool = Grant("tool", tool)
        if policy == "tool" and mode != "smart" and by_tool in self.items:
            return by_tool
        return None

    def mention(self, digest: str) -> bool:
        """Whether a digest could be covered at all; saves computing it."""
        return Grant("exact", digest) in self.items
