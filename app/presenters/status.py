"""The status bar: what the model does, how full its context is, whether memory keeps up."""

from typing import Protocol

from core.changes import Changes
from core.model import Conversation, EngineStatus, ModelStatus


class StatusView(Protocol):
    """What the bar must be able to show."""

    def show_model(self, status: ModelStatus, /) -> None: ...
    def show_memory_state(self, text: str, /) -> None: ...
    def show_problems(self, problems: tuple[str, ...], /) -> None: ...


class StatusEngine(Protocol):
    """The slice of the engine that the bar needs."""

    @property
    def model_status(self) -> ModelStatus: ...
    @property
    def status(self) -> EngineStatus: ...


class StatusPresenter:
    """Reads two properties; starts no work."""

    def __init__(self, engine: StatusEngine, view: StatusView) -> None:
        self._engine = engine
        self._view = view
        self._remember = True

    def start(self) -> None:
        """Show the present state."""
        self._show_model()
        self._show_status()

    def show(self, conversation: Conversation | None) -> None:
        """Another conversation is open."""
        self._remember = conversation is None or conversation.remember
        self._show_status()

    def on_changes(self, changes: Changes) -> None:
        """Refresh what was touched."""
        if changes.model or changes.everything:
            self._show_model()
        if changes.status or changes.everything:
            self._show_status()

    def _show_model(self) -> None:
        self._view.show_model(self._engine.model_status)

    def _show_status(self) -> None:
        status = self._engine.status
        if not self._remember:
            state = "memory: off for this conversation"
        elif status.memory_busy:
            state = "memory: updating…"
        else:
            state = "memory: up to date"
        self._view.show_memory_state(state)
        self._view.show_problems(status.problems)
