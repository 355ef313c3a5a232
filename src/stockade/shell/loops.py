"""Loops: a body is walked until another round would change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockade.shell.fields import field_value
from stockade.shell.state import State
from stockade.shell.syntax import For, ForArith, Loop
from stockade.shell.values import ANYTHING, EMPTY, INTEGER, Value, concat, join, repeated

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter


def loop(it: Interpreter, node: Loop) -> Value:
    def once() -> Value:
        printed = it.script(node.test, it.stdin)
        return concat(printed, it.script(node.body, it.stdin))

    return it.redirected(node.redirects, lambda: _repeat(it, once))


def each(it: Interpreter, node: For) -> Value:
    def start() -> Value:
        value = _loop_value(it, node)

        def once() -> Value:
            it.set_variable(node.name, value, node.start, node.start)
            return it.script(node.body, it.stdin)

        return _repeat(it, once)

    return it.redirected(node.redirects, start)


def _loop_value(it: Interpreter, node: For) -> Value:
    if node.words is None:
        values = list(it.state.arguments) if it.state.arguments is not None else [ANYTHING]
    else:
        expander = it.expander()
        values = [field_value(field) for word in node.words for field in expander.fields(word)]
    if not values:
        return ANYTHING
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def counted(it: Interpreter, node: ForArith) -> Value:
    def once() -> Value:
        it.expander().arithmetic(node.head)
        return it.script(node.body, it.stdin)

    return it.redirected(node.redirects, lambda: _repeat(it, once))


def _repeat(it: Interpreter, once: Callable[[], Value]) -> Value:
    """Walks a body until another round would change nothing."""
    out = EMPTY
    for attempt in range(3):
        before = it.state.copy()
        folders = it.fallbacks
        out = once()
        after_folders = it.fallbacks
        it.state.join(before)
        if it.state.cwd is None and before.cwd is not None:
            it.fallbacks = (None,)
        settled = it.state.variables == before.variables and it.state.cwd == before.cwd
        if settled and folders == after_folders:
            return repeated(out)
        if attempt == 1:
            _widen(it, before)
    return repeated(out)


def _widen(it: Interpreter, before: State) -> None:
    """Gives up on what still changes after two rounds."""
    for name, variable in it.state.variables.items():
        if before.variables.get(name) != variable:
            value = INTEGER if variable.value.kind == "int" else ANYTHING
            it.state.variables[name] = variable._replace(value=value, array=None)
