"""From what was noticed to the next version of Working Memory: operations, merge, provenance.

Pure: takes a version and the lines that wait, returns the version after them.
"""

from collections.abc import Sequence

from core.model import LineState, Origin, Section
from core.storage.memory_versions import Lines, PendingLine, Version
from core.working_memory import provenance
from core.working_memory.heuristics import Known, Proposal, to_operations
from core.working_memory.merge import merge


def gather_known(
    version: Version | None,
    pending: Sequence[PendingLine],
    *,
    recent_user_texts: Sequence[str] = (),
    language: str,
) -> Known:
    """Return what memory holds already, for the heuristics: committed lines and those that wait."""
    items: dict[Section, tuple[str, ...]] = {}
    for section in Section:
        lines = version.lines.get(section, ()) if version else ()
        committed = [line.text for line in lines if line.state is not LineState.REMOVED]
        waiting = [line.text for line in pending if line.section is section]
        items[section] = (*committed, *waiting)
    return Known(items=items, recent=tuple(recent_user_texts), language=language)


def fold_pending(
    before: Version | None,
    pending: Sequence[PendingLine],
    *,
    user_texts: Sequence[str],
    language: str,
    cause: str,
    archive: int | None,
    at: float,
) -> tuple[Version, dict[str, object]]:
    """Return the next version and the operations that were asked for."""
    proposals = [Proposal(section=p.section, text=p.text, turns=(p.turn,), replaces=p.replaces) for p in pending]
    asked = to_operations(proposals, gather_known(before, (), language=language))
    lines_before = before.lines if before else {}
    locked = {s: tuple(line.text for line in lines if line.locked) for s, lines in lines_before.items()}
    result = merge(
        before.document if before else "",
        asked,
        before.parked if before else {},
        locked=locked,
        user_turns=user_texts,
    )
    offered = [
        provenance.Proposal(section=p.section, text=p.text, origin=Origin.HEURISTIC, turns=p.turns) for p in proposals
    ]
    known = provenance.index_lines(lines_before)
    annotated = provenance.annotate(result.document, known, offered, default=Origin.HEURISTIC)
    lines: Lines = {
        section: provenance.compare(lines_before.get(section, ()), annotated.get(section, ())) for section in Section
    }
    version = Version(
        number=(before.number if before else 0) + 1,
        created_at=at,
        cause=cause,
        archive=archive,
        document=result.text,
        lines=lines,
        decisions=result.decisions,
        parked={
            section: provenance.annotate_parked(section, parked, known, offered)
            for section, parked in result.parked.items()
        },
    )
    return version, asked
