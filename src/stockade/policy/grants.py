"""Grants: remembered approvals, exact (one digest) or by tool.  Values with laws; sessions keep them.

A grant remembers the files that define what the approved command runs (`npm test`: the scripts of
package.json), each with its digest.  It covers a call only while all that define it are among them and
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

POLICIES = ("none", "exact", "tool")
UNREADABLE = "unreadable"
"""The digest of what could not be looked at; it equals nothing, itself not either."""


class Grant(NamedTuple):
    """`kind` is `exact` (then `value` is a digest) or `tool` (then `value` is a tool's name).

    `files` are paths with their digests, sorted.
    """

    kind: str
    value: str
    files: tuple[tuple[str, str], ...] = ()

    def changed(self, definitions: Mapping[str, str]) -> tuple[str, ...]:
        """The files that define a call now and are not as this grant remembers them."""
        return changed(dict(self.files), definitions)


def changed(remembered: Mapping[str, str], definitions: Mapping[str, str]) -> tuple[str, ...]:
    """The paths of `definitions` whose digest is another one, or was not known."""
    return tuple(
        path for path, digest in definitions.items() if digest == UNREADABLE or remembered.get(path) != digest
    )  # fmt: skip


class Covered(NamedTuple):
    """What grants say about a call: the one that covers it, or the files that keep one from doing so."""

    grant: Grant | None = None
    changed: tuple[str, ...] = ()


class Grants(NamedTuple):
    """The grants of a session."""

    items: frozenset[Grant] = frozenset()

    def with_exact(self, digest: str, definitions: Mapping[str, str] | None = None) -> Grants:
        return self._with("exact", digest, definitions or {})

    def with_tool(self, tool: str, definitions: Mapping[str, str] | None = None) -> Grants:
        return self._with("tool", tool, definitions or {})

    def _with(self, kind: str, value: str, definitions: Mapping[str, str]) -> Grants:
        """A new approval of the same thing replaces the old one, and keeps what that knew of other files."""
        old = self._find(kind, value)
        files = {**dict(old.files), **definitions} if old is not None else definitions
        rest = self.items - {old} if old is not None else self.items
        return Grants(rest | {Grant(kind, value, tuple(sorted(files.items())))})

    def _find(self, kind: str, value: str) -> Grant | None:
        return next((grant for grant in self.items if (grant.kind, grant.value) == (kind, value)), None)

    def covers(
        self, *, digest: str, tool: str, policy: str, mode: str, high_risk: bool, definitions: Mapping[str, str] | None = None
    ) -> Covered:
        """The grant that covers a call: never a high-risk one, in `smart` only an exact one."""
        if policy == "none" or high_risk:
            return Covered()
        kinds = [("exact", digest)] + ([("tool", tool)] if policy == "tool" and mode != "smart" else [])
        stale: tuple[str, ...] = ()
        for kind, value in kinds:
            grant = self._find(kind, value)
            if grant is None:
                continue
            differ = grant.changed(definitions or {})
            if not differ:
                return Covered(grant)
            stale = stale or differ
        return Covered(None, stale)
