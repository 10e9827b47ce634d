"""Sentences that a weak model may choose from: the user's own, split, cleaned and numbered by code.

Pure. A candidate says something by itself, asks nothing, and is not in memory yet. Facts about the user
come from the user's words only, so replies give none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.model import Section, TurnId
from core.redaction import redact
from core.text.anchors import content_terms, find_anchors, is_covered
from core.text.evidence import is_degenerate
from core.text.items import extract_items
from core.text.keys import KeyIndex, is_resolved
from core.text.linear import as_probability
from core.text.polarity import polarity
from core.text.sentences import split_sentences
from core.text.statements import StatementKind, find_statements
from core.text.terms import count_present
from core.working_memory.document import parse_document
from core.working_memory.heuristic_terms import find_terms, share
from core.working_memory.material import Material
from core.working_memory.saliency import rate_sentences

Rank = Callable[[Sequence[str]], Sequence[float]]
"""Scores sentences by how much they are worth keeping; higher is better, any scale."""

_LEAST_CHARS, _MOST_CHARS = 6, 320
_SAME = 0.6  # of a noticed line's terms that the sentence holds which it comes from
_STATED = {StatementKind.DECISION: 3.0, StatementKind.COMMITMENT: 3.0, StatementKind.FACT: 2.0}
_STATED_ELSE = 1.5  # preferences
# On top, up to this much: AUC with the three parts 0.75 (en), 0.72 (zh) on the sentences of the memory exam, with
# vectors 0.77 and 0.77, and without 0.78 on LoCoMo's turns; anchors alone 0.73, 0.70 and 0.65.
_SALIENCY = 1.5
_ANSWERS_SHARE = 0.25  # of an issue's content terms that a sentence must name to be asked about


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence of the user's in the archived turns."""

    number: int
    text: str
    turn: TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIssue:
    """An open issue with the later sentences that may settle it, the likeliest first."""

    text: str
    said: tuple[Candidate, ...]


def find_candidates(material: Material) -> tuple[Candidate, ...]:
    """Return the sentences that could be kept and are not yet, in order."""
    bodies = parse_document(material.document).bodies
    held = [item for s, body in bodies.items() if s is not Section.ISSUES for item in extract_items(body)]
    known = KeyIndex([*held, *(line.text for lines in material.parked.values() for line in lines)])
    found: list[Candidate] = []
    for candidate in _users_sentences(material):
        text = candidate.text
        if not _says_something(text) or known.holds(text) or is_covered(text, held):
            continue
        if any(is_said_by(proposal.text, text) for proposal in material.proposals if candidate.turn in proposal.turns):
            continue
        known.add(text)
        found.append(Candidate(number=len(found) + 1, text=text, turn=candidate.turn))
    return tuple(found)


def find_open_issues(material: Material) -> tuple[OpenIssue, ...]:
    """Return the document's open issues that sentences of the archived turns speak of."""
    body = parse_document(material.document).bodies[Section.ISSUES]
    marked = {proposal.replaces for proposal in material.proposals if proposal.replaces is not None}
    sentences = [candidate for candidate in _users_sentences(material) if not candidate.text.endswith(("?", "？"))]
    found: list[OpenIssue] = []
    for issue in extract_items(body):
        if is_resolved(issue) or issue in marked:
            continue
        terms = content_terms(issue)
        scored = [(count_present(terms, content_terms(s.text)), s) for s in sentences]
        near = [pair for pair in scored if pair[0] and pair[0] >= _ANSWERS_SHARE * len(terms)]
        near.sort(key=lambda pair: (-pair[0], -pair[1].number))
        if near:
            found.append(OpenIssue(text=issue, said=tuple(sentence for _, sentence in near)))
    return tuple(found)


def rank_plainly(sentences: Sequence[str]) -> tuple[float, ...]:
    """Score sentences by what they hang on: names, numbers, dates, duties, and a little by length."""
    scores = []
    for text in sentences:
        score = 0.7 * min(len(find_anchors(text).hard), 4) + 0.1 * min(len(content_terms(text)), 10)
        scores.append(score + 0.5 * polarity(text).obligation)
    return tuple(scores)


def rank_by_worth(
    sentences: Sequence[str], *, vectors: Mapping[str, bytes] | None = None, model: str | None = None
) -> tuple[float, ...]:
    """Score sentences by what they hang on, by what they state, and by how much they read like what people note.

    The parts see different things: the rules lasting facts among moments, the scorer personal news among small talk.
    `vectors` are those that are known, by text, of the embedding model with the signature `model`.
    """
    odds = rate_sentences(sentences, vectors=vectors, model=model)
    rows = zip(sentences, rank_plainly(sentences), odds, strict=True)
    return tuple(plain + _stated(text) + _SALIENCY * as_probability(odd) for text, plain, odd in rows)


def _stated(text: str) -> float:
    """What the weightiest statement in a sentence adds."""
    return max((_STATED.get(each.kind, _STATED_ELSE) for each in find_statements(text)), default=0.0)


def is_said_by(line: str, sentence: str) -> bool:
    """Say whether a noticed line comes from a sentence."""
    return share(find_terms(line), find_terms(sentence)) >= _SAME


def _users_sentences(material: Material) -> list[Candidate]:
    found: list[Candidate] = []
    for message in material.messages:
        if message.role == "user":
            for sentence in split_sentences(redact(message.text)):
                text = " ".join(sentence.split())
                found.append(Candidate(number=len(found) + 1, text=text, turn=message.turn))
    return found


def _says_something(text: str) -> bool:
    if not _LEAST_CHARS <= len(text) <= _MOST_CHARS or text.endswith(("?", "？", ":", "：")):
        return False
    return bool(content_terms(text)) and not is_degenerate(text)
