"""The content of a line as a set of terms, to see repeats and what answers what.

A term is a word that carries content, cut to its stem, or a pair of neighbouring ideographs.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from core.text.clauses import fold
from core.text.rules import load_rules
from core.text.wordlists import words as word_list
from core.working_memory.heuristic_rules import load_irregular_forms, load_stop_words

_TOKEN = re.compile(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+(?:['.+#@/:-]+[^\W_\u3400-\u9fff]+)*[+#]*")
_TAG = re.compile(r"^\s*(?:[-*]\s+)?(?:\[[\w ]+\]\s*)+|\s*[(（](?:week of |due )?\d{4}[^()（）]*[)）]$")
_CJK = re.compile(r"[\u3400-\u9fff]")
KNOWN_WORDS = 20_000  # whose terms are kept: people say the same words again and again
_MANY_TERMS = 4  # so many in common tell what is meant, however long the line
_MANY_SHARE = 0.35
_REPEAT_SHARE = 0.8


def strip_tags(text: str) -> str:
    """Return a line without its tags at the front and its date at the end."""
    if "[" in text or ")" in text or "）" in text:  # most lines have none of them
        text = _TAG.sub("", text)
    return text.strip()


@lru_cache(maxsize=8192)
def find_terms(text: str) -> frozenset[str]:
    """Return the content terms of a line."""
    folded = fold(strip_tags(text))
    if folded.isascii():
        terms = set(map(_read_word, _TOKEN.findall(folded)))
        terms.discard("")
        return frozenset(terms)
    terms = set()
    skipped = _function_characters()
    for token in _TOKEN.findall(_vague_runs().sub(" ", folded)):
        if _CJK.match(token):
            terms.update(
                token[i : i + 2]
                for i in range(len(token) - 1)
                if token[i] not in skipped and token[i + 1] not in skipped
            )
            terms.update(_kept_words().findall(token))
        elif term := _read_word(token):
            terms.add(term)
    return frozenset(terms)


@lru_cache(maxsize=KNOWN_WORDS)
def _read_word(token: str) -> str:
    """Return the term of a word, "" where it carries no content."""
    stop = load_stop_words()
    if token in stop or not (len(token) > 2 or any(c.isdigit() for c in token) or token in {"c", "r", "go"}):
        return ""
    stem = _stem(token)
    return "" if stem in stop else stem


@lru_cache(maxsize=8192)
def count_negations(text: str) -> int:
    """Return how many negations a line holds."""
    folded = fold(text).replace("whether or not", "whether")
    negations = _negations()
    words = sum(1 for token in _TOKEN.findall(folded) if token.replace("'", "") in negations or token.endswith("n't"))
    return words + len(re.findall(r"[不没别无未](?!错|过|仅|只|但|线|来)", folded))


def share(terms: frozenset[str], other: frozenset[str]) -> float:
    """Return which part of `terms` occurs in `other`, 0..1."""
    return len(terms & other) / len(terms) if terms else 0.0


def is_repeat(text: str, known: Iterable[str]) -> bool:
    """Say whether a known line says at least nearly all of `text`, with as many negations.

    A text without content of its own ("My name is Bo") is a repeat of the same words only.
    """
    terms = find_terms(text)
    if not terms:
        said = fold(text).strip()
        return not said or any(fold(line).strip() == said for line in known)
    negations = count_negations(text) > 0
    for line in known:
        other = find_terms(line)
        if share(terms, other) >= _REPEAT_SHARE and (count_negations(line) > 0) == negations:
            digits = {term for term in terms if any(c.isdigit() for c in term)}
            if digits <= other:
                return True
    return False


def find_nearest(terms: frozenset[str], lines: Sequence[str], least: float, least_terms: int = 2) -> str | None:
    """Return the line whose content `terms` covers best, at least `least` of it; the newest of equals."""
    best, best_share = None, least
    for line in lines:
        own = find_terms(line)
        common = len(own & terms)
        if (
            own
            and common >= least_terms
            and (common / len(own) >= best_share or (common >= _MANY_TERMS and common / len(own) >= _MANY_SHARE))
        ):
            best, best_share = line, max(best_share, common / len(own))
    return best


def _stem(word: str) -> str:
    word = load_irregular_forms().get(word, word)
    for ending in ("ings", "ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and word.isalpha():
            return word[: -len(ending)].removesuffix("e")
    if word.endswith("e") and len(word) > 4:
        return word[:-1]
    return word[:-1] if word.endswith("'s") or (word.endswith("s") and len(word) == 4 and word[-2] != "s") else word


@lru_cache(maxsize=1)
def _function_characters() -> frozenset[str]:
    found: set[str] = set()
    for table in load_rules("stopwords").values():
        found.update(table.text("function_characters"))
    return frozenset(found)


@lru_cache(maxsize=1)
def _kept_words() -> re.Pattern[str]:
    """Return the pattern of words that hold a function character and are none ("成都", "小说")."""
    skipped = _function_characters()
    kept = {word for table in load_rules("stopwords").values() for word in table.texts("keep")}
    words = sorted((word for word in kept if skipped & set(word)), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, words)) or r"(?!)")


@lru_cache(maxsize=1)
def _vague_runs() -> re.Pattern[str]:
    """Return the pattern of ideograph words that say nothing about a line's content."""
    vague = sorted((word for word in load_stop_words() if _CJK.match(word)), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, vague)) or r"(?!)")


@lru_cache(maxsize=1)
def _negations() -> frozenset[str]:
    return word_list("negation")
