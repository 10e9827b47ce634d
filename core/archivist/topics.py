"""A segment's topic in a few words, taken from the user's texts.

No model: words that come back and stand early name the topic; grammar, courtesy and words that fit
any conversation (`resources/rules/stopwords.*.toml`) do not. Pure but for reading those files.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.archivist.markers import hide_quoted, is_acknowledgement
from core.archivist.topic_words import Word, introduces, leave_nouns, read_word, words_of
from core.archivist.words import cjk_run, fold

MAX_WORDS = 6
MAX_CJK_CHARACTERS = 14
MAX_TEXT = 1_000  # characters read of one message: its topic is said early
_URL = re.compile(r"\b(?:https?://|www\.)\S+")
_CLAUSE_END = re.compile(
    r"[,;:!?()\[\]{}<>|/\"“”«»\n—–…。、，；：！？（）【】《》「」]+|\.(?!\w)|\s-+\s|'(?!\w)|(?<!\w)'"
)
_TOKEN = re.compile(r"[^\W_](?:[\w'’+#-]|\.(?=[a-z\d]))*(?<!['’-])")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_CUED = 1.3  # what a phrase counts behind "about", "called" or "learn"
_WEAK = 0.4  # what small talk counts
_PASSING = 1.9  # a phrase worth less was said once, in passing
_LONG_NAME = 3  # words; a name as long needs no second part
_SHARE_OF_WORD, _SHARE_OF_PHRASE = 0.4, 0.65  # of the best phrase's worth
_SHARE_OF_RUN = 0.6
_EARLY = 1.5  # what a word of the first message counts, against 1 for the others


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    score: float
    stems: frozenset[str]
    words: int


def name_topic(texts: Sequence[str], language: str = "") -> str:
    """Name what the user's texts are about in two to six words; "" when they are about nothing.

    `language` ("en", "zh" …) chooses the words that name nothing; without it those of all languages.
    """
    clean = [_URL.sub(" ", hide_quoted(text[:MAX_TEXT], " | ")) for text in texts if not is_acknowledgement(text)]
    characters = sum(len(run) for text in clean for run in cjk_run().findall(text))
    letters = sum(len(word) for text in clean for word in re.findall(r"[^\W\d_]+", cjk_run().sub(" ", text)))
    # A Chinese character says as much as three letters.
    if characters * 3 > letters or (language in ("zh", "ja") and characters):
        kana = any(_HIRAGANA.search(text) for text in clean)
        return _name_spaceless(clean, "ja" if kana else "zh") or _name_spaced(clean, language)
    return _name_spaced(clean, language)


def _name_spaced(texts: Sequence[str], language: str) -> str:
    messages: list[list[list[Word]]] = []
    mood = ""
    for text in texts:
        read = [leave_nouns(words, language) for words in _read_clauses(text, language)]
        messages.append([words for words, _ in read])
        mood = mood or next((felt for _, felt in read if felt), "")
    opening = next((index for index, text in enumerate(texts) if not introduces(text)), 0)
    scores = _score_words(messages, language, opening)
    candidates = _join_repeats(
        _Candidate(
            " ".join(word.text for word in words),
            _score(words, scores) * (_CUED if cued else 1.0),
            frozenset(word.key for word in words if word.key),
            len(words),
        )
        for message in messages
        for clause in message
        for words, cued in _phrases(clause, scores, language)
    )
    feeling = next(iter(words_of("feeling", language)), "") if mood else ""
    if feeling and (not candidates or candidates[0].score < _PASSING):
        return f"{capitalise(feeling)} {mood}"
    return capitalise(_compose(candidates, next(iter(words_of("joins", language)), "")))


def _read_clauses(text: str, language: str) -> Iterator[list[Word]]:
    for clause in _clauses(text):
        yield [read_word(word, language) for word in _TOKEN.findall(clause)]


def _clauses(text: str) -> Iterator[str]:
    """Yield the clauses that may name a topic: not those in which somebody says their name."""
    for clause in _CLAUSE_END.split(text):
        if not introduces(clause):
            yield clause


def _score_words(messages: Sequence[Sequence[Sequence[Word]]], language: str, opening: int = 0) -> dict[str, float]:
    """Return what each content word is worth: the messages that hold it, the `opening` one more, names more."""
    scores: dict[str, float] = {}
    called: Counter[str] = Counter()  # how often a word stands alone in its clause, as a person addressed does
    for index, message in enumerate(messages):
        seen: set[str] = set()
        for clause in message:
            content = [word for word in clause if word.key]
            for word in content:
                named = word is not clause[0] and word.text[0].isupper() and not word.text.isupper()
                worth = (1.0 if word.key not in seen else 0.25) * (_EARLY if index == opening else 1.0)
                extra = 0.3 if named and word.key not in seen else 0.0
                if word.folded in words_of("weak", language):
                    worth *= _WEAK
                scores[word.key] = scores.get(word.key, 0.0) + worth + extra
                seen.add(word.key)
            if len(content) == 1 and content[0].text[0].isupper() and len(clause) <= 3:
                called[content[0].key] += 1
    return {key: score for key, score in scores.items() if called[key] < 0.5 * score}


def _phrases(
    clause: Sequence[Word], scores: Mapping[str, float], language: str
) -> Iterator[tuple[Sequence[Word], bool]]:
    """Yield runs of content words, over one linking word at most, and whether a word before says "the topic comes"."""
    determiners, endings = words_of("determiners", language), words_of("endings", language)
    for start, first in enumerate(clause):
        if first.key not in scores:
            continue
        before = [word.folded for word in clause[:start] if word.folded not in determiners]
        cued = bool(before) and before[-1] in words_of("cues", language)
        linked = 0
        for end in range(start, min(len(clause), start + MAX_WORDS)):
            word = clause[end]
            if word.key in scores:
                participle = end > start and word.folded.endswith("ed") and "ed" in endings
                if not participle and not word.folded.endswith("'s"):
                    yield clause[start : end + 1], cued
            else:
                linked += 1
                opens_name = end + 1 < len(clause) and clause[end + 1].text[:1].isupper()
                if (
                    linked > 1
                    or not word.links
                    or (word.folded in words_of("links_names", language) and not opens_name)
                ):
                    break


def _score(words: Sequence[Word], scores: Mapping[str, float]) -> float:
    """Worth of a phrase: that of its words, with a discount that keeps it short."""
    worth = [scores[key] for key in {word.key for word in words} if key in scores]
    links = sum(word.key not in scores for word in words)
    return math.fsum(worth) / math.pow(len(worth), 0.45) - 0.3 * links


def _join_repeats(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """One candidate a wording; one that comes back counts more."""
    seen: dict[str, _Candidate] = {}
    repeats: Counter[str] = Counter()
    for candidate in candidates:
        key = fold(candidate.text)
        seen.setdefault(key, candidate)
        repeats[key] += 1
    scored = (
        _Candidate(c.text, c.score * (1 + 0.25 * (min(repeats[key], 4) - 1) * (c.words > 1)), c.stems, c.words)
        for key, c in seen.items()
    )
    return sorted(scored, key=lambda candidate: -candidate.score)  # stable: of equals the earlier


def _compose(candidates: Sequence[_Candidate], joins: str) -> str:
    """Take the best phrase, and a second of other words if it is near as good and the name stays short."""
    if not candidates:
        return ""
    best = candidates[0]
    share = _SHARE_OF_WORD if best.words == 1 else _SHARE_OF_PHRASE  # one word alone says little
    for other in candidates[1:]:
        if other.score < share * best.score or best.words > _LONG_NAME:
            break
        if other.score < _PASSING:
            break
        if best.words + other.words <= MAX_WORDS and not other.stems & best.stems:
            simple = joins and not any(f" {joins} " in f" {part.text} " for part in (best, other))
            return f"{best.text} {joins} {other.text}" if simple else f"{best.text}, {other.text}"
    return best.text


def capitalise(name: str) -> str:
    """Open with a capital unless the first word is a name in a spelling of its own (iPhone, retry.py)."""
    first = name.split(" ", 1)[0].rstrip(",")
    return name[:1].upper() + name[1:] if first.replace("-", "").isalpha() and first.islower() else name


def _name_spaceless(texts: Sequence[str], language: str) -> str:
    found: list[str] = []
    runs = Counter[str]()
    early: set[str] = set()
    for index, text in enumerate(texts):
        for name in _runs(text, language):
            runs[name] += 1
            found.append(name)
            if index == 0:
                early.add(name)
    cued = [match["x"] for text in texts for match in _cues(language).finditer(text)]
    candidates = sorted(
        (
            _Candidate(
                name,
                _spaceless_score(name, runs, texts, name in early, language)
                * (_CUED if any(name in x for x in cued) else 1.0),
                _pairs(name),
                len(name),
            )
            for name in dict.fromkeys([*found, *_shared_parts(runs, language)])
            if name not in words_of("generic", language)
        ),
        key=lambda candidate: -candidate.score,
    )
    return _compose_spaceless(candidates, texts)


def _compose_spaceless(candidates: Sequence[_Candidate], texts: Sequence[str]) -> str:
    """Take the best run, and a second of other characters that is near as good and no slip of one message."""
    if not candidates:
        return ""
    best = candidates[0]
    for other in candidates[1:]:
        if other.score < _SHARE_OF_RUN * best.score:
            break
        repeated = sum(other.text in text for text in texts) > 1 or other.score >= best.score
        if best.words + other.words <= MAX_CJK_CHARACTERS and not best.stems & other.stems and repeated:
            return f"{best.text}、{other.text}"
    return best.text


@cache
def _cues(language: str) -> re.Pattern[str]:
    """What comes behind words that announce a topic ("聊聊", "学习"), up to the clause's end."""
    cues = sorted(words_of("cues", language), key=lambda word: (-len(word), word))
    return re.compile(f"(?:{'|'.join(map(re.escape, cues)) or '(?!)'})(?P<x>[^，。！？、,.!?]{{2,12}})")


