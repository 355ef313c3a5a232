"""Argument parsers with one look: raw epilogs, and a width that needs no terminal to be asked at every start."""

from __future__ import annotations

import argparse
import os


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking for the terminal's loads modules that most runs never need."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        super().__init__(prog, width=int(columns) if columns.isdigit() and int(columns) > 20 else 100)


def seconds(text: str) -> float:
    """The type of an option that takes a time."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e7:
        raise argparse.ArgumentTypeError("a number of seconds above 0")
    return value
