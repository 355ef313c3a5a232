"""What of bash's syntax a POSIX shell reads otherwise: `sh -c` may be dash."""

from __future__ import annotations

import re
from typing import Any

from stockade.shell.syntax import ArithCommand, Assign, Cond, ForArith, Function, Heredoc, Lit, Param, Redirect, Script, Subst

_TILDE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?:~|.*:~)")
_POSIX_OPERATORS = frozenset(("", "#len", ":-", "-", ":=", "=", ":?", "?", ":+", "+", "#", "##", "%", "%%"))


def first_bashism(script: Script, text: str) -> str:
    """What stands first in a script that only bash reads this way, or an empty string."""
    if "$'" in text or '$"' in text or "|&" in text:
        return "`$'…'`, `$\"…\"` or `|&`"
    return _in(script)


def _in(node: Any) -> str:
    if isinstance(node, Heredoc):
        return _in(node.body)
    found = _here(node)
    if found:
        return found
    for child in node if isinstance(node, tuple) else ():
        if isinstance(child, tuple | Heredoc) and (found := _in(child)):
            return found
    return ""


def _here(node: Any) -> str:
    if isinstance(node, Lit):
        if node.quoted:
            return ""
        if "{" in node.text and ("," in node.text or ".." in node.text):
            return "a brace expansion"
        return "`~` behind `=` in a word" if _TILDE.match(node.text) is not None else ""
    if isinstance(node, Subst):
        return "a process substitution" if node.kind in ("<(", ">(") else ""
    if isinstance(node, Redirect):
        return f"`{node.op}`" if node.op in ("<<<", "&>", "&>>") else ""
    if isinstance(node, Param):
        return "" if node.op in _POSIX_OPERATORS and node.subscript is None else "a parameter expansion of bash"
    if isinstance(node, Assign):
        return "an array" if node.array is not None or node.append or node.subscript is not None else ""
    if isinstance(node, Cond | ArithCommand | ForArith):
        return "`[[ ]]` or `(( ))`"
    return "" if not isinstance(node, Function) or node.name.isidentifier() else "a function name"
