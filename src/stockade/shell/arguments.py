"""Reads an argument vector with the description of its program.

getopt_long as glibc does it (permutation, clusters, abbreviations), POSIX order for wrappers, single
dashes for find and its like.  A word that is not known can be any option from there on.
"""

from __future__ import annotations

from typing import NamedTuple

from stockade.shell.catalog import PATH_ROLES, Option, Program
from stockade.shell.values import Field


class Use(NamedTuple):
    """A word and the role in which the program uses it."""

    role: str
    field: Field
    option: str = ""


_MINUS = "\u2212"


class Reading:
    """What the words of a command mean to its program.

    `uses` are the words with a role, `effects` what the program does besides; `command` is the
    argument vector that it runs, with the option or operand that gave it.
    """

    __slots__ = (
        "commands", "drops", "effects", "gaps", "globals", "info", "only", "operand_roles", "operands", "options", "path",
        "program", "recursive", "runs", "uses", "values", "wild",
    )  # fmt: skip

    def __init__(self, program: Program) -> None:
        self.program = program
        self.path: list[str] = []
        self.uses: list[Use] = []
        self.effects: list[tuple[str, str, int, int]] = []  # effect, detail, start, end
        self.gaps: set[str] = set()  # details of effects that only say what is not described
        self.operands: list[Field] = []
        self.operand_roles: tuple[tuple[str, str], ...] = program.operands
        self.options: dict[str, Field] = {}
        self.values: dict[str, Field] = {}
        self.commands: list[list[Field]] = []
        self.only = ""
        self.info = False
        self.globals = 0  # how many uses stand before the subcommand
        self.drops: set[str] = set()
        self.recursive = program.recursive
        self.runs = program.runs
        self.wild: Field | None = None


def read_arguments(program: Program, args: list[Field]) -> Reading:
    """Reads the words after the program's name."""
    reading = Reading(program)
    rest = list(args)
    while True:
        current = reading.program
        if current.subs:
            rest = _options_of(reading, rest, until_operand=True)
            if not _descend(reading, current, rest):
                return _finish(reading, rest)
            rest = rest[1:]
            continue
        if len(rest) == 1 and _is_info(current, rest[0]):
            reading.effects = []
            reading.info = True
            return reading
        operands = _options_of(reading, rest, until_operand=current.style == "posix")
        return _finish(reading, operands)


def _is_info(program: Program, field: Field) -> bool:
    option = program.options.get(field.literal or "")
    return option is not None and option.info


def _descend(reading: Reading, current: Program, rest: list[Field]) -> bool:
    """Enters the subcommand that `rest` begins with; False where there is none to enter."""
    if not rest:
        if current.effects:
            reading.effects.extend((e, "", 0, 0) for e in current.effects)
        elif current.bare != "info" and not any(current.options[o].info for o in reading.options if o in current.options):
            _unknown(reading, "without a subcommand", 0, 0)
        return False
    field = rest[0]
    name = field.literal
    sub = current.sub(name) if name is not None else None
    if sub is None:
        shown = "a subcommand that is not known" if name is None else f"the subcommand `{name}` is not described"
        _unknown(reading, shown, field.start, field.end)
        return False
    assert name is not None
    if not reading.path:
        reading.globals = len(reading.uses)
    reading.path.append(name)
    reading.program = sub
    reading.operand_roles = sub.operands
    reading.runs += sub.runs
    reading.recursive |= sub.recursive
    reading.only = ""
    return True


def _unknown(reading: Reading, detail: str, start: int, end: int) -> None:
    reading.effects.append(("unknown", detail, start, end))
    reading.gaps.add(detail)


# -- options --------------------------------------------------------------------------------------


def _options_of(reading: Reading, args: list[Field], *, until_operand: bool) -> list[Field]:
    """Takes the options out of `args`; gives the operands (all the rest, where reading stops early)."""
    program = reading.program
    if program.style == "none":
        return args
    operands: list[Field] = []
    at = 0
    while at < len(args):
        field = args[at]
        at += 1
        text = field.literal
        if text is None and field.can_be_option:
            reading.wild = reading.wild or field
        if text == "--":
            if until_operand and program.subs:
                return [*operands, *args[at:]]
            operands.extend(args[at:])
            break
        if text is None or not _looks_like_option(program, text):
            operands.append(field)
            if until_operand:
                operands.extend(args[at:])
                break
            continue
        at = _take_option(reading, args, at, field, text)
        if at < 0:
            break
        if at >= _STOP:
            operands.extend(args[at - _STOP :])
            break
    return operands


