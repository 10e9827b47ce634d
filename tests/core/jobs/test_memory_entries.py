"""MEMORY.md fills with what lasts, in the user's language, each thing once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.config import LearningSettings
from core.jobs.memory_entries import MemoryKeeper, Said
from core.storage.database import Database


@pytest.fixture
def remember(tmp_path):
    """Let a workspace hear messages, one job each; returns MEMORY.md after them."""

    def hear(*texts, beforehand=""):
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        if beforehand:
            (workspace / "MEMORY.md").write_text(beforehand, encoding="utf-8")

        async def run():
            database = Database(tmp_path / "store.db")
            await database.open()
            with ThreadPoolExecutor(1) as files:
                keeper = MemoryKeeper(
                    database, workspace=workspace, learning=LearningSettings(), files=files, actor="test"
                )
                for turn, text in enumerate(texts, 1):
                    await keeper.add([Said(turn=turn, text=text, at=60.0 * turn)], at=60.0 * turn)
            await database.aclose()

        asyncio.run(run())
        path = workspace / "MEMORY.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    return hear


def test_entries_stand_under_a_heading_in_their_language(remember):
    text = remember("I'm allergic to walnuts.", "我对花生过敏。")
    assert "## About you\n" in text
    assert "- fact: I'm allergic to walnuts" in text
    assert "## 关于你\n" in text
    assert "- fact: 我对花生过敏" in text


def test_an_explicit_wish_to_remember_is_written(remember):
    assert "- preference: I prefer short answers" in remember("Remember that I prefer short answers.")


def test_the_same_thing_in_other_words_is_written_once(remember):
    text = remember("I like rock music.", "As I said, I really like rock music.", "I also like rock music!")
    assert text.count("rock music") == 1


def test_what_the_user_wrote_into_the_file_is_not_repeated(remember):
    text = remember("I like rock music.", beforehand="# Me\n\n- I like rock music\n")
    assert text == "# Me\n\n- I like rock music\n"


def test_secrets_stay_out(remember):
    assert remember("Remember that my door code is [REDACTED:password].") == ""
