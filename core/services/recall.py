"""Search over everything said, and what earlier conversations bring to a new one.

A block is made before the first message of a conversation and kept with its turn, so that
the same text stands at the same place of the prompt until memory is next committed. It never becomes part of the
transcript, and so of neither index nor memory.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from core.config import LearningSettings
from core.errors import CoreError
from core.model import Recall, RecalledItem, Role, SearchHit, SessionId, TurnId
from core.redaction import redact
from core.retrieval.gathering import compose, gather, leave_room
from core.retrieval.recall import Limits
from core.retrieval.search import Asked, find_messages, prepare_text
from core.services.ground import Ground
from core.sessions.budget import share_context
from core.storage import conversations, recalls, search, turns
from core.storage.database import Connection
from core.storage.search import Filters
from core.text.language import detect_language
from core.text.tokens import truncate_tokens

log = logging.getLogger(__name__)

EMBED_WITHIN_S = 3.0  # a message does not wait longer for the embedding model; words are searched without it
MAX_QUERY_TOKENS = 500
CHARS_A_TOKEN, CJK_CHARS_A_TOKEN = 4.0, 0.66  # as `core.text.tokens` estimates

# Preferences that fit a message, at most five, with their similarity; the profile brings them
Preferences = Callable[[SessionId, str], Awaitable[tuple[RecalledItem, ...]]]


class RecallService:
    """Finds what was said, and puts it before a message."""

    def __init__(self, ground: Ground, *, preferences: Preferences) -> None:
        self._ground = ground
        self._preferences = preferences

    # -- search --------------------------------------------------------------------------------

    async def search(
        self,
        text: str,
        *,
        session_id: SessionId | None = None,
        role: Role | None = None,
        since: float | None = None,
        limit: int = 20,
    ) -> tuple[SearchHit, ...]:
        """Return the messages that answer a text, best first; () when nothing is near enough. `since` in s.

        Whatever is typed is searched for as text: marks of a query language have no meaning but for "…".
        """
        text = redact(text[:4_000])
        asked = await self._embed(text)
        filters = Filters(session_id=session_id, role=role, since=since)

        def work(c: Connection) -> tuple[SearchHit, ...]:
            found = find_messages(c, text, asked, filters, limit=limit)
            by_id = {candidate.id: candidate for candidate in found}
            return tuple(
                SearchHit(
                    session_id=message.session_id,
                    title=message.title,
                    turn=message.turn,
                    role=message.role,
                    at=message.ts,
                    text=message.content,
                    score=by_id[message.id].score,
                    words=by_id[message.id].lexical is not None,
                    meaning=by_id[message.id].cosine is not None,
                )
                for message in search.load_messages(c, list(by_id))
            )

        return await self._ground.database.read(work)

    # -- recall --------------------------------------------------------------------------------

    def use_preferences(self, preferences: Preferences) -> None:
        """Take what preferences fit a message from here."""
        self._preferences = preferences

    async def load(self, turn: TurnId) -> Recall | None:
        """Return what was recalled for a turn, with what was left out; None where nothing was looked for."""
        return await self._ground.database.read(lambda c: recalls.get(c, turn))

    async def prepare(self, session_id: SessionId) -> None:
        """Recall for the newest message of a conversation if it is the first.

        Failures are logged: an answer never fails for want of a memory.
        """
        try:
            await self._prepare(session_id)
        except CoreError as error:
            log.warning("nothing is recalled: %s", error)

    async def _prepare(self, session_id: SessionId) -> None:
        learning = self._ground.settings.learning
        if not (learning.stm_recall_enabled or learning.explicit_preferences_enabled):
            return
        turn, text, is_first, language = await self._ground.database.read(lambda c: _load_newest(c, session_id))
        if turn is None:
            return
        wanted = learning.stm_recall_enabled and is_first
        text = redact(text)
        preferences = await self._preferences(session_id, text) if learning.explicit_preferences_enabled else ()
        if not wanted and not preferences:
            return
        asked = await self._embed(text) if wanted else None
        now = self._ground.clock()

        def work(c: Connection) -> None:
            block, items = self._recall(
                c, session_id, text, asked, preferences, now=now, language=language, wanted=wanted
            )
            recalls.put(c, Recall(session_id=session_id, turn=turn, at=now, block=block, items=items))

        await self._ground.database.write(work)

    def _recall(
        self,
        c: Connection,
        session_id: SessionId,
        text: str,
        asked: Asked | None,
        preferences: tuple[RecalledItem, ...],
        *,
        now: float,
        language: str,
        wanted: bool,
    ) -> tuple[str, tuple[RecalledItem, ...]]:
        learning = self._ground.settings.learning
        gathered = gather(
            c,
            text if wanted else "",
            asked,
            session_id=session_id,
            now=now,
            max_age_days=learning.stm_max_age_days,
            language=language,
        )
        limits = _read_limits(learning, gathered.gate, self._budget_chars(language))
        limits = replace(limits, budget_chars=leave_room(limits.budget_chars, preferences, language))
        return compose(gathered, preferences, session_id=session_id, limits=limits, language=language)

    def _budget_chars(self, language: str) -> int:
        """The setting, or what a quarter of the messages' share holds in a language's characters."""
        session_tokens = share_context(self._ground.settings.models.context_tokens).session
        a_token = CJK_CHARS_A_TOKEN if language.split("-")[0] in ("zh", "ja", "ko") else CHARS_A_TOKEN
        return min(self._ground.settings.learning.stm_budget_chars, int(session_tokens / 4 * a_token))

    async def _embed(self, text: str) -> Asked | None:
        prepared = await self._ground.database.read(lambda c: prepare_text(c, text))
        try:
            found = await asyncio.wait_for(self._ground.backroom().embedder.embed_query(prepared), EMBED_WITHIN_S)
        except TimeoutError:
            return None
        return Asked(signature=found[0], vector=found[1]) if found else None


def _read_limits(learning: LearningSettings, calibrated: float | None, budget_chars: int) -> Limits:
    gate = learning.stm_gate if learning.stm_gate is not None else calibrated
    standard = Limits(max_age_days=float(learning.stm_max_age_days), budget_chars=budget_chars)
    return standard if gate is None else replace(standard, gate=gate)


def _load_newest(c: Connection, session_id: SessionId) -> tuple[TurnId | None, str, bool, str]:
    """Return (turn, text, whether it is the conversation's first, language) of the newest message; None as the turn
    if nothing may be recalled for it, or was already."""
    standing = conversations.load_standing(c, session_id)
    newest = turns.load_messages(c, session_id, limit_turns=2)
    questions = [message for message in newest if message.role is Role.USER]
    if standing is None or not standing.remember or not questions:
        return None, "", False, "en"
    question = questions[-1]
    if recalls.get(c, question.turn) is not None:
        return None, "", False, "en"
    text = truncate_tokens(question.text, MAX_QUERY_TOKENS)
    language = standing.language or detect_language(text, "en")
    return question.turn, text, len(questions) == 1, language
