"""What conversations remember of what the user asks to forget: found, taken out, put back.

Each conversation's Working Memory gets a version of its own, made by the user. Lines the user locked stay, and are
listed. Earlier versions keep the words: they are the way back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.changes import Changes
from core.errors import NotFoundError
from core.model import EditKind, ForgetLine, MemoryEdit, MemoryLine, Section, SessionId
from core.profile.forgetting import ForgetPlan, cut_forgotten, find_hints, hash_rows
from core.services.ground import Ground
from core.services.memory_changes import Plan, Situation, load_situation, plan_back, store_plan
from core.storage import conversations, memory_edits, memory_versions
from core.storage.database import Connection
from core.storage.memory_edits import Change
from core.storage.memory_versions import Version
from core.text.clauses import fold
from core.working_memory.edits import apply_edits

Cut = Callable[[str], str]
"""Returns what is left of a line: all of it, a part, or ""."""

BATCH = 16  # memories read in one go, so that a message need not wait for a long list
TRIES = 5  # of a change while other processes keep committing


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One conversation's memory without what is to be forgotten, ready to be stored."""

    session_id: SessionId
    found: Situation
    plan: Plan
    before: Version | None  # as the new version is compared with: words that go are not shown as struck through


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A change that was stored."""

    session_id: SessionId
    change: Change


class MemoryForgetter:
    """Takes lines out of the Working Memory of every conversation."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def list_lines(self, plan: ForgetPlan) -> tuple[ForgetLine, ...]:
        """Return the lines of all conversations' memories that say what is to be forgotten; changes nothing."""
        cut = _cut_by(plan)
        found: list[ForgetLine] = []
        for session_id, situation in await self._find(plan):
            title = await self._ground.database.read(partial(_load_title, session_id))
            lines = await self._ground.think(partial(_list_lines, situation, cut))
            found += [replace(line, session_id=session_id, place=title) for line in lines]
        return tuple(found)

    async def prepare(self, plan: ForgetPlan) -> tuple[Prepared, ...]:
        """Return each memory that holds what is to be forgotten as it will be without; changes nothing."""
        cut = _cut_by(plan)
        found = []
        for session_id, situation in await self._find(plan):
            prepared = await self._ground.think(partial(_prepare, session_id, situation, cut))
            if prepared is not None:
                found.append(prepared)
        return tuple(found)

    async def finish(self, missed: Sequence[Prepared], plan: ForgetPlan) -> list[Taken]:
        """Do what `store` could not, as memory was updated in between."""
        cut, taken = _cut_by(plan), []
        for session_id in [each.session_id for each in missed]:
            for _ in range(TRIES):
                try:
                    situation = await self._ground.database.read(lambda c, s=session_id: load_situation(c, s))
                except NotFoundError:
                    break
                prepared = await self._ground.think(partial(_prepare, session_id, situation, cut))
                if prepared is None:
                    break
                done = await self._ground.database.write(partial(store, prepared, at=self._ground.clock()))
                if done is not None:
                    taken.append(done)
                    break
        return taken

    async def put_back(self, taken: Sequence[Taken]) -> None:
        """Take the changes of memories back, but for those that the user took back there already."""
        for each in taken:
            for _ in range(TRIES):
                try:
                    found = await self._ground.database.read(partial(_load_back, each))
                except NotFoundError:
                    break
                if found is None:
                    break
                plan = await self._ground.think(partial(plan_back, found))
                write = partial(
                    store_plan, each.session_id, found.number + 1, plan, at=self._ground.clock(), before=found.version
                )
                if await self._ground.database.write(write):
                    break
        self.publish(taken)

    def publish(self, taken: Sequence[Taken]) -> None:
        """Say which memories changed."""
        if taken:
            self._ground.publish(Changes(memory=frozenset(each.session_id for each in taken), conversations=True))

    async def _find(self, plan: ForgetPlan) -> list[tuple[SessionId, Situation]]:
        """Return the memories that may say it, by the words in them."""
        if not plan.facets:
            return []
        hints = await self._ground.think(lambda: find_hints(plan.facets))
        sessions = await self._ground.database.read(memory_versions.list_sessions)
        found: list[tuple[SessionId, Situation]] = []
        for start in range(0, len(sessions), BATCH):
            batch = sessions[start : start + BATCH]
            held = await self._ground.database.read(partial(_load_situations, batch))
            found += await self._ground.think(partial(_sift, held, hints))
        return found


