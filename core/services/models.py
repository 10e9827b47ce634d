"""Models, for the Models page and the terminal: the list, choosing, importing, downloading, finding, examining.

The only network access of the program is `download`, which runs when it is called and at no other time. Relies on
`core.catalogue` for files and on the slots of `core.sessions` for what is loaded.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from core.catalogue.choice import ChosenModel, ModelChoice
from core.catalogue.discovery import discover
from core.catalogue.exam_results import ExamResults
from core.catalogue.facts import ModelFacts, read_facts
from core.catalogue.fit import check_fit, estimate_bytes, judge_fit, write_bytes
from core.catalogue.loading import check_load
from core.catalogue.memory import read_free_bytes
from core.catalogue.models import ModelEntry, load_listing
from core.catalogue.places import Surroundings, find_places
from core.changes import Changes
from core.errors import DownloadError, ModelError, ModelFileError, NotFoundError
from core.llm.host import ModelHost
from core.model import ExamResult, ModelStatus
from core.model_files import (
    DownloadProgress,
    Fit,
    FoundFile,
    ImportWay,
    ModelCard,
    ModelKind,
    ModelOffer,
    ModelOrigin,
    ModelRole,
)
from core.services import model_cards
from core.services.downloads import Downloads, choose_proxy, read_system_proxies
from core.services.embedding_role import EmbeddingRole
from core.services.exams import ExamsService
from core.services.ground import Ground
from core.sessions.chat_model import ChatModelSlot
from core.sessions.memory_model import MemoryModel
from core.settings_file import save_setting

log = logging.getLogger(__name__)

Progress = Callable[[DownloadProgress], None]

_SETTINGS = {
    ModelRole.CHAT: "chat_model",
    ModelRole.MEMORY: "memory_model",
    ModelRole.EMBEDDING: "embedding_model",
}


class ModelsService:
    """What the user does with model files. `Changes(model=True)` is published after each change."""

    def __init__(
        self,
        ground: Ground,
        choice: ModelChoice,
        *,
        chat: ChatModelSlot,
        memory: MemoryModel,
        exams: ExamsService,
        surroundings: Surroundings,
        free_bytes: Callable[[], int | None] = read_free_bytes,
    ) -> None:
        self._ground, self._choice = ground, choice
        self._chat, self._memory, self._exams = chat, memory, exams
        self._surroundings, self._free_bytes = surroundings, free_bytes
        self._embedding = EmbeddingRole(lambda: ground.backroom().embedder)
        self._context_tokens = ground.settings.models.context_tokens
        self._import_way = ground.settings.models.import_way
        self._results = ExamResults(ground.folder.models)
        self._downloads = Downloads(ground.folder.models, find_proxy=self._find_proxy)
        self._speeds: dict[str, float] = {}  # not written yet
        self._changing = asyncio.Lock()

    async def start(self) -> None:
        """Use the embedding model that was chosen; loads nothing yet."""
        if self._choice.ids[ModelRole.EMBEDDING]:
            await self._ground.think(self._use_embedding)

    async def aclose(self) -> None:
        """Stop downloads, keeping what came; write down what was measured."""
        await self._downloads.aclose()
        await self._ground.think(self._embedding.close)
        await self._ground.think(self._write_speeds)

    def note_status(self, status: ModelStatus) -> None:
        """Take note of how fast the chat's model is."""
        if self._chat.loaded is not None and status.tokens_per_s:
            self._speeds[self._chat.loaded.id] = status.tokens_per_s

    # -- the list

    async def list_models(self) -> tuple[ModelCard, ...]:
        """Return all models: built in, in the folder of models, and elsewhere; a broken or vanished one says so.

        Reads headers only. `Changes(model=True)` tells when it should be read again.
        """
        return await self._ground.think(self._list)

    async def list_offers(self) -> tuple[ModelOffer, ...]:
        """Return what the catalogue offers and is not here yet."""

        def read() -> tuple[ModelOffer, ...]:
            have = {each.path.name for each in self._choice.shelf.list_all()}
            return tuple(
                model_cards.make_offer(entry, self._ground.folder.models, self._free_bytes())
                for entry in self._load_entries()
                if entry.is_download and entry.file not in have
            )

        return await self._ground.think(read)

    async def list_problems(self) -> tuple[str, ...]:
        """Return what is wrong in models.txt, one sentence a line of it; the rest of the file works."""
        return await self._ground.think(lambda: load_listing(self._ground.resources, self._ground.folder.root).problems)

    # -- use

    async def choose(self, role: ModelRole, model_id: str, *, context_tokens: int | None = None) -> None:
        """Use a model for a role from now on; `context_tokens` takes a smaller context (from `Fit`).

        "" chooses the default (memory: the chat's model; embedding: the built-in one). A running answer is stopped and
        kept; conversations stay. Returns when the choice is stored; loading goes on, see `Engine.model_status`.
        Raises `ModelFileError` if it cannot be used, saying why; then nothing was changed. `SettingsError` if the
        choice holds only until the program ends.
        """
        async with self._changing:
            await self._ground.think(lambda: self._check_use(role, model_id, context_tokens))
            self._choice.ids[role] = model_id
            try:
                await self._ground.think(lambda: self._store_choice(role, model_id, context_tokens))
            finally:
                await self._apply(role, context_tokens)
                self._ground.publish(Changes(model=True))

    async def _apply(self, role: ModelRole, context_tokens: int | None) -> None:
        if role is ModelRole.EMBEDDING:
            await self._ground.think(self._use_embedding)
            return
        if role is ModelRole.CHAT:
            self._context_tokens = context_tokens or self._context_tokens
            await self._chat.switch(context_tokens)
        if self._memory.is_chats == self._choice.has_own_memory_model or role is ModelRole.MEMORY:
            await self._memory.use(has_own=self._choice.has_own_memory_model)
        self._exams.look_again()

    def _use_embedding(self) -> None:
        self._embedding.use(self._choice.find(ModelRole.EMBEDDING))

    def _check_use(self, role: ModelRole, model_id: str, context_tokens: int | None) -> None:
        if not model_id:
            return
        shelved = self._choice.shelf.find(model_id)
        if shelved is None:
            raise ModelFileError("This model is no longer in the list. Import its file again.")
        facts = read_facts(shelved.path)
        if (facts.kind is ModelKind.EMBEDDING) != (role is ModelRole.EMBEDDING):
            use = (
                "only for search by meaning"
                if facts.kind is ModelKind.EMBEDDING
                else "for chat and memory, not for search"
            )
            raise ModelFileError(f"{facts.name} can be used {use}. Nothing was changed.")
        free = self._count_free(role) if self._ground.settings.models.memory_check else None
        check_fit(facts, self._size(facts, context_tokens), free)

    def _size(self, facts: ModelFacts, context_tokens: int | None = None) -> int:
        wanted = context_tokens or self._context_tokens
        return min(wanted, model_cards.EMBEDDING_CONTEXT_TOKENS) if facts.kind is ModelKind.EMBEDDING else wanted

    def _count_free(self, role: ModelRole | None = None) -> int | None:
        """Return the free memory, with what the role's model gives back when it goes."""
        free, loaded = self._free_bytes(), self._chat.loaded
        if free is None or role is not ModelRole.CHAT or loaded is None or not self._chat.holds_memory:
            return free
        try:
            facts = read_facts(loaded.path)
        except ModelFileError:
            return free
        # its weights are pages of a file, which the system counts as available
        return free + estimate_bytes(facts, self._context_tokens) - facts.weight_bytes

    def _store_choice(self, role: ModelRole, model_id: str, context_tokens: int | None) -> None:
        save_setting(self._ground.folder.settings, "models", _SETTINGS[role], model_id)
        if context_tokens is not None and role is ModelRole.CHAT:
            save_setting(self._ground.folder.settings, "models", "context_tokens", context_tokens)

    # -- files

    async def load_import_way(self) -> ImportWay | None:
        """Return how imports are made; None until the user was asked once."""
        return ImportWay(self._import_way) if self._import_way else None

    async def inspect(self, path: Path) -> ModelCard:
        """Return what a file elsewhere is, before it is imported; raise `ModelFileError` if it is no usable model."""

        def read() -> ModelCard:
            facts = read_facts(path)
            return model_cards.make_card(facts, id=str(path), fit=self._judge(facts), origin=ModelOrigin.ELSEWHERE)

        return await self._ground.think(read)

    async def import_file(self, path: Path, way: ImportWay | None = None) -> ModelCard:
        """Take a file into the list; `way` is remembered, None takes the one remembered (else a reference).

        A link that the disk refuses becomes a reference. Importing a file twice returns the same card.
        Raises `ModelFileError`; then nothing was changed.
        """
        chosen = way or (ImportWay(self._import_way) if self._import_way else ImportWay.REFERENCE)
        async with self._changing:
            # a copy of gigabytes must not hold up the thinking thread
            shelved = await asyncio.to_thread(self._choice.shelf.add, path, chosen)
            if way is not None and way.value != self._import_way:
                self._import_way = way.value
                await self._ground.think(
                    lambda: save_setting(self._ground.folder.settings, "models", "import_way", way.value)
                )
        self._ground.publish(Changes(model=True))
        return await self._load_card(shelved.id)

    async def find_files(self) -> tuple[FoundFile, ...]:
        """Return what other programs on this machine hold and the list does not; reads folders and headers only."""

        def look() -> tuple[FoundFile, ...]:
            places = find_places(self._ground.resources, self._surroundings)
            known = tuple(each.path for each in self._choice.shelf.list_all())
            return tuple(model_cards.make_found(each, self._judge(each.facts)) for each in discover(places, known))

        return await asyncio.to_thread(look)

    async def forget(self, model_id: str) -> str:
        """Take a model out of the list; returns what was done, in words. `restore` undoes it.

        A file in the folder of models moves to the trash there; a file elsewhere is never touched. Raises
        `ModelFileError` for a built-in one. Roles that used it go back to their default.
        """
        shelf = self._choice.shelf
        card = await self._load_card(model_id)
        if card.origin is ModelOrigin.BUILT_IN:
            raise ModelFileError(f"{card.name} is part of Keepsake and stays; choose another model to use.")
        for role, used in self._choice.ids.items():
            if used == model_id:
                await self.choose(role, "")
        async with self._changing:
            origin = await self._ground.think(lambda: shelf.remove(model_id))
        self._ground.publish(Changes(model=True))
        if origin is ModelOrigin.ELSEWHERE:
            return f"{card.name} was taken out of the list. Its file stays at {card.path}."
        return f"{card.name} was moved to the trash in the folder of models ({write_bytes(card.size_bytes)})."

    async def restore(self, model_id: str) -> ModelCard:
        """Undo `forget`; raises `NotFoundError` if the trash no longer holds it."""
        async with self._changing:
            shelved = await self._ground.think(lambda: self._choice.shelf.restore(model_id))
        self._ground.publish(Changes(model=True))
        return await self._load_card(shelved.id)

    async def empty_trash(self) -> int:
        """Delete removed models for good; returns the bytes that are free now."""
        async with self._changing:
            return await self._ground.think(self._choice.shelf.empty_trash)

    # -- downloads

    async def download(self, offer_id: str, *, progress: Progress, stop: asyncio.Event) -> ModelCard | None:
        """Fetch a model of the catalogue; None if `stop` was set (what came is kept: calling again goes on).

        `progress` is called on the loop, a few times a second. Raises `DownloadError` saying what happened, what was
        kept and what to do. A file is used only when its size and sha256 are right.
        """
        entry = await self._find_entry(offer_id)
        path = await self._downloads.fetch(entry, progress=progress, stop=stop)
        if path is None:
            return None
        await self._ground.think(lambda: self._choice.shelf.note_source(path, entry.source))
        self._ground.publish(Changes(model=True))
        return await self._load_card(path.name)

    async def discard_download(self, offer_id: str) -> None:
        """Throw away what came of a download that was stopped."""
        entry = await self._find_entry(offer_id)
        if self._downloads.is_running(entry):
            raise DownloadError(f"{entry.name} is still being downloaded. Stop it first.")
        await self._ground.think(lambda: model_cards.discard_part(self._ground.folder.models / entry.file))

    # -- exam

    async def examine(
        self, model_id: str, *, progress: Callable[[str], None], stop: asyncio.Event
    ) -> ExamResult | None:
        """Let a chat model take the memory exam (about a minute); None if `stop` was set. Raises `ModelError`."""
        asked = await self._ground.think(lambda: self._choice.find(ModelRole.MEMORY))
        if asked is not None and asked.id == model_id and not self._exams.examines_served:
            exam = self._exams.take(progress)
        else:
            card = await self._load_card(model_id)
            if card.problem or card.kind is not ModelKind.CHAT:
                raise ModelError(card.problem or f"{card.name} is for search only; the exam is for chat models.")
            exam = self._examine_other(ChosenModel(id=card.id, name=card.name, path=card.path), progress)
        taking = asyncio.ensure_future(exam)
        stopping = asyncio.ensure_future(_cancel_when(stop, taking))
        try:
            return await taking
        except asyncio.CancelledError:
            if stop.is_set():
                return None
            raise
        finally:
            stopping.cancel()
            taking.cancel()
            self._ground.publish(Changes(model=True))

    async def _examine_other(self, model: ChosenModel, progress: Callable[[str], None]) -> ExamResult:
        """Load a model beside the chat's for as long as the exam takes."""
        settings, size = self._ground.settings.models, self._context_tokens
        host = ModelHost(
            model.path,
            name=model.name,
            context_tokens=size,
            threads=settings.threads,
            batch_threads=settings.prompt_threads,
            check_file=lambda path: check_load(path, context_tokens=size, memory_check=settings.memory_check),
        )
        try:
            await host.start()
            return await self._exams.examine(host, model.path, progress)
        finally:
            await host.aclose()

    # -- inside

    def _list(self) -> tuple[ModelCard, ...]:
        self._write_speeds()
        roles: dict[str, list[ModelRole]] = {}
        for role in ModelRole:
            if found := self._choice.find(role):
                roles.setdefault(found.id, []).append(role)
        entries, speeds = self._load_entries(), self._choice.shelf.load_speeds()
        cards = []
        for shelved in self._choice.shelf.list_all():
            card = model_cards.read_card(shelved, self._judge, entries)
            cards.append(
                model_cards.complete(
                    card,
                    roles=tuple(roles.get(card.id, ())),
                    exam=self._results.load_known(card.path) if not card.problem else None,
                    tokens_per_s=speeds.get(card.id),
                )
            )
        return tuple(cards)

    async def _load_card(self, model_id: str) -> ModelCard:
        found = next((card for card in await self.list_models() if card.id == model_id), None)
        if found is None:
            raise NotFoundError("This model is no longer in the list.")
        return found

    def _judge(self, facts: ModelFacts) -> Fit:
        return judge_fit(facts, self._size(facts), self._count_free(ModelRole.CHAT))

    def _load_entries(self) -> tuple[ModelEntry, ...]:
        return load_listing(self._ground.resources, self._ground.folder.root).entries

    async def _find_entry(self, offer_id: str) -> ModelEntry:
        entries = await self._ground.think(self._load_entries)
        found = next((entry for entry in entries if entry.id == offer_id and entry.is_download), None)
        if found is None:
            raise NotFoundError("This model is no longer in the list of models.")
        return found

    def _find_proxy(self, url: str) -> str | None:
        setting, around = self._ground.settings.models.proxy, self._surroundings
        return choose_proxy(url, setting, around.environment, read_system_proxies(around.platform))

    def _write_speeds(self) -> None:
        speeds, self._speeds = self._speeds, {}
        for model_id, speed in speeds.items():
            try:
                self._choice.shelf.save_speed(model_id, speed)
            except ModelFileError as error:
                log.warning("a measured speed was not kept: %s", error)


async def _cancel_when(stop: asyncio.Event, task: asyncio.Future[ExamResult]) -> None:
    await stop.wait()
    task.cancel()
