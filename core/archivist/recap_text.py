"""What a segment says, without a model: its best sentences, its keywords, the text of a short one.

Pure but for the rule files. Sentences are taken as they were said, so that nothing in them can be invented.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.archivist.markers import hide_quoted, is_acknowledgement
from core.archivist.recap import RecapBudget, plan_budget, write_bookend
from core.archivist.tree import TreeMessage, prepare_input
from core.archivist.words import all_phrases, find_terms, fold, is_cjk, split_words, stop_words
from core.model import Role
from core.text.linear import as_probability
from core.text.sentences import split_sentences
from core.text.statements import StatementKind, find_statements
from core.text.tokens import estimate_tokens, truncate_tokens
from core.working_memory.saliency import rate_sentences

MAX_SENTENCES = 3  # below a bookend
MAX_CANDIDATES = 9  # put before a model, one digit each
MAX_CHARACTERS = 240  # of a sentence; a longer one is a list or pasted
MAX_READ_TOKENS = 1_500  # of one message: past it is pasted material
KEYWORDS = 8
_WORTH = {StatementKind.DECISION: 3.0, StatementKind.COMMITMENT: 3.0, StatementKind.FACT: 2.0}
_STATED = 1.5  # preferences
_ANCHORED = 0.6  # a name, number or date, at most three
_REPLY = 0.5  # a reply's sentence against one of the user's
_OPENING = 1.5  # the first thing the user wants
_SALIENCY = 0.25  # a sentence of the user's that reads like what people note (0.77 -> 0.80 AUC on LoCoMo's turns)
_OWN, _ADDRESS = 0.5, 0.4  # about whoever says it; to the other's address
_LEAST_TERMS = 3
_GREETING_WORDS = 4  # "Good morning, my friend."
_ANCHOR = re.compile(r"\d[\d.,:/-]*|(?<=[^\W\d_] )[A-Z]\w+|\b\w+[A-Z]\w*|[《「“][^》」”]+[》」”]")
_MARKUP = re.compile(r"\*\*|__|`|^#+\s*")
_SHARED = 0.6  # of its terms: a sentence that says so much of another again adds nothing


Rank = Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A segment made ready to be summed up."""

    messages: tuple[TreeMessage, ...]  # cleaned, in order
    turn_count: int
    tokens: int  # estimate of the messages
    budget: RecapBudget
    candidates: tuple[str, ...]  # sentences in order of time
    worth: tuple[float, ...]  # of each candidate
    keywords: str

    @property
    def source(self) -> str:
        """All that a recap may rest on."""
        return "\n".join(message.text for message in self.messages)

    @property
    def verbatim(self) -> str:
        """The turns as their own recap, a line a message."""
        return "\n".join(" ".join(message.text.split()) for message in self.messages)

    @property
    def placeholder(self) -> str:
        """The bookend, then the best sentences, a line each."""
        if not self.messages:
            return ""
        best = pick(self.candidates, self.worth, MAX_SENTENCES)
        return write_bookend(self.messages[0].text, self.messages[-1].text, self.turn_count, best)


def prepare_material(messages: Sequence[TreeMessage], *, rank: Rank = rate_sentences) -> Material:
    """Clean the messages of a segment and rank what they say; `rank` gives log-odds that a sentence is worth noting."""
    cleaned = prepare_input(messages)
    tokens = sum(estimate_tokens(message.text) for message in cleaned)
    ranked = _rank(cleaned, rank)
    return Material(
        messages=cleaned,
        turn_count=len({message.turn for message in messages}),
        tokens=tokens,
        budget=plan_budget(tokens),
        candidates=tuple(sentence for sentence, _ in ranked),
        worth=tuple(worth for _, worth in ranked),
        keywords=_find_keywords(cleaned),
    )


def pick(sentences: Sequence[str], worth: Sequence[float], most: int, *, max_tokens: int = 0) -> tuple[str, ...]:
    """Return the best sentences in order, within `max_tokens` if given; those that repeat another are passed over."""
    taken: list[int] = []
    used = 0
    for index in sorted(range(len(sentences)), key=lambda i: (-worth[i], i)):
        cost = estimate_tokens(sentences[index])
        if len(taken) == most or (max_tokens and taken and used + cost > max_tokens):
            break
        if not any(_repeats(sentences[index], sentences[other]) for other in taken):
            taken.append(index)
            used += cost
    return tuple(sentences[index] for index in sorted(taken))


