"""Words in, fields out: brace, tilde, parameter, command and arithmetic expansion, splitting, globs.

The order is bash's.  What a part can be is a `Value`; what a program receives is a `Field`.
The owner of an Expander gives it two abilities: `run_script` (analyse a substitution and say what it
prints) and `taint` (report bytes that evaluate data as code, so that nothing about them is known).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

from stockade.model.paths import is_pattern
from stockade.secrets.names import secret_variable
from stockade.shell.state import State
from stockade.shell.syntax import Arith, Lit, Param, Part, Refused, Script, Subst, Word, text_of
from stockade.shell.values import (
    ANYTHING,
    EMPTY,
    INTEGER,
    MAX_ALTERNATIVES,
    NO_TAGS,
    SECRET,
    Field,
    Value,
    is_integer,
    join,
    known,
    unknown,
)

_SPECIAL = re.compile(r"[*?\[{~]")
_GLOB = re.compile(r"[*?\[]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER_WORDS = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9]+#[0-9A-Za-z@_]+")
_RANGE = re.compile(r"(-?[0-9]+|[A-Za-z])\.\.(-?[0-9]+|[A-Za-z])(?:\.\.(-?[0-9]+))?")
_MAX_BRACES = 256

Atom = str | Part  # one unquoted character, or a part that brace expansion does not look into


class Expander:
    """Expands words in a State."""

    __slots__ = ("run_script", "state", "taint")

    def __init__(
        self,
        state: State,
        run_script: Callable[[Subst], Value],
        taint: Callable[[str, int, int], None],
    ) -> None:
        self.state = state
        self.run_script = run_script
        self.taint = taint

    # -- entry points ----------------------------------------------------------------------------

    def fields(self, word: Word) -> list[Field]:
        """The fields that a word becomes in a command."""
        if len(word.parts) == 1:
            part = word.parts[0]
            if isinstance(part, Lit) and (part.quoted or _SPECIAL.search(part.text) is None):
                return [Field(text_of(part.text), word.start, word.end)]
        found: list[Field] = []
        for parts in self._braces(word.parts):
            found.extend(self._fields_of(parts, word))
        return found

    def value(self, word: Word, *, assignment: bool = False) -> Value:
        """The value of a word that is neither split nor globbed (assignments, redirects, `case`)."""
        result = EMPTY
        for at, part in enumerate(word.parts):
            if isinstance(part, Lit):
                text = part.text
                if not part.quoted and "~" in text and (at == 0 or assignment):
                    piece = self._tilde_value(text, at == 0, assignment, at + 1 == len(word.parts))
                else:
                    piece = known(text)
            else:
                piece = self.part_value(part)
            result = glue(result, piece) if at else piece
        return result

    # -- braces ----------------------------------------------------------------------------------

    def _braces(self, parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
        if not any(isinstance(p, Lit) and not p.quoted and "{" in p.text for p in parts):
            return [parts]
        atoms: list[Atom] = []
        for part in parts:
            if isinstance(part, Lit) and not part.quoted:
                atoms.extend(part.text)
            else:
                atoms.append(part)
        expanded = _expand_braces(atoms)
        if len(expanded) == 1 and len(expanded[0]) == len(atoms):
            return [parts]
        start, end = parts[0].start, parts[-1].end
        return [tuple(_from_atoms(one, start, end)) for one in expanded]

    # -- fields ----------------------------------------------------------------------------------

    def _fields_of(self, parts: tuple[Part, ...], word: Word) -> list[Field]:
        build = _Builder(word.start, word.end)
        for at, part in enumerate(parts):
            if isinstance(part, Lit):
                text = part.text
                if part.quoted:
                    build.literal(text)
                elif at == 0 and text.startswith("~") and ("/" in text or len(parts) == 1):
                    name, slash, rest = text[1:].partition("/")
                    build.value(self._home_of(name))
                    build.unquoted(slash + rest)
                else:
                    build.unquoted(text)
                continue
            build.dynamic = True
            if isinstance(part, Param) and (part.name == "@" or _is_all(part)) and part.op in ("", ":"):
                self._all_elements(build, part)
            elif part.quoted:
                build.value(self.part_value(part))
            elif isinstance(part, Arith):
                build.value(self.part_value(part))
            else:
                self._split(build, self.part_value(part))
        return build.finish()

    def _all_elements(self, build: _Builder, part: Param) -> None:
        elements = self._slice(self.state.array(part.name), part)
        star = part.name == "*" or (part.index is not None and _lit(part.index) == "*")
        if elements is None or (star and part.quoted):
            build.anything(NO_TAGS)
            return
        for at, element in enumerate(elements):
            if at:
                build.cut()
            if part.quoted:
                build.value(element)
            else:
                self._split(build, element)

    def _slice(self, elements: tuple[Value, ...] | None, part: Param) -> tuple[Value, ...] | None:
        """`${@:2}` and `${a[@]:1:3}`, for numbers that are written out."""
        if part.op != ":" or elements is None:
            return elements
        m = re.fullmatch(r" ?([0-9]+)(?::([0-9]+))?", _lit(part.arg) if part.arg is not None else "")
        if m is None:
            return None
        begin = int(m.group(1)) - (part.name == "@" and int(m.group(1)) > 0)
        return elements[begin:] if m.group(2) is None else elements[begin : begin + int(m.group(2))]

    def _split(self, build: _Builder, value: Value) -> None:
        """Word splitting and globbing of an unquoted expansion."""
        if value.texts is None:
            if value.kind == "int":
                build.value(value)
            else:
                build.unknown_fields(value)
            return
        separators = self.state.lookup("IFS").text
        if separators is None:
            build.unknown_fields(value._replace(texts=None, sure=False))
            return
        if value.kind == "mixed":
            build.unknown_fields(value)
            return
        if len(value.texts) > 1:
            if any(c in text for text in value.texts for c in separators) or "" in value.texts:
                build.unknown_fields(value)
            else:
                build.value(value, pattern=True)
            return
        text = value.texts[0]
        if text and text[0] in separators:
            build.cut()
        for at, one in enumerate(_split_ifs(text, separators)):
            if at:
                build.cut()
            build.value(value._replace(texts=(one,)), pattern=True)
        if text and text[-1] in separators:
            build.cut()

    # -- tilde -----------------------------------------------------------------------------------

    def _tilde_value(self, text: str, first: bool, assignment: bool, last: bool) -> Value:
        """A literal with `~` at its beginning (or, in an assignment, behind a colon)."""
        pieces = text.split(":") if assignment else [text]
        out = EMPTY
        for at, piece in enumerate(pieces):
            whole = "/" in piece or at + 1 < len(pieces) or last
            if at:
                out = glue(out, known(":"))
            if piece.startswith("~") and (first or at) and whole:
                name, slash, rest = piece[1:].partition("/")
                out = glue(glue(out, self._home_of(name)), known(slash + rest))
            else:
                out = glue(out, known(piece))
        return out

    def _home_of(self, name: str) -> Value:
        context = self.state.context
        if name == "":
            return self.state.lookup("HOME")
        if name == "+":
            return self.state.lookup("PWD")
        if name == "-":
            return self.state.lookup("OLDPWD")
        if name == "root":
            return Value(("/root",), False)
        if name == context.home.rsplit("/", 1)[-1]:
            return known(context.home)
        return Value(None, True, prefix="/") if re.fullmatch(r"[A-Za-z0-9_.-]+", name) else known("~" + name)

    # -- parts -----------------------------------------------------------------------------------

    def part_value(self, part: Part) -> Value:
        if isinstance(part, Lit):
            return known(part.text)
        if isinstance(part, Subst):
            return self.run_script(part)
        if isinstance(part, Arith):
            self.arithmetic(part.body)
            return INTEGER
        return self._param(part)

    def _param(self, part: Param) -> Value:
        op = part.op
        if part.index is not None and not _is_all(part):
            variable = self.state.variables.get(part.name)
            if variable is not None and variable.associative:
                self.value(part.index)
            else:
                self.arithmetic(part.index)
        if op == "":
            return self._plain_param(part)
        if op == "#len":
            return INTEGER
        if op == "!":
            return self._indirect(part)
        if op == "!names":
            return ANYTHING
        assert part.arg is not None
        if op in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
            return self._default(part, part.arg)
        if op == ":":
            self.arithmetic(part.arg, separators=":")
            return self._substring(self._plain_param(part), part.arg)
        if op.startswith("@"):
            if op not in ("@Q", "@U", "@u", "@L", "@a", "@A", "@K", "@k"):
                self.taint("the value of a variable is evaluated as a prompt", part.start, part.end)
            return unknown(self._plain_param(part).tags)
        return self._edited(self._plain_param(part), op, part.arg)

    def _plain_param(self, part: Param) -> Value:
        if part.name in ("@", "*"):
            elements = self.state.arguments
            if elements is None:
                return ANYTHING
            return _spaced(elements)
        variable = self.state.variables.get(part.name)
        if variable is not None and variable.reference:
            target = variable.value.text
            if target is None or not _IDENTIFIER.fullmatch(target):
                self.taint("a reference to a variable that is not known", part.start, part.end)
                return ANYTHING
            return self._of_environment(target, self.state.lookup(target))
        if part.index is None:
            return self._of_environment(part.name, self.state.lookup(part.name))
        elements = self.state.array(part.name)
        if elements is None:
            return ANYTHING
        if _is_all(part):
            return _spaced(elements)
        digits = _lit(part.index)
        if digits.isdigit() and int(digits) < len(elements):
            return elements[int(digits)]
        result = ANYTHING
        for element in elements:
            result = join(result, element) if result is not ANYTHING else element
        return result._replace(sure=False) if result.texts else result

    def _of_environment(self, name: str, value: Value) -> Value:
        """A variable that this line did not set and whose name says that it holds a secret."""
        if name in self.state.variables or not secret_variable(name):
            return value
        return value._replace(tags=value.tags | {SECRET})

    def _indirect(self, part: Param) -> Value:
        name = self.state.lookup(part.name).text
        if name is None or not _IDENTIFIER.fullmatch(name):
            self.taint("an indirect expansion of a name that is not known", part.start, part.end)
            return ANYTHING
        return self._of_environment(name, self.state.lookup(name))

    def _default(self, part: Param, arg: Word) -> Value:
        value = self._plain_param(part)
        alternative = self.value(arg)
        op = part.op.lstrip(":")
        if op == "?":
            if SECRET in alternative.tags:
                self.taint("a secret in an error message", part.start, part.end)
            return value
        is_set = value.text is not None and (value.text != "" or not part.op.startswith(":"))
        is_empty = value.text == "" and part.op.startswith(":")
        if op == "+":
            if not part.quoted and any(isinstance(p, Lit) and p.quoted for p in arg.parts):
                return join(alternative, EMPTY)._replace(kind="mixed")
            if is_set:
                return alternative
            return EMPTY if is_empty else join(alternative, EMPTY)
        if is_set:
            return value
        if not part.quoted and any(isinstance(p, Lit) and p.quoted for p in arg.parts):
            alternative = alternative._replace(kind="mixed")  # what is quoted in it is not split
        result = alternative if is_empty else join(value, alternative)
        if alternative.kind == "mixed":
            result = result._replace(kind="mixed")
        if op == "=" and _IDENTIFIER.fullmatch(part.name):
            self.state.assign(part.name, result)
        return result

    def _substring(self, value: Value, arg: Word) -> Value:
        m = re.fullmatch(r" ?(-?[0-9]+)(?::(-?[0-9]+))?", _lit(arg))
        if value.texts is None or m is None:
            return unknown(value.tags)
        begin, length = int(m.group(1)), m.group(2)
        out = []
        for text in value.texts:
            if not text.isascii() or -begin > len(text):
                return unknown(value.tags)
            tail = text[begin:]
            out.append(tail if length is None else tail[: int(length)])
        return value._replace(texts=tuple(out))

    def _edited(self, value: Value, op: str, arg: Word) -> Value:
        """Removal of a prefix or suffix, replacement, and change of case."""
        pattern = self.value(arg)
        if value.texts is None or pattern.text is None:
            return unknown(value.tags | pattern.tags)
        try:
            texts = tuple(_edit(text, op, pattern.text) for text in value.texts)
        except Refused:
            return unknown(value.tags)
        return value._replace(texts=texts)

    # -- arithmetic ------------------------------------------------------------------------------

    def arithmetic(self, body: Word, *, separators: str = "") -> None:
        """Evaluates an expression: a variable in it is evaluated too, and may hold code.

        Reports whatever could evaluate text that is not a number; assigns what it assigns.
        """
        for part in body.parts:
            if isinstance(part, Lit):
                self._arith_names(part)
            elif isinstance(part, Param) and part.op == "" and part.index is None:
                if not is_integer(self.state.number(part.name)):
                    self.taint("a variable that may hold code is evaluated as a number", part.start, part.end)
            elif not is_integer(self.part_value(part)):
                self.taint("text that is not known is evaluated as a number", part.start, part.end)

    def _arith_names(self, part: Lit) -> None:
        text = _NUMBER_WORDS.sub("", part.text)
        for m in _IDENTIFIER.finditer(text):
            name = m.group()
            after = text[m.end() :].lstrip()
            before = text[: m.start()].rstrip()
            assigns = re.match(r"=(?!=)", after) is not None
            changes = re.match(r"(\+\+|--|(?:[-+*/%&|^]|<<|>>)=)", after) is not None or before[-2:] in ("++", "--")
            if not assigns and not is_integer(self.state.number(name)):
                self.taint(f"the variable {name} may hold code and is evaluated as a number", part.start, part.end)
            if assigns or changes:
                self.state.assign(name, INTEGER)


# -- helpers -------------------------------------------------------------------------------------


class _Builder:
    """Collects the pieces of a word into fields."""

    __slots__ = ("_alts", "_glob", "_kind", "_many", "_open", "_prefix", "_sure", "_tags", "_under", "_unknown",
                 "_suffix", "done", "dynamic", "end", "start")  # fmt: skip

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.done: list[Field] = []
        self.dynamic = False
        self._reset()

    def _reset(self) -> None:
        self._alts = [""]  # patterns: glob characters that are text are escaped
        self._glob = False
        self._open = False
        self._unknown = False
        self._many = False
        self._sure = True
        self._prefix = ""
        self._suffix = ""
        self._kind = ""
        self._under = ""
        self._tags: frozenset[str] = NO_TAGS

    def literal(self, text: str) -> None:
        self._open = True
        self._add((_escaped(text),))

    def unquoted(self, text: str) -> None:
        self._open = True
        if _GLOB.search(text):
            self._glob = True
        self._add((text.replace("\\", "\\\\"),))

    def value(self, value: Value, *, pattern: bool = False) -> None:
        self._open = True
        self._tags |= value.tags
        self._sure &= value.sure
        if value.texts is None:
            self._lost(value)
            return
        if pattern and any(_GLOB.search(t) for t in value.texts):
            self._glob = True
            self._add(tuple(t.replace("\\", "\\\\") for t in value.texts))
        else:
            self._add(tuple(_escaped(t) for t in value.texts))

    def _add(self, texts: tuple[str, ...]) -> None:
        if self._unknown:
            self._suffix = (self._suffix + texts[0]) if len(texts) == 1 else ""
            if self._kind != "int" or "/" in texts[0]:
                self._kind = self._under = ""
            return
        if len(texts) == 1:
            self._alts = [a + texts[0] for a in self._alts]
        elif len(self._alts) * len(texts) <= MAX_ALTERNATIVES:
            self._alts = [a + t for a in self._alts for t in texts]
        else:
            self._lost(ANYTHING)

    def _lost(self, value: Value) -> None:
        whole = self._alts == [""] and not self._unknown
        if not self._unknown:
            self._prefix = _common(self._alts) + value.prefix
        self._kind = value.kind if whole else ""
        self._under = value.under if whole else ""
        self._suffix = value.suffix
        self._unknown = True

    def unknown_fields(self, value: Value) -> None:
        """An unquoted unknown: it may vanish, be one word, or many, and is a pattern as well."""
        self._open = True
        self._tags |= value.tags
        self._many = True
        self._sure = False
        if value.texts:
            self._add(tuple(_escaped(t) for t in value.texts))
        else:
            self._lost(value)

    def anything(self, tags: frozenset[str]) -> None:
        self.unknown_fields(unknown(tags))

    def cut(self) -> None:
        """Ends the field here, if one has begun."""
        self._flush()

    def _flush(self) -> None:
        if self._open:
            self.done.append(self._field())
        self._reset()

    def _field(self) -> Field:
        common = (self.start, self.end)
        if self._unknown:
            prefix = text_of(_plain(self._prefix))
            suffix = text_of(_plain(self._suffix))
            return Field(None, *common, self._sure and not self._many, self._many, False, self._kind,
                         prefix, suffix, self._under, self._tags, (), self.dynamic)  # fmt: skip
        glob = self._glob and any(is_pattern(a) for a in self._alts)
        texts = [text_of(a if glob else _plain(a)) for a in self._alts]
        alts = tuple(texts) if len(texts) > 1 else ()
        return Field(texts[0], *common, self._sure, self._many, glob, "", "", "", "", self._tags, alts, self.dynamic)

    def finish(self) -> list[Field]:
        self._flush()
        return self.done


def _escaped(text: str) -> str:
    return re.sub(r"[*?\[\]\\]", lambda m: "\\" + m.group(), text) if re.search(r"[*?\[\]\\]", text) else text


def _plain(pattern: str) -> str:
    """A pattern with its escapes removed."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL) if "\\" in pattern else pattern


