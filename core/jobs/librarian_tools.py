"""The librarian's three tools: what they take, and everything that is checked before they write.

No tool sees SQL, a path or another file. Each answers with what the log or the store holds after it; a call that is
refused says why in a word. Relies on `core.archivist.entries` for evidence and on `core.jobs.notebook` for the files.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from core.archivist.entries import Judgement, Witness, strip_entry
from core.archivist.librarian import CATEGORIES, INSERT_SQL_RECORD, MEMORY_STORE, UPDATE_MEMORY_MD
from core.jobs.memory_entries import MemoryKeeper
from core.jobs.notebook import Entry, EntryResult, replace_section, write_entry
from core.llm.tool_calls import Tool
from core.memory_files.documents import Action, Outcome, guard
from core.memory_files.writer import Cause
from core.model import FacetOrigin, TurnId
from core.profile.events import event_key
from core.profile.forgetting import hide_forgotten
from core.profile.keeping import Said, take_reading
from core.profile.merging import Outcome as FacetOutcome
from core.profile.payloads import read_payload
from core.storage import events, tombstones
from core.storage.database import Connection, Database
from core.storage.events import EventRow
from core.storage.recaps import Stretch
from core.text.statements import StatementKind
from core.working_memory.heuristic_terms import count_negations, is_repeat

CAUSE = "The librarian kept it of a part of a conversation that had ended."
STATED_CONFIDENCE = 0.6  # of what a model read out of the user's words
MAX_ENTRIES = 3  # of one call
# What insert_sql_record may write: table -> columns, each bound as a value
RECORDS: Mapping[str, tuple[str, ...]] = {"events": ("kind", "text", "turn")}
RULE = "librarian"

_TEXT = {"type": "string", "minLength": 1, "maxLength": 4_000}
_TURN = {"type": "integer", "minimum": 1}
_SCHEMAS: Mapping[str, dict[str, Any]] = {
    UPDATE_MEMORY_MD: {
        "file": {"type": "string"},
        "action": {"type": "string"},
        "content": {"type": "string", "maxLength": 8_000},
        "category": {"enum": list(CATEGORIES)},
        "section_title": {"type": ["string", "null"], "maxLength": 200},
    },
    INSERT_SQL_RECORD: {"table": {"type": "string"}, "record": {"type": "object"}},
    MEMORY_STORE: {"text": _TEXT, "category": {"enum": ["fact", "preference"]}, "turn": _TURN},
}
_RECORD = {"kind": {"enum": [str(kind) for kind in StatementKind]}, "text": _TEXT, "turn": _TURN}
_OPTIONAL = ("section_title",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call came to: written, duplicate, refused or over_budget; a word for why, and what was written."""

    tool: str
    outcome: Outcome
    reason: str = ""  # a word
    detail: str = ""  # for the model; never logged, for it may quote
    written: tuple[str, ...] = ()  # texts that the log or the store now holds
    bytes_written: int = 0
    lines: tuple[int, ...] = ()

    def describe(self) -> str:
        """Return the answer for the model, as JSON."""
        said: dict[str, object] = {"tool": self.tool, "outcome": str(self.outcome)}
        if self.reason:
            said["reason"] = self.reason
        if self.detail:
            said["detail"] = self.detail
        if self.outcome is Outcome.WRITTEN and self.bytes_written:
            said |= {"bytes": self.bytes_written, "lines": list(self.lines)}
        return json.dumps(said, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a run works on: the segment, what was said in it, when it is, and whose name a change bears."""

    stretch: Stretch
    witness: Witness
    at: float  # s
    told_at: Mapping[TurnId, float] = field(default_factory=dict)  # s; of the user's messages


ToolFunction = Callable[[Desk, dict[str, Any]], Awaitable[ToolResult]]


class Toolbox:
    """The tools over one store and one workspace."""

    def __init__(self, database: Database, keeper: MemoryKeeper) -> None:
        self._database = database
        self._keeper = keeper

    @property
    def functions(self) -> dict[str, ToolFunction]:
        """The tools by name: what is registered."""
        return {
            UPDATE_MEMORY_MD: self.update_memory_md,
            INSERT_SQL_RECORD: self.insert_sql_record,
            MEMORY_STORE: self.memory_store,
        }

    async def update_memory_md(self, desk: Desk, given: dict[str, Any]) -> ToolResult:
        """Append entries to MEMORY.md or SKILL.md, or write a section of them anew."""
        file, action, category = str(given["file"]), str(given["action"]), str(given["category"])
        section = given.get("section_title") or None
        texts = [text for line in str(given["content"]).splitlines() if (text := strip_entry(line))]
        reason = guard(file, action, str(given["content"]), section) or _check_amount(texts)
        if reason:
            return _refuse(UPDATE_MEMORY_MD, reason)
        judged = [desk.witness.judge(text, category) for text in texts]
        if refused := next((each for each in judged if not each.passes), None):
            return _refuse(UPDATE_MEMORY_MD, refused.reason)
        turns = tuple(sorted({turn for each in judged for turn in each.turns}))
        cause = Cause(at=desk.at, actor=self._keeper.actor, cause=CAUSE, turns=turns)
        wanted = [Entry(category=category, text=text) for text in texts]
        forgotten = await self._database.read(tombstones.load_all)
        if action == Action.REPLACE_SECTION:
            work = partial(
                replace_section, file=file, section=str(section), entries=wanted, cause=cause, forgotten=forgotten
            )
            results = [await self._keeper.use(work)]
        else:
            write = partial(write_entry, cause=cause, forgotten=forgotten, file=file, section=section)
            results = [await self._keeper.use(partial(write, entry=entry)) for entry in wanted]
        return _sum_up(results, texts)

    async def insert_sql_record(self, desk: Desk, given: dict[str, Any]) -> ToolResult:
        """Store a record in a table of the list, its columns as bound values."""
        table, record = str(given["table"]), given["record"]
        if table not in RECORDS:
            return _refuse(INSERT_SQL_RECORD, "table_not_allowed")
        if not set(record) <= set(RECORDS[table]):
            return _refuse(INSERT_SQL_RECORD, "column_not_allowed")
        if not _fits(record, _RECORD):
            return _refuse(INSERT_SQL_RECORD, "bad_value")
        text, turn = " ".join(str(record["text"]).split()), TurnId(int(record["turn"]))
        judged = _judge_statement(desk, text, turn)
        if not judged.passes:
            return _refuse(INSERT_SQL_RECORD, judged.reason)
        return await self._database.write(lambda c: _insert_event(c, desk, str(record["kind"]), text, turn))

    async def memory_store(self, desk: Desk, given: dict[str, Any]) -> ToolResult:
        """Let a fact or preference of the user's do to their profile what it does."""
        text, turn = " ".join(str(given["text"]).split()), TurnId(int(given["turn"]))
        judged = _judge_statement(desk, text, turn)
        if not judged.passes:
            return _refuse(MEMORY_STORE, judged.reason)
        return await self._database.write(lambda c: _store_statement(c, desk, text, turn))


def describe_tools(names: Sequence[str]) -> tuple[Tool, ...]:
    """Return the tools as a model's calls are checked against them."""
    return tuple(Tool(name=name, schema=json.dumps(_make_schema(_SCHEMAS[name]))) for name in names)


def _make_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in _OPTIONAL],
        "additionalProperties": False,
    }


