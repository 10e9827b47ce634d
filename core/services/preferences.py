"""Preferences that fit a message: the situational ones, by meaning.

The vectors of a few dozen short texts are kept in memory; a new one costs a few milliseconds. What stands in the
conversation's prompt already is not said again.
"""

import asyncio
from dataclasses import dataclass

from core.model import RecalledItem, SessionId
from core.profile.preferences import Standing
from core.retrieval.vector import load_space
from core.services.ground import Ground
from core.sessions.situation import load_standing
from core.storage import memory_versions, recalls
from core.storage.database import Connection
from core.storage.facets import FacetRow

TOP = 5  # a turn (archivist.md section 16)
WITHIN_S = 3.0  # a message does not wait longer
KEPT_VECTORS = 1_000
KIND = "preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """A text as one model sees it."""

    signature: str
    text: str


class PreferenceFinder:
    """Compares messages with the preferences that wait for their occasion."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._vectors: dict[_Key, bytes | None] = {}

    async def find(self, session_id: SessionId, text: str) -> tuple[RecalledItem, ...]:
        """Return the preferences that fit a message, the nearest first; () without a model or in time."""
        waiting = await self._ground.database.read(lambda c: self._load(c, session_id))
        if not waiting or not text.strip():
            return ()
        try:
            return await asyncio.wait_for(self._compare(text, waiting), WITHIN_S)
        except TimeoutError:
            return ()

    def _load(self, c: Connection, session_id: SessionId) -> tuple[FacetRow, ...]:
        learning = self._ground.settings.learning
        standing: Standing = load_standing(
            c, session_id, learning=learning, now=self._ground.clock(), per_turn=learning.explicit_preferences_enabled
        )
        version = memory_versions.get(c, session_id)
        said = recalls.load_used(c, session_id, KIND, after=version.created_at if version else 0.0)
        return tuple(row for row in standing.situational if row.id not in said)

    async def _compare(self, text: str, waiting: tuple[FacetRow, ...]) -> tuple[RecalledItem, ...]:
        embedder = self._ground.backroom().embedder
        asked = await embedder.embed_query(text)
        if asked is None:
            return ()
        signature, vector = asked
        await self._embed(signature, waiting)
        known = [(row, self._vectors.get(_Key(signature=signature, text=row.value))) for row in waiting]
        usable = [(row, other) for row, other in known if other and len(other) == len(vector)]
        space = load_space(signature, len(vector) // 4)
        cosines = await self._ground.think(lambda: space.compare(vector, [other for _, other in usable]))
        near = [(cosine, row) for (row, _), cosine in zip(usable, cosines, strict=True) if cosine >= space.preference]
        near.sort(key=lambda entry: (-entry[0], entry[1].id))
        return tuple(
            RecalledItem(
                kind=KIND,
                ref=row.id,
                session_id=row.evidence[-1].session_id if row.evidence else SessionId(""),
                title="",
                at=row.since,
                text=row.value,
                score=cosine,
                cosine=cosine,
            )
            for cosine, row in near[:TOP]
        )

    async def _embed(self, signature: str, waiting: tuple[FacetRow, ...]) -> None:
        """Add the vectors that are missing."""
        keys = [_Key(signature=signature, text=row.value) for row in waiting]
        new = [key for key in dict.fromkeys(keys) if key not in self._vectors]
        if not new:
            return
        if len(self._vectors) + len(new) > KEPT_VECTORS:
            self._vectors.clear()
            new = list(dict.fromkeys(keys))
        found = await self._ground.backroom().embedder.fill([key.text for key in new])
        self._vectors.update(zip(new, found or (), strict=False))
