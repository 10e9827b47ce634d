"""Recall from one conversation to another, through the engine: what is put before a message, and what never is."""

import asyncio
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from core.config import LearningSettings, ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.model import RecalledItem, Role, SessionId
from core.sessions.situation import load_sources
from core.storage import vectors
from core.storage.database import Database
from tests.core.test_engine import say

NO_MODELS = Settings(models=ModelSettings(embedding_enabled=False))
DAY_S = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


class ScriptedEmbedder:
    """Stands in for a model: a text's vector points where its first known word says."""

    dimension = 8
    signature = "scripted"
    places: ClassVar = {"boat": 0, "sail": 0, "bread": 3, "dough": 3}

    def embed_passages(self, texts: Sequence[str], /) -> list[bytes | None]:
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str, /) -> bytes | None:
        return self._embed(text)

    def _embed(self, text: str) -> bytes:
        numbers = [0.05] * 8
        for word, place in self.places.items():
            if word in text.lower():
                numbers[place] = 1.0
        return array("f", numbers).tobytes()


@asynccontextmanager
async def opened(folder: Path, settings: Settings = NO_MODELS, **options: object) -> AsyncIterator[Engine]:
    engine = Engine(DataFolder(folder), settings, resources=folder / "nothing", **options)
    await engine.open()
    try:
        yield engine
    finally:
        await engine.aclose()


async def read_store(folder: Path, work):
    database = Database(DataFolder(folder).database)
    await database.open()
    try:
        return await database.read(work)
    finally:
        await database.aclose()


async def load_prompt_sources(folder: Path, session_id: SessionId):
    """What the conversation's next prompt is made of."""
    learning = LearningSettings()
    return await read_store(folder, lambda c: load_sources(c, session_id, learning=learning, now=0.0, per_turn=False))


async def tell_and_ask(engine: Engine, clock: Clock, question: str, *, days: float = 2.0):
    """Tell something in one conversation, ask in another some days later; returns (chat, recall)."""
    first = await engine.create_conversation()
    await say(engine, first.id, "My daughter's violin teacher is called Mrs Kowalczyk.")
    clock.now += days * DAY_S
    second = await engine.create_conversation()
    user, _ = await say(engine, second.id, question)
    return second, await engine.recall.load(user.turn)


def test_a_fact_told_in_one_conversation_comes_back_in_another_with_its_date(tmp_path):
    async def run():
        clock = Clock()
        async with opened(tmp_path, clock=clock) as engine:
            chat, recall = await tell_and_ask(engine, clock, "What is the violin teacher called?")
            assert recall is not None
            assert "Mrs Kowalczyk" in recall.block
            assert "2026-09-21" in recall.block
            assert "the user said" in recall.block
            assert recall.items[0].kind == "turn"
            assert recall.items[0].used
            messages = await engine.load_messages(chat.id)
            assert messages[0].text == "What is the violin teacher called?"

    asyncio.run(run())


def test_what_was_recalled_is_neither_indexed_nor_noticed_as_the_users_words(tmp_path):
    async def run():
        clock = Clock()
        async with opened(tmp_path, clock=clock) as engine:
            chat, recall = await tell_and_ask(engine, clock, "What is the violin teacher called?")
            assert recall.block
            hits = await engine.recall.search("Kowalczyk")
            assert {hit.session_id for hit in hits if "Kowalczyk" in hit.text} == {recall.items[0].session_id}
            memory = await engine.memory.load(chat.id)
            assert not any("Kowalczyk" in line.text for part in memory.sections for line in part.lines)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("question", "days"),
    [("Which spanner fits a metric bolt?", 2.0), ("What is the violin teacher called?", 20.0)],
    ids=["about something else", "too long ago"],
)
def test_nothing_near_enough_is_no_block(tmp_path, question, days):
    async def run():
        clock = Clock()
        async with opened(tmp_path, clock=clock) as engine:
            _, recall = await tell_and_ask(engine, clock, question, days=days)
            assert recall is not None
            assert recall.block == ""

    asyncio.run(run())


def test_later_messages_recall_nothing(tmp_path):
    async def run():
        clock = Clock()
        async with opened(tmp_path, clock=clock) as engine:
            chat, _ = await tell_and_ask(engine, clock, "Good morning")
            user, _ = await say(engine, chat.id, "What is the violin teacher called?")
            assert await engine.recall.load(user.turn) is None

    asyncio.run(run())


def test_switched_off_nothing_is_looked_for(tmp_path):
    async def run():
        clock = Clock()
        off = replace(
            NO_MODELS, learning=LearningSettings(stm_recall_enabled=False, explicit_preferences_enabled=False)
        )
        async with opened(tmp_path, off, clock=clock) as engine:
            chat, recall = await tell_and_ask(engine, clock, "What is the violin teacher called?")
            assert recall is None
        sources = await load_prompt_sources(tmp_path, chat.id)
        assert sources.document == ""
        assert sources.recalled == {}

    asyncio.run(run())


