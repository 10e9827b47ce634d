"""Forgetting: what goes with a facet, what has to be made again, and what keeps it from coming back.

A facet goes with its history and contradictions, the events that say the same, and the words in the index
(the transcript stays as it was said; recaps, tree and recall are made from the index, so that they lose them
too). Tombstones hold hashes of slot and value. Functions over one open transaction of the caller's.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from core.model import Role, SegmentId, SessionId, TurnId
from core.profile.comparing import split_words, stem
from core.profile.keeping import FORGOTTEN_MARK, as_reading, is_buried
from core.profile.payloads import read_payload
from core.profile.slot_rules import load_slot_languages
from core.profile.slots import Reading, read_statement
from core.storage import episodic, events, facets, recalls, tombstones
from core.storage.database import Connection
from core.storage.events import EventRow
from core.storage.facets import ContradictionRow, FacetRow, FormerRow
from core.text.clauses import fold, read_clauses
from core.text.orders import find_commands
from core.text.statements import StatementKind, find_statements, match_statement
from core.text.wordlists import words as list_words

_KINDS = (StatementKind.FACT, StatementKind.PREFERENCE)
_HINT_CHARS = 4
_UNREAD = 300  # messages that are looked through: the talk of a long day
_BLANKS = re.compile(r"[ \t]{2,}")
_GAP = re.compile(r"\s+([.,;:!?，。；：！？])")
_LOOSE = " \t\n,;:，；：、"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPlan:
    """What forgetting some facets would remove."""

    facets: tuple[FacetRow, ...]
    events: tuple[EventRow, ...]
    turns: tuple[TurnId, ...]  # whose words in the index say it
    segments: tuple[SegmentId, ...]  # closed ones, whose recap and tree leaves are made again


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """A message of the index as it was before words were taken out."""

    turn: TurnId
    session_id: SessionId
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was removed, with all that undoing it takes; what has to be made again."""

    plan: ForgetPlan
    hashes: tuple[str, ...]
    texts: tuple[IndexedText, ...]

    @property
    def rebuild(self) -> tuple[SegmentId, ...]:
        """The segments whose recaps and tree leaves are to be made again from the index."""
        return self.plan.segments

    def says(self, text: str) -> bool:
        """Whether a line (of MEMORY.md, say) rests on what was forgotten alone."""
        return states_any(text, frozenset(self.hashes))

    def cut(self, text: str) -> str:
        """Return what is left of a line without what was forgotten."""
        return cut_forgotten(text, frozenset(self.hashes))


def plan_forget(c: Connection, facet_ids: Sequence[str]) -> ForgetPlan:
    """Return what forgetting these facets would remove; changes nothing."""
    rows = tuple(row for each in facet_ids if (row := facets.get(c, each)) is not None)
    hashes = frozenset(hash_rows(rows))
    shown = [each.turn for row in rows for each in (*row.evidence, *row.former_evidence)]
    shown += [each.turn for row in rows for each in row.contradictions]
    turns = list(dict.fromkeys(shown))
    said = tuple(event for event in events.load_of_turns(c, turns) if _says(event, hashes))
    turns = sorted({*turns, *(turn for event in said for turn in event.turns), *_find_unread(c, rows, hashes)})
    return ForgetPlan(facets=rows, events=said, turns=tuple(turns), segments=facets.find_closed_segments(c, turns))


def _find_unread(c: Connection, rows: Sequence[FacetRow], hashes: frozenset[str]) -> list[TurnId]:
    """Return the turns that say it too and have not been read for the profile yet."""
    hints = find_hints(rows)
    if not hints:
        return []
    found = [(turn, text) for turn, text in events.load_unread(c, limit=_UNREAD) if _holds(text, hints)]
    return [turn for turn, text in found if hide_forgotten(text, hashes) != text]


def _holds(text: str, hints: frozenset[str]) -> bool:
    folded = fold(text)
    return any(hint in folded for hint in hints)