def store(prepared: Prepared, c: Connection, *, at: float) -> Taken | None:
    """Store what was prepared; None if memory was updated in between. `at` in s."""
    number = prepared.found.number + 1
    session_id = prepared.session_id
    if set(memory_versions.load_pending(c, session_id)) != set(prepared.found.pending):
        return None
    if not store_plan(session_id, number, prepared.plan, c, at=at, before=prepared.before):
        return None
    change = memory_edits.find_undoable(c, session_id)
    assert change is not None  # it was stored in this transaction
    return Taken(session_id=session_id, change=change)


# -- inside --------------------------------------------------------------------------------------------


def _cut_by(plan: ForgetPlan) -> Cut:
    hashes = frozenset(hash_rows(plan.facets))
    return lambda text: cut_forgotten(text, hashes)


def _load_situations(sessions: Sequence[SessionId], c: Connection) -> list[tuple[SessionId, Situation]]:
    return [
        (session_id, load_situation(c, session_id))
        for session_id in sessions
        if conversations.load_standing(c, session_id) is not None
    ]


def _load_back(taken: Taken, c: Connection) -> Situation | None:
    """Return what taking a change back starts from; None where it was taken back already."""
    if not memory_edits.is_standing(c, taken.change.id):
        return None
    found = load_situation(c, taken.session_id)
    before = taken.change.version - 1
    exact = taken.change.version == found.number and before > 0
    target = memory_versions.get(c, taken.session_id, before) if exact else None
    return replace(found, taken_back=taken.change, target=target)


def _load_title(session_id: SessionId, c: Connection) -> str:
    standing = conversations.load_standing(c, session_id)
    return standing.title if standing else ""


def _sift(held: Sequence[tuple[SessionId, Situation]], hints: frozenset[str]) -> list[tuple[SessionId, Situation]]:
    return [(session_id, found) for session_id, found in held if _may_say(found, hints)]


def _may_say(found: Situation, hints: frozenset[str]) -> bool:
    text = fold("\n".join(_all_texts(found)))
    return not hints or any(hint in text for hint in hints)


def _all_texts(found: Situation) -> list[str]:
    held = found.held
    texts = [line.text for section in Section for line in held.lines_of(section)]
    texts += [line.text for section in Section for line in held.parked_of(section)]
    return [*texts, *(line.text for line in found.pending)]


def _list_lines(found: Situation, cut: Cut) -> list[ForgetLine]:
    held, lines = found.held, list[ForgetLine]()
    for section in Section:
        lines += [
            ForgetLine(place="", text=line.text, left=left, locked=line.locked)
            for line in held.lines_of(section)
            if (left := cut(line.text)) != line.text
        ]
        lines += [
            ForgetLine(place="", text=parked.text)
            for parked in held.parked_of(section)
            if cut(parked.text) != parked.text
        ]
    lines += [
        ForgetLine(place="", text=waiting.text, left=left)
        for waiting in found.pending
        if (left := cut(waiting.text)) != waiting.text
    ]
    return list({(line.text, line.locked): line for line in lines}.values())


def _prepare(session_id: SessionId, found: Situation, cut: Cut) -> Prepared | None:
    """Return a memory without the lines; None where there is nothing to do."""
    held, edits = found.held, []
    for section in Section:
        others = [line.text for line in held.lines_of(section)]
        for line in held.lines_of(section):
            left = cut(line.text)
            if line.locked or left == line.text:
                continue
            edits.append(_edit_line(section, line, left if left not in others else ""))
            others.append(left)
        edits += [
            MemoryEdit(kind=EditKind.DROP, section=section, text=parked.text)
            for parked in held.parked_of(section)
            if cut(parked.text) != parked.text
        ]
    used = tuple(line for line in found.pending if cut(line.text) != line.text)
    if not edits and not used:
        return None
    applied = apply_edits(held, edits)
    plan = Plan(
        held=applied.held,
        edits=tuple(edits),
        inverse=applied.inverse,
        words=_describe(len(edits) + len(used)),
        used=used,
        returned=tuple(replace(line, text=left) for line in used if (left := cut(line.text))),
    )
    return Prepared(session_id=session_id, found=found, plan=plan, before=_clean(found.version, cut))


def _edit_line(section: Section, line: MemoryLine, left: str) -> MemoryEdit:
    if not left:
        return MemoryEdit(kind=EditKind.REMOVE, section=section, text=line.text)
    return MemoryEdit(
        kind=EditKind.CHANGE, section=section, text=line.text, new_text=left, origin=line.origin, turns=line.turns
    )


def _clean(version: Version | None, cut: Cut) -> Version | None:
    if version is None:
        return None
    lines = {
        section: tuple(line for line in lines if line.locked or cut(line.text) == line.text)
        for section, lines in version.lines.items()
    }
    return replace(version, lines=lines)


def _describe(count: int) -> str:
    """Name no words: the list of versions is read long after."""
    return "you asked to forget a line" if count == 1 else f"you asked to forget {count} lines"