def test_a_temporary_conversation_recalls_nothing(tmp_path):
    async def run():
        clock = Clock()
        async with opened(tmp_path, clock=clock) as engine:
            first = await engine.create_conversation()
            await say(engine, first.id, "My daughter's violin teacher is called Mrs Kowalczyk.")
            second = await engine.create_conversation()
            await engine.set_remember(second.id, False)
            user, _ = await say(engine, second.id, "What is the violin teacher called?")
            assert await engine.recall.load(user.turn) is None

    asyncio.run(run())


def test_a_block_leaves_the_prompt_with_the_next_commit(tmp_path):
    async def run():
        clock = Clock()
        async with opened(tmp_path, clock=clock) as engine:
            chat, recall = await tell_and_ask(engine, clock, "What is the violin teacher called?")
            await say(engine, chat.id, "We decided to use PostgreSQL 16 for the billing service.")
            before = (await load_prompt_sources(tmp_path, chat.id)).recalled
            assert before == {recall.turn: recall.block}
            clock.now += 60
            assert await engine.memory.commit(chat.id)
            assert (await load_prompt_sources(tmp_path, chat.id)).recalled == {}

    asyncio.run(run())


def test_preferences_that_fit_are_put_before_any_message_within_the_budget(tmp_path):
    async def find(_session_id: SessionId, text: str) -> tuple[RecalledItem, ...]:
        item = RecalledItem(
            kind="preference", ref="7", session_id=SessionId("x"), title="", at=0.0, text="Metric units", score=0.5
        )
        return (item,) if "bolt" in text else ()

    async def run():
        async with opened(tmp_path) as engine:
            engine.recall.use_preferences(find)
            chat = await engine.create_conversation()
            await say(engine, chat.id, "Hello there")
            user, _ = await say(engine, chat.id, "Which spanner fits this bolt?")
            recall = await engine.recall.load(user.turn)
            assert "Metric units" in recall.block
            assert [item.kind for item in recall.items] == ["preference"]

    asyncio.run(run())


def test_secrets_of_a_question_are_not_searched_for_and_hits_are_redacted(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "The boiler account: password=tulip-canary-77 and nothing else")
            hits = await engine.recall.search("boiler account")
            assert hits[0].role is Role.USER
            assert "canary" not in hits[0].text
            for text in ("tulip-canary-77", "password=tulip-canary-77"):
                assert not any("canary" in hit.text for hit in await engine.recall.search(text))

    asyncio.run(run())


def test_what_lacks_vectors_is_filled_in_the_background_and_then_found_by_meaning(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "We own a small boat. It is painted blue and white all over.")
        with_model = Settings()
        async with opened(tmp_path, with_model) as engine:
            engine.backroom.embedder.replace(ScriptedEmbedder())
            assert await engine.backroom.vector_fill.look()
            await engine.wait_idle()
            while await engine.backroom.vector_fill.look():  # the recap that came meanwhile
                await engine.wait_idle()
            hits = await engine.recall.search("sailing")
            assert [hit.meaning for hit in hits if "boat" in hit.text] == [True]
            missing = await read_store(tmp_path, lambda c: vectors.count_missing(c, vectors.get_searchable(c).id))
            assert missing == 0
            assert not await engine.backroom.vector_fill.look()

    asyncio.run(run())


def test_a_recap_of_another_conversation_is_recalled_by_meaning(tmp_path):
    async def run():
        clock = Clock()
        async with opened(tmp_path, Settings(), clock=clock) as engine:
            engine.backroom.embedder.replace(ScriptedEmbedder())
            first = await engine.create_conversation()
            await say(engine, first.id, "We own a small boat.")

            def recap(c):
                c.execute(
                    "UPDATE segments SET status = 'summarised', summary = 'They talked about their boat in Kiel.',"
                    " summary_source = 'model' WHERE session_id = ?",
                    (first.id,),
                )

            database = Database(DataFolder(tmp_path).database)
            await database.open()
            await database.write(recap)
            await database.aclose()
            await engine.backroom.vector_fill.look()
            await engine.wait_idle()
            clock.now += DAY_S
            second = await engine.create_conversation()
            user, _ = await say(engine, second.id, "Where could we go sailing?")
            recall = await engine.recall.load(user.turn)
            assert [item.kind for item in recall.items if item.used] == ["recap"]
            assert "boat in Kiel" in recall.block
            assert recall.items[0].cosine > 0.9

    asyncio.run(run())


def test_deleted_conversations_are_not_recalled(tmp_path):
    async def run():
        clock = Clock()
        async with opened(tmp_path, clock=clock) as engine:
            first = await engine.create_conversation()
            await say(engine, first.id, "My daughter's violin teacher is called Mrs Kowalczyk.")
            await engine.delete_conversation(first.id)
            second = await engine.create_conversation()
            user, _ = await say(engine, second.id, "What is the violin teacher called?")
            assert (await engine.recall.load(user.turn)).block == ""
            assert await engine.recall.search("Kowalczyk") == ()

    asyncio.run(run())
