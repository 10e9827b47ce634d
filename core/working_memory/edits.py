"""What the user does to single lines of Working Memory, as operations on a document.

Pure. An edit names its line by the text, never by a place, so the same edit can be applied to a newer
version than the one it was made on. Lines that an edit does not name keep text, origin, evidence and
lock. Edits pass redaction and header safety but no guard: the user is always right.

- `apply_edits` is strict: a line that is gone, or is there already, is an error for the user.
- `reapply` is lenient and total: it puts edits that were made meanwhile on top of a document that
  a machine made from an older version; what the user wrote is in the result, whatever became of its line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.errors import MemoryEditError
from core.model import EditKind, LineState, MemoryEdit, MemoryLine, Origin, ParkedLine, Section
from core.working_memory.held import (
    Held,
    find_line,
    hold,
    insert_line,
    items_of,
    place_after,
    read_typed,
    rewrite_line,
    take_out,
    with_body,
    with_parked,
)
from core.working_memory.marks import CARRIED, RESTORED, strip_tag
from core.working_memory.parked import release

__all__ = ["Applied", "Held", "apply_edits", "edits_between", "find_line", "hold", "read_typed", "reapply"]

_GONE = "That line is no longer in memory: an update changed or removed it."
_THERE = "Memory says that already."


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The memory after some edits, and the edits that take them back, in the order to apply."""

    held: Held
    inverse: tuple[MemoryEdit, ...] = ()


def apply_edits(held: Held, edits: Iterable[MemoryEdit]) -> Applied:
    """Apply edits in order, each to the result of the one before.

    Raises `MemoryEditError` if a line is gone or there already; then nothing is changed.
    """
    inverse: tuple[MemoryEdit, ...] = ()
    for edit in edits:
        applied = _apply(held, edit)
        held, inverse = applied.held, applied.inverse + inverse
    return Applied(held=held, inverse=inverse)


def reapply(held: Held, edits: Iterable[MemoryEdit]) -> Applied:
    """Put edits that the user made meanwhile on top of another version; never raises.

    Use it where an update was computed from version N and the user has made N+1 … since: load their
    edits (`core.storage.memory_edits.load_since`), `held = hold(document, lines, parked)` of the
    update's result, `reapply(held, edits).held`, then store its document, lines and parked list. A line that
    was changed, moved or locked and is gone from `held` comes back as the user left it; one that was
    removed is removed; what has nothing left to do is skipped.
    """
    inverse: tuple[MemoryEdit, ...] = ()
    for edit in edits:
        applied = _apply_or_none(held, edit)
        if applied is None and (second := _as_addition(edit)) is not None:
            applied = _apply_or_none(held, second)
        if applied is not None:
            held, inverse = applied.held, applied.inverse + inverse
    return Applied(held=held, inverse=inverse)


def edits_between(before: Held, after: Held) -> tuple[MemoryEdit, ...]:
    """Return the edits that turn the lines of one version into those of another: how a restored version is recorded."""
    edits: list[MemoryEdit] = []
    for section in Section:
        old, new = before.lines_of(section), after.lines_of(section)
        old_by_text, new_texts = {line.text: line for line in old}, {line.text for line in new}
        edits += [_edit(EditKind.REMOVE, section, line.text) for line in old if line.text not in new_texts]
        above = ""
        for line in new:
            known = old_by_text.get(line.text)
            if known is None:
                edits.append(_addition(section, line, above))
            elif known.locked != line.locked:
                edits.append(_edit(EditKind.LOCK if line.locked else EditKind.UNLOCK, section, line.text))
            above = line.text
        waited, waiting = before.parked_of(section), after.parked_of(section)
        earlier, still = {line.text for line in waited}, {line.text for line in waiting}
        edits += [_edit(EditKind.DROP, section, line.text) for line in waited if line.text not in still]
        edits += [_parking(section, line) for line in waiting if line.text not in earlier]
    return tuple(edits)


# -- one edit ------------------------------------------------------------------------------------------


