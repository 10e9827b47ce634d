"""Open Issues: an issue leaves when it is marked resolved, not when it is forgotten.

Pure. Forgotten once, it comes back tagged `[restored]`; forgotten again, it waits in the parked
list for the user.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial

from core.model import ParkedLine
from core.text.anchors import Holders, content_terms, find_anchors, is_present, polarity, prepare
from core.text.items import BodyItem
from core.text.keys import KeyIndex, is_duplicate, is_resolved, item_key
from core.text.normal_form import fresh_items
from core.text.terms import count_present
from core.working_memory.bodies import add_items, item_texts, read_body, replace_item
from core.working_memory.decisions import count
from core.working_memory.guards.outcome import Context, Outcome, left_out
from core.working_memory.marks import RESTORED, add_tag, has_tag, strip_tag
from core.working_memory.operations import KEEP, Append, Operation, Update
from core.working_memory.parked import ParkReason, park

LEAST_TERMS = 0.60  # of an issue's content terms that a rewording keeps
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_LEAST_CJK = 4  # characters of an issue that may be found inside a longer run of CJK
_CLAUSE_END = re.compile(r"[,.;:!?](?=\s|$)|[,;!?]|[。，；：！？]")


def guard_issues(operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Add or mark issues, or accept a new list with the forgotten issues put back."""
    if isinstance(operation, Append):
        return _append(operation.items, old, parked, context)
    return _restate(operation.content, old, parked)


