"""A commit: the window goes to an archive, what was noticed goes into Working Memory.

Two phases (working-memory.md section 21). The first ends in one transaction that moves the
messages, stores the next version and queues the second; the second is a job that writes the
archive's other files, each step of which may be done again. The store is the truth; the files are
derived from it.

A commit that has nothing to archive (a short conversation) still folds the pending lines in:
otherwise the memory of a short chat would stay pending for ever.
"""

import asyncio
import os
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
from core.storage import archives, conversations, episodic, memory_versions, queue, turns
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What a commit starts from."""

    live: tuple[turns.LiveMessage, ...]
    newest_archive: int
    version: Version | None
    pending: tuple[PendingLine, ...]
    user_texts: tuple[str, ...]  # the user's words behind the pending lines
    language: str
    commit_asked: bool  # in the queue


@dataclass(frozen=True, slots=True, kw_only=True)
class _Archive:
    """An archive to be: its number, the messages that go and what its first files say."""

    number: int
    moved: tuple[MessageId, ...]
    messages: tuple[turns.LiveMessage, ...]  # a copied question too
    meta: dict[str, object]


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
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._clock = clock
        self._pool = pool
        self._files = files  # of two threads: a commit does not wait for the files of the one before
        self._tail_tokens = tail_tokens  # estimate that an automatic commit leaves live at most
        self._locks: dict[SessionId, asyncio.Lock] = {}

    async def commit(
        self, session_id: SessionId, *, cause: str, keep: int = KEEP_RECENT, asked: bool = False
    ) -> Committed | None:
        """Archive what lies outside the window and fold the pending lines; None if there was neither.

        With `asked`, only if the queue still asks for it: whoever comes first does it, and then nobody else.
        The archive's first files are on disk before the one transaction that is the commit; `finish`,
        which a job asks for, writes the others.
        """
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            held = await self._database.read(lambda c: _load_held(c, session_id))
            if asked and not held.commit_asked:
                return None
            archive = self._plan(session_id, held, cause=cause, keep=keep)
            if archive is None and not held.pending:
                await self._database.write(lambda c: queue.drop_commit(c, session_id), repeatable=True)
                return None
            at = self._clock()
            loop = asyncio.get_running_loop()
            folding = loop.run_in_executor(self._pool, _fold, held, cause, archive, at)
            if archive is not None:  # the disk and the fold take their time together
                await loop.run_in_executor(self._files, self._begin_files, session_id, archive)
            version, operations = await folding

            def store(c: Connection) -> bool:
                if memory_versions.get_newest_number(c, session_id) != version.number - 1:
                    return False  # another process was faster: what is left is committed when it is due
                if archive is not None:
                    _move(c, session_id, archive, cause=cause, keep=keep, at=at, version=version.number)
                _add_version(c, session_id, version, held.pending, operations)
                queue.drop_commit(c, session_id)
                return True

            if not await self._database.write(store):
                return None
            return Committed(session_id=session_id, version=version.number, archive=archive.number if archive else None)

    async def finish(self, session_id: SessionId, archive: int) -> bool:
        """Write the files of an archive, again if need be; False if the store holds no version of it."""
        made = await self._database.read(lambda c: _load_archive(c, session_id, archive))
        if made is None:
            return False
        version, messages, meta = made
        await asyncio.get_running_loop().run_in_executor(
            self._files, self._finish_files, session_id, archive, version, messages, meta
        )
        return True

    def _plan(self, session_id: SessionId, held: _Held, *, cause: str, keep: int) -> _Archive | None:
        """Say what goes to the next archive; None if nothing does."""
        split = split_messages(
            [Splittable(id=m.id, role=m.role, tokens=m.tokens) for m in held.live], keep, self._tail_tokens
        )
        copied = set(split.copied_ids)
        moved = tuple(MessageId(int(i)) for i in split.archive_ids if i not in copied)
        if not moved:
            return None
        archived = set(split.archive_ids)
        return _Archive(
            number=1 + max(held.newest_archive, self._newest_folder(session_id)),
            moved=moved,
            messages=tuple(m for m in held.live if m.id in archived),
            meta=_describe(cause, moved, [int(i) for i in split.copied_ids], keep),
        )

    def _folder(self, session_id: SessionId, number: int) -> ArchiveFolder:
        return ArchiveFolder(self._workspace / "sessions" / session_id, number)

    def _newest_folder(self, session_id: SessionId) -> int:
        folder = self._workspace / "sessions" / session_id
        names = os.listdir(folder) if folder.is_dir() else []
        numbers = [name.removeprefix("archive_") for name in names if name.startswith("archive_")]
        return max((int(n) for n in numbers if n.isdigit()), default=0)

    def _begin_files(self, session_id: SessionId, archive: _Archive) -> None:
        folder = self._folder(session_id, archive.number)
        folder.make()
        folder.write_json(
            archive_files.META, {**archive.meta, "phase1": "preparing", "wm": "pending", "extraction": "pending"}
        )
        _write_messages(folder, archive.messages)
        folder.sync()

    def _finish_files(
        self,
        session_id: SessionId,
        archive: int,
        version: Version,
        messages: Sequence[Message],
        fallback: dict[str, object],
    ) -> None:
        folder = self._folder(session_id, archive)
        folder.make()
        if not folder.exists(archive_files.MESSAGES):
            _write_messages(folder, [_as_live(message) for message in messages])
        archive_files.write_atomically(folder.session / archive_files.META, f'{{"newest_archive": {archive}}}\n')
        meta = {
            **(folder.read_meta() or fallback),
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


def _load_held(c: Connection, session_id: SessionId) -> _Held:
    pending = memory_versions.load_pending(c, session_id)
    covered = sorted({line.turn for line in pending})
    texts = [text for turn in covered for text in episodic.load_user_texts(c, session_id, first=turn, last=turn)]
    return _Held(
        live=turns.load_live(c, session_id),
        newest_archive=archives.get_newest_number(c, session_id),
        version=memory_versions.get(c, session_id),
        pending=pending,
        user_texts=tuple(texts),
        language=conversations.load_language(c, session_id) or "en",
        commit_asked=queue.is_commit_asked(c, session_id),
    )


def _load_archive(
    c: Connection, session_id: SessionId, archive: int
) -> tuple[Version, tuple[Message, ...], dict[str, object]] | None:
    """Return an archive's version, its messages and what its `.meta.json` begins with; None if it is gone."""
    version = memory_versions.get_of_archive(c, session_id, archive)
    if version is None:
        return None
    found = archives.get(c, session_id, archive)
    messages = archives.load_messages(c, found) if found else ()
    cause = found.cause if found else ""
    return version, messages, _describe(cause, [message.id for message in messages], [], KEEP_RECENT)


