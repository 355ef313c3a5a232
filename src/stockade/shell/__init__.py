"""The shell guard: bash text in, effects out.  Nothing is ever run to find out."""

from __future__ import annotations

import re

from stockade.model.context import Context
from stockade.model.effects import Analysis, Effect, Kind, Segment
from stockade.shell.interpret import Interpreter
from stockade.shell.own import Owns
from stockade.shell.parsing import oddity, parse
from stockade.shell.syntax import Lit, Refused, Script, Simple, Word, byte_view
from stockade.shell.values import ANYTHING

__all__ = ["Analysis", "Segment", "analyze", "analyze_argv", "plain"]


def analyze(command: str, context: Context, owns: Owns | None = None) -> Analysis:
    """What bash would run for `command`, as far as its text tells; `owns` are added descriptions of programs.

    Never raises for any text: what cannot be followed is an unknown effect, and `complete` is False.
    """
    try:
        view = byte_view(command)
    except UnicodeEncodeError as error:
        return _refused(Refused("encoding", "not valid Unicode", error.start, error.end), ())
    parsed = parse(view)
    it = Interpreter(context, owns or {})
    it.stdin = ANYTHING
    stopped = parsed.error
    try:
        it.script(parsed.script, ANYTHING)
        it.walk_uncalled()
    except Refused as refused:
        stopped = stopped or refused
    except RecursionError:
        stopped = stopped or Refused("too-deep", "nested too deeply", 0, len(view))
    if stopped is None and (odd := oddity(view)) is not None:
        it.segments.append(
            Segment(
                (), None, (), (), (Effect(Kind.UNKNOWN, None, odd.message, odd.start, odd.end, odd.code),), odd.start, odd.end
            )
        )
    segments = tuple(dict.fromkeys(it.segments)) if len(it.segments) > 1 else tuple(it.segments)
    if stopped is not None:
        return _refused(stopped, segments)
    script = parsed.script
    if not script.items:
        return Analysis((), True, None, bool(command.strip()))
    complete = bool(segments) and not any(_open(s) for s in segments)
    return Analysis(segments, complete, None, False, script)


_PLAIN_LINE = re.compile(r"[A-Za-z0-9_./:@%+,=-]+(?:(?: | ?(?:\||&&|\|\||;) ?)[A-Za-z0-9_./:@%+,=-]+)*")
_RESERVED = re.compile(
    r"(?:^|[ |&;])(?:if|then|else|elif|fi|while|until|for|select|do|done|case|esac|in|function|coproc|time)(?:$|[ |&;])"
)


def plain(command: str, script: Script) -> bool:
    """Whether a text and what was read of it need no second opinion: it cannot be read in two ways.

    Either one simple command of literal words, or bare words and operators with nothing quoted.
    """
    if _PLAIN_LINE.fullmatch(command) and not _RESERVED.search(command):
        return True
    if len(script.items) != 1 or len(script.items[0].pipeline.commands) != 1:
        return False
    only = script.items[0].pipeline.commands[0]
    if not isinstance(only, Simple) or only.assigns or any(r.heredoc is not None for r in only.redirects):
        return False
    return all(len(word.parts) == 1 and isinstance(word.parts[0], Lit) for word in only.words if isinstance(word, Word))


def _refused(error: Refused, segments: tuple[Segment, ...]) -> Analysis:
    return Analysis(segments, False, (error.code, error.message, error.start, error.end))


def _open(segment: Segment) -> bool:
    if segment.dormant:
        return False
    return any(
        e.kind is Kind.HIJACK or e.kind is Kind.FLOOR or (e.kind is Kind.UNKNOWN and e.code in _RUNS_UNKNOWN)
        for e in segment.effects
    )


# The reasons for which it is not known which programs run.
_RUNS_UNKNOWN = frozenset(
    ("dynamic", "evaluates-data", "unknown-text", "too-deep", "parse", "recursion", "alias", "shell-option", "builtin",
     "other-shell", "start-up", "trap", "callback", "program-text")
)  # fmt: skip


def analyze_argv(argv: list[str], context: Context) -> Analysis:
    """The same for an argument vector that runs without a shell."""
    return analyze(" ".join("'" + word.replace("'", "'\\''") + "'" for word in argv), context)


__all__ += ["Effect"]
