"""Phase 2 of a commit: the document, long-term memory, the files that vouch for both.

A job runs it, again after a crash or a failure; every stage bears that. The stages fail each for itself: a
document counts as soon as its version is stored, whatever becomes of the extraction. A stage that was given
up is listed and waits for the user's retry; nothing else waits for it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from core.errors import CoreError, ModelError
from core.model import CommitStep, Message, SessionId, TurnId
from core.redaction import redact
from core.sessions import archive_twin
from core.sessions.archive_files import ArchiveFolder, OnStep, ignore_step
from core.sessions.archive_state import NextStep
from core.sessions.commit import add_version, load_counters, name_job
from core.sessions.fold import Folded, fold, leave_out, propose_by_heuristics, put_edits_on
from core.sessions.update_base import Base, load_base, load_edits, make_material
from core.storage import archives, memory_versions, outbox, queue, tombstones
from core.storage.archives import Archive, Change, Failure, Stage
from core.storage.database import Connection, Database
from core.storage.memory_versions import Version
from core.working_memory.material import Material, Update

log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_ATTEMPTS = 3  # of a stage (working-memory.md section 1)
FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 8.0
PREDECESSOR_WAIT_S = 60.0  # the longest time between two looks for the archive before
QUEUE_WAIT_S = 1800.0  # after that its messages are taken along instead
VECTORS_WAIT_S = 60.0  # for the embeddings of an archive, in all

Extraction = Callable[[SessionId, int, Sequence[TurnId]], Awaitable[Sequence[Change]]]
Progress = Callable[[CommitStep], None]


class Updating(Protocol):
    """What asks a model for the operations of an update (`core.working_memory.update.Updater`)."""

    async def propose(self, material: Material) -> Update:
        """Return the operations; raises `ModelError` where the model is gone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Phase 2 goes on later."""

    seconds: float
    why: str = ""  # for the user, if something failed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """An archive as phase 2 finds it."""

    archive: Archive
    messages: tuple[Message, ...]
    failures: dict[Stage, Failure]
    counters: archive_twin.Counters

    @property
    def turns(self) -> tuple[TurnId, ...]:
        return archive_twin.list_turns(self.messages, self.archive.copied)


FindUpdater = Callable[[], Awaitable[Updating | None]]


async def find_no_updater() -> Updating | None:
    """No model is to be asked."""
    return None


async def extract_nothing(session_id: SessionId, archive: int, covers: Sequence[TurnId]) -> Sequence[Change]:
    """The extraction of a program that keeps no long-term memory."""
    return ()


class PhaseTwo:
    """Finishes archives of one workspace; one archive of a conversation at a time."""

    def __init__(
        self,
        database: Database,
        *,
        workspace: Path,
        clock: Callable[[], float],
        pool: Executor,
        files: Executor,
        find_updater: FindUpdater = find_no_updater,
        extract: Extraction = extract_nothing,
        context_tokens: int = 4096,
        on_step: OnStep = ignore_step,
    ) -> None:
        """`find_updater` returns what asks the model, None where none is to be asked."""
        self._database = database
        self._workspace = workspace
        self._clock = clock
        self._pool = pool
        self._files = files
        self._find_updater = find_updater
        self._extract = extract
        self._context_tokens = context_tokens
        self._on_step = on_step
        self._locks: dict[SessionId, asyncio.Lock] = {}
        self._watchers: dict[tuple[SessionId, int], Progress] = {}

    def watch(self, session_id: SessionId, number: int, progress: Progress | None) -> None:
        """Tell somebody of an archive's steps; None ends it."""
        if progress is None:
            self._watchers.pop((session_id, number), None)
        else:
            self._watchers[session_id, number] = progress

    async def finish(
        self, session_id: SessionId, number: int, *, queued_at: float | None = None, waits: int = 0
    ) -> Waiting | None:
        """Do what is left of an archive; returns when to go on, None when it is done or given up.

        `queued_at` (s) and `waits` are those of the job: they bound how long it waits for others.
        """
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            found = await self._database.read(lambda c: _find(c, session_id, number))
            if found is None:
                return None
            folder = ArchiveFolder(self._workspace / "sessions" / session_id, number, self._on_step)
            step = await self._in_files(partial(archive_twin.find_step, folder, in_store=True))
            if step is NextStep.NOTHING and found.archive.state == "done":
                return None
            queued_s = self._clock() - queued_at if queued_at else 0.0
            may_wait = found.archive.version is None and queued_s < QUEUE_WAIT_S
            if may_wait and await self._database.read(lambda c: _is_behind(c, session_id, number)):
                self._tell(session_id, number, CommitStep.WAITING)
                return Waiting(seconds=min(FIRST_BACKOFF_S * 2.0 ** min(waits, 10), PREDECESSOR_WAIT_S))
            return await self._run_stages(found, folder, step, queued_s)

    async def _run_stages(
        self, found: _Found, folder: ArchiveFolder, step: NextStep, queued_s: float
    ) -> Waiting | None:
        archive = found.archive
        session_id, number = archive.session_id, archive.number

        async def document() -> None:
            self._tell(session_id, number, CommitStep.UPDATING)
            if step is NextStep.FINISH_PHASE1:
                await self._in_files(
                    partial(archive_twin.mark_ready, folder, found.archive, found.messages, found.counters)
                )
            await self._make_document(found, folder)

        async def changes() -> None:
            self._tell(session_id, number, CommitStep.EXTRACTING)
            await self._make_changes(found, folder)

        outcomes = [
            await self._try(found, folder, Stage.MEMORY, document),
            await self._try(found, folder, Stage.EXTRACTION, changes),
        ]
        if not any(outcomes):
            if queued_s < VECTORS_WAIT_S and await self._database.read(
                lambda c: outbox.is_remembering(c, session_id, archive.first_turn, archive.last_turn)
            ):
                return Waiting(seconds=FIRST_BACKOFF_S)
            self._tell(session_id, number, CommitStep.FINISHING)
            done = partial(self._in_files, partial(archive_twin.write_done, folder))
            outcomes = [await self._try(found, folder, Stage.FILES, done)]
        again = [each for each in outcomes if each is not None and each.attempts < MAX_ATTEMPTS]
        if again:
            wait_s = FIRST_BACKOFF_S * 2.0 ** (min(each.attempts for each in again) - 1)
            return Waiting(seconds=min(wait_s, LONGEST_BACKOFF_S), why=again[0].error)
        state = "failed" if any(outcomes) else "done"
        await self._database.write(lambda c: archives.set_state(c, session_id, number, state), repeatable=True)
        self._tell(session_id, number, CommitStep.FAILED if any(outcomes) else CommitStep.DONE)
        return None

    async def _try(
        self, found: _Found, folder: ArchiveFolder, stage: Stage, work: Callable[[], Awaitable[None]]
    ) -> Failure | None:
        """Run a stage; its failure is noted and returned, given up or not."""
        before = found.failures.get(stage)
        if before is not None and before.attempts >= MAX_ATTEMPTS:
            return before
        archive = found.archive
        try:
            await work()
            if before is not None:
                await self._database.write(
                    lambda c: archives.clear_failures(c, archive.session_id, archive.number, stage), repeatable=True
                )
            return None
        except (CoreError, OSError) as error:
            text = str(error) if isinstance(error, CoreError) else f"A file could not be written: {error}"
        except Exception:  # the stage's end: a bug in one must not take the other with it
            log.exception("stage %s of archive %s failed", stage, folder.path)
            text = "Something went wrong inside. The log has the details."
        failure = Failure(
            stage=stage,
            attempts=before.attempts + 1 if before else 1,
            error=redact(text),
            at=self._clock(),
        )
        await self._database.write(lambda c: archives.note_failure(c, archive.session_id, archive.number, failure))
        if failure.attempts >= MAX_ATTEMPTS:
            await self._say_failed(folder, failure)
        return failure

    async def _say_failed(self, folder: ArchiveFolder, failure: Failure) -> None:
        try:
            await self._in_files(partial(archive_twin.write_failure, folder, failure))
        except OSError as error:  # the store has it; the twin is what cannot be written
            log.warning("%s: %s", folder.path, error)

    # -- the document --------------------------------------------------------------------------

    async def _make_document(self, found: _Found, folder: ArchiveFolder) -> None:
        session_id, number = found.archive.session_id, found.archive.number
        if found.archive.version is None:
            await self._commit_version(found)
        version, covers = await self._database.read(lambda c: _load_document(c, session_id, number))
        if version is None:
            return  # the conversation was deleted meanwhile
        await self._in_files(partial(archive_twin.write_document, folder, version, covers))

    async def _commit_version(self, found: _Found) -> None:
        """Ask for the update and store the next version; again where another was stored meanwhile."""
        session_id, number = found.archive.session_id, found.archive.number
        base = await self._database.read(lambda c: load_base(c, found.archive))
        update = await self._propose(base, found.failures.get(Stage.MEMORY))
        while True:
            folded = await self._think(partial(_fold, base, update, found.archive, self._clock()))
            forgotten = await self._database.read(tombstones.load_all)
            folded = await self._think(partial(leave_out, folded, base.version, forgotten))
            folded = await self._put_edits_on(folded, session_id, base)
            stored = await self._database.write(partial(_store, session_id, number, base, folded))
            if stored:
                self._on_step("committed")
                return
            base = await self._database.read(lambda c: load_base(c, found.archive))

    async def _propose(self, base: Base, failed: Failure | None) -> Update:
        """Ask the model, at last the heuristics; a model that is gone is tried again before that."""
        updater = await self._find_updater()
        note = ""
        if updater is not None:
            try:
                material = await self._think(partial(make_material, base, self._context_tokens))
                return await updater.propose(material)
            except ModelError as error:
                if failed is None or failed.attempts + 1 < MAX_ATTEMPTS:
                    raise
                note = f"The model could not be asked ({error}) The update was made without it."
        return await self._think(
            partial(
                propose_by_heuristics,
                base.version,
                base.pending,
                language=base.language,
                notes=(note,) if note else (),
            )
        )

    async def _put_edits_on(self, folded: Folded, session_id: SessionId, base: Base) -> Folded:
        """Apply again what the user did to memory while the update was made."""
        newest, edits = await self._database.read(lambda c: load_edits(c, session_id, base))
        return folded if newest is None else await self._think(partial(put_edits_on, folded, edits, newest))

    # -- long-term memory and the end --------------------------------------------------------------

    async def _make_changes(self, found: _Found, folder: ArchiveFolder) -> None:
        session_id, number = found.archive.session_id, found.archive.number
        changes = found.archive.changes
        if changes is None:
            changes = tuple(await self._extract(session_id, number, found.turns))
            done = changes
            await self._database.write(lambda c: archives.set_changes(c, session_id, number, done), repeatable=True)
            self._on_step("committed")
        await self._in_files(partial(archive_twin.write_changes, folder, found.archive, found.turns, changes))

    # -- inside ------------------------------------------------------------------------------------

    def _tell(self, session_id: SessionId, number: int, step: CommitStep) -> None:
        watcher = self._watchers.get((session_id, number))
        if watcher is not None:
            watcher(step)

    async def _in_files(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._files, job)

    async def _think(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, job)


