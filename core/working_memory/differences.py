"""How two versions differ, line by line, with what the checks said of each.

Pure. Lines are matched by what they say; one that went and one that came in its place and share most of
their words are one line that changed.
"""

from collections.abc import Iterable, Sequence

from core.model import ChangeKind, Decision, LineChange, MemoryLine, Origin, ParkedLine, Section
from core.text.keys import item_key, read_key
from core.working_memory.held import Held
from core.working_memory.locks import would_replace

LEAST_SHARED = 0.5  # of the words of two lines that are one line reworded


def compare_versions(older: Held, newer: Held, decisions: Sequence[Decision] = ()) -> tuple[LineChange, ...]:
    """Return what came, went, changed or was restored; `decisions` are those of the versions in between."""
    return tuple(
        change
        for section in Section
        for change in _compare(section, older, newer, [d for d in decisions if d.section is section])
    )


def _compare(section: Section, older: Held, newer: Held, decisions: Sequence[Decision]) -> Iterable[LineChange]:
    before, after = older.lines_of(section), newer.lines_of(section)
    old_keys, new_keys = {item_key(line.text): line for line in before}, {item_key(line.text) for line in after}
    went = [line for line in before if item_key(line.text) not in new_keys]
    parked = newer.parked_of(section)
    for line in after:
        known = old_keys.get(item_key(line.text))
        if known is not None:
            yield from _of_kept(section, known, line)
            continue
        old = next((other for other in went if is_rewording(other.text, line.text)), None)
        if old is not None:
            went.remove(old)
        kind = ChangeKind.CHANGED if old else ChangeKind.CAME
        if line.origin is Origin.RESTORED and old is None:
            kind = ChangeKind.RESTORED
        yield LineChange(
            section=section, kind=kind, before=old.text if old else "", after=line.text,
            reason=_find_reason(line.text, decisions),
        )  # fmt: skip
    for line in went:
        reason = _find_parked_reason(line.text, parked) or _find_reason(line.text, decisions)
        yield LineChange(section=section, kind=ChangeKind.WENT, before=line.text, after="", reason=reason)


def _of_kept(section: Section, old: MemoryLine, new: MemoryLine) -> Iterable[LineChange]:
    """What may differ of a line that says the same: its lock, or that a check brought it back."""
    if old.locked != new.locked:
        kind = ChangeKind.LOCKED if new.locked else ChangeKind.UNLOCKED
        yield LineChange(section=section, kind=kind, before=old.text, after=new.text)
    elif new.origin is Origin.RESTORED and old.origin is not Origin.RESTORED:
        yield LineChange(section=section, kind=ChangeKind.RESTORED, before=old.text, after=new.text)


def is_rewording(old: str, new: str) -> bool:
    """Say whether two lines speak of the same thing in other words or with another value."""
    if would_replace(old, new):
        return True
    one, two = set(read_key(old).words), set(read_key(new).words)
    return bool(one and two) and len(one & two) >= LEAST_SHARED * len(one | two)


def _find_reason(text: str, decisions: Sequence[Decision]) -> str:
    """What was said of a line by name, the newest first."""
    key = item_key(text)
    for decision in reversed(decisions):
        named = (*decision.restored, *decision.carried, *decision.parked)
        if any(item_key(other) == key for other in named):
            return decision.reason
    return ""


def _find_parked_reason(text: str, parked: Sequence[ParkedLine]) -> str:
    key = item_key(text)
    return next((line.reason for line in parked if item_key(line.text) == key), "")
