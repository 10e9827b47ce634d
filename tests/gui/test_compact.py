"""Compacting a conversation from the menu, and archives that wait for a retry, in the Memory tab."""

from core.changes import Changes
from core.model import CommitStep, FailedArchive, FailedStage
from tests.gui.test_memory_tab import until


def choose(window, text):
    next(action for action in window.menus.actions if action.text() == text).trigger()


def fill(engine):
    chat = engine.add("PostgreSQL 16 cutover")
    engine.add_turn(chat.id, "Which port?", "6432.")
    return chat


def give_up(engine, chat):
    error = "The model did not answer in time. Start it and try again."
    stage = FailedStage(stage="memory", error=error, attempts=3, at=engine.now)
    engine.commits.failed = (
        FailedArchive(session_id=chat.id, number=1, archived_at=engine.now, in_memory=False, stages=(stage,)),
    )


async def test_the_menu_compacts_and_the_memory_tab_tells_how_far_it_is(stage):
    chat = fill(stage.engine)
    async with stage.playing() as window:
        notice = window.memory.commits
        assert not notice.isVisible()
        window.show_tab("Files")
        choose(window, "Compact this conversation…")
        await until(lambda: notice.isVisible() and stage.engine.commits.progress)
        assert stage.engine.commits.compacted == [chat.id]
        stage.engine.commits.progress(CommitStep.UPDATING)
        assert notice.text.text() == "Compacting: Working Memory is updated…"
        assert notice.cancel.isVisible()
        stage.engine.commits.gate.set()
        await until(notice.close_.isVisible)
        assert notice.text.text() == "24 messages are archived. Working Memory holds what mattered."
        assert not notice.cancel.isVisible()
        notice.close_.click()
        assert not notice.isVisible()


async def test_cancel_ends_a_compact(stage):
    fill(stage.engine)
    async with stage.playing() as window:
        notice = window.memory.commits
        choose(window, "Compact this conversation…")
        await until(lambda: stage.engine.commits.progress)
        notice.cancel.click()
        assert notice.text.text() == "Stopping…"
        await until(lambda: not notice.cancel.isVisible() and notice.close_.isVisible())


async def test_an_archive_that_was_given_up_says_why_and_is_tried_again(stage):
    chat = fill(stage.engine)
    give_up(stage.engine, chat)
    async with stage.playing() as window:
        notice = window.memory.commits
        await until(notice.retry.isVisible)
        assert "is not finished" in notice.headline.text()
        assert "The model did not answer in time." in notice.reason.text()
        notice.retry.click()
        await until(lambda: not notice.isVisible())
        assert stage.engine.commits.retried == [chat.id]
        give_up(stage.engine, chat)
        stage.engine.publish(Changes(memory=frozenset({chat.id})))
        await until(notice.retry.isVisible)


async def test_settings_lead_to_the_models_page(stage):
    async with stage.playing():
        stage.desk.pages.open_settings()
        stage.desk.pages.settings_sheet.models_button.click()
        await until(lambda: stage.desk.pages.models_window is not None)
        assert stage.desk.pages.models_window.isVisible()
