"""Walks a script and says which programs it can run, with which words, in which folder.

Path-insensitive where bash branches: every branch is walked and their states are joined.  What this
walk cannot follow is reported as an unknown effect, never left out.  The three guarantees that the
oracle tests hold it to:

* every program that bash can run for this text is a segment, or something is marked unknown;
* a state that is joined is at least as vague as each of its sources;
* a `cd` that may fail leaves both folders possible for what is not chained to it by `&&`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import stockade.shell.commands as running  # it imports this module in turn
import stockade.shell.redirects as redirecting
from stockade.model.context import Context
from stockade.model.effects import Effect, Kind, Segment
from stockade.shell import streams
from stockade.shell.bashisms import first_bashism
from stockade.shell.evaluating import tests
from stockade.shell.expanding import Expander
from stockade.shell.loops import counted, each, loop
from stockade.shell.parsing import parse
from stockade.shell.redirects import file_read
from stockade.shell.state import State, Variable
from stockade.shell.syntax import (
    LIMIT_DEPTH,
    ArithCommand,
    Case,
    Command,
    Cond,
    Coproc,
    For,
    ForArith,
    Function,
    Group,
    If,
    Item,
    Loop,
    Pipeline,
    Redirect,
    Refused,
    Script,
    Simple,
    Subst,
    byte_view,
)
from stockade.shell.values import ANYTHING, EMPTY, Value, chomped, concat, join, known, unknown, with_errors

if TYPE_CHECKING:
    from stockade.shell.calls import Call
    from stockade.shell.own import Owns

_MAX_STEPS = 6000
_MAX_FALLBACKS = 4
_MAX_EARLIER = 16
C = TypeVar("C")
_Names = tuple[dict[str, Variable], dict[str, tuple[Function, ...]], dict[str, Value]]


class Interpreter:
    """One walk over one command.  `segments` grows in the order of the text."""

    def __init__(self, context: Context, owns: Owns) -> None:
        self.context = context
        self.owns = owns
        self.state = State(context)
        self.segments: list[Segment] = []
        self.stdin: Value = EMPTY
        self.taken = streams.UNREAD  # of that standard input
        self.steps = 0
        self.depth = 0
        self.calls: list[Function] = []
        self.forked = 0
        self.nested = 0
        self.dormant = False
        self.posix = False  # the text is for a shell that may know POSIX only
        self.fallbacks: tuple[str | None, ...] = ()
        self.called: set[str] = set()
        self.sinks: dict[str, Script] = {}  # what `>(…)` will read, by the name that stands for it
        self.source: tuple[int, int] | None = None  # the bytes that nested text came from

    # -- bookkeeping -----------------------------------------------------------------------------

    def step(self) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise Refused("too-long", "the command takes too many steps to follow")

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the whole command that text at this place came from."""
        return self.source if self.source is not None else (start, end)

    def expander(self) -> Expander:
        return Expander(self.state, self.substitution, self.taint, self.set_variable)

    def set_variable(self, name: str, value: Value, start: int, end: int, *, array: tuple[Value, ...] | None = None) -> None:
        """Any way to set a variable that is no assignment: what that makes possible is reported here."""
        from stockade.shell.assignments import variable_effects

        begin, stop = self.span(start, end)
        effects = variable_effects(self, self.state.resolve(name), value, begin, stop)
        self.state.assign(name, value, array=array)
        if effects:
            self.emit(Segment((), None, (), (), tuple(effects), begin, stop))

    def taint(self, why: str, start: int, end: int) -> None:
        """Something evaluates data as code here."""
        self.note(Kind.UNKNOWN, why, start, end, "evaluates-data")

    def note(self, kind: Kind, detail: str, start: int, end: int, code: str = "") -> None:
        """An effect that belongs to no program."""
        begin, stop = self.span(start, end)
        self.emit(Segment((), None, (), (), (Effect(kind, None, detail, begin, stop, code),), begin, stop))

    def emit(self, segment: Segment) -> None:
        self.segments.append(segment._replace(dormant=True) if self.dormant else segment)

    def emit_effects(self, call: Call) -> None:
        """Reports effects that were found after the segment of their call."""
        if call.effects:
            effects = tuple(call.effects)
            self.emit(Segment((), None, call.wrappers, (), effects, call.start, call.end, self.state.cwd))
            call.effects = []

    def in_copy(self, action: Callable[[], C]) -> C:
        """Runs something in a subshell: what it changes is lost."""
        outer, self.state = self.state, self.state.copy()
        fallbacks = self.fallbacks
        try:
            return action()
        finally:
            outer.written.update(self.state.written)
            self.state = outer
            self.fallbacks = fallbacks

    # -- text that is run ------------------------------------------------------------------------

    def run_text(self, text: str, start: int, end: int) -> Value:
        """Analyses text that a command gives to a shell (in this shell's state)."""
        self.depth += 1
        if self.depth > LIMIT_DEPTH // 8:
            self.note(Kind.UNKNOWN, "shells nested too deeply", start, end, "too-deep")
            self.depth -= 1
            return ANYTHING
        outer, self.source = self.source, self.span(start, end)
        self.nested += 1
        try:
            parsed = parse(byte_view(text), depth=self.depth * 8 - 7)
            if self.posix and (bashism := first_bashism(parsed.script, text)):
                self.note(Kind.UNKNOWN, f"{bashism} means something else to a shell that is not bash", start, end, "other-shell")
            out = self.script(parsed.script, self.stdin)
            if parsed.error is not None:
                self.note(Kind.UNKNOWN, f"text for a shell that is not understood: {parsed.error}", start, end, "parse")
        finally:
            self.depth -= 1
            self.nested -= 1
            self.source = outer
        return out

    def substitution(self, part: Subst) -> Value:
        """Runs a substitution and gives what it prints, without trailing newlines."""
        self.nested += 1
        try:
            if part.kind == ">(":
                name = f"/dev/fd/{part.start}"
                self.sinks[name] = part.script
                return known(name)
            inner = file_read(part.script)
            if inner is not None:
                out = self.in_copy(lambda: self._read_file(inner))
            else:
                out = self.in_copy(lambda: self.script(part.script, self.stdin))
        finally:
            self.nested -= 1
        if part.kind == "<(":
            name = f"/dev/fd/{part.start}"
            self.state.written[name] = out
            return known(name, out.tags)
        return chomped(out)

    def _read_file(self, redirect: Redirect) -> Value:
        from stockade.shell.redirects import file_content

        return file_content(self, redirect)

    # -- lists -----------------------------------------------------------------------------------

    def script(self, script: Script, stdin: Value) -> Value:
        """Walks a list; gives what it prints."""
        outer_stdin, self.stdin = self.stdin, stdin
        out = EMPTY
        chain: list[Item] = []
        for item in script.items:
            if item.joined_by in ("&&", "||"):
                chain.append(item)
                continue
            if chain:
                out = concat(out, self._chain(chain))
            chain = [item]
        if chain:
            out = concat(out, self._chain(chain))
        self.stdin = outer_stdin
        return out

    def _chain(self, items: list[Item]) -> Value:
        """`a && b || c`: later parts may not run, and a folder changed by an earlier one may not hold."""
        if any(item.background for item in items):
            self.forked += 1
            out = self.in_copy(lambda: self._chain_here(items))
            self.forked -= 1
            return out
        return self._chain_here(items)

    def _chain_here(self, items: list[Item]) -> Value:
        if len(items) == 1 and len(items[0].pipeline.commands) == 1:
            before = self.state.cwd
            out = self.command(items[0].pipeline.commands[0])
            if self.state.cwd != before:
                self._remember(self.fallbacks, [before])
            return out
        return self._long_chain(items)

    def _long_chain(self, items: list[Item]) -> Value:
        out = EMPTY
        base = self.fallbacks
        left: list[str | None] = []
        earlier: list[_Names] = []  # what variables and functions were before each item that may not run
        for at, item in enumerate(items):
            if item.joined_by == "||":
                self._join_names(earlier)
                self._remember(base, left)
            else:
                self.fallbacks = base
            if at and not (earlier and self._is_now(earlier[-1])):
                earlier.append(self._names())
            if len(earlier) > _MAX_EARLIER:
                self._join_names(earlier)
                earlier = [self._names()]
            before = self.state.cwd
            printed = concat(out, self.pipeline(item.pipeline))
            out = join(out, printed) if item.joined_by == "||" else printed  # behind `||` it may not have run
            if self.state.cwd != before:
                left.append(before)
            left.extend(folder for folder in self.fallbacks if folder not in base and folder not in left)
            if item.joined_by == "||":
                self._join_names(earlier)
                earlier = []
                base = tuple(dict.fromkeys((*base, *left)))  # either side of `||` may have run
        self._join_names(earlier)
        self._remember(base, left)
        return out

    def _remember(self, base: tuple[str | None, ...], left: list[str | None]) -> None:
        """The folders that a relative path may mean besides the current one."""
        folders = tuple(dict.fromkeys((*base, *left)))
        self.fallbacks = folders if len(folders) <= _MAX_FALLBACKS else (None,)

    def _names(self) -> _Names:
        return dict(self.state.variables), dict(self.state.functions), dict(self.state.aliases)

    def _is_now(self, names: _Names) -> bool:
        state = self.state
        return names == (state.variables, state.functions, state.aliases)

    def _join_names(self, earlier: list[_Names]) -> None:
        """Makes what held at an earlier point possible again."""
        for variables, functions, aliases in earlier:
            if variables != self.state.variables:
                other = self.state.copy()
                other.variables = variables
                self.state.join(other)
            self.state.join_names(functions, aliases)

    def pipeline(self, pipeline: Pipeline) -> Value:
        commands = pipeline.commands
        if len(commands) == 1:
            return self.command(commands[0])
        out = self.stdin
        self.forked += 1
        outer = self.stdin
        taken = self.taken
        for at, command in enumerate(commands):
            self.stdin = out
            out = self.in_copy(lambda command=command: self.command(command))  # type: ignore[misc]
            if at < len(pipeline.both) and pipeline.both[at]:
                out = with_errors(out)
            taken, self.taken = (self.taken if at == 0 else taken), streams.UNREAD
        self.stdin, self.taken = outer, taken
        self.forked -= 1
        return out

    # -- commands --------------------------------------------------------------------------------

    def command(self, command: Command) -> Value:
        self.step()
        if isinstance(command, Simple):
            return running.run_simple(self, command)
        return _WALKERS[type(command)](self, command)

    def redirected(self, redirects: tuple[Redirect, ...], action: Callable[[], Value]) -> Value:
        """Runs something under the redirections of a compound command."""
        if not redirects:
            return action()
        opened = redirecting.open_redirects(self, redirects)
        begin, stop = self.span(redirects[0].start, redirects[-1].end)
        if opened.effects:
            self.emit(Segment((), None, (), (), tuple(opened.effects), begin, stop, self.state.cwd))
        outer, taken = self.stdin, self.taken
        if opened.stdin is not None:
            self.stdin, self.taken = opened.stdin, streams.UNREAD
        own, self.sinks = self.sinks, {}
        out = action()
        if opened.stdin is not None:
            self.taken = taken
        self.stdin, self.sinks = outer, own
        left = opened.finish(self.state, out)
        return self.flush_sinks(out, left)

    def flush_sinks(self, out: Value, left: Value) -> Value:
        """Runs what stands in `>(…)` of the command that has just ended, on what it was given.

        They print where the command does, at any time: gives what is left of both.
        """
        while self.sinks:
            name, script = self.sinks.popitem()
            given = self.state.written.pop(name, None)
            tags = out.tags | (given.tags if given is not None else frozenset())
            stdin = given if given is not None else Value(None, False, tags=tags)
            self.nested += 1
            taken, self.taken = self.taken, streams.UNREAD
            printed = self.in_copy(lambda script=script, stdin=stdin: self.script(script, stdin))  # type: ignore[misc]
            self.taken = taken
            self.nested -= 1
            if printed != EMPTY:
                left = join(concat(left, printed), unknown(left.tags | printed.tags))
        return left

    def _group(self, node: Group) -> Value:
        if node.subshell:
            return self.redirected(node.redirects, lambda: self.in_copy(lambda: self.script(node.body, self.stdin)))
        return self.redirected(node.redirects, lambda: self.script(node.body, self.stdin))

    def _if(self, node: If) -> Value:
        return self.redirected(node.redirects, lambda: self._branches(node))

    def _branches(self, node: If) -> Value:
        outs: list[Value] = []
        ends: list[State] = []
        printed = EMPTY
        for test, body in node.branches:
            printed = concat(printed, self.script(test, self.stdin))
            outs.append(concat(printed, self._branch(body, ends)))
        outs.append(concat(printed, self._branch(node.orelse, ends)))
        return self._joined_branches(outs, ends)

    def alternatives(self, actions: list[Callable[[], Value]]) -> Value:
        """Runs one of several things, each from the present state."""
        outs: list[Value] = []
        ends: list[State] = []
        for action in actions:
            outer, self.state = self.state, self.state.copy()
            outs.append(action())
            ends.append(self.state)
            self.state = outer
        return self._joined_branches(outs, ends)

    def _branch(self, body: Script | None, ends: list[State]) -> Value:
        outer, self.state = self.state, self.state.copy()
        out = self.script(body, self.stdin) if body is not None else EMPTY
        ends.append(self.state)
        self.state = outer
        return out

    def _joined_branches(self, outs: list[Value], ends: list[State]) -> Value:
        first = ends[0]
        for other in ends[1:]:
            first.join(other)
        self.state = first
        result = outs[0]
        for out in outs[1:]:
            result = join(result, out)
        return result

    def _case(self, node: Case) -> Value:
        return self.redirected(node.redirects, lambda: self._arms(node))

    def _arms(self, node: Case) -> Value:
        expander = self.expander()
        expander.value(node.subject)
        outs: list[Value] = [EMPTY]
        ends = [self.state.copy()]
        for patterns, body in node.arms:
            for pattern in patterns:
                expander.value(pattern)
            outs.append(self._branch(body, ends))
            self.state.join(ends[-1])  # `;&` falls through with what this arm left
        return self._joined_branches(outs, ends)

    # -- the rest --------------------------------------------------------------------------------

    def _function(self, node: Function) -> Value:
        if running.shadows(node.name) or node.name == "command_not_found_handle":
            self.note(Kind.HIJACK, f"a function takes the name of `{node.name}`", node.start, node.end, "shadow")
        self.state.functions[node.name] = (node,)
        return EMPTY

    def _cond(self, node: Cond) -> Value:
        return self._without_program(node, lambda: tests(self, node))

    def _arith_command(self, node: ArithCommand) -> Value:
        def evaluate() -> Value:
            self.expander().arithmetic(node.body)
            return EMPTY

        return self._without_program(node, evaluate)

    def _without_program(self, node: Cond | ArithCommand, evaluate: Callable[[], Value]) -> Value:
        """`[[ … ]]` and `((…))` run nothing, and that is known: it leaves a segment all the same."""
        before = len(self.segments)
        out = self.redirected(node.redirects, evaluate)
        if len(self.segments) == before:
            begin, stop = self.span(node.start, node.end)
            self.emit(Segment((), None, (), (), (), begin, stop, self.state.cwd, builtin=True))
        return out

    def _coproc(self, node: Coproc) -> Value:
        self.forked += 1
        self.nested += 1
        self.in_copy(lambda: self.command(node.body))
        self.nested -= 1
        self.forked -= 1
        return EMPTY

    # -- functions -------------------------------------------------------------------------------

    def call(self, function: Function, arguments: tuple[Value, ...] | None, start: int, end: int) -> Value:
        """Walks the body of a function at its call."""
        name = function.name
        self.called.add(name)
        if any(active is function for active in self.calls):
            if self.forked:
                self.note(Kind.FLOOR, "a function that starts itself without end", start, end, "fork-bomb")
            else:
                self.note(Kind.UNKNOWN, f"the function `{name}` calls itself", start, end, "recursion")
            return ANYTHING
        self.calls.append(function)
        outer_forked, self.forked = self.forked, 0
        outer_arguments, self.state.arguments = self.state.arguments, arguments
        before = self._names()
        try:
            return self.command(function.body)
        finally:
            self.state.arguments = outer_arguments
            self._join_names([before])
            self.forked = outer_forked
            self.calls.pop()

    def walk_uncalled(self) -> None:
        """Functions that are defined and never called: looked at, but nothing of them runs."""
        self.dormant = True
        for name, function in [(name, body) for name, bodies in self.state.functions.items() for body in bodies]:
            if name not in self.called:
                self.note(Kind.UNKNOWN, f"defines the function `{name}`", function.start, function.end, "defines")
                self.in_copy(lambda function=function: self.call(function, (), function.start, function.end))  # type: ignore[misc]


_WALKERS: dict[type, Callable[..., Value]] = {
    Group: Interpreter._group,
    If: Interpreter._if,
    Loop: loop,
    For: each,
    ForArith: counted,
    Case: Interpreter._case,
    Function: Interpreter._function,
    Cond: Interpreter._cond,
    ArithCommand: Interpreter._arith_command,
    Coproc: Interpreter._coproc,
}
