"""Assignments: what a variable becomes, and what setting it makes possible."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind, Segment
from stockade.shell.state import Variable
from stockade.shell.syntax import Assign, Lit, Simple, Word
from stockade.shell.values import ANYTHING, EMPTY, Field, Value
from stockade.shell.variables import quiet_command, variable_role

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter


def assigned_value(it: Interpreter, assign: Assign, *, associative: bool = False) -> tuple[Value, tuple[Value, ...] | None]:
    expander = it.expander()
    old = it.state.variables.get(assign.name)
    associative = associative or (old is not None and old.associative)
    if assign.subscript is not None:
        if associative:
            expander.value(assign.subscript)
        else:
            expander.arithmetic(assign.subscript)
    if assign.array is not None:
        from stockade.shell.fields import field_value

        fields = [f for word in assign.array for f in expander.fields(word)]
        for word in assign.array if not associative else ():
            _element_subscript(it, word)
        before = it.state.array(assign.name) if assign.append and assign.name in it.state.variables else ()
        if any(f.many for f in fields) or before is None:
            return ANYTHING, None
        values = (*before, *(field_value(_without_subscript(f)) for f in fields))
        return (values[0] if values else EMPTY), values
    value = expander.value(assign.value, assignment=True)
    if assign.append:
        from stockade.shell.values import glue

        value = glue(it.state.lookup(assign.name), value)
    variable = it.state.variables.get(assign.name)
    if variable is not None and variable.integer:
        from stockade.shell.values import INTEGER, is_integer

        if not is_integer(value):
            it.taint("text is evaluated as a number by an integer variable", assign.start, assign.end)
        value = INTEGER
    if assign.subscript is None:
        return value, None
    return _element(it, assign, value)


def _element(it: Interpreter, assign: Assign, value: Value) -> tuple[Value, tuple[Value, ...] | None]:
    """`a[2]=x`: the whole array, where its other elements are known."""
    parts = assign.subscript.parts if assign.subscript is not None else ()
    digits = parts[0].text if len(parts) == 1 and isinstance(parts[0], Lit) else ""
    array = it.state.array(assign.name) if assign.name in it.state.variables else ()
    if not re.fullmatch(r"0|[1-9][0-9]{0,4}", digits) or array is None or int(digits) > len(array):
        return ANYTHING, None
    at = int(digits)
    array = (*array[:at], value, *array[at + 1 :])
    return array[0], array


def _without_subscript(field: Field) -> Field:
    """The value of `[k]=v`."""
    if field.text is None or not field.text.startswith("[") or "]=" not in field.text:
        return field
    return field._replace(text=field.text.partition("]=")[2], glob=False)


def _element_subscript(it: Interpreter, word: Word) -> None:
    """`a=([x]=1)`: the subscript is evaluated as a number, unless the array is associative."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Lit) or first.quoted or not first.text.startswith("["):
        return
    inside = first.text[1:].partition("]")[0]
    if not inside.isdigit():
        it.taint("the subscript of an array element is evaluated", word.start, word.end)


def only_assignments(
    it: Interpreter,
    node: Simple,
    assigned: list[tuple[Assign, tuple[Value, tuple[Value, ...] | None]]],
    effects: list[Effect],
    begin: int,
    stop: int,
) -> None:
    for assign, (value, array) in assigned:
        effects.extend(variable_effects(it, assign.name, value, *it.span(assign.start, assign.end)))
        it.state.assign(assign.name, value, array=array)
    it.emit(Segment((), None, (), (), tuple(effects), begin, stop, it.state.cwd, builtin=True))


def temporary(
    it: Interpreter, assigned: list[tuple[Assign, tuple[Value, tuple[Value, ...] | None]]]
) -> dict[str, Variable] | None:
    """Variables in front of a command hold while it runs; bash expands its words before."""
    if not assigned:
        return None
    before = dict(it.state.variables)
    for assign, (value, _) in assigned:
        it.state.variables[assign.name] = Variable(value, exported=True)
    return before


def variable_effects(it: Interpreter, name: str, value: Value, start: int, end: int) -> list[Effect]:
    """What setting a variable makes possible."""
    name = it.state.resolve(name)
    role = variable_role(name)
    if role == "":
        return []
    if role == "run" and quiet_command(value.text):
        return []
    if name.startswith("STOCKADE_"):
        return [Effect(Kind.HIJACK, None, f"sets {name}", start, end, "self-control")]
    if role == "run" and value.text is not None:
        it.run_text(value.text, start, end)
    elif name == "PS4" and value.text is not None:  # expanded in front of every traced command
        it.run_text(': "' + value.text.replace('"', '\\"') + '"', start, end)
    return [Effect(Kind.HIJACK, None, f"the variable {name} changes what runs", start, end, "variable")]
