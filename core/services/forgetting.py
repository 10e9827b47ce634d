"""What conversations remember of what the user asks to forget: found, taken out, put back.

Each conversation's Working Memory gets a version of its own, made by the user. Lines the user locked stay, and are
listed. Earlier versions keep the words: they are the way back.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.archivist.twin_rewriting import rewrite_twins
from core.archivist.twins import Twin
from core.changes import Changes
from core.errors import NotFoundError
from core.jobs.turn_hook import make_twin
from core.model import EditKind, ForgetLine, LineState, MemoryEdit, MemoryLine, Origin, Role, Section, SessionId, TurnId
from core.profile.forgetting import ForgetPlan, Forgotten, cut_forgotten, find_hints, hash_rows, hide_forgotten
from core.redaction import redact
from core.services.ground import Ground
from core.services.memory_changes import Plan, Situation, load_situation, plan_back, store_plan
from core.sessions.view import SINGLE
from core.storage import conversations, episodic, memory_edits, memory_versions
from core.storage.database import Connection
from core.storage.memory_edits import Change
from core.storage.memory_versions import PendingLine, Version
from core.text.clauses import fold
from core.working_memory.edits import apply_edits
from core.working_memory.heuristic_title import cut_title

log = logging.getLogger(__name__)

BATCH = 16  # memories read in one go, so that a message need not wait for a long list
TRIES = 5  # of a change while other processes keep committing


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is to be forgotten, as lines are compared with it."""

    hashes: frozenset[str]
    hints: frozenset[str]
    turns: frozenset[TurnId]
    said_here: bool = False  # whether the memory at hand holds what those turns said

    def within(self, found: Situation) -> "About":
        """Return this for one conversation's memory."""
        held = [line for section in Section for line in found.held.lines_of(section)]
        turns = {*(turn for line in held for turn in line.turns), *(line.turn for line in found.pending)}
        return replace(self, said_here=not self.turns.isdisjoint(turns))

    def cut(self, text: str) -> str:
        """Return what is left of a text: all of it, a part, or ""."""
        return cut_forgotten(text, self.hashes)

    def cut_line(self, section: Section, line: MemoryLine) -> str:
        """Return what is left of a line; a title or state, which are no statements, goes by the turns it rests on."""
        if section in SINGLE and line.turns and self.turns.issuperset(line.turns) and self.may_be_in(line.text):
            return ""
        if section is Section.TITLE and self.said_here:  # a title of several turns' phrases rests on the last of them
            return cut_title(line.text, self.may_be_in)
        return self.cut(line.text)

    def may_be_in(self, text: str) -> bool:
        """Whether a text may say it, by its words."""
        folded = fold(text)
        return not self.hints or any(hint in folded for hint in self.hints)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One conversation's memory without what is to be forgotten, ready to be stored."""

    session_id: SessionId
    found: Situation
    plan: Plan
    before: Version | None  # as the new version is compared with: words that go are not shown as struck through
    about: About


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A change that was stored."""

    session_id: SessionId
    change: Change
    title: str = ""  # of the conversation as it was, where that went too
    preview: str = ""


class MemoryForgetter:
    """Takes lines out of the Working Memory of every conversation."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def list_lines(self, plan: ForgetPlan) -> tuple[ForgetLine, ...]:
        """Return the lines of all conversations' memories that say what is to be forgotten; changes nothing."""
        about = await self._ground.think(partial(_read_plan, plan))
        found: list[ForgetLine] = []
        for session_id, situation in await self._find(plan, about):
            title = await self._ground.database.read(partial(_load_title, session_id))
            lines = await self._ground.think(partial(_list_lines, situation, about))
            found += [replace(line, session_id=session_id, place=title) for line in lines]
        return tuple(found)

    async def prepare(self, plan: ForgetPlan) -> tuple[Prepared, ...]:
        """Return each memory that holds what is to be forgotten as it will be without; changes nothing."""
        about = await self._ground.think(partial(_read_plan, plan))
        found = []
        for session_id, situation in await self._find(plan, about):
            prepared = await self._ground.think(partial(_prepare, session_id, situation, about))
            if prepared is not None:
                found.append(prepared)
        return tuple(found)

    async def finish(self, missed: Sequence[Prepared], plan: ForgetPlan) -> list[Taken]:
        """Do what `store` could not, as memory was updated in between."""
        if not missed:
            return []
        about, taken = await self._ground.think(partial(_read_plan, plan)), list[Taken]()
        for session_id in [each.session_id for each in missed]:
            load = partial(load_situation, session_id=session_id)
            for _ in range(TRIES):
                try:
                    situation = await self._ground.database.read(load)
                except NotFoundError:
                    break
                prepared = await self._ground.think(partial(_prepare, session_id, situation, about))
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
            await self._ground.database.write(partial(restore_names, each))
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

    async def rewrite_twins(self, forgotten: Forgotten, *, back: bool = False) -> None:
        """Write the Markdown twins of messages anew: without what was forgotten, or `back` as they were."""
        changed = await self._ground.database.read(lambda c: _load_twins(forgotten, c))
        hashes = frozenset(forgotten.hashes)

        def rewrite() -> None:
            pairs = [(twin, hide_forgotten(twin.text, hashes)) for twin in changed]
            if back:
                pairs = [(replace(twin, text=hidden), twin.text) for twin, hidden in pairs]
            try:
                rewrite_twins(self._ground.folder.workspace(), pairs, redact)
            except OSError as error:
                log.warning("the files of messages could not be written anew: %s", error)

        await self._ground.think(rewrite)

    async def _find(self, plan: ForgetPlan, about: About) -> list[tuple[SessionId, Situation]]:
        """Return the memories that may say it, by the words in them."""
        if not plan.facets:
            return []
        sessions = await self._ground.database.read(memory_versions.list_sessions)
        found: list[tuple[SessionId, Situation]] = []
        for start in range(0, len(sessions), BATCH):
            batch = sessions[start : start + BATCH]
            held = await self._ground.database.read(partial(_load_situations, batch))
            found += await self._ground.think(partial(_sift, held, about))
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
    title, preview = _clear_names(prepared, c)
    return Taken(session_id=session_id, change=change, title=title, preview=preview)


