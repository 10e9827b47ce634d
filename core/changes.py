"""Change notices: what a use case touched, so that a view refreshes only what it shows."""

from collections.abc import Callable
from dataclasses import dataclass

from core.model import MessageId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPiece:
    """More text of a running reply. `Engine` joins pieces to at most ten a second."""

    session_id: SessionId
    message_id: MessageId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """A notice; a field that is empty or False was not touched.

    `everything` is set when another process wrote the database: all that is shown may be stale.
    """

    conversations: bool = False
    messages: frozenset[SessionId] = frozenset()
    memory: frozenset[SessionId] = frozenset()
    segments: frozenset[SessionId] = frozenset()
    files: bool = False
    profile: bool = False
    prompts: frozenset[SessionId] = frozenset()
    model: bool = False
    status: bool = False
    settings: bool = False
    everything: bool = False
    reply: ReplyPiece | None = None


Listener = Callable[[Changes], None]
