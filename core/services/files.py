"""MEMORY.md and its kin, for the Files tab and for jobs."""

from functools import partial

from core.changes import Changes
from core.memory_files.documents import Outcome
from core.memory_files.entries import change_entry, remove_entry
from core.memory_files.history import OWN_ACTOR
from core.memory_files.writer import Cause, MemoryFileWriter, WriteResult
from core.model import FileDone, FileEntry, MemoryFile
from core.redaction import redact
from core.services.ground import Ground

MASKED = "What looked like a secret was masked."


class FilesService:
    """Reads the memory files, changes entries, takes changes back. Each raises `CoreError` with nothing written."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def load(self) -> tuple[MemoryFile, ...]:
        """Return the memory files as they are on disk; edits made elsewhere are recorded first."""
        return await self._ground.backroom().keeper.load(at=self._ground.clock())

    async def undo(self, change_id: int) -> str:
        """Take one change of a memory file back, keeping later edits; returns a note for the user or ""."""
        note = await self._ground.backroom().keeper.undo(change_id, at=self._ground.clock())
        self._ground.publish(Changes(files=True))
        return note

    async def remove_entry(self, file: str, entry: FileEntry) -> FileDone:
        """Take an entry out; raises `NotFoundError` if it has changed."""
        return await self._change(
            partial(
                MemoryFileWriter.change,
                file=file,
                apply=lambda text: remove_entry(text, entry),
                cause=self._cause("You took an entry out."),
            )
        )

    async def change_entry(self, file: str, entry: FileEntry, words: str) -> FileDone:
        """Put other words in an entry's place; raises `NotFoundError` if it has changed, or why they are no entry."""
        masked = redact(words)
        done = await self._change(
            partial(
                MemoryFileWriter.change,
                file=file,
                apply=lambda text: change_entry(text, entry, masked),
                cause=self._cause("You changed an entry."),
            )
        )
        return done if masked == words else FileDone(change_id=done.change_id, note=MASKED)

    async def save(self, file: str, text: str, base: str) -> FileDone:
        """Save a whole text that the user made of `base`; what came in meanwhile stays."""
        masked, at = redact(text), self._ground.clock()
        done = await self._change(partial(MemoryFileWriter.save, file=file, text=masked, base=base, at=at))
        return done if masked == text else FileDone(change_id=done.change_id, note=MASKED)

    async def _change(self, work: "partial[WriteResult]") -> FileDone:
        result = await self._ground.backroom().keeper.use(work)
        self._ground.publish(Changes(files=True))
        written = result.change if result.outcome is Outcome.WRITTEN else None
        return FileDone(change_id=written.id if written is not None else None, note=result.note)

    def _cause(self, words: str) -> Cause:
        return Cause(at=self._ground.clock(), actor=OWN_ACTOR, cause=words)
