"""Real programs that tests use: missing here a test is skipped, missing in CI it fails."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def required(name: str) -> str:
    """The path of a program; without it the test is skipped, or fails with STOCKADE_REQUIRE_ORACLES=1."""
    found = shutil.which(name)
    if found is None:
        missing(name)
    assert found is not None
    return found


def missing(what: str) -> NoReturn:
    """Skips the test, or fails it with STOCKADE_REQUIRE_ORACLES=1."""
    if os.environ.get("STOCKADE_REQUIRE_ORACLES") == "1":
        pytest.fail(f"{what} is required and not installed", pytrace=False)
    pytest.skip(f"{what} is not installed")
