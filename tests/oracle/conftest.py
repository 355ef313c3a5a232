"""The `oracle` fixture: one sandbox for the whole test session."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.oracle.sandbox import Oracle


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """The running oracle. Without bwrap the test is skipped, or fails where the oracle is required."""
    reason = Oracle.available()
    if reason is not None and os.environ.get("STOCKADE_REQUIRE_ORACLES") == "1":
        pytest.fail(f"the execution oracle is required but cannot run: {reason}", pytrace=False)
    if reason is not None:
        pytest.skip(f"the execution oracle cannot run: {reason}")
    with Oracle() as running:
        yield running