_STOP = 1 << 20  # added to a position: the options end there


def _looks_like_option(program: Program, text: str) -> bool:
    if len(text) > 1 and text[0] == "-":
        return True
    return text[:1] == "+" and text in program.options


def _take_option(reading: Reading, args: list[Field], at: int, field: Field, text: str) -> int:
    """Handles one option word; the position after it, plus `_STOP` where options end."""
    program = reading.program
    if program.style == "single" or text[0] == "+":
        return _single(reading, args, at, field, text)
    if text.startswith("--"):
        return _long(reading, args, at, field, text)
    return _cluster(reading, args, at, field, text, program)


def _long(reading: Reading, args: list[Field], at: int, field: Field, text: str) -> int:
    name, equals, value = text.partition("=")
    option = _find_long(reading.program, name)
    if option is None:
        _unknown(reading, f"the option `{name}` is not described", field.start, field.end)
        return at
    attached = field._replace(text=value) if equals else None
    return _apply(reading, option, name, field, attached, args, at)


def _find_long(program: Program, name: str) -> Option | None:
    option = program.options.get(name)
    if option is not None:
        return option
    found = [program.options[n] for n in program.long_names if n.startswith(name)]
    if not found or any(f[1:] != found[0][1:] for f in found):
        return None
    return found[0]


def _single(reading: Reading, args: list[Field], at: int, field: Field, text: str) -> int:
    program = reading.program
    name, equals, value = text.partition("=")
    option = program.options.get(text) or program.options.get(name)
    if option is None and name.startswith("--"):
        option = program.options.get(name[1:])
    elif option is None:
        option = program.options.get("-" + name)
    if option is None:
        return _attached_single(reading, args, at, field, text)
    attached = field._replace(text=value) if equals and text not in program.options else None
    return _apply(reading, option, name, field, attached, args, at)


def _attached_single(reading: Reading, args: list[Field], at: int, field: Field, text: str) -> int:
    """`-Wall`, `-DX=1`: a one-letter option with its value glued on, where that is described."""
    program = reading.program
    option = program.options.get(text[:2])
    if option is not None and option.arity != "none" and not text.startswith("--"):
        return _apply(reading, option, text[:2], field, field._replace(text=text[2:]), args, at)
    if not (program.numeric and text[1:].isdigit()):
        _unknown(reading, f"the option `{text.partition('=')[0]}` is not described", field.start, field.end)
    return at


def _cluster(reading: Reading, args: list[Field], at: int, field: Field, text: str, program: Program) -> int:
    if program.numeric and text[1:].isdigit():
        return at
    whole = program.options.get(text)
    if whole is not None and len(text) > 2:  # a long name with one dash, as a few programs have them
        return _apply(reading, whole, text, field, None, args, at)
    index = 1
    while index < len(text):
        name = "-" + text[index]
        index += 1
        option = program.options.get(name)
        if option is None:
            if program.numeric and text[index - 1].isdigit():
                continue
            _unknown(reading, f"the option `{name}` is not described", field.start, field.end)
            return at
        if option.arity == "none":
            after = _apply(reading, option, name, field, None, args, at)
            if after >= _STOP:
                return after
            continue
        attached = field._replace(text=text[index:]) if index < len(text) else None
        return _apply(reading, option, name, field, attached, args, at)
    return at


