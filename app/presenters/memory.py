"""The Memory tab: the newest Working Memory live, or an older version of it; what the user does with its lines."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from app.rendering.memory_rows import Act, LineAction
from core.changes import Changes
from core.errors import MemoryEditError
from core.model import (
    Conversation,
    MemoryDiff,
    MemoryVersion,
    Message,
    Section,
    SessionId,
    TurnId,
    WorkingMemory,
)

# after these the user is offered to take it back; of the others the list itself shows what was done
_OFFERS_UNDO = frozenset({Act.REMOVE, Act.DISCARD, Act.DROP, Act.DISMISS, Act.MOVE, Act.TAKE})


class MemoryView(Protocol):
    """What the tab must be able to show."""

    def show_memory(self, memory: WorkingMemory | None, now: float, /) -> None: ...
    def show_versions(self, versions: tuple[MemoryVersion, ...], /) -> None: ...
    def show_difference(self, diff: MemoryDiff, /) -> None: ...
    def set_remember(self, remember: bool, /) -> None: ...
    def set_updating(self, updating: bool, /) -> None: ...
    def show_message(self, text: str, /) -> None: ...
    def keep_text(self, action: LineAction, /) -> None: ...


class MemoryEngine(Protocol):
    """`engine.memory`: the slice that the tab needs."""

    async def load(self, session_id: SessionId, version: int | None = None) -> WorkingMemory: ...
    async def commit(self, session_id: SessionId) -> bool: ...
    async def list_versions(self, session_id: SessionId, *, after: int = 0) -> tuple[MemoryVersion, ...]: ...
    async def compare(self, session_id: SessionId, older: int, newer: int) -> MemoryDiff: ...
    async def add(self, session_id: SessionId, section: Section, text: str, *, turns: Sequence[TurnId] = ()) -> str: ...
    async def remember(self, session_id: SessionId, text: str, turn: TurnId) -> str: ...
    async def change(self, session_id: SessionId, section: Section, text: str, new_text: str) -> str: ...
    async def remove(self, session_id: SessionId, section: Section, text: str) -> str: ...
    async def move(self, session_id: SessionId, section: Section, text: str, to: Section) -> str: ...
    async def set_locked(self, session_id: SessionId, section: Section, text: str, locked: bool) -> str: ...
    async def accept(self, session_id: SessionId, section: Section, text: str) -> str: ...
    async def discard(self, session_id: SessionId, section: Section, text: str) -> str: ...
    async def bring_back(self, session_id: SessionId, section: Section, text: str) -> str: ...
    async def drop(self, session_id: SessionId, section: Section, text: str) -> str: ...
    async def take_wanted(self, session_id: SessionId, section: Section, line: str, text: str) -> str: ...
    async def restore(self, session_id: SessionId, version: int) -> str: ...
    async def undo(self, session_id: SessionId) -> str: ...
    async def redo(self, session_id: SessionId) -> str: ...


class MemoryPresenter:
    """Reloads only while the tab is on screen."""

    def __init__(
        self,
        engine: MemoryEngine,
        view: MemoryView,
        *,
        report: Report,
        offer_undo: Report,
        clock: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._view = view
        self._clock = clock
        self._report = report
        self._offer_undo = offer_undo  # shows what was done with a way to take it back
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=True)
        self._session: SessionId | None = None
        self._version: int | None = None  # None: the newest, live
        self._memory: WorkingMemory | None = None
        self._versions: tuple[MemoryVersion, ...] = ()

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Show the memory of a conversation."""
        self._view.set_remember(conversation is None or conversation.remember)
        session = conversation.id if conversation else None
        if session == self._session:
            return
        self._session, self._version, self._versions = session, None, ()
        if session is None:
            self._memory = None
            self._view.show_memory(None, self._clock())
        else:
            self._refresher.request()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload if the open conversation's memory changed."""
        if self._session is not None and (self._session in changes.memory or changes.everything):
            self._refresher.request()

    def tick(self) -> None:
        """Time has passed: "2 min ago" may read "3 min ago" now."""
        if self._refresher.visible and self._memory is not None:
            self._view.show_memory(self._memory, self._clock())

    # -- versions ------------------------------------------------------------------------------

    def choose_version(self, version: int) -> None:
        """Show an older version; the newest is live again."""
        newest = self._memory.newest if self._memory else 0
        self._version = None if version >= newest else version
        self._refresher.request()

    def restore(self, version: int) -> None:
        """Make an older version the newest again."""
        if self._session is not None:
            self._tasks.start(self._restore(self._session, version))

    def show_difference(self, version: int) -> None:
        """Show how an older version differs from the newest."""
        if self._session is not None and self._memory is not None:
            self._tasks.start(self._compare(self._session, version, self._memory.newest))

    def update_now(self) -> None:
        """Fold what is pending into a new version."""
        if self._session is not None:
            self._tasks.start(self._update(self._session))

    # -- lines ---------------------------------------------------------------------------------

    def act(self, action: LineAction) -> None:
        """Do what the user asked for with a line."""
        if self._session is not None:
            self._tasks.start(self._act(self._session, action))

    def remember(self, message: Message) -> None:
        """Put a message of the chat into Key Facts & Decisions, as the user's line."""
        self._tasks.start(self._remember(message))

    def undo(self) -> None:
        """Take the user's last change back."""
        if self._session is not None:
            self._tasks.start(self._say(self._engine.undo(self._session)))

    def redo(self) -> None:
        """Do again what was taken back last."""
        if self._session is not None:
            self._tasks.start(self._say(self._engine.redo(self._session)))

    async def _act(self, session: SessionId, action: LineAction) -> None:
        self._view.show_message("")
        try:
            words = await self._ask(session, action)
        except MemoryEditError as error:
            self._view.show_message(str(error))
            if action.act in (Act.EDIT, Act.ADD) and session == self._session:
                self._view.keep_text(action)
            return
        await self._reload()
        if action.act in _OFFERS_UNDO:
            self._offer_undo(_sentence(words))

    async def _ask(self, session: SessionId, action: LineAction) -> str:
        """Turn an action into the engine's use case."""
        engine, section, text = self._engine, action.section, action.text
        match action.act:
            case Act.ADD:
                return await engine.add(session, section, text)
            case Act.PUT_BACK:
                return await engine.add(session, section, text, turns=action.turns)
            case Act.EDIT:
                return await engine.change(session, section, text, action.new_text)
            case Act.REMOVE:
                return await engine.remove(session, section, text)
            case Act.MOVE if action.to is not None:
                return await engine.move(session, section, text, action.to)
            case Act.LOCK | Act.UNLOCK:
                return await engine.set_locked(session, section, text, action.act is Act.LOCK)
            case Act.KEEP:
                return await engine.accept(session, section, text)
            case Act.DISCARD:
                return await engine.discard(session, section, text)
            case Act.BRING_BACK:
                return await engine.bring_back(session, section, text)
            case Act.DROP | Act.DISMISS:
                return await engine.drop(session, section, text)
            case Act.TAKE:
                return await engine.take_wanted(session, section, action.line, text)
            case _:
                return ""  # the view's own: jump, copy, fold

    async def _remember(self, message: Message) -> None:
        await self._engine.remember(message.session_id, message.text, message.turn)
        await self._reload()
        self._offer_undo("Remembered under Key Facts & Decisions.")

    async def _restore(self, session: SessionId, version: int) -> None:
        words = await self._engine.restore(session, version)
        self._version = None
        await self._reload()
        self._offer_undo(_sentence(words))

    async def _compare(self, session: SessionId, older: int, newer: int) -> None:
        diff = await self._engine.compare(session, older, newer)
        if (session, older) == (self._session, self._version):
            self._view.show_difference(diff)

    async def _say(self, change: Awaitable[str]) -> None:
        words = await change
        self._version = None
        await self._reload()
        self._report(_sentence(words))

    async def _update(self, session: SessionId) -> None:
        self._view.set_updating(True)
        try:
            changed = await self._engine.commit(session)
        finally:
            self._view.set_updating(False)
        self._version = None
        self._view.show_message("" if changed else "Nothing new to take in: memory is up to date.")
        await self._reload()

    async def _reload(self) -> None:
        session, version = self._session, self._version
        if session is None:
            return
        memory = await self._engine.load(session, version)
        if (session, version) != (self._session, self._version):
            return
        self._memory = memory
        self._view.show_memory(memory, self._clock())
        await self._load_versions(session, memory.newest)

    async def _load_versions(self, session: SessionId, newest: int) -> None:
        """Fetch what is new of the list of versions; they never change once they are there."""
        known = self._versions[-1].number if self._versions else 0
        if known >= newest:
            return
        more = await self._engine.list_versions(session, after=known)
        if session == self._session and known == (self._versions[-1].number if self._versions else 0):
            self._versions = (*self._versions, *more)
            self._view.show_versions(self._versions)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""