def _common(texts: list[str]) -> str:
    first = texts[0]
    for text in texts[1:]:
        while not text.startswith(first):
            first = first[:-1]
    return first


def _lit(word: Word) -> str:
    return "".join(p.text for p in word.parts if isinstance(p, Lit)) if word.parts else ""


def _is_all(part: Param) -> bool:
    return part.index is not None and _lit(part.index) in ("@", "*")


def _spaced(values: tuple[Value, ...]) -> Value:
    out = EMPTY
    for at, value in enumerate(values):
        out = glue(glue(out, known(" ")), value) if at else value
    return out


def glue(a: Value, b: Value) -> Value:
    """The text of `a` directly followed by that of `b`."""
    if a.texts == ("",) and a.sure and not a.tags:
        return b
    if b.texts == ("",) and b.sure and not b.tags:
        return a
    tags = a.tags | b.tags
    sure = a.sure and b.sure
    if a.texts is not None and b.texts is not None and len(a.texts) * len(b.texts) <= MAX_ALTERNATIVES:
        return Value(tuple(x + y for x in a.texts for y in b.texts), sure, tags=tags)
    prefix = _common(list(a.texts)) if a.texts and a.sure else a.prefix
    if a.texts is not None and len(a.texts) == 1 and a.sure:
        prefix += b.prefix
    suffix = b.texts[0] if b.texts is not None and len(b.texts) == 1 else b.suffix
    if b.texts is not None and len(b.texts) == 1 and a.suffix:
        suffix = a.suffix + suffix
    return Value(None, sure, "", prefix, suffix, "", tags)


