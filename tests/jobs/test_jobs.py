"""Honest work works inside, with the network off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.jobs import launch
from tests.jobs.jobs import Job, all_jobs
from tests.jobs.run import missing, run_job
from tests.support.required import missing as lacking

ENOUGH = 45


@pytest.fixture(scope="session", autouse=True)
def _copies() -> Iterator[None]:
    yield
    launch.remove_copies()


@pytest.mark.parametrize("job", all_jobs(), ids=[job.id for job in all_jobs()])
def test_job_works_inside(job: Job) -> None:
    if absent := missing(job, "stockade"):
        lacking(f"{job.id}: {', '.join(absent)}")
    outcome = run_job(job, "stockade")
    assert outcome.state == "ok", outcome.report()


def test_enough_jobs() -> None:
    assert len(all_jobs()) >= ENOUGH


def test_a_job_leaves_nothing_on_the_host() -> None:
    """Every job says what it leaves: in the workspace by `leaves`, or by a text that looks."""
    silent = [job.id for job in all_jobs() if job.leaves is None and not job.after]
    assert silent == []


def test_every_job_says_what_it_prints() -> None:
    """An exit code alone is not enough: a shell that starts nothing may have one."""
    assert [job.id for job in all_jobs() if not job.output] == []
