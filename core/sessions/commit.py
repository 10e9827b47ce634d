"""A commit: the window goes to an archive, what was noticed goes into Working Memory.

Two phases (working-memory.md section 21). The first ends in one transaction that moves the messages and
queues the second, a job: `phase_two`. Where no model is asked, the next version of Working Memory
belongs to the same transaction, and the job only writes files. The store is the truth; files follow it.

A commit that has nothing to archive (a short conversation) still folds the pending lines in:
otherwise the memory of a short chat would stay pending for ever.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from core.errors import CommitBusyError
from core.model import MessageId, SessionId, TurnId
from core.sessions import archive_twin
from core.sessions.archive_files import ArchiveFolder, OnStep, ignore_step, list_archives
from core.sessions.archive_twin import Counters
from core.sessions.fold import Folded, fold, propose_by_heuristics
from core.sessions.split import split_messages
from core.sessions.turns import LiveMessage as Splittable
from core.sessions.window import KEEP_AFTER_TURN, load_window, read_keep
from core.storage import archives, conversations, episodic, memory_versions, queue, turns
from core.storage.archives import Archive
from core.storage.database import Connection, Database
from core.storage.memory_versions import PendingLine, Version

KEEP_RECENT = KEEP_AFTER_TURN  # messages that stay live after a commit
LOCK_WAIT_S = 30.0  # working-memory.md section 1
MOST_TRIES = 3  # of a phase 1 whose number another process took


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What phase 1 did; `archive` is None where no message left the window, `version` while phase 2 is to make it."""

    session_id: SessionId
    version: int | None
    archive: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What a commit starts from."""

    live: tuple[turns.LiveMessage, ...]
    running: TurnId | None  # whose reply is being written
    newest_archive: int
    uncovered: tuple[Archive, ...]
    waits_for_update: bool  # the document of an earlier archive is still to come
    version: Version | None
    pending: tuple[PendingLine, ...]
    user_texts: tuple[str, ...]  # the user's words behind the pending lines
    language: str
    commit_asked: bool  # in the queue


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """An archive to be, and the messages that go: `moved`, and in the files the copied questions too."""

    archive: Archive
    moved: tuple[MessageId, ...]
    messages: tuple[turns.LiveMessage, ...]


class Committer:
    """Commits conversations of one workspace; one commit of a conversation at a time."""

    def __init__(
        self,
        database: Database,
        *,
        workspace: Path,
        clock: Callable[[], float],
        pool: Executor,
        files: Executor,
        tail_tokens: int,
        asks_model: Callable[[], Awaitable[bool]] | None = None,
        on_step: OnStep = ignore_step,
    ) -> None:
        """`asks_model` says whether the document of an archive is to be made with a model, in phase 2."""
        self._database = database
        self._workspace = workspace
        self._clock = clock
        self._pool = pool
        self._files = files  # of two threads: a commit does not wait for the files of the one before
        self._tail_tokens = tail_tokens  # estimate that an automatic commit leaves live at most
        self._asks_model = asks_model
        self._on_step = on_step
        self._locks: dict[SessionId, asyncio.Lock] = {}
        self._largest_folders: dict[SessionId, int] = {}

    async def commit(
        self,
        session_id: SessionId,
        *,
        cause: str,
        keep: int = KEEP_RECENT,
        asked: bool = False,
        files_later: bool = False,
    ) -> Committed | None:
        """Archive what lies outside the window and fold the pending lines; None if there was neither.

        With `asked`, only if the queue still asks for it: whoever comes first does it, and then nobody else.
        The archive's first files are on disk before the one transaction that is the commit; a job writes
        the others. With `files_later` the job writes them all, from what the store holds: only the folder's name
        is taken before. Raises `CommitBusyError` where another commit of the conversation takes too long.
        """
        async with self._lock(session_id):
            for _ in range(MOST_TRIES):
                held = await self._database.read(lambda c: _load_held(c, session_id))
                if asked and not held.commit_asked:
                    return None
                plan = _plan(session_id, held, cause=cause, keep=read_keep(keep), tail=self._tail_tokens)
                if plan is None and (not held.pending or held.waits_for_update):
                    await self._database.write(lambda c: queue.drop_commit(c, session_id), repeatable=True)
                    return None
                committed = await self._commit(session_id, held, plan, cause, files_later=files_later)
                if committed is not None:
                    return committed
            return None  # other processes were faster each time: what is left is committed when it is due

    async def _commit(
        self, session_id: SessionId, held: _Held, plan: _Plan | None, cause: str, *, files_later: bool
    ) -> Committed | None:
        at, loop = self._clock(), asyncio.get_running_loop()
        if plan is None:
            return await self._commit_lines(session_id, held, cause, at)
        in_files = partial(loop.run_in_executor, self._files)
        claimed, folder = await in_files(self._claim_folder, plan, at)
        number = claimed.archive.number
        begin = partial(archive_twin.begin, folder, claimed.archive, claimed.messages, claimed.moved)
        beginning = None if files_later else in_files(begin)
        later = held.waits_for_update or (self._asks_model is not None and await self._asks_model())
        folding = None if later else loop.run_in_executor(self._pool, _fold, held, cause, number, at)
        try:
            if beginning is not None:
                await beginning  # the disk and the fold take their time together
        except FileNotFoundError:  # another process that just started took the folder for a crash's
            return None
        folded = await folding if folding is not None else None
        if not await self._database.write(lambda c: _store(c, session_id, held, claimed, folded)):
            await in_files(folder.remove)  # another process was faster
            return None
        self._on_step("committed")
        if later and not files_later:  # else the job does it with the other files
            counters = await self._database.read(lambda c: load_counters(c, session_id))
            await in_files(archive_twin.mark_ready, folder, claimed.archive, claimed.messages, counters)
        version = folded.version.number if folded else None
        return Committed(session_id=session_id, version=version, archive=number)

    async def _commit_lines(self, session_id: SessionId, held: _Held, cause: str, at: float) -> Committed | None:
        """Fold what waits where no message leaves the window."""
        folded = await asyncio.get_running_loop().run_in_executor(self._pool, _fold, held, cause, None, at)
        if not await self._database.write(lambda c: _store(c, session_id, held, None, folded)):
            return None
        self._on_step("committed")
        return Committed(session_id=session_id, version=folded.version.number, archive=None)

    @asynccontextmanager
    async def _lock(self, session_id: SessionId) -> AsyncIterator[None]:
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        try:
            async with asyncio.timeout(LOCK_WAIT_S):
                await lock.acquire()
        except TimeoutError as error:
            raise CommitBusyError(
                "Another commit of this conversation takes longer than half a minute. Nothing was lost; try again."
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _claim_folder(self, plan: _Plan, at: float) -> tuple[_Plan, ArchiveFolder]:
        """Make the archive's folder as its only maker: its number follows the largest of store and folders.

        The folders are listed once; those that other processes make afterwards are met when they are made.
        """
        session_id = plan.archive.session_id
        session = self._workspace / "sessions" / session_id
        if session_id not in self._largest_folders:
            self._largest_folders[session_id] = max(list_archives(session), default=0)
        number = 1 + max(plan.archive.number - 1, self._largest_folders[session_id])
        while not (folder := ArchiveFolder(session, number, self._on_step)).claim():
            number += 1
        self._largest_folders[session_id] = number
        return replace(plan, archive=replace(plan.archive, number=number, created_at=at)), folder


def update_counters(c: Connection, session_id: SessionId, *, keep: int = KEEP_RECENT) -> tuple[int, int]:
    """Rebuild a conversation's counters from its live messages; returns (pending, live) tokens."""
    counters = load_window(turns.load_live_estimates(c, session_id), keep)
    conversations.set_counters(c, session_id, pending_tokens=counters.pending_tokens, live_tokens=counters.live_tokens)
    return counters.pending_tokens, counters.live_tokens


