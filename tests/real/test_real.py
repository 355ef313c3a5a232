"""Every described program does no more than its description says, as strace sees it."""

from __future__ import annotations

import tomllib

import pytest

from tests.real import exceptions
from tests.real.commands import MORE, Described, described
from tests.real.compare import foreseen, unforeseen
from tests.real.conftest import Results

ENOUGH = 150
"""Programs that a machine prepared by `install.sh` must at least bring."""

CHECKED = [one for one in described() if not one.unchecked]


@pytest.mark.parametrize("program", CHECKED, ids=[one.stem for one in CHECKED])
def test_program_does_only_what_its_description_says(program: Described, results: Results) -> None:
    runs = results.of(program)
    assert len(runs) == len(program.commands)
    missed = {run.command: found for run in runs if (found := unforeseen(run.observed, foreseen(run.command)))}
    wrong = exceptions.KNOWN_WRONG.keys() & set(program.commands)
    assert {command: found for command, found in missed.items() if command not in wrong} == {}
    assert wrong <= missed.keys(), "right again: take it out of KNOWN_WRONG"
    assert all(run.observed.execs for run in runs), "strace saw no program"


def test_enough_programs_are_checked(results: Results) -> None:
    assert len(CHECKED) >= ENOUGH


def test_some_command_of_each_program_succeeds(results: Results) -> None:
    """A command that only fails confirms nothing; the rows of `FAILING` say why theirs must."""
    silent = {one.stem for one in CHECKED if not any(run.status == 0 for run in results.of(one))}
    assert silent <= set(exceptions.FAILING)


def test_every_added_command_is_compared() -> None:
    """A line of `more.toml` that asks for everything would be left out without a word."""
    added = tomllib.loads(MORE.read_text())
    known = {one.stem: one for one in described()}
    assert set(added) <= set(known)
    vague = [command for commands in added.values() for command in commands if foreseen(command).anything]
    assert vague == []


def test_every_exception_has_a_reason() -> None:
    tables = (exceptions.BENIGN_PATHS, exceptions.CONTACTS, exceptions.HELPERS, exceptions.OWN_STATE, exceptions.DERIVED)
    assert all(row.program and row.seen and row.reason for table in tables for row in table)
    assert all(len(set(table)) == len(table) for table in tables)
