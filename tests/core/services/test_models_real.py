"""Models with the real one: switched while the program runs, refused before a load that must fail, examined."""

import asyncio
import os

import pytest

from core.config import ModelSettings, Settings
from core.engine import Engine
from core.errors import ModelFileError
from core.model import ModelPhase
from core.model_files import ConversationSettings, ImportWay, ModelRole, Sampling

pytestmark = [pytest.mark.model, pytest.mark.slow]

SETTINGS = Settings(models=ModelSettings(context_tokens=1024, embedding_enabled=False, memory_update="off"))
SHORT = ConversationSettings(sampling=Sampling(temperature=0, max_tokens=8))


@pytest.fixture
def use(data_folder):
    def run(work):
        async def main():
            engine = Engine(data_folder, SETTINGS)
            try:
                await engine.open()
                await asyncio.wait_for(work(engine), 100)
            finally:
                await engine.aclose()

        asyncio.run(main())

    return run


async def wait_for(condition):
    while not await condition():
        await asyncio.sleep(0.05)


async def say(engine, session, text):
    """Send a message; return the finished reply."""
    _, reply = await engine.send(session, text)

    async def find():
        return next(m for m in await engine.load_messages(session) if m.id == reply.id)

    async def ended():
        return (await find()).status.value not in {"waiting", "streaming"}

    await wait_for(ended)
    return await find()


def test_the_next_message_is_answered_by_the_model_that_was_chosen_meanwhile(use, chat_model, tmp_path):
    other = tmp_path / "Other.gguf"
    other.symlink_to(chat_model)

    async def work(engine):
        session = (await engine.create_conversation()).id
        await engine.asking.save(session, SHORT)
        engine.start_model()
        first = await say(engine, session, "Say hello.")
        card = await engine.models.import_file(other, ImportWay.COPY)
        old_pid = engine._model._host.pid
        await engine.models.choose(ModelRole.CHAT, card.id)
        second = await say(engine, session, "And goodbye.")
        assert first.text.strip()
        assert second.text.strip()
        assert engine.model_status.phase is ModelPhase.READY
        assert engine._model.loaded.path == card.path
        assert not _runs(old_pid)
        assert len(await engine.load_messages(session)) == 4
        (used,) = [each for each in await engine.models.list_models() if each.id == card.id]
        assert used.roles == (ModelRole.CHAT, ModelRole.MEMORY)
        assert used.tokens_per_s > 0

    use(work)


def test_a_load_that_must_fail_is_not_begun_and_the_numbers_are_said(use, chat_model, monkeypatch):
    monkeypatch.setattr("core.catalogue.loading.read_free_bytes", lambda: 150 << 20)

    async def work(engine):
        session = (await engine.create_conversation()).id
        reply = await say(engine, session, "Hello.")
        assert "150 MB are free" in engine.model_status.detail
        assert engine.model_status.phase is ModelPhase.FAILED
        assert reply.text == ""
        engine.models._free_bytes = lambda: 150 << 20
        with pytest.raises(ModelFileError, match="150 MB are free"):
            await engine.models.choose(ModelRole.MEMORY, chat_model.name)

    use(work)


def test_an_exam_of_another_model_can_be_stopped_and_leaves_no_process(use, chat_model, tmp_path):
    (tmp_path / "Other.gguf").symlink_to(chat_model)

    async def work(engine):
        card = await engine.models.import_file(tmp_path / "Other.gguf", ImportWay.COPY)
        stop, steps = asyncio.Event(), []

        def hear(step):
            steps.append(step)
            stop.set()

        assert await engine.models.examine(card.id, progress=hear, stop=stop) is None
        assert steps

    use(work)


def _runs(pid):
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, TypeError):
        return False
    return True