def _split_ifs(text: str, separators: str) -> list[str]:
    if not separators:
        return [text] if text else []
    blanks = "".join(c for c in separators if c in " \t\n")
    others = "".join(c for c in separators if c not in " \t\n")
    if not others:
        return [w for w in re.split(f"[{re.escape(blanks)}]+", text) if w]
    stripped = text.strip(blanks) if blanks else text
    around = f"[{re.escape(blanks)}]*" if blanks else ""
    words = re.split(f"{around}[{re.escape(others)}]{around}|[{re.escape(blanks)}]+" if blanks else f"[{re.escape(others)}]", stripped)
    return words[:-1] if words and words[-1] == "" else words


def _edit(text: str, op: str, pattern: str) -> str:
    if op in ("^^", ",,") and pattern == "":
        return text.upper() if op == "^^" else text.lower()
    if op in ("^", ",") and pattern == "":
        return (text[:1].upper() if op == "^" else text[:1].lower()) + text[1:]
    if not text.isascii() or len(text) > 4096:
        raise Refused("parameter", "a long or non-ASCII value")
    if op in ("#", "##", "%", "%%"):
        return _trim(text, op, pattern)
    if op in ("/", "//"):
        old, _, new = pattern.partition("/")
        if old == "" or re.search(r"[*?\[\\]", old) or "&" in new or "\\" in new:
            raise Refused("parameter", "a replacement with a pattern")
        return text.replace(old, new) if op == "//" else text.replace(old, new, 1)
    raise Refused("parameter", "an operator that is not evaluated")


