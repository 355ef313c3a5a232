"""Simple commands: redirections, assignments, names, wrappers, and the segment each one becomes."""

from __future__ import annotations

import fnmatch
import posixpath
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell import streams
from stockade.shell.arguments import Reading, read_arguments
from stockade.shell.assignments import assigned_value, only_assignments, temporary, variable_effects
from stockade.shell.calls import Call, Ran, effect_at, emit, exact_path, forget_written, shown, targets
from stockade.shell.catalog import catalog
from stockade.shell.own import add, known_by
from stockade.shell.redirects import open_redirects
from stockade.shell.state import Variable, normal
from stockade.shell.syntax import Assign, Simple
from stockade.shell.values import (
    ANYTHING,
    DECODED,
    EMPTY,
    NETWORK,
    Field,
    Value,
    concat,
    join,
    unknown,
)

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

MAX_WRAPPERS = 8
BIN_FOLDERS = frozenset(("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"))
_KINDS = {kind.value: kind for kind in Kind}


# -- a simple command -----------------------------------------------------------------------------


def run_simple(it: Interpreter, node: Simple) -> Value:
    """Expands a simple command, opens its redirections, and runs what it names."""
    expander = it.expander()
    assigned = [(assign, assigned_value(it, assign)) for assign in node.assigns]
    fields: list[Field] = []
    operands: list[tuple[Assign, Value, tuple[Value, ...] | None]] = []
    for word in node.words:
        if isinstance(word, Assign):
            keyed = any(f.text is not None and f.text[:1] == "-" and "A" in f.text for f in fields)
            value, array = assigned_value(it, word, associative=keyed)
            if array is None and word.value is not None and expander.braces_expand(word.value):
                value = ANYTHING  # `export x={a,b}` are two words
            operands.append((word, value, array))
            text = f"{word.name}={'' if value.text is None else value.text}"
            fields.append(Field(text, word.start, word.end, sure=value.text is not None))
        else:
            fields.extend(expander.fields(word))
    begin, stop = it.span(node.start, node.end)
    opened = open_redirects(it, node.redirects) if node.redirects else None
    effects = opened.effects if opened is not None else []
    shared = opened is None or opened.stdin is None
    if not fields:
        only_assignments(it, node, assigned, effects, begin, stop)
        return EMPTY if opened is None else opened.finish(it.state, EMPTY)
    for assign, (value, _) in assigned:
        effects.extend(variable_effects(it, assign.name, value, *it.span(assign.start, assign.end)))
    stdin = opened.stdin if opened is not None and opened.stdin is not None else it.stdin
    if shared and it.taken:
        stdin = streams.left(stdin, it.taken, by_lines=fields[0].text == "read")
    call = Call(fields, stdin, effects, begin, stop)
    restore = temporary(it, assigned)
    taken = it.taken
    own, it.sinks = it.sinks, {}
    if operands or fields[0].text in ("export", "declare", "typeset", "local", "readonly"):
        out = builtin_state.declare(it, call, operands)
    else:
        out = run(it, call)
    for assign, _ in assigned if restore is not None else ():
        _restore(it, assign.name, restore or {})
    it.sinks = own
    if not shared:
        it.taken = taken
    left = out if opened is None else opened.finish(it.state, out)
    if it.sinks:
        left = it.flush_sinks(concat(out, stdin), left)
    if fields[0].text == "exec" and len(fields) == 1:
        it.stdin, it.taken = stdin, streams.UNREAD
        elsewhere = opened is not None and (opened.errors or opened.diverted) and (it.forked or it.nested)
        if elsewhere or any(effect.kind is Kind.WRITE for effect in effects):
            it.note(Kind.UNKNOWN, "sends what the shell prints from here on to a file", node.start, node.end, "value")
    return left


