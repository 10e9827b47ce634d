"""What a change of Working Memory by the user starts from, and what it becomes.

A change is planned on what a read found and stored only if no version came in between; else it is
planned again on the newest. So an edit made on an old version meets the newest one, whoever made it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from core.errors import MemoryEditError, NotFoundError
from core.model import EditKind, MemoryEdit, Origin, ParkedLine, Section, SessionId
from core.sessions.fold import read_held
from core.sessions.view import SINGLE
from core.storage import conversations, memory_edits, memory_versions, queue
from core.storage.database import Connection
from core.storage.memory_edits import Change
from core.storage.memory_versions import PendingLine, Version
from core.text.keys import item_key
from core.working_memory.document import render_document
from core.working_memory.edit_words import as_cause, describe_edits, quote
from core.working_memory.edits import Held, apply_edits, edits_between, find_line, reapply
from core.working_memory.parked import release
from core.working_memory.provenance import compare

USER_MODE = "user"
_NOT_WAITING = "That line no longer waits: it was taken in or discarded meanwhile."


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a change starts from: the newest version and what waits for the next."""

    version: Version | None
    pending: tuple[PendingLine, ...]
    remember: bool  # False: "Temporary"
    taken_back: Change | None = None  # for undo and redo: what is to be taken back
    target: Version | None = None  # the version to go back to, where it can be exact

    @property
    def number(self) -> int:
        """The newest version's number, 0 before the first."""
        return self.version.number if self.version else 0

    @property
    def held(self) -> Held:
        """The newest version as edits work on it."""
        return read_held(self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a change does."""

    held: Held
    edits: tuple[MemoryEdit, ...]
    inverse: tuple[MemoryEdit, ...]
    words: str
    used: tuple[PendingLine, ...] = ()  # pending lines that go
    returned: tuple[PendingLine, ...] = ()  # pending lines that come back
    learns: bool = False  # what lasts of the used lines' turns goes to MEMORY.md
    undoes: int | None = None


Planner = Callable[[Situation], Plan]


# -- the store -----------------------------------------------------------------------------------------


def load_situation(c: Connection, session_id: SessionId, *, restore: int | None = None, back: str = "") -> Situation:
    """Return what a change starts from; `restore` names a version, `back` is "undo" or "redo".

    Raises `NotFoundError` if the conversation or the version is gone.
    """
    standing = conversations.load_standing(c, session_id)
    if standing is None:
        raise NotFoundError("That conversation no longer exists.")
    version = memory_versions.get(c, session_id)
    newest = version.number if version else 0
    find = {"undo": memory_edits.find_undoable, "redo": memory_edits.find_redoable}.get(back)
    change = find(c, session_id) if find else None
    wanted = change.version - 1 if change is not None and change.version == newest else restore
    target = memory_versions.get(c, session_id, wanted) if wanted else None
    if restore is not None and target is None:
        raise NotFoundError("That version of the memory no longer exists.")
    return Situation(
        version=version,
        pending=memory_versions.load_pending(c, session_id),
        remember=standing.remember,
        taken_back=change,
        target=target,
    )


def store_plan(
    session_id: SessionId, number: int, plan: Plan, c: Connection, *, at: float, before: Version | None
) -> bool:
    """Store a change as version `number`; False if that was made meanwhile."""
    if memory_versions.get_newest_number(c, session_id) != number - 1:
        return False
    asked = {"user": [asdict(edit) for edit in plan.edits]}
    made = make_version(number, plan, at=at, before=before)
    memory_versions.add(c, session_id, made, asked=asked, applied=asked, before=before)
    memory_versions.drop_pending(c, plan.used)
    for line in plan.returned:
        memory_versions.add_pending(c, session_id, line.turn, [(line.section, line.text, line.replaces)])
    change = Change(
        version=number, at=at, words=plan.words, edits=plan.edits, inverse=plan.inverse,
        pending=plan.used or plan.returned, undoes=plan.undoes,
    )  # fmt: skip
    memory_edits.add(c, session_id, change)
    if plan.learns and plan.used:
        turns = sorted({line.turn for line in plan.used})
        key = f"{queue.MEMORY_FILES}:{session_id}:{number}"
        queue.add_job(c, queue.MEMORY_FILES, session_id, {"turns": turns}, key=key, at=at)
    return True


def make_version(number: int, plan: Plan, *, at: float, before: Version | None) -> Version:
    """Return the version that a change makes; each line with how it stands against the one before."""
    old = before.lines if before else {}
    return Version(
        number=number,
        created_at=at,
        cause=as_cause(plan.words),
        archive=None,
        document=render_document(plan.held.document),
        lines={section: compare(old.get(section, ()), plan.held.lines_of(section)) for section in Section},
        decisions=(),
        parked={section: plan.held.parked_of(section) for section in Section},
        mode=USER_MODE,
    )


# -- planners ------------------------------------------------------------------------------------------


def plan_edits(*edits: MemoryEdit, words: str = "") -> Planner:
    """Plan some edits of lines."""

    def plan(found: Situation) -> Plan:
        if not found.remember and any(edit.kind is EditKind.ADD for edit in edits):
            raise MemoryEditError(
                "This conversation is temporary: nothing of it is remembered. Switch Temporary off to add to memory."
            )
        applied = apply_edits(found.held, edits)
        return Plan(held=applied.held, edits=edits, inverse=applied.inverse, words=words or describe_edits(edits))

    return plan


def plan_accept(section: Section, text: str) -> Planner:
    """Plan to take one pending line in now."""

    def plan(found: Situation) -> Plan:
        used = find_pending(found, section, text)
        held = found.held
        edits = accept_edits(held, used[-1])
        applied = reapply(held, edits)  # what memory says already needs no edit
        return Plan(
            held=applied.held, edits=edits, inverse=applied.inverse, words=f"you kept {quote(text)}", used=used,
            learns=True,
        )  # fmt: skip

    return plan


def plan_discard(section: Section, text: str) -> Planner:
    """Plan to drop one pending line."""

    def plan(found: Situation) -> Plan:
        used = find_pending(found, section, text)
        return Plan(held=found.held, edits=(), inverse=(), words=f"you discarded {quote(text)}", used=used)

    return plan


def plan_take(section: Section, line: str, text: str) -> Planner:
    """Plan to put a proposal in the place of the locked line; the lock stays."""

    def plan(found: Situation) -> Plan:
        waiting = next((other for other in found.held.parked_of(section) if other.text == text), None)
        if waiting is None:
            raise MemoryEditError("That proposal is no longer there.")
        at = find_line(found.held.lines_of(section), line)
        known = found.held.lines_of(section)[at].turns if at is not None else ()
        turns = tuple(sorted({*known, *waiting.turns}))
        edits = (
            MemoryEdit(kind=EditKind.DROP, section=section, text=text),
            MemoryEdit(
                kind=EditKind.CHANGE, section=section, text=line, new_text=text, origin=Origin.MODEL, turns=turns
            ),
        )
        applied = apply_edits(found.held, edits)
        words = f"you took {quote(text)} for {quote(line)}"
        return Plan(held=applied.held, edits=edits, inverse=applied.inverse, words=words)

    return plan


def plan_restore(found: Situation) -> Plan:
    """Plan to make an older version the newest again; what waits beside memory since then goes on waiting."""
    assert found.target is not None
    now, target = found.held, read_held(found.target)
    parked = {section: _join_parked(target, now, section) for section in Section}
    target = replace(target, parked=parked)
    edits = edits_between(now, target)
    if not edits and render_document(now.document) == render_document(target.document):
        raise MemoryEditError(f"Memory holds what version {found.target.number} held; nothing was changed.")
    words = f"you restored version {found.target.number}"
    return Plan(held=target, edits=edits, inverse=edits_between(target, now), words=words)


def plan_back(found: Situation) -> Plan:
    """Plan to take the user's last change back: exactly where it made the newest version, else line by line."""
    change = found.taken_back
    if change is None:
        raise MemoryEditError("There is nothing to undo in this conversation's memory.")
    exact = change.version == found.number
    held = read_held(found.target) if exact else reapply(found.held, change.inverse).held
    is_undo = change.undoes is None
    returned = change.pending if is_undo else ()
    used = tuple(line for line in found.pending if any(_same(line, other) for other in change.pending))
    return Plan(
        held=held,
        edits=change.inverse,
        inverse=change.edits,
        words=f"you took back: {change.words}" if is_undo else change.words.removeprefix("you took back: "),
        used=() if is_undo else used,
        returned=returned,
        undoes=change.id,
    )


def find_pending(found: Situation, section: Section, text: str) -> tuple[PendingLine, ...]:
    """Return the waiting lines that are meant; of a title or state all, as only the newest counts."""
    key = item_key(text)
    own = [line for line in found.pending if line.section is section]
    same = [line for line in own if line.text == text or (key and item_key(line.text) == key)]
    if not same:
        raise MemoryEditError(_NOT_WAITING)
    return tuple(own if section in SINGLE else same)


def accept_edits(held: Held, line: PendingLine) -> tuple[MemoryEdit, ...]:
    """Return the edits that take a pending line in: it comes, or it takes the place of the one it replaces."""
    lines = held.lines_of(line.section)
    at = find_line(lines, line.replaces) if line.replaces else None
    if line.section is Section.TITLE and lines:
        at = 0
    if at is not None:
        turns = tuple(sorted({*lines[at].turns, line.turn}))
        return (
            MemoryEdit(
                kind=EditKind.CHANGE, section=line.section, text=lines[at].text, new_text=line.text,
                origin=Origin.HEURISTIC, turns=turns,
            ),
        )  # fmt: skip
    came = MemoryEdit(
        kind=EditKind.ADD, section=line.section, text=line.text, origin=Origin.HEURISTIC, turns=(line.turn,)
    )
    gone = [old for old in lines if not old.locked] if line.section is Section.STATE else []
    return (*(MemoryEdit(kind=EditKind.REMOVE, section=line.section, text=old.text) for old in gone), came)


def _join_parked(target: Held, now: Held, section: Section) -> tuple[ParkedLine, ...]:
    known = {line.text for line in target.parked_of(section)}
    both = (*target.parked_of(section), *(line for line in now.parked_of(section) if line.text not in known))
    return release(both, target.document.bodies[section])


def _same(line: PendingLine, other: PendingLine) -> bool:
    return (line.section, line.text, line.turn) == (other.section, other.text, other.turn)
