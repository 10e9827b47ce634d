"""What is known of the user: shown, confirmed, corrected, pinned, forgotten, and each of these taken back.

A change by hand is kept in memory as it was before, until the program ends: what was forgotten must not stay on
disk for the sake of an undo.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.changes import Changes
from core.errors import MessageError, NotFoundError
from core.model import FacetOrigin, ForgetLine, ForgetPreview, Message, Place, Profile, SessionId, TurnId
from core.profile import commands, forgetting
from core.profile.forgetting import ForgetPlan, Forgotten
from core.profile.keeping import as_reading
from core.profile.slots import REDACTED, read_statement
from core.profile.strength import classify
from core.profile.view import view_profile
from core.redaction import redact
from core.services import forgetting as memories
from core.services.forgetting import MemoryForgetter, Taken
from core.services.ground import Ground
from core.services.turn_places import load_places
from core.storage import conversations, facets, turns
from core.storage.database import Connection
from core.storage.facets import FacetRow
from core.text.orders import MemoryCommand
from core.text.statements import StatementKind

MAX_UNDO = 20
MAX_CHARS = 300
GONE = "This is no longer in your profile. Nothing was changed."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Undo:
    """A change by hand with the way back."""

    words: str
    facet: FacetRow | None = None  # as it was
    created: str = ""  # a facet that was not there
    forgotten: Forgotten | None = None
    file_changes: tuple[int, ...] = ()
    memories: tuple[Taken, ...] = ()


def _load(c: Connection) -> tuple[tuple[FacetRow, ...], Mapping[TurnId, Place]]:
    rows = tuple(facets.load_all(c))
    return rows, load_places(c, (each.turn for row in rows for each in row.evidence))


class ProfileService:
    """Reads the profile and carries out what the user does to it."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._undo: list[_Undo] = []
        self._to_forget: ForgetPreview | None = None
        self._memories = MemoryForgetter(ground)

    async def load(self) -> Profile:
        """Return all facets, by class, with strength, evidence, history and contradictions."""
        now = self._ground.clock()
        rows, places = await self._ground.database.read(_load)
        found = await self._ground.think(lambda: view_profile(rows, places, now=now))
        if self._to_forget is not None and not any(f.id in self._to_forget.facet_ids for f in found):
            self._to_forget = None
        if self._to_forget is not None:  # the answer in the chat did not wait for a look at all lines
            asked = self._to_forget
            seen = await self.preview_forget(asked.facet_ids)
            if self._to_forget is asked:
                self._to_forget = replace(seen, asked=asked.asked)
        return Profile(facets=found, to_forget=self._to_forget, undo=self._undo[-1].words if self._undo else "")

    # -- by hand ---------------------------------------------------------------------------------

    async def confirm(self, facet_id: str) -> None:
        """Say that a facet holds: it is the user's own from now on, and open contradictions are settled."""
        await self._change(
            facet_id, "Confirmed", lambda row: replace(row, origin=str(FacetOrigin.USER), confidence=1.0)
        )

    async def pin(self, facet_id: str, pinned: bool) -> None:
        """Keep a facet in every prompt, or let it age again."""
        words = "Pinned" if pinned else "Unpinned"
        await self._change(
            facet_id, words, lambda row: replace(row, pinned=pinned, origin=str(FacetOrigin.USER)), settle=False
        )

    async def correct(self, facet_id: str, text: str) -> None:
        """Put the user's own words in a facet's place; the old ones stay in its history.

        Raises `MessageError` for words that say nothing or hold a secret.
        """
        words = redact(" ".join(text.split()))[:MAX_CHARS]
        if not words or REDACTED in words:
            raise MessageError(
                "Keepsake does not keep passwords and keys. Leave it out, please." if words else "Write what is right."
            )
        await self._change(facet_id, "Corrected", lambda row: _reword(row, words))

    async def choose(self, facet_id: str, conflict_id: int) -> None:
        """Let a contradiction win over the present value."""

        def pick(row: FacetRow) -> FacetRow:
            chosen = next((each for each in row.contradictions if each.id == conflict_id), None)
            if chosen is None:
                raise NotFoundError(GONE)
            return replace(
                row,
                value=chosen.value,
                compared=chosen.compared,
                negative=chosen.negative,
                confidence=1.0,
                origin=str(FacetOrigin.USER),
            )

        await self._change(facet_id, "Changed", pick)

    async def _change(
        self, facet_id: str, words: str, edit: Callable[[FacetRow], FacetRow], *, settle: bool = True
    ) -> None:
        now = self._ground.clock()

        def write(c: Connection) -> FacetRow:
            row = facets.get(c, facet_id)
            if row is None:
                raise NotFoundError(GONE)
            changed = edit(row)
            if (changed.compared, changed.negative) != (row.compared, row.negative):
                facets.retire_value(c, row, until=now)
                _rest_on_contradictions(c, row, changed)
                changed = replace(changed, since=now)
            facets.put(c, replace(changed, last_at=now, ended_at=None))
            if settle:
                facets.clear_contradictions(c, facet_id)
            return row

        row = await self._ground.database.write(write)
        self._remember_undo(_Undo(words=f"{words}: “{_shorten(row.value)}”", facet=row))

    # -- forgetting ------------------------------------------------------------------------------

    async def preview_forget(self, facet_ids: Sequence[str]) -> ForgetPreview:
        """Return what forgetting would remove; removes nothing."""
        plan = await self._ground.database.read(lambda c: forgetting.plan_forget(c, facet_ids))
        hashes = frozenset(forgetting.hash_rows(plan.facets))
        found = await self._ground.backroom().keeper.find_lines(lambda text: forgetting.states_any(text, hashes))
        in_files = tuple(ForgetLine(place=file, text=line) for file, line in found)
        lines = (*in_files, *await self._memories.list_lines(plan))
        return replace(_preview(plan), lines=lines)

    async def forget(self, facet_ids: Sequence[str]) -> None:
        """Forget facets with all that rests on them alone; what is said again later does not bring them back.

        `undo` puts them back until the program ends.
        """
        now = self._ground.clock()
        plan = await self._ground.database.read(lambda c: forgetting.plan_forget(c, facet_ids))
        if not plan.facets:
            raise NotFoundError(GONE)
        prepared = await self._memories.prepare(plan)

        def write(c: Connection) -> tuple[Forgotten, list[Taken | None]]:
            done = forgetting.forget(c, facet_ids, at=now)
            return done, [memories.store(each, c, at=now) for each in prepared]

        forgotten, stored = await self._ground.database.write(write)
        missed = [each for each, done in zip(prepared, stored, strict=True) if done is None]
        taken = [done for done in stored if done is not None]
        taken += await self._memories.finish(missed, plan)
        self._memories.publish(taken)
        await self._memories.rewrite_twins(forgotten)
        changes: tuple[int, ...] = ()
        try:
            changes = await self._ground.backroom().keeper.drop_lines(forgotten.says, at=now)
        finally:  # where a file is busy all else is forgotten, and can be taken back
            self._end_forget(forgotten, changes, tuple(taken))

    def _end_forget(self, forgotten: Forgotten, changes: tuple[int, ...], taken: tuple[Taken, ...]) -> None:
        rows = forgotten.plan.facets
        words = f"“{_shorten(rows[0].value)}”" if len(rows) == 1 else f"{len(rows)} things"
        if self._to_forget is not None and set(self._to_forget.facet_ids) & {row.id for row in rows}:
            self._to_forget = None
        sessions = frozenset(event.session_id for event in forgotten.plan.events)
        self._remember_undo(_Undo(words=f"Forgot {words}", forgotten=forgotten, file_changes=changes, memories=taken))
        self._ground.publish(Changes(files=bool(changes), segments=sessions))
        self._ground.backroom().worker.wake()

    async def dismiss_forget(self) -> None:
        """Keep what the user had asked to forget."""
        self._to_forget = None
        self._ground.publish(Changes(profile=True))

    async def undo(self) -> str:
        """Take the last change by hand back; returns what it was, in words, "" if there is none."""
        if not self._undo:
            return ""
        last = self._undo.pop()

        def write(c: Connection) -> None:
            if last.forgotten is not None:
                forgetting.restore(c, last.forgotten)
            if last.facet is not None:
                facets.restore(c, last.facet)
            if last.created:
                facets.delete(c, last.created)

        await self._ground.database.write(write)
        await self._memories.put_back(last.memories)
        if last.forgotten is not None:
            await self._memories.rewrite_twins(last.forgotten, back=True)
        for change in last.file_changes:
            await self._ground.backroom().keeper.undo(change, at=self._ground.clock())
        self._ground.publish(Changes(profile=True, files=bool(last.file_changes)))
        if last.forgotten is not None:
            self._ground.backroom().worker.wake()
        return last.words

    def _remember_undo(self, undo: _Undo) -> None:
        self._undo = [*self._undo[1 - MAX_UNDO :], undo]
        self._ground.publish(Changes(profile=True))

    # -- orders in the chat ----------------------------------------------------------------------

    async def read_orders(self, text: str) -> tuple[MemoryCommand, ...]:
        """Return the orders to remember or forget in a message; off the loop, for rules are read."""
        return await self._ground.think(lambda: commands.read_commands(redact(text)))

    def obey(self, c: Connection, session_id: SessionId, orders: Sequence[MemoryCommand], user: Message) -> Message:
        """Do what the message orders, in the transaction that stores it; returns it with a note for the user."""
        conversation = conversations.get(c, session_id)
        if conversation is not None and not conversation.remember:
            note = "This conversation is temporary: nothing of it is remembered, and nothing was forgotten."
        else:
            note = "\n".join(self._obey(c, session_id, order, user) for order in orders)
        turns.set_note(c, user.id, note)
        return replace(user, note=note)

    def _obey(self, c: Connection, session_id: SessionId, order: MemoryCommand, user: Message) -> str:
        """Do one order; returns what is said of it to the user."""
        before = facets.load_all(c)
        done = commands.obey(c, order, session_id, user.turn, at=user.created_at)
        if done.to_forget:
            self._to_forget = replace(_preview(forgetting.plan_forget(c, done.to_forget)), asked=done.asked)
        elif done.facet_id:
            old = next((row for row in before if row.id == done.facet_id), None)
            words = f"Remembered “{_shorten(order.payload)}”"
            undo = _Undo(words=words, facet=old, created="" if old else done.facet_id)
            self._undo = [*self._undo[1 - MAX_UNDO :], undo]
        return done.note


