"""Temporary conversations: what is said there is kept in the chat and nowhere else."""

import asyncio

from core.engine import DataFolder, Engine
from tests.core.jobs.talk import NO_VECTORS, count_remembered, read, read_twins


async def say(engine: Engine, session_id: str, text: str) -> None:
    """Send a message; with no model its reply fails, and the turn goes to the hook all the same."""
    ended = asyncio.Event()

    def watch(changes) -> None:
        if session_id in changes.messages and changes.status:
            ended.set()

    unsubscribe = engine.subscribe(watch)
    await engine.send(session_id, text)
    await asyncio.wait_for(ended.wait(), 20)
    unsubscribe()
    await engine.wait_idle()


def talk(folder, *steps):
    """Run (temporary?, text) steps in one conversation; returns its messages."""

    async def run():
        engine = Engine(DataFolder(folder), NO_VECTORS, resources=folder / "no model")
        await engine.open()
        try:
            chat = await engine.create_conversation()
            for temporary, text in steps:
                await engine.set_remember(chat.id, not temporary)
                await say(engine, chat.id, text)
            await engine.memory.commit(chat.id)
            return await engine.load_messages(chat.id)
        finally:
            await engine.aclose()

    return asyncio.run(run())


def test_nothing_of_a_temporary_conversation_is_remembered(tmp_path):
    messages = talk(tmp_path, (True, "My name is Ada and I live in Turin."), (True, "Remember that I hate celery."))
    assert messages[0].text == "My name is Ada and I live in Turin."  # the chat itself is kept
    assert set(asyncio.run(read(tmp_path, count_remembered)).values()) == {0}
    assert read_twins(tmp_path) == []
    for file in (tmp_path / "workspaces").rglob("*"):
        if file.is_file():
            assert b"Turin" not in file.read_bytes()
            assert b"celery" not in file.read_bytes()


def test_only_the_temporary_part_is_left_out(tmp_path):
    talk(tmp_path, (False, "We use PostgreSQL 16."), (True, "My name is Ada."), (False, "The report is due on Friday."))
    indexed = asyncio.run(
        read(tmp_path, lambda c: [text for (text,) in c.execute("SELECT content FROM episodic WHERE role = 'user'")])
    )
    assert indexed == ["We use PostgreSQL 16.", "The report is due on Friday."]
    assert not any("Ada" in twin for twin in read_twins(tmp_path))