def _trim(text: str, op: str, pattern: str) -> str:
    if len(pattern) > 64 or "\\" in pattern:
        raise Refused("parameter", "a long pattern")
    if pattern.count("*") > 2:
        raise Refused("parameter", "an intricate pattern")
    lengths = range(len(text) + 1)
    for size in lengths if len(op) == 1 else reversed(lengths):
        piece = text[:size] if op[0] == "#" else text[len(text) - size :]
        if fnmatch.fnmatchcase(piece, pattern):
            return text[size:] if op[0] == "#" else text[: len(text) - size]
    return text


def _from_atoms(atoms: list[Atom], start: int, end: int) -> list[Part]:
    parts: list[Part] = []
    for atom in atoms:
        if not isinstance(atom, str):
            parts.append(atom)
        elif parts and isinstance(parts[-1], Lit) and not parts[-1].quoted:
            parts[-1] = parts[-1]._replace(text=parts[-1].text + atom)
        else:
            parts.append(Lit(atom, False, start, end))
    return parts


def _expand_braces(atoms: list[Atom]) -> list[list[Atom]]:
    """All words of a word with braces, leftmost brace first, as bash orders them."""
    for at, atom in enumerate(atoms):
        if atom != "{":
            continue
        choices, close = _alternatives(atoms, at)
        if choices is None:
            continue
        tails = _expand_braces(atoms[close + 1 :])
        heads = [one for choice in choices for one in _expand_braces(choice)]
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


def _range_choices(inside: list[Atom]) -> list[list[Atom]] | None:
    if not all(isinstance(a, str) for a in inside):
        return None
    m = _RANGE.fullmatch("".join(inside))  # type: ignore[arg-type]
    if m is None:
        return None
    low, high, step = m.group(1), m.group(2), abs(int(m.group(3) or 1)) or 1
    if low.isalpha() != high.isalpha():
        return None
    a, b = (ord(low), ord(high)) if low.isalpha() else (int(low), int(high))
    if abs(a - b) // step >= _MAX_BRACES:
        raise Refused("braces", "a brace expansion with too many words")
    numbers = range(a, b + 1, step) if a <= b else range(a, b - 1, -step)
    width = max(len(low), len(high)) if not low.isalpha() and (low.startswith(("0", "-0")) or high.startswith("0")) else 0
    return [list(chr(n)) if low.isalpha() else list(str(n).zfill(width)) for n in numbers]
