"""Words in, fields out: brace, tilde, parameter, command and arithmetic expansion, splitting, globs.

The order is bash's.  What a part can be is a `Value`; what a program receives is a `Field`.
The owner of an Expander gives it two abilities: `run_script` (analyse a substitution and say what it
prints) and `taint` (report bytes that evaluate data as code, so that nothing about them is known).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from stockade.secrets.names import secret_variable
from stockade.shell.braces import Atom, expand_braces, from_atoms
from stockade.shell.editing import edited, recased
from stockade.shell.fields import FieldBuilder
from stockade.shell.state import State
from stockade.shell.syntax import Arith, Lit, Param, Part, Refused, Simple, Subst, Word, text_of
from stockade.shell.values import (
    ANYTHING,
    EMPTY,
    INTEGER,
    NO_TAGS,
    SECRET,
    Field,
    Value,
    glue,
    is_integer,
    join,
    known,
    unknown,
)

_GLOB = re.compile(r"[*?\[]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=[^~]*~")
_SPECIAL = re.compile(r"[*?\[{~]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER_WORDS = re.compile(r"0[xX][0-9A-Fa-f]+|(?<![0-9])[0-9]+#[0-9A-Za-z@_]+")


class Expander:
    """Expands words in a State."""

    __slots__ = ("assign", "run_script", "state", "taint")

    def __init__(
        self,
        state: State,
        run_script: Callable[[Subst], Value],
        taint: Callable[[str, int, int], None],
        assign: Callable[[str, Value, int, int], None],
    ) -> None:
        self.state = state
        self.run_script = run_script
        self.taint = taint
        self.assign = assign

    # -- entry points ----------------------------------------------------------------------------

    def fields(self, word: Word) -> list[Field]:
        """The fields that a word becomes in a command."""
        if len(word.parts) == 1:
            part = word.parts[0]
            if isinstance(part, Lit) and (part.quoted or _SPECIAL.search(part.text) is None):
                return [Field(text_of(part.text), word.start, word.end)]
        found: list[Field] = []
        spelled = self._braces(word.parts)
        for parts in spelled:
            found.extend(self._fields_of(parts, word, assignment=len(spelled) == 1))
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

    def braces_expand(self, word: Word) -> bool:
        """Whether a brace expansion makes several words of one."""
        return len(self._braces(word.parts)) > 1

    def _braces(self, parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
        if not any(isinstance(p, Lit) and not p.quoted and "{" in p.text for p in parts):
            return [parts]
        atoms: list[Atom] = []
        for part in parts:
            if isinstance(part, Lit) and not part.quoted:
                atoms.extend(part.text)
            else:
                atoms.append(part)
        expanded = expand_braces(atoms)
        if len(expanded) == 1 and len(expanded[0]) == len(atoms):
            return [parts]
        start, end = parts[0].start, parts[-1].end
        return [tuple(from_atoms(one, start, end)) for one in expanded]

    # -- fields ----------------------------------------------------------------------------------

    def _fields_of(self, parts: tuple[Part, ...], word: Word, *, assignment: bool) -> list[Field]:
        build = FieldBuilder(word.start, word.end)
        for at, part in enumerate(parts):
            if isinstance(part, Lit):
                text = part.text
                if part.quoted:
                    build.literal(text)
                elif at == 0 and assignment and _ASSIGNMENT.match(text) is not None:
                    self._assignment_like(build, text, last=len(parts) == 1)
                elif at == 0 and text.startswith("~") and ("/" in text or len(parts) == 1):
                    name, slash, rest = text[1:].partition("/")
                    if _GLOB.search(name) is None:
                        build.value(self._home_of(name))
                    else:  # no user is called so
                        build.unquoted("~" + name)
                    build.unquoted(slash + rest)
                else:
                    build.unquoted(text)
                continue
            build.dynamic = True
            if isinstance(part, Param) and (part.name == "@" or _is_all(part)) and part.op in ("", ":"):
                self._all_elements(build, part)
            elif part.quoted or isinstance(part, Arith):
                build.value(self.part_value(part))
            else:
                self._split(build, self.part_value(part))
        return build.finish()

    def _all_elements(self, build: FieldBuilder, part: Param) -> None:
        elements = self._slice(self.state.array(part.name), part)
        star = part.name == "*" or (part.subscript is not None and _lit(part.subscript) == "*")
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
        m = re.fullmatch(rf" ?(-?{_DECIMAL})(?::({_DECIMAL}))?", _lit(part.arg) if part.arg is not None else "")
        if m is None or -int(m.group(1)) > len(elements):
            return None
        begin = int(m.group(1)) - (part.name == "@" and int(m.group(1)) > 0)
        return elements[begin:] if m.group(2) is None else elements[begin : begin + int(m.group(2))]

    def _split(self, build: FieldBuilder, value: Value) -> None:
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
        words = _split_ifs(text, separators)
        if not words and not value.sure:
            build.unknown_fields(value._replace(texts=None))
        for at, one in enumerate(words):
            if at:
                build.cut()
            build.value(value._replace(texts=(one,)), pattern=True)
        if text and text[-1] in separators:
            build.cut()

    def _assignment_like(self, build: FieldBuilder, text: str, *, last: bool) -> None:
        """`of=~/x`: in bash, a word that looks like an assignment has its tildes expanded like one."""
        name, equals, rest = text.partition("=")
        build.unquoted(name + equals)
        pieces = rest.split(":")
        for at, piece in enumerate(pieces):
            whole = "/" in piece or at + 1 < len(pieces) or last
            if at:
                build.unquoted(":")
            user, slash, below = piece[1:].partition("/")
            if piece.startswith("~") and whole and _GLOB.search(user) is None:
                build.value(self._home_of(user))
                build.unquoted(slash + below)
            else:
                build.unquoted(piece)

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
            # Without HOME, it is the folder that the user database has.
            return Value((context.home,), False) if self.state.is_unset("HOME") else self.state.lookup("HOME")
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
            return _computed(_lit(part.body)) if all(isinstance(p, Lit) for p in part.body.parts) else INTEGER
        return self._param(part)

    def _param(self, part: Param) -> Value:
        op = part.op
        if part.subscript is not None and not _is_all(part):
            variable = self.state.variables.get(part.name)
            if variable is not None and variable.associative:
                self.value(part.subscript)
            else:
                self.arithmetic(part.subscript)
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
        if op in ("@L", "@U", "@E"):
            return recased(self._plain_param(part), op)
        if op.startswith("@"):
            if op not in ("@Q", "@u", "@a", "@A", "@K", "@k"):
                self.taint("the value of a variable is evaluated as a prompt", part.start, part.end)
                self._prompt(self._plain_param(part))
            return unknown(self._plain_param(part).tags)
        return self._edited(self._plain_param(part), op, part.arg)

    def _plain_param(self, part: Param) -> Value:
        if part.name in ("@", "*"):
            elements = self.state.arguments
            if elements is None:
                return ANYTHING
            return ANYTHING if self.state.ifs_changed else _spaced(elements)
        variable = self.state.variables.get(part.name)
        if variable is not None and variable.reference:
            target = variable.value.text
            if target is None or not _IDENTIFIER.fullmatch(target):
                self.taint("a reference to a variable that is not known", part.start, part.end)
                return ANYTHING
            return self._of_environment(target, self.state.lookup(target))
        if part.subscript is None:
            return self._of_environment(part.name, self.state.lookup(part.name))
        elements = self.state.array(part.name)
        if elements is None:
            return ANYTHING
        if _is_all(part):
            return ANYTHING if self.state.ifs_changed else _spaced(elements)
        digits = _lit(part.subscript)
        if re.fullmatch(_DECIMAL, digits) and int(digits) < len(elements):
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
        if part.name == "#":  # the last argument
            arguments = self.state.arguments
            return arguments[-1] if arguments else ANYTHING
        name = self.state.lookup(part.name).text
        if name is None or not _IDENTIFIER.fullmatch(name):
            self.taint("an indirect expansion of a name that is not known", part.start, part.end)
            return ANYTHING
        return self._of_environment(name, self.state.lookup(name))

    def _prompt(self, value: Value) -> None:
        """`${x@P}`: the text is expanded like one in double quotes."""
        from stockade.shell.parsing import parse

        for text in value.texts or ():
            parsed = parse(': "' + text.replace('"', '\\"') + '"')
            for item in parsed.script.items if parsed.error is None else ():
                command = item.pipeline.commands[0]
                if isinstance(command, Simple) and len(command.words) == 2 and isinstance(command.words[1], Word):
                    self.value(command.words[1])

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
            if not part.quoted and any(p.quoted for p in arg.parts):
                return join(alternative, EMPTY)._replace(kind="mixed")
            if is_set:
                return alternative
            return EMPTY if is_empty else join(alternative, EMPTY)
        if is_set:
            return value
        if not part.quoted and any(p.quoted for p in arg.parts):
            alternative = alternative._replace(kind="mixed")  # what is quoted in it is not split
        result = alternative if is_empty else join(value, alternative)
        if alternative.kind == "mixed":
            result = result._replace(kind="mixed")
        if op == "=" and _IDENTIFIER.fullmatch(part.name):
            self.assign(part.name, result, part.start, part.end)
        return result

    def _substring(self, value: Value, arg: Word) -> Value:
        m = re.fullmatch(rf" ?(-?{_DECIMAL})(?::(-?{_DECIMAL}))?", _lit(arg))
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
        quoted = any(isinstance(p, Lit) and p.end - p.start != len(p.text) and re.search(r"[*?\[/\\]", p.text) for p in arg.parts)
        if value.texts is None or pattern.text is None or quoted:
            return unknown(value.tags | pattern.tags)
        try:
            texts = tuple(edited(text, op, pattern.text) for text in value.texts)
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
            elif isinstance(part, Param) and part.op == "" and part.subscript is None:
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
                self.assign(name, INTEGER, part.start, part.end)


# -- helpers -------------------------------------------------------------------------------------


_DECIMAL = r"(?:0|[1-9][0-9]{0,8})"  # another leading zero would make it octal


def _lit(word: Word) -> str:
    return "".join(p.text for p in word.parts if isinstance(p, Lit)) if word.parts else ""


def _computed(text: str) -> Value:
    """The result of sums and products of plain numbers; any other arithmetic is some number."""
    if len(text) > 64 or not re.fullmatch(r"[0-9 +*()-]+", text) or "**" in text:
        return INTEGER
    try:
        return known(str(_sum(ast.parse(text.strip(), mode="eval").body)))
    except (SyntaxError, ValueError):
        return INTEGER


def _sum(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        left, right = _sum(node.left), _sum(node.right)
        result = left + right if isinstance(node.op, ast.Add) else left - right if isinstance(node.op, ast.Sub) else left * right
        if abs(result) < 1 << 62:
            return result
    raise ValueError("not plain arithmetic")


def _is_all(part: Param) -> bool:
    return part.subscript is not None and _lit(part.subscript) in ("@", "*")


def _spaced(values: tuple[Value, ...]) -> Value:
    out = EMPTY
    for at, value in enumerate(values):
        out = glue(glue(out, known(" ")), value) if at else value
    return out


def _split_ifs(text: str, separators: str) -> list[str]:
    if not separators:
        return [text] if text else []
    blanks = "".join(c for c in separators if c in " \t\n")
    others = "".join(c for c in separators if c not in " \t\n")
    if not others:
        return [w for w in re.split(f"[{re.escape(blanks)}]+", text) if w]
    stripped = text.strip(blanks) if blanks else text
    around = f"[{re.escape(blanks)}]*" if blanks else ""
    words = re.split(
        f"{around}[{re.escape(others)}]{around}|[{re.escape(blanks)}]+" if blanks else f"[{re.escape(others)}]", stripped
    )
    return words[:-1] if words and words[-1] == "" else words
