"""Working Memory as the window shows it: a stored version and what waits for the next one."""

from core.model import LineState, MemoryLine, MemorySection, Origin, Section, SessionId, WorkingMemory
from core.storage import conversations, memory_versions
from core.storage.database import Connection
from core.text.tokens import estimate_tokens
from core.working_memory.document import parse_document


def view_memory(c: Connection, session_id: SessionId, number: int | None = None) -> WorkingMemory:
    """Return a version, or the newest with its pending lines; all seven sections, in order."""
    newest = memory_versions.get_newest_number(c, session_id)
    version = memory_versions.get(c, session_id, number)
    shows_newest = number is None or number == newest
    pending = memory_versions.load_pending(c, session_id) if shows_newest else ()
    bodies = parse_document(version.document).bodies if version else {}
    sections = []
    for section in Section:
        lines = version.lines.get(section, ()) if version else ()
        waiting = [
            MemoryLine(text=line.text, origin=Origin.HEURISTIC, state=LineState.PENDING, turns=(line.turn,))
            for line in pending
            if line.section is section
        ]
        if section in (Section.TITLE, Section.STATE):
            waiting = waiting[-1:]  # the next commit takes only the newest
        sections.append(
            MemorySection(
                section=section,
                lines=(*lines, *waiting),
                tokens=estimate_tokens(bodies.get(section, "")),
                parked=version.parked.get(section, ()) if version else (),
            )
        )
    return WorkingMemory(
        session_id=session_id,
        version=version.number if version else 0,
        newest=newest,
        committed_at=version.created_at if version else None,
        sections=tuple(sections),
        decisions=version.decisions if version else (),
        pending_tokens=conversations.load_counters(c, session_id)[0],
        cause=version.cause if version else "",
    )