def _runs(text: str, language: str) -> Iterator[str]:
    """Yield the runs of characters between grammar and punctuation that may name something, and Latin words."""
    for clause in _clauses(text):
        for run in cjk_run().findall(clause):
            for piece in _breaks(language).split(run):
                if (name := _strip_edges(piece, language)) and name not in words_of("generic", language):
                    yield name
        for word in _TOKEN.findall(cjk_run().sub(" ", clause)):
            if len(word) > 2 and read_word(word, "en").key:
                yield word


def _spaceless_score(name: str, runs: Mapping[str, int], texts: Sequence[str], early: bool, language: str) -> float:
    """Worth of a run: the messages that hold it; two to six characters read best."""
    holding: float = sum(name in text for text in texts)
    if name in words_of("weak", language):
        holding *= _WEAK
    if name.isascii():
        return holding + (0.5 if early else 0.0)
    fit = {1: 0.0, 2: 0.8, 3: 1.0, 4: 1.15, 5: 1.15, 6: 1.1}.get(len(name), 0.9 if len(name) <= 8 else 0.3)
    return (holding + 0.25 * (runs.get(name, 0) > 1) + (0.5 if early else 0.0)) * fit


def _shared_parts(runs: Mapping[str, int], language: str) -> Iterator[str]:
    """Yield parts of two to six characters that come back inside different runs."""
    parts: Counter[str] = Counter()
    for run in filter(cjk_run().fullmatch, runs):
        parts.update({run[i : i + size] for size in range(2, 7) for i in range(len(run) - size + 1)})
    repeated = {part: count for part, count in parts.items() if count >= 2}
    # Of 莫干 and 莫干山 in the same runs only the longer is a word.
    covered = {inner for part, count in repeated.items() for inner in (part[1:], part[:-1]) if parts[inner] == count}
    return (part for part in repeated if part not in covered and _strip_edges(part, language) == part)


