"""Presenters against a scripted engine: what the user does, and what is then shown."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from app.presenters.chat import ChatPresenter
from app.presenters.conversations import ConversationsPresenter
from app.presenters.files import FilesPresenter
from app.presenters.segments import SegmentsPresenter
from app.presenters.status import StatusPresenter
from app.presenters.tasks import UNEXPECTED, Refresher, Tasks
from core.changes import Changes
from core.errors import MemoryFileBusyError, StorageError
from core.model import (
    BoundaryReason,
    Conversation,
    EngineStatus,
    FileEntry,
    GoalProposal,
    Message,
    MessageStatus,
    ModelPhase,
    ModelStatus,
    Segment,
    SegmentId,
    SessionId,
    TurnId,
    WorkingMemory,
)
from tests.app.scripted import ScriptedEngine

Check = Callable[[], Coroutine[Any, Any, None]]


def run(check: Check) -> None:
    asyncio.run(asyncio.wait_for(check(), 5))


async def settle() -> None:
    """Let every task that can run, run."""
    for _ in range(30):
        await asyncio.sleep(0)


@dataclass
class Screen:
    """Every view protocol at once: remembers what it was last told."""

    conversation: Conversation | None = None
    conversations: tuple[Conversation, ...] = ()
    selected: SessionId | None = None
    undo: tuple[tuple[SessionId, ...], tuple[str, ...]] = ((), ())
    messages: tuple[Message, ...] = ()
    has_earlier: bool = False
    live: dict[int, str] = field(default_factory=dict)
    separators: dict[TurnId, str] = field(default_factory=dict)
    busy: bool = False
    proposals: tuple[GoalProposal, ...] = ()
    editors_closed: bool = False
    waiting: str = ""
    composer: str = ""
    error: str = ""
    jumps: list[TurnId] = field(default_factory=list)
    memory: WorkingMemory | None = None
    memories_shown: int = 0
    remember: bool = True
    updating: list[bool] = field(default_factory=list)
    message: str = ""
    segments: tuple[Segment, ...] = ()
    files: tuple[Any, ...] = ()
    model: ModelStatus | None = None
    memory_state: str = ""
    problems: tuple[str, ...] = ()
    reports: list[str] = field(default_factory=list)

    def report(self, text):
        self.reports.append(text)

    def set_conversation(self, conversation):
        self.conversation = conversation

    def show_conversations(self, conversations, selected):
        self.conversations, self.selected = tuple(conversations), selected

    def select(self, session_id):
        self.selected = session_id

    def offer_undo(self, session_ids, titles):
        self.undo = (tuple(session_ids), tuple(titles))

    def show_messages(self, messages, has_earlier):
        self.messages, self.has_earlier = tuple(messages), has_earlier
        self.live = {m.id: m.text for m in messages}

    def append_piece(self, message_id, text):
        self.live[message_id] += text

    def set_separators(self, separators):
        self.separators = dict(separators)

    def set_busy(self, busy):
        self.busy = busy

    def set_waiting(self, text):
        self.waiting = text

    def set_draft(self, text):
        self.composer = text

    def clear_sent(self, text):
        if self.composer == text:
            self.composer = ""

    def show_send_error(self, text):
        self.error = text

    def jump_to(self, turn):
        self.jumps.append(turn)

    def show_memory(self, memory, now):
        self.memory = memory
        self.memories_shown += 1

    def set_remember(self, remember):
        self.remember = remember

    def set_updating(self, updating):
        self.updating.append(updating)

    def show_message(self, text):
        self.message = text

    def show_segments(self, segments, now):
        self.segments = tuple(segments)

    def show_files(self, files, now):
        self.files = tuple(files)

    def show_proposals(self, proposals):
        self.proposals = tuple(proposals)

    def close_editors(self):
        self.editors_closed = True

    def show_model(self, status):
        self.model = status

    def show_memory_state(self, text):
        self.memory_state = text

    def show_problems(self, problems):
        self.problems = tuple(problems)


class Setup:
    """A scripted engine, a screen, and the two presenters that belong together."""

    def __init__(self) -> None:
        self.engine = ScriptedEngine()
        self.screen = Screen()
        self.list = ConversationsPresenter(self.engine, self.screen, report=self.screen.report, on_open=self._open)
        self.chat = ChatPresenter(self.engine, self.screen, report=self.screen.report, create=self.list.create)
        self.engine.subscribe(self.list.on_changes)
        self.engine.subscribe(self.chat.on_changes)

    def _open(self, conversation):
        self.chat.show(conversation)

    async def start(self, wanted=None):
        await self.list.start(wanted)
        await settle()

    async def aclose(self):
        await self.chat.aclose()
        await self.list.aclose()


# -- the list ------------------------------------------------------------------------------------------


def test_the_conversation_that_was_open_last_opens_again_else_the_newest():
    async def check():
        setup = Setup()
        setup.engine.add("old", id="a", updated_at=1.0)
        setup.engine.add("new", id="b", updated_at=2.0)
        await setup.start(SessionId("a"))
        assert setup.screen.conversation.title == "old"
        other = Setup()
        other.engine = setup.engine
        other.list._store = setup.engine
        other.chat._engine = setup.engine
        await other.start(SessionId("deleted long ago"))
        assert other.screen.conversation.title == "new"

    run(check)


def test_deleting_opens_the_neighbour_and_undo_brings_all_back():
    async def check():
        setup = Setup()
        for i in range(3):
            setup.engine.add(f"c{i}", id=f"c{i}", updated_at=10.0 - i)
        await setup.start(SessionId("c1"))
        setup.list.delete(SessionId("c1"))
        await settle()
        assert setup.screen.conversation.id == "c2"
        setup.list.delete(SessionId("c2"))
        await settle()
        assert setup.screen.undo[0] == ("c1", "c2")
        setup.list.undo_delete()
        await settle()
        assert {c.id for c in setup.screen.conversations} == {"c0", "c1", "c2"}
        assert setup.screen.conversation.id == "c2"

    run(check)


def test_new_conversation_reuses_an_empty_one():
    async def check():
        setup = Setup()
        setup.engine.add("talk", id="a", turn_count=3)
        await setup.start()
        setup.list.new()
        await settle()
        assert len(setup.screen.conversations) == 2
        setup.list.new()
        await settle()
        assert len(setup.screen.conversations) == 2

    run(check)


def test_a_failing_store_is_told_in_its_own_words():
    async def check():
        setup = Setup()
        setup.engine.add("talk", id="a")
        await setup.start()
        setup.engine.fail_next = StorageError("The disk is full. Nothing was lost.")
        setup.list.delete(SessionId("a"))
        await settle()
        assert setup.screen.reports == ["The disk is full. Nothing was lost."]
        assert setup.screen.conversation.id == "a"

    run(check)


# -- the chat ------------------------------------------------------------------------------------------


def test_a_message_is_sent_streams_and_ends():
    async def check():
        setup = Setup()
        session = setup.engine.add("talk", id="a").id
        await setup.start()
        setup.screen.composer = "hello"
        setup.chat.send("hello")
        await settle()
        assert [m.text for m in setup.screen.messages] == ["hello", ""]
        assert setup.screen.busy
        assert setup.screen.composer == ""
        setup.engine.stream(session, "Hi ")
        setup.engine.stream(session, "Ada")
        reply = setup.screen.messages[-1].id
        assert setup.screen.live[reply] == "Hi Ada"
        assert setup.chat.last_reply() == "Hi Ada"
        setup.engine.end_reply(session, "Hi Ada.")
        await settle()
        assert setup.screen.messages[-1].text == "Hi Ada."
        assert not setup.screen.busy
        await setup.aclose()

    run(check)


def test_a_message_that_cannot_be_stored_stays_in_the_composer():
    async def check():
        setup = Setup()
        setup.engine.add("talk", id="a")
        await setup.start()
        setup.screen.composer = "hello"
        setup.engine.fail_next = StorageError("The disk is full.")
        setup.chat.send("hello")
        await settle()
        assert (setup.screen.composer, setup.screen.error) == ("hello", "The disk is full.")
        assert not setup.screen.busy
        setup.chat.send("hello")
        await settle()
        assert (setup.screen.composer, setup.screen.error) == ("", "")

    run(check)


def test_what_is_typed_while_a_message_is_on_its_way_stays():
    async def check():
        setup = Setup()
        setup.engine.add("talk", id="a")
        await setup.start()
        setup.engine.send_gate = asyncio.Event()
        setup.screen.composer = "hello"
        setup.chat.send("hello")
        await settle()
        setup.screen.composer = "hello and more"
        setup.engine.send_gate.set()
        await settle()
        assert setup.screen.composer == "hello and more"

    run(check)


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_blank_messages_are_not_sent(text):
    async def check():
        setup = Setup()
        setup.engine.add("talk", id="a")
        await setup.start()
        setup.chat.send(text)
        await settle()
        assert setup.engine.messages["a"] == []

    run(check)


def test_the_first_message_makes_its_conversation():
    async def check():
        setup = Setup()
        await setup.start()
        assert setup.screen.conversation is None
        setup.chat.send("hello")
        await settle()
        assert len(setup.screen.conversations) == 1
        assert [m.text for m in setup.screen.messages] == ["hello", ""]

    run(check)


def test_stop_reaches_the_engine_only_while_a_reply_runs():
    async def check():
        setup = Setup()
        session = setup.engine.add("talk", id="a").id
        await setup.start()
        setup.chat.stop()
        setup.chat.send("hello")
        await settle()
        setup.chat.stop()
        await settle()
        assert setup.engine.stopped == [session]

    run(check)


def test_text_that_streamed_never_shrinks_when_an_older_state_is_loaded():
    async def check():
        setup = Setup()
        session = setup.engine.add("talk", id="a").id
        await setup.start()
        setup.chat.send("hello")
        await settle()
        setup.engine.stream(session, "one two three")
        stored = replace(setup.engine.messages[session][-1], text="one ", status=MessageStatus.STREAMING)
        setup.engine.messages[session][-1] = stored
        setup.engine.publish(Changes(messages=frozenset({session})))
        await settle()
        assert setup.screen.live[stored.id] == "one two three"

    run(check)


def test_a_reply_that_runs_in_another_conversation_is_whole_when_one_looks(caplog):
    async def check():
        setup = Setup()
        session = setup.engine.add("talk", id="a", updated_at=2.0).id
        setup.engine.add("other", id="b", updated_at=1.0)
        await setup.start()
        setup.chat.send("hello")
        await settle()
        setup.engine.stream(session, "one ")
        setup.list.open(SessionId("b"))
        await settle()
        setup.engine.stream(session, "two ")
        stored = replace(setup.engine.messages[session][-1], text="one ", status=MessageStatus.STREAMING)
        setup.engine.messages[session][-1] = stored
        setup.list.open(session)
        await settle()
        setup.engine.stream(session, "three")
        assert setup.screen.live[stored.id] == "one two three"
        assert setup.screen.busy

    run(check)


def test_drafts_belong_to_their_conversation_and_survive_closing():
    async def check():
        setup = Setup()
        setup.engine.add("a", id="a", updated_at=2.0)
        setup.engine.add("b", id="b", updated_at=1.0)
        setup.engine.drafts[SessionId("b")] = "kept from yesterday"
        await setup.start()
        setup.chat.set_draft("half a thought")
        setup.list.open(SessionId("b"))
        await settle()
        assert setup.screen.composer == "kept from yesterday"
        assert setup.engine.drafts["a"] == "half a thought"
        setup.chat.set_draft("changed")
        await setup.aclose()
        assert setup.engine.drafts["b"] == "changed"

    run(check)


def test_earlier_turns_are_loaded_back_to_the_one_that_is_asked_for():
    async def check():
        setup = Setup()
        session = setup.engine.add("long", id="a").id
        turns = [setup.engine.add_turn(session, f"q{i}", f"a{i}") for i in range(500)]
        await setup.start()
        assert len(setup.screen.messages) == 80
        assert setup.screen.has_earlier
        setup.chat.load_earlier()
        await settle()
        assert [m.turn for m in setup.screen.messages[::2]] == turns[-80:]
        setup.chat.jump_to(turns[3])
        await settle()
        assert setup.screen.jumps == [turns[3]]
        assert setup.screen.messages[0].turn <= turns[3]
        assert len({m.id for m in setup.screen.messages}) == len(setup.screen.messages)

    run(check)


def test_separators_say_why_a_segment_began():
    async def check():
        setup = Setup()
        session = setup.engine.add("talk", id="a").id
        turn = setup.engine.add_turn(session, "q", "a")
        first = Segment(
            id=SegmentId("1"), session_id=session, first_turn=TurnId(0), last_turn=TurnId(0), turn_count=1,
            started_at=0, ended_at=1, is_open=False, opened_by=None, gap_s=None, title="", summary="",
        )  # fmt: skip
        second = replace(first, first_turn=turn, opened_by=BoundaryReason.TIME_GAP, gap_s=840.0)
        setup.engine.segments.held[session] = (first, second)
        await setup.start()
        assert setup.screen.separators == {turn: "new segment: 14 minutes of silence"}

    run(check)


def test_a_waiting_reply_says_what_the_model_does():
    async def check():
        setup = Setup()
        setup.engine.add("talk", id="a")
        await setup.start()
        setup.engine.model_status = ModelStatus(name="m", phase=ModelPhase.LOADING)
        setup.engine.publish(Changes(model=True))
        assert setup.screen.waiting == "loading the model…"

    run(check)


# -- the inspector -------------------------------------------------------------------------------------


def test_segments_are_shown_newest_first():
    async def check():
        engine, screen = ScriptedEngine(), Screen()
        conversation = engine.add("talk", id="a")
        segment = Segment(
            id=SegmentId("1"), session_id=conversation.id, first_turn=TurnId(1), last_turn=TurnId(2), turn_count=2,
            started_at=0, ended_at=None, is_open=False, opened_by=None, gap_s=None, title="", summary="",
        )  # fmt: skip
        engine.segments.held[conversation.id] = (segment, replace(segment, id=SegmentId("2")))
        presenter = SegmentsPresenter(
            engine.segments, screen, report=screen.report, offer_undo=screen.report, clock=lambda: 0.0
        )
        presenter.show(conversation)
        presenter.set_visible(True)
        await settle()
        assert [s.id for s in screen.segments] == ["2", "1"]

    run(check)


def make_files_presenter(engine, screen, offered=None):
    return FilesPresenter(
        engine.files,
        engine.goals,
        screen,
        report=screen.report,
        offer_undo=(offered if offered is not None else []).append,
        clock=lambda: 0.0,
    )


def test_taking_an_entry_out_offers_a_way_back_and_waits_visibly():
    async def check():
        engine, screen, offered = ScriptedEngine(), Screen(), []
        presenter = make_files_presenter(engine, screen, offered)
        entry = FileEntry(line=1, raw="- fact: one", text="fact: one", by_user=False)
        presenter.remove_entry("MEMORY.md", entry)
        await settle()
        assert engine.files.asked == [("remove", "MEMORY.md", "fact: one")]
        assert (offered, screen.busy, screen.editors_closed) == (["Taken out."], False, True)
        presenter.undo_last()
        presenter.undo_last()  # once is enough
        await settle()
        assert engine.undone == [71]

    run(check)


def test_an_entry_that_cannot_be_changed_keeps_its_editor_open():
    async def check():
        engine, screen = ScriptedEngine(), Screen()
        presenter = make_files_presenter(engine, screen)
        engine.fail_next = MemoryFileBusyError("MEMORY.md is being written by process 7. Try again.")
        entry = FileEntry(line=1, raw="- fact: one", text="fact: one", by_user=False)
        presenter.change_entry("MEMORY.md", entry, "fact: two")
        await settle()
        assert screen.message.startswith("MEMORY.md is being written")
        assert (screen.busy, screen.editors_closed) == (False, False)

    run(check)


def test_a_change_that_cannot_be_undone_is_said_beside_it():
    async def check():
        engine, screen = ScriptedEngine(), Screen()
        presenter = make_files_presenter(engine, screen)
        engine.fail_next = MemoryFileBusyError("MEMORY.md is being written by process 7. Try again.")
        presenter.undo(4)
        await settle()
        assert screen.message.startswith("MEMORY.md is being written")
        presenter.undo(4)
        await settle()
        assert (screen.message, engine.undone) == ("", [4])

    run(check)


def test_the_status_names_memory_and_problems():
    engine, screen = ScriptedEngine(), Screen()
    presenter = StatusPresenter(engine, screen)
    presenter.start()
    assert screen.memory_state == "memory: up to date"
    engine.status = EngineStatus(problems=("Vectors are off.",), memory_busy=True)
    presenter.on_changes(Changes(status=True))
    assert (screen.memory_state, screen.problems) == ("memory: updating…", ("Vectors are off.",))
    presenter.show(engine.add("x", remember=False))
    assert screen.memory_state == "memory: off for this conversation"


# -- tasks ---------------------------------------------------------------------------------------------


def test_a_bug_in_a_task_is_logged_and_told_in_one_plain_line(caplog):
    async def check():
        said: list[str] = []
        tasks = Tasks(said.append)

        async def broken():
            raise KeyError("secret text")

        tasks.start(broken())
        await settle()
        assert said == [UNEXPECTED]

    run(check)
    assert "secret text" in caplog.text


def test_nothing_is_started_after_the_end():
    async def check():
        done = []

        async def work():
            done.append(True)

        tasks = Tasks(lambda _text: None)
        await tasks.aclose()
        assert tasks.start(work()) is None
        await asyncio.sleep(0)
        assert not done

    asyncio.run(check())


def test_closing_ends_tasks_and_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr("app.presenters.tasks.CLOSE_TIMEOUT_S", 0.05)

    async def check():
        tasks = Tasks(lambda _text: None)
        ended = asyncio.Event()

        async def stubborn():
            try:
                await asyncio.Event().wait()
            finally:
                await ended.wait()

        task = tasks.start(stubborn())
        await settle()
        await tasks.aclose()
        assert not task.done()
        ended.set()
        await settle()
        assert task.done()

    run(check)


def test_a_refresher_loads_once_more_when_asked_while_loading():
    async def check():
        loads = []
        gate = asyncio.Event()

        async def load():
            loads.append(1)
            await gate.wait()

        refresher = Refresher(Tasks(lambda _text: None), load, pause_s=0)
        for _ in range(5):
            refresher.request()
            await settle()
        assert len(loads) == 1
        gate.set()
        await settle()
        assert len(loads) == 2

    run(check)
