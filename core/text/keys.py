"""One form for statements that say the same: normal form, key of an item, duplicates.

Pure. Two statements are duplicates only if their words agree, order included; containment,
shared words and edit distance never make one.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from sys import intern
from typing import TypeVar

from core.text.items import strip_marker
from core.text.wordlists import words

_PUNCTUATION = str.maketrans(
    {
        "。": ".", "、": ",", "「": '"', "」": '"', "『": '"', "』": '"', "《": '"', "》": '"', "“": '"', "”": '"',
        "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "ʼ": "'", "—": "-", "–": "-", "‐": "-", "‑": "-",
        "−": "-", "【": "[", "】": "]", "〔": "[", "〕": "]", "〈": '"', "〉": '"',
        "\u200b": None, "\u200c": None, "\u200d": None, "\ufeff": None, "\ufe0f": None, "\u00ad": None,
    }
)  # fmt: skip
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_EMPHASIS = re.compile(r"(?<![^\W_])(\*{1,3}|_{1,3}|`{1,2}|~~)(?=[^\s*_`~])([^\n]{0,120}?[^\s])\1(?![^\W_])")
_BLANK_AT_CJK = re.compile(rf"(?<=[{_CJK}]) | (?=[{_CJK}])")
_SIGNS = r"!-#%&'()*,./:;?@\[\\\]_{}\-"
# A blank between two numbers stays: "1. 5" is not "1.5".
_BLANK_AT_SIGN = re.compile(rf" (?:(?=[{_SIGNS}])(?!-\d)|(?<=[{_SIGNS}] )(?:(?!\d)|(?<![\d-][{_SIGNS}] )(?=\d)))")
_OUTER = " \t\n\"'.,;:!?"
_STAMP = re.compile(
    r"[\[(]\s*(\d{4}(?:[-/.年]\d{1,2}){1,2}[日月]?|\d{1,2}[-/.月]\d{1,2}日?)"
    r"(?:[ t,]*\d{1,2}:\d{2}(?::\d{2})?)?\s*[\])]\s*"
)
_BRACKETED = re.compile(r"\[\s*([^\[\]]{1,20}?)\s*\]\s*")
_END_MARK = re.compile(r"\s*(?:[\[(]\s*([^\[\]()]{1,20}?)\s*[\])]|([✅✔✓☑]))\s*$")
_MARK_ENDS = ("]", ")", "✅", "✔", "✓", "☑")
_BOX = re.compile(r"(?:\[\s*\]|☐|⬜)\s*")
_CHECK = re.compile(r"[✅✔✓☑]\s*")
_WORD = re.compile(
    rf"\d+(?:[.,:/-]\d+)*|[{_CJK}]|[^\W_{_CJK}]+(?:'[^\W_{_CJK}]+)*|[<>=≤≥≠≈±$€£¥₩₽%°+~]|-(?=\d)|[\u2190-\U0010ffff]"
)
_LIGHT = frozenset(["a", "an", "the", "is", "are", "的", "是"])
_STATUS_TAGS = frozenset(["new", "restored", "carried", "open"])
_MIN_PLURAL = 5  # letters
_MAX_TAGS = 32  # more at the front of one item are a game, not a status
_END_MARK_LENGTH = 40  # characters
_KEYED_LENGTH = 4_000  # characters; keys of longer items are not remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What an item says, apart from how it is marked."""

    text: str  # normal form without marker, box, tags, marks and stamp
    first_line: str  # normal form of the first of several lines, else ""
    stamp: str  # bracketed date at the front, digits only, else ""
    tags: tuple[str, ...]  # status tags at the front, in order
    resolved: bool
    ends_in_colon: bool
    words: tuple[str, ...]  # for comparison: without light words and plural endings


def normalise(text: str) -> str:
    """Return the normal form of a text: two texts that differ in dress only have the same."""
    return _cut_outer(_dress_down(text))


def item_key(text: str) -> str:
    """Return the key of an item: its normal form without marker, tags, marks and date stamp."""
    return read_key(text).text


def is_resolved(text: str) -> bool:
    """Whether an item is closed by a mark at its front or end."""
    return read_key(text).resolved


def is_duplicate(candidate: str, existing: str) -> bool:
    """Whether `candidate` says nothing that `existing` does not say in the same words."""
    return KeyIndex([existing]).holds(candidate)


class KeyIndex:
    """Items that later ones are compared with; each comparison takes one look-up."""

    def __init__(self, items: Iterable[str] = ()) -> None:
        self._stamps_by_key: dict[str, set[str]] = {}
        self._stamps_by_words: dict[tuple[str, ...], set[str]] = {}
        self._stamps_by_line: dict[str, set[str]] = {}
        for item in items:
            self.add(item)

    def add(self, item: str) -> None:
        """Add an item."""
        key = read_key(item)
        if key.text:
            _note(self._stamps_by_key, key.text, key.stamp)
        if key.words:
            _note(self._stamps_by_words, key.words, key.stamp)
        if key.first_line:
            _note(self._stamps_by_line, key.first_line, key.stamp)

    def names(self) -> Iterator[str | tuple[str, ...]]:
        """Yield what the items are found by: keys, words, first lines."""
        return chain(self._stamps_by_key, self._stamps_by_words, self._stamps_by_line)

    def holds(self, item: str) -> bool:
        """Whether an item is a duplicate of one that was added."""
        key = read_key(item)
        if not key.text:
            return False
        stamp = key.stamp
        for found in (
            self._stamps_by_key.get(key.text),
            self._stamps_by_words.get(key.words) if key.words else None,
            self._stamps_by_line.get(key.text),
        ):
            if found and (not stamp or stamp in found or "" in found):
                return True
        return key.ends_in_colon and any(
            text.startswith(f"{key.text}:") and (not stamp or stamp in stamps or "" in stamps)
            for text, stamps in self._stamps_by_key.items()
        )


