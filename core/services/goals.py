"""Long-term goals: the list, what was proposed about it, and looking for goals on demand."""

from collections.abc import Mapping

from core.changes import Changes
from core.errors import NotFoundError
from core.jobs.finalise import GOALS
from core.jobs.goals import FULL, hold_goals
from core.jobs.memory_entries import WORKSPACE
from core.memory_files.goals import GoalOp, GoalOutcome, edit_goals
from core.memory_files.history import OWN_ACTOR
from core.memory_files.writer import Cause, MemoryFileWriter
from core.model import GoalKind, GoalProposal, GoalsState, LongTermGoal, Place, TurnId
from core.profile.forgetting import hide_forgotten
from core.redaction import redact
from core.services.ground import Ground
from core.services.turn_places import load_places
from core.storage import goals as stored
from core.storage import recaps, tombstones
from core.storage.database import Connection
from core.storage.goals import ProposalRow

GONE = "That proposal is no longer there. Nothing was changed."


class GoalsService:
    """Reads MEMORY_GOALS.md and carries out what the user decides about proposals."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def load(self) -> GoalsState:
        """Return the goals in the file's order and the proposals that wait, oldest first."""
        held = await self._ground.backroom().keeper.use(hold_goals)
        rows, forgotten = await self._ground.database.read(
            lambda c: (stored.load_proposals(c, WORKSPACE), tombstones.load_all(c))
        )
        texts = {goal.id: goal.text for goal in held.goals}
        open_rows = [row for row in rows if hide_forgotten(row.text, forgotten) == row.text]
        turns = [turn for row in open_rows for turn in row.turns]
        places = await self._ground.database.read(lambda c: load_places(c, turns))
        return GoalsState(
            goals=tuple(
                LongTermGoal(id=goal.id, text=goal.text, by_user=goal.id not in held.ours) for goal in held.goals
            ),
            proposals=tuple(
                _show(row, texts.get(row.goal, ""), places) for row in open_rows if not row.goal or row.goal in texts
            ),
        )

    async def take(self, proposal_id: int, *, retire: str = "") -> str:
        """Do what a proposal says, `retire` being a goal that makes room; returns a note, "" if it is done.

        Raises `NotFoundError` for a proposal that is gone, and the errors of a write.
        """
        row = await self._find(proposal_id)
        number = await self._ground.database.read(lambda c: stored.get_next_number(c, WORKSPACE))
        ops = [GoalOp(id=retire)] if retire else []
        ops.append(GoalOp(id=row.goal or None, text=row.text or None))
        cause = Cause(
            at=self._ground.clock(), actor=OWN_ACTOR, cause="You took what Keepsake proposed.", turns=row.turns
        )

        def write(writer: MemoryFileWriter) -> tuple[GoalOutcome, int]:
            _, done = edit_goals(writer, ops, cause, next_id=number, redact=redact)
            return done.outcomes[-1], done.next_id

        outcome, following = await self._ground.backroom().keeper.use(write)
        if outcome is GoalOutcome.FULL:
            return FULL

        def finish(c: Connection) -> None:
            stored.raise_next_number(c, WORKSPACE, following)
            stored.drop(c, proposal_id)

        await self._ground.database.write(finish)
        self._ground.publish(Changes(files=True))
        return "" if outcome in _DONE else "The list says so already."

    async def dismiss(self, proposal_id: int) -> None:
        """Let a proposal go; it is not made again. Raises `NotFoundError` if it is gone."""
        await self._find(proposal_id)
        await self._ground.database.write(lambda c: stored.dismiss(c, proposal_id))
        self._ground.publish(Changes(files=True))

    async def look(self) -> int:
        """Queue a look for goals at every closed segment; returns how many. Nothing comes in twice."""

        def ask(c: Connection) -> int:
            found = recaps.load_closed(c)
            for stretch in found:
                recaps.add_step(c, GOALS, stretch, at=self._ground.clock())
            return len(found)

        count = await self._ground.database.write(ask)
        self._ground.backroom().worker.wake()
        return count

    async def _find(self, proposal_id: int) -> ProposalRow:
        rows = await self._ground.database.read(lambda c: stored.load_proposals(c, WORKSPACE))
        found = next((row for row in rows if row.id == proposal_id), None)
        if found is None:
            raise NotFoundError(GONE)
        return found


_DONE = (GoalOutcome.ADDED, GoalOutcome.EDITED, GoalOutcome.DELETED)


def _show(row: ProposalRow, now: str, places: Mapping[TurnId, Place]) -> GoalProposal:
    return GoalProposal(
        id=row.id,
        kind=GoalKind(row.kind),
        goal_id=row.goal,
        before=now,
        text=row.text,
        turns=row.turns,
        why=row.why,
        at=row.at,
        places={turn: places[turn] for turn in row.turns if turn in places},
    )
