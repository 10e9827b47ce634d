"""Another program that answers in the place of the models here: looked at, taken, left."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from app.presenters.tasks import Report, Tasks
from core.changes import Changes
from core.model import ExamResult
from core.model_files import ServedModel


class ServersView(Protocol):
    """What the panel must be able to show."""

    def show_served(self, served: ServedModel | None, /) -> None: ...
    def show_server_models(self, names: Sequence[str], /) -> None: ...
    def show_server_message(self, text: str, /) -> None: ...
    def ask_for_host(self, host: str, /) -> None: ...
    def show_exam(self, text: str, /, *, running: bool) -> None: ...


class ServersEngine(Protocol):
    """The slice of the engine that the panel needs."""

    @property
    def served(self) -> ServedModel | None: ...
    def names_other_computer(self, address: str) -> str: ...
    async def list_models(self, address: str, *, allowed_host: str = "") -> tuple[str, ...]: ...
    async def use(self, address: str, model: str, *, allowed_host: str = "") -> None: ...
    async def stop_using(self) -> None: ...


class ExamsEngine(Protocol):
    """What the panel needs of `engine.exams`."""

    @property
    def examines_served(self) -> bool: ...
    async def load(self) -> ExamResult | None: ...
    async def take(self, progress: Callable[[str], None] | None = None) -> ExamResult: ...


class ServersPresenter:
    """Asks nothing of an address before the user presses Look, nor of another computer before it is allowed."""

    def __init__(self, engine: ServersEngine, exams: ExamsEngine, view: ServersView, *, report: Report) -> None:
        self._engine = engine
        self._exams = exams
        self._exam: asyncio.Task[None] | None = None  # the exam that runs
        self._view = view
        self._report = report
        self._tasks = Tasks(view.show_server_message)
        self._allowed = ""  # the host that the user allowed by name

    async def aclose(self) -> None:
        """End what runs; the view is not touched afterwards."""
        await self._tasks.aclose()

    def start(self) -> None:
        """Show what is taken."""
        served = self._engine.served
        self._allowed = served.allowed_host if served else self._allowed
        self._view.show_served(served)
        if self._exam is None:
            self._tasks.start(self._show_exam())

    def on_changes(self, changes: Changes) -> None:
        """Show what is taken, if that may have changed."""
        if changes.model or changes.everything:
            self.start()

    def look(self, address: str) -> None:
        """Ask an address which models it has; another computer only if it was allowed."""
        self._view.show_server_message("")
        host = self._engine.names_other_computer(address)
        if host and host != self._allowed:
            self._view.ask_for_host(host)
            return
        self._view.ask_for_host("")
        self._tasks.start(self._look(address))

    def allow(self, host: str, address: str) -> None:
        """The user read what it means and allowed a host by name."""
        self._allowed = host
        self.look(address)

    def examine(self) -> None:
        """Let the served model take the memory exam."""
        if self._exam is None and self._exams.examines_served:
            self._view.show_server_message("")
            self._exam = self._tasks.start(self._examine())
            if self._exam is not None:
                self._exam.add_done_callback(self._on_exam_end)

    def stop_exam(self) -> None:
        """Leave the exam that runs; what was found before stays."""
        if self._exam is not None:
            self._exam.cancel()

    def use(self, address: str, model: str) -> None:
        """Let a server answer."""
        self.stop_exam()
        self._tasks.start(self._use(address, model))

    def stop_using(self) -> None:
        """Let the models here answer again."""
        self.stop_exam()
        self._tasks.start(self._stop())

    async def _examine(self) -> None:
        self._view.show_exam("The exam begins…", running=True)
        await self._exams.take(lambda words: self._view.show_exam(words, running=True))

    def _on_exam_end(self, _task: asyncio.Task[None]) -> None:
        self._exam = None
        self._tasks.start(self._show_exam())

    async def _show_exam(self) -> None:
        if not self._exams.examines_served:
            self._view.show_exam("", running=False)
            return
        result = await self._exams.load()
        if self._exam is None:
            self._view.show_exam(f"Memory exam: {result.sentence if result else 'not taken yet'}", running=False)

    async def _look(self, address: str) -> None:
        self._view.show_server_message("Asking…")
        names = await self._engine.list_models(address, allowed_host=self._host(address))
        self._view.show_server_models(names)
        self._view.show_server_message("" if names else "It answers, but has no models yet.")

    async def _use(self, address: str, model: str) -> None:
        await self._engine.use(address, model, allowed_host=self._host(address))
        self._view.show_server_message("")
        self.start()
        self._report(f"{model} answers from now on.")

    async def _stop(self) -> None:
        await self._engine.stop_using()
        self.start()
        self._report("The models here answer again.")

    def _host(self, address: str) -> str:
        host = self._engine.names_other_computer(address)
        return host if host == self._allowed else ""
