"""A conversation's Working Memory: its versions, and every change of it by the user.

Each change is a version of its own that names the user as its cause, and can be taken back. A change
returns what was done in words for the user (`you removed “…”`); one that cannot be made raises
`MemoryEditError`, and neither memory nor the typed text is lost.
"""

from collections.abc import Callable, Sequence
from functools import partial

from core.changes import Changes
from core.errors import MemoryEditError, NotFoundError
from core.model import (
    EditKind,
    LineState,
    MemoryDiff,
    MemoryEdit,
    MemoryVersion,
    Origin,
    Section,
    SessionId,
    TurnId,
    WorkingMemory,
)
from core.services.ground import Ground
from core.services.memory_changes import (
    Planner,
    Situation,
    load_situation,
    plan_accept,
    plan_back,
    plan_discard,
    plan_edits,
    plan_restore,
    plan_take,
    store_plan,
)
from core.sessions.fold import read_held
from core.sessions.view import view_memory
from core.storage import memory_edits, memory_versions
from core.storage.database import Connection
from core.storage.memory_edits import Mark
from core.working_memory.differences import compare_versions
from core.working_memory.edits import read_typed

TRIES = 5  # of a change while other processes keep committing
BATCH = 16  # versions read in one go, so that a message need not wait for a long list
EXPLAINED = 30  # versions whose decisions explain a difference


