"""What goes into the next prompt and what is kept of the one that was sent: redacted, bounded, forgotten when asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.archivist.recap_writer import RecapModel
from core.config import LearningSettings, ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.model import Conversation, MessageStatus, PartKind, Role, SentPrompt
from core.sessions.context import Prompt, build_prompt
from core.storage import prompts, turns
from core.storage.prompts import KEPT
from tests.core.scripted_chat import ScriptedModel
from tests.core.test_engine import say

MODELS = ModelSettings(embedding_enabled=False, context_tokens=2_048)
OFF = LearningSettings(
    episodic_capture_enabled=False,
    chat_to_tree_enabled=False,
    goals_enrichment_enabled=False,
    stm_recall_enabled=False,
    explicit_preferences_enabled=False,
    recap_enabled=False,
    events_enabled=False,
    librarian_enabled=False,
)


@asynccontextmanager
async def opened(folder: Path, learning: LearningSettings | None = None, **options: object) -> AsyncIterator[Engine]:
    settings = Settings(models=MODELS, learning=learning or LearningSettings())
    engine = Engine(DataFolder(folder), settings, resources=folder / "nothing", **options)
    await engine.open()
    try:
        yield engine
    finally:
        await engine.aclose()


async def put_turns(engine: Engine, chat: Conversation, *pairs: tuple[str, str]) -> None:
    """Store finished turns as the chat does."""

    def write(c):
        for question, answer in pairs:
            turn = turns.add_turn(c, chat.id)
            for role, text in ((Role.USER, question), (Role.ASSISTANT, answer)):
                if text:
                    turns.add_message(
                        c, chat.id, turn, role, text, status=MessageStatus.COMPLETE, at=1.0, tokens=len(text) // 4
                    )

    await engine._database.write(write)


async def send(engine: Engine, chat: Conversation) -> Prompt:
    """Build the next prompt and keep it, as a reply does."""
    prompt = build_prompt(await engine.prompts.gather(chat.id), MODELS.context_tokens)
    await engine.prompts.keep(chat.id, prompt, "scripted")
    while engine.prompts._tasks:
        await asyncio.gather(*engine.prompts._tasks)
    return prompt


def find(sent: SentPrompt, kind: PartKind):
    return next(part for part in sent.parts if part.kind is kind)


def run(work) -> None:
    asyncio.run(work())


def test_a_record_holds_parts_cost_and_neighbours_and_shows_messages_from_the_transcript(tmp_path):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            assert await engine.prompts.load(chat.id) is None
            await put_turns(engine, chat, ("Where do I sail?", ""))
            first = await send(engine, chat)
            await put_turns(engine, chat, ("And when?", ""))
            second = await send(engine, chat)
            await engine._database.write(
                lambda c: prompts.set_cost(c, chat.id, second.turn, prompt_tokens=90, reused_tokens=81)
            )
            sent = await engine.prompts.load(chat.id)
            assert (sent.turn, sent.older, sent.newer, sent.place, sent.count) == (second.turn, first.turn, None, 2, 2)
            assert (sent.model, sent.prompt_tokens, sent.reused_tokens) == ("scripted", 90, 81)
            assert (sent.context_tokens, sent.reserve_tokens) == (2_048, 512)
            assert find(sent, PartKind.QUESTION).text == "And when?"
            assert find(sent, PartKind.HISTORY).text == "User: Where do I sail?"
            assert find(sent, PartKind.SYSTEM).text == second.messages[0].text
            assert (await engine.prompts.load(chat.id, first.turn)).newer == second.turn

    run(story)


def test_a_cost_that_comes_before_its_record_is_kept(tmp_path):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await put_turns(engine, chat, ("Hello", ""))
            prompt = build_prompt(await engine.prompts.gather(chat.id), 2_048)
            await engine._database.write(
                lambda c: prompts.set_cost(c, chat.id, prompt.turn, prompt_tokens=9, reused_tokens=0)
            )
            assert await engine.prompts.load(chat.id) is None
            await send(engine, chat)
            assert (await engine.prompts.load(chat.id)).prompt_tokens == 9

    run(story)


def test_secrets_are_in_no_record_and_only_the_newest_records_stay(tmp_path):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await engine.prompts.set_instructions(chat.id, "The door password is: tulip-canary-77")
            for number in range(KEPT + 3):
                await put_turns(engine, chat, (f"Question {number}, password=rose-canary-88", "Yes"))
                prompt = await send(engine, chat)
            assert "[REDACTED:" in prompt.messages[0].text
            sent = await engine.prompts.load(chat.id)
            assert sent.count == KEPT
            assert "[REDACTED:" in find(sent, PartKind.INSTRUCTIONS).text

            def dump(c):
                rows = [*c.execute("SELECT * FROM prompt_texts"), *c.execute("SELECT * FROM prompt_parts")]
                texts = c.execute("SELECT count(*) FROM prompt_texts").fetchone()[0]
                return str(rows), texts

            rows, texts = await engine._database.read(dump)
            assert "canary" not in rows
            assert texts <= 3  # the same words are kept once

    run(story)


def test_what_is_forgotten_leaves_every_record(tmp_path):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "Remember that I like juggling knives.")
            chat = await engine.create_conversation()
            await put_turns(engine, chat, ("Hello", ""))
            prompt = await send(engine, chat)
            assert "juggling" in prompt.messages[0].text
            (facet,) = (await engine.profile.load()).facets
            await engine.profile.forget((facet.id,))
            assert await engine.prompts.load(chat.id) is None
            assert "juggling" not in (await send(engine, chat)).messages[0].text

    run(story)


def test_the_conversations_own_instructions_stand_in_its_prompts_alone(tmp_path):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "Hello")
            await engine.prompts.set_instructions(chat.id, "  Talk like a sailor.\0 ")
            assert await engine.prompts.load_instructions(chat.id) == "Talk like a sailor."
            assert "Talk like a sailor." in (await send(engine, chat)).messages[0].text
            other = await engine.create_conversation()
            assert "sailor" not in (await send(engine, other)).messages[0].text
            await engine.prompts.set_instructions(chat.id, "  ")
            assert "sailor" not in (await send(engine, chat)).messages[0].text

    run(story)


def test_history_is_cut_once_and_begins_there_until_memory_is_committed(tmp_path):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "We decided to use PostgreSQL 16 for the billing service.")
            await put_turns(engine, chat, *((f"Question {n} " + "word " * 60, "answer " * 60) for n in range(12)))
            await put_turns(engine, chat, ("The newest?", ""))
            await send(engine, chat)
            cut = await send(engine, chat)  # with the recap that was made meanwhile
            assert cut.left_out
            await put_turns(engine, chat, ("One more?", ""))
            grown = await send(engine, chat)
            assert grown.start == cut.start
            assert grown.messages[: len(cut.messages) - 1] == cut.messages[:-1]
            assert await engine.memory.commit(chat.id)
            assert (await send(engine, chat)).start != cut.start

    run(story)


def test_with_everything_off_the_prompt_is_that_of_a_program_without_memory(tmp_path):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await say(engine, chat.id, "Remember that I like tea. We decided to use PostgreSQL 16.")
            for number in range(12):
                await put_turns(engine, chat, (f"Question {number}", f"Answer {number}"))
            assert await engine.memory.commit(chat.id)
            assert "<memory>" in (await send(engine, chat)).messages[0].text
        (tmp_path / "workspaces/default/MEMORY.md").write_text("- fact: I own a boat\n", encoding="utf-8")
        async with opened(tmp_path, OFF) as engine:
            sources = await engine.prompts.gather(chat.id)
            prompt = build_prompt(sources, 2_048)
            assert prompt.messages[0].text == sources.texts.system
            said = [m.text for m in await engine.load_messages(chat.id, limit_turns=99) if m.text]
            assert "\n\n".join(m.text for m in prompt.messages[1:]) == "\n\n".join(said)

    run(story)


@pytest.mark.parametrize("temporary", [False, True])
def test_notes_from_the_memory_file_stand_in_prompts_but_of_temporary_conversations(tmp_path, temporary):
    async def story():
        async with opened(tmp_path) as engine:
            chat = await engine.create_conversation()
            await engine.set_remember(chat.id, not temporary)
            await put_turns(engine, chat, ("Hello", ""))
            (tmp_path / "workspaces/default/MEMORY.md").write_text("- fact: I own a boat\n", encoding="utf-8")
            assert ("I own a boat" in (await send(engine, chat)).messages[0].text) is not temporary

    run(story)


def test_under_pressure_a_rolling_recap_stands_in_for_what_is_left_out(tmp_path):
    async def story():
        model = ScriptedModel("The user decided.")

        async def find_model() -> RecapModel:
            return RecapModel(model=model, mode="write")

        async with opened(tmp_path, find_model=find_model) as engine:
            chat = await engine.create_conversation()
            await say(
                engine, chat.id, "We decided to move the boat to Kiel, and the user decided it. " + "So it is. " * 40
            )
            assert "The user decided." not in (await send(engine, chat)).messages[0].text
            await put_turns(engine, chat, *((f"Question {n} " + "word " * 90, "answer " * 90) for n in range(9)))
            await send(engine, chat)
            prompt = await send(engine, chat)
            assert prompt.left_out
            assert "The user decided." in prompt.messages[0].text
            assert find(replace(await engine.prompts.load(chat.id)), PartKind.RECAP).tokens > 0

    run(story)
