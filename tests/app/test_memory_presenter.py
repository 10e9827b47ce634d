"""The Memory tab's presenter: follows changes, walks through versions, does what the user does to lines."""

import asyncio
from dataclasses import replace

import pytest

from app.presenters.memory import MemoryPresenter
from app.rendering.memory_rows import Act, LineAction
from core.changes import Changes
from core.errors import MemoryEditError, StorageError
from core.model import ChangeKind, LineChange, MemoryDiff, Message, MessageId, MessageStatus, Role, Section, TurnId
from tests.app.scripted import ScriptedEngine, empty_memory

FACTS = Section.FACTS


class Screen:
    """Keeps what the tab was told to show."""

    def __init__(self) -> None:
        self.memory = None
        self.memories_shown = 0
        self.versions = ()
        self.diff = None
        self.remember = True
        self.updating = []
        self.message = ""
        self.kept = []
        self.reports = []
        self.offers = []

    def show_memory(self, memory, now):
        self.memory = memory
        self.memories_shown += 1

    def show_versions(self, versions):
        self.versions = versions

    def show_difference(self, diff):
        self.diff = diff

    def set_remember(self, remember):
        self.remember = remember

    def set_updating(self, updating):
        self.updating.append(updating)

    def show_message(self, text):
        self.message = text

    def keep_text(self, action):
        self.kept.append(action)


class Setup:
    """A presenter with three versions of a memory behind it."""

    def __init__(self, versions: int = 3) -> None:
        self.engine, self.screen = ScriptedEngine(), Screen()
        self.conversation = self.engine.add("talk", id="a")
        base = empty_memory(self.conversation.id)
        made = [replace(base, version=v, newest=versions) for v in range(1, versions + 1)]
        self.engine.memories[self.conversation.id] = made
        self.presenter = MemoryPresenter(
            self.engine.memory, self.screen, report=self.screen.reports.append, offer_undo=self.screen.offers.append,
            clock=lambda: self.engine.now,
        )  # fmt: skip
        self.engine.subscribe(self.presenter.on_changes)

    async def show(self) -> None:
        self.presenter.show(self.conversation)
        await settle()

    def touch(self) -> None:
        self.engine.publish(Changes(memory=frozenset({self.conversation.id})))


async def settle() -> None:
    await asyncio.sleep(0.01)


def run(check) -> None:
    async def play() -> None:
        setup = Setup()
        try:
            await check(setup)
        finally:
            await setup.presenter.aclose()

    asyncio.run(play())


def test_memory_follows_changes_and_old_versions_stay_until_the_newest_is_chosen():
    async def check(setup):
        await setup.show()
        assert setup.screen.memory.version == 3
        setup.presenter.choose_version(1)
        await settle()
        setup.touch()
        await settle()
        assert setup.screen.memory.version == 1
        setup.presenter.choose_version(3)
        await settle()
        assert setup.screen.memory.version == 3

    run(check)


def test_a_hidden_tab_loads_nothing_until_it_is_seen():
    async def check(setup):
        setup.presenter.set_visible(False)
        await setup.show()
        setup.touch()
        await settle()
        assert setup.screen.memory is None
        setup.presenter.set_visible(True)
        await settle()
        assert setup.screen.memory.version == 3

    run(check)


def test_update_now_says_so_when_there_is_nothing_to_take_in():
    async def check(setup):
        await setup.show()
        setup.presenter.update_now()
        await settle()
        assert setup.screen.message == ""
        setup.engine.memories[setup.conversation.id] = []
        setup.presenter.update_now()
        await settle()
        assert "up to date" in setup.screen.message
        assert setup.screen.updating == [True, False, True, False]

    run(check)


def test_a_failed_update_is_reported_and_the_button_comes_back():
    async def check(setup):
        await setup.show()
        setup.engine.fail_next = StorageError("The store is busy.")
        setup.presenter.update_now()
        await settle()
        assert setup.screen.reports == ["The store is busy."]
        assert setup.screen.updating[-1] is False

    run(check)


def test_many_notices_cause_few_loads():
    async def check(setup):
        await setup.show()
        for _ in range(500):
            setup.touch()
        await asyncio.sleep(0.2)
        assert setup.screen.memories_shown <= 3

    run(check)


