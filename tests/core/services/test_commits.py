"""Compact and retry as the window asks for them. The model's update is scripted."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest

from core.config import ModelSettings, Settings
from core.engine import Engine
from core.jobs.assembly import build_backroom
from core.model import CommitStep, Section
from core.paths import DataFolder
from core.services.commits import CommitsService
from core.services.ground import Ground
from core.sessions.phase_two import MAX_ATTEMPTS
from core.sessions.view import view_memory
from core.storage import archives, conversations, turns
from core.storage.database import Database
from tests.core.sessions.desk import CHAT, FILES, ScriptedUpdater, fact, say_turn

NO_VECTORS = Settings(models=ModelSettings(embedding_enabled=False))
HASTE = 200.0  # seconds of the program's clock in one of ours: a back-off need not be sat out


@asynccontextmanager
async def opened(folder, updater=None, turn_count=12):
    """Yield the service, the store, the folder of the archives and the worker."""
    begun = time.monotonic()

    def clock():
        return 5000.0 + (time.monotonic() - begun) * HASTE

    async def find_updater():
        return updater

    data = DataFolder(folder)
    data.prepare()
    database = Database(data.database)
    await database.open()
    pool = ThreadPoolExecutor(1)
    backroom = build_backroom(
        database,
        folder=data,
        settings=NO_VECTORS,
        pool=pool,
        publish=lambda _: None,
        clock=clock,
        owner="job-1",
        find_updater=find_updater,
    )
    ground = Ground(
        database=database,
        folder=data,
        settings=NO_VECTORS,
        resources=folder,
        pool=pool,
        publish=lambda _: None,
        clock=clock,
        backroom=lambda: backroom,
    )
    await database.write(lambda c: conversations.ensure(c, CHAT, at=0.0))
    await database.write(lambda c: [say_turn(c, n) for n in range(turn_count)])
    try:
        yield CommitsService(ground), database, data.workspace() / "sessions" / CHAT, backroom.worker
    finally:
        await backroom.aclose()
        await database.aclose()
        pool.shutdown()


async def look(database):
    """Return facts in memory, number of live messages, number of messages that are shown raw."""
    memory = await database.read(lambda c: view_memory(c, CHAT))
    facts = [line.text for part in memory.sections if part.section is Section.FACTS for line in part.lines]
    live, raw = await database.read(lambda c: (turns.load_live(c, CHAT), archives.load_unfinished_messages(c, CHAT)))
    return facts, len(live), len(raw)


def names(sessions, number):
    return {path.name for path in (sessions / f"archive_{number:03}").iterdir()}


FACTS = [fact(n) for n in range(12)]


def test_compact_archives_everything_and_is_done_when_it_returns(tmp_path):
    async def run():
        async with opened(tmp_path) as (commits, database, sessions, _):
            steps = []
            result = await commits.compact(CHAT, progress=steps.append, stop=asyncio.Event())
            assert (result.step, result.archives, result.version, result.error) == (CommitStep.DONE, (1,), 1, "")
            assert result.messages == 24
            assert steps[0] is CommitStep.ARCHIVING
            assert steps[-1] is CommitStep.DONE
            assert await look(database) == (FACTS, 0, 0)
            assert names(sessions, 1) == FILES
            again = await commits.compact(CHAT, progress=steps.append, stop=asyncio.Event())
            assert (again.step, again.archives, again.messages, again.version) == (CommitStep.DONE, (), 0, 1)

    asyncio.run(run())


def test_compact_waits_for_the_model_and_tells_its_steps(tmp_path):
    async def run():
        updater = ScriptedUpdater()
        async with opened(tmp_path, updater) as (commits, database, _, _):
            steps = []
            result = await commits.compact(CHAT, progress=steps.append, stop=asyncio.Event())
            assert (result.step, result.version) == (CommitStep.DONE, 1)
            assert steps == [
                CommitStep.ARCHIVING,
                CommitStep.UPDATING,
                CommitStep.EXTRACTING,
                CommitStep.FINISHING,
                CommitStep.DONE,
                CommitStep.DONE,
            ]
            assert len(updater.seen) == 1
            assert await look(database) == (FACTS, 0, 0)

    asyncio.run(run())


def test_a_stopped_compact_shows_the_messages_raw_and_a_second_one_finishes_it(tmp_path):
    async def run():
        stop, asked = asyncio.Event(), asyncio.Event()

        async def think_for_ever():
            asked.set()
            await asyncio.Event().wait()

        updater = ScriptedUpdater(before=think_for_ever)
        async with opened(tmp_path, updater) as (commits, database, sessions, _):
            compacting = asyncio.create_task(commits.compact(CHAT, progress=lambda _: None, stop=stop))
            await asyncio.wait_for(asked.wait(), 10)
            stop.set()
            result = await asyncio.wait_for(compacting, 10)
            assert result.step is CommitStep.STOPPED
            assert "stopped" in result.error
            assert (await look(database))[1:] == (0, 24)
            (failed,) = await commits.list_failed(CHAT)
            assert (failed.number, failed.in_memory, failed.stages[0].stage) == (1, False, "memory")

            updater.before = None
            result = await commits.compact(CHAT, progress=lambda _: None, stop=asyncio.Event())
            assert (result.step, result.archives) == (CommitStep.DONE, (1,))
            assert await look(database) == (FACTS, 0, 0)
            assert names(sessions, 1) == FILES
            assert await commits.list_failed() == ()

    asyncio.run(run())


async def retry_one(commits):
    return int(await commits.retry(CHAT, 1))


async def retry_all(commits):
    return await commits.retry_all()


@pytest.mark.parametrize("retry", [retry_one, retry_all])
def test_an_update_that_fails_three_times_is_told_listed_and_tried_again(tmp_path, retry):
    async def run():
        async def break_down():
            raise RuntimeError("a bug")

        updater = ScriptedUpdater(before=break_down)
        async with opened(tmp_path, updater) as (commits, database, sessions, worker):
            result = await commits.compact(CHAT, progress=lambda _: None, stop=asyncio.Event())
            assert result.step is CommitStep.FAILED
            assert result.error
            assert len(updater.seen) == MAX_ATTEMPTS
            assert (await look(database))[1:] == (0, 24)
            (failed,) = await commits.list_failed()
            assert failed.stages[0].attempts == MAX_ATTEMPTS
            updater.before = None
            assert await retry(commits) == 1
            await worker.wait_idle()
            facts, live, raw = await look(database)
            assert facts[: len(FACTS)] == FACTS  # the turns themselves are remembered after them
            assert (live, raw) == (0, 0)
            assert names(sessions, 1) == FILES
            assert await commits.retry(CHAT, 1) is False
            assert await commits.retry_all() == 0

    asyncio.run(run())


def test_the_engine_offers_it(tmp_path):
    async def run():
        engine = Engine(DataFolder(tmp_path), NO_VECTORS, exclusive=False)
        await engine.open()
        try:
            chat = await engine.create_conversation()
            result = await engine.commits.compact(chat.id, progress=lambda _: None, stop=asyncio.Event())
            assert (result.step, result.archives, result.version) == (CommitStep.DONE, (), 0)
        finally:
            await engine.aclose()

    asyncio.run(run())
