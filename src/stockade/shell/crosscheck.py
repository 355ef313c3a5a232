"""A second opinion on the structure of a command, by a parser that shares nothing with ours.

tree-sitter-bash alone is no judge: it mis-reads here-documents and hides commands.  As an independent
witness it is strong: where both see the same commands with the same words, no wrong parse of either
has been found to survive.  It can only turn an allow into an ask.  Here-documents are blanked first.
"""

from __future__ import annotations

from typing import Any

from stockade.shell.syntax import Assign, Redirect, Script, Simple, Word

# Commands that tree-sitter has node types of their own for, and whose words it groups differently.
_OWN_NODES = frozenset(("declare", "typeset", "export", "local", "readonly", "unset", "unsetenv", "[", "test"))
_LEAVES = frozenset(
    ("word", "string_content", "raw_string", "ansi_c_string", "comment", "variable_name", "special_variable_name", "number",
     "file_descriptor", "simple_expansion", "regex", "extglob_pattern", "test_operator", "heredoc_start")
)  # fmt: skip
_parser: Any = None


class Unavailable(Exception):
    """tree-sitter cannot be loaded here."""


def _load() -> Any:
    global _parser
    if _parser is None:
        try:
            import tree_sitter
            import tree_sitter_bash
        except ImportError as error:
            raise Unavailable(str(error)) from None
        _parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    return _parser


def disagreement(view: str, script: Script) -> str | None:
    """Why the second parser does not see what we see, or None where it does."""
    try:
        parser = _load()
    except Unavailable:
        return "the second parser (tree-sitter) is not installed"
    ours: list[tuple[int, int]] = []
    blanked = list(view)
    _collect(script, ours, blanked)
    root = parser.parse("".join(blanked).encode("latin-1")).root_node
    if root.has_error:
        return "the second parser cannot read it"
    theirs: list[tuple[int, int]] = []
    try:
        _walk(root, theirs)
    except RecursionError:
        return "the second parser nests it too deeply to compare"
    if _normal(ours) != _normal(theirs):
        return "the second parser reads it differently"
    return None


def _normal(commands: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(set(commands))


# -- our side -------------------------------------------------------------------------------------


def _collect(node: Any, out: list[tuple[int, int]], blanked: list[str]) -> None:
    """The first byte and the number of words of every simple command; blanks here-documents."""
    if isinstance(node, Simple):
        _simple(node, out)
    elif isinstance(node, Redirect) and node.heredoc is not None:
        _blank(blanked, node.start, node.end)
        _blank(blanked, node.heredoc.body.start, node.heredoc.stop)
        return
    for child in node:
        if isinstance(child, tuple) and child:
            _collect(child, out, blanked)


def _simple(node: Simple, out: list[tuple[int, int]]) -> None:
    if not node.words:
        return
    first = node.words[0]
    if isinstance(first, Word) and len(first.parts) == 1 and getattr(first.parts[0], "text", "") in _OWN_NODES:
        return
    out.append((first.start, sum(not isinstance(w, Assign) for w in node.words)))


def _blank(blanked: list[str], start: int, end: int) -> None:
    """Spaces in place of bytes; a newline at the end stays, so that the next command stays apart."""
    for at in range(start, min(end, len(blanked))):
        if not (blanked[at] == "\n" and at == end - 1):
            blanked[at] = " "


# -- their side -----------------------------------------------------------------------------------


def _walk(node: Any, out: list[tuple[int, int]]) -> None:
    for child in node.named_children:
        kind = child.type
        if kind in _LEAVES:
            continue
        if kind == "command":
            _command(child, out)
        if child.named_child_count:
            _walk(child, out)


def _command(node: Any, out: list[tuple[int, int]]) -> None:
    """(first byte, words) of a command node; the keywords `time` and `coproc` are no words."""
    words = [
        c
        for c in node.named_children
        if c.type not in ("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect")
    ]
    while words and words[0].type == "command_name" and words[0].text in (b"time", b"coproc") and len(words) > 1:
        words = words[1:]
        if words[0].text == b"-p":
            words = words[1:]
    if words and words[0].text not in _OWN_BYTES:
        out.append((words[0].start_byte, len(words)))


_OWN_BYTES = frozenset(name.encode() for name in _OWN_NODES)
