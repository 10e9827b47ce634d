"""The user's hand in the memory files: one entry out or reworded, a whole text saved, and back."""

import asyncio
import os

import pytest

from core.config import ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.errors import CoreError, MemoryFileError, NotFoundError
from core.memory_files.writer import Cause
from core.model import FileEntry

AT = 1_800_000_000.0


def run(folder, story):
    async def play():
        engine = Engine(
            DataFolder(folder),
            Settings(models=ModelSettings(embedding_enabled=False)),
            exclusive=False,
            clock=lambda: AT,
        )
        await engine.open()
        try:
            await story(engine, DataFolder(folder).workspace() / "MEMORY.md")
        finally:
            await engine.aclose()

    asyncio.run(play())


async def add(engine, *entries):
    for entry in entries:
        cause = Cause(at=AT, actor="Keepsake", cause="test")
        await engine.backroom.keeper.use(lambda w, e=entry, c=cause: w.append("MEMORY.md", e, c, section="About you"))


async def entries(engine) -> tuple[FileEntry, ...]:
    return (await engine.files.load())[0].entries


def test_an_entry_is_taken_out_and_comes_back_by_undo(tmp_path):
    async def story(engine, path):
        await add(engine, "- fact: one", "- fact: two")
        before = path.read_text()
        done = await engine.files.remove_entry("MEMORY.md", (await entries(engine))[0])
        assert path.read_text() == "## About you\n- fact: two\n"
        await engine.files.undo(done.change_id)
        assert path.read_text() == before
        assert [c.actor for c in (await engine.files.load())[0].changes][:2] == ["you", "you"]

    run(tmp_path, story)


def test_an_entry_is_reworded_in_place_and_is_the_users_then(tmp_path):
    async def story(engine, path):
        await add(engine, "- fact: one", "- fact: two")
        await engine.files.change_entry("MEMORY.md", (await entries(engine))[0], "fact: one and a half")
        assert path.read_text() == "## About you\n- fact: one and a half\n- fact: two\n"
        assert [entry.by_user for entry in await entries(engine)] == [True, False]

    run(tmp_path, story)


def test_an_entry_that_changed_meanwhile_is_left_alone(tmp_path):
    async def story(engine, path):
        await add(engine, "- fact: one")
        (entry,) = await entries(engine)
        path.write_text("- fact: another\n")
        with pytest.raises(NotFoundError, match="changed meanwhile"):
            await engine.files.remove_entry("MEMORY.md", entry)
        assert path.read_text() == "- fact: another\n"

    run(tmp_path, story)


@pytest.mark.parametrize("words", ["", "  ", "two\nlines", "x" * 1_001])
def test_what_is_no_entry_is_refused(tmp_path, words):
    async def story(engine, path):
        await add(engine, "- fact: one")
        with pytest.raises(MemoryFileError, match="Nothing was changed"):
            await engine.files.change_entry("MEMORY.md", (await entries(engine))[0], words)
        assert "- fact: one\n" in path.read_text()

    run(tmp_path, story)


def test_a_secret_that_the_user_types_is_masked_and_said(tmp_path):
    async def story(engine, path):
        await add(engine, "- fact: one")
        done = await engine.files.change_entry("MEMORY.md", (await entries(engine))[0], "pwd=tulip-demo-4")
        assert "tulip" not in path.read_text()
        assert "masked" in done.note

    run(tmp_path, story)


def test_a_whole_text_is_saved_over_what_came_in_meanwhile(tmp_path):
    async def story(engine, path):
        await add(engine, "- fact: one")
        base = path.read_text()
        await add(engine, "- fact: two")
        await engine.files.save("MEMORY.md", base + "my own line\n", base)
        assert {"- fact: one", "- fact: two", "my own line"} <= set(path.read_text().splitlines())

    run(tmp_path, story)


def test_lines_that_go_on_with_an_entry_go_with_it(tmp_path):
    async def story(engine, path):
        path.write_text("- one\n  and more of it\n- two\n")
        await engine.files.remove_entry("MEMORY.md", (await entries(engine))[0])
        assert path.read_text() == "- two\n"

    run(tmp_path, story)


@pytest.mark.skipif(os.name != "posix", reason="hard links as POSIX has them")
def test_a_second_name_of_the_file_is_said(tmp_path):
    async def story(engine, path):
        await add(engine, "- fact: one")
        os.link(path, path.with_name("copy.md"))
        assert "second name" in (await engine.files.load())[0].warning

    run(tmp_path, story)


def test_a_link_in_the_files_place_is_said_and_nothing_is_done(tmp_path):
    async def story(engine, path):
        other = tmp_path / "other.md"
        other.write_text("- mine\n")
        path.symlink_to(other)
        assert "symbolic link" in (await engine.files.load())[0].problem
        with pytest.raises(CoreError):
            await engine.files.save("MEMORY.md", "x\n", "")
        assert other.read_text() == "- mine\n"

    run(tmp_path, story)
