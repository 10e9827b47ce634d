"""A job's effect is written once, by whoever still holds it, and its end is logged with the process."""

import asyncio

import pytest

from core.activity import JobState, Outcome
from core.errors import CoreError
from core.jobs.runner import JobRunner
from core.model import SessionId
from core.storage import activity, conversations, queue
from core.storage.database import Database

CHAT = SessionId("chat")
MINE, THEIRS = "job-1-00000001", "job-2-00000002"


class Bench:
    """A store with one job and a runner for each of two processes."""

    def __init__(self, database):
        self.database = database
        self.now = 1000.0
        self.effects = []
        self.during = None

    def runner(self, owner):
        async def handle(job):
            if self.during is not None:
                await self.during()
            return lambda c: self.effects.append(owner)

        return JobRunner(
            self.database,
            "quick",
            handlers={"task": handle},
            report=lambda *_: None,
            clock=lambda: self.now,
            owner=owner,
        )

    async def load(self, what):
        return await self.database.read(what)


@pytest.fixture
def run(tmp_path):
    """Run a coroutine function with a bench."""

    def run(work):
        async def main():
            database = Database(tmp_path / "keepsake.db")
            await database.open()
            await database.write(lambda c: conversations.add(c, CHAT, at=0.0))
            await database.write(lambda c: queue.add_job(c, "task", CHAT, {}, key="task:1"))
            try:
                await work(Bench(database))
            finally:
                await database.aclose()

        asyncio.run(main())

    return run


def test_who_lost_the_lease_writes_nothing(run):
    async def work(bench):
        async def overslept():
            bench.during = None
            bench.now += queue.LEASE_S + 1
            assert await bench.runner(THEIRS).run_one(), "the lease ran out, so another process has it"

        bench.during = overslept
        assert await bench.runner(MINE).run_one()
        assert bench.effects == [THEIRS]
        log = await bench.load(activity.load_log)
        assert [(each.owner, each.outcome) for each in log] == [(THEIRS, Outcome.DONE)]

    run(work)


def test_a_failure_of_who_lost_the_lease_leaves_the_other_s_alone(run):
    async def work(bench):
        async def overslept():
            bench.now += queue.LEASE_S + 1
            await bench.database.write(lambda c: queue.claim_job(c, THEIRS, now=bench.now))
            raise CoreError("It broke.")

        bench.during = overslept
        await bench.runner(MINE).run_one()
        (job,) = await bench.load(lambda c: activity.load_jobs(c, now=bench.now, states=(JobState.RUNNING,)))
        assert (job.owner, job.error) == (THEIRS, "")

    run(work)


def test_failures_are_logged_until_the_job_is_given_up(run):
    async def work(bench):
        async def fail():
            raise CoreError("The disk is full.")

        bench.during = fail
        for _ in range(queue.MAX_ATTEMPTS):
            assert await bench.runner(MINE).run_one()
            bench.now += 3600.0
        log = await bench.load(activity.load_log)
        assert [each.outcome for each in log] == [Outcome.GAVE_UP, Outcome.FAILED, Outcome.FAILED]
        (job,) = await bench.load(lambda c: activity.load_jobs(c, now=bench.now, states=(JobState.FAILED,)))
        assert job.error == "The disk is full."
        bench.during = None
        assert await bench.database.write(lambda c: queue.retry(c, job.id))
        assert await bench.runner(MINE).run_one()
        assert bench.effects == [MINE]
        assert await bench.load(lambda c: activity.count_kinds(c, now=bench.now)) == ()

    run(work)


def test_kinds_that_are_left_to_others_stay_in_the_queue(run):
    async def work(bench):
        runner = bench.runner(MINE)
        runner.leave(frozenset({"task"}))
        assert not await runner.run_one()
        assert await bench.runner(THEIRS).run_one()

    run(work)


def test_the_log_is_trimmed(run):
    async def work(bench):
        def fill(c):
            for at in range(activity.KEPT_ENTRIES + 50):
                activity.log_steps(c, {"twin": 1}, MINE, at=float(at))

        await bench.database.write(fill)
        log = await bench.load(lambda c: activity.load_log(c, limit=10_000))
        assert len(log) == activity.KEPT_ENTRIES
        assert log[0].at == activity.KEPT_ENTRIES + 49

    run(work)
