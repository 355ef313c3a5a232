"""Simple commands: redirections, assignments, names, wrappers, and the segment each one becomes."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from stockade.model.effects import Effect, Kind, Segment, Target
from stockade.secrets.names import secret_path, secret_variable
from stockade.shell.arguments import Reading, read_arguments
from stockade.shell.catalog import PATH_ROLES, Program, catalog
from stockade.shell.state import State, Variable, normal
from stockade.shell.syntax import Assign, Lit, Redirect, Simple, Word, byte_view
from stockade.shell.values import (
    ANYTHING,
    DECODED,
    EMPTY,
    NETWORK,
    SECRET,
    Field,
    Value,
    concat,
    join,
    known,
    unknown,
)
from stockade.shell.variables import quiet_command, variable_role

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

MAX_WRAPPERS = 8
BIN_FOLDERS = frozenset(
    ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin")
)
_DEV_NET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/([^/]+)")
_DUPLICATE = re.compile(r"[0-9]*-?|[0-9]+")
_KINDS = {kind.value: kind for kind in Kind}


class Call:
    """One program about to run: its words, where its input comes from, and what wraps it."""

    __slots__ = ("argvs", "effects", "end", "external", "fields", "printed", "start", "stdin", "wrappers")

    def __init__(
        self,
        fields: list[Field],
        stdin: Value,
        effects: list[Effect],
        start: int,
        end: int,
    ) -> None:
        self.fields = fields
        self.stdin = stdin
        self.effects = effects
        self.start = start
        self.end = end
        self.wrappers: tuple[str, ...] = ()
        self.argvs: tuple[tuple[str | None, ...], ...] = ()
        self.external = False

    def inside(self, fields: list[Field], wrapper: str, *, external: bool = True) -> Call:
        """The call that this one makes, with itself as a wrapper around it."""
        effects = [e if e.code else e._replace(code="wrapper") for e in self.effects]
        call = Call(fields, self.stdin, effects, self.start, self.end)
        call.wrappers = (*self.wrappers, wrapper)
        call.argvs = (*self.argvs, shown(self.fields))
        call.external = external
        return call

    @property
    def args(self) -> list[Field]:
        return self.fields[1:]

    def texts(self) -> list[str] | None:
        """All words after the name, if every one of them is certain."""
        out: list[str] = []
        for field in self.fields[1:]:
            text = field.literal
            if text is None:
                return None
            out.append(text)
        return out


def shown(fields: list[Field]) -> tuple[str | None, ...]:
    return tuple(_shown(f) for f in fields)


def _shown(field: Field) -> str | None:
    if not field.sure or field.glob or field.many or field.alts:
        return None
    # The number of a process substitution is the shell's to choose.
    return None if field.text is not None and field.text.startswith("/dev/fd/") and field.dynamic else field.text


# -- a simple command -----------------------------------------------------------------------------


def run_simple(it: Interpreter, node: Simple) -> Value:
    """Expands a simple command, opens its redirections, and runs what it names."""
    expander = it.expander()
    assigned = [(assign, _assigned(it, assign)) for assign in node.assigns]
    fields: list[Field] = []
    operands: list[tuple[Assign, Value, tuple[Value, ...] | None]] = []
    for word in node.words:
        if isinstance(word, Assign):
            keyed = any(f.text is not None and f.text[:1] == "-" and "A" in f.text for f in fields)
            value, array = _assigned(it, word, associative=keyed)
            operands.append((word, value, array))
            text = f"{word.name}={'' if value.text is None else value.text}"
            fields.append(Field(text, word.start, word.end, sure=value.text is not None))
        else:
            fields.extend(expander.fields(word))
    begin, stop = it.span(node.start, node.end)
    opened = open_redirects(it, node.redirects) if node.redirects else None
    effects = opened.effects if opened is not None else []
    stdin = it.stdin if opened is None or opened.stdin is None else opened.stdin
    if not fields:
        _only_assignments(it, node, assigned, effects, begin, stop)
        return EMPTY if opened is None else opened.finish(it.state, EMPTY)
    for assign, (value, _) in assigned:
        effects.extend(variable_effects(it, assign.name, value, *it.span(assign.start, assign.end)))
    call = Call(fields, stdin, effects, begin, stop)
    restore = _temporary(it, assigned)
    if operands or fields[0].text in ("export", "declare", "typeset", "local", "readonly"):
        from stockade.shell.builtins import declare

        out = declare(it, call, operands)
    else:
        out = run(it, call)
    if restore is not None:
        it.state.variables = restore
    left = out if opened is None else opened.finish(it.state, out)
    if it.sinks:
        it.flush_sinks(concat(out, stdin))
    if fields[0].text == "exec" and len(fields) == 1:
        it.stdin = stdin
    return left


def _assigned(it: Interpreter, assign: Assign, *, associative: bool = False) -> tuple[Value, tuple[Value, ...] | None]:
    expander = it.expander()
    old = it.state.variables.get(assign.name)
    associative = associative or (old is not None and old.associative)
    if assign.index is not None:
        if associative:
            expander.value(assign.index)
        else:
            expander.arithmetic(assign.index)
    if assign.array is not None:
        from stockade.shell.interpret import field_value

        fields = [f for word in assign.array for f in expander.fields(word)]
        for word in assign.array if not associative else ():
            _element_subscript(it, word)
        before = it.state.array(assign.name) if assign.append and assign.name in it.state.variables else ()
        if any(f.many for f in fields) or before is None:
            return ANYTHING, None
        values = (*before, *(field_value(f) for f in fields))
        return (values[0] if values else EMPTY), values
    value = expander.value(assign.value, assignment=True)
    if assign.append:
        from stockade.shell.expanding import glue

        value = glue(it.state.lookup(assign.name), value)
    variable = it.state.variables.get(assign.name)
    if variable is not None and variable.integer:
        from stockade.shell.values import INTEGER, is_integer

        if not is_integer(value):
            it.taint("text is evaluated as a number by an integer variable", assign.start, assign.end)
        value = INTEGER
    return (ANYTHING if assign.index is not None else value), None


def _element_subscript(it: Interpreter, word: Word) -> None:
    """`a=([x]=1)`: the subscript is evaluated as a number, unless the array is associative."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Lit) or first.quoted or not first.text.startswith("["):
        return
    inside = first.text[1:].partition("]")[0]
    if not inside.isdigit():
        it.taint("the subscript of an array element is evaluated", word.start, word.end)


def _only_assignments(
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


def _temporary(
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
    role = variable_role(name)
    if role == "":
        return []
    if role == "run" and quiet_command(value.text):
        return []
    if name.startswith("STOCKADE_"):
        return [Effect(Kind.HIJACK, None, f"sets {name}", start, end, "self-control")]
    if role == "run" and value.text is not None:
        it.run_text(value.text, start, end)
    return [Effect(Kind.HIJACK, None, f"the variable {name} changes what runs", start, end, "variable")]


# -- redirections ---------------------------------------------------------------------------------


class Opened:
    """The redirections of one command: their effects, its input, and where its output goes."""

    __slots__ = ("append", "captured", "effects", "file", "stdin")

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.stdin: Value | None = None
        self.file: str | None = None
        self.append = False
        self.captured = False

    def finish(self, state: State, out: Value) -> Value:
        """Puts what was printed where it goes; gives what is left for the pipe."""
        if not self.captured:
            return out
        if self.file is not None:
            old = state.written.get(self.file, ANYTHING)
            state.written[self.file] = concat(old, out) if self.append else out
        return EMPTY


def open_redirects(it: Interpreter, redirects: tuple[Redirect, ...]) -> Opened:
    opened = Opened()
    for redirect in redirects:
        _open(it, opened, redirect)
    return opened


def _open(it: Interpreter, opened: Opened, redirect: Redirect) -> None:
    op = redirect.op
    if redirect.heredoc is not None:
        if redirect.fd in ("", "0"):
            opened.stdin = it.expander().value(redirect.heredoc.body)
        else:
            it.expander().value(redirect.heredoc.body)
        return
    value = it.expander().value(redirect.target)
    if op == "<<<":
        from stockade.shell.expanding import glue

        opened.stdin = glue(value, known("\n"))
        return
    if op in ("<&", ">&") and _is_duplicate(redirect.target, value):
        if op == "<&" and redirect.fd in ("", "0"):
            opened.stdin = it.state.written.get(f"&{value.text}", ANYTHING)
        elif op == ">&" and redirect.fd in ("", "1"):
            opened.captured = True
        return
    field = _redirect_field(it, redirect.target, value)
    _open_file(it, opened, redirect, field)


def _is_duplicate(target: Word, value: Value) -> bool:
    text = value.text
    if text is not None:
        return _DUPLICATE.fullmatch(text) is not None
    return value.kind == "int" or (len(target.parts) == 1 and not isinstance(target.parts[0], Lit) and value.prefix == "")


def _redirect_field(it: Interpreter, target: Word, value: Value) -> Field:
    start, end = it.span(target.start, target.end)
    if value.texts is None:
        return Field(None, start, end, value.sure, False, False, value.kind, value.prefix, value.suffix, value.under, value.tags)
    from stockade.shell.syntax import text_of

    texts = tuple(text_of(t) for t in value.texts)
    return Field(texts[0], start, end, value.sure, tags=value.tags, alts=texts if len(texts) > 1 else ())


def _open_file(it: Interpreter, opened: Opened, redirect: Redirect, field: Field) -> None:
    op, fd = redirect.op, redirect.fd
    begin, stop = it.span(redirect.start, redirect.end)
    network = _DEV_NET.match(field.text or field.prefix)
    if network is not None:
        detail = f"{network.group(1)}:{network.group(2)}"
        opened.effects.append(Effect(Kind.NETWORK, None, detail, begin, stop, "host"))
        if fd not in ("", "0", "1", "2"):
            it.state.written[f"&{fd}"] = unknown(frozenset((NETWORK,)))
        elif op == "<":
            opened.stdin = unknown(frozenset((NETWORK,)))
        return
    writes = op not in ("<",)
    kind = Kind.WRITE if writes else Kind.READ
    for text in field.alts or (field.text,):
        for target in targets(it, field._replace(text=text, alts=())):
            opened.effects.append(Effect(kind, target, "", begin, stop))
    if not field.sure:
        opened.effects.append(Effect(Kind.UNKNOWN, None, "the file of a redirection is not known", begin, stop, "value"))
    path = _exact_path(it, field)
    if not writes:
        content = _content(it, path, field)
        if fd in ("", "0"):
            opened.stdin = content
        else:
            it.state.written[f"&{fd}"] = content
    elif fd in ("", "1") or op.startswith("&") or op == ">&":
        opened.captured = True
        opened.file = path
        opened.append = ">>" in op


def _exact_path(it: Interpreter, field: Field) -> str | None:
    text = field.literal
    path = None if text is None else it.state.absolute(text)
    return None if path is None else normal(path)


def _content(it: Interpreter, path: str | None, field: Field) -> Value:
    """What reading a file gives: what this line wrote there, or something unknown."""
    if path is None:
        return unknown(field.tags)
    written = it.state.written.get(path)
    if written is not None:
        return written
    return unknown(frozenset((SECRET,))) if secret_path(path) else ANYTHING


def file_content(it: Interpreter, redirect: Redirect) -> Value:
    """`$(< file)`: a read of the file, and its content."""
    opened = open_redirects(it, (redirect,))
    begin, stop = it.span(redirect.start, redirect.end)
    it.emit(Segment((), None, (), (), tuple(opened.effects), begin, stop, it.state.cwd, builtin=True))
    return opened.stdin if opened.stdin is not None else ANYTHING


def look_at(it: Interpreter, value: Value, start: int, end: int) -> None:
    """`[[ -f x ]]` looks at a path's metadata."""
    begin, stop = it.span(start, end)
    text = value.text
    field = Field(text, begin, stop) if text is not None else Field(None, begin, stop, prefix=value.prefix, under=value.under, kind=value.kind)
    found = tuple(Effect(Kind.LIST, target, "", begin, stop) for target in targets(it, field))
    it.emit(Segment((), None, (), (), found, begin, stop, it.state.cwd, builtin=True))


# -- paths ----------------------------------------------------------------------------------------


def targets(it: Interpreter, field: Field, *, recursive: bool = False) -> list[Target]:
    """The paths that a word can mean: in the current folder, and where a `cd` may have failed."""
    text = field.text
    if text is None:
        return [_unknown_target(it, field, recursive)]
    if text == "" and not field.glob:
        return []
    path = it.state.absolute(text)
    if path is None:
        return [Target(None, "", text, field.glob, recursive)]
    found = [Target(path, "", text, field.glob, recursive)]
    if not field.sure:
        found.append(Target(None, "", f"{field.prefix}…", False, recursive))
    if it.fallbacks and not text.startswith("/"):
        for folder in it.fallbacks:
            other = None if folder is None else posixpath.join(folder, text)
            if other != path:
                found.append(Target(other, "", text, field.glob, recursive))
    return found


def _unknown_target(it: Interpreter, field: Field, recursive: bool) -> Target:
    word = f"{field.prefix}…{field.suffix}"
    under = ""
    suffix = ".env" if SECRET in field.tags else field.suffix  # names that were asked for as secrets
    confined = field.kind in ("listed", "int") and ".." not in field.prefix.split("/")
    if confined:
        base = field.under if field.under.startswith("/") else posixpath.dirname(field.prefix) if field.prefix else field.under or "."
        under = it.state.absolute(base) or ""
        if any(folder is None for folder in it.fallbacks):
            under = ""
    return Target(None, under, word, False, recursive, field.kind == "listed", suffix)


# -- running --------------------------------------------------------------------------------------


def run(it: Interpreter, call: Call) -> Value:
    """Runs what the first word names, with all values that the words can have."""
    it.step()
    for at, field in enumerate(call.fields):
        if field.alts:
            return _alternatives(it, call, at, field)
    name = call.fields[0]
    if name.many or name.text is None or (not name.sure and " " in name.text):
        return _dynamic(it, call, name)
    if name.glob:
        return _pattern_name(it, call, name)
    if name.dynamic or not name.sure:
        code = "computed" if name.sure else "dynamic"
        call.effects.append(_effect(it, Kind.UNKNOWN, "the name of the command is computed", name, code))
    return _named(it, call, name.text)


def _effect(it: Interpreter, kind: Kind, detail: str, field: Field, code: str = "") -> Effect:
    start, end = it.span(field.start, field.end)
    return Effect(kind, None, detail, start, end, code)


def _alternatives(it: Interpreter, call: Call, at: int, field: Field) -> Value:
    out: Value | None = None
    state = it.state
    for text in field.alts:
        fields = list(call.fields)
        fields[at] = field._replace(text=text, alts=())
        one = Call(fields, call.stdin, list(call.effects), call.start, call.end)
        one.wrappers, one.argvs, one.external = call.wrappers, call.argvs, call.external
        printed = run(it, one)
        out = printed if out is None else join(out, printed)
    it.state = state
    return out if out is not None else ANYTHING


def _dynamic(it: Interpreter, call: Call, name: Field) -> Value:
    """The command itself is not known."""
    effects = call.effects
    effects.append(_effect(it, Kind.UNKNOWN, "the command that runs is not known", name, "dynamic"))
    if NETWORK in name.tags:
        effects.append(_effect(it, Kind.FLOOR, "runs what the network answers", name, "network-to-interpreter"))
    emit(it, call, None)
    if name.text is not None:  # a possible text, which may be several words
        words = [Field(w, name.start, name.end, sure=False) for w in name.text.split()]
        if words:
            inner = Call(words + call.args, call.stdin, list(effects), call.start, call.end)
            run(it, inner)
    return ANYTHING


def _pattern_name(it: Interpreter, call: Call, name: Field) -> Value:
    """`/bin/[r]m`: every described program that the pattern can match."""
    call.effects.append(_effect(it, Kind.UNKNOWN, "the name of the command is a pattern", name, "dynamic"))
    pattern = posixpath.basename(name.text or "")
    if len(pattern) <= 64 and pattern.count("*") <= 2:
        for candidate in [n for n in catalog().names() if fnmatch.fnmatchcase(n, pattern)][:40]:
            fields = [name._replace(text=candidate, glob=False, sure=False), *call.args]
            _named(it, Call(fields, call.stdin, list(call.effects), call.start, call.end), candidate)
    emit(it, call, None)
    return ANYTHING


def _named(it: Interpreter, call: Call, name: str) -> Value:
    from stockade.shell.builtins import BUILTINS, call_alias

    if len(call.wrappers) > MAX_WRAPPERS:
        call.effects.append(Effect(Kind.UNKNOWN, None, "wrapped too deeply", call.start, call.end, "too-deep"))
        emit(it, call, name)
        return ANYTHING
    if "/" not in name and not call.external:
        if it.state.expand_aliases and name in it.state.aliases:
            return call_alias(it, call, it.state.aliases[name])
        function = it.state.functions.get(name)
        if function is not None:
            return _call_function(it, call, name)
        handler = BUILTINS.get(name)
        if handler is not None:
            return handler(it, call)
    _hypothesis(it, call, name)
    return run_program(it, call, name)


def _hypothesis(it: Interpreter, call: Call, name: str) -> None:
    """Words that are only possible, taken for certain: what that would do can only make the answer stricter."""
    if not any(not f.sure and f.text is not None and not f.glob for f in call.args):
        return
    fields = [call.fields[0]]
    for field in call.args:
        words = field.text.split() if field.many and field.text is not None else [field.text]
        fields.extend(field._replace(text=w, sure=w is not None and not field.glob or field.sure, many=w is None and field.many) for w in words)
    effects = [*call.effects, Effect(Kind.UNKNOWN, None, "a value that is not certain", call.start, call.end, "value")]
    guess = Call(fields, call.stdin, effects, call.start, call.end)
    guess.wrappers, guess.argvs, guess.external = call.wrappers, call.argvs, call.external
    mark = len(it.segments)
    run_program(it, guess, name)
    for at in range(mark, len(it.segments)):  # a guess says nothing about which words there will be
        segment = it.segments[at]
        it.segments[at] = segment._replace(argv=(name, None), all_argvs=((name, None),))


def _call_function(it: Interpreter, call: Call, name: str) -> Value:
    from stockade.shell.interpret import field_value

    call.argvs = (*call.argvs, shown(call.fields))
    emit(it, call, name, builtin=True)
    known_words = not any(f.many for f in call.args)
    arguments = tuple(field_value(f) for f in call.args) if known_words else None
    outer, it.stdin = it.stdin, call.stdin
    out = it.call(it.state.functions[name], arguments, call.start, call.end)
    it.stdin = outer
    return out


def shadows(name: str) -> bool:
    """Whether a function of that name would be run instead of a program or builtin that is known."""
    from stockade.shell.builtins import BUILTINS

    return name in BUILTINS or catalog().get(name) is not None


# -- programs -------------------------------------------------------------------------------------


def resolve_name(it: Interpreter, name: str) -> tuple[str, bool]:
    """The program's base name, and whether it is the one that the description means."""
    if "/" not in name:
        return name, not it.state.lookup_changed
    path = normal(it.state.absolute(name) or name)
    folder, base = posixpath.split(path)
    return base, folder in BIN_FOLDERS


def run_program(it: Interpreter, call: Call, name: str) -> Value:
    """Runs an external program by its description."""
    base, trusted = resolve_name(it, name)
    program = catalog().get(base)
    if not trusted:
        _other_program(it, call, name)
    if program is None and any("://" in (f.text or "") for f in call.args):
        call.stdin = call.stdin._replace(tags=call.stdin.tags | {NETWORK})  # what it prints may come from there
    if program is None:
        if trusted:
            call.effects.append(_effect(it, Kind.UNKNOWN, f"the program `{base}` is not described", call.fields[0], "program"))
        emit(it, call, base, trusted=trusted)
        return _filtered(call)
    from stockade.shell.readers import PREPARE
    from stockade.shell.readers.git import entered

    prepare = PREPARE.get(program.reader)
    args = call.args if prepare is None else prepare(program, call.args)
    if program.reader == "git":
        with entered(it, call):
            return _described(it, call, base, read_arguments(program, args), trusted)
    return _described(it, call, base, read_arguments(program, args), trusted)


def _filtered(call: Call) -> Value:
    tags = call.stdin.tags
    for field in call.args:
        tags |= field.tags
    return unknown(tags)


def _other_program(it: Interpreter, call: Call, name: str) -> None:
    """A path that is no system program: it runs a file, possibly one that this line made."""
    if "/" not in name:
        call.effects.append(_effect(it, Kind.HIJACK, "the search path was changed", call.fields[0], "path"))
        return
    run_file(it, call, call.fields[0])


def run_file(it: Interpreter, call: Call, field: Field) -> None:
    """Executes a file: what it holds is known only if this line wrote it."""
    start, end = it.span(field.start, field.end)
    for target in targets(it, field):
        call.effects.append(Effect(Kind.EXECUTE, target, f"runs `{field.text or target.word}`", start, end, "file"))
    path = _exact_path(it, field)
    content = it.state.written.get(path) if path is not None else None
    if content is not None:
        interpreted(it, call, content, "shell", field)


def interpreted(
    it: Interpreter, call: Call, content: Value, language: str, field: Field, *, stdin: Value = EMPTY
) -> None:
    """Text reaches an interpreter: judged by where it came from, and by what it says if that is known."""
    if NETWORK in content.tags:
        call.effects.append(
            _effect(it, Kind.FLOOR, "runs text that comes from the network", field, "network-to-interpreter")
        )
    elif DECODED in content.tags:
        call.effects.append(_effect(it, Kind.UNKNOWN, "runs text that was decoded", field, "decoded"))
    if content.texts is None:
        if NETWORK not in content.tags:
            call.effects.append(_effect(it, Kind.UNKNOWN, "runs text that is not known", field, "unknown-text"))
        return
    if not content.sure:
        call.effects.append(_effect(it, Kind.UNKNOWN, "runs text that is not certain", field, "unknown-text"))
    from stockade.shell.syntax import text_of

    for text in content.texts:
        if language == "shell":
            outer, it.stdin = it.stdin, stdin
            it.in_copy(lambda text=text: it.run_text(text_of(text), call.start, call.end))  # type: ignore[misc]
            it.stdin = outer
        else:
            from stockade.shell.readers.code import read_code

            read_code(it, call, text_of(text), language, field)


def _described(it: Interpreter, call: Call, base: str, reading: Reading, trusted: bool) -> Value:
    from stockade.shell.outputs import printed
    from stockade.shell.readers import READERS

    apply_reading(it, call, reading)
    forget_written(it, call)
    reader = READERS.get(reading.program.reader) if not reading.info else None
    handled = reader(it, call, reading) if reader is not None else None
    if isinstance(handled, Ran):
        return handled.out
    if not reading.commands:
        emit(it, call, base, trusted=trusted)
        return printed(it, call, base, reading) if handled is None else handled
    out = EMPTY
    for command in reading.commands:
        out = concat(out, run(it, call.inside(command, base)))
    return out


class Ran(NamedTuple):
    """A reader's word that the segments are reported already; `out` is what was printed."""

    out: Value


def ran(out: Value) -> Ran:
    return Ran(out)


def apply_reading(it: Interpreter, call: Call, reading: Reading) -> None:
    """Turns the uses and effects of a reading into effects of the call."""
    from stockade.shell.roles import apply_use, wild_effects

    for effect, detail, start, end in reading.effects:
        begin, stop = it.span(start, end) if end else (call.start, call.end)
        call.effects.append(Effect(_KINDS[effect], None, detail, begin, stop))
    for use in reading.uses:
        apply_use(it, call, reading, use)
    if reading.wild is not None:
        wild_effects(it, call, reading, reading.wild)
    for field in call.args:
        if not field.sure and not field.many and field.text is not None:
            call.effects.append(_effect(it, Kind.UNKNOWN, "a value that is not certain", field, "value"))


def emit(
    it: Interpreter, call: Call, program: str | None, *, trusted: bool = True, builtin: bool = False
) -> None:
    """Reports the segment of a call."""
    argv = shown(call.fields)
    nested = it.nested > 0
    _judge_flow(it, call, program)
    effects = tuple(e._replace(code=e.code or "nested") for e in call.effects) if nested else tuple(call.effects)
    it.emit(
        Segment(argv, program, call.wrappers, (*call.argvs, argv), effects, call.start, call.end,
                it.state.cwd, builtin, trusted)
    )  # fmt: skip


_SILENT = frozenset(("test", "[", "true", ":", "read", "export"))


def _judge_flow(it: Interpreter, call: Call, program: str | None) -> None:
    """A secret that this line holds is printed, or reaches something that sends."""
    words = any(SECRET in f.tags for f in call.fields)
    if any(e.kind is Kind.NETWORK for e in call.effects) and (words or SECRET in call.stdin.tags):
        call.effects.append(
            Effect(Kind.HIJACK, None, "a secret that this line reads goes to the network", call.start, call.end, "flow")
        )
    elif (words or SECRET in call.stdin.tags) and (program not in _SILENT or it.state.tracing):
        call.effects.append(Effect(Kind.SECRET, None, "uses the value of a secret variable", call.start, call.end))


def forget_written(it: Interpreter, call: Call) -> None:
    """What a program wrote replaces what this line knew about the file."""
    tags = call.stdin.tags
    if any(e.kind is Kind.NETWORK for e in call.effects):
        tags |= {NETWORK}
    for effect in call.effects:
        target = effect.target
        if target is None or effect.kind not in (Kind.WRITE, Kind.EDIT, Kind.DELETE):
            continue
        if target.path is None or target.glob:
            it.state.written = dict.fromkeys(it.state.written, unknown(tags))
        elif NETWORK in tags or normal(target.path) in it.state.written:
            it.state.written[normal(target.path)] = unknown(tags)


__all__ = [
    "PATH_ROLES", "Call", "Program", "apply_reading", "byte_view", "emit", "file_content", "interpreted",
    "look_at", "open_redirects", "Ran", "ran", "run", "run_file", "run_program", "run_simple", "secret_variable", "shadows",
    "shown", "targets", "variable_effects",
]  # fmt: skip
