"""What `[[ … ]]` evaluates: names, numbers and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockade.shell.redirects import look_at
from stockade.shell.syntax import Cond, Word
from stockade.shell.values import EMPTY, Field, Value, is_integer

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_COMPARING = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))


def tests(it: Interpreter, node: Cond) -> Value:
    expander = it.expander()
    for operator, words in node.tests:
        values = [expander.value(word) for word in words]
        if operator in _COMPARING:
            _compared(it, values, words)
        elif operator in ("-v", "-R"):
            _named(it, values[0], words[0].start, words[0].end)
        elif len(operator) == 2 and operator[0] == "-" and operator[1] not in "nzotvR":
            look_at(it, values[0], words[0].start, words[0].end)
    return EMPTY


def _compared(it: Interpreter, values: list[Value], words: tuple[Word, ...]) -> None:
    for value, word in zip(values, words, strict=True):
        if not is_integer(value):
            it.taint("text that is not known is evaluated as a number", word.start, word.end)


def _named(it: Interpreter, value: Value, start: int, end: int) -> None:
    name = value.text
    if name is None or "[" in name:
        from stockade.shell.builtin_state import subscript

        subscript(it, Field(name, start, end))
