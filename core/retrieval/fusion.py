"""Joining what words found with what meaning found.

Pure. A search adds scores, words weighing more than meaning (spec/retrieval.md 3.2); the recall block adds ranks
(`core.retrieval.recall`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEXICAL_WEIGHT = 0.5  # on LoCoMo the same from 0.4 to 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something found, with what each way of searching said; None: not found by it."""

    id: int
    score: float
    lexical: float | None  # share of the query's weight, about 0..1
    cosine: float | None  # around the model's mean


def fuse(
    lexical: Mapping[int, float], cosines: Mapping[int, float], *, weight: float = LEXICAL_WEIGHT
) -> tuple[Candidate, ...]:
    """Return all that was found by weighted score, best first; each way's scores are spread over 0..1."""
    words, meaning = _spread(lexical), _spread(cosines)
    found = [
        Candidate(
            id=i,
            score=weight * words.get(i, 0.0) + (1 - weight) * meaning.get(i, 0.0),
            lexical=lexical.get(i),
            cosine=cosines.get(i),
        )
        for i in dict.fromkeys((*lexical, *cosines))
    ]
    return tuple(sorted(found, key=lambda candidate: -candidate.score))


def rank_scores(ids: Sequence[int | str], *, k: int = 10) -> dict[int | str, float]:
    """Return 1 / (k + rank) for a list, best first; ranks start at 1."""
    return {item: 1 / (k + rank) for rank, item in enumerate(ids, 1)}


def _spread(scores: Mapping[int, float]) -> dict[int, float]:
    """Scores between the least and the best, as 0..1; one alone is 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    width = high - low
    return {i: (score - low) / width if width > 0 else 1.0 for i, score in scores.items()}
