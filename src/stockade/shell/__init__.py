"""The shell guard: bash text in, effects out.  Nothing is ever run to find out."""

from __future__ import annotations

from stockade.model.context import Context
from stockade.model.effects import Analysis, Effect, Kind, Segment
from stockade.shell.interpret import Interpreter
from stockade.shell.parsing import parse
from stockade.shell.syntax import Refused, byte_view
from stockade.shell.values import ANYTHING

__all__ = ["Analysis", "Segment", "analyze", "analyze_argv"]


def analyze(command: str, context: Context) -> Analysis:
    """What bash would run for `command`, as far as its text tells.

    Never raises for any text: what cannot be followed is an unknown effect, and `complete` is False.
    """
    try:
        view = byte_view(command)
    except UnicodeEncodeError as error:
        return _refused(Refused("encoding", "not valid Unicode", error.start, error.end), ())
    parsed = parse(view)
    it = Interpreter(context)
    it.stdin = ANYTHING
    error = parsed.error
    try:
        it.script(parsed.script, ANYTHING)
        it.walk_uncalled()
    except Refused as refused:
        error = error or refused
    except RecursionError:
        error = error or Refused("too-deep", "nested too deeply", 0, len(view))
    segments = tuple(dict.fromkeys(it.segments))
    if error is not None:
        return _refused(error, segments)
    if not parsed.script.items:
        return Analysis((), True, None, bool(command.strip()))
    return Analysis(segments, bool(segments) and not any(_open(s) for s in segments))


def _refused(error: Refused, segments: tuple[Segment, ...]) -> Analysis:
    return Analysis(segments, False, (error.code, error.message, error.start, error.end))


def _open(segment: Segment) -> bool:
    return not segment.dormant and any(e.kind is Kind.UNKNOWN and e.code in _RUNS_UNKNOWN for e in segment.effects)


# The reasons for which it is not known which programs run.
_RUNS_UNKNOWN = frozenset(
    ("dynamic", "evaluates-data", "unknown-text", "too-deep", "parse", "recursion", "alias", "shell-option", "builtin",
     "other-shell", "start-up", "value", "trap", "callback", "program-text")
)  # fmt: skip


def analyze_argv(argv: list[str], context: Context) -> Analysis:
    """The same for an argument vector that runs without a shell."""
    return analyze(" ".join("'" + word.replace("'", "'\\''") + "'" for word in argv), context)


__all__ += ["Effect"]
