"""find: starting points, tests, and the actions that run, write or delete.  Source: find(1) 4.9."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, emit, ran, targets
from stockade.shell.commands import run
from stockade.shell.outputs import asks_for_secret
from stockade.shell.values import ANYTHING, NO_TAGS, SECRET, Field, Value

if TYPE_CHECKING:
    from stockade.shell.calls import Ran
    from stockade.shell.interpret import Interpreter

_PLAIN = frozenset(
    "-daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev -noleaf -nowarn -warn -empty "
    "-executable -false -true -nogroup -nouser -readable -writable -print -print0 -prune -quit -ls -not -a -and -o -or "
    "-help --help -version --version ! ( ) ,".split()
)
_VALUED = frozenset(
    "-maxdepth -mindepth -regextype -amin -atime -cmin -context -ctime -fstype -gid -group -ilname -iname -inum -ipath "
    "-iregex -iwholename -links -lname -mmin -mtime -name -path -perm -printf -regex -size -type -uid -used -user "
    "-wholename -xtype".split()
)
_NAMES = frozenset("-name -iname -path -ipath -wholename -iwholename -regex -iregex".split())
_FILES = frozenset("-anewer -cnewer -newer -samefile".split())
_WRITES = {"-fprint": 1, "-fprint0": 1, "-fls": 1, "-fprintf": 2}
_RUNS = frozenset("-exec -execdir -ok -okdir".split())
_LEADING = frozenset(("-H", "-L", "-P"))


def read(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    args = list(call.args)
    while args and (args[0].literal in _LEADING or (args[0].literal or "").startswith(("-O", "-D"))):
        if args.pop(0).literal == "-D" and args:
            args.pop(0)
    starts: list[Field] = []
    while args and not _begins_expression(args[0]):
        starts.append(args.pop(0))
    if args and args[0].literal is None:  # a word that could be a folder, or a word of the expression
        starts.append(args[0]._replace(many=False))
    if not starts:
        starts = [Field(".", call.start, call.end)]
    expression = _Expression(it, call, starts)
    expression.read(args)
    for start in starts:
        for target in targets(it, start, recursive=expression.deep):
            call.effects.append(Effect(Kind.LIST, target, "", *it.span(start.start, start.end)))
    reading.operands = [s for s in starts if s.end > s.start] or starts
    return None


def _begins_expression(field: Field) -> bool:
    text = field.literal
    if text is None:
        return field.can_be_option
    return text.startswith("-") or text in ("!", "(", ")", ",")


def fd(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """`fd -x CMD`: the names that are found stand where `{}` does, or at the end."""
    if not reading.commands:
        return None
    emit(it, call, "fd")
    base = reading.operands[1] if len(reading.operands) > 1 else Field(".", call.start, call.end)
    expression = _Expression(it, call, [base])
    expression.secret = any(asks_for_secret(f.text or "") for f in (*reading.operands[:1], *(u.field for u in reading.uses)))
    it.nested += 1
    for command in reading.commands:
        if not any(f.text is not None and re.search(r"\{[/.]*\}", f.text) for f in command):
            command = [*command, Field("{}", call.start, call.end)]
        fields = [expression._found(f._replace(text=re.sub(r"\{[/.]+\}", "{}", f.text or "")), base, "-exec") for f in command]
        inner = call.inside(fields, "fd")
        inner.effects, inner.stdin = [], Value(("",))
        run(it, inner)
    it.nested -= 1
    return ran(ANYTHING)


_FILTERS = frozenset(("-g", "--glob", "--iglob", "--include", "--type-add", "-G", "--file-search-regex", "--ignore-file"))


def search(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """grep, rg, ag: a filter that asks for secret files makes the search a read of secrets."""
    for use in reading.uses:
        text = use.field.text or ""
        if use.option in _FILTERS and not text.startswith("!") and asks_for_secret(text.rpartition(":")[2]):
            begin, stop = it.span(use.field.start, use.field.end)
            call.effects.append(Effect(Kind.SECRET, None, f"searches in files that hold secrets (`{use.option}`)", begin, stop))
    return None


class _Expression:
    """Reads the expression; `deep` says that the whole tree is walked."""

    __slots__ = ("call", "deep", "it", "secret", "starts")

    def __init__(self, it: Interpreter, call: Call, starts: list[Field]) -> None:
        self.it = it
        self.call = call
        self.starts = starts
        self.deep = True
        self.secret = False  # the names that are looked for are those of secrets

    def _add(self, kind: Kind, detail: str, field: Field, code: str = "") -> None:
        self.call.effects.append(Effect(kind, None, detail, *self.it.span(field.start, field.end), code=code))

    def _paths(self, kind: Kind, field: Field) -> None:
        for target in targets(self.it, field):
            self.call.effects.append(Effect(kind, target, "", *self.it.span(field.start, field.end)))

    def read(self, args: list[Field]) -> None:
        while args:
            field = args.pop(0)
            text = field.literal
            if text is None:
                self._add(Kind.UNKNOWN, "a word of the expression is not known; it could be `-delete`", field, "option")
            elif text in _PLAIN:
                continue
            elif text in _VALUED or (text.startswith("-newer") and text not in _FILES):
                value = args.pop(0) if args else None
                if text in _NAMES and value is not None and asks_for_secret(value.text or ""):
                    self.secret = True
                if text == "-maxdepth" and value is not None and value.literal in ("0", "1"):
                    self.deep = False
            elif text in _FILES:
                if args:
                    self._paths(Kind.LIST, args.pop(0))
            elif text == "-files0-from":
                if args:
                    self._paths(Kind.READ, args.pop(0))
                self._add(Kind.UNKNOWN, "where it looks is read from a file", field)
            elif text == "-delete":
                self._delete(field)
            elif text in _WRITES:
                if args:
                    self._paths(Kind.WRITE, args.pop(0))
                del args[: _WRITES[text] - 1]
            elif text in _RUNS:
                self._run(text, field, args)
            else:
                self._add(Kind.UNKNOWN, f"`{text}` is not described", field)

    def _delete(self, field: Field) -> None:
        for start in self.starts:
            for target in targets(self.it, start, recursive=True):
                self.call.effects.append(Effect(Kind.DELETE, target, "", *self.it.span(field.start, field.end)))

    def _run(self, action: str, field: Field, args: list[Field]) -> None:
        command: list[Field] = []
        while args and args[0].literal != ";":
            if args[0].literal == "+" and command and command[-1].literal == "{}":
                break
            command.append(args.pop(0))
        if not args or not command:
            self._add(Kind.UNKNOWN, f"`{action}` without its end", field)
            return
        args.pop(0)
        self.it.nested += 1
        for start in self.starts:
            fields = [self._found(f, start, action) for f in command]
            run(self.it, self._bare(fields))
        self.it.nested -= 1

    def _bare(self, fields: list[Field]) -> Call:
        inner = self.call.inside(fields, "find")
        inner.effects = []
        inner.stdin = Value(("",))
        return inner

    def _found(self, field: Field, start: Field, action: str) -> Field:
        """`{}` stands for a name below the starting point."""
        text = field.text
        if text is None or "{}" not in text:
            return field
        before, _, after = text.partition("{}")
        whole = not before and not after
        literal = start.literal
        if not whole or literal is None:
            return Field(None, field.start, field.end, sure=False, prefix=before, suffix=after, dynamic=True)
        prefix = "./" if action.endswith("dir") else literal.rstrip("/") + "/"
        return Field(
            None, field.start, field.end, kind="listed", prefix=prefix,
            under=self.it.state.absolute(literal) or "", dynamic=True,
            tags=frozenset((SECRET,)) if self.secret else NO_TAGS,
        )  # fmt: skip
