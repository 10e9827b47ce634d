"""Changes of Working Memory by the user: each is a version, each can be taken back, none meets an old version."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.errors import MemoryEditError, NotFoundError
from core.model import ChangeKind, LineState, Origin, ParkedLine, Section, SessionId, TurnId
from core.storage import conversations, memory_edits, memory_versions, turns
from core.storage.memory_versions import Version
from core.working_memory.document import parse_document
from core.working_memory.edits import hold, reapply
from core.working_memory.parked import ParkReason
from core.working_memory.provenance import Meta, annotate, compare, key_of
from tests.core.test_engine import opened

CHAT = SessionId("chat")
FACTS, ISSUES, STATE, TITLE = Section.FACTS, Section.ISSUES, Section.STATE, Section.TITLE
FIRST = (
    "# Working Memory\n\n## Key Facts & Decisions\n- port is 5432\n- Naomi owns billing\n\n## Open Issues\n- call Bea\n"
)


class Desk:
    """An open engine with one conversation."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.memory = engine.memory
        self.store = engine._database

    async def commit(self, text: str, parked=None, pending=(), locked=()) -> None:
        """Store a version as a commit does, from whatever process."""

        def write(c):
            before = memory_versions.get(c, CHAT)
            number = memory_versions.get_newest_number(c, CHAT) + 1
            document = parse_document(text)
            known = {
                key_of(s, line.text): Meta(origin=Origin.MODEL, turns=(TurnId(1),), locked=line.text in locked)
                for s, found in annotate(document, {}).items()
                for line in found
            }
            old = before.lines if before else {}
            lines = {s: compare(old.get(s, ()), found) for s, found in annotate(document, known).items()}
            version = Version(
                number=number, created_at=float(number), cause="A segment closed.", archive=None, document=text,
                lines=lines, decisions=(), parked=parked or {},
            )  # fmt: skip
            memory_versions.add(c, CHAT, version, asked={})
            for section, line, replaces in pending:
                memory_versions.add_pending(c, CHAT, TurnId(2), [(section, line, replaces)])

        await self.store.write(write)

    async def shown(self, section: Section = FACTS, version: int | None = None) -> list[str]:
        return [line.text for line in await self.lines(section, version) if line.state is not LineState.REMOVED]

    async def lines(self, section: Section = FACTS, version: int | None = None):
        memory = await self.memory.load(CHAT, version)
        return next(part.lines for part in memory.sections if part.section is section)

    async def part(self, section: Section = FACTS):
        memory = await self.memory.load(CHAT)
        return next(part for part in memory.sections if part.section is section)


@asynccontextmanager
async def at_desk(folder: Path) -> AsyncIterator[Desk]:
    async with opened(folder, clock=lambda: 1_000.0) as engine:

        def begin(c):
            conversations.add(c, SessionId("other"), at=0.0)
            turns.add_turn(c, SessionId("other"))
            conversations.add(c, CHAT, at=0.0)
            turns.add_turn(c, CHAT)
            turns.add_turn(c, CHAT)

        await engine._database.write(begin)
        yield Desk(engine)


