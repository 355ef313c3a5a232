"""Program text of other languages: only what is plainly destructive is looked for in it.

Running code asks anyway.  This finds calls that give a literal command to a shell, and calls that
remove a tree, so that the floor is seen through `python -c`, `perl -e` and their like.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockade.model.effects import Effect, Kind
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call, targets
from stockade.shell.values import Field, Value

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_STRING = re.compile(r"""(?:[rbuf]{0,2})("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|`([^`]*)`|qw\(([^)]*)\)|q\{([^}]*)\}""")
_RUNS = re.compile(
    r"(?:\b(?:system|popen|Popen|exec|execvp?e?|execlp?e?|execv|execl|spawn[lv]?p?e?|spawnSync|execSync|execFile|execFileSync"
    r"|check_output|check_call|getoutput|getstatusoutput|shell_exec|passthru|proc_open|capture2e?|capture3|run|call"
    r"|execute|run_command|sh)\b!?\s*\(?|%x|\bqx\b|^\s*:?!|\n\s*:?!)",
)
_REMOVES = re.compile(
    r"\b(?:rmtree|remove_tree|rm_rf|rm_r|remove_dir_all|rmSync|rmdirSync|rimraf|removeSync|rm|remove_entry_secure|RemoveAll)\b\s*\(?"
)
_FORKS = re.compile(
    r"fork\s*(?:\(\s*\))?\s*while\s+(?:1|fork|true)|while\s*\(?\s*(?:1|True|true)\s*\)?\s*[:{]?\s*(?:os\.)?fork"
    r"|loop\s*(?:\{|do)\s*fork|fork\s*\(\)?\s*for\s+\w+\s+in\s+iter|fork\(\)\s+for\s+_\s+in|for\s*\(\s*;\s*;\s*\)\s*\{?\s*fork",
)
_TICKS = re.compile(r"`([^`]+)`")
_OF_LANGUAGE = {
    "perl": (_TICKS, re.compile(r"\bopen\b[^;]*?[\"']\s*\|?\s*([^|\"']+?)\s*\|?[\"']")),
    "ruby": (_TICKS,),
    "php": (_TICKS,),
    "julia": (_TICKS,),
    "sql": (re.compile(r"\\!\s*([^\n]+)|(?:to|from)\s+program\s+'([^']+)'", re.IGNORECASE),),
    "expect": (re.compile(r"\b(?:spawn|exec|system)\s+([^;\n}]+)"),),
    "tcl": (re.compile(r"\bexec\s+([^;\n}\]]+)"),),
    "make": (re.compile(r"(?:^|\n|;)\s*\t?@?-?([a-z][^\n;:=]*)"), re.compile(r"\$\(shell\s+([^)]+)\)")),
    "makefile": (re.compile(r"(?:^|\n|;)\s*\t?@?-?([a-z][^\n;:=]*)"), re.compile(r"\$\(shell\s+([^)]+)\)")),
    "gdb": (re.compile(r"(?:^|\n)\s*(?:shell|!)\s*([^\n]+)"),),
    "crontab": (re.compile(r"(?:^|\n)\s*(?:@\w+|(?:\S+\s+){5})([^\n]+)"),),
    "elisp": (re.compile(r"\((?:shell-command|shell-command-to-string|call-process-shell-command)\s+\"((?:[^\"\\]|\\.)*)\""),),
    "elixir": (re.compile(r"(?:System\.shell|:os\.cmd)\s*\(?\s*[\"']([^\"']+)"),),
}
_PYTHON_HOME = re.compile(
    r"rmtree\s*\(\s*(?:os\.path\.)?(?:expanduser\s*\(\s*[\"']~/?[\"']\s*\)|(?:pathlib\.)?Path\.home\(\)|(?:pathlib\.)?Path\(\s*[\"'](/|~)[\"']\s*\)(?:\.expanduser\(\))?)"
)


