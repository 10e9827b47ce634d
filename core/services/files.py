"""MEMORY.md and its kin, for the Files tab and for jobs."""

from core.changes import Changes
from core.model import MemoryFile
from core.services.ground import Ground


class FilesService:
    """Reads the memory files and takes changes back."""

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
