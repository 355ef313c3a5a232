"""What a word does in its role: a path that is read, a command that is run, a host that is met."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading, Use
from stockade.shell.calls import Call, targets
from stockade.shell.catalog import EFFECTS, PATH_ROLES, Option, Program
from stockade.shell.commands import interpreted, run_file
from stockade.shell.state import normal
from stockade.shell.syntax import byte_view
from stockade.shell.values import NETWORK, Field, Value, known, unknown
from stockade.shell.variables import quiet_command

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_KINDS = {kind.value: kind for kind in Kind}
_REMOTE = re.compile(r"(?:[A-Za-z0-9_.-]+@)?(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9_.-]+):(?!//)|(?:rsync|sftp|scp)://([^/]+)")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#]*@)?(\[[^\]]*\]|[^/:?#]+)(?::([0-9]+))?")
_REVISION = re.compile(r"[~^]|@\{|\.\.")
_PORTS = {"http": "80", "https": "443", "ssh": "22", "ftp": "21", "git": "9418", "ftps": "990", "sftp": "22"}


def field_value(field: Field) -> Value:
    if field.text is not None and not field.glob:
        return Value((byte_view(field.text),), field.sure, tags=field.tags)
    return unknown(field.tags)


def apply_use(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    """Adds the effects of one word to the call."""
    role, field = use.role, use.field
    if role == "text":
        return
    if role in PATH_ROLES:
        _path(it, call, role, field, reading.recursive)
    elif role in EFFECTS and role != "unknown":
        _plain(it, call, _KINDS[role], f"the operand `{field.text or '…'}`", field)
    else:
        _ROLES[role](it, call, reading, use)


def _plain(it: Interpreter, call: Call, kind: Kind, detail: str, field: Field, code: str = "") -> None:
    start, end = it.span(field.start, field.end) if field.end else (call.start, call.end)
    call.effects.append(Effect(kind, None, detail, start, end, code))


def _path(it: Interpreter, call: Call, role: str, field: Field, recursive: bool) -> None:
    if field.literal == "-" and role == "read":  # for what is written, `-` is a file to tee and others
        return
    start, end = it.span(field.start, field.end) if field.end else (call.start, call.end)
    if role == "move":
        for target in targets(it, field, recursive=True):
            call.effects.append(Effect(Kind.EDIT, target, "", start, end, "move"))
        return
    kind = _KINDS[role]
    for target in targets(it, field, recursive=recursive):
        call.effects.append(Effect(kind, target, "", start, end))


def _run(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    """A command in an option or operand; a plain pager is harmless, the rest is judged as what it runs."""
    text = use.field.literal
    if quiet_command(text):
        return
    what = use.option or "an operand"
    _plain(it, call, Kind.HIJACK, f"`{what}` runs another program", use.field, "runs")
    if text is not None:
        it.in_copy(lambda: it.run_text(text, use.field.start, use.field.end))


def _load(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    if reading.program.name == "pytest" and (use.field.literal or "").startswith("no:"):
        return  # `-p no:NAME` keeps a plugin from being loaded
    what = use.option or "an operand"
    _plain(it, call, Kind.HIJACK, f"`{what}` loads code or configuration", use.field, "loads")
    _path(it, call, "read", use.field, False)


def _shell(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    interpreted(it, call, field_value(use.field), "shell", use.field)


def _code(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    _plain(it, call, Kind.EXECUTE, f"runs {reading.program.language or 'program'} code", use.field, "code")
    interpreted(it, call, field_value(use.field), reading.program.language or "text", use.field)


def _script(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    """A file of program text, or `-` for standard input."""
    language = reading.program.language or "shell"
    if use.field.literal in ("-", "/dev/stdin", "/dev/fd/0"):
        _plain(it, call, Kind.EXECUTE, "runs its standard input", use.field, "stdin")
        interpreted(it, call, call.stdin, language, use.field)
        return
    path = use.field.literal
    absolute = None if path is None else it.state.absolute(path)
    content = it.state.written.get(normal(absolute)) if absolute is not None else None
    if content is not None:
        _plain(it, call, Kind.EXECUTE, f"runs `{path}`", use.field, "file")
        interpreted(it, call, content, language, use.field)
    else:
        run_file(it, call, use.field)


def _env(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    from stockade.shell.assignments import variable_effects

    text = use.field.literal
    name, equals, value = (text or "").partition("=")
    if not equals:
        if text is None:
            _plain(it, call, Kind.HIJACK, "a variable that is not known is set", use.field, "variable")
        return
    call.effects.extend(variable_effects(it, name, known(byte_view(value)), *it.span(use.field.start, use.field.end)))


def _host(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    text = use.field.text
    start, end = it.span(use.field.start, use.field.end)
    if text is not None and text.lower().startswith("file:"):
        path = re.sub(r"^file:(?://[^/]*)?", "", text, flags=re.IGNORECASE)
        _path(it, call, "read", use.field._replace(text=path), False)
        return
    host = host_port(text, "443" if reading.program.name in ("curl", "wget") else "") if text else ""
    if host:
        call.effects.append(Effect(Kind.NETWORK, None, host, start, end, "host"))
    else:
        call.effects.append(Effect(Kind.NETWORK, None, "a host that is not known", start, end))


def host_port(text: str, default: str = "") -> str:
    """`host:port` of a URL, `user@host` or `host[:port]`, as far as the text says."""
    m = _URL.match(text)
    if m is not None:
        port = m.group(3) or _PORTS.get(m.group(1).lower(), "")
        return f"{m.group(2).lower()}:{port}" if port else m.group(2).lower()
    rest = text.split("@")[-1].split("/")[0].split("?")[0]
    m = re.match(r"(\[[^\]]*\]|[^:\s]+)(?::([0-9]+))?$", rest)
    if m is None:
        return ""
    port = m.group(2) or default
    return f"{m.group(1).lower()}:{port}" if port else m.group(1).lower()


def _remote(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    text = use.field.text or use.field.prefix
    m = _REMOTE.match(text)
    if m is not None and "/" not in text[: m.start(1) if m.group(1) else 0]:
        call.effects.append(
            Effect(Kind.NETWORK, None, (m.group(1) or m.group(2)).lower(), *it.span(use.field.start, use.field.end), code="host")
        )
        return
    _path(it, call, "write" if use.role == "remote-write" else "read", use.field, reading.recursive)


def _rev(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    """A revision, a path, or `revision:path`."""
    field = use.field
    text = field.literal
    if text is None:
        if field.kind != "int" and not field.suffix.startswith("..") and not field.prefix.endswith(".."):
            _path(it, call, "read", field, False)
        return
    if text.startswith(("-", ":!", ":^", ":(exclude)")):
        return
    if "(" in text and reading.program.name.startswith("hg"):
        _plain(it, call, Kind.UNKNOWN, "a revision set that calls a function", field, "value")  # `outgoing(URL)` contacts a host
        return
    text = re.sub(r"^:\([a-z,]*\)", "", text)
    if re.search(r"[*?\[]", text):  # a pathspec is a pattern of git's own
        _path(it, call, "read", field._replace(text=text.rpartition(":")[2], glob=True), False)
        return
    field = field._replace(text=text)
    if ":" in text and not text.startswith("/"):
        _path(it, call, "read", field._replace(text=text.rpartition(":")[2]), False)
        return
    if _REVISION.search(text) and not text.startswith(("../", "./", "/")) and text not in ("..", ".") and "/../" not in text:
        return
    _path(it, call, "read", field, False)


def _refspec(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    text = use.field.literal
    if text is None:
        if use.field.prefix[:1] in ("", "+") or use.field.text is not None:
            _plain(it, call, Kind.UNKNOWN, "the refspec is not known", use.field, "value")
        if (use.field.text or use.field.prefix).startswith("+"):
            _plain(it, call, Kind.FORCED_PUSH, "a refspec that begins with `+`", use.field)
        return
    if text.startswith("+") and "forced-push" not in reading.drops:
        _plain(it, call, Kind.FORCED_PUSH, "a refspec that begins with `+`", use.field)
    elif text.startswith(":"):
        _plain(it, call, Kind.DESTRUCTIVE, "deletes a remote branch", use.field)


def _unknown(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    what = use.option or f"the operand `{use.field.text or '…'}`"
    _plain(it, call, Kind.UNKNOWN, f"what {what} does cannot be told", use.field)


def _argv(it: Interpreter, call: Call, reading: Reading, use: Use) -> None:
    reading.commands.append([use.field])


_ROLES = {
    "run": _run, "load": _load, "shell": _shell, "code": _code, "script": _script, "argv": _argv, "env": _env,
    "host": _host, "remote": _remote, "remote-write": _remote, "rev": _rev, "refspec": _refspec, "unknown": _unknown,
}  # fmt: skip

# -- words that can be any option -----------------------------------------------------------------

# Readers that no option could make do more than read.
_HARMLESS_READERS = frozenset(("", "search", "jq", "ps"))
_HARMLESS_ROLES = frozenset(("text", "read", "list"))


def harmless(option: Option) -> bool:
    """Whether an option could only change what is printed, or which file below is read."""
    return not option.effects and option.role in _HARMLESS_ROLES


def all_options_harmless(program: Program) -> bool:
    return not program.effects and all(harmless(option) for option in program.options.values())


def wild_effects(it: Interpreter, call: Call, reading: Reading, field: Field) -> None:
    """From an unknown word on, every option of the program is possible."""
    program = reading.program
    if program.subs:
        return
    if program.style == "none" or (all_options_harmless(program) and program.reader in _HARMLESS_READERS):
        return
    dangerous = next((o.name for o in program.options.values() if not harmless(o)), "an option")
    _plain(it, call, Kind.UNKNOWN, f"a word that is not known could be `{dangerous}`", field, "option")
    if field.text is not None and not field.sure:
        _hinted(it, call, reading, field)


def _hinted(it: Interpreter, call: Call, reading: Reading, field: Field) -> None:
    """The possible text of an uncertain word, read as an option: it can only add effects."""
    from stockade.shell.arguments import read_arguments

    again = read_arguments(reading.program, [field._replace(sure=True, many=False)])
    for effect, detail, start, end in again.effects:
        if effect != "unknown":
            call.effects.append(Effect(_KINDS[effect], None, detail, *it.span(start, end)))


__all__ = ["NETWORK", "all_options_harmless", "apply_use", "field_value", "harmless", "host_port", "wild_effects"]