def _append(items: Sequence[str], old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Set resolution marks in place; everything else that is new goes below."""
    body, marked, rest = old, 0, []
    for text in items:
        place = _find_open(body, text, context) if is_resolved(text) else None
        if place is None:
            rest.append(text)
        else:
            body, marked = replace_item(body, place, text), marked + 1
    fresh = fresh_items(rest, body)
    body = add_items(body, fresh)
    operation: Operation = Append(tuple(fresh)) if fresh else KEEP
    return Outcome(
        operation=Update(body) if marked else operation,
        body=body,
        parked=parked,
        reason=f"{count(marked, 'issue')} marked as resolved." if marked else "",
        skipped=left_out(rest, fresh),
    )


def _find_open(body: str, text: str, context: Context) -> BodyItem | None:
    """The open issue that a resolved one names."""
    for item in read_body(body):
        if not is_resolved(item.text) and not context.is_locked(item.text) and is_duplicate(text, item.text):
            return item
    return None


def _restate(content: str, old: str, parked: tuple[ParkedLine, ...]) -> Outcome:
    """Replace the list; forgotten issues come back once and are parked the second time."""
    old_items = read_body(old)
    stays = match_issues([item.text for item in old_items], item_texts(content), old)
    restored: list[str] = []
    dropped: list[str] = []
    for item, stay in zip(old_items, stays, strict=True):
        if stay or is_resolved(item.text):
            continue
        again = has_tag(item.text, RESTORED)
        (dropped if again else restored).append(strip_tag(item.alone, RESTORED))
    body = add_items(content, [add_tag(text, RESTORED) for text in restored])
    return Outcome(
        operation=Update(body),
        body=body,
        parked=park(parked, dropped, ParkReason.DROPPED_TWICE),
        reason=_explain(len(restored), len(dropped)),
        restored=tuple(restored),
        newly_parked=tuple(dropped),
    )


def match_issues(old: Sequence[str], new: Sequence[str], context: str = "") -> list[bool]:
    """Say for each old issue whether a new one, each used once, still names it.

    `context` is the old body: a name that starts an issue is known by the rest of it.
    """
    stays, free = [False] * len(old), list(new)
    by_key = {item_key(item): item for item in reversed(free)}
    for i, text in enumerate(old):  # most issues are simply still there
        found = by_key.get(item_key(text))
        if found is not None and found in free and is_duplicate(found, text):
            stays[i] = True
            free.remove(found)
    tests: tuple[tuple[Callable[[str, str], bool], Callable[[str, Sequence[str]], Sequence[str]]], ...] = (
        (_is_same, _may_be_same(old, free)),
        (_contains, _may_contain(free)),
        (partial(_rewords, context=context), _may_reword(free)),
    )
    for test, find_near in tests:
        for i, text in enumerate(old):
            near = () if stays[i] else find_near(text, free)
            found = next((item for item in near if test(text, item)), None)
            if found is not None:
                stays[i] = True
                free.remove(found)
    return stays


def _may_be_same(old: Sequence[str], new: Sequence[str]) -> Callable[[str, Sequence[str]], Sequence[str]]:
    """Name the new items that can be the same as any old one: most rewordings are not."""
    index = KeyIndex(old)
    near = {item for item in new if "\n" in item or index.holds(item)}

    def find(text: str, free: Sequence[str]) -> Sequence[str]:
        return free if "\n" in text else [item for item in free if item in near] if near else ()

    return find


def _may_contain(new: Sequence[str]) -> Callable[[str, Sequence[str]], Sequence[str]]:
    """Name the new items for an old one whose whole key stands in any of them."""
    everything = "\x00".join(map(item_key, new))

    def find(text: str, free: Sequence[str]) -> Sequence[str]:
        key = item_key(text)
        return free if key and key in everything else ()

    return find


def _may_reword(new: Sequence[str]) -> Callable[[str, Sequence[str]], Sequence[str]]:
    """Name the new items that hold the first hard anchor of an old one, where it has one."""
    holders = Holders(new)

    def find(text: str, free: Sequence[str]) -> Sequence[str]:
        hard = find_anchors(text).hard
        if not hard or not free:
            return free
        near = holders.find(hard[0])
        return [item for item in free if item in near] if near else ()

    return find


def _is_same(old: str, new: str) -> bool:
    """A duplicate, or an equal first line."""
    if is_duplicate(new, old):
        return True
    if "\n" not in old and "\n" not in new:
        return False
    first = item_key(old.split("\n", 1)[0])
    return bool(first) and first == item_key(new.split("\n", 1)[0])


def _contains(old: str, new: str) -> bool:
    """The whole old issue occurs in the new one, and nothing before it in its clause negates it."""
    key, text = item_key(old), item_key(new)
    start = text.find(key) if key else -1
    while start >= 0:
        if _is_bounded(key, text, start):
            before = _CLAUSE_END.split(text[:start])[-1]
            return polarity(before).negations == 0
        start = text.find(key, start + 1)
    return False


def _is_bounded(key: str, text: str, start: int) -> bool:
    """Whether an occurrence begins and ends at a word boundary."""
    end = start + len(key)
    long_enough = len(_CJK.findall(key)) >= _LEAST_CJK
    for inner, outer in ((key[0], text[start - 1 : start]), (key[-1], text[end : end + 1])):
        if not outer:
            continue
        both_cjk = _CJK.match(inner) and _CJK.match(outer)
        if both_cjk and not long_enough:
            return False
        one_cjk = _CJK.match(inner) or _CJK.match(outer)
        if not one_cjk and (inner.isalnum() or inner == "_") and (outer.isalnum() or outer == "_"):
            return False
    return True


def _rewords(old: str, new: str, context: str = "") -> bool:
    """All hard anchors and most content terms are there, with equal negations and no opposite."""
    target = prepare(new)
    terms, hard = content_terms(old), find_anchors(old, context).hard
    if not (terms or hard) or not all(is_present(anchor, target) for anchor in hard):
        return False
    if count_present(terms, content_terms(new)) < LEAST_TERMS * len(terms):
        return False
    ours, theirs = polarity(old), polarity(new)
    return ours.negations == theirs.negations and not ours.opposes(theirs)


def _explain(restored: int, dropped: int) -> str:
    if restored:
        they = "it was" if restored == 1 else "they were"
        return f"The update left out {count(restored, 'open issue')} without saying {they} resolved, so {they} kept."
    if dropped:
        verb = "waits" if dropped == 1 else "wait"
        return f"{count(dropped, 'issue')} left out a second time; {verb} in the parked list for you."
    return ""
