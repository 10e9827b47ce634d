"""What a prompt says of the user: read from the store, within the learning settings.

A function over one open transaction of the caller's.
"""

from core.config import LearningSettings
from core.model import SessionId
from core.profile.view import choose_for_prompt
from core.storage import conversations, facets
from core.storage.database import Connection


def load_known(c: Connection, session_id: SessionId, *, learning: LearningSettings, now: float) -> tuple[str, ...]:
    """Return the words of the facets for a conversation's prompt; () where it may not hold any. `now` in s.

    A temporary conversation gets none, and with events, explicit preferences and inference off there are none.
    """
    if not (learning.events_enabled or learning.explicit_preferences_enabled or learning.enabled):
        return ()
    standing = conversations.load_standing(c, session_id)
    if standing is None or not standing.remember:
        return ()
    return choose_for_prompt(
        facets.load_all(c), now=now, explicit=learning.explicit_preferences_enabled, inferred=learning.enabled
    )
