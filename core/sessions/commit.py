"""A commit: the window goes to an archive, what was noticed goes into Working Memory.

Two phases (working-memory.md section 21). The first is short and ends in one transaction that
moves the messages and queues the second; the second is a job, each step of which may be done
again. The store is the truth; the archive's files are derived from it.

A commit that has nothing to archive (a short conversation) still folds the pending lines in:
otherwise the memory of a short chat would stay pending for ever.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from core.model import Message, MessageId, SessionId
from core.redaction import redact
from core.sessions import archive_files
from core.sessions.archive_files import ArchiveFolder
from core.sessions.fold import fold_pending
from core.sessions.split import split_messages
from core.sessions.turns import LiveMessage as Splittable
from core.sessions.window import load_window
from core.storage import conversations, episodic, memory_versions, queue, turns
from core.storage.database import Connection, Database
from core.storage.memory_versions import PendingLine, Version
from core.working_memory.overview import make_abstract

KEEP_RECENT = 10  # messages that stay live after a commit (working-memory.md section 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a commit did; `archive` is None where no message left the window."""

    session_id: SessionId
    version: int
    archive: int | None


class Committer:
    """Commits conversations of one workspace; one commit of a conversation at a time."""

    def __init__(
        self, database: Database, *, workspace: Path, clock: Callable[[], float], pool: Executor, tail_tokens: int
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._clock = clock
        self._pool = pool
        self._tail_tokens = tail_tokens  # estimate that an automatic commit leaves live at most
        self._locks: dict[SessionId, asyncio.Lock] = {}

    async def begin(self, session_id: SessionId, *, cause: str, keep: int = KEEP_RECENT) -> int | None:
        """Phase 1: archive what lies outside the window; returns the archive's number, None if nothing does."""
        async with self._lock(session_id):
            live = await self._database.read(lambda c: turns.load_live(c, session_id))
            split = split_messages(
                [Splittable(id=m.id, role=m.role, tokens=m.tokens) for m in live], keep, self._tail_tokens
            )
            copied = set(split.copied_ids)
            moved = [MessageId(int(i)) for i in split.archive_ids if i not in copied]
            if not moved:
                return None
            stored = await self._database.read(lambda c: queue.get_newest_archive(c, session_id))
            number = 1 + max(stored, self._newest_folder(session_id))
            archived = set(split.archive_ids)  # the copied question too
            messages = [m for m in live if m.id in archived]
            meta = {"cause": cause, "archived": moved, "copied": [int(i) for i in split.copied_ids], "keep": keep}
            await self._in_pool(self._prepare, session_id, number, meta)
            await self._in_pool(self._write_messages, session_id, number, messages)
            await self._database.write(
                lambda c: _move(c, session_id, number, moved, cause=cause, keep=keep, at=self._clock())
            )
            await self._in_pool(self._mark_ready, session_id, number, meta)
            return number

    async def finish(self, session_id: SessionId, archive: int) -> Committed:
        """Phase 2: fold the pending lines into a new version, then write the archive's files."""
        async with self._lock(session_id):
            cause = await self._database.read(lambda c: queue.get_archive_cause(c, session_id, archive))
            done = await self._database.read(lambda c: memory_versions.has_archive(c, session_id, archive))
            if not done:
                await self._fold(session_id, cause=cause, archive=archive)
            version, messages = await self._database.read(
                lambda c: (memory_versions.get(c, session_id), turns.load_archived(c, session_id, archive))
            )
            assert version is not None
            await self._in_pool(self._write_memory, session_id, archive, version, messages)
            await self._database.write(lambda c: queue.set_archive_state(c, session_id, archive, "done"))
            return Committed(session_id=session_id, version=version.number, archive=archive)

    async def fold(self, session_id: SessionId, *, cause: str) -> Committed | None:
        """Fold pending lines into a new version without archiving; None when none are pending."""
        async with self._lock(session_id):
            number = await self._fold(session_id, cause=cause, archive=None)
        return None if number is None else Committed(session_id=session_id, version=number, archive=None)

    async def _fold(self, session_id: SessionId, *, cause: str, archive: int | None) -> int | None:
        """Make the next version; returns its number, None when there is nothing to fold."""
        before, pending, language, user_texts = await self._database.read(lambda c: _load_fold(c, session_id))
        if not pending and archive is None:
            return None
        version, asked = await asyncio.get_running_loop().run_in_executor(
            self._pool,
            lambda: fold_pending(
                before,
                pending,
                user_texts=user_texts,
                language=language,
                cause=cause,
                archive=archive,
                at=self._clock(),
            ),
        )
        turns_covered = sorted({line.turn for line in pending})

        def store(c: Connection) -> None:
            memory_versions.add(c, session_id, version, asked=asked)
            memory_versions.drop_pending(c, pending)
            if turns_covered:
                queue.add_job(
                    c,
                    queue.MEMORY_FILES,
                    session_id,
                    {"turns": turns_covered},
                    key=f"{queue.MEMORY_FILES}:{session_id}:{version.number}",
                )

        await self._database.write(store)
        return version.number

    def _lock(self, session_id: SessionId) -> asyncio.Lock:
        return self._locks.setdefault(session_id, asyncio.Lock())

    async def _in_pool(self, job: Callable[..., None], *args: object) -> None:
        await asyncio.get_running_loop().run_in_executor(self._pool, job, *args)

    def _folder(self, session_id: SessionId, number: int) -> ArchiveFolder:
        return ArchiveFolder(self._workspace / "sessions" / session_id, number)

    def _newest_folder(self, session_id: SessionId) -> int:
        folder = self._workspace / "sessions" / session_id
        numbers = [p.name.removeprefix("archive_") for p in folder.glob("archive_*")] if folder.is_dir() else []
        return max((int(n) for n in numbers if n.isdigit()), default=0)

    def _prepare(self, session_id: SessionId, number: int, meta: dict[str, object]) -> None:
        folder = self._folder(session_id, number)
        folder.make()
        folder.write_json(archive_files.META, {**meta, "phase1": "preparing", "wm": "pending", "extraction": "pending"})

    def _write_messages(self, session_id: SessionId, number: int, messages: Sequence[turns.LiveMessage]) -> None:
        self._folder(session_id, number).write_lines(
            archive_files.MESSAGES,
            ({"id": m.id, "turn": m.turn, "role": m.role, "content": redact(m.text)} for m in messages),
        )
        self._folder(session_id, number).sync()

    def _mark_ready(self, session_id: SessionId, number: int, meta: dict[str, object]) -> None:
        folder = self._folder(session_id, number)
        archive_files.write_atomically(folder.session / archive_files.META, f'{{"newest_archive": {number}}}\n')
        folder.write_json(archive_files.META, {**meta, "phase1": "ready", "wm": "pending", "extraction": "pending"})

    def _write_memory(self, session_id: SessionId, archive: int, version: Version, messages: Sequence[Message]) -> None:
        folder = self._folder(session_id, archive)
        folder.make()
        if not folder.exists(archive_files.MESSAGES):
            self._write_messages(session_id, archive, [_as_live(message) for message in messages])
        meta = {
            **folder.read_meta(),
            "phase1": "ready",
            "mode": "heuristics",
            "decisions": [{"section": d.section, "applied": d.applied, "reason": d.reason} for d in version.decisions],
            "parked": {name: [line.text for line in lines] for name, lines in version.parked.items()},
            "document_sha256": sha256(version.document.encode()).hexdigest(),
        }
        # the parked list must be durable before the document that leaves its lines out
        folder.write_json(archive_files.META, {**meta, "wm": "writing", "extraction": "pending"})
        folder.write(archive_files.OVERVIEW, version.document)
        folder.write(archive_files.ABSTRACT, make_abstract(version.document) + "\n")
        folder.write_json(archive_files.META, {**meta, "wm": "complete", "extraction": "pending"})
        covers = sorted({message.turn for message in messages})
        folder.write_json(archive_files.DIFF, {"archive": archive, "covers": covers, "changes": []})
        folder.write_json(archive_files.META, {**meta, "wm": "complete", "extraction": "complete"})
        folder.sync()  # `.done` may not be seen before what it vouches for
        folder.write(archive_files.DONE, "")
        folder.sync()


def update_counters(c: Connection, session_id: SessionId, *, keep: int = KEEP_RECENT) -> tuple[int, int]:
    """Rebuild a conversation's counters from its live messages; returns (pending, live) tokens."""
    counters = load_window(turns.load_live_estimates(c, session_id), keep)
    conversations.set_counters(c, session_id, pending_tokens=counters.pending_tokens, live_tokens=counters.live_tokens)
    return counters.pending_tokens, counters.live_tokens


def _load_fold(
    c: Connection, session_id: SessionId
) -> tuple[Version | None, tuple[PendingLine, ...], str, tuple[str, ...]]:
    """Return the newest version, the lines that wait, the language, and the user's words behind them."""
    pending = memory_versions.load_pending(c, session_id)
    turns_covered = sorted({line.turn for line in pending})
    texts = [text for turn in turns_covered for text in episodic.load_user_texts(c, session_id, first=turn, last=turn)]
    language = conversations.load_language(c, session_id) or "en"
    return memory_versions.get(c, session_id), pending, language, tuple(texts)


def _move(
    c: Connection,
    session_id: SessionId,
    number: int,
    message_ids: Sequence[MessageId],
    *,
    cause: str,
    keep: int,
    at: float,
) -> None:
    """The commit point: messages archived, counters rebuilt, phase 2 queued, all or nothing."""
    queue.add_archive(c, session_id, number, cause=cause, at=at)
    turns.archive_messages(c, message_ids, number)
    update_counters(c, session_id, keep=keep)
    queue.add_job(
        c, queue.MEMORY_UPDATE, session_id, {"archive": number}, key=f"{queue.MEMORY_UPDATE}:{session_id}:{number}"
    )


def _as_live(message: Message) -> turns.LiveMessage:
    return turns.LiveMessage(id=message.id, turn=message.turn, role=message.role, text=message.text, tokens=0)