def forget(c: Connection, facet_ids: Sequence[str], *, at: float) -> Forgotten:
    """Forget facets with all that says the same; `at` in s. Undone by `restore`."""
    plan = plan_forget(c, facet_ids)
    hashes = tuple(hash_rows(plan.facets))
    texts = tuple(text for turn in plan.turns if (text := _scrub(c, turn, frozenset(hashes))) is not None)
    events.delete(c, [event.id for event in plan.events])
    for row in plan.facets:
        facets.delete(c, row.id)
    recalls.forget_sources(c, plan.turns)
    tombstones.add(c, hashes, at=at)
    return Forgotten(plan=plan, hashes=hashes, texts=texts)


def restore(c: Connection, forgotten: Forgotten) -> None:
    """Put back what was forgotten."""
    tombstones.lift(c, forgotten.hashes)
    for text in forgotten.texts:
        _rewrite(c, text.turn, text.content)
    for event in forgotten.plan.events:
        if _has_turns(c, event.turns):
            events.put(c, event)
    for row in forgotten.plan.facets:
        facets.restore(c, row)


def _has_turns(c: Connection, turns: Iterable[TurnId]) -> bool:
    return all(episodic.load_turn(c, turn) for turn in turns)


def hash_rows(rows: Iterable[FacetRow]) -> list[str]:
    """Return the hashes of slots and values, former and contradicting ones too."""
    found: list[str] = []
    for row in rows:
        own = as_reading(row)
        for each in _values(row):
            found += replace(own, value=each.compared, text=each.value, negative=each.negative).hashes()
    return list(dict.fromkeys(found))


def _values(row: FacetRow) -> tuple[FacetRow | FormerRow | ContradictionRow, ...]:
    """The value that holds, those that held, and those that were said against it."""
    return (row, *row.history, *row.contradictions)


def _says(event: EventRow, hashes: frozenset[str]) -> bool:
    reading = read_statement(StatementKind(event.kind), event.text)
    return reading is not None and is_buried(reading, hashes)


def _scrub(c: Connection, turn: TurnId, hashes: frozenset[str]) -> IndexedText | None:
    """Take the words out of the index of a turn; returns them as they were, None if they were not there."""
    row = next((row for row in episodic.load_turn(c, turn) if row.role is Role.USER), None)
    if row is None:
        return None
    text = hide_forgotten(row.content, hashes)
    if text == row.content:
        return None
    _rewrite(c, turn, text)
    return IndexedText(turn=turn, session_id=row.session_id, content=row.content)


def _rewrite(c: Connection, turn: TurnId, user_text: str) -> None:
    rows = {row.role: row for row in episodic.load_turn(c, turn)}
    user, reply = rows.get(Role.USER), rows.get(Role.ASSISTANT)
    if user is not None:
        episodic.put_turn(
            c,
            user.session_id,
            turn,
            user=user_text,
            user_ts=user.ts,
            reply=reply.content if reply else "",
            reply_ts=reply.ts if reply else user.ts,
        )


def hide_forgotten(text: str, hashes: frozenset[str]) -> str:
    """Return a user's text with a mark in place of each clause that says what was forgotten."""
    if not hashes:
        return text
    for command in find_commands(text):
        if any(is_buried(reading, hashes) for reading in read_payload(command.payload)):
            text = _replace(text, command.payload)
    for clause in read_clauses(text):
        statement = match_statement(clause)
        known = [read_statement(statement.kind, statement.text)] if statement else _readings(clause.text)
        if any(reading is not None and is_buried(reading, hashes) for reading in known):
            text = _replace(text, clause.text)
    return text


