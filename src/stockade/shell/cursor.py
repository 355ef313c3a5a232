"""A place in the text, a budget, and the refusals that keep every reader bounded.

Two invariants hold for all that is built on it: every loop consumes at least one byte or leaves, and
every step is counted, so that the work is linear in the input.
"""

from __future__ import annotations

from stockade.shell.syntax import LIMIT_DEPTH, STEPS_PER_BYTE, Heredoc, Lit, Part, Refused


class Cursor:
    """`pos` moves over `s` up to `end`; `pending` are here-documents whose bodies come later."""

    __slots__ = ("budget", "depth", "end", "extglob", "pending", "pos", "s")

    def __init__(self, view: str, pos: int, end: int, *, depth: int = 0) -> None:
        self.s = view
        self.pos = pos
        self.end = end
        self.depth = depth
        self.budget = STEPS_PER_BYTE * (end - pos) + 2000
        self.pending: list[Heredoc] = []
        self.extglob = False

    def _step(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise Refused("too-long", "the command is too intricate to read", self.pos, self.pos)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > LIMIT_DEPTH:
            raise Refused("too-deep", f"nested deeper than {LIMIT_DEPTH} levels", self.pos, self.pos + 1)

    def _fail(self, code: str, message: str) -> Refused:
        return Refused(code, message, self.pos, min(self.pos + 1, self.end))

    def _peek(self, ahead: int = 0) -> str:
        at = self.pos + ahead
        return self.s[at] if at < self.end else ""

    def _starts(self, text: str) -> bool:
        return self.s.startswith(text, self.pos, self.end)

    def _no_glue(self) -> None:
        """Refuse a backslash-newline that would join two halves of an operator."""
        if self._starts("\\\n"):
            raise self._fail("continuation", "a line continuation inside an operator")

    def _no_newline_while_pending(self, start: int) -> None:
        if self.pending and "\n" in self.s[start : self.pos]:
            raise Refused("heredoc", "a newline inside a word before a here-document's body", start, self.pos)


def merged(parts: list[Part]) -> tuple[Part, ...]:
    """Joins neighbouring literals of one quoting, so that `r\\<newline>m` is one literal again."""
    out: list[Part] = []
    for part in parts:
        last = out[-1] if out else None
        if isinstance(part, Lit) and isinstance(last, Lit) and part.quoted == last.quoted:
            out[-1] = Lit(last.text + part.text, part.quoted, last.start, part.end)
        else:
            out.append(part)
    return tuple(out)