def _find(c: Connection, session_id: SessionId, number: int) -> _Found | None:
    archive = archives.get(c, session_id, number)
    if archive is None:
        return None
    return _Found(
        archive=archive,
        messages=archives.load_messages(c, archive),
        failures=archives.load_failures(c, session_id, number),
        counters=load_counters(c, session_id),
    )


def _is_behind(c: Connection, session_id: SessionId, number: int) -> bool:
    """Whether the document of an earlier archive is still to come: it waits or runs, and was not given up."""
    earlier = archives.load_uncovered(c, session_id, before=number)
    return any(each.state == "pending" and queue.has_job(c, name_job(session_id, each.number)) for each in earlier)


def _load_document(c: Connection, session_id: SessionId, number: int) -> tuple[Version | None, tuple[int, ...]]:
    """Return the version that holds an archive, and all archives that came into memory with it."""
    archive = archives.get(c, session_id, number)
    if archive is None or archive.version is None:
        return None, ()
    version = memory_versions.get(c, session_id, archive.version)
    return version, archives.load_covered(c, session_id, archive.version)


def _fold(base: Base, update: Update, archive: Archive, at: float) -> Folded:
    return fold(
        base.version,
        update,
        base.pending,
        user_texts=base.user_texts,
        cause=archive.cause,
        archive=archive.number,
        at=at,
    )


def _store(session_id: SessionId, number: int, base: Base, folded: Folded, c: Connection) -> bool:
    """Store the version unless another came in between; nothing is left to do if one holds the archive already."""
    archive = archives.get(c, session_id, number)
    if archive is None or archive.version is not None:
        return True
    if memory_versions.get_newest_number(c, session_id) != folded.version.number - 1:
        return False
    waiting = {line.id for line in memory_versions.load_pending(c, session_id)}
    pending = tuple(line for line in base.pending if line.id in waiting)
    add_version(c, session_id, folded, pending, base.covers, before=base.version)
    return True