@pytest.mark.parametrize(
    ("action", "asked"),
    [
        (LineAction(act=Act.ADD, section=FACTS, text="x"), ("add", FACTS, "x")),
        (LineAction(act=Act.EDIT, section=FACTS, text="x", new_text="y"), ("change", FACTS, "x", "y")),
        (LineAction(act=Act.REMOVE, section=FACTS, text="x"), ("remove", FACTS, "x")),
        (LineAction(act=Act.MOVE, section=FACTS, text="x", to=Section.ISSUES), ("move", FACTS, "x", Section.ISSUES)),
        (LineAction(act=Act.LOCK, section=FACTS, text="x"), ("set_locked", FACTS, "x", True)),
        (LineAction(act=Act.UNLOCK, section=FACTS, text="x"), ("set_locked", FACTS, "x", False)),
        (LineAction(act=Act.KEEP, section=FACTS, text="x"), ("accept", FACTS, "x")),
        (LineAction(act=Act.DISCARD, section=FACTS, text="x"), ("discard", FACTS, "x")),
        (LineAction(act=Act.BRING_BACK, section=FACTS, text="x"), ("bring_back", FACTS, "x")),
        (LineAction(act=Act.DROP, section=FACTS, text="x"), ("drop", FACTS, "x")),
        (LineAction(act=Act.DISMISS, section=FACTS, text="x"), ("drop", FACTS, "x")),
        (LineAction(act=Act.TAKE, section=FACTS, text="x", line="l"), ("take_wanted", FACTS, "l", "x")),
        (LineAction(act=Act.PUT_BACK, section=FACTS, text="x", turns=(TurnId(3),)), ("add", FACTS, "x")),
    ],
)  # fmt: skip
def test_what_is_done_to_a_line_reaches_the_store_and_is_shown(action, asked):
    async def check(setup):
        await setup.show()
        shown = setup.screen.memories_shown
        setup.presenter.act(action)
        await settle()
        assert setup.engine.memory.asked == [asked]
        assert setup.screen.memories_shown > shown

    run(check)


def test_what_takes_something_away_offers_undo_and_typing_does_not():
    async def check(setup):
        await setup.show()
        setup.presenter.act(LineAction(act=Act.ADD, section=FACTS, text="x"))
        await settle()
        assert setup.screen.offers == []
        setup.presenter.act(LineAction(act=Act.REMOVE, section=FACTS, text="x"))
        await settle()
        assert setup.screen.offers == ["You asked to remove."]
        setup.presenter.undo()
        await settle()
        assert setup.engine.memory.asked[-1] == ("undo",)
        setup.presenter.redo()
        await settle()
        assert setup.engine.memory.asked[-1] == ("redo",)

    run(check)


def test_an_edit_that_cannot_be_made_gives_the_typed_text_back():
    async def check(setup):
        await setup.show()
        action = LineAction(act=Act.EDIT, section=FACTS, text="x", new_text="what I typed")
        setup.engine.fail_next = MemoryEditError("That line is no longer in memory.")
        setup.presenter.act(action)
        await settle()
        assert setup.screen.kept == [action]
        assert setup.screen.message == "That line is no longer in memory."

    run(check)


def test_a_line_that_cannot_be_removed_is_said_and_nothing_is_typed():
    async def check(setup):
        await setup.show()
        setup.engine.fail_next = MemoryEditError("That line is no longer in memory.")
        setup.presenter.act(LineAction(act=Act.REMOVE, section=FACTS, text="x"))
        await settle()
        assert (setup.screen.kept, setup.screen.offers) == ([], [])
        assert setup.screen.message == "That line is no longer in memory."

    run(check)


def test_restoring_an_old_version_shows_the_newest_again():
    async def check(setup):
        await setup.show()
        setup.presenter.choose_version(1)
        await settle()
        setup.presenter.restore(1)
        await settle()
        assert setup.engine.memory.asked == [("restore", 1)]
        assert setup.screen.memory.version == 3
        assert setup.screen.offers == ["You asked to restore."]

    run(check)


def test_the_list_of_versions_grows_with_the_memory_and_is_not_read_twice():
    async def check(setup):
        await setup.show()
        assert [v.number for v in setup.screen.versions] == [1, 2, 3]
        memories = setup.engine.memories[setup.conversation.id]
        memories.append(replace(memories[-1], version=4, newest=4))
        setup.touch()
        await settle()
        assert [v.number for v in setup.screen.versions] == [1, 2, 3, 4]

    run(check)


def test_a_difference_is_shown_only_for_the_version_on_screen():
    async def check(setup):
        await setup.show()
        change = LineChange(section=FACTS, kind=ChangeKind.CAME, before="", after="x")
        setup.engine.memory.diff = MemoryDiff(older=0, newer=0, changes=(change,))
        setup.presenter.show_difference(1)
        await settle()
        assert setup.screen.diff is None
        setup.presenter.choose_version(1)
        await settle()
        setup.presenter.show_difference(1)
        await settle()
        assert (setup.screen.diff.older, setup.screen.diff.newer) == (1, 3)

    run(check)


def test_a_message_is_remembered_with_its_turn():
    async def check(setup):
        await setup.show()
        message = Message(
            id=MessageId(1), session_id=setup.conversation.id, turn=TurnId(7), role=Role.USER, text="I like tea.",
            status=MessageStatus.COMPLETE, created_at=0.0,
        )  # fmt: skip
        setup.presenter.remember(message)
        await settle()
        assert setup.engine.memory.asked == [("remember", "I like tea.", 7)]
        assert setup.screen.offers == ["Remembered under Key Facts & Decisions."]

    run(check)
