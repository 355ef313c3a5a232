"""Argument parsers with one look: raw epilogs, and a width that needs no terminal to be asked at every start."""

from __future__ import annotations

import argparse
import os


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking for the terminal's loads modules that most runs never need."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        super().__init__(prog, width=int(columns) if columns.isdigit() and int(columns) > 20 else 100)
