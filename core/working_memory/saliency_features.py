"""What a message shows of whether it is worth noting, as plain numbers: who it speaks of, how much it states, what
it asks, names, numbers and days; the same of the messages beside it.

Pure but for the word lists, `resources/rules/saliency.<language>.toml`. Words are counted, in scripts without blanks
characters; a language without a file gives the features that need no words.
"""

import math
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from core.paths import find_resources
from core.text.sentences import split_sentences
from core.text.wordlists import fold

MAX_CHARACTERS = 1_500  # of a message; what it is worth shows before that
CHARACTERS_A_WORD = 1.6  # in scripts without blanks

KINDS = ("own", "together", "address", "time", "past", "ahead", "polite", "personal", "numbers", "duty")

TEXT_FEATURES = (
    "length", "words", "stated_words", "own_words", "own_statement_words", "others_words", "longest_statement",
    "sentences", "long_words", "own", "has_own", "together", "has_together", "address", "has_address", "own_share",
    "address_share", "names", "numbers", "time", "past", "ahead", "polite", "opens_politely", "personal", "duty",
    "question", "ends_asking", "exclamations", "cjk",
)  # fmt: skip
BESIDE = ("question", "ends_asking", "length", "address", "own", "opens_politely", "own_words", "stated_words")
"""What of the message before, and of the one after, is looked at."""

CONTEXT_FEATURES = (
    *(f"before_{name}" for name in (*BESIDE, "none")),
    *(f"after_{name}" for name in (*BESIDE, "none")),
)

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W\d_{_CJK}]+(?:'[^\W\d_{_CJK}]+)*")
_CHARACTER = re.compile(f"[{_CJK}]")
_NAME = re.compile(r"(?<=[^\W\d_A-Z] |[,;:'] )(?!I\b)[^\W\d_a-z]\w+|[《「『“\"][^》」』”\"]{2,30}[》」』”\"]")
_NUMBER = re.compile(r"\d+")
_ASKING = ("?", "？")
_LONG = 7  # letters
_PAST_WORD = 5  # letters
_BESIDE_AT = tuple(TEXT_FEATURES.index(name) for name in BESIDE)


def read_text(text: str) -> tuple[float, ...]:
    """Return what a message shows by itself, in the order of `TEXT_FEATURES`."""
    return _read(text[:MAX_CHARACTERS])


def read_beside(before: str | None, after: str | None) -> tuple[float, ...]:
    """Return what the messages beside show, in the order of `CONTEXT_FEATURES`; None where there is none."""
    found: list[float] = []
    for text in (before, after):
        shown = None if text is None else read_text(text)
        found += [0.0] * len(BESIDE) if shown is None else [shown[at] for at in _BESIDE_AT]
        found.append(float(shown is None))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A sentence: how long it is and how often it holds the words of each kind."""

    words: float
    counts: dict[str, int]
    asks: bool

    @property
    def is_own(self) -> bool:
        return self.counts["own"] + self.counts["together"] > 0


@lru_cache(maxsize=4_096)
def _read(text: str) -> tuple[float, ...]:
    parts = [_look_at(sentence) for sentence in split_sentences(text)]
    counts = {kind: sum(part.counts[kind] for part in parts) for kind in KINDS}
    stated = [part for part in parts if not part.asks]
    total = max(1.0, sum(part.words for part in parts))
    letters = _WORD.findall(text)
    characters = len(_CHARACTER.findall(text))
    opening = _look_at(" ".join(text.split()[:3])[:24] if not characters else text[:4]).counts["polite"]
    return (
        math.log1p(total),
        min(total, 60.0) / 20,
        _sum_words(stated),
        _sum_words(part for part in stated if part.is_own),
        _sum_words(part for part in stated if part.is_own and not part.counts["address"]),
        _sum_words(part for part in stated if not part.counts["address"]),
        min(40.0, max((part.words for part in stated), default=0.0)) / 20,
        float(min(6, len(parts))),
        sum(len(word) >= _LONG for word in letters) / max(1, len(letters)),
        *_both(counts["own"], 4),
        *_both(counts["together"], 3),
        *_both(counts["address"], 4),
        counts["own"] / total,
        counts["address"] / total,
        float(min(3, len(_NAME.findall(text)))),
        float(min(2, counts["numbers"])),
        float(min(3, counts["time"])),
        float(min(4, counts["past"])),
        float(min(2, counts["ahead"])),
        float(min(3, counts["polite"])),
        float(opening > 0),
        float(min(3, counts["personal"])),
        float(min(2, counts["duty"])),
        float(any(mark in text for mark in _ASKING)),
        float(text.rstrip().endswith(_ASKING)),
        float(min(3, text.count("!") + text.count("！"))),
        float(characters > len(letters)),
    )


def _look_at(sentence: str) -> _Part:
    folded = fold(sentence)
    words = _WORD.findall(folded)
    characters = 0 if folded.isascii() else len(_CHARACTER.findall(folded))
    listed, patterns, endings = _lists()
    counts = dict.fromkeys(KINDS, 0)
    for word in words:
        for kind in listed.get(word, ()):
            counts[kind] += 1
        if len(word) >= _PAST_WORD and word.endswith(endings) and "past" not in listed.get(word, ()):
            counts["past"] += 1
    if characters:
        for kind, pattern in patterns.items():
            counts[kind] += len(pattern.findall(folded))
    counts["numbers"] += len(_NUMBER.findall(folded))
    length = len(words) + characters / CHARACTERS_A_WORD
    return _Part(words=length, counts=counts, asks=sentence.rstrip().endswith(_ASKING))


def _sum_words(parts: Iterable[_Part]) -> float:
    return math.log1p(sum(part.words for part in parts))


def _both(count: int, most: int) -> tuple[float, float]:
    return float(min(most, count)), float(count > 0)


@cache
def _lists() -> tuple[dict[str, tuple[str, ...]], dict[str, re.Pattern[str]], tuple[str, ...]]:
    """Return word -> its kinds in any language, the patterns of scripts without blanks, endings of the past."""
    listed: dict[str, set[str]] = {}
    patterns: dict[str, list[str]] = {}
    endings: list[str] = []
    for file in sorted((find_resources() / "rules").glob("saliency.*.toml")):
        rules = tomllib.loads(file.read_text(encoding="utf-8"))
        endings += rules.get("past_endings", ())
        for kind in KINDS:
            for word in rules.get(kind, ()):
                listed.setdefault(fold(word), set()).add(kind)
            if pattern := rules.get("patterns", {}).get(kind):
                patterns.setdefault(kind, []).append(pattern)
    kinds = {word: tuple(sorted(found)) for word, found in listed.items()}
    return kinds, {kind: re.compile("|".join(found)) for kind, found in patterns.items()}, tuple(endings)
