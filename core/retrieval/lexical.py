"""What a text asks the full-text index: terms, quoted so that its query language has no say.

Pure but for the word lists that ship with the program. Words keep inner marks (`retry.py`, `o'brien`); Chinese,
Japanese and Korean runs become overlapping pairs, as they are indexed (archivist.md section 2).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.text.language import detect_language
from core.text.rules import load_rules
from core.text.wordlists import fold

MAX_TERMS = 12
MAX_CHARACTERS = 4_000  # of a message: past it is pasted material

Counts = Callable[[Sequence[str]], Mapping[str, int]]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U000323af"
_TOKEN = re.compile(rf"(?P<cjk>[{_CJK}]+)|[^\W_{_CJK}]+(?:[._+#'-][^\W_{_CJK}]+)*")
_IS_CJK = re.compile(rf"[{_CJK}]")
_PHRASE = re.compile(r'"([^"]+)"|“([^“”]+)”|「([^「」]+)」|『([^『』]+)』')


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Terms in order of appearance, and the same as FTS5 expressions; all "" when there is nothing to search for."""

    terms: tuple[str, ...]
    match: str  # any of the terms
    match_all: str = ""  # all of them, phrases included
    keywords: bool = False  # typed without small words, or with a phrase: what holds all of them is the answer

    def __bool__(self) -> bool:
        return bool(self.match)


NOTHING = Query(terms=(), match="")


def build_recall_query(message: str, counts: Counts | None = None) -> Query:
    """Return what a message asks the index (`stm_query`).

    `counts` says in how many rows terms occur: of more than twelve the rarest are kept; without it the first.
    """
    terms = _choose(_find_terms(message), counts)
    return Query(terms=terms, match=" OR ".join(map(quote, terms)))


def build_search_query(text: str, counts: Counts | None = None) -> Query:
    """Return what a search box asks: the terms of the recall query; "…" is a phrase.

    A sentence ("when did we …") is answered by what holds any of its terms: asking for all of them loses two of a
    hundred answers on LoCoMo.
    """
    text = text[:MAX_CHARACTERS]
    phrases = [next(filter(None, found.groups())) for found in _PHRASE.finditer(text)]
    runs = [run for phrase in phrases for run in _quote_phrase(phrase)]
    terms = _choose(_find_terms(_PHRASE.sub(" ", text) if runs else text), counts)
    if runs and not set(terms) - _dropped_words(text):
        terms = ()  # beside a phrase, small words alone are no condition
    parts = list(dict.fromkeys((*runs, *map(quote, terms))))
    words = dict.fromkeys((*(term for phrase in phrases for term in _find_terms(phrase)), *terms))
    return Query(
        terms=tuple(words),
        match=" OR ".join(parts),
        match_all=" AND ".join(parts),
        keywords=bool(runs) or terms == tuple(dict.fromkeys(_tokens(fold(text)))),
    )


def loosen(query: Query) -> Query:
    """Return a query by single CJK characters, for one whose pairs are found nowhere; the same without any."""
    grammar = _function_characters()
    terms = dict.fromkeys(
        part for term in query.terms for part in (term if _IS_CJK.match(term) else (term,)) if part not in grammar
    )
    return Query(terms=tuple(terms), match=" OR ".join(map(quote, terms)))


def quote(term: str) -> str:
    """Return a term as FTS5 takes it; a single CJK character is the prefix of the pairs that begin with it."""
    quoted = '"' + term.replace('"', '""') + '"'
    return f"{quoted}*" if len(term) == 1 and _IS_CJK.match(term) else quoted


def pair_characters(run: str) -> list[str]:
    """Return the overlapping pairs of a CJK run; a single character is itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _choose(terms: Sequence[str], counts: Counts | None) -> tuple[str, ...]:
    if len(terms) <= MAX_TERMS or counts is None:
        return tuple(terms[:MAX_TERMS])
    known = counts(terms)
    rarest = set(sorted(terms, key=lambda term: known.get(term, 0))[:MAX_TERMS])
    return tuple(term for term in terms if term in rarest)


def _find_terms(text: str) -> list[str]:
    """The terms of a text, each once; the small words only where there is nothing else."""
    text = text[:MAX_CHARACTERS]
    folded = fold(text)
    found = dict.fromkeys(_tokens(folded))
    plain = _polite_pairs().sub(" ", folded)
    dropped = _dropped_words(text)
    grammar = _function_characters()
    kept = (term for term in _tokens(plain) if term not in dropped and grammar.isdisjoint(term))
    return list(dict.fromkeys(kept)) or list(found)


def _tokens(folded: str) -> Iterator[str]:
    for found in _TOKEN.finditer(folded):
        if found["cjk"]:
            yield from pair_characters(found["cjk"])
        else:
            word = found.group()
            yield word.removesuffix("'s") or word


def _quote_phrase(phrase: str) -> list[str]:
    """A phrase as FTS5 phrases: words that follow each other, and the pairs of a CJK run that do."""
    runs: list[str] = []
    words: list[str] = []
    for found in _TOKEN.finditer(fold(phrase)):
        if not found["cjk"]:
            words.append(found.group())
            continue
        if words:
            runs.append(quote(" ".join(words)))
            words = []
        pairs = pair_characters(found["cjk"])
        runs.append(quote(" ".join(pairs)))
    return [*runs, quote(" ".join(words))] if words else runs


def _dropped_words(text: str) -> frozenset[str]:
    return _small_words(detect_language(text, "en").split("-")[0])


@cache
def _small_words(language: str) -> frozenset[str]:
    """Grammar words and pleasantries of a language (English where there is no list)."""
    grammar, polite = load_rules("stopwords"), load_rules("recall")
    language = language if language in grammar else "en"
    own: set[str] = set()
    if language in polite:
        own |= polite[language].words("small_words") | polite[language].words("pleasantries")
    if language not in polite or not polite[language].texts("small_words"):
        own |= grammar[language].words("words")
    return frozenset(map(fold, own | {word.removesuffix("'s") for word in own if len(word) > 3}))


@cache
def _polite_pairs() -> re.Pattern[str]:
    """CJK pleasantries: cut out before a run is paired, so that no pair reaches into what stands beside them."""
    listed = {word for table in load_rules("recall").values() for word in table.texts("pleasantries")}
    return re.compile(
        "|".join(re.escape(word) for word in sorted(listed, key=len, reverse=True) if _IS_CJK.match(word))
    )


@cache
def _function_characters() -> frozenset[str]:
    """CJK characters that are grammar: those of `recall.*`, else of `stopwords.*`, language by language."""
    own, general = load_rules("recall"), load_rules("stopwords")
    found: set[str] = set()
    for language in general:
        listed = own[language].text("function_characters") if language in own else ""
        found.update(listed or general[language].text("function_characters"))
    return frozenset(found)
