"""What a statement denies and demands: negations, obligation, sides of opposites.

Pure. Counts words, and in scripts without blanks characters, minus the words that merely hold
one (不错, 别墅).
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from core.text.wordlists import fold, groups, words, words_of

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_IS_CJK = re.compile(rf"[{_CJK}]")
_KANA = re.compile(r"[\u3041-\u3096]")
_WORD = re.compile(rf"[^\W\d_{_CJK}]+(?:'[^\W\d_{_CJK}]+)*")
_NUMBER_SIGN = re.compile(r"\bno\.?\s*(?=\d)")
_A_NOT_A = re.compile(r"([\u4e00-\u9fff])[不没沒]\1")
_CACHED_LENGTH = 4_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Polarity:
    """Negation words, whether something is obligatory, and which side of each opposite is named."""

    negations: int
    obligation: bool
    sides: frozenset[tuple[int, int]]  # (pair, 0 or 1)

    def opposes(self, other: "Polarity") -> bool:
        """Whether the other names the other side of an opposite, and not this side too."""
        return any((pair, 1 - side) in other.sides and (pair, side) not in other.sides for pair, side in self.sides)


def polarity(text: str) -> Polarity:
    """Return the polarity of a text."""
    return _cached(text) if len(text) <= _CACHED_LENGTH else _read(text)


@lru_cache(maxsize=8_192)
def _cached(text: str) -> Polarity:
    return _read(text)


def _read(text: str) -> Polarity:
    folded = fold(text)
    found = _WORD.findall(folded)
    return Polarity(
        negations=_count_negations(folded, found),
        obligation=_obliges(folded, found),
        sides=frozenset(_sides(folded, frozenset(found))),
    )


def _count_negations(folded: str, found: list[str]) -> int:
    if "no" in folded and _NUMBER_SIGN.search(folded):
        found = _WORD.findall(_NUMBER_SIGN.sub(" ", folded))
    negative = _latin("negation")
    count = sum(word in negative or word.endswith("n't") for word in found)
    if _holds_cjk(folded):
        script = "ja" if _KANA.search(folded) else "zh"
        exceptions, signs = _cjk_negations(script)
        plain = _A_NOT_A.sub(" ", exceptions.sub(" ", folded))
        count += len(signs.findall(plain))
    return count


def _obliges(folded: str, found: list[str]) -> bool:
    if any(word in _latin("obligation") for word in found):
        return True
    if _phrases().search(folded) or ("by" in folded and _by_date().search(folded)):
        return True
    return _holds_cjk(folded) and _cjk_obligations().search(folded) is not None


def _holds_cjk(folded: str) -> bool:
    return not folded.isascii() and _IS_CJK.search(folded) is not None


def _sides(folded: str, found: frozenset[str]) -> list[tuple[int, int]]:
    listed = _antonyms()
    sides = [side for word in listed.keys() & found for side in listed[word]]
    if _holds_cjk(folded):
        sides += [side for word in listed if _IS_CJK.match(word) and word in folded for side in listed[word]]
    return sides


@cache
def _antonyms() -> dict[str, tuple[tuple[int, int], ...]]:
    """The words of all opposites, with the pairs and sides that they stand for."""
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for number, pair in enumerate(groups("antonyms")):
        for side, listed in enumerate(pair):
            found.update((word, (*found.get(word, ()), (number, side))) for word in listed)
    return found


@cache
def _latin(kind: str) -> frozenset[str]:
    return frozenset(word for word in words(kind) if not _IS_CJK.search(word) and " " not in word)


@cache
def _cjk_negations(script: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    exceptions = words_of(script, "negation_exceptions") | words_of("ko", "negation_exceptions")
    signs = "|".join(sorted(map(re.escape, words_of(script, "negation")), key=len, reverse=True))
    inside = "|".join(map(re.escape, words_of("ko", "negation_inside")))
    alone = "|".join(map(re.escape, words_of("ko", "negation")))
    pattern = rf"{signs}|{inside}|(?<![\uac00-\ud7af])(?:{alone})(?![\uac00-\ud7af])"
    return re.compile("|".join(sorted(map(re.escape, exceptions), key=len, reverse=True))), re.compile(pattern)


@cache
def _cjk_obligations() -> re.Pattern[str]:
    listed = (word for word in words("obligation") if _IS_CJK.search(word))
    return re.compile("|".join(sorted(map(re.escape, listed), key=len, reverse=True)))


@cache
def _phrases() -> re.Pattern[str]:
    listed = (word for word in words("obligation") if " " in word and not _IS_CJK.search(word))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, listed))})\b")


@cache
def _by_date() -> re.Pattern[str]:
    """`by` is an obligation before a date, a weekday or an hour."""
    months = [name for row in groups("months") if len(row) == 12 for names in row for name in names]
    listed = "|".join(map(re.escape, [*months, *words("weekdays"), "tomorrow", "tonight", "noon", "end of", "next"]))
    return re.compile(rf"\bby\s+(?:the\s+)?(?:(?:{listed})\b|\d)")
