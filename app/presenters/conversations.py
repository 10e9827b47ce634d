"""The conversation list: which there are, which one is open, and what is done to them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Refresher, Report, Tasks
from core.changes import Changes
from core.model import Conversation, SessionId


class ConversationView(Protocol):
    """What the list must be able to show."""

    def show_conversations(self, conversations: Sequence[Conversation], selected: SessionId | None, /) -> None: ...
    def select(self, session_id: SessionId | None, /) -> None: ...
    def offer_undo(self, session_ids: Sequence[SessionId], titles: Sequence[str], /) -> None: ...


class ConversationStore(Protocol):
    """The slice of the engine that the list needs."""

    async def list_conversations(self) -> tuple[Conversation, ...]: ...
    async def create_conversation(self) -> Conversation: ...
    async def rename_conversation(self, session_id: SessionId, title: str) -> None: ...
    async def pin_conversation(self, session_id: SessionId, pinned: bool) -> None: ...
    async def delete_conversation(self, session_id: SessionId) -> None: ...
    async def restore_conversation(self, session_id: SessionId) -> None: ...
    async def set_remember(self, session_id: SessionId, remember: bool) -> None: ...


class ConversationsPresenter:
    """Owns the selection; tells `on_open` when another conversation is to be shown."""

    def __init__(
        self,
        store: ConversationStore,
        view: ConversationView,
        *,
        report: Report,
        on_open: Callable[[Conversation | None], None],
    ) -> None:
        self._store = store
        self._view = view
        self._on_open = on_open
        self._tasks = Tasks(report)
        self._refresher = Refresher(self._tasks, self._reload)
        self._conversations: tuple[Conversation, ...] = ()
        self._deleted: list[list[SessionId]] = []  # what one undo brings back together, newest last
        self._offered = False  # the newest of them is named on screen; the next deletion joins it
        self._shown: Conversation | None = None
        self.selected: SessionId | None = None

    async def start(self, wanted: SessionId | None = None) -> None:
        """Load the list and open `wanted`, else the newest conversation."""
        self.selected = wanted
        await self._reload(first=True)

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def find(self, session_id: SessionId | None) -> Conversation | None:
        """A listed conversation by id."""
        return next((c for c in self._conversations if c.id == session_id), None)

    def on_changes(self, changes: Changes) -> None:
        """Reload if the list may be stale."""
        if changes.conversations or changes.everything:
            self._refresher.request()

    def open(self, session_id: SessionId) -> None:
        """Show another conversation."""
        if session_id == self.selected:
            return
        self.selected = session_id
        self._view.select(session_id)
        self._show(self.find(session_id))

    def new(self) -> None:
        """Open an empty conversation: the open one if it has no message yet, else a new one."""
        current = self.find(self.selected)
        if current is not None and current.turn_count == 0:
            self._show(current)
        else:
            self._tasks.start(self._create())

    async def create(self) -> SessionId:
        """Make a conversation, open it and return its id."""
        conversation = await self._store.create_conversation()
        self.selected = conversation.id
        await self._reload()
        return conversation.id

    def rename(self, session_id: SessionId, title: str) -> None:
        """Give a conversation the user's title."""
        if title.strip():
            self._tasks.start(self._then_reload(self._store.rename_conversation(session_id, title.strip())))

    def pin(self, session_id: SessionId, pinned: bool) -> None:
        """Keep a conversation on top, or no longer."""
        self._tasks.start(self._then_reload(self._store.pin_conversation(session_id, pinned)))

    def set_remember(self, session_id: SessionId, remember: bool) -> None:
        """Let a conversation enter memory, or keep it out."""
        self._tasks.start(self._then_reload(self._store.set_remember(session_id, remember)))

    def delete(self, session_id: SessionId) -> None:
        """Delete a conversation and offer to take that back."""
        self._tasks.start(self._delete(session_id))

    def undo_delete(self) -> None:
        """Bring back what was deleted last; once more for what was deleted before."""
        self._offered = False
        if self._deleted:
            self._tasks.start(self._restore(self._deleted.pop()))

    def forget_undo(self) -> None:
        """The offer is gone from the screen; the menu can still undo."""
        self._offered = False

    async def _create(self) -> None:
        await self.create()

    async def _then_reload(self, act: Awaitable[None]) -> None:
        await act
        await self._reload()

    async def _delete(self, session_id: SessionId) -> None:
        await self._store.delete_conversation(session_id)
        conversation = self.find(session_id)
        if not self._offered or not self._deleted:
            self._deleted.append([])
        batch = self._deleted[-1]
        batch.append(session_id)
        self._offered = True
        if session_id == self.selected:
            self.selected = self._neighbour(session_id)
        await self._reload()
        self._view.offer_undo(tuple(batch), (conversation.title if conversation else "",))

    async def _restore(self, session_ids: Sequence[SessionId]) -> None:
        for session_id in session_ids:
            await self._store.restore_conversation(session_id)
        self.selected = session_ids[-1]
        await self._reload()

    def _show(self, conversation: Conversation | None) -> None:
        self._shown = conversation
        self._on_open(conversation)

    def _neighbour(self, session_id: SessionId) -> SessionId | None:
        """Which conversation to open when one goes: the next below, else the one above."""
        ids = [c.id for c in self._conversations]
        at = ids.index(session_id) if session_id in ids else 0
        rest = [i for i in ids if i != session_id]
        return rest[min(at, len(rest) - 1)] if rest else None

    async def _reload(self, *, first: bool = False) -> None:
        self._conversations = await self._store.list_conversations()
        current = self.find(self.selected)
        if current is None and self._conversations:
            current = max(self._conversations, key=lambda c: c.updated_at)
        self.selected = current.id if current else None
        self._view.show_conversations(self._conversations, self.selected)
        if first or current != self._shown:
            self._show(current)
