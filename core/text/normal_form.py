"""What is new in a list of statements, compared with what a section already says.

Pure. The normal form and keys come from `core.text.keys` and can be imported from here too.
"""

import re
from collections.abc import Iterable
from functools import cache

from core.text.anchors import find_anchors
from core.text.items import extract_items, is_sentinel, split_entry
from core.text.keys import KeyIndex, is_duplicate, is_resolved, item_key, normalise
from core.text.sentences import split_clauses
from core.text.wordlists import fold, words

__all__ = ["fresh_items", "is_duplicate", "is_pointer", "is_resolved", "item_key", "normalise"]

_CLAUSE_MARK = re.compile(r"[;；.!?。！？]")


def fresh_items(new: str | Iterable[str], old_body: str, *, rejected: bool = False) -> tuple[str, ...]:
    """Return the items of `new` (a body or a list) that `old_body` does not say, without markers.

    From a rejected update (`rejected`) lines that only point at the rest are skipped as well.
    """
    candidates = extract_items(new) if isinstance(new, str) else _entries(new)
    old = KeyIndex(extract_items(old_body))
    seen = KeyIndex()
    fresh: list[str] = []
    for item in candidates:
        if is_sentinel(item) or not item_key(item) or old.holds(item) or seen.holds(item):
            continue
        if _repeats_clauses(item, old) or (rejected and is_pointer(item)):
            continue
        seen.add(item)
        fresh.append(item)
    return tuple(fresh)


def is_pointer(line: str) -> bool:
    """Whether a line only says that the rest stays or was merged ("all else still holds")."""
    rest, stays = _pointer_patterns()
    folded = fold(line)
    return bool(rest.search(folded) and stays.search(folded)) and not find_anchors(line).hard


def _entries(listed: Iterable[str]) -> tuple[str, ...]:
    return tuple(item for entry in listed for item in split_entry(entry))


def list_clauses(item: str) -> tuple[str, ...]:
    """Return the clauses of an item that has several; it says nothing new where each of them is said."""
    if not _CLAUSE_MARK.search(item):
        return ()
    clauses = split_clauses(item)
    return clauses if len(clauses) >= 2 else ()


def _repeats_clauses(item: str, old: KeyIndex) -> bool:
    clauses = list_clauses(item)
    return bool(clauses) and all(map(old.holds, clauses))


@cache
def _pointer_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return _any_of("pointer_rest"), _any_of("pointer_stays")


def _any_of(kind: str) -> re.Pattern[str]:
    listed = sorted(words(kind), key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in listed if word[0] < "\u1100")
    cjk = "|".join(re.escape(word) for word in listed if word[0] >= "\u1100")
    return re.compile(rf"\b(?:{latin})\b|{cjk}")
