"""A value that the user corrected: the old line gives way instead of being carried over.

Pure. A correction differs from the old line in one value alone, and that value stands in the
user's own words; what it shares with the old line had its evidence when that was kept.
"""

from collections.abc import Sequence

from core.text.anchors import find_anchors, polarity
from core.text.evidence import check_evidence
from core.text.keys import normalise


def is_corrected(old: str, new_items: Sequence[str], user_turns: Sequence[str]) -> bool:
    """Say whether one of the new items is `old` with one value replaced by the user."""
    if not user_turns:
        return False
    return any(differs_in_one_value(old, new) and _says(new, [old, *user_turns]) for new in new_items)


def _says(item: str, texts: Sequence[str]) -> bool:
    return check_evidence(item, texts).supported


def differs_in_one_value(old: str, new: str) -> bool:
    """Say whether two lines are the same but for one number, date, name or path."""
    before, after = _values(old), _values(new)
    gone, came = before - after, after - before
    if len(gone) != 1 or len(came) != 1 or polarity(old) != polarity(new):
        return False
    return _without_values(old) == _without_values(new)


def _values(text: str) -> set[str]:
    return {anchor.text for anchor in find_anchors(text).hard}


def _without_values(text: str) -> str:
    """A text in normal form with its digits blanked; names that differ make texts differ here."""
    plain = normalise(text)
    return "".join("0" if char.isdigit() else char for char in plain).replace("00", "0")