def _preview(plan: ForgetPlan) -> ForgetPreview:
    """Say what a plan would remove, but for lines, which have to be looked for."""
    return ForgetPreview(
        facet_ids=tuple(row.id for row in plan.facets),
        texts=tuple(row.value for row in plan.facets),
        events=len(plan.events),
        recaps=len(plan.segments),
        lines=(),
    )


def _reword(row: FacetRow, words: str) -> FacetRow:
    """Return a facet with the user's own words; its slot stays, whatever the words are."""
    kind = StatementKind(row.kind)
    reading = read_statement(kind, words)
    own = as_reading(row)
    changed = replace(row, value=words, confidence=1.0, origin=str(FacetOrigin.USER))
    if reading is None:
        return replace(changed, compared=words.casefold(), negative=False)
    changed = replace(changed, compared=reading.value, negative=reading.negative)
    if reading.slot.meets(own.slot) or row.object:  # where many are allowed the object belongs to the slot
        slot = reading.slot
        changed = replace(
            changed,
            subject=slot.subject,
            attribute=slot.attribute,
            object=slot.object,
            context=slot.context,
            facet_class=str(classify(reading)),
        )
    return changed


def _rest_on_contradictions(c: Connection, row: FacetRow, changed: FacetRow) -> None:
    """Let a value that was chosen rest on the turns that said it."""
    for each in row.contradictions:
        if (each.compared, each.negative) == (changed.compared, changed.negative):
            facets.add_evidence(c, row.id, each.turn, at=each.at)


def _shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
