"""Preferences in prompts: which always stand there, which only with the message they fit, and when none may."""

import asyncio
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

from core.config import LearningSettings, Settings
from core.engine import DataFolder, Engine
from core.model import FacetOrigin, SessionId
from core.profile.preferences import GENERAL, part_facets
from core.storage.facets import FacetRow
from tests.core.test_engine import say


class ScriptedEmbedder:
    """Stands in for a model: a text's vector points where its first known word says."""

    dimension = 8
    signature = "scripted"
    places: ClassVar = {"letter": 0, "landlord": 0, "code": 3, "python": 3}

    def embed_passages(self, texts: Sequence[str], /) -> list[bytes | None]:
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str, /) -> bytes | None:
        return self._embed(text)

    def _embed(self, text: str) -> bytes:
        numbers = [0.0] * 7 + [0.2]
        for word, place in self.places.items():
            if word in text.lower():
                numbers[place] = 1.0
        return array("f", numbers).tobytes()


@asynccontextmanager
async def opened(folder: Path, **learning: bool) -> AsyncIterator[Engine]:
    settings = Settings(learning=LearningSettings(stm_recall_enabled=False, **learning))
    engine = Engine(DataFolder(folder), settings, resources=folder / "nothing")
    await engine.open()
    engine.backroom.embedder.replace(ScriptedEmbedder())
    try:
        yield engine
    finally:
        await engine.aclose()


def facet(number: int, value: str, *, context: str = "", origin: str = "explicit", pinned: bool = False) -> FacetRow:
    return FacetRow(
        id=f"fc-{number:03}",
        subject="user",
        attribute="taste",
        object=value,
        context=context,
        kind="preference",
        facet_class="style",
        value=value,
        compared=value,
        negative=False,
        confidence=0.9,
        origin=origin,
        pinned=pinned,
        since=float(number),
        last_at=float(number),
        ended_at=None,
    )


def test_pinned_first_then_the_newest_ten_and_the_others_wait_for_their_occasion():
    rows = [facet(n, f"wish {n}") for n in range(14)]
    rows += [facet(50, "formal in letters", context="letter"), facet(60, "no emojis", origin="user", pinned=True)]
    standing = part_facets(rows, now=100.0, explicit=True, inferred=True)
    assert standing.preferences == ("no emojis", *(f"wish {n}" for n in range(14 - GENERAL, 14)))
    assert {row.value for row in standing.situational} == {"formal in letters", *(f"wish {n}" for n in range(4))}
    assert standing.profile == ()


def test_without_a_way_to_compare_them_all_stand_in_every_prompt():
    rows = [facet(1, "formal in letters", context="letter"), facet(2, "brief")]
    standing = part_facets(rows, now=100.0, explicit=True, inferred=True, per_turn=False)
    assert standing.preferences == ("formal in letters", "brief")
    assert standing.situational == ()


def test_switched_off_what_was_asked_to_be_remembered_stands_nowhere():
    rows = [facet(1, "formal in letters", context="letter"), facet(2, "brief")]
    standing = part_facets(rows, now=100.0, explicit=False, inferred=True)
    assert (standing.preferences, standing.profile, standing.situational) == ((), (), ())


async def teach(engine: Engine) -> None:
    chat = await engine.create_conversation()
    await say(engine, chat.id, "Remember that for letters I prefer a formal tone.")
    await say(engine, chat.id, "Remember that I like short answers.")


def test_a_situational_preference_stands_before_the_message_it_fits_and_once(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            await teach(engine)
            kept = (await engine.profile.load()).facets
            assert {f.origin for f in kept} == {FacetOrigin.EXPLICIT}
            chat = await engine.create_conversation()
            other, _ = await say(engine, chat.id, "What is the capital of Australia?")
            fitting, _ = await say(engine, chat.id, "Write to my landlord about the heating.")
            again, _ = await say(engine, chat.id, "Now a second letter to him, please.")
            assert await engine.recall.load(other.turn) is None
            recall = await engine.recall.load(fitting.turn)
            assert [item.kind for item in recall.items] == ["preference"]
            assert recall.items[0].cosine > 0.9
            assert "formal tone" in recall.block
            assert await engine.recall.load(again.turn) is None
            sources = await engine.prompts.gather(chat.id)
            assert any("short answers" in line for line in sources.known.preferences)
            assert not any("formal" in line for line in sources.known.preferences)

    asyncio.run(run())


def test_neither_a_temporary_conversation_nor_one_without_the_setting_gets_any(tmp_path):
    async def find_in(engine: Engine, session_id: SessionId):
        user, _ = await say(engine, session_id, "Write a letter to my landlord.")
        sources = await engine.prompts.gather(session_id)
        return await engine.recall.load(user.turn), sources.known.preferences

    async def run():
        async with opened(tmp_path) as engine:
            await teach(engine)
            chat = await engine.create_conversation()
            await engine.set_remember(chat.id, False)
            assert await find_in(engine, chat.id) == (None, ())
        async with opened(tmp_path, explicit_preferences_enabled=False) as engine:
            chat = await engine.create_conversation()
            assert await find_in(engine, chat.id) == (None, ())

    asyncio.run(run())
