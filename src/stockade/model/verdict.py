"""ALLOW < ASK < DENY, and the strictest wins."""

from __future__ import annotations

from enum import IntEnum


class Verdict(IntEnum):
    """The answer to one question.  Ordered, so that `max` joins answers.

    It has no truth value: `if verdict` would read a DENY as yes.
    """

    ALLOW = 0
    ASK = 1
    DENY = 2

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value; compare it with Verdict.ALLOW")

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> Verdict:
        """The verdict of that name; raises KeyError for another word."""
        return _BY_NAME[text]


_BY_NAME = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
EXIT_CODE = {Verdict.ALLOW: 0, Verdict.ASK: 10, Verdict.DENY: 11}
