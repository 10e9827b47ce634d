"""The Models page: what is here, elsewhere and on offer; choosing, importing, downloading, examining, removing.

Downloads and exams go on when the page is closed; closing the window stops them, and what came is kept.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from app.presenters.tasks import Report, TabRefresher, Tasks
from app.rendering.model_rows import ModelAct, ModelRow, Work, download_words, make_rows, role_line
from core.changes import Changes
from core.model import ExamResult
from core.model_files import (
    DownloadProgress,
    FoundFile,
    ImportWay,
    ModelCard,
    ModelOffer,
    ModelRole,
    ServedModel,
)

RELOAD_AFTER_S = 0.3  # a model that writes tells its state several times a second
_CHOICES = {
    ModelAct.CHAT: (ModelRole.CHAT, True),
    ModelAct.CHAT_SMALLER: (ModelRole.CHAT, True),
    ModelAct.CHAT_DEFAULT: (ModelRole.CHAT, False),
    ModelAct.MEMORY: (ModelRole.MEMORY, True),
    ModelAct.MEMORY_DEFAULT: (ModelRole.MEMORY, False),
    ModelAct.SEARCH: (ModelRole.EMBEDDING, True),
    ModelAct.SEARCH_DEFAULT: (ModelRole.EMBEDDING, False),
}


class ModelsView(Protocol):
    """What the page must be able to show."""

    def show_rows(self, rows: Sequence[ModelRow], roles: str, notes: Sequence[str], /) -> None: ...
    def show_message(self, text: str, /) -> None: ...
    def ask_import_way(self, names: Sequence[str], /) -> None: ...
    def select(self, key: str, /) -> None: ...
    def follow(self, old_key: str, new_key: str, /) -> None: ...
    def offer_undo(self, text: str, /) -> None: ...


class ModelsEngine(Protocol):
    """The slice of the engine that the page needs."""

    async def list_models(self) -> tuple[ModelCard, ...]: ...
    async def list_offers(self) -> tuple[ModelOffer, ...]: ...
    async def list_problems(self) -> tuple[str, ...]: ...
    async def find_files(self) -> tuple[FoundFile, ...]: ...
    async def choose(self, role: ModelRole, model_id: str, *, context_tokens: int | None = None) -> None: ...
    async def load_import_way(self) -> ImportWay | None: ...
    async def inspect(self, path: Path) -> ModelCard: ...
    async def import_file(self, path: Path, way: ImportWay | None = None) -> ModelCard: ...
    async def forget(self, model_id: str) -> str: ...
    async def restore(self, model_id: str) -> ModelCard: ...
    async def download(
        self, offer_id: str, *, progress: Callable[[DownloadProgress], None], stop: asyncio.Event
    ) -> ModelCard | None: ...
    async def discard_download(self, offer_id: str) -> None: ...
    async def examine(
        self, model_id: str, *, progress: Callable[[str], None], stop: asyncio.Event
    ) -> ExamResult | None: ...


class ModelsPresenter:
    """Loads while the page is open; commands come as `act`, with the key of a row."""

    def __init__(
        self,
        engine: ModelsEngine,
        view: ModelsView,
        *,
        report: Report,
        served: Callable[[], ServedModel | None] = lambda: None,
        reload_after_s: float = RELOAD_AFTER_S,
    ) -> None:
        """`report` says what happened where the page may be closed: a download that ended.

        `served` returns the other program's model that answers in the place of the ones here.
        """
        self._served = served
        self._engine = engine
        self._view = view
        self._report = report
        self._reload_after_s = reload_after_s
        self._tasks = Tasks(view.show_message)
        self._refresher = TabRefresher(self._tasks, self._reload, visible=False, each_time=True)
        self._reload_due = False
        self._looked = False
        self._cards: tuple[ModelCard, ...] = ()
        self._offers: tuple[ModelOffer, ...] = ()
        self._found: tuple[FoundFile, ...] = ()
        self._problems: tuple[str, ...] = ()
        self._works: dict[str, Work] = {}
        self._errors: dict[str, str] = {}
        self._stops: dict[str, asyncio.Event] = {}
        self._discarded: set[str] = set()
        self._waiting: list[Path] = []  # files to import, until it is known how
        self._removed: list[str] = []  # the last one is what undo brings back

    async def aclose(self) -> None:
        """Stop downloads and exams, then end what runs; the view is not touched afterwards."""
        for stop in self._stops.values():
            stop.set()
        await self._tasks.aclose()

    def set_visible(self, visible: bool) -> None:
        """Whether the page is open. Each time it opens, list and other programs' folders are read."""
        self._refresher.set_visible(visible)
        if visible:
            self._tasks.start(self._look_elsewhere())
        else:
            self._errors.clear()

    def on_changes(self, changes: Changes) -> None:
        """Reload soon if a model changed and the page is open."""
        if (changes.model or changes.everything) and self._refresher.visible and not self._reload_due:
            self._reload_due = True
            self._tasks.start(self._reload_soon())

    def act(self, key: str, act: ModelAct) -> None:
        """Carry out a command on a row."""
        self._errors.pop(key, None)
        self._view.show_message("")
        name = key.partition(":")[2]
        if act is ModelAct.DOWNLOAD and key not in self._stops:
            self._start(key, self._download(key, name))
        elif act is ModelAct.PAUSE or act is ModelAct.STOP_EXAM:
            self._stop(key)
        elif act is ModelAct.CANCEL:
            self._discard(key, name)
        elif act is ModelAct.EXAMINE and key not in self._stops:
            self._start(key, self._examine(key, name))
        elif act is ModelAct.REMOVE:
            self._start(key, self._forget(name))
        elif act in (ModelAct.TAKE, ModelAct.TAKE_CHAT):
            self._start(key, self._take(Path(name), use=act is ModelAct.TAKE_CHAT))
        elif act in _CHOICES:
            self._start(key, self._choose(name, act))

    def import_paths(self, paths: Sequence[Path]) -> None:
        """Take files into the list; asks how if that was never said."""
        self._view.show_message("")
        self._tasks.start(self._import(list(paths)))

    def import_as(self, way: ImportWay | None) -> None:
        """How the waiting files come in; None: not at all."""
        paths, self._waiting = self._waiting, []
        self._view.ask_import_way(())
        if way is not None and paths:
            self._tasks.start(self._import_as(paths, way))

    def undo(self) -> None:
        """Bring back the model that was removed last."""
        if self._removed:
            self._tasks.start(self._restore(self._removed.pop()))

    # -- what is shown

    def _show(self) -> None:
        served = self._served()
        cards = self._cards if served is None else tuple(_without_chat(card) for card in self._cards)
        rows = make_rows(cards, self._found, self._offers, self._works, self._errors)
        looking = () if self._looked else ("Looking what other programs on this computer hold…",)
        self._view.show_rows(rows, role_line(cards, served), (*self._problems, *looking))

    async def _reload(self) -> None:
        self._cards = await self._engine.list_models()
        self._offers = await self._engine.list_offers()
        self._problems = await self._engine.list_problems()
        here = {card.path for card in self._cards}
        self._found = tuple(file for file in self._found if file.path not in here)
        self._show()

    async def _reload_soon(self) -> None:
        await asyncio.sleep(self._reload_after_s)
        self._reload_due = False
        self._refresher.request()

    async def _look_elsewhere(self) -> None:
        try:
            self._found = await self._engine.find_files()
        finally:
            self._looked = True
        self._show()

    def _start(self, key: str, work: Coroutine[object, object, None]) -> None:
        self._tasks.start(work, partial(self._fail, key))

    def _fail(self, key: str, text: str) -> None:
        self._errors[key] = text
        self._show()

    # -- commands

    async def _choose(self, model_id: str, act: ModelAct) -> None:
        role, this_one = _CHOICES[act]
        card = self._card(model_id)
        offered = card.fit.offered_context_tokens if card and card.fit else None
        await self._engine.choose(
            role, model_id if this_one else "", context_tokens=offered if act is ModelAct.CHAT_SMALLER else None
        )
        await self._reload()

    async def _take(self, path: Path, *, use: bool) -> None:
        card = await self._engine.import_file(path, ImportWay.REFERENCE)
        if use:
            await self._engine.choose(ModelRole.CHAT, card.id)
        await self._reload()
        self._view.follow(f"found:{path}", f"here:{card.id}")

    async def _forget(self, model_id: str) -> None:
        words = await self._engine.forget(model_id)
        self._removed.append(model_id)
        self._errors.pop(f"here:{model_id}", None)
        await self._reload()
        self._view.offer_undo(words)

    async def _restore(self, model_id: str) -> None:
        card = await self._engine.restore(model_id)
        await self._reload()
        self._view.select(f"here:{card.id}")

    async def _import(self, paths: list[Path]) -> None:
        for path in paths:
            await self._engine.inspect(path)  # a broken file is told before anything is asked
        if await self._engine.load_import_way() is not None:
            await self._import_as(paths, None)
            return
        self._waiting = paths
        self._view.ask_import_way([path.name for path in paths])

    async def _import_as(self, paths: list[Path], way: ImportWay | None) -> None:
        for path in paths:
            copying = f"Copying {path.name}…" if way is ImportWay.COPY else f"Adding {path.name}…"
            self._view.show_message(copying)
            card = await self._engine.import_file(path, way)
            self._view.show_message("")
            await self._reload()
            self._view.select(f"here:{card.id}")

    # -- what takes its time

    def _stop(self, key: str) -> None:
        if key in self._stops:
            self._stops[key].set()

    def _discard(self, key: str, offer_id: str) -> None:
        if key in self._stops:
            self._discarded.add(key)
            self._stops[key].set()
        else:
            self._start(key, self._throw_away(offer_id))

    async def _throw_away(self, offer_id: str) -> None:
        await self._engine.discard_download(offer_id)
        await self._reload()

    async def _download(self, key: str, offer_id: str) -> None:
        stop = self._stops[key] = asyncio.Event()
        acts = (ModelAct.PAUSE, ModelAct.CANCEL)
        self._set_work(key, Work(words="Asking for the file…", acts=acts))

        def progress(now: DownloadProgress) -> None:
            share = now.done_bytes / now.total_bytes if now.total_bytes else None
            self._set_work(key, Work(words=download_words(now), share=share, acts=acts))

        try:
            card = await self._engine.download(offer_id, progress=progress, stop=stop)
        finally:
            self._end_work(key)
        if key in self._discarded:
            self._discarded.discard(key)
            await self._engine.discard_download(offer_id)
        await self._reload()
        if card is not None:
            self._view.follow(key, f"here:{card.id}")
            self._report(f"{card.name} is here. Choose it under Models when you like.")

    async def _examine(self, key: str, model_id: str) -> None:
        stop = self._stops[key] = asyncio.Event()
        acts = (ModelAct.STOP_EXAM,)
        self._set_work(key, Work(words="The exam begins…", acts=acts))
        try:
            await self._engine.examine(
                model_id, progress=lambda words: self._set_work(key, Work(words=words, acts=acts)), stop=stop
            )
        finally:
            self._end_work(key)
        await self._reload()

    def _set_work(self, key: str, work: Work) -> None:
        self._works[key] = work
        self._show()

    def _end_work(self, key: str) -> None:
        self._works.pop(key, None)
        self._stops.pop(key, None)

    def _card(self, model_id: str) -> ModelCard | None:
        return next((card for card in self._cards if card.id == model_id), None)


def _without_chat(card: ModelCard) -> ModelCard:
    """The card of a model whose part as the chat's (and with it memory's) another program has taken."""
    if ModelRole.CHAT not in card.roles:
        return card
    return replace(card, roles=tuple(role for role in card.roles if role is ModelRole.EMBEDDING))
