"""The Prompt tab: what was sent for a reply of the open conversation, and the conversation's own instructions."""

from collections.abc import Callable
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.changes import Changes
from core.model import Conversation, SentPrompt, SessionId, TurnId


class PromptView(Protocol):
    """What the tab must be able to show."""

    def show_prompt(self, sent: SentPrompt | None, now: float, /) -> None: ...
    def show_instructions(self, text: str, possible: bool, /) -> None: ...


class PromptEngine(Protocol):
    """The slice of the engine that the tab needs."""

    async def load(self, session_id: SessionId, turn: TurnId | None = None) -> SentPrompt | None: ...
    async def load_instructions(self, session_id: SessionId) -> str: ...
    async def set_instructions(self, session_id: SessionId, text: str) -> None: ...


class PromptPresenter:
    """Follows the newest reply until an older one is chosen; reloads only while the tab is on screen."""

    def __init__(self, engine: PromptEngine, view: PromptView, *, report: Report, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._view = view
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False)
        self._session: SessionId | None = None
        self._turn: TurnId | None = None  # None: the newest

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Show the prompts of a conversation, the newest first."""
        session = conversation.id if conversation else None
        if session != self._session:
            self._session, self._turn = session, None
            self._view.show_prompt(None, self._clock())
            self._view.show_instructions("", session is not None)
            self._refresher.request()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload if something was sent here, or its reply ended."""
        if changes.everything or self._session in changes.prompts or self._session in changes.messages:
            self._refresher.request()

    def choose(self, turn: int, newest: bool) -> None:
        """Show the prompt of a turn; the newest is followed from then on."""
        self._turn = None if newest else TurnId(turn)
        self._refresher.request()

    def set_instructions(self, text: str) -> None:
        """Tell the model something at the top of every prompt of this conversation."""
        if self._session is not None:
            self._tasks.start(self._engine.set_instructions(self._session, text))

    async def _reload(self) -> None:
        session = self._session
        if session is None:
            return
        sent = await self._engine.load(session, self._turn)
        instructions = await self._engine.load_instructions(session)
        if session == self._session:
            self._view.show_prompt(sent, self._clock())
            self._view.show_instructions(instructions, True)
