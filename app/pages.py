"""The windows beside the main one, Models and Settings: made with their presenters when they are first opened."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.presenters.models import ModelsPresenter
from app.presenters.servers import ServersPresenter
from app.presenters.settings import SettingsPresenter
from app.theme import ThemeMode
from app.windows.main_window import MainWindow
from core.changes import Changes

if TYPE_CHECKING:
    from app.windows.models import ModelsWindow
    from app.windows.settings import SettingsSheet
    from core.engine import Engine


class Pages(QObject):
    """Opens them, tells them of changes, closes them; their modules are not needed at the start."""

    def __init__(self, engine: "Engine", window: MainWindow) -> None:
        super().__init__(window)
        self._engine = engine
        self._window = window
        self.models: ModelsPresenter | None = None
        self.servers: ServersPresenter | None = None
        self.models_window: ModelsWindow | None = None
        self.settings: SettingsPresenter | None = None
        self.settings_sheet: SettingsSheet | None = None

    async def aclose(self) -> None:
        """Close what is open and end its tasks."""
        if self.models is not None and self.models_window is not None:
            self.models_window.close()
            await self.models.aclose()
        if self.servers is not None:
            await self.servers.aclose()
        if self.settings is not None and self.settings_sheet is not None:
            self.settings_sheet.close()
            await self.settings.aclose()

    def on_changes(self, changes: Changes) -> None:
        """Pass a notice on to what is open."""
        for presenter in (self.models, self.servers, self.settings):
            if presenter is not None:
                presenter.on_changes(changes)

    @Slot()
    def open_settings(self) -> None:
        """Open the Settings sheet, or bring it to the front."""
        if self.settings is None or self.settings_sheet is None:
            from app.windows.settings import SettingsSheet  # not at the start: few need it every day

            sheet = self.settings_sheet = SettingsSheet(self._window, self._window.look)
            self.settings = SettingsPresenter(self._engine.settings, sheet, report=self._window.toast.show_text)
            sheet.changed.connect(self.settings.set)
            sheet.theme_chosen.connect(lambda mode: self._window.set_theme(ThemeMode(mode)))
            sheet.zoom_wanted.connect(lambda step: self._window.zoom(step or None))
            sheet.models_requested.connect(self.open_models)
        self.settings.start()
        self.settings_sheet.show()
        self.settings_sheet.raise_()
        self.settings_sheet.activateWindow()

    @Slot()
    def open_models(self) -> ModelsPresenter:
        """Open the Models page, or bring it to the front."""
        if self.models is None or self.models_window is None:
            from app.windows.models import ModelsWindow  # not at the start: few need it every day

            window = self.models_window = ModelsWindow(self._window, self._window.look)
            page = window.page
            self.models = ModelsPresenter(
                self._engine.models,
                page,
                report=self._window.toast.show_text,
                served=lambda: self._engine.servers.served,
            )
            self.servers = ServersPresenter(
                self._engine.servers, self._engine.exams, page.server, report=self._window.toast.show_text
            )
            page.server.look_requested.connect(self.servers.look)
            page.server.allowed.connect(self.servers.allow)
            page.server.use_requested.connect(self.servers.use)
            page.server.stop_requested.connect(self.servers.stop_using)
            page.server.exam_requested.connect(self.servers.examine)
            page.server.stop_exam_requested.connect(self.servers.stop_exam)
            self.servers.start()
            window.shown.connect(self.models.set_visible)
            window.files_given.connect(self.models.import_paths)
            page.acted.connect(self.models.act)
            page.import_way_chosen.connect(self.models.import_as)
            page.undo_requested.connect(self.models.undo)
        self.models_window.open_up()
        return self.models

    @Slot(list)
    def import_models(self, paths: list[Path]) -> None:
        """Take model files that were dropped on the main window."""
        self.open_models().import_paths(paths)
