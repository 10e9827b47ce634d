"""A stand-in for the engine with the same façade: conversations in memory, replies by script.

Used by tests of presenters and of the window, where the real store and model would add nothing.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.changes import Changes, Listener, ReplyPiece
from core.errors import CoreError, NotFoundError
from core.model import (
    Conversation,
    EngineStatus,
    FileDone,
    FileEntry,
    ForgetPreview,
    GoalsState,
    MemoryDiff,
    MemoryFile,
    MemorySection,
    MemoryVersion,
    Message,
    MessageId,
    MessageStatus,
    ModelPhase,
    ModelStatus,
    Profile,
    Role,
    Section,
    Segment,
    SegmentId,
    SentPrompt,
    SessionId,
    SplitTurn,
    TreeItem,
    TreeView,
    TurnId,
    WorkingMemory,
)
from tests.app.scripted_activity import ScriptedActivity, ScriptedSettings
from tests.app.scripted_commits import ScriptedCommits
from tests.app.scripted_models import ScriptedAsking, ScriptedExams, ScriptedModels, ScriptedServers


def empty_memory(session_id: SessionId) -> WorkingMemory:
    """Seven empty sections, nothing committed."""
    sections = tuple(MemorySection(section=s, lines=(), tokens=0) for s in Section)
    return WorkingMemory(session_id=session_id, version=0, newest=0, committed_at=None, sections=sections)


class ScriptedFiles:
    """`engine.files`: the memory files that a test put there."""

    def __init__(self, engine: "ScriptedEngine") -> None:
        self._engine = engine
        self.held: tuple[MemoryFile, ...] = ()
        self.asked: list[tuple[str, ...]] = []

    async def load(self) -> tuple[MemoryFile, ...]:
        self._engine.maybe_fail()
        return self.held

    async def undo(self, change_id: int) -> str:
        self._engine.maybe_fail()
        self._engine.undone.append(change_id)
        return ""

    async def remove_entry(self, file: str, entry: FileEntry) -> FileDone:
        self._engine.maybe_fail()
        self.asked.append(("remove", file, entry.text))
        return FileDone(change_id=71)

    async def change_entry(self, file: str, entry: FileEntry, words: str) -> FileDone:
        self._engine.maybe_fail()
        self.asked.append(("change", file, entry.text, words))
        return FileDone(change_id=72)

    async def save(self, file: str, text: str, base: str) -> FileDone:
        self._engine.maybe_fail()
        self.asked.append(("save", file, text, base))
        return FileDone(change_id=73)


class ScriptedGoals:
    """`engine.goals`: the proposals that a test put there."""

    def __init__(self, engine: "ScriptedEngine") -> None:
        self._engine = engine
        self.held = GoalsState(goals=(), proposals=())
        self.asked: list[tuple[str, int]] = []

    async def load(self) -> GoalsState:
        self._engine.maybe_fail()
        return self.held

    async def take(self, proposal_id: int, *, retire: str = "") -> str:
        self.asked.append(("take", proposal_id))
        return ""

    async def dismiss(self, proposal_id: int) -> None:
        self.asked.append(("dismiss", proposal_id))


class ScriptedProfile:
    """`engine.profile`: the facets that a test put there; notes what it was asked for."""

    def __init__(self, engine: "ScriptedEngine") -> None:
        self._engine = engine
        self.held = Profile()
        self.asked: list[tuple[object, ...]] = []
        self.preview = ForgetPreview(facet_ids=(), texts=(), events=0, recaps=0, lines=())

    async def load(self) -> Profile:
        self._engine.maybe_fail()
        return self.held

    async def confirm(self, facet_id: str) -> None:
        self._note("confirm", facet_id)

    async def pin(self, facet_id: str, pinned: bool) -> None:
        self._note("pin", facet_id, pinned)

    async def correct(self, facet_id: str, text: str) -> None:
        self._note("correct", facet_id, text)

    async def choose(self, facet_id: str, conflict_id: int) -> None:
        self._note("choose", facet_id, conflict_id)

    async def preview_forget(self, facet_ids: Sequence[str]) -> ForgetPreview:
        return replace(self.preview, facet_ids=tuple(facet_ids))

    async def forget(self, facet_ids: Sequence[str]) -> None:
        gone = set(facet_ids)
        left = tuple(f for f in self.held.facets if f.id not in gone)
        self.held = replace(self.held, facets=left, to_forget=None, undo="Forgot it")
        self._note("forget", *facet_ids)

    async def dismiss_forget(self) -> None:
        self.held = replace(self.held, to_forget=None)
        self._note("keep")

    async def undo(self) -> str:
        words = self.held.undo
        self._note("undo")
        return words

    def _note(self, *asked: object) -> None:
        self._engine.maybe_fail()
        self.asked.append(asked)
        self._engine.publish(Changes(profile=True))


class ScriptedMemory:
    """`engine.memory`: the versions that a test put into `engine.memories`; changes are only noted."""

    def __init__(self, engine: "ScriptedEngine") -> None:
        self._engine = engine
        self.asked: list[tuple[object, ...]] = []  # (method, arguments …) of every change
        self.diff = MemoryDiff(older=0, newer=0, changes=())

    async def load(self, session_id: SessionId, version: int | None = None) -> WorkingMemory:
        self._engine.maybe_fail()
        versions = self._engine.memories.get(session_id, [])
        if not versions:
            return empty_memory(session_id)
        return versions[-1] if version is None else versions[version - 1]

    async def commit(self, session_id: SessionId) -> bool:
        self._engine.maybe_fail()
        return bool(self._engine.memories.get(session_id))

    async def list_versions(self, session_id: SessionId, *, after: int = 0) -> tuple[MemoryVersion, ...]:
        newest = self._engine.memories.get(session_id, [])
        return tuple(
            MemoryVersion(
                number=n, at=self._engine.now - 60 * (last - n), cause="A segment closed.", lines=n, came=1, went=0
            )
            for last in [newest[-1].newest if newest else 0]
            for n in range(after + 1, last + 1)
        )

    async def compare(self, session_id: SessionId, older: int, newer: int) -> MemoryDiff:
        return replace(self.diff, older=older, newer=newer)

    async def add(self, session_id: SessionId, section: Section, text: str, *, turns: Sequence[TurnId] = ()) -> str:
        return self._note("add", section, text)

    async def remember(self, session_id: SessionId, text: str, turn: TurnId) -> str:
        return self._note("remember", text, turn)

    async def change(self, session_id: SessionId, section: Section, text: str, new_text: str) -> str:
        return self._note("change", section, text, new_text)

    async def remove(self, session_id: SessionId, section: Section, text: str) -> str:
        return self._note("remove", section, text)

    async def move(self, session_id: SessionId, section: Section, text: str, to: Section) -> str:
        return self._note("move", section, text, to)

    async def set_locked(self, session_id: SessionId, section: Section, text: str, locked: bool) -> str:
        return self._note("set_locked", section, text, locked)

    async def accept(self, session_id: SessionId, section: Section, text: str) -> str:
        return self._note("accept", section, text)

    async def discard(self, session_id: SessionId, section: Section, text: str) -> str:
        return self._note("discard", section, text)

    async def bring_back(self, session_id: SessionId, section: Section, text: str) -> str:
        return self._note("bring_back", section, text)

    async def drop(self, session_id: SessionId, section: Section, text: str) -> str:
        return self._note("drop", section, text)

    async def take_wanted(self, session_id: SessionId, section: Section, line: str, text: str) -> str:
        return self._note("take_wanted", section, line, text)

    async def restore(self, session_id: SessionId, version: int) -> str:
        return self._note("restore", version)

    async def undo(self, session_id: SessionId) -> str:
        return self._note("undo")

    async def redo(self, session_id: SessionId) -> str:
        return self._note("redo")

    def _note(self, *asked: object) -> str:
        self._engine.maybe_fail()
        self.asked.append(asked)
        return f"you asked to {asked[0]}"


class ScriptedSegments:
    """`engine.segments`: what a test put there, and what was asked for."""

    def __init__(self, engine: "ScriptedEngine") -> None:
        self._engine = engine
        self.held: dict[SessionId, tuple[Segment, ...]] = {}
        self.asked: list[tuple[object, ...]] = []
        self.turns: tuple[SplitTurn, ...] = ()
        self.answer = ""  # what `recap_again` and `undo` have to say

    async def load(self, session_id: SessionId) -> tuple[Segment, ...]:
        self._engine.maybe_fail()
        return self.held.get(session_id, ())

    async def list_turns(self, segment_id: SegmentId) -> tuple[SplitTurn, ...]:
        return self.turns

    async def recap_again(self, segment_id: SegmentId) -> str:
        self._note("recap_again", segment_id)
        return self.answer

    async def merge(self, segment_id: SegmentId) -> int:
        return self._note("merge", segment_id)

    async def split(self, segment_id: SegmentId, turn: TurnId) -> int:
        return self._note("split", segment_id, turn)

    async def rename(self, segment_id: SegmentId, title: str) -> int:
        return self._note("rename", segment_id, title)

    async def undo(self, edit_id: int) -> str:
        self._note("undo", edit_id)
        return self.answer

    def show(self, session_id: SessionId | None) -> None:
        self.asked.append(("show", session_id))

    def _note(self, *asked: object) -> int:
        self._engine.maybe_fail()
        self.asked.append(asked)
        return len(self.asked)


class ScriptedTree:
    """`engine.tree`: the top of each view and what lies below."""

    def __init__(self) -> None:
        self.top: dict[TreeView, tuple[TreeItem, ...]] = {}
        self.below: dict[str, tuple[TreeItem, ...]] = {}

    async def load(self, view: TreeView) -> tuple[TreeItem, ...]:
        return self.top.get(view, ())

    async def open(self, ref: str) -> tuple[TreeItem, ...]:
        return self.below.get(ref, ())


class ScriptedPrompts:
    """`engine.prompts`: what was sent in each conversation, oldest first, and its instructions."""

    def __init__(self, engine: "ScriptedEngine") -> None:
        self._engine = engine
        self.held: dict[SessionId, tuple[SentPrompt, ...]] = {}
        self.instructions: dict[SessionId, str] = {}

    async def load(self, session_id: SessionId, turn: TurnId | None = None) -> SentPrompt | None:
        self._engine.maybe_fail()
        held = self.held.get(session_id, ())
        return next((sent for sent in held if sent.turn == turn), held[-1] if held else None)

    async def load_instructions(self, session_id: SessionId) -> str:
        return self.instructions.get(session_id, "")

    async def set_instructions(self, session_id: SessionId, text: str) -> None:
        self._engine.maybe_fail()
        self.instructions[session_id] = text
        self._engine.publish(Changes(prompts=frozenset({session_id})))


class ScriptedEngine:
    """Everything a presenter may ask of the engine; tests set what it holds and how it fails."""

    def __init__(self, now: float = 1_796_000_000.0) -> None:
        self.now = now
        self.listeners: list[Listener] = []
        self.conversations: dict[SessionId, Conversation] = {}
        self.deleted: dict[SessionId, Conversation] = {}
        self.messages: dict[SessionId, list[Message]] = {}
        self.segments = ScriptedSegments(self)
        self.tree = ScriptedTree()
        self.memories: dict[SessionId, list[WorkingMemory]] = {}
        self.files = ScriptedFiles(self)
        self.goals = ScriptedGoals(self)
        self.profile = ScriptedProfile(self)
        self.activity = ScriptedActivity()
        self.settings = ScriptedSettings()
        self.prompts = ScriptedPrompts(self)
        self.memory = ScriptedMemory(self)
        self.commits = ScriptedCommits(self.maybe_fail)
        self.asking = ScriptedAsking(self.maybe_fail, self.publish)
        self.models = ScriptedModels(self.maybe_fail, self.publish)
        self.servers = ScriptedServers(self.maybe_fail)
        self.exams = ScriptedExams(self.servers)
        self.drafts: dict[SessionId, str] = {}
        self.undone: list[int] = []
        self.stopped: list[SessionId] = []
        self.fail_next: CoreError | None = None
        self.send_gate: asyncio.Event | None = None
        self.model_status = ModelStatus(name="SmolLM2 135M · Q4_1", phase=ModelPhase.READY)
        self.status = EngineStatus()
        self._ids = itertools.count(1)

    # -- set-up by tests ---------------------------------------------------------------------------

    def add(self, title: str, *, id: str = "", **fields: object) -> Conversation:
        """Put a conversation in."""
        session = SessionId(id or f"s{next(self._ids)}")
        base = Conversation(id=session, title=title, preview="", created_at=self.now, updated_at=self.now, turn_count=0)
        self.conversations[session] = conversation = replace(base, **fields)  # type: ignore[arg-type]
        self.messages.setdefault(session, [])
        return conversation

    def add_turn(self, session: SessionId, user: str, reply: str, **fields: object) -> TurnId:
        """Put a finished turn in."""
        turn = TurnId(next(self._ids))
        at = self.now - 3_600 + turn
        self.messages[session] += [
            self._message(session, turn, Role.USER, user, at),
            replace(self._message(session, turn, Role.ASSISTANT, reply, at), **fields),  # type: ignore[arg-type]
        ]
        count = self.conversations[session].turn_count + 1
        self.conversations[session] = replace(self.conversations[session], turn_count=count)
        return turn

    def publish(self, changes: Changes) -> None:
        """Tell every listener."""
        for listener in tuple(self.listeners):
            listener(changes)

    def stream(self, session: SessionId, text: str) -> None:
        """One more piece of the running reply."""
        reply = self.messages[session][-1]
        self.publish(Changes(reply=ReplyPiece(session_id=session, message_id=reply.id, text=text)))

    def end_reply(self, session: SessionId, text: str, status: MessageStatus = MessageStatus.COMPLETE) -> None:
        """The running reply ends."""
        self.messages[session][-1] = replace(self.messages[session][-1], text=text, status=status)
        self.publish(Changes(messages=frozenset({session})))

    # -- the façade ----------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    async def list_conversations(self) -> tuple[Conversation, ...]:
        self.maybe_fail()
        return tuple(sorted(self.conversations.values(), key=lambda c: (not c.pinned, -c.updated_at)))

    async def create_conversation(self) -> Conversation:
        self.maybe_fail()
        return self.add("")

    async def rename_conversation(self, session_id: SessionId, title: str) -> None:
        self._replace(session_id, title=title)

    async def pin_conversation(self, session_id: SessionId, pinned: bool) -> None:
        self._replace(session_id, pinned=pinned)

    async def set_remember(self, session_id: SessionId, remember: bool) -> None:
        self._replace(session_id, remember=remember)
        self.publish(Changes(conversations=True))

    async def delete_conversation(self, session_id: SessionId) -> None:
        self.maybe_fail()
        self.deleted[session_id] = self.conversations.pop(session_id)

    async def restore_conversation(self, session_id: SessionId) -> None:
        self.conversations[session_id] = self.deleted.pop(session_id)

    async def load_messages(
        self, session_id: SessionId, *, before: TurnId | None = None, limit_turns: int = 40
    ) -> tuple[Message, ...]:
        self.maybe_fail()
        await asyncio.sleep(0)
        held = [m for m in self.messages.get(session_id, []) if before is None or m.turn < before]
        turns = sorted({m.turn for m in held})[-limit_turns:]
        return tuple(m for m in held if m.turn in turns)

    async def send(self, session_id: SessionId, text: str) -> tuple[Message, Message]:
        if self.send_gate is not None:
            await self.send_gate.wait()
        self.maybe_fail()
        turn = TurnId(next(self._ids))
        user = self._message(session_id, turn, Role.USER, text, self.now)
        reply = replace(self._message(session_id, turn, Role.ASSISTANT, "", self.now), status=MessageStatus.WAITING)
        self.messages[session_id] += [user, reply]
        count = self.conversations[session_id].turn_count + 1
        self._replace(session_id, turn_count=count)
        return user, reply

    async def stop_reply(self, session_id: SessionId) -> None:
        self.stopped.append(session_id)

    async def load_draft(self, session_id: SessionId) -> str:
        return self.drafts.get(session_id, "")

    async def save_draft(self, session_id: SessionId, text: str) -> None:
        self.drafts[session_id] = text

    def _message(self, session: SessionId, turn: TurnId, role: Role, text: str, at: float) -> Message:
        return Message(
            id=MessageId(next(self._ids)),
            session_id=session,
            turn=turn,
            role=role,
            text=text,
            status=MessageStatus.COMPLETE,
            created_at=at,
        )

    def _replace(self, session_id: SessionId, **fields: object) -> None:
        if session_id not in self.conversations:
            raise NotFoundError("That conversation no longer exists.")
        changed = replace(self.conversations[session_id], **fields)  # type: ignore[arg-type]
        self.conversations[session_id] = changed

    def maybe_fail(self) -> None:
        error, self.fail_next = self.fail_next, None
        if error is not None:
            raise error
