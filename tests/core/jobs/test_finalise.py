"""What becomes of a closed segment: recap or placeholder, tree, tries; by hand and back. The model is scripted."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from core.archivist.recap_writer import RecapModel
from core.config import LearningSettings, ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.errors import ModelError, NotFoundError
from core.model import RecapSource, Segment, SegmentId, SessionId, TreeView, TurnId
from core.storage import recaps, tree
from core.storage.database import Connection
from tests.core.scripted_chat import ScriptedModel

NO_VECTORS = ModelSettings(embedding_enabled=False)
LONG = " It takes a while to read, as things do that matter to somebody who wants to get them right in the end."
TOPICS = ("boilers and their valves", "trains to Porto in spring", "sourdough with less water", "taxes for last year")
GAP_S = 3_600.0


class Bench:
    """An engine without a loop of its own, a clock that a test moves, and a model that may come and go."""

    def __init__(self, folder: Path, **learning: bool) -> None:
        self.now = 1_800_000_000.0
        self.model: ScriptedModel | None = None
        self.folder = folder
        self.engine = Engine(
            DataFolder(folder),
            Settings(
                models=NO_VECTORS,
                learning=LearningSettings(**{"librarian_enabled": False, "goals_enrichment_enabled": False} | learning),
            ),
            exclusive=False,
            clock=lambda: self.now,
            find_model=self.find_model,
        )
        self.session = SessionId("")

    async def find_model(self) -> RecapModel | None:
        return RecapModel(model=self.model, mode="write") if self.model else None

    async def talk(self, segments: int, *, name: str = "talk", short: bool = False) -> None:
        """Replay a conversation of some segments of two turns, an hour apart; the last one stays open."""
        lines, at = [], 1_700_000_000.0
        for number in range(segments):
            at += GAP_S
            topic = f"{TOPICS[number % len(TOPICS)]}, part {number}"
            for text in (f"We decided on {topic}.", f"I like {topic} most."):
                tail = "" if short else LONG
                lines.append({"role": "user", "content": text + tail, "timestamp": at})
                lines.append({"role": "assistant", "content": f"Noted: {topic}." + tail, "timestamp": at + 10})
                at += 60
        await self.replay(lines, name=name)

    async def replay(self, lines: list[dict[str, object]], *, name: str) -> None:
        file = self.folder / f"{name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        done = await self.engine.replay(file, progress=lambda _: None, stop=asyncio.Event())
        self.session = done.session_ids[0]

    async def finish(self) -> None:
        await self.engine.wait_idle()

    async def segments(self) -> tuple[Segment, ...]:
        return await self.engine.segments.load(self.session)

    async def ask(self, question: Callable[[Connection], object]) -> object:
        return await self.engine._database.read(question)

    async def change(self, work: Callable[[Connection], object]) -> None:
        await self.engine._database.write(work)


def run(folder: Path, story: Callable[[Bench], Awaitable[None]], **learning: bool) -> None:
    """Tell a story on an open bench."""

    async def play() -> None:
        bench = Bench(folder, **learning)
        await bench.engine.open()
        try:
            await story(bench)
        finally:
            await bench.engine.aclose()

    asyncio.run(play())


def states(segments: tuple[Segment, ...]) -> list[str]:
    return [s.recap.source if s.recap else "open" for s in segments]


# -- recaps ------------------------------------------------------------------------------------


def test_without_a_model_a_placeholder_says_what_was_said_and_why_there_is_no_recap(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(2)
        await bench.finish()
        closed, opened = await bench.segments()
        assert closed.recap is not None
        assert (closed.recap.usable, closed.recap.source) == (False, RecapSource.HEURISTIC)
        assert "No model" in closed.recap.error
        first, *sentences = closed.summary.splitlines()
        assert first.startswith("Conversation segment (2 turns). Started with: We decided on boilers")
        assert "We decided on boilers and their valves, part 0." in sentences
        assert opened.is_open
        assert opened.recap is None

    run(tmp_path, story)


def test_a_short_segment_is_its_own_recap(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(2, short=True)
        await bench.finish()
        closed, _ = await bench.segments()
        assert closed.recap is not None
        assert (closed.recap.usable, closed.recap.source) == (True, RecapSource.VERBATIM)
        assert "I like boilers and their valves, part 0 most." in closed.summary

    run(tmp_path, story)


def test_when_a_model_comes_the_placeholders_are_made_good_one_probe_first(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(6)
        await bench.finish()
        assert states(await bench.segments())[:5] == ["heuristic"] * 5
        bench.model = ScriptedModel(*["The user decided."] * 5)
        await bench.engine.segments.finish_closed()
        await bench.finish()
        assert states(await bench.segments())[:5] == ["model"] * 5
        assert not bench.model.replies

    run(tmp_path, story)


def test_a_failed_try_waits_longer_each_time_and_the_wait_is_stored(tmp_path):
    async def story(bench: Bench) -> None:
        bench.model = ScriptedModel(*[ModelError("It died.")] * 6)
        await bench.talk(2)
        await bench.finish()
        waits = []
        for _ in range(2):
            (closed, _) = await bench.segments()
            assert closed.recap is not None
            assert closed.recap.next_try_at is not None
            assert closed.recap.error == "It died."
            waits.append(closed.recap.next_try_at - bench.now)
            await bench.engine.segments.finish_closed()  # not due yet
            await bench.finish()
            assert len(bench.model.replies) == 6 - 2 * len(waits)
            bench.now = closed.recap.next_try_at
            await bench.engine.segments.finish_closed()
            await bench.finish()
        assert waits == [60, 600]

    run(tmp_path, story)


def test_recap_again_keeps_a_good_recap_if_the_model_fails_now(tmp_path):
    async def story(bench: Bench) -> None:
        bench.model = ScriptedModel("The user decided.", *[ModelError("It died.")] * 2)
        await bench.talk(2)
        await bench.finish()
        (closed, _) = await bench.segments()
        assert await bench.engine.segments.recap_again(closed.id) == "It died."
        (after, _) = await bench.segments()
        assert after.summary == closed.summary == "The user decided."

    run(tmp_path, story)


def test_a_rolling_recap_writes_nothing_and_is_never_a_placeholder(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(1)
        assert await bench.engine.backroom.finishing.recaps.roll(bench.session) is None
        bench.model = ScriptedModel("The user decided.")
        assert await bench.engine.backroom.finishing.recaps.roll(bench.session) == "The user decided."
        (opened,) = await bench.segments()
        assert (opened.is_open, opened.summary) == (True, "")

    run(tmp_path, story)


def test_steps_that_are_switched_off_leave_the_others_to_work(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(2)
        await bench.finish()
        (closed, _) = await bench.segments()
        assert closed.recap is not None
        assert not closed.recap.usable
        assert await bench.ask(tree.load_chunks) == ()

    run(tmp_path, story, recap_enabled=False, chat_to_tree_enabled=False)


def test_an_edit_makes_a_segment_stale_and_it_is_finished_again(tmp_path):
    async def story(bench: Bench) -> None:
        bench.model = ScriptedModel("The user decided.", "The user chose well.")
        await bench.talk(2)
        await bench.finish()
        (closed, _) = await bench.segments()
        edit = "UPDATE episodic SET content = 'We chose tiles instead.' || ? WHERE turn = ? AND role = 'user'"
        await bench.change(lambda c: c.execute(edit, (LONG, closed.first_turn)))
        await bench.finish()
        (after, _) = await bench.segments()
        assert after.summary == "The user chose well."
        chunks = await bench.ask(tree.load_chunks)
        assert "We chose tiles instead." in repr(chunks)
        assert "We decided on boilers" not in repr(chunks)

    run(tmp_path, story)


def test_a_deleted_conversation_takes_its_segments_and_leaves_along(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(12)
        await bench.finish()
        await bench.change(lambda c: c.execute("DELETE FROM conversations WHERE session_id = ?", (bench.session,)))
        await bench.talk(2, name="other")
        await bench.finish()
        await bench.engine.tree.seal()
        assert "part 7" not in repr(await bench.ask(tree.load_nodes)) + repr(await bench.ask(tree.load_chunks))
        kept = [path.read_text() for path in (tmp_path / "workspaces").rglob("memory_tree/content/[cs]*/*.md")]
        assert kept
        assert not any("part 7" in text for text in kept)

    run(tmp_path, story)


# -- tree --------------------------------------------------------------------------------------


def test_the_tree_holds_what_was_said_and_no_recap(tmp_path):
    async def story(bench: Bench) -> None:
        bench.model = ScriptedModel("The user decided.")
        await bench.talk(2)
        await bench.finish()
        chunks = repr(await bench.ask(tree.load_chunks))
        assert "We decided on boilers and their valves, part 0." in chunks
        assert "The user decided." not in chunks
        assert "Conversation segment" not in chunks
        (file,) = (tmp_path / "workspaces").rglob("memory_tree/content/chunks/*.md")
        assert "## Turn 1 · user" in file.read_text()

    run(tmp_path, story)


def test_ten_segments_are_sealed_into_a_node_and_can_be_browsed(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(11)
        await bench.finish()
        (node,) = await bench.engine.tree.load(TreeView.LEVEL)
        assert (node.leaves, node.placeholder) == (10, True)
        assert "We decided on boilers and their valves, part 0." in node.text
        assert len(await bench.engine.tree.open(node.ref)) == 10
        (conversation,) = await bench.engine.tree.load(TreeView.CONVERSATION)
        leaves = await bench.engine.tree.open(conversation.ref)
        assert [leaf.turns for leaf in leaves] == [(TurnId(2 * i + 1), TurnId(2 * i + 2)) for i in range(10)]
        months = await bench.engine.tree.load(TreeView.MONTH)
        (year,) = await bench.engine.tree.load(TreeView.YEAR)
        assert await bench.engine.tree.open(year.ref) == months
        assert [len(await bench.engine.tree.open(month.ref)) for month in months] == [year.leaves] == [10]
        with pytest.raises(NotFoundError):
            await bench.engine.tree.open("month:soon")

    run(tmp_path, story)


def test_a_node_made_without_a_model_is_made_again_when_one_comes(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(11)
        await bench.finish()
        bench.model = ScriptedModel(*["The user decided on many things."] * 20)
        await bench.engine.tree.seal()
        (node,) = await bench.engine.tree.load(TreeView.LEVEL)
        assert (node.text, node.placeholder) == ("The user decided on many things.", False)

    run(tmp_path, story)


def test_forgetting_a_turn_takes_its_leaf_and_the_words_above_it(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(11)
        await bench.finish()
        await bench.change(lambda c: tree.forget_turns(c, [TurnId(3)], at=bench.now))
        before = repr(await bench.ask(tree.load_nodes))
        assert "part 1" not in before  # gone with the leaf, not only when the node is made again
        await bench.finish()
        (node,) = await bench.engine.tree.load(TreeView.LEVEL)
        assert node.leaves == 9
        assert "part 2" in node.text
        files = [path.read_text() for path in (tmp_path / "workspaces").rglob("memory_tree/content/[cs]*/*.md")]
        assert not any("part 1." in text for text in files)

    run(tmp_path, story)


# -- by hand -----------------------------------------------------------------------------------


def shape(segments: tuple[Segment, ...]) -> list[tuple[int, int, str, bool]]:
    return [(s.first_turn, s.last_turn, s.title, s.is_open) for s in segments]


def test_merge_split_and_rename_are_finished_again_and_can_be_taken_back(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(3)
        await bench.finish()
        service, before = bench.engine.segments, await bench.segments()
        first, second, _ = before
        renamed = await service.rename(first.id, "  My own\nname ")
        merged = await service.merge(second.id)
        await bench.finish()
        assert shape(await bench.segments())[0] == (1, 4, "My own name", False)
        split = await service.split(SegmentId((await bench.segments())[0].id), TurnId(2))
        await bench.finish()
        assert [(s.first_turn, s.last_turn) for s in await bench.segments()] == [(1, 1), (2, 4), (5, 6)]
        pieces = await bench.ask(tree.load_chunks)
        assert [(k.first_turn, k.last_turn) for k in pieces if isinstance(k, tree.StoredChunk)] == [(1, 1), (2, 4)]
        for edit in (split, merged, renamed):
            assert await service.undo(edit) == ""
        await bench.finish()
        assert shape(await bench.segments()) == shape(before)
        assert await service.undo(renamed) == "That change was taken back already."

    run(tmp_path, story)


def test_the_open_segment_can_be_merged_and_split_and_goes_on(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(2)
        await bench.finish()
        service = bench.engine.segments
        _, opened = await bench.segments()
        merged = await service.merge(opened.id)
        (only,) = await bench.segments()
        assert (only.first_turn, only.last_turn, only.turn_count, only.is_open) == (1, 4, 4, True)
        assert await service.undo(merged) == ""
        await service.split(opened.id, TurnId(4))
        assert [(s.first_turn, s.last_turn, s.is_open) for s in await bench.segments()] == [
            (1, 2, False),
            (3, 3, False),
            (4, 4, True),
        ]

    run(tmp_path, story)


def test_what_cannot_be_done_by_hand_is_said(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(2)
        first, _ = await bench.segments()
        for wrong in (
            bench.engine.segments.merge(first.id),
            bench.engine.segments.split(first.id, first.first_turn),
            bench.engine.segments.rename(SegmentId("seg-none"), "x"),
        ):
            with pytest.raises(NotFoundError):
                await wrong

    run(tmp_path, story)


def test_a_later_merge_stands_in_the_way_of_undoing_an_earlier_one(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(4)
        await bench.finish()
        service = bench.engine.segments
        _, second, third, _ = await bench.segments()
        earlier = await service.merge(third.id)
        await service.merge(second.id)
        assert "nothing was taken back" in await service.undo(earlier)
        assert shape(await bench.segments())[0][:2] == (1, 6)

    run(tmp_path, story)


# -- left and lost -----------------------------------------------------------------------------


def test_a_conversation_left_for_ten_minutes_is_closed(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(1)
        service = bench.engine.segments
        service.show(bench.session)
        service.show(None)
        bench.now += 599
        assert await service.close_left() == 0
        bench.now += 1
        assert await service.close_left() == 1
        await bench.finish()
        (closed,) = await bench.segments()
        assert not closed.is_open
        assert closed.recap is not None

    run(tmp_path, story)


def test_the_end_of_the_program_closes_what_is_open_and_the_next_start_finishes_it(tmp_path):
    async def use(story: Callable[[Engine], Awaitable[None]]) -> None:
        engine = Engine(DataFolder(tmp_path), Settings(models=NO_VECTORS))
        await engine.open()
        try:
            await story(engine)
        finally:
            await engine.aclose()

    async def play() -> None:
        bench = Bench(tmp_path)
        await bench.engine.open()
        await bench.talk(1)
        await bench.engine.aclose()
        seen: list[Segment] = []

        async def look(engine: Engine) -> None:
            await engine.wait_idle()
            seen.extend(await engine.segments.load(bench.session))

        await use(look)
        await use(look)
        assert not seen[-1].is_open
        assert seen[-1].recap is not None
        assert seen[-1].summary.startswith("Conversation segment (2 turns)")

    asyncio.run(play())


def test_a_segment_whose_work_was_lost_is_found_again(tmp_path):
    async def story(bench: Bench) -> None:
        await bench.talk(2)
        await bench.change(lambda c: c.execute("DELETE FROM jobs"))
        await bench.finish()
        lost = await bench.ask(lambda c: len(recaps.load_unfinalised(c)))
        assert lost == 1
        await bench.engine.segments.finish_closed()
        await bench.finish()
        (closed, _) = await bench.segments()
        assert closed.summary.startswith("Conversation segment (2 turns)")

    run(tmp_path, story)


def test_a_tool_that_fails_alike_in_three_segments_is_remembered_once(tmp_path):
    async def story(bench: Bench) -> None:
        lines: list[dict[str, object]] = []
        for number in range(5):
            at = 1_700_000_000 + number * GAP_S
            call = {"name": "shell", "success": False, "output": "timed out", "arguments": {"cmd": "make"}}
            lines.append({"role": "user", "content": f"Build number {number} please.", "timestamp": at})
            lines.append({"role": "assistant", "content": "It stops.", "timestamp": at + 9, "tool_calls": [call] * 2})
        await bench.replay(lines, name="tools")
        await bench.finish()
        files = {file.name: file for file in await bench.engine.files.load()}
        assert files["MEMORY.md"].text.count("- mistake: the tool shell (timeout) keeps failing") == 1
        assert files["MEMORY.md"].changes[0].turns == (1, 2, 3, 4)  # one of each segment that is closed
        twins = [path.read_text() for path in (tmp_path / "workspaces").rglob("episodic/*/*.md")]
        assert any('lesson: "Tools that failed in this turn: shell (timeout, 2x)"' in text for text in twins)

    run(tmp_path, story)