def _fits(record: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    import jsonschema

    return bool(jsonschema.Draft202012Validator(_make_schema(properties)).is_valid(dict(record)))


def _check_amount(texts: Sequence[str]) -> str:
    if not texts:
        return "empty_content"  # nothing is taken out of a file by a model that names nothing
    return "too_many_entries" if len(texts) > MAX_ENTRIES else ""


def _judge_statement(desk: Desk, text: str, turn: TurnId) -> Judgement:
    """Judge what a model puts down as said by the user in a turn."""
    if turn not in desk.told_at:
        return Judgement(passes=False, reason="unknown_turn")
    judged = desk.witness.of_turn(turn).judge(text, str(StatementKind.FACT))
    return replace(judged, turns=(turn,)) if judged.passes else judged


def _insert_event(c: Connection, desk: Desk, kind: str, text: str, turn: TurnId) -> ToolResult:
    forgotten = tombstones.load_all(c)
    if hide_forgotten(text, forgotten) != text:
        return _refuse(INSERT_SQL_RECORD, "forgotten")
    held = [each.text for each in events.load_of_segment(c, desk.stretch.id) if each.kind == kind]
    if is_repeat(text, held):
        return ToolResult(tool=INSERT_SQL_RECORD, outcome=Outcome.DUPLICATE)
    row = EventRow(
        id="",
        session_id=desk.stretch.session_id,
        segment_id=desk.stretch.id,
        kind=kind,
        text=text,
        key=event_key(text),
        negative=count_negations(text) % 2 == 1,
        confidence=STATED_CONFIDENCE,
        subject="user",
        due=None,
        rule=RULE,
        turns=(turn,),
    )
    event_id, new = events.put(c, row)
    if not new:
        return ToolResult(tool=INSERT_SQL_RECORD, outcome=Outcome.DUPLICATE)
    events.log_change(c, op="add", kind="event", item_id=event_id, before=None, after=text, turn=turn, at=desk.at)
    return ToolResult(tool=INSERT_SQL_RECORD, outcome=Outcome.WRITTEN, written=(text,))


def _store_statement(c: Connection, desk: Desk, text: str, turn: TurnId) -> ToolResult:
    readings = read_payload(text)
    if not readings:
        return _refuse(MEMORY_STORE, "not_a_statement")
    said = Said(turn=turn, at=desk.told_at[turn], origin=FacetOrigin.STATED, confidence=STATED_CONFIDENCE)
    outcomes = [take_reading(c, reading, said)[0] for reading in readings]
    if any(each in (FacetOutcome.CREATED, FacetOutcome.REINFORCED, FacetOutcome.SUPERSEDED) for each in outcomes):
        return ToolResult(tool=MEMORY_STORE, outcome=Outcome.WRITTEN, written=(text,))
    if FacetOutcome.SUPPRESSED in outcomes:
        return _refuse(MEMORY_STORE, "forgotten")
    if FacetOutcome.CONTRADICTION in outcomes:
        return _refuse(MEMORY_STORE, "contradiction")
    if FacetOutcome.UNCHANGED in outcomes:
        return ToolResult(tool=MEMORY_STORE, outcome=Outcome.DUPLICATE)
    return _refuse(MEMORY_STORE, "nothing_to_end")


def _sum_up(results: Sequence[EntryResult], texts: Sequence[str]) -> ToolResult:
    """Join what became of the entries of one call: what was written counts, else the first that was not."""
    done = [each for each in results if each.is_written]
    first = done[0] if done else results[0]
    whole = len(results) == 1  # one write for all of them
    return ToolResult(
        tool=UPDATE_MEMORY_MD,
        outcome=first.outcome,
        reason=first.reason,
        written=tuple(t for i, t in enumerate(texts) if results[0 if whole else i].is_written),
        bytes_written=done[-1].bytes_written if done else 0,
        lines=tuple(line for each in done for line in each.lines),
    )


def _refuse(tool: str, reason: str) -> ToolResult:
    return ToolResult(tool=tool, outcome=Outcome.REFUSED, reason=reason)
