"""Markdown from values: code, tables, pages."""

from __future__ import annotations

from collections.abc import Iterable

NOTE = "<!-- written by docs/generate.py: change the table in the code, then run it -->"


def cell(value: object) -> str:
    """A text as a table cell: on one line, no bar that would end it."""
    return " ".join(str(value).split()).replace("|", "\\|")


def code(text: str) -> str:
    """A text as inline code, with more backticks around it than it has in it."""
    if not text:
        return "(empty)"
    fence = "`"
    while fence in text:
        fence += "`"
    padded = f" {text} " if text[0] == "`" or text[-1] == "`" else text
    return f"{fence}{padded}{fence}"


def codes(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in names if name)


def table(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    heads = list(titles)
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return lines


def page(title: str, *blocks: Iterable[str] | str) -> str:
    parts = [f"# {title}", NOTE]
    parts += [block if isinstance(block, str) else "\n".join(block) for block in blocks]
    return "\n\n".join(parts) + "\n"