def _apply(held: Held, edit: MemoryEdit) -> Applied:
    match edit.kind:
        case EditKind.ADD:
            return _add(held, edit)
        case EditKind.CHANGE:
            return _change(held, edit)
        case EditKind.REMOVE:
            return _remove(held, edit)
        case EditKind.MOVE:
            return _move(held, edit)
        case EditKind.LOCK | EditKind.UNLOCK:
            return _lock(held, edit)
        case EditKind.BRING_BACK:
            return _bring_back(held, edit)
        case EditKind.DROP:
            return _drop(held, edit)
        case EditKind.PARK:
            return _park(held, edit)


def _apply_or_none(held: Held, edit: MemoryEdit) -> Applied | None:
    try:
        return _apply(held, edit)
    except MemoryEditError:
        return None


def _as_addition(edit: MemoryEdit) -> MemoryEdit | None:
    """What an edit means where its line is gone: its text comes as a line of its own; None if nothing is to be done."""
    if edit.kind is EditKind.CHANGE:
        return replace(edit, kind=EditKind.ADD, text=edit.new_text, new_text="")
    if edit.kind is EditKind.MOVE and edit.to is not None:
        return replace(edit, kind=EditKind.ADD, section=edit.to, to=None)
    if edit.kind is EditKind.LOCK:
        return replace(edit, kind=EditKind.ADD, locked=True)
    if edit.kind is EditKind.BRING_BACK:
        return replace(edit, kind=EditKind.ADD)
    return None


def _add(held: Held, edit: MemoryEdit) -> Applied:
    section, lines = edit.section, held.lines_of(edit.section)
    if section is Section.TITLE and lines:
        raise MemoryEditError("A conversation has one title; change the one that is there.")
    if find_line(lines, edit.text) is not None:
        raise MemoryEditError(_THERE)
    line = MemoryLine(text=edit.text, origin=edit.origin, state=LineState.ADDED, turns=edit.turns, locked=edit.locked)
    body = insert_line(held, section, edit.after, edit.text)
    at = place_after(lines, edit.after)
    after = with_body(held, section, body, (*lines[:at], line, *lines[at:]))
    return _finish(held, after, section, (_edit(EditKind.REMOVE, section, edit.text),))


def _change(held: Held, edit: MemoryEdit) -> Applied:
    section, lines = edit.section, held.lines_of(edit.section)
    at = _need_line(lines, edit.text)
    other = find_line((*lines[:at], *lines[at + 1 :]), edit.new_text)
    if other is not None:
        raise MemoryEditError("Another line says that already.")
    old = lines[at]
    item = items_of(held, section)[at]
    body = rewrite_line(held.document.bodies[section], item, edit.new_text, section)
    line = replace(old, text=edit.new_text, origin=edit.origin, turns=edit.turns or old.turns)
    after = with_body(held, section, body, (*lines[:at], line, *lines[at + 1 :]))
    back = replace(
        _edit(EditKind.CHANGE, section, edit.new_text), new_text=old.text, origin=old.origin, turns=old.turns
    )
    return _finish(held, after, section, (back,))


def _remove(held: Held, edit: MemoryEdit) -> Applied:
    section, lines = edit.section, held.lines_of(edit.section)
    at = _need_line(lines, edit.text)
    body = take_out(held.document.bodies[section], items_of(held, section), at)
    after = with_body(held, section, body, (*lines[:at], *lines[at + 1 :]))
    return Applied(held=after, inverse=(_addition(section, lines[at], lines[at - 1].text if at else ""),))


def _move(held: Held, edit: MemoryEdit) -> Applied:
    section, to = edit.section, edit.to
    if to is None or to is section:
        raise MemoryEditError("The line is in that section already.")
    if Section.TITLE in (section, to):
        raise MemoryEditError("The title is one line of its own; edit it where it stands.")
    lines = held.lines_of(section)
    at = _need_line(lines, edit.text)
    line, item = lines[at], items_of(held, section)[at]
    text = line.text if item.parent is None else strip_tag(item.alone, RESTORED, CARRIED)
    without = _remove(held, edit).held
    came = replace(line, text=text)
    moved = _add(without, _addition(to, came, edit.after))
    back = replace(_addition(to, came, lines[at - 1].text if at else ""), kind=EditKind.MOVE, to=section)
    return Applied(held=moved.held, inverse=(back, *moved.inverse[1:]))