def _clear_names(prepared: Prepared, c: Connection) -> tuple[str, str]:
    """Clear a conversation's entry in the list; returns title and preview as they were, "" if they stay."""
    row, session_id = conversations.get(c, prepared.session_id), prepared.session_id
    if row is None:
        return "", ""
    named = {edit.text for edit in prepared.plan.edits if edit.section is Section.TITLE}
    title = row.title if row.title in named or (row.title and prepared.about.cut(row.title) != row.title) else ""
    if title:
        conversations.rename(c, session_id, prepared.about.cut(title) if title not in named else "", by_user=False)
    left = prepared.about.cut(row.preview)
    if left == row.preview:
        return title, ""
    conversations.set_preview(c, session_id, left)
    return title, row.preview


def restore_names(taken: Taken, c: Connection) -> None:
    """Put a conversation's title and preview back."""
    if taken.title:
        conversations.rename(c, taken.session_id, taken.title, by_user=False)
    if taken.preview:
        conversations.set_preview(c, taken.session_id, taken.preview)


def _load_twins(forgotten: Forgotten, c: Connection) -> list[Twin]:
    """Return the twins as they were before."""
    twins = []
    for text in forgotten.texts:
        row = next((row for row in episodic.load_turn(c, text.turn) if row.role is Role.USER), None)
        if row is not None:
            twins.append(replace(make_twin(row), text=text.content))
    return twins


# -- inside --------------------------------------------------------------------------------------------


def _read_plan(plan: ForgetPlan) -> About:
    return About(hashes=frozenset(hash_rows(plan.facets)), hints=find_hints(plan.facets), turns=frozenset(plan.turns))


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


def _sift(held: Sequence[tuple[SessionId, Situation]], about: About) -> list[tuple[SessionId, Situation]]:
    return [(session_id, found) for session_id, found in held if about.may_be_in("\n".join(_all_texts(found)))]


def _all_texts(found: Situation) -> list[str]:
    held = found.held
    texts = [line.text for section in Section for line in held.lines_of(section)]
    texts += [line.text for section in Section for line in held.parked_of(section)]
    return [*texts, *(line.text for line in found.pending)]


def _list_lines(found: Situation, about: About) -> list[ForgetLine]:
    about, held, lines = about.within(found), found.held, list[ForgetLine]()
    for section in Section:
        lines += [
            ForgetLine(place="", text=line.text, left=left, locked=line.locked)
            for line in held.lines_of(section)
            if (left := about.cut_line(section, line)) != line.text
        ]
        lines += [
            ForgetLine(place="", text=parked.text)
            for parked in held.parked_of(section)
            if about.cut(parked.text) != parked.text
        ]
    lines += [
        ForgetLine(place="", text=waiting.text, left=left)
        for waiting in found.pending
        if (left := about.cut_line(waiting.section, _as_line(waiting))) != waiting.text
    ]
    return list({(line.text, line.locked): line for line in lines}.values())


def _prepare(session_id: SessionId, found: Situation, about: About) -> Prepared | None:
    """Return a memory without the lines; None where there is nothing to do."""
    about, held, edits = about.within(found), found.held, []
    for section in Section:
        others = [line.text for line in held.lines_of(section)]
        for line in held.lines_of(section):
            left = about.cut_line(section, line)
            if line.locked or left == line.text:
                continue
            edits.append(_edit_line(section, line, left if left not in others else ""))
            others.append(left)
        edits += [
            MemoryEdit(kind=EditKind.DROP, section=section, text=parked.text)
            for parked in held.parked_of(section)
            if about.cut(parked.text) != parked.text
        ]
    used = tuple(line for line in found.pending if about.cut_line(line.section, _as_line(line)) != line.text)
    if not edits and not used:
        return None
    applied = apply_edits(held, edits)
    gone = {(edit.section, edit.text) for edit in edits}
    plan = Plan(
        held=applied.held,
        edits=tuple(edits),
        inverse=applied.inverse,
        words=_describe(len(edits) + len(used)),
        used=used,
        returned=tuple(
            replace(line, text=left) for line in used if (left := about.cut_line(line.section, _as_line(line)))
        ),
    )
    return Prepared(session_id=session_id, found=found, plan=plan, before=_clean(found.version, gone), about=about)


def _as_line(line: PendingLine) -> MemoryLine:
    return MemoryLine(text=line.text, origin=Origin.HEURISTIC, state=LineState.PENDING, turns=(line.turn,))


def _edit_line(section: Section, line: MemoryLine, left: str) -> MemoryEdit:
    if not left:
        return MemoryEdit(kind=EditKind.REMOVE, section=section, text=line.text)
    return MemoryEdit(
        kind=EditKind.CHANGE, section=section, text=line.text, new_text=left, origin=line.origin, turns=line.turns
    )


def _clean(version: Version | None, gone: Collection[tuple[Section, str]]) -> Version | None:
    if version is None:
        return None
    lines = {
        section: tuple(line for line in lines if (section, line.text) not in gone)
        for section, lines in version.lines.items()
    }
    return replace(version, lines=lines)


def _describe(count: int) -> str:
    """Name no words: the list of versions is read long after."""
    return "you asked to forget a line" if count == 1 else f"you asked to forget {count} lines"
