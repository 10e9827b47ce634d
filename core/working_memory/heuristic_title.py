"""The topic of a conversation in a few words, from what the user keeps talking about.

Phrases between function words (or, in Chinese, between function characters) are counted over the
user's last turns; what a request or a liking names counts more. A title stands once it names a topic;
it changes only when another topic takes over for several turns, and then it keeps its first phrase.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from core.model import Section
from core.text.clauses import Clause, fold, has_cjk, read_clauses
from core.working_memory.heuristic_model import Known, Proposal, TurnText
from core.working_memory.heuristic_rules import TitleRules, load_title_rules, pick_language
from core.working_memory.heuristic_terms import KNOWN_WORDS, find_terms

MAX_PHRASES = 2
MAX_WORDS = 7
MAX_CJK_CHARS = 20
_TOPIC_BONUS = 1.5
_LEAST_SCORE = 1.25
_WEAK_TERMS = 3  # a title with fewer content terms may still be improved
_EARLY_TURNS = 4
_TAKEOVER_TURNS = 3
_MAX_CHARS_READ = 4_000  # of a message: a pasted page names no topic better than its first part
_REDACTED = re.compile(r"\[REDACTED:\w+\]")
_WORD = re.compile(r"[^\W_](?:[\w'’+#.&/-]*[\w+#])?")
_CJK_RUN = re.compile(r"[\u3400-\u9fff]+|[A-Za-z][A-Za-z0-9+#.-]*(?: \d[\d.]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """What one text of the user's may name as a topic."""

    mentions: tuple[tuple[str, float, frozenset[str]], ...]  # phrase, weight, terms
    names: frozenset[str]  # that it calls people by


@dataclass(slots=True)
class _Phrase:
    text: str
    first: int
    score: float = 0.0
    turns: set[int] = field(default_factory=set)


def find_title(turn: TurnText, said: Sequence[Phrases], known: Known, language: str) -> Proposal | None:
    """Return a title where there is none, a better one, or None where the present one stands.

    `said` are the phrases of the user's texts (`read_phrases`), oldest first, those of the turn last.
    """
    rules = load_title_rules(pick_language(language))
    if not said[-1].mentions:
        return None
    current = next(iter(known.of(Section.TITLE)), "")
    title = _improve(current, said, rules) if current else _compose(_pick(_count(said), ()), rules)
    if not title or fold(title) == fold(current):
        return None
    return Proposal(section=Section.TITLE, text=title, turns=(turn.turn,), replaces=current or None)


def cut_title(title: str, unwanted: Callable[[str], bool]) -> str:
    """Return a title without the phrases that are unwanted, "" where none is left."""
    rules = load_title_rules("zh" if has_cjk(title) else "en")
    parts = rules.split(title)
    kept = [_Phrase(part, at) for at, part in enumerate(parts) if not unwanted(part)]
    return title if len(kept) == len(parts) else _compose(kept, rules)


def _improve(current: str, said: Sequence[Phrases], rules: TitleRules) -> str:
    """Return a better title that shares a phrase with the present one, else the present one."""
    held = find_terms(current)
    if len(held) < _WEAK_TERMS and len(said) <= _EARLY_TURNS:
        title = _compose(_pick(_count(said), ()), rules)
        terms = find_terms(title)
        return title if held & terms and len(terms) > len(held) else current
    if not _comes_back(said):
        return current
    for phrase in _pick(_count(said), held):
        if len(phrase.turns) >= _TAKEOVER_TURNS and phrase.score >= 2 * _TAKEOVER_TURNS:
            kept = [_Phrase(part, at - MAX_PHRASES) for at, part in enumerate(rules.split(current)[: MAX_PHRASES - 1])]
            return _compose([*kept[:1], phrase, *kept[1:]], rules)
    return current


def _comes_back(said: Sequence[Phrases]) -> bool:
    """Say whether some phrase occurs in as many texts as it needs to take over: in most conversations none does."""
    heard: dict[frozenset[str], int] = {}
    for phrases in said:
        for terms in {terms for _, _, terms in phrases.mentions}:
            times = heard[terms] = heard.get(terms, 0) + 1
            if times >= _TAKEOVER_TURNS:
                return True
    return False