def cut_forgotten(text: str, hashes: frozenset[str]) -> str:
    """Return what is left of a line without what was forgotten: all of it, a part, or ""."""
    if not hashes or not text:
        return text
    if states_any(text, hashes) or _orders_only(text, hashes):
        return ""
    hidden = hide_forgotten(text, hashes)
    if hidden == text:
        return text
    left = _BLANKS.sub(" ", hidden.replace(FORGOTTEN_MARK, " ")).strip(_LOOSE)
    left = _GAP.sub(r"\1", left)
    return left if any(char.isalnum() for char in left) else ""


def _orders_only(text: str, hashes: frozenset[str]) -> bool:
    """Whether a text is an order to remember just that."""
    orders = find_commands(text)
    readings = read_payload(orders[0].payload) if len(orders) == 1 and _opens(text, orders[0].payload) else ()
    return bool(readings) and all(is_buried(reading, hashes) for reading in readings)


def _opens(text: str, payload: str) -> bool:
    """Whether an order ends a text, and no other sentence stands before it."""
    head, _, tail = text.partition(payload)
    return not tail.strip(_LOOSE + ".。!！?？") and not read_clauses(head)


def find_hints(rows: Iterable[FacetRow]) -> frozenset[str]:
    """Return beginnings of words, folded, of which a text that says some facets holds at least one; none: any text may.

    Tells cheaply which of many texts have to be read.
    """
    values = [each.value for row in rows for each in _values(row)]
    hints = {word[:_HINT_CHARS] for value in values for word in _content(value)}
    for value in values:
        characters = _cjk(value)
        hints |= {characters[i : i + 2] for i in range(len(characters) - 1)}
    return frozenset(hints)


def _replace(text: str, words: str) -> str:
    """Put the mark in place of words whose blanks may have been joined, and of what joined them to others."""
    spaced = r"\s+".join(re.escape(word) for word in words.split())
    return re.sub(_joins() + spaced, f" {FORGOTTEN_MARK}", text).strip()


@cache
def _joins() -> str:
    joins = sorted(
        {word for language in load_slot_languages().values() for word in language.joins}, key=len, reverse=True
    )
    listed = "|".join(rf"\b{word}\s+" if word.isascii() else word for word in joins)
    return rf"(?:[,，]?\s*(?:{listed}))?"


def states_any(text: str, hashes: frozenset[str]) -> bool:
    """Whether a text says what the hashes stand for, and nothing else about the user."""
    stated = find_statements(text)
    if not stated:
        return any(reading is not None and is_buried(reading, hashes) for reading in _readings(text))
    readings = [read_statement(each.kind, each.text) for each in stated]
    return all(reading is not None and is_buried(reading, hashes) for reading in readings)


def _readings(text: str) -> list[Reading | None]:
    return [read_statement(kind, text) for kind in _KINDS]


def find_matches(rows: Sequence[FacetRow], wanted: str) -> tuple[FacetRow, ...]:
    """Return the facets that "forget …" means: of the slot it states, or about the words it names."""
    readings = [reading for reading in _readings(wanted) if reading is not None]
    exact = tuple(row for row in rows if any(_is_meant(row, reading) for reading in readings))
    if exact:
        return exact
    words = _content(wanted)
    if not words and not _cjk(wanted):
        return ()
    return tuple(row for row in rows if _names(row, words, _cjk(wanted)))


def _is_meant(row: FacetRow, reading: Reading) -> bool:
    own = as_reading(row)
    return own.slot.meets(reading.slot) and own.value == reading.value


def _names(row: FacetRow, words: frozenset[str], characters: str) -> bool:
    if words and words <= _content(f"{row.value} {row.attribute} {row.subject}"):
        return True
    return len(characters) > 1 and characters in fold(row.value)


def _content(text: str) -> frozenset[str]:
    return frozenset(
        stem(word) for word in split_words(text) if word not in list_words("function_words") and word.isascii()
    )


def _cjk(text: str) -> str:
    for filler in ("所有", "关于", "有关", "我", "的", "记忆", "信息", "事情", "事", "一切"):
        text = text.replace(filler, "")
    return "".join(char for char in fold(text) if "\u3400" <= char <= "\u9fff")
