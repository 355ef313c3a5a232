"""What can be wrong with a configuration: every problem has a code, a place and a remedy."""

from __future__ import annotations

from typing import NamedTuple

# Codes of configuration problems; `docs/reference/errors.md` explains each.
CODES = {
    "config/syntax": "the file is not valid TOML, or a key stands in it twice",
    "config/unreadable": "the file cannot be read",
    "config/encoding": "the file is not valid UTF-8",
    "config/unknown-key": "a key that does not exist",
    "config/wrong-type": "a value of the wrong type, or none of the allowed words",
    "config/version": "the file has no `version = 1`, or another version",
    "config/bad-rule": "a rule whose pattern or verdict cannot be used",
    "config/unknown-tool": "a rule for a tool that does not exist",
    "config/example": "an example beside a rule that the rule does not meet",
    "config/shadowed": "a rule that can never win, because a later one matches all that it does",
    "config/permissions": "the user's file can be written by others, or belongs to somebody else",
    "config/symlink": "the project's file is a symbolic link",
    "config/held": "the project's file would loosen something, and the folder is not trusted",
    "config/description": "a description of a program that does not follow the format",
    "config/too-large": "the file is larger than a configuration can be",
}


class Problem(NamedTuple):
    """One problem.  `severity` is `error` (only what tightens is applied), `warning` or `note`."""

    code: str
    severity: str
    file: str
    line: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.severity}: {self.message}"
