"""May a line that a model wrote become memory, and which turns does it rest on.

Pure; working-memory rule 13. A line passes if its names, numbers, dates and paths occur in what was
said or is remembered, if it is no loop or echo, and if the statement nearest to it does not say the
opposite: all its words may be there and a "not" too much. What it says about the user needs the
user's own words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from core.model import Section, TurnId
from core.text.anchors import Anchor, Prepared, content_terms, find_anchors, is_present, polarity, prepare
from core.text.evidence import check_evidence, is_degenerate, is_placeholder
from core.text.items import extract_items
from core.text.keys import KeyIndex, item_key, normalise
from core.text.polarity import Polarity
from core.text.sentences import split_sentences
from core.text.terms import count_present, split_at_commas
from core.text.wordlists import fold, words
from core.working_memory.document import parse_document
from core.working_memory.marks import CARRIED, RESTORED, strip_tag
from core.working_memory.material import Material
from core.working_memory.quotes import neutralise

_NEAR = 0.6  # of a line's content terms: as near as a rewording is (rule 6.7)
_NEARLY_EQUAL = 0.8  # of the words of two statements together
_ABOUT_USER = re.compile(r"^\W*(?:the\s+)?user\b|\buser's\b|用户|使用者|ユーザー|사용자", re.IGNORECASE)
_MOST_TURNS = 3  # named as evidence of one line
_LEAST_OWN = 0.5  # of the content terms of a statement about the user that the user used
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_MARK = re.compile(r"^\s*(?:\[[^\[\]\n]{1,20}\]\s*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a line may enter; `reason` says in words why not, `turns` what it rests on."""

    passes: bool
    reason: str = ""
    turns: tuple[TurnId, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unit:
    """One sentence or item that a line may be compared with."""

    text: str
    terms: frozenset[str]
    words: frozenset[str]  # the small ones too, so that of two near statements the nearer is found


class Sources:
    """What the lines of an update may rest on: archived turns, old document, parked list."""

    def __init__(self, material: Material, *, prompt_lines: Iterable[str] = ()) -> None:
        self._material = material
        self._turns: dict[TurnId, str] = {}
        for message in material.messages:
            said, text = self._turns.get(message.turn), _drop_orders(message.text)
            self._turns[message.turn] = f"{said}\n{text}" if said else text
        self._prompt = KeyIndex(line for line in prompt_lines if item_key(line))

    def check(self, line: str, section: Section) -> Verdict:
        """Judge one line."""
        text = _MARK.sub("", strip_tag(line, RESTORED, CARRIED)) or line
        if is_degenerate(text, section) or is_placeholder(text, section):
            return Verdict(passes=False, reason="It says nothing or repeats itself.")
        if self._prompt.holds(text):
            return Verdict(passes=False, reason="It repeats the instructions.")
        if self._known.holds(text):
            return Verdict(passes=True, turns=self.find_turns(text))
        evidence = check_evidence(text, self._texts)
        if not evidence.supported:
            missing = ", ".join(evidence.missing[:3])
            return Verdict(passes=False, reason=f"Nobody said this here: {missing}.")
        if not self._is_the_users(text):
            return Verdict(passes=False, reason="It is about you, but you did not say it.")
        if opposed := self._find_opposite(text):
            return Verdict(passes=False, reason=f"It says the opposite of: {opposed[:120]}")
        return Verdict(passes=True, turns=self.find_turns(text))

    def find_turns(self, line: str) -> tuple[TurnId, ...]:
        """Return the turns that say most of a line, ascending; those of a known line nearest to it if none does."""
        hard, terms = find_anchors(line).hard, content_terms(line)
        scores = {turn: _score(hard, terms, text) for turn, text in self._turns.items()}
        best = max(scores.values(), default=0.0)
        if best >= _LEAST_OWN:
            return tuple(sorted(turn for turn, score in scores.items() if score >= best - 0.01))[:_MOST_TURNS]
        known = [
            (_score(hard, terms, old.text), old.turns)
            for lines in self._material.lines.values()
            for old in lines
            if old.turns
        ]
        score, turns = max(known, default=(0.0, ()))
        if score >= max(best, _LEAST_OWN):
            return turns
        if best > 0:
            return tuple(sorted(turn for turn, score in scores.items() if score >= best - 0.01))[:_MOST_TURNS]
        return turns or tuple(sorted(self._turns)[-_MOST_TURNS:])  # a summary rests on what it was written from

    @cached_property
    def _texts(self) -> list[Prepared]:
        return [prepare(text) for text in (*self._turns.values(), *self._remembered)]

    @cached_property
    def _remembered(self) -> list[str]:
        document = parse_document(self._material.document)
        parts = [*document.bodies.values(), document.preamble, *(extra.body for extra in document.extra)]
        waiting = [line.text for lines in self._material.parked.values() for line in lines]
        return [text for text in (*parts, *waiting) if text]

    @cached_property
    def _known(self) -> KeyIndex:
        """Lines that are there already, as they are."""
        items = [item for text in self._remembered for item in extract_items(text)]
        return KeyIndex([*items, *(proposal.text for proposal in self._material.proposals)])

    @cached_property
    def _units(self) -> list[_Unit]:
        """Everything that was said or is remembered, a statement each, newest last."""
        said = [sentence for text in self._turns.values() for sentence in split_sentences(text)]
        held = [item for text in self._remembered for item in extract_items(text)]
        return [_Unit(text, _plain_terms(text), _words(text)) for text in (*held, *said)]

    @cached_property
    def _users_texts(self) -> list[Prepared]:
        """The user's own words, and memory."""
        own = [message.text for message in self._material.messages if message.role == "user"]
        return [prepare(text) for text in (*own, *self._material.user_texts, *self._remembered)]

    @cached_property
    def _users_terms(self) -> frozenset[str]:
        return content_terms("\n".join(text.text for text in self._users_texts))

    def _is_the_users(self, text: str) -> bool:
        """Whether a statement about the user stands in the user's words or in memory; others always may."""
        about = _ABOUT_USER.search(text)
        if about is None:
            return True
        if not check_evidence(text, self._users_texts).supported:
            return False
        terms = content_terms(_ABOUT_USER.sub(" ", text))
        return count_present(terms, self._users_terms) >= _LEAST_OWN * len(terms)

    def _find_opposite(self, text: str) -> str:
        """Return the statement nearest to a line if it and all others as near deny what the line says; else ""."""
        terms, own = _plain_terms(text), _words(text)
        if terms:
            near = [unit for unit in self._units if count_present(terms, unit.terms) >= _NEAR * len(terms)]
        else:  # "will do": small words are all there is
            near = [unit for unit in self._units if len(own & unit.words) >= _NEAR * len(own | unit.words)]
        if not near:
            return ""
        likeness = [len(own & unit.words) / len(own | unit.words) for unit in near]
        nearest = [unit for unit, like in zip(near, likeness, strict=True) if like == max(likeness)]
        if max(likeness) >= _NEARLY_EQUAL:  # the same words: compared whole
            agree = any(_agree(polarity(text), polarity(unit.text)) for unit in nearest)
        else:
            ours = _polarity_about(terms, text)
            agree = any(_agree(ours, _polarity_about(terms, unit.text)) for unit in nearest)
        if agree:
            return ""
        return nearest[-1].text


def _drop_orders(text: str) -> str:
    """A message without the lines that speak as another role or in the prompt's own marks: nobody said them."""
    return text if neutralise(text) == text else "\n".join(x for x in text.split("\n") if neutralise(x) == x)


def _score(hard: Sequence[Anchor], terms: frozenset[str], text: str) -> float:
    """How much of a line a text says, 0..1: its anchors and its content terms weigh the same."""
    target = prepare(text)
    shares = []
    if hard:
        shares.append(sum(is_present(anchor, target) for anchor in hard) / len(hard))
    if terms:
        shares.append(count_present(terms, content_terms(text)) / len(terms))
    return sum(shares) / len(shares) if shares else 0.0


def _plain_terms(text: str) -> frozenset[str]:
    """The content terms of a statement without words of negation and the sides of opposites."""
    plain = text if text.isascii() else _cjk_negations().sub("", text)
    return frozenset(term for term in content_terms(plain) if term not in _polar_stems())


@cache
def _cjk_negations() -> re.Pattern[str]:
    """Negations of scripts without blanks: they part the pairs of characters that would be compared."""
    listed = sorted((word for word in words("negation") if _WORD.match(word) and word[0] > "\u3000"), key=len)
    return re.compile("|".join(map(re.escape, reversed(listed))))


@cache
def _polar_stems() -> frozenset[str]:
    return content_terms(" ".join(words("negation")))


def _words(text: str) -> frozenset[str]:
    """All words of a text, and the characters of scripts without blanks; those of negation left out."""
    folded = fold(text)
    found = _WORD.findall(folded)
    return frozenset(word for word in found if word not in words("negation")) or frozenset((folded,))


def _polarity_about(terms: frozenset[str], text: str) -> Polarity:
    """What the clauses of a statement that share terms with a line deny and demand."""
    clauses = [clause for clause in split_at_commas(text) if count_present(terms, _plain_terms(clause))]
    found = [polarity(clause) for clause in clauses or [text]]
    return Polarity(
        negations=sum(clause.negations for clause in found),
        obligation=any(clause.obligation for clause in found),
        sides=frozenset[tuple[int, int]]().union(*(clause.sides for clause in found)),
    )


def _agree(ours: Polarity, theirs: Polarity) -> bool:
    """Whether two statements on one thing deny as often (two negations lift each other) and name no opposites."""
    return ours.negations % 2 == theirs.negations % 2 and not ours.opposes(theirs) and not theirs.opposes(ours)


def static_lines(parts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lines of a prompt's own text, which no memory may repeat."""
    return tuple(
        line.strip() for text in parts.values() for line in text.split("\n") if len(normalise(line)) > len("$lines")
    )
