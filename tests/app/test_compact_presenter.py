"""Compacting from the window: what is shown meanwhile and after, cancel, and the retry of what was given up."""

import asyncio
from dataclasses import replace

from app.presenters.compact import NONE_OPEN, CompactPresenter
from app.rendering.words_commits import NOTHING, STOPPING
from core.changes import Changes
from core.errors import CommitBusyError
from core.model import CommitStep, Compacted, FailedArchive, FailedStage, SessionId
from tests.app.scripted import ScriptedEngine

DONE = "24 messages are archived. Working Memory holds what mattered."


class Notice:
    """What is shown now."""

    def __init__(self) -> None:
        self.progress, self.can_cancel, self.result = "", False, ""
        self.failed: tuple[FailedArchive, ...] = ()

    def show_progress(self, text, *, can_cancel):
        self.progress, self.can_cancel = text, can_cancel

    def show_result(self, text):
        self.result = text

    def show_failed(self, failed, now):
        self.failed = tuple(failed)


def given_up(session, number=1):
    stage = FailedStage(stage="memory", error="The disk is full.", attempts=3, at=1.0)
    return FailedArchive(session_id=session, number=number, archived_at=1.0, in_memory=False, stages=(stage,))


def play(check, **fields):
    """Run a check with a presenter whose conversation is open."""

    async def run():
        engine, notice, said = ScriptedEngine(), Notice(), []
        presenter = CompactPresenter(engine.commits, notice, report=said.append, clock=lambda: 0.0)
        chat = engine.add("Cutover", **fields)
        presenter.show(chat)
        try:
            await asyncio.wait_for(check(engine, notice, said, presenter, chat), 5)
        finally:
            await presenter.aclose()

    asyncio.run(run())


async def until(condition):
    while not condition():
        await asyncio.sleep(0)


def test_a_compact_shows_its_steps_and_ends_with_a_sentence():
    async def check(engine, notice, said, presenter, chat):
        presenter.compact()
        presenter.compact()  # it runs already
        await until(lambda: engine.commits.progress)
        assert "archive" in notice.progress
        assert notice.can_cancel
        engine.commits.progress(CommitStep.UPDATING)
        assert "Working Memory" in notice.progress
        engine.commits.gate.set()
        await until(lambda: notice.result)
        assert (notice.progress, notice.result, said) == ("", DONE, [])
        assert engine.commits.compacted == [chat.id]

    play(check)


def test_nothing_to_compact_is_said():
    async def check(engine, notice, said, presenter, chat):
        engine.commits.result = Compacted(step=CommitStep.DONE)
        engine.commits.gate.set()
        presenter.compact()
        await until(lambda: notice.result)
        assert notice.result == NOTHING

    play(check)


def test_a_temporary_conversation_is_not_said_to_be_remembered():
    async def check(engine, notice, said, presenter, chat):
        engine.commits.gate.set()
        presenter.compact()
        await until(lambda: notice.result)
        assert notice.result == "24 messages are archived. Nothing of this conversation is remembered."

    play(check, remember=False)


def test_without_a_conversation_there_is_nothing_to_start():
    async def check(engine, notice, said, presenter, chat):
        presenter.show(None)
        presenter.compact()
        assert said == [NONE_OPEN]
        assert engine.commits.compacted == []

    play(check)


def test_cancel_stops_it_and_leaves_the_archive_to_a_retry():
    async def check(engine, notice, said, presenter, chat):
        engine.commits.result = Compacted(step=CommitStep.STOPPED, archives=(1,), messages=24, error="You stopped it.")
        engine.commits.failed_then = (given_up(chat.id),)
        presenter.compact()
        await until(lambda: engine.commits.progress)
        presenter.cancel()
        assert (notice.progress, notice.can_cancel) == (STOPPING, False)
        await until(lambda: notice.failed)
        await until(lambda: not notice.progress)
        assert notice.result == ""  # the notice of what failed says it
        presenter.retry()
        await until(lambda: not notice.failed)
        assert engine.commits.retried == [chat.id]

    play(check)


def test_a_compact_that_cannot_begin_says_why_and_leaves_no_progress():
    async def check(engine, notice, said, presenter, chat):
        engine.fail_next = CommitBusyError("Another commit takes too long. Nothing was changed.")
        presenter.compact()
        await until(lambda: said)
        assert (said, notice.progress) == (["Another commit takes too long. Nothing was changed."], "")

    play(check)


def test_the_end_is_told_in_another_conversation_too():
    async def check(engine, notice, said, presenter, chat):
        presenter.compact()
        await until(lambda: engine.commits.progress)
        presenter.show(engine.add("Cake"))
        assert notice.progress == ""
        presenter.show(chat)
        assert notice.progress
        presenter.show(engine.add("Tea"))
        engine.commits.gate.set()
        await until(lambda: said)
        assert said == [f"“Cutover”: {DONE}"]
        assert notice.result == ""

    play(check)


def test_what_was_given_up_is_shown_for_its_own_conversation_only():
    async def check(engine, notice, said, presenter, chat):
        engine.commits.failed = (given_up(chat.id), given_up(SessionId("other"), 2))
        presenter.on_changes(Changes(memory=frozenset({chat.id})))
        await until(lambda: notice.failed)
        assert [each.number for each in notice.failed] == [1]
        presenter.show(replace(chat, title="Renamed"))
        assert notice.failed
        presenter.show(engine.add("Cake"))
        assert not notice.failed

    play(check)
