"""The Settings sheet: what is set, what the user changes, and why something could not be."""

from collections.abc import Sequence
from typing import Protocol

from app.presenters.tasks import Refresher, Report, Tasks
from core.changes import Changes
from core.settings_view import SettingItem


class SettingsView(Protocol):
    """What the sheet must be able to show."""

    def show_settings(self, items: Sequence[SettingItem], /) -> None: ...
    def show_note(self, key: str, text: str, /) -> None: ...
    def show_error(self, text: str, /) -> None: ...


class SettingsEngine(Protocol):
    """The slice of the engine that the sheet needs."""

    async def load(self) -> tuple[SettingItem, ...]: ...
    async def set(self, key: str, text: str) -> str: ...


class SettingsPresenter:
    """Lives as long as its sheet; an error is shown in it and the old value comes back."""

    def __init__(self, engine: SettingsEngine, view: SettingsView, *, report: Report) -> None:
        self._engine = engine
        self._view = view
        self._tasks = Tasks(report)
        self._refresher = Refresher(self._tasks, self._reload)

    def start(self) -> None:
        """Show what is set."""
        self._refresher.request()

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def on_changes(self, changes: Changes) -> None:
        """Reload when a setting changed, here or in the file."""
        if changes.settings:
            self._refresher.request()

    def set(self, key: str, text: str) -> None:
        """Change one setting."""
        self._tasks.start(self._set(key, text), report=self._fail)

    async def _reload(self) -> None:
        self._view.show_settings(await self._engine.load())

    async def _set(self, key: str, text: str) -> None:
        note = await self._engine.set(key, text)
        self._view.show_error("")
        self._view.show_note(key, note)

    def _fail(self, text: str) -> None:
        self._view.show_error(text)
        self._refresher.request()  # what the sheet shows is what holds
