"""Brace expansion: all words of a word with braces, in the order of bash."""

from __future__ import annotations

import re

from stockade.shell.syntax import Lit, Part, Refused

_RANGE = re.compile(r"(-?[0-9]+|[A-Za-z])\.\.(-?[0-9]+|[A-Za-z])(?:\.\.(-?[0-9]+))?")


_MAX_BRACES = 256


Atom = str | Part  # one unquoted character, or a part that brace expansion does not look into


def from_atoms(atoms: list[Atom], start: int, end: int) -> list[Part]:
    parts: list[Part] = []
    for atom in atoms:
        if not isinstance(atom, str):
            parts.append(atom)
        elif parts and isinstance(parts[-1], Lit) and not parts[-1].quoted:
            parts[-1] = parts[-1]._replace(text=parts[-1].text + atom)
        else:
            parts.append(Lit(atom, False, start, end))
    return parts


def expand_braces(atoms: list[Atom]) -> list[list[Atom]]:
    """All words of a word with braces, leftmost brace first, as bash orders them."""
    if atoms.count("{") > _MAX_BRACES:
        raise Refused("braces", "a brace expansion with too many braces")
    for at, atom in enumerate(atoms):
        if atom != "{":
            continue
        choices, close = _alternatives(atoms, at)
        if choices is None:
            continue
        tails = expand_braces(atoms[close + 1 :])
        heads = [one for choice in choices for one in expand_braces(choice)]
        if len(heads) * len(tails) > _MAX_BRACES:
            raise Refused("braces", "a brace expansion with too many words")
        return [atoms[:at] + head + tail for head in heads for tail in tails]
    return [atoms]


def _alternatives(atoms: list[Atom], at: int) -> tuple[list[list[Atom]] | None, int]:
    """The choices of the brace at `at` and where it closes; None where it is no brace expansion."""
    level = 0
    choices: list[list[Atom]] = [[]]
    for i in range(at + 1, len(atoms)):
        atom = atoms[i]
        if atom == "{":
            level += 1
        elif atom == "}":
            if level == 0:
                if len(choices) > 1:
                    return choices, i
                return _range_choices(choices[0]), i
            level -= 1
        elif atom == "," and level == 0:
            choices.append([])
            continue
        choices[-1].append(atom)
    return None, at


_PADDED = re.compile(r"-?0[0-9]")


def _range_choices(inside: list[Atom]) -> list[list[Atom]] | None:
    if not all(isinstance(a, str) for a in inside):
        return None
    m = _RANGE.fullmatch("".join(inside))  # type: ignore[arg-type]
    if m is None:
        return None
    if any(len(part or "") > 18 for part in m.groups()):
        raise Refused("braces", "a brace expansion with long numbers")
    low, high, step = m.group(1), m.group(2), abs(int(m.group(3) or 1)) or 1
    if low.isalpha() != high.isalpha():
        return None
    a, b = (ord(low), ord(high)) if low.isalpha() else (int(low), int(high))
    if abs(a - b) // step >= _MAX_BRACES:
        raise Refused("braces", "a brace expansion with too many words")
    numbers = range(a, b + 1, step) if a <= b else range(a, b - 1, -step)
    width = max(len(low), len(high)) if not low.isalpha() and (_PADDED.match(low) or _PADDED.match(high)) else 0
    return [list(chr(n)) if low.isalpha() else list(str(n).zfill(width)) for n in numbers]
