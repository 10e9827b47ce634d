"""How the open conversation asks the model: sampling, instructions, presets."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from app.presenters.tasks import Refresher, Report, Tasks
from core.changes import Changes
from core.model import Conversation, SessionId
from core.model_files import ConversationSettings, Preset

SAVED = "Saved. It holds from your next message on."
SAVED_READS_AGAIN = (
    "Saved. With your next message the model reads the whole conversation again, which takes longer once."
)


class AskingView(Protocol):
    """What sheet and header must be able to show."""

    def show_asking(self, settings: ConversationSettings, presets: Sequence[Preset], /) -> None: ...
    def show_preset_name(self, name: str, /) -> None: ...
    def show_asking_error(self, text: str, /) -> None: ...
    def close_asking(self) -> None: ...


class AskingEngine(Protocol):
    """The slice of the engine, `engine.asking`, that the sheet needs."""

    def list_presets(self) -> tuple[Preset, ...]: ...
    async def load(self, session_id: SessionId) -> ConversationSettings: ...
    async def save(self, session_id: SessionId, settings: ConversationSettings | None) -> bool: ...
    async def apply_preset(self, session_id: SessionId, preset_id: str) -> ConversationSettings: ...


class AskingPresenter:
    """Follows the open conversation; nothing is stored before the user saves or takes a preset."""

    def __init__(self, engine: AskingEngine, view: AskingView, *, report: Report) -> None:
        self._engine = engine
        self._view = view
        self._report = report
        self._tasks = Tasks(view.show_asking_error)
        self._refresher = Refresher(self._tasks, self._reload)
        self._session: SessionId | None = None
        self._presets: tuple[Preset, ...] = ()

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def show(self, conversation: Conversation | None) -> None:
        """Another conversation is open."""
        session = conversation.id if conversation else None
        if session == self._session:
            return
        self._session = session
        self._view.close_asking()
        if session is not None:
            self._refresher.request()

    def on_changes(self, changes: Changes) -> None:
        """Reload if the settings of the open conversation changed, here or in the Prompt tab."""
        if self._session is not None and (changes.everything or self._session in changes.prompts):
            self._refresher.request()

    def reload(self) -> None:
        """Show what is stored."""
        if self._session is not None:
            self._refresher.request()

    def save(self, settings: ConversationSettings) -> None:
        """Store changed values; they are no longer a preset's where they differ from it."""
        if self._session is not None:
            preset = next((p for p in self._presets if p.id == settings.preset), None)
            if preset is not None and preset.sampling != settings.sampling:
                settings = replace(settings, preset="")
            self._tasks.start(self._save(self._session, settings))

    def reset(self) -> None:
        """Go back to what a new conversation has."""
        if self._session is not None:
            self._tasks.start(self._save(self._session, None))

    def choose_preset(self, preset_id: str) -> None:
        """Take a preset's values."""
        if self._session is not None:
            self._tasks.start(self._apply(self._session, preset_id))

    async def _save(self, session_id: SessionId, settings: ConversationSettings | None) -> None:
        reads_again = await self._engine.save(session_id, settings)
        self._view.close_asking()
        self._report(SAVED_READS_AGAIN if reads_again else SAVED)
        await self._reload()

    async def _apply(self, session_id: SessionId, preset_id: str) -> None:
        await self._engine.apply_preset(session_id, preset_id)
        await self._reload()

    async def _reload(self) -> None:
        session_id = self._session
        if session_id is None:
            return
        self._presets = self._presets or self._engine.list_presets()
        settings = await self._engine.load(session_id)
        if session_id == self._session:  # else another one was opened meanwhile, and is loaded next
            self._view.show_asking(settings, self._presets)
            named = next((p for p in self._presets if p.id == settings.preset), None)
            self._view.show_preset_name(named.name("en") if named else "")
