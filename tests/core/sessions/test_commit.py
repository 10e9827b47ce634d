"""Commits: what leaves the window is archived once, whole, with its files in order."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from core.model import SaidTurn, Section, SessionId
from core.sessions.commit import KEEP_RECENT, Committer, update_counters
from core.sessions.transcript import record_turn
from core.sessions.view import view_memory
from core.storage import conversations, memory_versions, queue, turns
from core.storage.database import Database

CHAT = SessionId("chat")


@asynccontextmanager
async def committed_desk(tmp_path, turn_count):
    """A store with a conversation of `turn_count` turns, each with a pending fact."""
    database = Database(tmp_path / "store.db")
    await database.open()
    pool = ThreadPoolExecutor(1)
    committer = Committer(
        database, workspace=tmp_path / "work", clock=lambda: 5000.0, pool=pool, files=pool, tail_tokens=10_000
    )

    def fill(c):
        conversations.add(c, CHAT, at=0.0)
        for n in range(turn_count):
            said = SaidTurn(
                source_key=f"k{n}",
                user_text=f"Fact number {n} is that the harbour has {n + 100} berths.",
                user_at=float(n * 60),
                reply_text=f"Noted, {n}.",
                reply_at=float(n * 60 + 5),
            )
            turn = record_turn(c, CHAT, said)
            memory_versions.add_pending(c, CHAT, turn, [(Section.FACTS, f"The harbour has {n + 100} berths.", None)])
        update_counters(c, CHAT)

    await database.write(fill)
    try:
        yield database, committer
    finally:
        await database.aclose()
        pool.shutdown()


def live_ids(c):
    return [m.id for m in turns.load_live(c, CHAT)]


def test_the_window_moves_to_an_archive_and_its_files_are_complete(tmp_path):
    async def run():
        async with committed_desk(tmp_path, 12) as (database, committer):
            before = await database.read(live_ids)
            done = await committer.commit(CHAT, cause="a test")
            assert done is not None
            assert (done.version, done.archive) == (1, 1)
            kept = await database.read(live_ids)
            archived = [m.id for m in await database.read(lambda c: turns.load_archived(c, CHAT, 1))]
            assert len(kept) == KEEP_RECENT
            assert archived + kept == before
            waiting, failed = await database.read(queue.count_jobs)
            assert (waiting, failed) == (2, 0)  # the archive's files and MEMORY.md

            assert await committer.finish(CHAT, 1)
            memory = await database.read(lambda c: view_memory(c, CHAT))
            facts = next(part for part in memory.sections if part.section is Section.FACTS)
            assert len(facts.lines) == 12
            assert all(line.turns for line in facts.lines)
            folder = tmp_path / "work" / "sessions" / CHAT / "archive_001"
            names = {p.name for p in folder.iterdir()}
            assert names == {
                ".meta.json",
                "messages.jsonl",
                ".overview.md",
                ".abstract.md",
                "memory_diff.json",
                ".done",
            }
            rows = [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]
            assert [row["id"] for row in rows] == archived
            assert "## Key Facts & Decisions" in (folder / ".overview.md").read_text()

    asyncio.run(run())


def test_doing_phase_two_again_changes_nothing(tmp_path):
    async def run():
        async with committed_desk(tmp_path, 12) as (database, committer):
            await committer.commit(CHAT, cause="a test")
            await committer.finish(CHAT, 1)
            folder = tmp_path / "work" / "sessions" / CHAT / "archive_001"
            first = {path.name: path.read_text() for path in folder.iterdir()}
            await committer.finish(CHAT, 1)
            assert {path.name: path.read_text() for path in folder.iterdir()} == first
            assert await database.read(lambda c: memory_versions.get_newest_number(c, CHAT)) == 1

    asyncio.run(run())


def test_a_short_conversation_is_folded_without_an_archive(tmp_path):
    async def run():
        async with committed_desk(tmp_path, 3) as (database, committer):
            folded = await committer.commit(CHAT, cause="a test")
            assert folded is not None
            assert folded.archive is None
            assert len(await database.read(live_ids)) == 6
            assert await committer.commit(CHAT, cause="again") is None

    asyncio.run(run())


def test_lost_files_of_an_archive_are_made_again_from_the_store(tmp_path):
    async def run():
        async with committed_desk(tmp_path, 12) as (_, committer):
            await committer.commit(CHAT, cause="a test")
            folder = tmp_path / "work" / "sessions" / CHAT / "archive_001"
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
            await committer.finish(CHAT, 1)
            assert (folder / "messages.jsonl").read_text().count("\n") > 0
            assert (folder / ".done").exists()

    asyncio.run(run())


def test_a_commit_that_the_queue_asks_for_happens_once(tmp_path):
    async def run():
        async with committed_desk(tmp_path, 3) as (database, committer):
            assert await committer.commit(CHAT, cause="a test", asked=True) is None
            await database.write(lambda c: queue.ask_for_commit(c, CHAT, 3, cause="a test"))
            done = await asyncio.gather(*(committer.commit(CHAT, cause="a test", asked=True) for _ in range(2)))
            assert [each.version for each in done if each is not None] == [1]
            await database.write(lambda c: queue.ask_for_commit(c, CHAT, 3, cause="a test"))
            assert await committer.commit(CHAT, cause="a test", asked=True) is None  # nothing is left to commit
            assert await database.read(lambda c: queue.is_commit_asked(c, CHAT)) is False

    asyncio.run(run())
