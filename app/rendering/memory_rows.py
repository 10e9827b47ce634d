"""Working Memory as rows: what stands in each, what can be done with it, and how it is said aloud. Pure.

The list, the buttons under it, the menu and the keys all take their commands from `Row.acts`, so that nothing
can be reached in one way only.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from app.rendering.display import one_line
from app.rendering.words import day, section_note
from core.model import LineState, MemoryLine, MemorySection, Origin, ParkedLine, Section, TurnId, WorkingMemory
from core.wording import count, say_turns

MAX_LINE_CHARS, MAX_TIP_CHARS = 600, 4_000
SIGNS = {
    LineState.KEPT: "●",
    LineState.ADDED: "+",
    LineState.REMOVED: "−",
    LineState.RESTORED: "↺",
    LineState.PENDING: "…",
}
_SPOKEN = {
    LineState.KEPT: "",
    LineState.ADDED: "new: ",
    LineState.REMOVED: "removed: ",
    LineState.RESTORED: "restored: ",
    LineState.PENDING: "pending: ",
}
_ORIGINS = {
    Origin.USER: "you",
    Origin.HEURISTIC: "noticed",
    Origin.MODEL: "model",
    Origin.RESTORED: "restored",
}


class RowKind(StrEnum):
    """What a row shows."""

    HEAD = "head"  # a section's name
    WARNING = "warning"  # the section is over its limits
    LINE = "line"
    WANTED = "wanted"  # a proposal against the locked line above
    FOLD = "fold"  # opens and closes what was set aside
    PARKED = "parked"
    DRAFT = "draft"  # a line that is being typed


class Act(StrEnum):
    """What can be done with a row."""

    EDIT = "edit"
    LOCK = "lock"
    UNLOCK = "unlock"
    MOVE = "move"
    REMOVE = "remove"
    PUT_BACK = "put back"
    JUMP = "jump"
    COPY = "copy"
    KEEP = "keep"
    DISCARD = "discard"
    BRING_BACK = "bring back"
    DROP = "drop"
    TAKE = "take"
    DISMISS = "dismiss"
    ADD = "add"
    FOLD = "fold"


# what the user reads, and the key that does it
LABELS: Mapping[Act, tuple[str, str]] = {
    Act.EDIT: ("Edit", "Enter"),
    Act.LOCK: ("Lock", "L"),
    Act.UNLOCK: ("Unlock", "L"),
    Act.MOVE: ("Move", "M"),
    Act.REMOVE: ("Remove", "Del"),
    Act.PUT_BACK: ("Bring back", "Enter"),
    Act.JUMP: ("Go to the turn", "G"),
    Act.COPY: ("Copy", "Ctrl+C"),
    Act.KEEP: ("Keep", "Enter"),
    Act.DISCARD: ("Discard", "Del"),
    Act.BRING_BACK: ("Bring back", "Enter"),
    Act.DROP: ("Let go", "Del"),
    Act.TAKE: ("Take it", "Enter"),
    Act.DISMISS: ("Dismiss", "Del"),
    Act.ADD: ("Add a line", "N"),
    Act.FOLD: ("Show or hide", "Enter"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LineAction:
    """What the user did with a line, for the presenter."""

    act: Act
    section: Section
    text: str = ""  # the line; of ADD what was typed
    new_text: str = ""  # EDIT
    line: str = ""  # TAKE: the locked line
    to: Section | None = None  # MOVE
    turns: tuple[TurnId, ...] = ()  # PUT_BACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row. Two rows with the same `key` are the same line, whatever became of it."""

    kind: RowKind
    section: Section
    key: str
    text: str = ""  # as it is held; what is painted is `shown`
    shown: str = ""
    suffix: str = ""  # small words after the text: origin, lock
    sign: str = ""
    tone: str = ""  # added, removed, restored, pending, warning, muted, quiet
    note: str = ""  # HEAD: at the right; PARKED: why it waits
    line: str = ""  # WANTED: the locked line
    turns: tuple[tuple[TurnId, int], ...] = ()  # each with its number in the conversation
    acts: tuple[Act, ...] = ()
    links: tuple[Act, ...] = ()  # those that stand in the row itself
    spoken: str = ""
    last: bool = False  # of its section
    locked: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A line that is being typed into a section."""

    section: Section
    text: str = ""


def build_rows(
    memory: WorkingMemory | None,
    *,
    opened: Collection[Section] = (),
    draft: Draft | None = None,
    editable: bool = True,
) -> tuple[Row, ...]:
    """Return the rows of a version, or of an empty memory; `opened` sections show what was set aside."""
    given = {section.section: section for section in memory.sections} if memory else {}
    numbers = memory.turn_numbers if memory else {}
    rows: list[Row] = []
    for section in Section:
        part = given.get(section, MemorySection(section=section, lines=(), tokens=0))
        typed = draft if draft is not None and draft.section is section else None
        rows += _section_rows(part, numbers, opened=section in opened, draft=typed, editable=editable)
    return _number_twins(rows)


def summarise(memory: WorkingMemory | None) -> str:
    """Say how much a memory holds: `12 lines in 5 sections, 2 pending`."""
    lines = [line for part in (memory.sections if memory else ()) for line in part.lines]
    standing = [line for line in lines if line.state not in (LineState.REMOVED, LineState.PENDING)]
    pending = sum(line.state is LineState.PENDING for line in lines)
    filled = sum(bool(part.lines) for part in (memory.sections if memory else ()))
    words = f"{count(len(standing), 'line')} in {count(filled, 'section')}" if lines else "nothing yet"
    return f"{words}, {pending} pending" if pending else words


def number_turns(turns: Collection[TurnId], numbers: Mapping[TurnId, int]) -> tuple[tuple[TurnId, int], ...]:
    """Return turns with their numbers in the conversation; one that is not known keeps its own."""
    return tuple((turn, numbers.get(turn, int(turn))) for turn in sorted(turns))


def _section_rows(
    part: MemorySection, numbers: Mapping[TurnId, int], *, opened: bool, draft: Draft | None, editable: bool
) -> list[Row]:
    section = part.section
    rows = [_head(part, draft, editable=editable)]
    if part.warning:
        key = f"{RowKind.WARNING}:{section}"
        rows.append(Row(kind=RowKind.WARNING, section=section, key=key, shown=part.warning, tone="warning", sign="!",
                        spoken=f"{section}: {part.warning}"))  # fmt: skip
    for line in part.lines:
        rows.append(_line(section, line, numbers, editable=editable))
        if line.locked and line.state is not LineState.REMOVED:
            rows += _wanted(part, line, numbers, editable=editable)
    if draft is not None:
        key = f"{RowKind.DRAFT}:{section}"
        rows.append(Row(kind=RowKind.DRAFT, section=section, key=key, text=draft.text, sign="+", tone="pending",
                        shown=draft.text or "New line", spoken="new line"))  # fmt: skip
    if part.parked:
        rows.append(_fold(part, opened=opened))
        rows += [_parked(section, line, numbers, editable=editable) for line in part.parked] if opened else []
    rows[-1] = _as_last(rows[-1])
    return rows


def _head(part: MemorySection, draft: Draft | None, *, editable: bool) -> Row:
    empty = not (part.lines or part.parked or draft)
    can_add = editable and not (part.section is Section.TITLE and part.lines)
    acts = (Act.ADD,) if can_add else ()
    note = "nothing yet" if empty else section_note(part)
    return Row(
        kind=RowKind.HEAD, section=part.section, key=f"{RowKind.HEAD}:{part.section}", shown=part.section.value,
        tone="quiet" if empty else "", note=note, acts=acts, links=acts, spoken=f"Section {part.section}, {note}",
    )  # fmt: skip


def _line(section: Section, line: MemoryLine, numbers: Mapping[TurnId, int], *, editable: bool) -> Row:
    state, turns = line.state, number_turns(line.turns, numbers)
    origin = _ORIGINS[line.origin]
    prefix = "pending: " if state is LineState.PENDING else ""
    text = one_line(line.text, MAX_LINE_CHARS)
    lock = "locked, " if line.locked else ""
    standing = "" if state in (LineState.REMOVED, LineState.PENDING) else "line"
    return Row(
        kind=RowKind.LINE,
        section=section,
        key=f"{RowKind.LINE}:{section}:{standing or state}:{line.text}",
        text=line.text,
        shown=prefix + text,
        suffix=" · ".join([origin, *(["locked"] if line.locked else [])]),
        sign=SIGNS[state],
        tone="" if state is LineState.KEPT else state.value,
        turns=turns,
        acts=_line_acts(section, line, editable=editable),
        links=(Act.KEEP, Act.DISCARD) if state is LineState.PENDING and editable else (),
        spoken=f"{lock}{_SPOKEN[state]}{text}. {origin}{_spoken_turns(turns)}",
        locked=line.locked,
        tip=line.text[:MAX_TIP_CHARS] if text.endswith("…") else "Locked: only you change this line" * line.locked,
    )


def _line_acts(section: Section, line: MemoryLine, *, editable: bool) -> tuple[Act, ...]:
    jump = (Act.JUMP,) if line.turns else ()
    if not editable:
        return (*jump, Act.COPY)
    if line.state is LineState.PENDING:
        return (Act.KEEP, Act.DISCARD, *jump, Act.COPY)
    if line.state is LineState.REMOVED:
        put_back = () if section is Section.TITLE else (Act.PUT_BACK,)
        return (*put_back, *jump, Act.COPY)
    move = () if section is Section.TITLE else (Act.MOVE,)
    return (Act.EDIT, Act.UNLOCK if line.locked else Act.LOCK, *move, Act.REMOVE, *jump, Act.COPY)


def _wanted(part: MemorySection, line: MemoryLine, numbers: Mapping[TurnId, int], *, editable: bool) -> Iterator[Row]:
    for wanted in part.wanted:
        if wanted.line == line.text:
            turns = number_turns(wanted.turns, numbers)
            text = one_line(wanted.text, MAX_LINE_CHARS)
            acts = (Act.TAKE, Act.DISMISS) if editable else ()
            yield Row(
                kind=RowKind.WANTED, section=part.section, key=f"{RowKind.WANTED}:{part.section}:{wanted.text}",
                text=wanted.text, shown=f"The update wanted: {text}", sign="?", tone="restored", line=line.text,
                turns=turns, links=acts, acts=(*acts, *((Act.JUMP,) if turns else ()), Act.COPY),
                spoken=f"proposal against a locked line: {text}{_spoken_turns(turns)}",
            )  # fmt: skip


def _fold(part: MemorySection, *, opened: bool) -> Row:
    many = count(len(part.parked), "line")
    return Row(
        kind=RowKind.FOLD, section=part.section, key=f"{RowKind.FOLD}:{part.section}",
        shown=f"{'▾' if opened else '▸'} {many} set aside", acts=(Act.FOLD,), links=(Act.FOLD,), tone="muted",
        spoken=f"{many} of {part.section} set aside, {'shown' if opened else 'hidden'}",
    )  # fmt: skip


def _parked(section: Section, line: ParkedLine, numbers: Mapping[TurnId, int], *, editable: bool) -> Row:
    turns = number_turns(line.turns, numbers)
    text = one_line(line.text, MAX_LINE_CHARS)
    acts = (Act.BRING_BACK, Act.DROP) if editable else ()
    since = f" Since {day(line.at)}." if line.at is not None else ""
    return Row(
        kind=RowKind.PARKED,
        section=section,
        key=f"{RowKind.PARKED}:{section}:{line.text}",
        text=line.text,
        shown=text,
        suffix=_ORIGINS[line.origin] if line.origin else "",
        sign="○",
        tone="muted",
        note=f"{line.reason}{since}",
        turns=turns,
        links=acts,
        acts=(*acts, *((Act.JUMP,) if turns else ()), Act.COPY),
        spoken=f"set aside: {text}. {line.reason}{since}{_spoken_turns(turns)}",
    )


def describe_update(memory: WorkingMemory) -> str:
    """Say in a sentence what the last update did, for a screen reader; "" for nothing."""
    states = [line.state for part in memory.sections for line in part.lines]
    words = [
        f"{states.count(state)} {word}"
        for state, word in ((LineState.ADDED, "new"), (LineState.RESTORED, "restored"), (LineState.REMOVED, "removed"))
        if state in states
    ]
    return f"Memory updated: {', '.join(words)}." if words else ""


def _spoken_turns(turns: tuple[tuple[TurnId, int], ...]) -> str:
    return f", from {say_turns(number for _, number in turns)}" if turns else ""


def _as_last(row: Row) -> Row:
    return replace(row, last=True)


def _number_twins(rows: list[Row]) -> tuple[Row, ...]:
    """Give rows that say the same keys of their own."""
    seen: dict[str, int] = {}
    result = []
    for row in rows:
        seen[row.key] = number = seen.get(row.key, 0) + 1
        result.append(row if number == 1 else replace(row, key=f"{row.key}#{number}"))
    return tuple(result)