def _count(said: Sequence[Phrases]) -> list[_Phrase]:
    """Return the phrases of the user's texts with their scores, best first."""
    found: dict[frozenset[str], _Phrase] = {}
    words: dict[str, int] = {}  # in how many texts each term is heard
    names = frozenset().union(*(phrases.names for phrases in said))
    place = 0
    for number, phrases in enumerate(said):
        heard: set[str] = set()
        for phrase, weight, terms in phrases.mentions:
            if names and not names.isdisjoint(phrase.split()):
                continue
            heard |= terms
            place += 1
            entry = found.get(terms)
            if entry is None:
                entry = found[terms] = _Phrase(phrase, place)
            entry.turns.add(number)
            entry.score += weight
        for term in heard:
            words[term] = words.get(term, 0) + 1
    for terms, entry in found.items():
        entry.score += 0.5 * sum(words[term] - 1 for term in terms) / max(1, len(terms))
    return sorted(found.values(), key=lambda phrase: (-phrase.score, phrase.first))


def read_phrases(text: str, language: str) -> Phrases:
    """Return what a text of the user's may name as a topic, in a conversation of a language."""
    return _read_phrases(text[:_MAX_CHARS_READ], pick_language(language))


@lru_cache(maxsize=256)
def _read_phrases(text: str, lang: str) -> Phrases:
    rules = load_title_rules(lang)
    text = _REDACTED.sub(" ", text)
    names = {name for match in rules.vocative.finditer(text) for name in match.groups() if name}
    mentions: list[tuple[str, float, frozenset[str]]] = []
    for clause, sentence in _spoken(text, rules, lang):
        phrases = _phrases(clause.text, rules)
        weighty = _topic_text(sentence, rules) if phrases else ""
        for phrase in phrases:
            terms = find_terms(phrase) or frozenset({fold(phrase)})
            mentions.append((phrase, _weight(phrase, weighty, rules), terms))
    return Phrases(mentions=tuple(mentions), names=frozenset(names))


def _spoken(text: str, rules: TitleRules, lang: str) -> Iterable[tuple[Clause, str]]:
    """Yield the clauses that may name a topic, each with its folded sentence."""
    for clause in read_clauses(text):
        if clause.language == lang and not rules.skip.search(folded := fold(clause.sentence)):
            yield clause, folded


def _topic_text(sentence: str, rules: TitleRules) -> str:
    """Return the part of a sentence that a request or a liking names."""
    return " ".join(match["x"] for pattern in rules.topics for match in pattern.finditer(sentence))


def _weight(phrase: str, weighty: str, rules: TitleRules) -> float:
    weight = 1.0
    folded = fold(phrase) if weighty else ""
    if weighty and folded in weighty:
        weight += _TOPIC_BONUS
    if phrase[0].isascii() and (phrase[0].isupper() or phrase[0].isdigit()):
        weight += 0.5
    if weighty and f"from {folded}" in weighty:
        weight -= 1.0  # where something leads is the topic, not where it comes from
    return weight + (0.25 * min(2, len(phrase.split()) - 1) if not rules.spaceless else 0.1 * min(4, len(phrase) - 2))


def _phrases(text: str, rules: TitleRules) -> list[str]:
    return _cjk_phrases(text, rules) if rules.spaceless else _word_phrases(text, rules)


def _word_phrases(text: str, rules: TitleRules) -> list[str]:
    """Return the runs of content words, at most four words each."""
    phrases: list[str] = []
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0]
        gap = text[end : match.start()]
        if run and gap.strip():
            phrases += _close_run(run, rules)
            run = []
        end = match.end()
        links, content = _read_word(word, rules.language)
        if content or (run and links):
            run.append(word)
        else:
            phrases += _close_run(run, rules)
            run = []
    return phrases + _close_run(run, rules)


