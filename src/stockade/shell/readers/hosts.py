"""ssh, rsync, curl, docker: what goes to another machine or comes from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, emit, ran, targets
from stockade.shell.commands import interpreted
from stockade.shell.roles import field_value
from stockade.shell.state import normal
from stockade.shell.syntax import byte_view
from stockade.shell.values import ANYTHING, NETWORK, Field, Value, unknown

if TYPE_CHECKING:
    from stockade.shell.calls import Ran
    from stockade.shell.interpret import Interpreter

_SSH_RUNS = re.compile(
    r"(?:proxycommand|localcommand|knownhostscommand|pkcs11provider|securitykeyprovider|xauthlocation)\s*[= ]", re.I
)
_DATA = frozenset(
    ("-d", "--data", "--data-ascii", "--data-binary", "--data-urlencode", "--json", "-H", "--header", "--proxy-header")
)
_FORM = frozenset(("-F", "--form"))


def ssh(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """The words after the host are joined and run by the shell over there; so is standard input."""
    for use in reading.uses:
        if use.option == "-o" and (use.field.literal is None or _SSH_RUNS.match(use.field.literal)):
            begin, stop = it.span(use.field.start, use.field.end)
            call.effects.append(Effect(Kind.HIJACK, None, "an option of ssh runs a local program", begin, stop, "runs"))
            command_text = (use.field.literal or "").partition("=")[2]
            it.in_copy(lambda command_text=command_text: it.run_text(command_text, call.start, call.end))  # type: ignore[misc]
    command = reading.commands.pop() if reading.commands else []
    emit(it, call, "ssh")
    inner = call.inside(list(call.fields), "ssh")
    inner.effects = []
    if command and command[0].literal == "--":
        command = command[1:]
    if command:
        text = " ".join(f.text or "" for f in command) if all(f.text is not None for f in command) else None
        value = Value((byte_view(text),), all(f.sure for f in command)) if text is not None else ANYTHING
    else:
        value = call.stdin if call.stdin.texts != ("",) else Value(("",))
    if value.texts is not None:
        interpreted(it, inner, value, "shell", call.fields[0], stdin=call.stdin if command else Value(("",)))
    it.emit_effects(inner)
    return ran(unknown(frozenset(("network",))))


def rsync(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """`--delete` removes what is not in the source: the target is a tree that loses files."""
    deletes = any(name.startswith(("--del", "--remove-source")) for name in reading.options)
    if deletes and len(reading.operands) > 1:
        field = reading.operands[-1]
        for target in targets(it, field, recursive=True):
            call.effects.append(Effect(Kind.DELETE, target, "", *it.span(field.start, field.end)))
    return None


def curl(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """Data that begins with `@` is read from a file and sent; `-O` (and wget) name the file by the URL."""
    wget = call.fields[0].text is not None and call.fields[0].text.endswith("wget")
    if (wget and not reading.options.keys() & {"-O", "--spider"}) or reading.options.keys() & {
        "-O",
        "--remote-name",
        "--remote-name-all",
    } - ({"-O"} if wget else set()):
        _remote_names(it, call, reading)
    for use in reading.uses:
        text = use.field.text if use.field.text is not None else use.field.prefix
        path = ""
        if use.option in _DATA:
            m = re.match(r"(?:[^=@\s]*)?@(.+)", text) if use.option == "--data-urlencode" else re.match(r"@(.+)", text)
            path = m.group(1) if m else ""
        elif use.option in _FORM:
            m = re.match(r"[^=]*=[@<]([^;,]+)", text)
            path = m.group(1) if m else ""
        if path and path != "-":
            for target in targets(it, use.field._replace(text=path)):
                call.effects.append(Effect(Kind.READ, target, "", *it.span(use.field.start, use.field.end)))
    return None


def _remote_names(it: Interpreter, call: Call, reading: Reading) -> None:
    for use in reading.uses:
        if use.role != "host" or use.field.text is None:
            continue
        name = use.field.text.split("?")[0].split("#")[0].rstrip("/").rpartition("/")[2]
        path = it.state.absolute(name) if name else None
        if path is not None:
            it.state.written[normal(path)] = unknown(frozenset((NETWORK,)))
            for target in targets(it, use.field._replace(text=name)):
                call.effects.append(Effect(Kind.WRITE, target, "", *it.span(use.field.start, use.field.end)))


def docker(it: Interpreter, call: Call, reading: Reading) -> Value | Ran | None:
    """A container with the host's root mounted in runs its command on the host's files."""
    mounts = [u.field.text or "" for u in reading.uses if u.option in ("-v", "--volume", "--mount")]
    roots = [
        m.group(1) for text in mounts if (m := re.search(r"(?:^/:|(?:source|src)=/,.*(?:target|dst|destination)=)([^:,]+)", text))
    ]
    command = reading.commands.pop() if reading.commands else list(reading.operands[1:])
    if not roots or not command:
        return None
    words = [f.text or "" for f in command]
    if words[:1] == ["chroot"]:
        words = words[2:]
    emit(it, call, call.fields[0].text)
    inside = [re.sub(rf"^{re.escape(root.rstrip('/'))}(?=/|$)", "", w) or "/" for w in words for root in roots[:1]]
    inner = call.inside([Field(w, call.start, call.end) for w in inside], "docker")
    inner.effects = []
    from stockade.shell.commands import run

    it.in_copy(lambda: run(it, inner))
    return ran(ANYTHING)


__all__ = ["curl", "docker", "field_value", "rsync", "ssh"]


def ss(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """A name in a filter of addresses is looked up."""
    for field in reading.operands:
        text = field.text or ""
        if field.literal is None or re.search(r"[A-Za-z0-9-]\.[A-Za-z]", text):
            begin, stop = it.span(field.start, field.end)
            call.effects.append(Effect(Kind.NETWORK, None, "looks a name up", begin, stop))
    return None
