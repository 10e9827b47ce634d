"""From what was noticed, or what a model proposes, to the next version of Working Memory: merge and provenance.

Pure: takes a version, an update and the lines that wait; returns the version after them. Whoever made the
operations, the merge and its guards decide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.model import Decision, EditKind, LineState, MemoryEdit, MemoryLine, Origin, Section
from core.profile.forgetting import cut_forgotten
from core.redaction import redact
from core.storage.memory_versions import Lines, PendingLine, Version
from core.working_memory import provenance
from core.working_memory.document import parse_document, render_document
from core.working_memory.edits import Held, hold, reapply
from core.working_memory.heuristics import Known, Proposal, to_operations
from core.working_memory.material import DroppedLine, ModelLine, Update
from core.working_memory.merge import MergeResult, merge


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A version that is ready to be stored, with the operations asked for and applied."""

    version: Version
    asked: Mapping[str, object]
    applied: Mapping[str, object]


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


def read_proposals(pending: Sequence[PendingLine]) -> tuple[Proposal, ...]:
    """Return the lines that wait as the heuristics proposed them."""
    return tuple(Proposal(section=p.section, text=p.text, turns=(p.turn,), replaces=p.replaces) for p in pending)


def propose_by_heuristics(
    before: Version | None, pending: Sequence[PendingLine], *, language: str, notes: tuple[str, ...] = ()
) -> Update:
    """Return the update that needs no model: the lines that wait, as operations. It cannot fail."""
    proposals = read_proposals(pending)
    operations = to_operations(proposals, gather_known(before, (), language=language))
    return Update(operations=operations, mode="heuristics", notes=notes, proposals=proposals)


def fold(
    before: Version | None,
    update: Update,
    pending: Sequence[PendingLine],
    *,
    user_texts: Sequence[str],
    cause: str,
    archive: int | None,
    at: float,
) -> Folded:
    """Apply an update to a version; `pending` are the lines that it takes off the waiting list."""
    lines_before = before.lines if before else {}
    result = merge(
        before.document if before else "",
        dict(update.operations),
        before.parked if before else {},
        locked={s: tuple(line.text for line in lines if line.locked) for s, lines in lines_before.items()},
        user_turns=user_texts,
    )
    offered = _gather_offered(update, pending)
    known = provenance.KnownLines(lines_before, before.parked if before else {})
    default = Origin.HEURISTIC if update.mode == "heuristics" else Origin.MODEL
    annotated = provenance.annotate(result.document, known, offered, default=default)
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
        decisions=_tell_dropped(result.decisions, update.dropped),
        parked={
            section: provenance.annotate_parked(section, parked, known, offered, at=at)
            for section, parked in result.parked.items()
        },
        mode=update.mode,
        notes=_note(update),
    )
    return Folded(version=version, asked=update.operations, applied=_describe_applied(result, lines))


def put_edits_on(folded: Folded, edits: Sequence[MemoryEdit], newest: Version) -> Folded:
    """Apply what the user did to memory while an update was made on its result: the user is right.

    `newest` is the version that the edits led to; the result comes after it.
    """
    held = reapply(read_held(folded.version), edits).held
    made = _put_in(folded.version, held, newest.lines)
    return replace(folded, version=replace(made, number=newest.number + 1))


def leave_out(folded: Folded, before: Version | None, forgotten: frozenset[str]) -> Folded:
    """Take out what an update brought of what the user asked to forget; `forgotten` holds its hashes.

    Lines that stood before stay: the user locked them, or put them there since.
    """
    if not forgotten:
        return folded
    stood, held = before.lines if before else {}, read_held(folded.version)
    edits: list[MemoryEdit] = []
    for section in Section:
        old = {line.text for line in stood.get(section, ())}
        new = [(EditKind.REMOVE, line.text) for line in held.lines_of(section) if line.text not in old]
        waiting = before.parked.get(section, ()) if before else ()
        new += [(EditKind.DROP, line.text) for line in held.parked_of(section) if line not in waiting]
        edits += [
            MemoryEdit(kind=kind, section=section, text=text)
            for kind, text in new
            if cut_forgotten(text, forgotten) != text
        ]
    if not edits:
        return folded
    return replace(folded, version=_put_in(folded.version, reapply(held, edits).held, stood))


def read_held(version: Version | None) -> Held:
    """Return a stored version as edits work on it; nothing for None."""
    if version is None:
        return hold(Held().document, {}, {})
    return hold(parse_document(version.document), version.lines, version.parked)


def _put_in(version: Version, held: Held, stood: Mapping[Section, Sequence[MemoryLine]]) -> Version:
    """Return a version with other contents, its lines compared with those that `stood` before it."""
    lines = {s: provenance.compare(stood.get(s, ()), held.lines_of(s)) for s in Section}
    return replace(version, document=render_document(held.document), lines=lines, parked=dict(held.parked))


def _gather_offered(update: Update, pending: Sequence[PendingLine]) -> list[provenance.Proposal]:
    """Who brought which line, the first counts: what code had noticed is not a model's for being repeated by it."""
    noticed = read_proposals(pending)
    offered = [_offer(line, Origin.HEURISTIC) for line in noticed]
    offered += [_offer(line, Origin.MODEL) for line in update.model_lines]
    offered += [_offer(line, Origin.HEURISTIC) for line in update.proposals if line not in noticed]
    return offered


def _offer(line: Proposal | ModelLine, origin: Origin) -> provenance.Proposal:
    return provenance.Proposal(section=line.section, text=line.text, origin=origin, turns=line.turns)


def _tell_dropped(decisions: Sequence[Decision], dropped: Sequence[DroppedLine]) -> tuple[Decision, ...]:
    """Show what was not let through before the merge in the decision of its section."""
    told = []
    for decision in decisions:
        own = [line for line in dropped if line.section is decision.section]
        if own:
            texts = tuple(redact(line.text) for line in own)
            decision = replace(
                decision, skipped=(*decision.skipped, *texts), reason=decision.reason or redact(own[0].reason)
            )
        told.append(decision)
    return tuple(told)


def _note(update: Update) -> tuple[str, ...]:
    notes = [*update.notes, *(failure.reason for failure in update.failures)]
    return tuple(dict.fromkeys(redact(note) for note in notes if note))


def _describe_applied(result: MergeResult, lines: Lines) -> dict[str, object]:
    """Return the operations as the guards let them through."""
    applied: dict[str, object] = {}
    for decision in result.decisions:
        section = decision.section
        operation: dict[str, object] = {"op": decision.applied}
        if decision.applied == "UPDATE":
            operation["content"] = result.document.bodies[section]
        elif decision.applied == "APPEND":
            new = (LineState.ADDED, LineState.RESTORED)
            operation["items"] = [line.text for line in lines[section] if line.state in new]
        applied[section.value] = operation
    return applied
