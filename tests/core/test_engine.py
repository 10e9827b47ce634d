"""The engine without a model: what is said is durable, remembered, visible and undoable."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.config import ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.errors import DataFolderError, FolderInUseError, MessageError, NewerSchemaError
from core.model import LineState, MessageStatus, ModelPhase, Role, Section

NO_MODELS = Settings(models=ModelSettings(embedding_enabled=False))


@asynccontextmanager
async def opened(folder: Path, **options: object) -> AsyncIterator[Engine]:
    engine = Engine(DataFolder(folder), NO_MODELS, resources=folder / "nothing", **options)
    await engine.open()
    try:
        yield engine
    finally:
        await engine.aclose()


async def say(engine: Engine, session_id: str, text: str):
    """Send a message and wait until its reply (there is no model: a failed one) and its memory are done."""
    ended = asyncio.Event()
    end = engine.subscribe(lambda changes: ended.set() if changes.messages else None)
    user, reply = await engine.send(session_id, text)
    while True:
        ended.clear()
        if not any(c.replying for c in await engine.list_conversations()):
            break
        await asyncio.wait_for(ended.wait(), 10)
    end()
    await engine.wait_idle()
    return user, reply


def lines(memory, section):
    return [line.text for part in memory.sections if part.section is section for line in part.lines]


def test_a_message_survives_without_any_model(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "My name is Ada and I live in Turin.")
        async with opened(tmp_path) as engine:
            user, reply = await engine.load_messages(chat.id)
            assert (user.role, user.text) == (Role.USER, "My name is Ada and I live in Turin.")
            assert reply.status is MessageStatus.FAILED
            assert "No chat model" in (reply.error or "")

    asyncio.run(run())


def test_memory_changes_after_each_turn_and_a_commit_takes_it_in(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "We decided to use PostgreSQL 16 for the billing service.")
            before = await engine.memory.load(chat.id)
            pending = [line for part in before.sections for line in part.lines]
            assert any("PostgreSQL 16" in line.text for line in pending)
            assert {line.state for line in pending} == {LineState.PENDING}
            assert before.version == 0

            assert await engine.memory.commit(chat.id)
            after = await engine.memory.load(chat.id)
            assert after.version == 1
            assert any("PostgreSQL 16" in text for text in lines(after, Section.FACTS))
            assert all(line.state is LineState.ADDED for part in after.sections for line in part.lines)
            assert [part.section for part in after.sections] == list(Section)
            assert not await engine.memory.commit(chat.id)

    asyncio.run(run())


def test_lasting_statements_reach_memory_md_and_can_be_taken_back(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "I'm allergic to peanuts.")
            await engine.memory.commit(chat.id)
            memory = (await engine.files.load())[0]
            assert "allergic to peanuts" in memory.text
            assert memory.changes[0].turns
            await engine.files.undo(memory.changes[0].id)
            memory = (await engine.files.load())[0]
            assert "peanuts" not in memory.text
            assert memory.changes[1].undone

    asyncio.run(run())


def test_temporary_conversations_leave_no_trace_in_memory(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await engine.set_remember(chat.id, False)
            await say(engine, chat.id, "I'm allergic to canaryfruit.")
            await engine.memory.commit(chat.id)
            memory = await engine.memory.load(chat.id)
            assert not any(part.lines for part in memory.sections)
            assert await engine.segments.load(chat.id) == ()
        found = [p for p in tmp_path.rglob("*") if p.is_file() and "keepsake.db" not in p.name]
        assert not any(b"canaryfruit" in p.read_bytes() for p in found)

    asyncio.run(run())


def test_secrets_stay_in_the_transcript_only(tmp_path):
    secret = "hunter2-canary"

    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, f"The staging database has password: {secret} and runs on port 6432.")
            await engine.memory.commit(chat.id)
            messages = await engine.load_messages(chat.id)
            assert secret in messages[0].text
            shown = repr(await engine.memory.load(chat.id)) + repr(await engine.segments.load(chat.id))
            assert secret not in shown
        for path in tmp_path.rglob("*"):
            if path.is_file() and "keepsake.db" not in path.name:
                assert secret.encode() not in path.read_bytes(), path

    asyncio.run(run())


@pytest.mark.parametrize("text", ["", "   \n\t ", "\0\0"])
def test_blank_messages_are_refused_in_words(tmp_path, text):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            with pytest.raises(MessageError, match="nothing to send"):
                await engine.send(chat.id, text)
            assert await engine.load_messages(chat.id) == ()

    asyncio.run(run())


@pytest.mark.parametrize("text", ["a\0b \ud800 c", "x" * 1_000_000, "雪" * 300_000], ids=["odd", "1 MB", "1 MB zh"])
def test_odd_and_huge_messages_are_kept(tmp_path, text):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, text)
            (user, _) = await engine.load_messages(chat.id)
            assert user.text == text.replace("\0", "").replace("\ud800", "\N{REPLACEMENT CHARACTER}")

    asyncio.run(run())


def test_a_second_app_on_the_same_folder_is_told_who_has_it(tmp_path):
    async def run():
        async with opened(tmp_path):
            other = Engine(DataFolder(tmp_path), NO_MODELS)
            with pytest.raises(FolderInUseError) as caught:
                await other.open()
            assert caught.value.pid is not None
            await other.aclose()

    asyncio.run(run())


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("in the way")

    async def run():
        engine = Engine(DataFolder(blocker / "data"), NO_MODELS)
        with pytest.raises(DataFolderError, match="cannot write"):
            await engine.open()
        await engine.aclose()

    asyncio.run(run())


def test_a_newer_store_is_refused_and_left_alone(tmp_path):
    async def run():
        async with opened(tmp_path):
            pass
        import apsw

        connection = apsw.Connection(str(tmp_path / "keepsake.db"))
        connection.execute("PRAGMA user_version=99")
        connection.close()
        engine = Engine(DataFolder(tmp_path), NO_MODELS)
        with pytest.raises(NewerSchemaError, match="99"):
            await engine.open()
        await engine.aclose()

    asyncio.run(run())


def test_deleting_a_conversation_can_be_undone(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "Tell me about the harbour of Genoa.")
            await engine.delete_conversation(chat.id)
            assert chat.id not in [c.id for c in await engine.list_conversations()]
            await engine.restore_conversation(chat.id)
            assert chat.id in [c.id for c in await engine.list_conversations()]
            assert len(await engine.load_messages(chat.id)) == 2

    asyncio.run(run())


def test_what_another_process_writes_is_noticed(tmp_path):
    async def run():
        async with opened(tmp_path) as engine, opened(tmp_path, exclusive=False) as job:
            seen = asyncio.Event()
            engine.subscribe(lambda changes: seen.set() if changes.everything else None)
            await job.create_conversation()
            await asyncio.wait_for(seen.wait(), 10)

    asyncio.run(run())


BROKEN = {"empty": b"", "not a model": b"<html>404</html>" * 100, "cut short": b"GGUF" + (3).to_bytes(4, "little")}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_model_is_said_in_the_reply_and_the_message_is_kept(tmp_path, root, content):
    resources = tmp_path / "resources"
    (resources / "models").mkdir(parents=True)
    (resources / "models.txt").write_text((root / "models.txt").read_text())
    (resources / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(content)

    async def run():
        engine = Engine(DataFolder(tmp_path / "data"), NO_MODELS, resources=resources)
        await engine.open()
        engine.start_model()
        chat = await engine.create_conversation()
        await say(engine, chat.id, "Hello?")
        user, reply = await engine.load_messages(chat.id)
        assert user.text == "Hello?"
        assert reply.status is MessageStatus.FAILED
        assert "SmolLM2" in (reply.error or "")
        assert engine.model_status.phase is ModelPhase.FAILED
        await engine.aclose()

    asyncio.run(run())


def test_twins_that_cannot_be_written_are_said_and_made_up_later(tmp_path):
    blocker = tmp_path / "workspaces" / "default" / "memory_tree"
    blocker.parent.mkdir(parents=True)
    blocker.write_text("in the way")
    now = [1_700_000_000.0]

    async def run():
        async with opened(tmp_path, clock=lambda: now[0]) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "We decided to meet in Turin.")
            assert any("could not be written" in problem for problem in engine.status.problems)
            memory = await engine.memory.load(chat.id)
            assert any(line.text for part in memory.sections for line in part.lines), "the rest of the turn is done"
            blocker.unlink()
            now[0] += 3600
            await engine.wait_idle()
            assert engine.status.problems == ()
            assert [p.read_text() for p in blocker.rglob("*.md") if "We decided to meet in Turin." in p.read_text()]

    asyncio.run(run())


def test_a_job_that_failed_for_good_is_tried_again_at_the_next_start(tmp_path):
    target = tmp_path / "workspaces" / "default" / "MEMORY.md"
    target.parent.mkdir(parents=True)
    target.symlink_to(tmp_path / "elsewhere.md")
    now = [1_700_000_000.0]

    async def run():
        async with opened(tmp_path, clock=lambda: now[0]) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "I'm allergic to peanuts.")
            for _ in range(5):
                await engine.memory.commit(chat.id)
                await engine.wait_idle()
                now[0] += 86_400
            assert engine.status.problems, "a refused write is said"
            assert not (tmp_path / "elsewhere.md").exists()
        target.unlink()
        async with opened(tmp_path, clock=lambda: now[0]) as engine:
            await engine.wait_idle()
            memory = (await engine.files.load())[0]
            assert "allergic to peanuts" in memory.text

    asyncio.run(run())


def test_waiting_in_a_process_without_the_loop_does_the_work(tmp_path):
    async def run():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
        async with opened(tmp_path, exclusive=False) as engine:
            await engine.send(chat.id, "My name is Ada and I live in Turin.")
            while (await engine.load_messages(chat.id))[-1].status is MessageStatus.WAITING:
                await asyncio.sleep(0)
            await asyncio.wait_for(engine.wait_idle(), 20)
            memory = await engine.memory.load(chat.id)
            assert any("Ada" in line for line in lines(memory, Section.FACTS))

    asyncio.run(run())
