"""The kernel confirms what `stockade sandbox` says: every probe, as this user and, for root, as an ordinary one too."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator

import pytest

from tests.probes.host import Host
from tests.probes.launchers import LAUNCHERS
from tests.probes.probe import GROUPS, Probe, probes
from tests.probes.running import run, skip_reason

ENOUGH = 150
"""Probes that there are at least."""

ALL = probes()


def _users() -> list[str | None]:
    """This user; for root also one that is not."""
    ordinary = "nobody"
    try:
        pwd.getpwnam(ordinary)
    except KeyError:
        return [None]
    return [None, ordinary] if os.getuid() == 0 else [None]


@pytest.fixture(scope="module", params=_users(), ids=lambda user: user or "self")
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    if reason := LAUNCHERS["stockade"].missing():
        if os.environ.get("STOCKADE_REQUIRE_ORACLES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with Host(user=request.param) as made:
        yield made


@pytest.mark.parametrize("probe", ALL, ids=[one.id for one in ALL])
def test_the_sandbox_holds(probe: Probe, host: Host) -> None:
    if reason := skip_reason(probe, host):
        pytest.skip(reason)
    problems = run(probe, LAUNCHERS["stockade"], host).problems
    if probe.known:
        assert problems, "it holds: take `known` away, and the line in the threat model"
    else:
        assert problems == ()


NAMED = [one for one in ALL if one.expect != "works" and not one.sure]


@pytest.mark.skipif(os.getuid() != 0, reason="many attacks need uid 0 to work without a sandbox")
@pytest.mark.parametrize("probe", NAMED, ids=[one.id for one in NAMED])
def test_the_attack_works_without_a_sandbox(probe: Probe, bare: Host) -> None:
    """A probe that cannot fail proves nothing."""
    if reason := skip_reason(probe, bare):
        pytest.skip(reason)
    problems = run(probe, LAUNCHERS["none"], bare).problems
    assert problems
    assert not [one for one in problems if one.startswith("broken")]


@pytest.fixture(scope="module")
def bare() -> Iterator[Host]:
    with Host() as made:
        yield made


def test_there_are_enough() -> None:
    assert len(ALL) >= ENOUGH
    assert {one.group for one in ALL} == set(GROUPS)
    assert {one.expect for one in ALL} == {"refused", "works", "either"}


def test_every_probe_says_why_it_is_asked() -> None:
    assert all(one.trap and (one.trap[0].isdigit() or one.trap.startswith(("peer:", "bug:"))) for one in ALL)