def _describe(cause: str, moved: Sequence[MessageId], copied: Sequence[int], keep: int) -> dict[str, object]:
    """Return what an archive's `.meta.json` says from the start."""
    return {"cause": cause, "archived": list(moved), "copied": list(copied), "keep": keep}


def _fold(held: _Held, cause: str, archive: _Archive | None, at: float) -> tuple[Version, dict[str, object]]:
    """Make the next version."""
    return fold_pending(
        held.version,
        held.pending,
        user_texts=held.user_texts,
        language=held.language,
        cause=cause,
        archive=archive.number if archive else None,
        at=at,
    )


def _move(
    c: Connection, session_id: SessionId, archive: _Archive, *, cause: str, keep: int, at: float, version: int
) -> None:
    """Archive messages, rebuild the counters and queue phase 2."""
    number = archive.number
    row = archives.Archive(
        session_id=session_id,
        number=number,
        created_at=at,
        cause=cause,
        keep=keep,
        kept=(),
        copied=(),
        first_turn=archive.messages[0].turn,
        last_turn=archive.messages[-1].turn,
        version=version,
    )
    archives.add(c, row)
    turns.archive_messages(c, archive.moved, number)
    update_counters(c, session_id, keep=keep)
    queue.add_job(
        c, queue.MEMORY_UPDATE, session_id, {"archive": number}, key=f"{queue.MEMORY_UPDATE}:{session_id}:{number}"
    )


def _add_version(
    c: Connection, session_id: SessionId, version: Version, pending: Sequence[PendingLine], asked: object
) -> None:
    """Store a version in the place of the lines that waited for it, and queue what lasts of them for MEMORY.md."""
    memory_versions.add(c, session_id, version, asked=asked)
    memory_versions.drop_pending(c, pending)
    covered = sorted({line.turn for line in pending})
    if covered:
        key = f"{queue.MEMORY_FILES}:{session_id}:{version.number}"
        queue.add_job(c, queue.MEMORY_FILES, session_id, {"turns": covered}, key=key)


def _write_messages(folder: ArchiveFolder, messages: Sequence[turns.LiveMessage]) -> None:
    folder.write_lines(
        archive_files.MESSAGES,
        ({"id": m.id, "turn": m.turn, "role": m.role, "content": redact(m.text)} for m in messages),
    )


def _as_live(message: Message) -> turns.LiveMessage:
    return turns.LiveMessage(id=message.id, turn=message.turn, role=message.role, text=message.text, tokens=0)