def load_counters(c: Connection, session_id: SessionId) -> Counters:
    """Return what the conversation's own `.meta.json` is to say."""
    pending, live = conversations.load_counters(c, session_id)
    return Counters(pending_tokens=pending, live_tokens=live, keep=archives.get_keep(c, session_id, KEEP_RECENT))


def load_user_texts(c: Connection, session_id: SessionId, pending: tuple[PendingLine, ...]) -> tuple[str, ...]:
    """Return the user's own words behind some lines."""
    covered = sorted({line.turn for line in pending})
    return tuple(text for turn in covered for text in episodic.load_user_texts(c, session_id, first=turn, last=turn))


def add_version(
    c: Connection,
    session_id: SessionId,
    folded: Folded,
    pending: tuple[PendingLine, ...],
    covers: tuple[int, ...],
    *,
    before: Version | None,
) -> None:
    """Store a version in the place of the lines that waited for it, and queue what lasts of them for MEMORY.md.

    `before` is the version that it was folded from.
    """
    memory_versions.add(c, session_id, folded.version, asked=folded.asked, applied=folded.applied, before=before)
    memory_versions.drop_pending(c, pending)
    archives.set_version(c, session_id, covers, folded.version.number)
    for number in covers:
        if not archives.load_failures(c, session_id, number):  # else it waits for the user's retry
            archives.set_state(c, session_id, number, "pending")
            queue_phase_two(c, session_id, number, has_version=True, at=folded.version.created_at)
    covered = sorted({line.turn for line in pending})
    if covered:
        key = f"{queue.MEMORY_FILES}:{session_id}:{folded.version.number}"
        queue.add_job(c, queue.MEMORY_FILES, session_id, {"turns": covered}, key=key)


