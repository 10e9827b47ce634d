"""Content terms of a statement: its words without the small ones, and the parts it consists of.

Pure. Words of Latin, Cyrillic … scripts are cut to a stem; CJK runs give two-character windows.
"""

import re
from functools import cache, lru_cache

from core.text.language import guess_by_small_words
from core.text.wordlists import fold, words, words_of

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W\d_{_CJK}]{{3,}}")
_CJK_RUN = re.compile(rf"[{_CJK}]{{2,}}")
_ENDINGS = ("ing", "ed", "es", "s")
_MIN_STEM = 4  # letters
_PUNCTUATION = re.compile(r"[,;:.!?](?=\s|$)|[，。；：、！？（）()「」“”\"…—]|\s[-–]\s|\n")
_CLAUSE_END = re.compile(r"[,;:.!?](?=\s|$)|[，。；：！？…]|\n")
_CACHED_LENGTH = 4_000  # characters


def content_terms(text: str) -> frozenset[str]:
    """Return the words and CJK windows that say what a text is about."""
    return _cached(text) if len(text) <= _CACHED_LENGTH else _read(text)


@lru_cache(maxsize=8_192)
def _cached(text: str) -> frozenset[str]:
    return _read(text)


def _read(text: str) -> frozenset[str]:
    folded = fold(text)
    found_words = _WORD.findall(folded)
    language = guess_by_small_words(found_words)
    small = _small_words(language)
    found = {stem(word) for word in found_words if word not in small}
    for run in _CJK_RUN.findall(folded):
        found.update(windows(run))
    return frozenset(found)


def stem(word: str) -> str:
    """Return a word without its English ending, where four letters remain."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word[: -len(ending)]
    return word


def windows(run: str) -> list[str]:
    """Return the two-character windows of a CJK run that hold no function character."""
    small = _function_characters()
    pairs = (run[n : n + 2] for n in range(len(run) - 1))
    return [pair for pair in pairs if pair[0] not in small and pair[1] not in small]


def count_present(terms: frozenset[str], others: frozenset[str]) -> int:
    """Return how many terms are among others: equal, or one begins with the other."""
    present = terms & others
    if len(present) == len(terms):
        return len(present)
    heads = {other[:_MIN_STEM] for other in others if len(other) >= _MIN_STEM}
    return len(present) + sum(
        term[:_MIN_STEM] in heads
        and any(len(o) >= _MIN_STEM and (o.startswith(term) or term.startswith(o)) for o in others)
        for term in terms - present
        if len(term) >= _MIN_STEM
    )


@lru_cache(maxsize=4_096)
def split_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a statement: list members, clauses, conditions."""
    pieces = (part for piece in _PUNCTUATION.split(text) for part in _conjunctions().split(piece))
    return tuple(piece.strip() for piece in pieces if piece and piece.strip())


@lru_cache(maxsize=4_096)
def split_at_commas(text: str) -> tuple[str, ...]:
    """Return the clauses of a statement, cut at commas too."""
    return tuple(piece.strip() for piece in _CLAUSE_END.split(text) if piece.strip())


@cache
def _small_words(language: str) -> frozenset[str]:
    return words_of(language, "function_words") | words_of("en", "function_words")


@cache
def _function_characters() -> frozenset[str]:
    return frozenset("".join(words("function_characters")))


@cache
def _conjunctions() -> re.Pattern[str]:
    listed = sorted(words("parts"), key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in listed if word[0] < "\u3000")
    cjk = "|".join(re.escape(word) for word in listed if word[0] >= "\u3000")
    return re.compile(rf"\b(?:{latin})\b|(?:{cjk})", re.IGNORECASE)