@lru_cache(maxsize=KNOWN_WORDS)
def _read_word(word: str, lang: str) -> tuple[bool, bool]:
    """Say of a word whether it links others in a phrase, and whether it carries content."""
    rules, plain = load_title_rules(lang), fold(word)
    return plain in rules.links, _is_content(plain, word, rules)


def _is_content(plain: str, word: str, rules: TitleRules) -> bool:
    if plain in rules.stop or plain.split("'")[0] in rules.stop or (plain.endswith("ly") and len(plain) > 4):
        return False
    return len(word) > 2 or word.isupper() or (word.isdigit() and len(word) <= 4)


def _close_run(run: list[str], rules: TitleRules) -> list[str]:
    while run and (fold(run[-1]) in rules.links or (run[-1].endswith("ed") and len(run[-1]) > 4 and len(run) > 1)):
        run = run[:-1]
    if not run or len(run) > 4 or run[0][0].isdigit():
        return []
    return [" ".join(run)]


def _cjk_phrases(text: str, rules: TitleRules) -> list[str]:
    """Return the runs of ideographs between function words, two to eight characters each."""
    phrases: list[str] = []
    for run in _CJK_RUN.findall(text):
        if not has_cjk(run):
            if len(run) > 1 and run.lower() not in {"ai", "cool"}:
                phrases.append(run)
            continue
        for piece in _split_at(run, rules.breaks, rules.keep):
            piece = _shave(piece, rules)
            if 2 <= len(piece) <= 8:
                phrases.append(piece)
    return phrases


def _split_at(run: str, breaks: tuple[str, ...], keep: tuple[str, ...]) -> list[str]:
    pattern = _break_pattern(breaks, keep)
    pieces: list[str] = []
    start = 0
    for match in pattern.finditer(run):
        if match["keep"]:
            continue
        pieces.append(run[start : match.start()])
        start = match.end()
    return [*pieces, run[start:]]


@cache
def _break_pattern(breaks: tuple[str, ...], keep: tuple[str, ...]) -> re.Pattern[str]:
    kept = "|".join(sorted(map(re.escape, keep), key=len, reverse=True)) or "(?!)"
    return re.compile(f"(?P<keep>{kept})|(?:{'|'.join(map(re.escape, breaks))})")


def _shave(piece: str, rules: TitleRules) -> str:
    """Return a run without the function characters at its ends, unless a word of its own begins there."""
    while piece and piece[0] in rules.edges and not piece.startswith(rules.keep):
        piece = piece[1:]
    while piece and piece[-1] in rules.edges and not piece.endswith(rules.keep):
        piece = piece[:-1]
    return piece


def _pick(phrases: list[_Phrase], held: Iterable[str]) -> list[_Phrase]:
    """Return the best phrases that do not overlap each other or what is held."""
    picked: list[_Phrase] = []
    used = set(held)
    for phrase in phrases:
        terms = find_terms(phrase.text) or {fold(phrase.text)}
        if phrase.score < _LEAST_SCORE or (picked and phrase.score < 0.5 * picked[0].score):
            break
        if not used & set(terms):
            picked.append(phrase)
            used |= set(terms)
        if len(picked) == MAX_PHRASES:
            break
    return picked


def _compose(picked: list[_Phrase], rules: TitleRules) -> str:
    """Return the phrases as one line, in the order they came up, within the limits of a title."""
    kept: list[_Phrase] = []
    room = MAX_CJK_CHARS if rules.spaceless else MAX_WORDS
    for phrase in picked:
        size = len(phrase.text) if rules.spaceless else len(phrase.text.split())
        if size <= room:
            kept.append(phrase)
            room -= size
    names = [phrase.text for phrase in sorted(kept, key=lambda phrase: phrase.first)]
    if not names:
        return ""
    last = names.pop()
    title = rules.comma.join(names) + rules.joins + last if names else last
    first = re.match(r"\w*", title)
    named = first is not None and first[0][1:] != first[0][1:].lower()  # iPhone, eBay: in a spelling of its own
    return title if named else title[:1].upper() + title[1:]