def _lock(held: Held, edit: MemoryEdit) -> Applied:
    section, lines = edit.section, held.lines_of(edit.section)
    at = _need_line(lines, edit.text)
    locked = edit.kind is EditKind.LOCK
    changed = (*lines[:at], replace(lines[at], locked=locked), *lines[at + 1 :])
    back = _edit(EditKind.UNLOCK if locked else EditKind.LOCK, section, lines[at].text)
    return Applied(held=replace(held, lines={**held.lines, section: changed}), inverse=(back,))


def _bring_back(held: Held, edit: MemoryEdit) -> Applied:
    waiting = _need_parked(held, edit)
    came = _add(
        held,
        replace(edit, kind=EditKind.ADD, text=waiting.text, origin=waiting.origin or Origin.USER, turns=waiting.turns),
    )
    section = edit.section
    inverse = [_edit(EditKind.REMOVE, section, waiting.text), _parking(section, waiting)]
    inverse += [back for back in came.inverse if back.kind is EditKind.PARK and back.text != waiting.text]
    return Applied(held=_let_go(came.held, section, waiting), inverse=tuple(inverse))


def _drop(held: Held, edit: MemoryEdit) -> Applied:
    waiting = _need_parked(held, edit)
    return Applied(held=_let_go(held, edit.section, waiting), inverse=(_parking(edit.section, waiting),))


def _let_go(held: Held, section: Section, waiting: ParkedLine) -> Held:
    return with_parked(held, section, [line for line in held.parked_of(section) if line.text != waiting.text])


def _park(held: Held, edit: MemoryEdit) -> Applied:
    section, waiting = edit.section, held.parked_of(edit.section)
    if any(line.text == edit.text for line in waiting):
        raise MemoryEditError(_THERE)
    origin = None if edit.origin is Origin.USER else edit.origin
    came = ParkedLine(text=edit.text, reason=edit.reason, turns=edit.turns, origin=origin, at=edit.since)
    return Applied(
        held=with_parked(held, section, (*waiting, came)), inverse=(_edit(EditKind.DROP, section, edit.text),)
    )


def _finish(before: Held, after: Held, section: Section, inverse: tuple[MemoryEdit, ...]) -> Applied:
    """Let go what waited and is now said, and have the inverse put it back."""
    waiting = before.parked_of(section)
    left = release(waiting, after.document.bodies[section])
    gone = [line for line in waiting if line not in left]
    back = (*inverse, *(_parking(section, line) for line in gone))
    return Applied(held=with_parked(after, section, left), inverse=back)


def _need_line(lines: Sequence[MemoryLine], text: str) -> int:
    at = find_line(lines, text)
    if at is None:
        raise MemoryEditError(_GONE)
    return at


def _need_parked(held: Held, edit: MemoryEdit) -> ParkedLine:
    for line in held.parked_of(edit.section):
        if line.text == edit.text:
            return line
    raise MemoryEditError("That line no longer waits beside memory.")


def _edit(kind: EditKind, section: Section, text: str) -> MemoryEdit:
    return MemoryEdit(kind=kind, section=section, text=text)


def _addition(section: Section, line: MemoryLine, above: str | None) -> MemoryEdit:
    return MemoryEdit(
        kind=EditKind.ADD, section=section, text=line.text, after=above, origin=line.origin, turns=line.turns,
        locked=line.locked,
    )  # fmt: skip


def _parking(section: Section, line: ParkedLine) -> MemoryEdit:
    return MemoryEdit(
        kind=EditKind.PARK, section=section, text=line.text, reason=line.reason, turns=line.turns,
        origin=line.origin or Origin.USER, since=line.at,
    )  # fmt: skip
