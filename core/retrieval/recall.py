"""What of earlier conversations is put before a message: recaps by meaning, turns by words, in one list.

Pure. `select` is `stm_select` of archivist.md section 16.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.model import SessionId
from core.retrieval.fusion import rank_scores

MAX_AGE_DAYS = 14.0
GATE = 0.65
MAX_RECAPS = 5
MAX_TURNS = 5
BUDGET_CHARS = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOffer:
    """A turn that the keywords found; `age_days` is that of what was said."""

    id: int  # the turn's number
    session: SessionId
    age_days: float
    chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapOffer:
    """A recap, the turns it covers (`last_turn` None: the first only) and its nearness to the message."""

    id: int | str
    session: SessionId
    first_turn: int
    last_turn: int | None
    cosine: float
    age_days: float
    chars: int

    def covers(self, turn: TurnOffer) -> bool:
        """Whether a turn lies inside the recap."""
        last = self.first_turn if self.last_turn is None else self.last_turn
        return turn.session == self.session and self.first_turn <= turn.id <= last


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may be recalled, how old and how near it has to be."""

    max_age_days: float = MAX_AGE_DAYS
    gate: float = GATE
    max_recaps: int = MAX_RECAPS
    max_turns: int = MAX_TURNS
    budget_chars: int = BUDGET_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """An offer that was taken, or not for want of room, and its score."""

    offer: TurnOffer | RecapOffer
    score: float
    taken: bool


DEFAULT_LIMITS = Limits()


def select(
    current_session: SessionId,
    turns: Sequence[TurnOffer],
    recaps: Sequence[RecapOffer],
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Picked, ...]:
    """Return the offers in order of their score, each with whether it is recalled.

    `turns` come in keyword order. Age, session and gate are applied before anything is ranked.
    """
    heard = _dedupe([t for t in turns if t.session != current_session and t.age_days <= limits.max_age_days])
    near = [
        recap
        for recap in recaps
        if recap.session != current_session and recap.age_days <= limits.max_age_days and recap.cosine >= limits.gate
    ]
    near.sort(key=lambda recap: -recap.cosine)
    own_scores = list(rank_scores(range(len(near))).values())
    turn_scores: list[tuple[TurnOffer, float]] = []
    for turn, score in zip(heard, rank_scores(range(len(heard))).values(), strict=True):
        covering = next((place for place, recap in enumerate(near) if recap.covers(turn)), None)
        if covering is None:
            turn_scores.append((turn, score))
        else:  # the first of several is the best: they stand in order of cosine
            own_scores[covering] += score
    ranked: list[tuple[TurnOffer | RecapOffer, float]] = [*zip(near, own_scores, strict=True), *turn_scores]
    ranked.sort(key=lambda entry: -entry[1])  # stable: of equals the recap stays first
    return _fill(ranked, limits)


def _dedupe(turns: Sequence[TurnOffer]) -> list[TurnOffer]:
    """Each turn once, at its best place."""
    first: dict[tuple[SessionId, int], TurnOffer] = {}
    for turn in turns:
        first.setdefault((turn.session, turn.id), turn)
    return list(first.values())


def _fill(ranked: Sequence[tuple[TurnOffer | RecapOffer, float]], limits: Limits) -> tuple[Picked, ...]:
    """Take what fits, in order; what does not is skipped, not the end."""
    left = limits.budget_chars
    room = {TurnOffer: limits.max_turns, RecapOffer: limits.max_recaps}
    picked = []
    for offer, score in ranked:
        taken = room[type(offer)] > 0 and offer.chars <= left
        if taken:
            room[type(offer)] -= 1
            left -= offer.chars
        picked.append(Picked(offer=offer, score=score, taken=taken))
    return tuple(picked)
