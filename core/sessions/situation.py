"""What a conversation's next prompt is made of, read from the store within the learning settings.

Functions over one open transaction of the caller's. With everything switched off nothing that memory made is read:
the prompt is that of a program without memory, archived messages in their places.
"""

from dataclasses import replace

from core.config import LearningSettings
from core.model import Role, SessionId
from core.profile.keeping import FORGOTTEN_MARK
from core.profile.preferences import Standing, part_facets
from core.sessions.context import NOTHING_RECALLED, Recalled, Sources
from core.sessions.instruction import Known
from core.sessions.prompt_texts import load_prompt_texts
from core.storage import archives, conversations, episodic, facets, memory_versions, prompts, recalls, tombstones, turns
from core.storage.database import Connection
from core.storage.turns import LiveMessage
from core.text.language import detect_language
from core.text.tokens import truncate_tokens

LANGUAGE_TOKENS = 500  # of a message: enough to tell its language
MOST_MESSAGES = 400  # that are looked at where there is no memory


def is_off(learning: LearningSettings) -> bool:
    """Whether nothing may be remembered at all."""
    return not any(
        (
            learning.enabled,
            learning.episodic_capture_enabled,
            learning.chat_to_tree_enabled,
            learning.goals_enrichment_enabled,
            learning.stm_recall_enabled,
            learning.explicit_preferences_enabled,
            learning.recap_enabled,
            learning.events_enabled,
            learning.librarian_enabled,
        )
    )


def may_know(c: Connection, session_id: SessionId) -> bool:
    """Whether a conversation's prompt may hold what other conversations left: not if it is temporary."""
    standing = conversations.load_standing(c, session_id)
    return standing is not None and standing.remember


def load_standing(
    c: Connection, session_id: SessionId, *, learning: LearningSettings, now: float, per_turn: bool
) -> Standing:
    """Return what of the profile a conversation's prompts hold; nothing where they may not. `now` in s."""
    if not (learning.events_enabled or learning.explicit_preferences_enabled or learning.enabled):
        return Standing()
    if not may_know(c, session_id):
        return Standing()
    return part_facets(
        facets.load_all(c),
        now=now,
        explicit=learning.explicit_preferences_enabled,
        inferred=learning.enabled,
        per_turn=per_turn,
    )


def load_sources(
    c: Connection, session_id: SessionId, *, learning: LearningSettings, now: float, per_turn: bool
) -> Sources:
    """Return all that the store holds for the next prompt; the notes are a file and not among it."""
    off = is_off(learning)
    version = None if off else memory_versions.get(c, session_id)
    number = version.number if version else 0
    # archived messages stay in the prompt until a document holds them
    raw = () if off else archives.load_unfinished_messages(c, session_id)
    live = turns.load_newest(c, session_id, limit=MOST_MESSAGES) if off else (*raw, *turns.load_live(c, session_id))
    live = _leave_out_forgotten(c, session_id, live)
    begun = prompts.load_start(c, session_id, version=number)
    standing = load_standing(c, session_id, learning=learning, now=now, per_turn=per_turn)
    return Sources(
        live=live,
        archived=frozenset(message.id for message in raw),
        texts=load_prompt_texts(_find_language(c, session_id, live)),
        own=prompts.load_instructions(c, session_id),
        known=Known(
            preferences=standing.preferences,
            profile=standing.profile,
            waiting=tuple(row.value for row in standing.situational),
        ),
        document=version.document if version else "",
        recalled=_load_recalled(c, session_id, learning, since=version.created_at if version else 0.0),
        summaries=() if off else prompts.load_summaries(c, session_id, [message.turn for message in live]),
        recap=begun.recap,
        next_recap=begun.next_recap,
        start=begun.start,
        version=number,
    )


def _leave_out_forgotten(
    c: Connection, session_id: SessionId, live: tuple[LiveMessage, ...]
) -> tuple[LiveMessage, ...]:
    """Send the user's words without what was forgotten since: as they are in the index."""
    if not live or not tombstones.count(c):
        return live
    first = min(message.turn for message in live)
    marked = episodic.load_marked(c, session_id, FORGOTTEN_MARK, first=first)
    return tuple(replace(m, text=marked[m.turn]) if m.role is Role.USER and m.turn in marked else m for m in live)


def _load_recalled(c: Connection, session_id: SessionId, learning: LearningSettings, *, since: float) -> Recalled:
    """Blocks stay until memory changes: then the prompt is read anew from there on anyway."""
    if not (learning.stm_recall_enabled or learning.explicit_preferences_enabled) or not may_know(c, session_id):
        return NOTHING_RECALLED
    return recalls.load_blocks(c, session_id, after=since)


def _find_language(c: Connection, session_id: SessionId, live: tuple[LiveMessage, ...]) -> str:
    """The first message of a conversation says its language; the hook knows it later."""
    known = conversations.load_language(c, session_id)
    return known or detect_language(truncate_tokens(live[-1].text, LANGUAGE_TOKENS) if live else "", "en")