def _rank(messages: Sequence[TreeMessage], rank: Rank) -> list[tuple[str, float]]:
    """Return the candidates in order of time, each with its worth."""
    found: list[tuple[str, float]] = []
    for message in messages:
        text = hide_quoted(truncate_tokens(message.text, MAX_READ_TOKENS), "…", quotes=False)
        opening = not found and message.role is Role.USER
        for sentence in _sentences(text):
            worth = weigh(sentence, message.role, rank)
            if worth > 0:
                found.append((sentence, worth + (_OPENING if opening else 0.0)))
                opening = False
    if len(found) <= MAX_CANDIDATES:
        return found
    least = sorted((worth for _, worth in found), reverse=True)[MAX_CANDIDATES - 1]
    return [each for each in found if each[1] >= least][:MAX_CANDIDATES]


def _sentences(text: str) -> Iterator[str]:
    for sentence in split_sentences(text):
        plain = " ".join(_MARKUP.sub("", sentence).split())
        if 2 < len(plain) <= MAX_CHARACTERS and "…" not in plain and not is_acknowledgement(plain):
            yield plain


def tells_something(sentence: str) -> bool:
    """Whether a sentence says enough to stand in a summary: no greeting, no exclamation."""
    if sentence.endswith((":", "：")) or len(find_terms([sentence])) < _LEAST_TERMS:
        return False
    words = sentence.split()
    return len(words) > _GREETING_WORDS or len(words) == 1 or not is_acknowledgement(words[0])


def weigh(sentence: str, role: Role, rank: Rank) -> float:
    """Return what a sentence is worth in a summary: by its form, and if it is the user's by how it reads."""
    worth = weigh_by_rules(sentence, role)
    if worth <= 0 or role is not Role.USER:
        return worth
    return worth + _SALIENCY * as_probability(rank([sentence])[0])


def weigh_by_rules(sentence: str, role: Role) -> float:
    """Return what a sentence is worth in a summary by its form; 0 for what has no place in one."""
    if not tells_something(sentence):
        return 0.0
    worth = 0.5 + _ANCHORED * min(3, len(_ANCHOR.findall(sentence)))
    folded = fold(sentence)
    own = _holds(folded, "own")
    if own:  # what a reply says of itself is seldom what came of it
        worth = worth + _OWN if role is Role.USER else worth * _ADDRESS
    if _holds(folded, "address"):
        worth *= _ADDRESS
    if sentence.endswith(("?", "？")):
        return worth * (0.8 if role is Role.USER else 0.1)
    if role is not Role.USER:
        return worth * _REPLY
    stated = find_statements(sentence) if own else ()
    return worth + max((_WORTH.get(each.kind, _STATED) for each in stated), default=0.3)


def _holds(folded: str, key: str) -> bool:
    """Whether a sentence holds one of the words of a list: whole words, or characters where no blanks part them."""
    listed = all_phrases("stopwords", key)
    if folded.isascii():
        return not listed.isdisjoint(split_words(folded))
    return any(phrase in folded if is_cjk(phrase) else phrase in folded.split() for phrase in listed)


def _repeats(sentence: str, other: str) -> bool:
    ours, theirs = find_terms([sentence]), find_terms([other])
    mine = ours.words | ours.pairs
    return bool(mine) and len(mine & (theirs.words | theirs.pairs)) >= _SHARED * len(mine)


def _find_keywords(messages: Sequence[TreeMessage]) -> str:
    """Return the words that come most often, blank-separated; a message counts each once."""
    counted: Counter[str] = Counter()
    for message in messages:
        words: set[str] = set()
        for word in split_words(fold(truncate_tokens(message.text, MAX_READ_TOKENS))):
            if is_cjk(word):
                words |= find_terms([word]).pairs
            elif len(word) >= 3 and word not in stop_words() and not word.isdigit():
                words.add(word)
        counted.update(dict.fromkeys(sorted(words), 2 if message.role is Role.USER else 1))
    return " ".join(word for word, _ in counted.most_common(KEYWORDS))
