"""What is offered to a message from other conversations: turns by words, recaps by meaning, read from the store.

Functions over one connection; `core.retrieval.recall` decides among what comes back.
"""

from dataclasses import dataclass

from core.model import RecalledItem, Role, SessionId
from core.retrieval.block import FRAME_CHARS, Quote, render_block, render_quote
from core.retrieval.lexical import build_recall_query
from core.retrieval.recall import Limits, Picked, RecapOffer, TurnOffer, select
from core.retrieval.search import Asked, find_by_words
from core.retrieval.vector import load_space
from core.storage import search, vectors
from core.storage.database import Connection
from core.storage.search import Filters

DAY_S = 86_400.0
OFFERED_TURNS = 30
# Least share of a question's weight that a turn holds to be recalled unasked: stricter than a search that was asked for
RECALL_FLOOR = 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Offers and how each would be quoted."""

    turns: tuple[TurnOffer, ...]
    recaps: tuple[RecapOffer, ...]
    quotes: dict[int | str, tuple[Quote, SessionId]]
    gate: float | None  # of the model the recaps were compared with


def gather(
    c: Connection,
    text: str,
    asked: Asked | None,
    *,
    session_id: SessionId,
    now: float,
    max_age_days: float,
    language: str,
) -> Gathered:
    """Return what other conversations offer to a message; `now` in s."""
    since = now - max_age_days * DAY_S
    quotes: dict[int | str, tuple[Quote, SessionId]] = {}
    turns, recaps = [], []
    for message in _find_turns(c, text, session_id, since):
        kind = "user" if message.role is Role.USER else "assistant"
        quote = Quote(kind=kind, title=message.title, at=message.ts, text=message.content)
        quotes[message.turn] = (quote, message.session_id)
        turns.append(
            TurnOffer(
                id=message.turn,
                session=message.session_id,
                age_days=(now - message.ts) / DAY_S,
                chars=_measure(quote, language),
            )
        )
    found, gate = _gather_recaps(c, asked, session_id, since)
    for recap in found:
        quote = Quote(kind="recap", title=recap.title, at=recap.ended_at, text=recap.text)
        quotes[recap.segment_id] = (quote, recap.session_id)
        recaps.append(
            RecapOffer(
                id=recap.segment_id,
                session=recap.session_id,
                first_turn=recap.first_turn,
                last_turn=recap.last_turn,
                cosine=recap.cosine,
                age_days=(now - recap.ended_at) / DAY_S,
                chars=_measure(quote, language),
            )
        )
    return Gathered(turns=tuple(turns), recaps=tuple(recaps), quotes=quotes, gate=gate)


def _measure(quote: Quote, language: str) -> int:
    return len(render_quote(quote, language)) + 1


def _find_turns(c: Connection, text: str, session_id: SessionId, since: float) -> tuple[search.Message, ...]:
    """One message of each turn that answers, in keyword order: the user's own words where they answer too."""
    query = build_recall_query(text, lambda terms: search.count_terms(c, terms))
    filters = Filters(not_session_id=session_id, since=since)
    found = find_by_words(c, query, filters, floor=RECALL_FLOOR)
    best: dict[int, search.Message] = {}
    for message in search.load_messages(c, list(found)[:OFFERED_TURNS]):
        if message.turn not in best or message.role is Role.USER:
            best[message.turn] = message  # a turn keeps its place
    return tuple(best.values())


def _gather_recaps(
    c: Connection, asked: Asked | None, session_id: SessionId, since: float
) -> tuple[tuple[vectors.RecapFound, ...], float | None]:
    model = vectors.get_searchable(c)
    if model is None or asked is None or model.name != asked.signature:
        return (), None
    space = load_space(model.name, len(asked.vector) // 4)
    found = vectors.compare_recaps(
        c,
        model.id,
        centred=space.centre(asked.vector),
        mean=space.mean,
        not_session_id=session_id,
        since=since,
    )
    return found, space.gate


def compose(
    gathered: Gathered, preferences: tuple[RecalledItem, ...], *, session_id: SessionId, limits: Limits, language: str
) -> tuple[str, tuple[RecalledItem, ...]]:
    """Return the block, "" for nothing, and everything that was considered, preferences first."""
    picked = select(session_id, gathered.turns, gathered.recaps, limits)
    considered = tuple(_describe(entry, gathered) for entry in picked)
    used = [_quote(item) for item in preferences if item.used]
    used += [gathered.quotes[entry.offer.id][0] for entry in picked if entry.taken]
    return render_block(used, language), (*preferences, *considered)


def leave_room(budget_chars: int, preferences: tuple[RecalledItem, ...], language: str) -> int:
    """Return the characters that are left for what is recalled, beside the block's frame and the preferences."""
    taken = sum(_measure(_quote(item), language) for item in preferences if item.used)
    return max(0, budget_chars - FRAME_CHARS - taken)


def _quote(preference: RecalledItem) -> Quote:
    return Quote(kind="preference", title="", at=preference.at, text=preference.text)


def _describe(entry: Picked, gathered: Gathered) -> RecalledItem:
    quote, session_id = gathered.quotes[entry.offer.id]
    is_recap = isinstance(entry.offer, RecapOffer)
    return RecalledItem(
        kind="recap" if is_recap else "turn",
        ref=str(entry.offer.id),
        session_id=session_id,
        title=quote.title,
        at=quote.at,
        text=quote.text,
        score=entry.score,
        cosine=entry.offer.cosine if isinstance(entry.offer, RecapOffer) else None,
        used=entry.taken,
    )
