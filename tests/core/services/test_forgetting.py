"""Forgetting reaches every copy: a fact that was said and forgotten is in no prompt, memory, file or index."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from core.config import LearningSettings, ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.model import Section, SessionId
from core.storage import episodic

CANARY = "Zanzibar"
FACT = f"I live in {CANARY}."


def run(folder: Path, use: Callable[[Engine], Awaitable[None]]) -> None:
    async def main() -> None:
        settings = Settings(models=ModelSettings(embedding_enabled=False), learning=LearningSettings())
        engine = Engine(DataFolder(folder), settings, exclusive=False)
        await engine.open()
        try:
            async with asyncio.timeout(25):
                await use(engine)
        finally:
            await engine.aclose()

    asyncio.run(main())


async def say(engine: Engine, session: SessionId, *texts: str) -> None:
    """Say something without a model: each turn is taken, and no reply comes."""
    for text in texts:
        await engine.send(session, text)
        await asyncio.sleep(0)  # the reply has begun
        await engine.stop_reply(session)
        await engine.wait_idle()


async def chat_about_the_fact(engine: Engine) -> SessionId:
    """Return a conversation that holds the fact in memory, index, tree, file and profile."""
    session = (await engine.create_conversation()).id
    await say(engine, session, f"Remember that {FACT[:-1]}", "We decided to use PostgreSQL for the billing service.")
    await engine.memory.commit(session)
    await engine.backroom.worker.flush(before=time.time() + 1)
    await engine.wait_idle()
    return session


async def find_facet(engine: Engine) -> str:
    return next(facet.id for facet in (await engine.profile.load()).facets if CANARY in facet.text)


async def read_prompt(engine: Engine, session: SessionId) -> str:
    return repr(await engine.prompts.gather(session))


def list_holders(folder: Path) -> list[str]:
    """Return the files of the workspace that hold the word, but for archives and histories: they are the way back."""
    found = []
    for path in (folder / "workspaces").rglob("*"):
        old = "sessions" in path.parts or ".history" in path.parts
        if path.is_file() and not old and CANARY in path.read_text(encoding="utf-8", errors="replace"):
            found.append(path.name)
    return found


async def say_again(engine: Engine, session: SessionId) -> None:
    """Read the conversation anew for all that rests on it."""
    turns = sorted({message.turn for message in await engine.load_messages(session)})
    await engine.backroom.extractor.extract_archive(session, 1, turns)
    await engine.memory.commit(session)
    await engine.wait_idle()


def test_a_forgotten_fact_is_in_no_copy_and_undo_brings_it_back(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        first = await chat_about_the_fact(engine)
        second = (await engine.create_conversation()).id
        await say(engine, second, "Which city suits me for a weekend?")
        before = await engine.memory.load(first)
        assert CANARY in repr(before)
        assert CANARY in await read_prompt(engine, second)
        assert list_holders(tmp_path)
        preview = await engine.profile.preview_forget([await find_facet(engine)])
        assert {line.place for line in preview.lines if line.session_id is None} == {"MEMORY.md"}
        assert {line.session_id for line in preview.lines if line.session_id is not None} == {first}
        assert repr(await engine.memory.load(first)) == repr(before)  # only looked at

        await engine.profile.forget(preview.facet_ids)
        await engine.wait_idle()
        for session in (first, second):
            await say_again(engine, session)
            assert CANARY not in await read_prompt(engine, session)
            assert CANARY not in repr(await engine.memory.load(session))
        memory = await engine.memory.load(first)
        assert "PostgreSQL" in repr(memory)
        assert "You asked to forget" in [v.cause[:19] for v in await engine.memory.list_versions(first)]
        assert list_holders(tmp_path) == []
        assert CANARY not in repr(await engine.list_conversations())
        assert CANARY not in repr((await engine.profile.load()).facets)
        database = engine.profile._ground.database
        assert await database.read(lambda c: episodic.search(c, CANARY)) == ()

        await engine.profile.undo()
        await engine.wait_idle()
        assert CANARY in repr((await engine.memory.load(first)).sections)
        assert CANARY in await read_prompt(engine, second)
        assert {"MEMORY.md", "000000.md"} <= set(list_holders(tmp_path))
        assert await find_facet(engine)

    run(tmp_path, use)


def test_said_again_after_it_was_forgotten_it_stays_away_from_memory(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await chat_about_the_fact(engine)
        await engine.profile.forget([await find_facet(engine)])
        later = (await engine.create_conversation()).id
        await say(engine, later, FACT, "We decided to use Redis for the session cache.")
        await engine.memory.commit(later)
        await engine.wait_idle()
        memory = repr([p.lines for p in (await engine.memory.load(later)).sections])
        assert "Redis" in memory
        assert CANARY not in memory

    run(tmp_path, use)


def test_a_chinese_fact_leaves_memory_and_prompt_too(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        session = (await engine.create_conversation()).id
        await say(engine, session, "记住我住在桑给巴尔", "我们决定用PostgreSQL存账单。")
        await engine.memory.commit(session)
        await engine.wait_idle()
        assert "桑给巴尔" in repr(await engine.memory.load(session))
        facets = (await engine.profile.load()).facets
        await engine.profile.forget([facet.id for facet in facets if "桑给巴尔" in facet.text])
        await engine.wait_idle()
        assert "桑给巴尔" not in repr(await engine.memory.load(session))
        assert "桑给巴尔" not in await read_prompt(engine, session)

    run(tmp_path, use)


def test_a_locked_line_stays_and_the_preview_says_so(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        session = await chat_about_the_fact(engine)
        await engine.memory.add(session, Section.GOALS, FACT[:-1])
        await engine.memory.set_locked(session, Section.GOALS, FACT[:-1], True)
        preview = await engine.profile.preview_forget([await find_facet(engine)])
        assert [line.text for line in preview.lines if line.locked] == [FACT[:-1]]
        await engine.profile.forget(preview.facet_ids)
        await engine.wait_idle()
        sections = (await engine.memory.load(session)).sections
        assert [line.text for part in sections for line in part.lines if CANARY in line.text] == [FACT[:-1]]

    run(tmp_path, use)


def test_a_line_that_says_other_things_too_keeps_those(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        session = await chat_about_the_fact(engine)
        await engine.memory.add(session, Section.GOALS, f"My name is Ada and I live in {CANARY}")
        await engine.profile.forget([await find_facet(engine)])
        await engine.wait_idle()
        goals = next(p for p in (await engine.memory.load(session)).sections if p.section is Section.GOALS)
        assert [line.text for line in goals.lines] == ["My name is Ada"]

    run(tmp_path, use)


def test_goals_and_skills_that_say_it_are_listed_and_removed(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await chat_about_the_fact(engine)
        workspace = tmp_path / "workspaces" / "default"
        for name in ("SKILL.md", "MEMORY_GOALS.md"):
            mark = "[g1] " if "GOALS" in name else ""
            (workspace / name).write_text(
                f"# Own\n\n- {mark}{FACT}\n  which is far\n- {mark}Keep bees\n", encoding="utf-8"
            )
        preview = await engine.profile.preview_forget([await find_facet(engine)])
        assert {"SKILL.md", "MEMORY_GOALS.md", "MEMORY.md"} <= {line.place for line in preview.lines}
        await engine.profile.forget(preview.facet_ids)
        for name in ("SKILL.md", "MEMORY_GOALS.md"):
            text = (workspace / name).read_text(encoding="utf-8")
            assert "far" not in text
            assert "Keep bees" in text
        await engine.profile.undo()
        assert FACT in (workspace / "SKILL.md").read_text(encoding="utf-8")
        assert FACT in (workspace / "MEMORY_GOALS.md").read_text(encoding="utf-8")

    run(tmp_path, use)


def test_a_request_from_the_chat_lists_all_that_would_go(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        session = await chat_about_the_fact(engine)
        await say(engine, session, f"Forget about {CANARY}")
        asked = (await engine.profile.load()).to_forget
        assert asked is not None
        assert {line.session_id for line in asked.lines} == {None, session}

    run(tmp_path, use)