class MemoryService:
    """Loads, commits, compares and changes Working Memory."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def load(self, session_id: SessionId, version: int | None = None) -> WorkingMemory:
        """Return a committed version, or the newest with what waits for the next commit."""
        return await self._ground.database.read(lambda c: view_memory(c, session_id, version))

    async def commit(self, session_id: SessionId) -> bool:
        """Take what was noticed into Working Memory now; False when nothing waits."""
        return await self._ground.backroom().worker.commit(session_id, cause="You asked for it.")

    # -- versions ------------------------------------------------------------------------------

    async def list_versions(self, session_id: SessionId, *, after: int = 0) -> tuple[MemoryVersion, ...]:
        """Return the versions with a number above `after`, oldest first. A version never changes once it is there."""
        marks = await self._ground.database.read(lambda c: memory_edits.load_marks(c, session_id))
        marks = tuple(mark for mark in marks if mark.number > after)
        found: list[MemoryVersion] = []
        for start in range(0, len(marks), BATCH):
            batch = marks[start : start + BATCH]
            found += await self._ground.database.read(partial(_count_lines, session_id, batch))
        return tuple(found)

    async def compare(self, session_id: SessionId, older: int, newer: int) -> MemoryDiff:
        """Return how two versions differ; 0 is the empty memory before the first."""
        first = max(older + 1, newer - EXPLAINED + 1)
        numbers = [older, *range(first, newer + 1)]
        versions = await self._ground.database.read(
            lambda c: {n: found for n in numbers if (found := memory_versions.get(c, session_id, n))}
        )
        if newer and newer not in versions:
            raise NotFoundError("That version of the memory no longer exists.")
        decisions = [d for n in range(first, newer + 1) if n in versions for d in versions[n].decisions]

        def think() -> MemoryDiff:
            changes = compare_versions(read_held(versions.get(older)), read_held(versions.get(newer)), decisions)
            return MemoryDiff(older=older, newer=newer, changes=changes)

        return await self._ground.think(think)

    async def restore(self, session_id: SessionId, version: int) -> str:
        """Make an older version the newest again, as a version of its own; what waits beside memory stays."""
        return await self._make(session_id, plan_restore, lambda c: load_situation(c, session_id, restore=version))

    # -- lines ---------------------------------------------------------------------------------

    async def add(self, session_id: SessionId, section: Section, text: str, *, turns: Sequence[TurnId] = ()) -> str:
        """Add a line of the user's own at the end of a section; text with bullets becomes several."""
        typed = await self._ground.think(lambda: read_typed(text, section))
        edits = [
            MemoryEdit(kind=EditKind.ADD, section=section, text=line, origin=Origin.USER, turns=tuple(turns))
            for line in typed
        ]
        return await self._make(session_id, plan_edits(*edits))

    async def remember(self, session_id: SessionId, text: str, turn: TurnId) -> str:
        """Put a message of the chat into Key Facts & Decisions, as the user's line with that turn as its evidence."""
        return await self.add(session_id, Section.FACTS, text, turns=(turn,))

    async def change(self, session_id: SessionId, section: Section, text: str, new_text: str) -> str:
        """Give the line `text` new words; its place, evidence and lock stay. Blank words remove it."""
        if not new_text.strip():
            return await self.remove(session_id, section, text)
        first, *more = await self._ground.think(lambda: read_typed(new_text, section))
        edits = [MemoryEdit(kind=EditKind.CHANGE, section=section, text=text, new_text=first)]
        above = first
        for line in more:
            edits.append(MemoryEdit(kind=EditKind.ADD, section=section, text=line, after=above))
            above = line
        return await self._make(session_id, plan_edits(*edits))

    async def remove(self, session_id: SessionId, section: Section, text: str) -> str:
        """Remove a line, locked or not."""
        return await self._edit(session_id, EditKind.REMOVE, section, text)

    async def move(self, session_id: SessionId, section: Section, text: str, to: Section) -> str:
        """Move a line to the end of another section, with its evidence."""
        edit = MemoryEdit(kind=EditKind.MOVE, section=section, text=text, to=to)
        return await self._make(session_id, plan_edits(edit))

    async def set_locked(self, session_id: SessionId, section: Section, text: str, locked: bool) -> str:
        """Lock a line, so that no update changes it, or unlock it."""
        return await self._edit(session_id, EditKind.LOCK if locked else EditKind.UNLOCK, section, text)

    # -- what waits ----------------------------------------------------------------------------

    async def accept(self, session_id: SessionId, section: Section, text: str) -> str:
        """Take a pending line in now."""
        return await self._make(session_id, plan_accept(section, text))

    async def discard(self, session_id: SessionId, section: Section, text: str) -> str:
        """Drop a pending line."""
        return await self._make(session_id, plan_discard(section, text))

    async def bring_back(self, session_id: SessionId, section: Section, text: str) -> str:
        """Put a parked line into the section."""
        return await self._edit(session_id, EditKind.BRING_BACK, section, text)

    async def drop(self, session_id: SessionId, section: Section, text: str) -> str:
        """Let a parked line or a proposal go for good."""
        return await self._edit(session_id, EditKind.DROP, section, text)

    async def take_wanted(self, session_id: SessionId, section: Section, line: str, text: str) -> str:
        """Put what an update wanted in the place of the locked line; the lock stays."""
        return await self._make(session_id, plan_take(section, line, text))

    # -- back and forth ------------------------------------------------------------------------

    async def undo(self, session_id: SessionId) -> str:
        """Take the user's last change back."""
        return await self._make(session_id, plan_back, lambda c: load_situation(c, session_id, back="undo"))

    async def redo(self, session_id: SessionId) -> str:
        """Do again what was taken back last."""
        return await self._make(session_id, plan_back, lambda c: load_situation(c, session_id, back="redo"))

    # -- inside --------------------------------------------------------------------------------

    async def _edit(self, session_id: SessionId, kind: EditKind, section: Section, text: str) -> str:
        return await self._make(session_id, plan_edits(MemoryEdit(kind=kind, section=section, text=text)))

    async def _make(
        self, session_id: SessionId, plan: Planner, load: Callable[[Connection], Situation] | None = None
    ) -> str:
        """Plan a change on the newest version and store it; again if another process was faster."""
        read = load or (lambda c: load_situation(c, session_id))
        for _ in range(TRIES):
            found = await self._ground.database.read(read)
            planned = await self._ground.think(partial(plan, found))
            store = partial(
                store_plan, session_id, found.number + 1, planned, at=self._ground.clock(), before=found.version
            )
            if await self._ground.database.write(store):
                self._ground.publish(Changes(memory=frozenset({session_id}), conversations=True))
                return planned.words
        raise MemoryEditError("Memory was updated again and again meanwhile, so nothing was changed. Try once more.")


def _count_lines(session_id: SessionId, marks: Sequence[Mark], c: Connection) -> tuple[MemoryVersion, ...]:
    """Return versions with how many lines each holds, and how many came and went."""
    found = []
    for mark in marks:
        version = memory_versions.get(c, session_id, mark.number)
        states = [line.state for lines in (version.lines.values() if version else ()) for line in lines]
        went = states.count(LineState.REMOVED)
        found.append(
            MemoryVersion(
                number=mark.number,
                at=mark.created_at,
                cause=mark.cause,
                lines=len(states) - went,
                came=states.count(LineState.ADDED) + states.count(LineState.RESTORED),
                went=went,
            )
        )
    return tuple(found)