def name_job(session_id: SessionId, number: int) -> str:
    """Return the key of an archive's phase 2 in the queue."""
    return f"{queue.MEMORY_UPDATE}:{session_id}:{number}"


def queue_phase_two(c: Connection, session_id: SessionId, number: int, *, has_version: bool, at: float) -> None:
    """Queue an archive's phase 2 unless it is: in the quick lane where only files are to be written."""
    queue.add_job(
        c,
        queue.MEMORY_UPDATE,
        session_id,
        {"archive": number},
        key=name_job(session_id, number),
        lane="quick" if has_version else "slow",
        at=at,
    )


def _load_held(c: Connection, session_id: SessionId) -> _Held:
    pending = memory_versions.load_pending(c, session_id)
    uncovered = archives.load_uncovered(c, session_id)
    return _Held(
        live=turns.load_live(c, session_id),
        running=archives.find_running_turn(c, session_id),
        newest_archive=archives.get_newest_number(c, session_id),
        uncovered=uncovered,
        waits_for_update=any(queue.has_job(c, name_job(session_id, each.number)) for each in uncovered),
        version=memory_versions.get(c, session_id),
        pending=pending,
        user_texts=load_user_texts(c, session_id, pending),
        language=conversations.load_language(c, session_id) or "en",
        commit_asked=queue.is_commit_asked(c, session_id),
    )


def _plan(session_id: SessionId, held: _Held, *, cause: str, keep: int, tail: int) -> _Plan | None:
    """Say what goes to the next archive; None if nothing does."""
    # a question whose reply is being written is no part of a finished turn: nothing of it may go
    live = [m for m in held.live if keep > 0 or m.turn != held.running]
    split = split_messages([Splittable(id=m.id, role=m.role, tokens=m.tokens) for m in live], keep, tail)
    copied, leaving = set(split.copied_ids), set(split.archive_ids)
    messages = tuple(m for m in live if m.id in leaving)
    moved = tuple(m.id for m in messages if m.id not in copied)
    if not moved:
        return None
    archive = Archive(
        session_id=session_id,
        number=1 + held.newest_archive,
        created_at=0.0,
        cause=cause,
        keep=keep,
        kept=tuple(m.id for m in held.live if m.id not in set(moved)),
        copied=tuple(m.id for m in messages if m.id in copied),
        first_turn=messages[0].turn,
        last_turn=messages[-1].turn,
    )
    return _Plan(archive=archive, moved=moved, messages=messages)


def _fold(held: _Held, cause: str, archive: int | None, at: float) -> Folded:
    """Make the next version by heuristics; lines of archives whose document failed still wait among the others."""
    update = propose_by_heuristics(held.version, held.pending, language=held.language)
    return fold(held.version, update, held.pending, user_texts=held.user_texts, cause=cause, archive=archive, at=at)


def _store(c: Connection, session_id: SessionId, held: _Held, plan: _Plan | None, folded: Folded | None) -> bool:
    """The commit point: move the messages, store the version if there is one; False if another process was faster."""
    if folded and memory_versions.get_newest_number(c, session_id) != folded.version.number - 1:
        return False
    covers = tuple(each.number for each in held.uncovered)
    if plan is not None:
        if not archives.are_live(c, plan.moved) or not archives.add(c, plan.archive):
            return False
        turns.archive_messages(c, plan.moved, plan.archive.number)
        update_counters(c, session_id, keep=plan.archive.keep)
        covers = (*covers, plan.archive.number)
    if folded is not None:
        add_version(c, session_id, folded, held.pending, covers, before=held.version)
    elif plan is not None:
        queue_phase_two(c, session_id, plan.archive.number, has_version=False, at=plan.archive.created_at)
    queue.drop_commit(c, session_id)
    return True
