"""`engine.models` by script: cards, offers and found files that a test put there; downloads that a test steers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.changes import Changes
from core.errors import ModelFileError, NotFoundError
from core.model import ExamResult, SessionId
from core.model_files import (
    ConversationSettings,
    DownloadProgress,
    Fit,
    FitVerdict,
    FoundFile,
    ImportWay,
    ModelCard,
    ModelKind,
    ModelOffer,
    ModelOrigin,
    ModelRole,
    Preset,
    Sampling,
    ServedModel,
)

GB = 1 << 30
FITS = Fit(
    verdict=FitVerdict.FITS,
    needed_bytes=GB // 4,
    free_bytes=4 * GB,
    context_tokens=4096,
    sentence="Fits: it needs about 270 MB with a context of 4,096 tokens, and 4.0 GB are free.",
)
BUILT_IN = ModelCard(
    id="small.gguf",
    name="SmolLM2 135M · Q4_1",
    path=Path("/opt/keepsake/resources/models/small.gguf"),
    kind=ModelKind.CHAT,
    origin=ModelOrigin.BUILT_IN,
    size_bytes=98 << 20,
    architecture="llama",
    quantisation="Q4_1",
    parameters=134_515_008,
    context_tokens=8192,
    layers=30,
    heads=9,
    licence="Apache-2.0",
    has_template=True,
    fit=FITS,
    roles=(ModelRole.CHAT, ModelRole.MEMORY),
)
PRESETS = (
    Preset(id="balanced", names=(("en", "Balanced"), ("zh", "均衡")), sampling=Sampling()),
    Preset(
        id="exact",
        names=(("en", "Exact"), ("zh", "精确")),
        sampling=Sampling(temperature=0.0, top_k=1),
        system_prompts=(("en", "Answer briefly and exactly."), ("zh", "请简短而准确地回答。")),
    ),
)


class ScriptedModels:
    """Notes what it was asked for; `running` and `gate` steer a download or an exam."""

    def __init__(self, maybe_fail: Callable[[], None], publish: Callable[[Changes], None]) -> None:
        self._maybe_fail = maybe_fail
        self._publish = publish
        self.cards: list[ModelCard] = [BUILT_IN]
        self.offers: list[ModelOffer] = []
        self.found: list[FoundFile] = []
        self.problems: tuple[str, ...] = ()
        self.removed: dict[str, ModelCard] = {}
        self.way: ImportWay | None = None
        self.broken: set[str] = set()  # names of files that are no models
        self.asked: list[tuple[object, ...]] = []
        self.gate = asyncio.Event()
        self.running: Callable[[DownloadProgress], None] | None = None
        self.exam: ExamResult | None = None

    async def list_models(self) -> tuple[ModelCard, ...]:
        self._maybe_fail()
        return tuple(self.cards)

    async def list_offers(self) -> tuple[ModelOffer, ...]:
        return tuple(self.offers)

    async def list_problems(self) -> tuple[str, ...]:
        return self.problems

    async def find_files(self) -> tuple[FoundFile, ...]:
        return tuple(self.found)

    async def choose(self, role: ModelRole, model_id: str, *, context_tokens: int | None = None) -> None:
        self._note("choose", role, model_id, context_tokens)
        wanted = model_id or BUILT_IN.id
        for place, card in enumerate(self.cards):
            others = tuple(r for r in card.roles if r is not role)
            self.cards[place] = replace(card, roles=(*others, role) if card.id == wanted else others)
        self._publish(Changes(model=True))

    async def load_import_way(self) -> ImportWay | None:
        return self.way

    async def inspect(self, path: Path) -> ModelCard:
        if path.name in self.broken:
            raise ModelFileError(f"{path.name} is no model file. Your conversations are not affected.")
        return self._card(path)

    async def import_file(self, path: Path, way: ImportWay | None = None) -> ModelCard:
        self._note("import", path.name, way)
        self.way = way or self.way or ImportWay.REFERENCE
        card = await self.inspect(path)
        self.cards = [*(c for c in self.cards if c.id != card.id), card]
        return card

    async def forget(self, model_id: str) -> str:
        self._note("forget", model_id)
        card = next(c for c in self.cards if c.id == model_id)
        self.cards.remove(card)
        self.removed[model_id] = card
        return f"{card.name} is out of the list; its file stays where it is."

    async def restore(self, model_id: str) -> ModelCard:
        if model_id not in self.removed:
            raise NotFoundError("The trash no longer holds it.")
        card = self.removed.pop(model_id)
        self.cards.append(card)
        return card

    async def empty_trash(self) -> int:
        return 0

    async def download(
        self, offer_id: str, *, progress: Callable[[DownloadProgress], None], stop: asyncio.Event
    ) -> ModelCard | None:
        """Wait for `gate` (done) or `stop` (paused); a test tells the progress by `running`."""
        self._note("download", offer_id)
        self.running = progress
        waits = [asyncio.ensure_future(self.gate.wait()), asyncio.ensure_future(stop.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        offer = next(o for o in self.offers if o.id == offer_id)
        if stop.is_set():
            self.offers = [replace(o, received_bytes=o.size_bytes // 2) if o.id == offer_id else o for o in self.offers]
            return None
        self._maybe_fail()
        self.offers.remove(offer)
        card = replace(self._card(Path("/data/models") / offer.file), name=offer.name, origin=ModelOrigin.OURS)
        self.cards.append(card)
        return card

    async def discard_download(self, offer_id: str) -> None:
        self._note("discard", offer_id)
        self.offers = [replace(o, received_bytes=0) if o.id == offer_id else o for o in self.offers]

    async def examine(
        self, model_id: str, *, progress: Callable[[str], None], stop: asyncio.Event
    ) -> ExamResult | None:
        self._note("examine", model_id)
        progress("Question 3 of 40")
        waits = [asyncio.ensure_future(self.gate.wait()), asyncio.ensure_future(stop.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if stop.is_set():
            return None
        self.cards = [replace(c, exam=self.exam) if c.id == model_id else c for c in self.cards]
        return self.exam

    def _card(self, path: Path) -> ModelCard:
        return replace(
            BUILT_IN, id=str(path), name=path.stem, path=path, origin=ModelOrigin.ELSEWHERE, roles=(), exam=None
        )

    def _note(self, *asked: object) -> None:
        self._maybe_fail()
        self.asked.append(asked)


class ScriptedAsking:
    """`engine.asking`: remembers what is stored."""

    def __init__(self, maybe_fail: Callable[[], None], publish: Callable[[Changes], None]) -> None:
        self._maybe_fail, self._publish = maybe_fail, publish
        self.asked: list[tuple[object, ...]] = []
        self.settings: dict[SessionId, ConversationSettings] = {}

    def list_presets(self) -> tuple[Preset, ...]:
        return PRESETS

    async def load(self, session_id: SessionId) -> ConversationSettings:
        return self.settings.get(session_id, ConversationSettings(sampling=Sampling()))

    async def save(self, session_id: SessionId, settings: ConversationSettings | None) -> bool:
        self._note("save", session_id, settings)
        before = await self.load(session_id)
        self.settings[session_id] = settings or ConversationSettings(sampling=Sampling())
        self._publish(Changes(prompts=frozenset({session_id})))
        return before.system_prompt != self.settings[session_id].system_prompt

    async def apply_preset(self, session_id: SessionId, preset_id: str) -> ConversationSettings:
        self._note("apply_preset", session_id, preset_id)
        preset = next(p for p in PRESETS if p.id == preset_id)
        self.settings[session_id] = ConversationSettings(
            sampling=preset.sampling, system_prompt=preset.system_prompt("en"), preset=preset.id
        )
        self._publish(Changes(prompts=frozenset({session_id})))
        return self.settings[session_id]

    def _note(self, *asked: object) -> None:
        self._maybe_fail()
        self.asked.append(asked)


class ScriptedExams:
    """`engine.exams` with a served model: an exam ends when the test sets `gate`."""

    def __init__(self, servers: "ScriptedServers") -> None:
        self._servers = servers
        self.gate = asyncio.Event()
        self.progress: Callable[[str], None] | None = None
        self.result: ExamResult | None = None

    @property
    def examines_served(self) -> bool:
        return self._servers.served is not None

    async def load(self) -> ExamResult | None:
        return self.result

    async def take(self, progress: Callable[[str], None] | None = None) -> ExamResult:
        self.progress = progress
        await self.gate.wait()
        self.result = ExamResult(
            model="qwen3:4b", sha256="0", taken_at=0.0, took_s=1.0, verdict="write", sentence="It writes updates."
        )
        return self.result


class ScriptedServers:
    """`engine.servers`: a server at any address of this computer, with two models."""

    def __init__(self, maybe_fail: Callable[[], None]) -> None:
        self._maybe_fail = maybe_fail
        self.served: ServedModel | None = None
        self.asked: list[tuple[str, ...]] = []

    def names_other_computer(self, address: str) -> str:
        return "models.example.org" if "example.org" in address else ""

    async def list_models(self, address: str, *, allowed_host: str = "") -> tuple[str, ...]:
        self._maybe_fail()
        self.asked.append(("list", address, allowed_host))
        return ("llama3.2:3b", "qwen3:4b")

    async def use(self, address: str, model: str, *, allowed_host: str = "") -> None:
        self._maybe_fail()
        self.asked.append(("use", address, model, allowed_host))
        self.served = ServedModel(address=address, model=model, allowed_host=allowed_host)

    async def stop_using(self) -> None:
        self.served = None
