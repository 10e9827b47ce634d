"""Segments of a conversation: shown, summed up again, merged, split and renamed, each change with its way back."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from core.archivist.recap import Trigger
from core.changes import Changes
from core.errors import NotFoundError
from core.jobs.finalise import RECAP
from core.jobs.naming import name_turns
from core.model import BoundaryReason, Segment, SegmentId, SessionId, SplitTurn, TurnId
from core.redaction import redact
from core.services.ground import Ground
from core.storage import memory_edits, recaps, segment_edits, segments
from core.storage.database import Connection
from core.storage.segment_edits import Named
from core.storage.segments import SegmentRow

LEFT_S = 10 * 60.0  # a conversation left for so long is closed (archivist.md section 6)
MAX_TITLE_CHARACTERS = 120
GONE = "That segment is no longer there."


class SegmentsService:
    """What the Segments tab and `keepsake-jobs recap` offer."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._shown: SessionId | None = None
        self._left: dict[SessionId, float] = {}  # when a conversation was switched away from, in s

    async def load(self, session_id: SessionId) -> tuple[Segment, ...]:
        """Return a conversation's segments in order; the open one is named by what was said so far."""
        found, states, places = await self._ground.database.read(
            lambda c: (
                segments.load_all(c, session_id),
                recaps.load_states(c, session_id),
                memory_edits.load_turn_numbers(c, session_id),
            )
        )
        shown = [replace(segment, recap=states.get(segment.id), places=_place(segment, places)) for segment in found]
        for i, segment in enumerate(shown[1:], start=1):
            if segment.opened_by is None:  # the one before was closed for it had rested
                shown[i] = replace(segment, opened_by=BoundaryReason.FLUSH)
        # an open segment is named by what was said so far, one that closed just now by the work that waits for it
        return tuple([segment if segment.title else await self._name_unnamed(segment) for segment in shown])

    async def recap_again(self, segment_id: SegmentId) -> str:
        """Sum a segment up again now; returns why there is still no recap, "" when there is one."""
        return await self._ground.backroom().finishing.recaps.again(segment_id)

    async def retry_recaps(self) -> int:
        """Give every placeholder another try; returns how many are waiting for one."""

        def ask(c: Connection) -> int:
            pending = recaps.load_pending(c)
            for stretch in pending:
                recaps.add_step(c, RECAP, stretch, at=self._ground.clock(), retry=True)
            return len(pending)

        waiting = await self._ground.database.write(ask)
        self._ground.backroom().worker.wake()
        return waiting

    async def finish_closed(self) -> None:
        """Queue the work of closed segments that lost theirs, and what the tree needs."""
        await self._ground.backroom().finishing.finaliser.look(Trigger.TIMER)
        self._ground.backroom().worker.wake()

    async def count_waiting(self) -> int:
        """Return how many closed segments have a placeholder for a recap."""
        return len(await self._ground.database.read(recaps.load_pending))

    async def list_causes(self) -> tuple[str, ...]:
        """Return why recaps are missing, with how many of each."""
        causes = await self._ground.database.read(recaps.count_causes)
        return tuple(f"{count}: {cause}" for cause, count in causes)

    # -- by hand -------------------------------------------------------------------------------

    async def merge(self, segment_id: SegmentId) -> int:
        """Join a segment with the one before it; returns the change's number for `undo`."""
        later = await self._get(segment_id)
        before = await self._ground.database.read(lambda c: segment_edits.find_before(c, segment_id))
        if before is None:
            raise NotFoundError("There is no segment before this one. Nothing was changed.")
        earlier = await self._get(before)
        named = await self._name(later.session_id, earlier.first_turn, later.last_turn)

        def write(c: Connection) -> int:
            if segments.get(c, earlier.id) is None or segments.get(c, later.id) is None:
                raise NotFoundError(GONE)
            return segment_edits.merge(c, earlier.id, later.id, named, at=self._ground.clock())

        return await self._edit(later.session_id, write)

    async def split(self, segment_id: SegmentId, turn: TurnId) -> int:
        """Let a new segment begin at one of a segment's turns but its first; returns the change's number."""
        whole = await self._get(segment_id)
        if not whole.first_turn < turn <= whole.last_turn:
            raise NotFoundError("A segment can be split at any of its turns but the first. Nothing was changed.")
        head = await self._name(whole.session_id, whole.first_turn, TurnId(turn - 1))
        tail = await self._name(whole.session_id, turn, whole.last_turn)

        def write(c: Connection) -> int:
            done = None
            if segments.get(c, segment_id) is not None:
                done = segment_edits.split(c, segment_id, turn, (head, tail), at=self._ground.clock())
            if done is None:
                raise NotFoundError("This segment cannot be split there. Nothing was changed.")
            return done

        return await self._edit(whole.session_id, write)

    async def rename(self, segment_id: SegmentId, title: str) -> int:
        """Give a segment a name of the user's own; a blank one lets the program name it again."""
        row = await self._get(segment_id)
        own = redact(" ".join(title.split()))[:MAX_TITLE_CHARACTERS]
        name = own or (await self._name(row.session_id, row.first_turn, row.last_turn)).title
        return await self._edit(
            row.session_id,
            lambda c: segment_edits.rename(c, segment_id, name, by_user=bool(own), at=self._ground.clock()),
        )

    async def undo(self, edit_id: int) -> str:
        """Take a merge, split or new name back; returns a note for the user, "" when all is as it was."""
        edit = await self._ground.database.read(lambda c: segment_edits.get_edit(c, edit_id))
        if edit is None:
            return "That change was taken back already."
        done = await self._ground.database.write(lambda c: segment_edits.undo(c, edit, at=self._ground.clock()))
        if not done:
            return "These segments were changed again since; nothing was taken back."
        self._tell(edit.session_id)
        return ""

    async def list_turns(self, segment_id: SegmentId) -> tuple[SplitTurn, ...]:
        """Return each turn of a segment with the first line of what the user said, to choose where to split."""
        row = await self._get(segment_id)
        spoken, numbers = await self._ground.database.read(
            lambda c: (
                recaps.load_spoken(c, row.session_id, first=row.first_turn, last=row.last_turn),
                memory_edits.load_turn_numbers(c, row.session_id),
            )
        )
        return tuple(
            SplitTurn(turn=each.turn, number=numbers[each.turn], text=" ".join(each.text.split())[:120])
            for each in spoken
            if each.role == "user"
        )

    # -- life cycle ----------------------------------------------------------------------------

    def show(self, session_id: SessionId | None) -> None:
        """Say which conversation is on screen: one left for ten minutes is closed."""
        if self._shown is not None and self._shown != session_id:
            self._left[self._shown] = self._ground.clock()
        self._shown = session_id
        if session_id is not None:
            self._left.pop(session_id, None)

    async def close_left(self) -> int:
        """Close what was left long enough ago; returns how many segments that were."""
        now, closed = self._ground.clock(), 0
        for session_id, at in tuple(self._left.items()):
            if now - at < LEFT_S:
                continue
            del self._left[session_id]
            row = await self._ground.database.read(partial(segments.get_open, session_id=session_id))
            if row is not None and (row.times.ended or row.times.arrived) <= at:
                closed += await self._close(row)
        return closed

    async def close_open(self, *, within_s: float, rested_s: float | None = None) -> int:
        """Close open segments, as the program's end does, all or those that rested; returns how many.

        What is not closed in time is closed by the next start.
        """
        now, closed = self._ground.clock(), 0
        before = float("inf") if rested_s is None else now - rested_s
        for row in await self._ground.database.read(lambda c: segments.find_idle(c, before=before)):
            if self._ground.clock() > now + within_s:
                break
            closed += await self._close(row)
        return closed

    async def _close(self, row: SegmentRow) -> bool:
        closed = await self._ground.backroom().worker.close_rested(row)
        if closed:
            self._tell(row.session_id)
        return closed

    # -- inside --------------------------------------------------------------------------------

    async def _get(self, segment_id: SegmentId) -> SegmentRow:
        row = await self._ground.database.read(lambda c: segments.get(c, segment_id))
        if row is None:
            raise NotFoundError(GONE)
        return row

    async def _edit(self, session_id: SessionId, write: Callable[[Connection], int]) -> int:
        number = await self._ground.database.write(write)
        self._tell(session_id)
        return number

    def _tell(self, session_id: SessionId) -> None:
        self._ground.publish(Changes(segments=frozenset({session_id}), status=True))
        self._ground.backroom().worker.wake()

    async def _name_unnamed(self, segment: Segment) -> Segment:
        stretch = await self._ground.database.read(lambda c: recaps.get(c, segment.id))
        if stretch is not None and stretch.titled_by_user:
            return segment
        named = await self._name(segment.session_id, segment.first_turn, segment.last_turn)
        return replace(
            segment, title=named.title, summary=segment.summary or ("" if segment.is_open else named.summary)
        )

    async def _name(self, session_id: SessionId, first: TurnId, last: TurnId) -> Named:
        return await name_turns(self._ground.database, self._ground.pool, session_id, first=first, last=last)


def _place(segment: Segment, places: Mapping[TurnId, int]) -> tuple[int, int] | None:
    """Return the places of a segment's first and last turn in its conversation."""
    first, last = places.get(segment.first_turn), places.get(segment.last_turn)
    return None if first is None or last is None else (first, last)