def _python_paths(it: Interpreter, call: Call, text: str, field: Field) -> None:
    for m in _PYTHON_HOME.finditer(text):
        path = "/" if m.group(1) == "/" else it.context.home
        for target in targets(it, field._replace(text=path, alts=(), glob=False), recursive=True):
            call.effects.append(Effect(Kind.DELETE, target, "", *it.span(field.start, field.end)))


_BANG = re.compile(r"(?:^|\n)\s*:?(?:silent\s+)?!\s*([^\n]+)")


def interpreter(it: Interpreter, call: Call, reading: Reading) -> Value | None:
    """An interpreter: without a script or inline code, it runs its standard input."""
    stdin_runs = reading.program.stdin == "code"
    given = any(use.role in ("code", "script") for use in reading.uses) or "-m" in reading.options
    if not given and stdin_runs and not any(o in reading.options for o in ("--version", "-V", "--help", "-h", "-v")):
        from stockade.shell.commands import interpreted

        begin, stop = call.start, call.end
        call.effects.append(Effect(Kind.EXECUTE, None, "runs its standard input", begin, stop, "stdin"))
        interpreted(it, call, call.stdin, reading.program.language, call.fields[0])
    return None


def read_code(it: Interpreter, call: Call, text: str, language: str, field: Field) -> None:
    """Looks for plain commands and removals in program text."""
    text = text[:65536]
    if _FORKS.search(text.replace("\n", " ")) or _FORKS.search(text):
        call.effects.append(
            Effect(
                Kind.FLOOR, None, "a program that starts itself without end", *it.span(field.start, field.end), code="fork-bomb"
            )
        )
    for m in _RUNS.finditer(text):
        command = _arguments(text, m.end(), m.group())
        if command:
            _look(it, field, command)
    for m in _REMOVES.finditer(text):
        path = _first_string(text, m.end())
        if path is not None:
            for target in targets(it, field._replace(text=path, alts=(), glob=False), recursive=True):
                call.effects.append(Effect(Kind.DELETE, target, "", *it.span(field.start, field.end)))
    for m in _BANG.finditer(text) if language in ("vim", "gdb", "sql", "expect") else ():
        _look(it, field, m.group(1))
    for pattern in _OF_LANGUAGE.get(language, ()):
        for m in pattern.finditer(text):
            _look(it, field, next(g for g in m.groups() if g is not None))
    if language == "python":
        _python_paths(it, call, text, field)


def _look(it: Interpreter, field: Field, command: str) -> None:
    it.nested += 1
    it.in_copy(lambda: it.run_text(command, field.start, field.end))
    it.nested -= 1


def _arguments(text: str, at: int, call: str) -> str:
    """The literal command that a call is given: one string, or a list of words."""
    if call.startswith(("%x", "qx")):
        m = re.compile(r"\s*(?:\{([^}]*)\}|\(([^)]*)\)|\[([^\]]*)\]|'([^']*)'|/([^/]*)/)").match(text, at)
        return next((g for g in m.groups() if g is not None), "") if m else ""
    words: list[str] = []
    while len(words) < 64:
        m = re.compile(r"[\s,\[(]*").match(text, at)
        at = m.end() if m else at
        found = _STRING.match(text, at)
        if found is None:
            break
        quoted, ticks, many, braces = found.groups()
        if many is not None:
            words.extend(many.split())
        else:
            words.append(_plain(quoted[1:-1]) if quoted is not None else ticks or braces or "")
        at = found.end()
    if len(words) <= 1:
        return words[0] if words else ""
    return " ".join("'" + w.replace("'", "'\\''") + "'" for w in words)


def _first_string(text: str, at: int) -> str | None:
    m = re.compile(r"[\s(\[]*").match(text, at)
    found = _STRING.match(text, m.end() if m else at)
    return _plain(found.group(1)[1:-1]) if found is not None and found.group(1) is not None else None


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