def _apply(reading: Reading, option: Option, name: str, field: Field, attached: Field | None, args: list[Field], at: int) -> int:
    """Records an option with its value; gives the position after it."""
    reading.options[option.name] = field
    for effect in option.effects:
        reading.effects.append((effect, f"the option `{name}`", field.start, field.end))
    if option.operands is not None:
        reading.operand_roles = option.operands
    if option.only:
        reading.only = option.only
    reading.drops.update(option.drop)
    reading.recursive |= option.recursive
    if option.arity == "value" and attached is None:
        if at >= len(args):
            _unknown(reading, f"the option `{name}` without its value", field.start, field.end)
            return at
        attached = args[at]
        at += 1
        if attached.many:
            _unknown(reading, f"the value of `{name}` is not known", attached.start, attached.end)
    if option.role == "argv" and attached is not None:
        return _command_option(reading, attached, args, at)
    if attached is None and option.arity == "optional" and option.role == "write":
        attached = field._replace(text=".")  # a default name in the working folder
    if attached is not None and option.arity != "none":
        reading.values[option.name] = attached
        reading.uses.append(Use(option.role, attached, name))
    return at + _STOP if option.stop else at


def _command_option(reading: Reading, first: Field, args: list[Field], at: int) -> int:
    """`fd -x CMD … ;`: the rest up to a semicolon is a command."""
    command = [first]
    while at < len(args) and args[at].literal != ";":
        command.append(args[at])
        at += 1
    reading.commands.append(command)
    return at + 1


# -- operands -------------------------------------------------------------------------------------


def _finish(reading: Reading, operands: list[Field]) -> Reading:
    reading.operands = operands
    program = reading.program
    if program.subs:
        reading.operand_roles = ()
        return reading
    base = () if reading.only else program.effects
    reading.effects.extend((e, "", 0, 0) for e in base)
    # An unknown that was found in the words stays: only what the table says can be taken back by it.
    reading.effects = [e for e in reading.effects if e[0] not in reading.drops or (e[0] == "unknown" and e[1])]
    _allocate(reading, operands)
    return reading


def _allocate(reading: Reading, operands: list[Field]) -> None:
    roles = reading.operand_roles
    before, star, after = _split_roles(roles)
    left = list(operands)
    wild = False
    for field in left:
        wild = wild or field.many
        if field.text is not None and field.text[:1] == _MINUS:  # some programs take it for a dash
            _unknown(reading, "a word that begins with a minus sign that is no dash", field.start, field.end)
    for role, count in before:
        if role == "argv":
            if left:
                reading.commands.append(left)
            return
        if not left:
            if count == "1" and role in PATH_ROLES and not reading.only:
                break
            continue
        if wild and left[0].many:
            _spread(reading, roles, left)
            return
        _use(reading, role, left.pop(0))
    if star is None:
        for field in left:
            _unknown(reading, "an operand that is not described", field.start, field.end)
        return
    tail = left[len(left) - len(after) :] if after and len(left) >= len(after) else left if after else []
    middle = left[: len(left) - len(tail)]
    for field in middle:
        _use(reading, star, field)
    if any(f.many for f in tail):
        _spread(reading, roles, tail)
    else:
        for (role, _), field in zip(after[len(after) - len(tail) :], tail, strict=True):
            _use(reading, role, field)
    if not middle and not tail and program_implies(reading):
        reading.uses.append(Use(_role(reading, star), Field(reading.program.implied, 0, 0)))


def program_implies(reading: Reading) -> bool:
    return bool(reading.program.implied)


def _split_roles(
    roles: tuple[tuple[str, str], ...],
) -> tuple[tuple[tuple[str, str], ...], str | None, tuple[tuple[str, str], ...]]:
    for at, (role, count) in enumerate(roles):
        if count == "*":
            return roles[:at], role, roles[at + 1 :]
    return roles, None, ()


def _spread(reading: Reading, roles: tuple[tuple[str, str], ...], fields: list[Field]) -> None:
    """Operands whose positions are not known: each may have every role."""
    for field in fields:
        for role in dict.fromkeys(role for role, _ in roles):
            if role == "argv":
                _unknown(reading, "the command that it runs is not known", field.start, field.end)
            else:
                _use(reading, role, field)


def _use(reading: Reading, role: str, field: Field) -> None:
    reading.uses.append(Use(_role(reading, role), field))


def _role(reading: Reading, role: str) -> str:
    if reading.only and (role in PATH_ROLES or role == "unknown" or role.startswith("remote")):
        return reading.only
    return role