def test_changed_line_is_a_version_of_the_users_and_undo_brings_the_old_one_back(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            words = await desk.memory.change(CHAT, FACTS, "port is 5432", "port is 6432")
            assert words == "you changed “port is 5432” to “port is 6432”"
            memory = await desk.memory.load(CHAT)
            assert (memory.version, memory.cause, memory.undo) == (2, f"You{words[3:]}.", words)
            lines = await desk.lines()
            assert [(line.text, line.state) for line in lines] == [
                ("port is 5432", LineState.REMOVED),
                ("port is 6432", LineState.ADDED),
                ("Naomi owns billing", LineState.KEPT),
            ]
            assert (lines[1].origin, lines[1].turns, lines[2].origin) == (Origin.USER, (1,), Origin.MODEL)
            assert await desk.memory.undo(CHAT) == f"you took back: {words}"
            assert await desk.shown() == ["port is 5432", "Naomi owns billing"]
            memory = await desk.memory.load(CHAT)
            assert (memory.version, memory.undo, memory.redo) == (3, "", f"you took back: {words}")
            await desk.memory.redo(CHAT)
            assert await desk.shown() == ["port is 6432", "Naomi owns billing"]
            assert (await desk.memory.load(CHAT)).undo == words

    asyncio.run(run())


def test_changes_are_undone_one_by_one_from_the_newest(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.memory.remove(CHAT, FACTS, "port is 5432")
            await desk.memory.set_locked(CHAT, FACTS, "Naomi owns billing", True)
            await desk.memory.move(CHAT, ISSUES, "call Bea", FACTS)
            await desk.memory.undo(CHAT)
            assert (await desk.shown(), await desk.shown(ISSUES)) == (["Naomi owns billing"], ["call Bea"])
            await desk.memory.undo(CHAT)
            assert [line.locked for line in await desk.lines()] == [False]
            await desk.memory.undo(CHAT)
            assert await desk.shown() == ["port is 5432", "Naomi owns billing"]
            with pytest.raises(MemoryEditError, match="nothing to undo"):
                await desk.memory.undo(CHAT)

    asyncio.run(run())


def test_undo_after_an_update_takes_back_the_users_line_alone(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.memory.remove(CHAT, FACTS, "port is 5432")
            await desk.commit(FIRST.replace("- port is 5432\n", "").replace("billing\n", "billing\n- Kyoto trip\n"))
            await desk.memory.undo(CHAT)
            assert await desk.shown() == ["port is 5432", "Naomi owns billing", "Kyoto trip"]

    asyncio.run(run())


def test_edit_made_on_an_old_version_meets_the_newest(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.commit(FIRST.replace("- port is 5432", "- Kyoto trip\n- **Port** is 5432."))
            await desk.memory.change(CHAT, FACTS, "port is 5432", "port is 6432")
            assert await desk.shown() == ["Kyoto trip", "port is 6432", "Naomi owns billing"]

    asyncio.run(run())


def test_edit_of_a_line_that_an_update_took_away_is_an_error_and_no_version(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.commit(FIRST.replace("- port is 5432\n", ""))
            with pytest.raises(MemoryEditError, match="no longer in memory"):
                await desk.memory.change(CHAT, FACTS, "port is 5432", "port is 6432")
            assert (await desk.memory.load(CHAT)).newest == 2

    asyncio.run(run())


def test_edits_of_many_at_once_all_arrive(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk, opened(tmp_path, exclusive=False) as other:
            await desk.commit(FIRST)
            await asyncio.gather(
                desk.memory.add(CHAT, FACTS, "Kyoto trip"),
                other.memory.add(CHAT, FACTS, "Osaka trip"),
                desk.memory.remove(CHAT, FACTS, "port is 5432"),
                other.memory.set_locked(CHAT, FACTS, "Naomi owns billing", True),
            )
            assert set(await desk.shown()) == {"Naomi owns billing", "Kyoto trip", "Osaka trip"}
            assert (await desk.memory.load(CHAT)).newest == 5

    asyncio.run(run())


def test_pending_line_is_kept_at_once_with_its_turn_or_discarded_and_undo_lets_it_wait_again(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST, pending=[(FACTS, "Kyoto trip", None), (FACTS, "Osaka trip", None)])
            await desk.memory.accept(CHAT, FACTS, "Kyoto trip")
            await desk.memory.discard(CHAT, FACTS, "Osaka trip")
            lines = {line.text: line for line in await desk.lines()}
            assert (lines["Kyoto trip"].origin, lines["Kyoto trip"].turns) == (Origin.HEURISTIC, (2,))
            assert "Osaka trip" not in lines
            await desk.memory.undo(CHAT)
            assert [line.text for line in await desk.lines() if line.state is LineState.PENDING] == ["Osaka trip"]
            await desk.memory.undo(CHAT)
            waiting = [line.text for line in await desk.lines() if line.state is LineState.PENDING]
            assert sorted(waiting) == ["Kyoto trip", "Osaka trip"]
            with pytest.raises(MemoryEditError, match="no longer waits"):
                await desk.memory.accept(CHAT, FACTS, "Nara trip")

    asyncio.run(run())


def test_pending_line_that_replaces_another_takes_its_place(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST, pending=[(FACTS, "port is 6432", "port is 5432")])
            await desk.memory.accept(CHAT, FACTS, "port is 6432")
            assert await desk.shown() == ["port is 6432", "Naomi owns billing"]
            assert next(line for line in await desk.lines() if line.text == "port is 6432").turns == (1, 2)

    asyncio.run(run())


def test_first_line_of_an_empty_memory_and_a_new_state(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.memory.add(CHAT, FACTS, "- one thing\n- another thing")
            assert await desk.shown() == ["one thing", "another thing"]
            await desk.commit(
                "## Current State\nresting\n", pending=[(STATE, "packing", None), (STATE, "leaving", None)]
            )
            await desk.memory.accept(CHAT, STATE, "leaving")
            assert await desk.shown(STATE) == ["leaving"]

    asyncio.run(run())


def test_parked_line_comes_back_or_goes_and_both_can_be_undone(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            waiting = ParkedLine(text="Kyoto trip", reason=ParkReason.CAP, turns=(TurnId(2),))
            await desk.commit(FIRST, parked={FACTS: (waiting,)})
            await desk.memory.bring_back(CHAT, FACTS, "Kyoto trip")
            assert (await desk.shown())[-1] == "Kyoto trip"
            assert (await desk.part()).parked == ()
            await desk.memory.undo(CHAT)
            assert (await desk.part()).parked == (waiting,)
            await desk.memory.drop(CHAT, FACTS, "Kyoto trip")
            assert (await desk.part()).parked == ()
            await desk.memory.undo(CHAT)
            assert (await desk.part()).parked == (waiting,)

    asyncio.run(run())


def test_proposal_against_a_locked_line_is_taken_with_its_lock_or_dismissed(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            parked = {FACTS: (ParkedLine(text="port is 6432", reason=ParkReason.NOT_APPLIED, turns=(TurnId(2),)),)}
            await desk.commit(FIRST, parked=parked, locked=["port is 5432"])
            part = await desk.part()
            assert [(w.line, w.text) for w in part.wanted] == [("port is 5432", "port is 6432")]
            assert part.parked == ()
            await desk.memory.take_wanted(CHAT, FACTS, "port is 5432", "port is 6432")
            line = next(line for line in await desk.lines() if line.text == "port is 6432")
            assert (line.locked, line.turns) == (True, (1, 2))
            assert (await desk.part()).wanted == ()
            await desk.memory.undo(CHAT)
            await desk.memory.drop(CHAT, FACTS, "port is 6432")
            assert ((await desk.part()).wanted, await desk.shown()) == ((), ["port is 5432", "Naomi owns billing"])

    asyncio.run(run())


def test_restored_version_is_a_new_one_and_nothing_that_waits_is_lost(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST, parked={FACTS: (ParkedLine(text="old one", reason=ParkReason.CAP),)})
            later = {FACTS: (ParkedLine(text="new one", reason=ParkReason.STOP),)}
            await desk.commit("## Key Facts & Decisions\n- Kyoto trip\n", parked=later)
            await desk.memory.restore(CHAT, 1)
            memory = await desk.memory.load(CHAT)
            assert (memory.version, memory.cause) == (3, "You restored version 1.")
            assert await desk.shown() == ["port is 5432", "Naomi owns billing"]
            assert {line.text for line in (await desk.part()).parked} == {"old one", "new one"}
            assert (await desk.lines())[0].turns == (1,)
            await desk.memory.undo(CHAT)
            assert await desk.shown() == ["Kyoto trip"]
            with pytest.raises(NotFoundError):
                await desk.memory.restore(CHAT, 99)
            with pytest.raises(MemoryEditError, match="nothing was changed"):
                await desk.memory.restore(CHAT, 4)

    asyncio.run(run())


def test_versions_are_listed_with_time_cause_and_counts(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.memory.change(CHAT, FACTS, "port is 5432", "port is 6432")
            first, second = await desk.memory.list_versions(CHAT)
            assert (first.number, first.at, first.cause, first.lines, first.came, first.went) == (
                1, 1.0, "A segment closed.", 3, 3, 0,
            )  # fmt: skip
            assert (second.at, second.lines, second.came, second.went) == (1_000.0, 3, 1, 1)
            assert await desk.memory.list_versions(CHAT, after=1) == (second,)

    asyncio.run(run())


def test_difference_of_two_versions_names_each_line_once(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.memory.change(CHAT, FACTS, "port is 5432", "port is 6432")
            await desk.memory.set_locked(CHAT, FACTS, "Naomi owns billing", True)
            await desk.memory.remove(CHAT, ISSUES, "call Bea")
            diff = await desk.memory.compare(CHAT, 1, 4)
            assert [(c.kind, c.before, c.after) for c in diff.changes] == [
                (ChangeKind.CHANGED, "port is 5432", "port is 6432"),
                (ChangeKind.LOCKED, "Naomi owns billing", "Naomi owns billing"),
                (ChangeKind.WENT, "call Bea", ""),
            ]
            assert {c.kind for c in (await desk.memory.compare(CHAT, 0, 1)).changes} == {ChangeKind.CAME}

    asyncio.run(run())


def test_message_is_remembered_as_the_users_line_with_its_turn_counted_in_its_conversation(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.memory.remember(
                CHAT, "My key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB, in May", TurnId(3)
            )
            (line,) = await desk.lines()
            assert (line.origin, line.turns) == (Origin.USER, (3,))
            assert "abcdefghij" not in line.text
            assert (await desk.memory.load(CHAT)).turn_numbers == {2: 1, 3: 2}

    asyncio.run(run())


def test_nothing_is_added_to_a_temporary_conversation_but_lines_can_go(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.engine.set_remember(CHAT, False)
            with pytest.raises(MemoryEditError, match="temporary"):
                await desk.memory.add(CHAT, FACTS, "Kyoto trip")
            await desk.memory.remove(CHAT, FACTS, "port is 5432")
            assert await desk.shown() == ["Naomi owns billing"]

    asyncio.run(run())


def test_edits_since_a_version_can_be_put_on_top_of_an_update_computed_from_it(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit(FIRST)
            await desk.memory.change(CHAT, FACTS, "port is 5432", "port is 6432")
            await desk.memory.remove(CHAT, ISSUES, "call Bea")
            edits = await desk.store.read(lambda c: memory_edits.load_since(c, CHAT, 1))
            update = parse_document(FIRST.replace("Naomi owns billing", "Naomi owns billing and search"))
            after = reapply(hold(update, annotate(update, {}), {}), edits).held
            assert [line.text for line in after.lines_of(FACTS)] == ["port is 6432", "Naomi owns billing and search"]
            assert after.lines_of(ISSUES) == ()

    asyncio.run(run())


def test_memory_that_cannot_be_made_shorter_by_code_says_so(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit("## Key Facts & Decisions\n- " + "word " * 10_000)
            assert "Unlock or remove lines" in (await desk.memory.load(CHAT)).notes[0]

    asyncio.run(run())


def test_long_section_is_warned_of_in_words(tmp_path):
    async def run():
        async with at_desk(tmp_path) as desk:
            await desk.commit("## Key Facts & Decisions\n" + "".join(f"- fact number {n}\n" for n in range(26)))
            assert "26 lines" in (await desk.part()).warning
            assert (await desk.part(ISSUES)).warning == ""

    asyncio.run(run())