def _strip_edges(piece: str, language: str) -> str:
    """Take verbs and particles off the ends, unless they are part of a word that is kept."""
    edges, keep = words_of("edges", language), _kept(language)
    while len(piece) > 1 and piece[0] in edges and not piece.startswith(keep):
        piece = piece[1:]
    while len(piece) > 1 and piece[-1] in edges and not piece.endswith(keep):
        piece = piece[:-1]
    return piece if len(piece) > 1 else ""


@cache
def _kept(language: str) -> tuple[str, ...]:
    return tuple(words_of("keep", language))


def _pairs(name: str) -> frozenset[str]:
    return frozenset(name[i : i + 2] for i in range(len(name) - 1))


@cache
def _breaks(language: str) -> re.Pattern[str]:
    known = sorted(words_of("breaks", language), key=lambda word: (-len(word), word))
    # Hiragana is grammar, between kanji and katakana that name things.
    return re.compile("|".join([*map(re.escape, known), _HIRAGANA.pattern]))


def says_something(sentence: str) -> bool:
    """Say whether a sentence holds enough words that may name a topic."""
    words = sum(read_word(word, "").key != "" for clause in _clauses(sentence) for word in _TOKEN.findall(clause))
    language = "ja" if _HIRAGANA.search(sentence) else "zh"
    return words >= 2 or sum(len(name) for name in _runs(sentence, language) if not name.isascii()) >= 4
