"""Replies in progress, with a scripted model (a strong one cannot run here): however they end, they are kept."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from core.changes import Changes
from core.errors import ModelError
from core.llm.port import GenerationEnd, GenerationPiece
from core.model import MessageStatus, Role, SessionId
from core.sessions.replies import PUBLISH_EVERY_S, Answer, Replies
from core.sessions.transcript import begin_turn
from core.storage import conversations, turns
from core.storage.database import Database
from tests.core.scripted_chat import END

CHAT = SessionId("chat")


class Desk:
    """A store with one conversation, replies over a scripted generator, and what was published."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.now = 1000.0
        self.notices: list[str] = []
        self.hooked = 0
        self._noticed = asyncio.Event()
        self.replies = Replies(
            database, ask=self._ask, publish=self._publish, clock=lambda: self.now, finished=self._finished
        )

    @property
    def shown(self) -> str:
        return "".join(self.notices)

    def script(self, pieces: AsyncGenerator[GenerationPiece | GenerationEnd, None]) -> None:
        self._pieces = pieces

    async def _ask(self, session_id: SessionId) -> Answer:
        return Answer(pieces=self._pieces, model="scripted")

    def _publish(self, changes: Changes) -> None:
        if changes.reply is not None:
            self.notices.append(changes.reply.text)
        self._noticed.set()

    def _finished(self) -> None:
        self.hooked += 1

    async def ask(self):
        _, reply = await self.database.write(lambda c: begin_turn(c, CHAT, "Question?", at=self.now))
        self.replies.start(reply)
        return reply

    async def stored(self):
        messages = await self.database.read(lambda c: turns.load_messages(c, CHAT))
        return next(m for m in messages if m.role is Role.ASSISTANT)

    async def until(self, status):
        while (reply := await self.stored()).status is not status:
            await self._next_notice()
        return reply

    async def until_shown(self):
        while not self.shown:
            await self._next_notice()

    async def _next_notice(self):
        self._noticed.clear()
        await asyncio.wait_for(self._noticed.wait(), 5)


@asynccontextmanager
async def desk(tmp_path) -> AsyncIterator[Desk]:
    database = Database(tmp_path / "store.db")
    await database.open()
    await database.write(lambda c: conversations.add(c, CHAT, at=0.0))
    try:
        yield Desk(database)
    finally:
        await database.aclose()


async def endless(first: str = "so far"):
    yield GenerationPiece(first)
    await asyncio.Event().wait()


def test_a_finished_reply_is_stored_and_handed_to_the_hook(tmp_path):
    async def pieces():
        for text in ("Turin", " is ", "a city."):
            yield GenerationPiece(text)
        yield END

    async def run():
        async with desk(tmp_path) as it:
            it.script(pieces())
            await it.ask()
            reply = await it.until(MessageStatus.COMPLETE)
            assert reply.text == it.shown == "Turin is a city."
            assert (reply.model, reply.tokens_per_s) == ("scripted", 30.0)
            assert it.hooked == 1
            assert await it.database.read(turns.load_waiting) == (reply.turn,)

    asyncio.run(run())


def test_stop_keeps_what_had_arrived(tmp_path):
    async def run():
        async with desk(tmp_path) as it:
            it.script(endless())
            await it.ask()
            await it.until_shown()
            await it.replies.stop(CHAT)
            reply = await it.stored()
            assert (reply.text, reply.status) == ("so far", MessageStatus.STOPPED)

    asyncio.run(run())


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_a_reply_can_be_stopped_at_once(tmp_path, steps):
    async def run():
        async with desk(tmp_path) as it:
            it.script(endless())
            await it.ask()
            for _ in range(steps):
                await asyncio.sleep(0)
            await asyncio.wait_for(it.replies.stop(CHAT), 10)
            assert (await it.stored()).status is MessageStatus.STOPPED

    asyncio.run(run())


def test_closing_marks_a_running_reply_as_cut_off(tmp_path):
    async def run():
        async with desk(tmp_path) as it:
            it.script(endless("half a sentence"))
            await it.ask()
            await it.until_shown()
            await it.replies.aclose()
            reply = await it.stored()
            assert (reply.text, reply.status) == ("half a sentence", MessageStatus.INTERRUPTED)

    asyncio.run(run())


@pytest.mark.parametrize("error", [ModelError("The model was killed."), ValueError("a bug")], ids=["expected", "bug"])
def test_a_failure_is_said_and_what_had_come_is_kept(tmp_path, error):
    async def pieces():
        yield GenerationPiece("half")
        raise error

    async def run():
        async with desk(tmp_path) as it:
            it.script(pieces())
            await it.ask()
            reply = await it.until(MessageStatus.FAILED)
            assert reply.text == "half"
            expected = "The model was killed." if isinstance(error, ModelError) else "Something went wrong"
            assert expected in (reply.error or "")

    asyncio.run(run())


def test_a_growing_reply_is_saved_while_it_grows(tmp_path):
    """What a crash would find: the text of every half second, marked as streaming."""

    async def run():
        async with desk(tmp_path) as it:
            taken = asyncio.Event()

            async def pieces():
                yield GenerationPiece("first ")
                it.now += 0.6
                yield GenerationPiece("second ")
                taken.set()  # the next piece is asked for when this one is saved
                await asyncio.Event().wait()

            it.script(pieces())
            await it.ask()
            await asyncio.wait_for(taken.wait(), 5)
            reply = await it.stored()
            assert (reply.text, reply.status) == ("first second ", MessageStatus.STREAMING)
            cut = await it.database.write(turns.interrupt_unfinished)
            assert cut == 1
            reply = await it.stored()
            assert (reply.text, reply.status) == ("first second ", MessageStatus.INTERRUPTED)
            await it.replies.aclose()

    asyncio.run(run())


def test_many_pieces_make_few_notices_and_the_first_comes_at_once(tmp_path):
    async def pieces():
        for _ in range(500):
            yield GenerationPiece("word ")
            await asyncio.sleep(0)
        yield END

    async def run():
        async with desk(tmp_path) as it:
            it.script(pieces())
            began = asyncio.get_running_loop().time()
            await it.ask()
            await it.until(MessageStatus.COMPLETE)
            took_s = asyncio.get_running_loop().time() - began
            assert it.notices[0] == "word "
            assert "".join(it.notices) == "word " * 500
            assert len(it.notices) <= 2 + took_s / PUBLISH_EVERY_S

    asyncio.run(run())
