"""Reads codes out of the source text, where no table holds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "stockade"


def trees(folder: Path = SOURCE) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def literals(prefix: str, folder: Path = SOURCE) -> set[str]:
    """Every text in the source that begins like this and is one word; of an f-string, its beginning."""
    found = set()
    for _, tree in trees(folder):
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else ""
            if isinstance(text, str) and text.startswith(prefix) and " " not in text:
                found.add(text)
    return found - {prefix}


def calls(names: tuple[str, ...], folder: Path) -> Iterator[list[ast.expr]]:
    """The arguments of every call of a function or method of these names."""
    for _, tree in trees(folder):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if name in names:
                    yield node.args


def shown_text(node: ast.expr) -> str:
    """A text in the source, with `…` for what is put into it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "…" for v in node.values)
    return ""