def _restore(it: Interpreter, name: str, before: dict[str, Variable]) -> None:
    """Ends a variable that held for one command; what the command itself has set stays."""
    if name in before:
        it.state.variables[name] = before[name]
    else:
        it.state.variables.pop(name, None)


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
        call.effects.append(effect_at(it, Kind.UNKNOWN, "the name of the command is computed", name, code))
    return _named(it, call, name.text)


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
    effects.append(effect_at(it, Kind.UNKNOWN, "the command that runs is not known", name, "dynamic"))
    if NETWORK in name.tags:
        effects.append(effect_at(it, Kind.FLOOR, "runs what the network answers", name, "network-to-interpreter"))
    emit(it, call, None)
    if name.text is not None:  # a possible text, which may be several words
        words = [Field(w, name.start, name.end, sure=False) for w in name.text.split()]
        if words:
            inner = Call(words + call.args, call.stdin, list(effects), call.start, call.end)
            run(it, inner)
    return ANYTHING


def _pattern_name(it: Interpreter, call: Call, name: Field) -> Value:
    """`/bin/[r]m`: every described program that the pattern can match."""
    call.effects.append(effect_at(it, Kind.UNKNOWN, "the name of the command is a pattern", name, "dynamic"))
    pattern = posixpath.basename(name.text or "")
    if len(pattern) <= 64 and pattern.count("*") <= 2:
        for candidate in [n for n in catalog().names() if fnmatch.fnmatchcase(n, pattern)][:40]:
            fields = [name._replace(text=candidate, glob=False, sure=False), *call.args]
            _named(it, Call(fields, call.stdin, list(call.effects), call.start, call.end), candidate)
    emit(it, call, None)
    return ANYTHING


def _named(it: Interpreter, call: Call, name: str) -> Value:
    if len(call.wrappers) > MAX_WRAPPERS:
        call.effects.append(Effect(Kind.UNKNOWN, None, "wrapped too deeply", call.start, call.end, "too-deep"))
        emit(it, call, name)
        return ANYTHING
    if not call.external:
        if it.state.expand_aliases and name in it.state.aliases:
            return builtin_run.call_alias(it, call, it.state.aliases[name])
        if name in it.state.functions:  # also one with a slash in its name
            return _call_function(it, call, name)
        handler = builtins.BUILTINS.get(name)
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
        fields.extend(
            field._replace(text=w, sure=(w is not None and not field.glob) or field.sure, many=w is None and field.many)
            for w in words
        )
    effects = [*call.effects, Effect(Kind.UNKNOWN, None, "a value that is not certain", call.start, call.end, "value")]
    guess = Call(fields, call.stdin, effects, call.start, call.end)
    guess.wrappers, guess.argvs, guess.external = call.wrappers, call.argvs, call.external
    mark = len(it.segments)
    run_program(it, guess, name)
    for at in range(mark, len(it.segments)):  # a guess says nothing about which words there will be
        segment = it.segments[at]
        it.segments[at] = segment._replace(argv=(name, None), all_argvs=((name, None),))


def _call_function(it: Interpreter, call: Call, name: str) -> Value:
    from stockade.shell.fields import field_value

    call.argvs = (*call.argvs, shown(call.fields))
    emit(it, call, name, builtin=True)
    known_words = not any(f.many for f in call.args)
    arguments = tuple(field_value(f) for f in call.args) if known_words else None
    outer, it.stdin = it.stdin, call.stdin
    bodies = it.state.functions[name]
    if len(bodies) == 1:
        out = it.call(bodies[0], arguments, call.start, call.end)
    else:
        out = it.alternatives([lambda body=body: it.call(body, arguments, call.start, call.end) for body in bodies])  # type: ignore[misc]
    it.stdin = outer
    return out


def shadows(name: str) -> bool:
    """Whether a function of that name would be run instead of a program or builtin that is known."""
    return name in builtins.BUILTINS or catalog().get(name) is not None


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
    if it.owns and base in it.owns:
        program, further = known_by(program, it.owns[base])
        add(it, call, further)
    if not trusted:
        _other_program(it, call, name)
    if program is None and any("://" in (f.text or "") for f in call.args):
        call.stdin = call.stdin._replace(tags=call.stdin.tags | {NETWORK})  # what it prints may come from there
    if program is None:
        it.taken = streams.ANY
        if trusted:
            call.effects.append(effect_at(it, Kind.UNKNOWN, f"the program `{base}` is not described", call.fields[0], "program"))
        emit(it, call, base, trusted=trusted)
        return _filtered(call)
    args = readers.prepare(program, call.args)
    if program.reader == "git":
        from stockade.shell.readers.git import entered

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
        call.effects.append(effect_at(it, Kind.HIJACK, "the search path was changed", call.fields[0], "path"))
        return
    run_file(it, call, call.fields[0])


