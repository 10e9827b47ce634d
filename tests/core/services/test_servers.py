"""A server of another program that is looked at, taken and left, with real HTTP by script."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path

import pytest

from core.config import Settings, load_settings
from core.engine import Engine
from core.errors import ModelError, SettingsError
from core.model import MessageStatus, ModelPhase
from core.paths import DataFolder
from tests.core.llm.test_openai_server import begin, scripted, send


def run(work: Awaitable[None]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work, 60)

    asyncio.run(limited())


async def says_hello(writer: asyncio.StreamWriter, body: str) -> None:
    assert json.loads(body)["model"] == "qwen"
    await begin(writer)
    await send(writer, "Hello from ")
    await send(writer, "elsewhere.", "stop")


def test_a_taken_server_answers_the_next_message_and_stays_taken(tmp_path: Path) -> None:
    async def check() -> None:
        folder = DataFolder(tmp_path / "data")
        async with scripted(says_hello) as address:
            engine = Engine(folder, Settings().without_embeddings())
            await engine.open()
            try:
                assert engine.servers.served is None
                assert await engine.servers.list_models(address) == ("llama", "qwen")
                await engine.servers.use(address, "qwen")
                conversation = await engine.create_conversation()
                await engine.send(conversation.id, "Hello?")
                for _ in range(400):
                    reply = (await engine.load_messages(conversation.id))[-1]
                    if reply.status is not MessageStatus.WAITING and reply.status is not MessageStatus.STREAMING:
                        break
                    await asyncio.sleep(0.02)
                assert reply.text == "Hello from elsewhere."
                assert engine.model_status.name == "qwen"
                assert engine.model_status.context_used_tokens > 0
            finally:
                await engine.aclose()
        settings = load_settings(folder.settings, {}).models
        assert (settings.server_address, settings.server_model) == (address, "qwen")

    run(check())


def test_another_computer_is_asked_nothing_before_it_is_allowed(tmp_path: Path) -> None:
    async def check() -> None:
        engine = Engine(DataFolder(tmp_path / "data"), Settings().without_embeddings())
        await engine.open()
        try:
            assert engine.servers.names_other_computer("http://models.example.org:1/v1") == "models.example.org"
            assert engine.servers.names_other_computer("127.0.0.1:11434") == ""
            for wanted in (engine.servers.list_models("http://models.example.org:1"),
                           engine.servers.use("http://models.example.org:1", "m")):  # fmt: skip
                with pytest.raises(SettingsError, match=r"models\.example\.org is not this computer"):
                    await wanted
            assert engine.servers.served is None
        finally:
            await engine.aclose()

    run(check())


def test_a_server_that_lacks_the_model_is_not_taken(tmp_path: Path) -> None:
    async def check() -> None:
        engine = Engine(DataFolder(tmp_path / "data"), Settings().without_embeddings())
        await engine.open()
        try:
            async with scripted(says_hello) as address:
                with pytest.raises(ModelError, match="does not have the model"):
                    await engine.servers.use(address, "mistral")
            assert engine.servers.served is None
        finally:
            await engine.aclose()

    run(check())


def test_a_server_that_is_gone_is_said_and_asked_again_with_the_next_question(tmp_path: Path) -> None:
    async def check() -> None:
        engine = Engine(DataFolder(tmp_path / "data"), Settings().without_embeddings())
        await engine.open()
        try:
            async with scripted(says_hello) as address:
                await engine.servers.use(address, "qwen")
            engine.start_model()
            for _ in range(200):
                if engine.model_status.phase is ModelPhase.FAILED:
                    break
                await asyncio.sleep(0.02)
            assert "Nothing answers at" in engine.model_status.detail
            await engine.servers.stop_using()
            assert engine.servers.served is None
        finally:
            await engine.aclose()

    run(check())