K = TypeVar("K")


def _note(stamps: dict[K, set[str]], key: K, stamp: str) -> None:
    found = stamps.get(key)
    if found is None:
        stamps[key] = {stamp}
    else:
        found.add(stamp)


def read_key(text: str) -> Key:
    """Return the key of an item with what was taken off it."""
    return _remembered_key(text) if len(text) <= _KEYED_LENGTH else _read_key(text)


@lru_cache(maxsize=8_192)
def _remembered_key(text: str) -> Key:
    return _read_key(text)


def _read_key(text: str) -> Key:
    body = strip_marker(text)
    struck = body.startswith("~~") and _is_struck(body)
    plain = _dress_down(body.rstrip(" .。")[2:-2] if struck else body)
    rest, tags, resolved, stamp = _strip_front(plain)
    resolved = resolved or struck
    for _ in range(_MAX_TAGS if rest.rstrip().endswith(_MARK_ENDS) else 0):
        end = _END_MARK.search(rest, max(0, len(rest) - _END_MARK_LENGTH))
        if not end or not _is_end_mark(end):
            break
        rest, resolved = rest[: end.start()], True
    key = _cut_outer(rest)
    first, newline, _ = body.partition("\n")
    return Key(
        text=key,
        first_line=_cut_outer(_strip_front(_dress_down(first))[0]) if newline else "",
        stamp=re.sub(r"\D+", "-", stamp).strip("-") if stamp else "",
        tags=tags,
        resolved=resolved,
        ends_in_colon=rest.rstrip().endswith(":"),
        words=_compared_words(key),
    )


def _strip_front(text: str) -> tuple[str, tuple[str, ...], bool, str]:
    """Take boxes, tags, marks and a date stamp off the front of a normal form."""
    tags: list[str] = []
    resolved, stamp = False, ""
    for _ in range(_MAX_TAGS):
        text = text.lstrip()
        if text[:1].isalnum():  # most items have nothing in front
            break
        if box := _BOX.match(text):
            text = text[box.end() :]
        elif check := _CHECK.match(text):
            text, resolved = text[check.end() :], True
        elif not stamp and (found := _STAMP.match(text)):
            text, stamp = text[found.end() :], found[1]
        elif (tag := _BRACKETED.match(text)) and tag[1] in _STATUS_TAGS:
            text = text[tag.end() :]
            tags.append(tag[1])
        elif tag and tag[1] in resolution_marks():
            text, resolved = text[tag.end() :], True
        else:
            break
    return text, tuple(tags), resolved, stamp


def _is_end_mark(found: re.Match[str]) -> bool:
    return found[2] is not None or (found[1] in resolution_marks() and found[0].strip()[0] == "[")


@cache
def resolution_marks() -> frozenset[str]:
    """Words that close an item when they stand in brackets."""
    return frozenset(normalise(word) or word for word in words("resolution"))


def _is_struck(text: str) -> bool:
    """Whether a whole item is struck through: `~~so~~`."""
    text = text.rstrip(" .。")
    return len(text) > 4 and text.startswith("~~") and text.find("~~", 2) == len(text) - 2


def _dress_down(text: str) -> str:
    """Return the normal form before its outer signs are cut."""
    if len(text) <= _KEYED_LENGTH and ("*" in text or "_" in text or "`" in text or "~~" in text):
        for _ in range(2):  # emphasis inside emphasis
            text = _EMPHASIS.sub(r"\2", text)
    if text.isascii():
        return _BLANK_AT_SIGN.sub("", " ".join(text.lower().split()))
    text = unicodedata.normalize("NFKC", text).casefold().translate(_PUNCTUATION)
    return _BLANK_AT_SIGN.sub("", _BLANK_AT_CJK.sub("", " ".join(text.split()))).strip()


def _cut_outer(text: str) -> str:
    text = text.rstrip(_OUTER + "-")
    while True:
        cut = text.lstrip(_OUTER)
        if cut.startswith("-") and not cut[1:2].isdigit():
            cut = cut[1:]
        if cut == text:
            return text
        text = cut


def _compared_words(key: str) -> tuple[str, ...]:
    return tuple(
        [
            # the same words come in many keys: one of each is held
            intern(word[:-1] if word[-1] == "s" and len(word) >= _MIN_PLURAL and word.isascii() else word)
            for word in _WORD.findall(key)
            if word not in _LIGHT
        ]
    )