def run_file(it: Interpreter, call: Call, field: Field) -> None:
    """Executes a file: what it holds is known only if this line wrote it."""
    start, end = it.span(field.start, field.end)
    for target in targets(it, field):
        call.effects.append(Effect(Kind.EXECUTE, target, f"runs `{field.text or target.word}`", start, end, "file"))
    path = exact_path(it, field)
    content = it.state.written.get(path) if path is not None else None
    if content is not None:
        interpreted(it, call, content, "shell", field)


def interpreted(it: Interpreter, call: Call, content: Value, language: str, field: Field, *, stdin: Value = EMPTY) -> None:
    """Text reaches an interpreter: judged by where it came from, and by what it says if that is known."""
    if NETWORK in content.tags and language != "sql":  # statements for a database are data of its own
        call.effects.append(effect_at(it, Kind.FLOOR, "runs text that comes from the network", field, "network-to-interpreter"))
    elif DECODED in content.tags:
        call.effects.append(effect_at(it, Kind.UNKNOWN, "runs text that was decoded", field, "decoded"))
    if content.texts is None:
        if NETWORK not in content.tags or language == "sql":
            call.effects.append(effect_at(it, Kind.UNKNOWN, "runs text that is not known", field, "unknown-text"))
        return
    if not content.sure:
        call.effects.append(effect_at(it, Kind.UNKNOWN, "runs text that is not certain", field, "unknown-text"))
    from stockade.shell.syntax import text_of

    for text in content.texts:
        if language == "shell":
            outer, it.stdin, it.taken = (it.stdin, it.taken), stdin, streams.UNREAD
            it.in_copy(lambda text=text: it.run_text(text_of(text), call.start, call.end))  # type: ignore[misc]
            it.stdin, it.taken = outer
        else:
            from stockade.shell.readers.code import read_code

            read_code(it, call, text_of(text), language, field)


def _described(it: Interpreter, call: Call, base: str, reading: Reading, trusted: bool) -> Value:
    apply_reading(it, call, reading)
    forget_written(it, call)
    reader = readers.reader(reading.program.reader) if not reading.info else None
    handled = reader(it, call, reading) if reader is not None else None
    if streams.holds_text(it.stdin) and not reading.commands and streams.reads_input(base, reading):
        it.taken = streams.ANY
    if isinstance(handled, Ran):
        return handled.out
    if not reading.commands:
        emit(it, call, base, trusted=trusted)
        return outputs.printed(it, call, base, reading) if handled is None else handled
    out = EMPTY
    for command in reading.commands:
        out = concat(out, run(it, call.inside(command, base)))
    return out


def apply_reading(it: Interpreter, call: Call, reading: Reading) -> None:
    """Turns the uses and effects of a reading into effects of the call."""
    for effect, detail, start, end in reading.effects:
        begin, stop = it.span(start, end) if end else (call.start, call.end)
        call.effects.append(Effect(_KINDS[effect], None, detail, begin, stop))
    call.runs = reading.runs
    module = reading.values.get("-m") if reading.program.language == "python" else None
    if module is not None and module.literal:
        known = catalog().get(module.literal.partition(".")[0])
        call.runs += known.runs if known is not None else ()
    for use in reading.uses:
        roles.apply_use(it, call, reading, use)
    if reading.wild is not None:
        roles.wild_effects(it, call, reading, reading.wild)
    for field in call.args:
        if not field.sure and not field.many and field.text is not None:
            call.effects.append(effect_at(it, Kind.UNKNOWN, "a value that is not certain", field, "value"))


# These take names from this module in turn, which are complete here; an import inside the functions costs a microsecond each.
import stockade.shell.builtin_run as builtin_run  # noqa: E402
import stockade.shell.builtin_state as builtin_state  # noqa: E402
import stockade.shell.builtins as builtins  # noqa: E402
import stockade.shell.outputs as outputs  # noqa: E402
import stockade.shell.readers as readers  # noqa: E402
import stockade.shell.roles as roles  # noqa: E402
