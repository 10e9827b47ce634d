"""The profile end to end over a real store: said, shown, corrected, forgotten, and none of it coming back by itself."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from core.config import LearningSettings, ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.errors import MessageError
from core.model import FacetOrigin, FacetState, ProfileFacet
from core.sessions.situation import load_standing

DAY_S = 86_400.0
Talk = list[tuple[float, str]]  # days ago, what the user said


def settings(**learning: bool) -> Settings:
    return Settings(models=ModelSettings(embedding_enabled=False), learning=LearningSettings(**learning))


def run(folder: Path, use: Callable[[Engine], Awaitable[None]], given: Settings | None = None) -> None:
    async def main() -> None:
        engine = Engine(DataFolder(folder), given or settings(), exclusive=False)
        await engine.open()
        try:
            await use(engine)
        finally:
            await engine.aclose()

    asyncio.run(main())


async def say(engine: Engine, folder: Path, talk: Talk) -> None:
    """Import what was said, each in a segment of its own, and let all of it be worked on."""
    lines, now = [], time.time()
    for days, text in talk:
        at = now - days * DAY_S
        lines.append({"role": "user", "content": text, "timestamp": at})
        lines.append({"role": "assistant", "content": "I see.", "timestamp": at + 5})
    path = folder / f"talk-{time.monotonic_ns()}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    await engine.replay(path, progress=lambda _: None, stop=asyncio.Event())
    await engine.backroom.worker.flush(before=now)
    await engine.wait_idle()


async def find(engine: Engine, words: str) -> ProfileFacet:
    profile = await engine.profile.load()
    return next(facet for facet in profile.facets if words in facet.text)


async def know_in_prompt(engine: Engine) -> tuple[str, ...]:
    """Return what the prompt of a new conversation says of the user."""
    known = (await engine.prompts.gather((await engine.create_conversation()).id)).known
    return (*known.preferences, *known.profile)


async def texts(engine: Engine) -> list[str]:
    return [facet.text for facet in (await engine.profile.load()).facets]


def test_a_new_value_takes_the_old_ones_place_and_keeps_it_as_history(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I live in Oslo."), (5, "I live in Oslo now."), (2, "I moved to Bergen.")])
        facet = await find(engine, "Bergen")
        assert [former.text for former in facet.history] == ["I live in Oslo"]
        assert len(facet.history[0].sources) == 2
        assert len(facet.sources) == 1
        assert facet.history[0].until == facet.since

    run(tmp_path, use)


def test_what_was_said_is_found_by_its_place_in_its_conversation(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "The cutover is in December."), (5, "I live in Oslo.")])
        await say(engine, tmp_path, [(3, "I live in Oslo.")])
        facet = await find(engine, "Oslo")
        assert [source.turn for source in facet.sources] == [2, 3]
        assert [source.place.number for source in facet.sources if source.place] == [2, 1]

    run(tmp_path, use)


def test_an_older_talk_read_later_becomes_history_not_the_present(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(2, "I live in Bergen.")])
        await say(engine, tmp_path, [(400, "I live in Oslo.")])
        facet = await find(engine, "Bergen")
        assert [former.text for former in facet.history] == ["I live in Oslo"]

    run(tmp_path, use)


def test_a_retraction_ends_a_facet(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I work at Acme."), (2, "I no longer work at Acme.")])
        facet = await find(engine, "Acme")
        assert facet.ended_at is not None
        assert facet.state is FacetState.DROPPED
        assert await know_in_prompt(engine) == ()

    run(tmp_path, use)


def test_reading_again_changes_nothing(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I love hiking."), (2, "I really love hiking.")])
        before = await engine.profile.load()
        turns = [source.turn for facet in before.facets for source in facet.sources]
        session = before.facets[0].sources[0].session_id
        extractor = engine.backroom.extractor
        first = await extractor.extract_archive(session, 1, turns)
        again = await extractor.extract_archive(session, 1, turns)
        assert first == again
        assert {change["op"] for change in first} == {"add", "update"}
        assert (await engine.profile.load()).facets[0].sources == before.facets[0].sources

    run(tmp_path, use)


def test_what_is_forgotten_is_nowhere_but_in_the_transcript_and_stays_away(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "My name is Ada and I live in Turin."), (5, "I live in Turin.")])
        facet = await find(engine, "Turin")
        preview = await engine.profile.preview_forget([facet.id])
        assert (preview.events, preview.recaps) == (2, 2)
        await engine.profile.forget([facet.id])
        await engine.wait_idle()
        assert await texts(engine) == ["My name is Ada"]
        assert "Turin" not in (tmp_path / "workspaces" / "default" / "MEMORY.md").read_text(encoding="utf-8")
        await say(engine, tmp_path, [(1, "I live in Turin.")])
        assert await texts(engine) == ["My name is Ada"]
        await say(engine, tmp_path, [(0.5, "I live in Genoa.")])
        assert "I live in Genoa" in await texts(engine)

    run(tmp_path, use)


def test_undo_brings_back_what_was_forgotten(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I live in Oslo."), (2, "I moved to Bergen.")])
        before = await find(engine, "Bergen")
        await engine.profile.forget([before.id])
        assert "Bergen" in await engine.profile.undo()
        await engine.wait_idle()
        after = await find(engine, "Bergen")
        assert (after.sources, after.history[0].text) == (before.sources, before.history[0].text)
        assert await engine.profile.undo() == ""

    run(tmp_path, use)


def test_confirmed_facets_are_not_replaced_and_contradictions_are_asked_about(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I live in Oslo.")])
        await engine.profile.confirm((await find(engine, "Oslo")).id)
        await say(engine, tmp_path, [(2, "I live in Bergen."), (1, "I live in Bergen.")])
        facet = await find(engine, "Oslo")
        assert facet.origin is FacetOrigin.USER
        assert facet.asks
        await engine.profile.choose(facet.id, facet.conflicts[-1].id)
        chosen = await find(engine, "Bergen")
        assert chosen.history[0].text == "I live in Oslo"
        assert not chosen.conflicts
        assert chosen.sources
        await engine.profile.undo()
        assert (await find(engine, "Oslo")).asks

    run(tmp_path, use)


def test_a_correction_keeps_the_old_words_as_history_and_refuses_secrets(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I live in Oslo.")])
        facet = await find(engine, "Oslo")
        await engine.profile.correct(facet.id, "I live in Tromsø")
        assert (await find(engine, "Tromsø")).history[0].text == "I live in Oslo"
        with pytest.raises(MessageError):
            await engine.profile.correct(facet.id, "my password: tulip-demo-4")

    run(tmp_path, use)


def test_pinned_facets_stay_in_the_prompt_however_old(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(300, "I prefer window seats.")])
        assert await know_in_prompt(engine) == ()
        await engine.profile.pin((await find(engine, "window")).id, True)
        assert await know_in_prompt(engine) == ("I prefer window seats",)

    run(tmp_path, use)


def test_remember_is_said_to_be_done_only_with_the_write_and_forget_asks_first(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        session = (await engine.create_conversation()).id
        user, _ = await engine.send(session, "Remember that I'm allergic to peanuts.")
        assert user.note.startswith("Remembered: “I'm allergic to peanuts”")
        facet = await find(engine, "peanuts")
        assert facet.origin is FacetOrigin.EXPLICIT
        await engine.stop_reply(session)
        user, _ = await engine.send(session, "Forget about peanuts")
        assert "Would forget" in user.note
        assert await texts(engine) == ["I'm allergic to peanuts"]
        asked = (await engine.profile.load()).to_forget
        assert asked is not None
        assert asked.facet_ids == (facet.id,)
        await engine.stop_reply(session)
        await engine.profile.forget(asked.facet_ids)
        assert (await engine.profile.load()).facets == ()
        assert (await engine.profile.load()).to_forget is None

    run(tmp_path, use)


def test_a_temporary_conversation_leaves_no_trace(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        session = (await engine.create_conversation()).id
        await engine.set_remember(session, False)
        user, _ = await engine.send(session, "Remember that I live in Turin.")
        assert "temporary" in user.note
        assert await texts(engine) == []

    run(tmp_path, use)


def test_events_off_reads_nothing(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(2, "I live in Turin.")])
        assert await texts(engine) == []

    run(tmp_path, use, settings(events_enabled=False))


def test_explicit_preferences_off_keeps_them_out_of_the_prompt(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        session = (await engine.create_conversation()).id
        await engine.send(session, "From now on answer in French")
        assert await texts(engine) == ["From now on answer in French"]
        assert await know_in_prompt(engine) == ()

    run(tmp_path, use, settings(explicit_preferences_enabled=False))


def test_a_forgotten_order_is_not_obeyed_again(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(2, "Remember that I'm allergic to peanuts."), (1, "I love tea.")])
        await engine.profile.forget([(await find(engine, "peanuts")).id])
        await engine.wait_idle()
        assert await texts(engine) == ["I love tea"]

    run(tmp_path, use)


def test_what_rests_on_a_deleted_turn_goes_with_it(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I live in Oslo."), (5, "I live in Bergen."), (2, "I love tea.")])
        bergen, tea = await find(engine, "Bergen"), await find(engine, "tea")
        database = engine.profile._ground.database
        first, last = bergen.history[0].sources[0].turn, tea.sources[0].turn
        await database.write(lambda c: c.execute("DELETE FROM turns WHERE turn IN (?, ?)", (first, last)))
        assert await texts(engine) == ["I live in Bergen"]
        assert (await find(engine, "Bergen")).history == ()

    run(tmp_path, use)


def test_switches_decide_what_a_prompt_says_of_the_user(tmp_path: Path) -> None:
    async def use(engine: Engine) -> None:
        await say(engine, tmp_path, [(9, "I live in Oslo."), (2, "I live in Oslo.")])
        session = (await engine.create_conversation()).id
        database = engine.profile._ground.database
        on, off = LearningSettings(), LearningSettings(events_enabled=False, explicit_preferences_enabled=False)

        async def known(learning: LearningSettings) -> tuple[str, ...]:
            standing = await database.read(
                lambda c: load_standing(c, session, learning=learning, now=time.time(), per_turn=False)
            )
            return standing.profile

        assert await known(on) == ("I live in Oslo",)
        assert await known(off) == ()
        await engine.set_remember(session, False)
        assert await known(on) == ()

    run(tmp_path, use)
