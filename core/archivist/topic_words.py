"""The words of a clause that may name a topic: nouns, as far as the words around them tell.

Pure but for `resources/rules/stopwords.*.toml`. What somebody does ("I attended", "to relax"), how a thing is
("is delicious") and how it is done ("slowly") names nothing; how the user feels does when nothing else is named.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from core.archivist.words import KNOWN_WORDS, all_phrases, cjk_run, fold, load_rules, phrases, stem

_SELF = re.compile(r"I(?:['’]m| am) [A-Z]\w+[.!]*")  # the capital tells "I'm Ines" from "I'm lonely"
KNOWN_CLAUSES = 512  # a segment's are read for its title and for its summary
_LONG_ENDING = 5  # shorter words in -ed, -ing, -ly are words of their own (bed, ring, fly)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clause; `key` compares its forms, "" where it names no topic."""

    text: str
    folded: str
    key: str
    links: bool  # may stand inside a topic's name


@lru_cache(maxsize=KNOWN_WORDS)
def read_word(text: str, language: str) -> Word:
    """Return a word as it counts in a topic's name."""
    folded = fold(text)
    key = stem(folded)
    generic = folded in words_of("generic", language) or key in _generic_stems(language)
    named = len(folded) > 1 and any(c.isalpha() for c in text) and cjk_run().search(text) is None
    states = folded in words_of("states", language)
    empty = generic or states or not named or folded in words_of("words", language)
    return Word(text, folded, "" if empty else key, folded in words_of("links", language))


def leave_nouns(words: Sequence[Word], language: str) -> tuple[list[Word], str]:
    """Return a clause with its verbs, adverbs and predicates emptied, and the word for what the user feels or ""."""
    kept: list[Word] = []
    role = mood = ""  # role: "verb", or the copula whose predicate comes
    predicate = ""  # the copula of the predicate just left, for what "and" adds to it
    for index, word in enumerate(words):
        after = words[index + 1] if index + 1 < len(words) else None
        if word.folded in words_of("copulas", language) or not (word.key or _is_content(word, language)):
            role, predicate = _read_grammar(words, index, language, role, predicate)
        elif _is_adverb(word, language):
            word = _empty(word)
        elif role == "verb" or _acts(word, after, language, bool(kept) and bool(kept[-1].key)):
            word, role, predicate = _empty(word), "", ""
        elif role and _is_predicate(word, after, language, role):
            if word.folded in words_of("states", language) and role in words_of("moods", language):
                mood = mood or word.folded
            word, role, predicate = _empty(word), "", role
        else:
            role = predicate = ""
        kept.append(word)
    return kept, mood


def _read_grammar(words: Sequence[Word], index: int, language: str, role: str, predicate: str) -> tuple[str, str]:
    """Return what the words behind a grammar word are to the clause."""
    folded = words[index].folded
    if folded in words_of("copulas", language):
        return folded, ""
    if folded in words_of("subjects", language) or _opens_verb(words, index, language):
        return "verb", ""
    if folded in words_of("degrees", language):
        return role, predicate
    return (predicate, "") if folded in words_of("joining", language) else ("", "")


def _opens_verb(words: Sequence[Word], index: int, language: str) -> bool:
    """Say whether this is the "to" of a verb: not that of "travel to Rome", nor of "learn to swim", a topic itself."""
    if words[index].folded not in words_of("infinitive", language) or index + 1 == len(words):
        return False
    before = words[index - 1].folded if index else ""
    return before not in words_of("before_noun", language) and not words[index + 1].text[:1].isupper()


def _acts(word: Word, after: Word | None, language: str, follows_noun: bool) -> bool:
    """Say whether a word is a verb by its ending: "colleagues formed a group", "painting the fence"."""
    grammar = after is None or not (after.key or _is_content(after, language))
    if _ends(word, "ed", language):
        return follows_noun and grammar
    return _is_doing(word) and after is not None and after.folded in words_of("determiners", language)


def _is_predicate(word: Word, after: Word | None, language: str, copula: str) -> bool:
    if _is_doing(word):
        return copula not in words_of("equals", language)  # "my hobby is hiking" names one
    return after is None or not (after.key or _is_content(after, language))


def _is_adverb(word: Word, language: str) -> bool:
    return _ends(word, "ly", language)


def _is_doing(word: Word) -> bool:
    return word.folded.endswith("ing") and len(word.folded) > _LONG_ENDING and word.text.islower()


def _ends(word: Word, ending: str, language: str) -> bool:
    """Say whether a word has an ending of its language's grammar, and is no noun that only looks like it."""
    if ending not in words_of("endings", language) or not word.text.islower():
        return False
    return (
        word.folded.endswith(ending)
        and len(word.folded) >= _LONG_ENDING
        and word.folded not in words_of("nouns", language)
        and word.folded not in words_of("states", language)
    )


def _is_content(word: Word, language: str) -> bool:
    """Say whether a word that names no topic is no grammar either."""
    return word.folded in words_of("generic", language) or word.folded in words_of("states", language)


def _empty(word: Word) -> Word:
    return replace(word, key="", links=False)


@lru_cache(maxsize=KNOWN_CLAUSES)
def introduces(text: str) -> bool:
    """Say whether somebody says their name in a clause or sentence."""
    return _introduction().search(fold(text)) is not None or _SELF.fullmatch(text.strip()) is not None


@cache
def _introduction() -> re.Pattern[str]:
    anywhere = sorted(map(re.escape, all_phrases("stopwords", "introductions")))
    whole = sorted(rf"^(?:{phrase})[.!。！]*$" for phrase in all_phrases("stopwords", "introduced"))
    return re.compile("|".join([*anywhere, *whole]) or "(?!)")


@cache
def words_of(key: str, language: str) -> frozenset[str]:
    """A list of one language where it is known, else of all (English "sea" is Spanish grammar)."""
    files = load_rules("stopwords")
    known = any(name == language for name, _ in files)
    return frozenset(word for name, rules in files if name == language or not known for word in phrases(rules, key))


@cache
def _generic_stems(language: str) -> frozenset[str]:
    # Forms of a generic word (recommending, helped) are as empty as it is; short stems would hit others.
    return frozenset(short for word in words_of("generic", language) if len(short := stem(word)) >= 4)
