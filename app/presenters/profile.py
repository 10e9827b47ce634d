"""The Profile tab: what is known of the user, and what they do to it."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from core.changes import Changes
from core.model import ForgetPreview, Profile


class ProfileView(Protocol):
    """What the tab must be able to show."""

    def show_profile(self, profile: Profile, now: float, /) -> None: ...
    def show_preview(self, preview: ForgetPreview, /) -> None: ...


class ProfileReader(Protocol):
    """The slice of the engine that the tab needs."""

    async def load(self) -> Profile: ...
    async def confirm(self, facet_id: str) -> None: ...
    async def pin(self, facet_id: str, pinned: bool) -> None: ...
    async def correct(self, facet_id: str, text: str) -> None: ...
    async def choose(self, facet_id: str, conflict_id: int) -> None: ...
    async def preview_forget(self, facet_ids: Sequence[str]) -> ForgetPreview: ...
    async def forget(self, facet_ids: Sequence[str]) -> None: ...
    async def dismiss_forget(self) -> None: ...
    async def undo(self) -> str: ...


class ProfilePresenter:
    """Reloads only while the tab is on screen; every change is told by the engine, and so shown."""

    def __init__(self, engine: ProfileReader, view: ProfileView, *, report: Report, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._view = view
        self._report = report
        self._clock = clock
        self._tasks = Tasks(report)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False)
        self._refresher.request()  # loaded when the tab is first looked at

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def set_visible(self, visible: bool) -> None:
        """Whether the tab is on screen; what was missed is loaded when it is again."""
        self._refresher.set_visible(visible)

    def on_changes(self, changes: Changes) -> None:
        """Reload if the profile changed, or a conversation it rests on went or came back."""
        if changes.profile or changes.everything or changes.conversations:
            self._refresher.request()

    def confirm(self, facet_id: str) -> None:
        """Say that it holds."""
        self._tasks.start(self._engine.confirm(facet_id))

    def pin(self, facet_id: str, pinned: bool) -> None:
        """Keep it in every prompt, or no longer."""
        self._tasks.start(self._engine.pin(facet_id, pinned))

    def correct(self, facet_id: str, text: str) -> None:
        """Put the user's words in its place."""
        self._tasks.start(self._engine.correct(facet_id, text))

    def choose(self, facet_id: str, conflict_id: int) -> None:
        """Let what was said later hold."""
        self._tasks.start(self._engine.choose(facet_id, conflict_id))

    def ask_to_forget(self, facet_id: str) -> None:
        """Show what forgetting would remove."""
        self._tasks.start(self._preview(facet_id))

    def forget(self, facet_ids: Sequence[str]) -> None:
        """Forget."""
        self._tasks.start(self._engine.forget(facet_ids))

    def keep(self) -> None:
        """Keep what the chat asked to forget."""
        self._tasks.start(self._engine.dismiss_forget())

    def undo(self) -> None:
        """Take the last change back."""
        self._tasks.start(self._take_back())

    async def _take_back(self) -> None:
        words = await self._engine.undo()
        self._report(f"Undone: {words[:1].lower()}{words[1:]}." if words else "There is nothing to undo.")

    async def _preview(self, facet_id: str) -> None:
        self._view.show_preview(await self._engine.preview_forget((facet_id,)))

    async def _reload(self) -> None:
        self._view.show_profile(await self._engine.load(), self._clock())
