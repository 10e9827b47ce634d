"""Working Memory as the window shows it: a stored version and what waits for the next one."""

from core.model import LineState, MemoryLine, MemorySection, Origin, ParkedLine, Section, SessionId, WantedLine
from core.model import WorkingMemory as View
from core.storage import conversations, memory_edits, memory_versions
from core.storage.database import Connection
from core.storage.memory_versions import PendingLine, Version
from core.text.tokens import estimate_tokens
from core.working_memory.document import parse_document
from core.working_memory.growth import CEILED, DOCUMENT_TOKENS, THRESHOLD_ITEMS, THRESHOLD_TOKENS, Zone, measure
from core.working_memory.locks import find_wanted

SINGLE = (Section.TITLE, Section.STATE)  # the next commit takes only the newest of what waits


def view_memory(c: Connection, session_id: SessionId, number: int | None = None) -> View:
    """Return a version, or the newest with its pending lines; all seven sections, in order."""
    newest = memory_versions.get_newest_number(c, session_id)
    version = memory_versions.get(c, session_id, number)
    shows_newest = number is None or number == newest
    pending = memory_versions.load_pending(c, session_id) if shows_newest else ()
    bodies = parse_document(version.document).bodies if version else {}
    undo = memory_edits.find_undoable(c, session_id) if shows_newest else None
    redo = memory_edits.find_redoable(c, session_id) if shows_newest else None
    return View(
        session_id=session_id,
        version=version.number if version else 0,
        newest=newest,
        committed_at=version.created_at if version else None,
        sections=tuple(_view_section(s, version, bodies.get(s, ""), pending) for s in Section),
        decisions=version.decisions if version else (),
        pending_tokens=conversations.load_counters(c, session_id)[0],
        cause=version.cause if version else "",
        turn_numbers=memory_edits.load_turn_numbers(c, session_id),
        undo=undo.words if undo else "",
        redo=redo.words if redo else "",
        mode=version.mode if version else "",
        notes=(*version.notes, *_warn_of_whole(version.document)) if version else (),
    )


def _warn_of_whole(document: str) -> tuple[str, ...]:
    """Say that the document is over its ceiling: then locked lines and what the user wrote fill it alone."""
    if estimate_tokens(document) <= DOCUMENT_TOKENS:
        return ()
    return (
        f"Memory is longer than {DOCUMENT_TOKENS:,} tokens, and all that is left in it is locked or written by you. "
        "Unlock or remove lines to make room for new ones.",
    )


def _view_section(
    section: Section, version: Version | None, body: str, pending: tuple[PendingLine, ...]
) -> MemorySection:
    lines = version.lines.get(section, ()) if version else ()
    waiting = [
        MemoryLine(text=line.text, origin=Origin.HEURISTIC, state=LineState.PENDING, turns=(line.turn,))
        for line in pending
        if line.section is section
    ]
    if section in SINGLE:
        waiting = waiting[-1:]
    parked, wanted = _part_wanted(section, lines, version.parked.get(section, ()) if version else ())
    return MemorySection(
        section=section,
        lines=(*lines, *waiting),
        tokens=estimate_tokens(body),
        parked=parked,
        wanted=wanted,
        warning=warn_of_size(section, body),
    )


def _part_wanted(
    section: Section, lines: tuple[MemoryLine, ...], parked: tuple[ParkedLine, ...]
) -> tuple[tuple[ParkedLine, ...], tuple[WantedLine, ...]]:
    """Tell what waits to replace a locked line from what simply waits."""
    locked = [line.text for line in lines if line.locked and line.state is not LineState.REMOVED]
    found = find_wanted(section, locked, parked) if locked and parked else {}
    wanted = tuple(
        WantedLine(line=line, text=waiting.text, turns=waiting.turns)
        for line, all_ in found.items()
        for waiting in all_
    )
    taken = {line.text for line in wanted}
    return tuple(line for line in parked if line.text not in taken), wanted


def warn_of_size(section: Section, body: str) -> str:
    """Say in words that a section is over its limits, and what that means for new lines; "" where it is not."""
    size = measure(body)
    if size.zone is Zone.NORMAL:
        return ""
    over_items = size.items > THRESHOLD_ITEMS
    long = (
        f"{size.items} lines, more than {THRESHOLD_ITEMS}"
        if over_items
        else (f"About {size.tokens:,} tokens, more than {THRESHOLD_TOKENS:,}")
    )
    if section is Section.FACTS and size.zone is Zone.STOPPED:
        return f"{long}: the section is full. New facts wait beside it until you or an update make it shorter."
    if section is Section.FACTS:
        return f"{long}: at each update five new facts enter, the others wait beside it."
    if section in CEILED:
        return f"{long}: from 50 lines or 3,000 tokens on, the oldest lines are set aside."
    return f"{long}: shorter is better remembered."
