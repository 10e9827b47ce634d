"""Off means off: with everything switched off the prompt is, byte for byte, that of a program without memory."""

import asyncio
from dataclasses import fields, replace

from core.config import LearningSettings, Settings
from core.engine import Engine
from core.model import SaidTurn, Section, SessionId
from core.paths import DataFolder
from core.sessions.context import build_prompt
from core.sessions.transcript import begin_turn, record_turn
from core.storage import conversations
from tests.core.jobs.talk import NO_VECTORS, SAID, run_replay, write_transcript

CHAT = SessionId("chat")
OFF = LearningSettings(**{each.name: False for each in fields(LearningSettings) if each.name.endswith("enabled")})
ALL_OFF = replace(NO_VECTORS, learning=OFF)


def ask(folder, settings: Settings, *, remember: bool) -> list[tuple[str, str]]:
    """Talk in a conversation, then return the messages that its next prompt holds."""

    async def run():
        engine = Engine(DataFolder(folder), settings, resources=folder / "no model")
        await engine.open()
        try:

            def talk(c):
                conversations.ensure(c, CHAT, at=1_700_000_000.0)
                for n, (user, reply) in enumerate(SAID * 2):
                    at = 1_700_000_000.0 + n * 60
                    said = SaidTurn(source_key=f"own{n}", user_text=user, user_at=at, reply_text=reply, reply_at=at + 5)
                    record_turn(c, CHAT, said)

            await engine._database.write(talk)
            await engine.wait_idle()
            if remember:
                await engine.memory.add(CHAT, Section.FACTS, "The harbour has 12 berths.")
                await engine.memory.commit(CHAT)
                await engine.wait_idle()
            await engine._database.write(lambda c: begin_turn(c, CHAT, "Where do I live?", at=1_800_000_000.0))
            await engine.recall.prepare(CHAT)
            sources = await engine.prompts.gather(CHAT)
            return [(m.role, m.text) for m in build_prompt(sources, 4096).messages]
        finally:
            await engine.aclose()

    return asyncio.run(run())


def test_with_everything_off_the_prompt_is_that_of_a_program_without_memory(tmp_path):
    for name in ("known", "known, on"):
        run_replay(tmp_path / name, write_transcript(tmp_path / f"{name}.jsonl", turns=24))
    without = ask(tmp_path / "fresh", ALL_OFF, remember=False)
    assert ask(tmp_path / "known", ALL_OFF, remember=True) == without
    assert ask(tmp_path / "known, on", NO_VECTORS, remember=True) != without, "what is switched off makes a difference"
    assert [role for role, _ in without].count("system") == 1
    assert "Turin" not in without[0][1]


def test_with_capture_off_nothing_is_indexed_or_remembered(tmp_path):
    ask(tmp_path / "data", ALL_OFF, remember=False)

    async def count():
        engine = Engine(DataFolder(tmp_path / "data"), ALL_OFF, exclusive=False)
        await engine.open()
        try:
            read = engine._database.read
            tables = ("episodic", "segments", "events", "facets", "tree_chunks", "outbox", "recalls")
            return {
                table: await read(lambda c, t=table: c.execute(f"SELECT count(*) FROM {t}").fetchone()[0])
                for table in tables
            }
        finally:
            await engine.aclose()

    assert set(asyncio.run(count()).values()) == {0}
