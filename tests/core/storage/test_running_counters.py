"""Counters that run with each turn are those that are rebuilt from all live messages."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.model import MessageStatus, Role, SessionId
from core.sessions.window import load_window
from core.storage import conversations, turns

CHAT = SessionId("counted")
KEEP = 4


def add(c, tokens):
    """Store a finished turn whose messages cost `tokens`, the user's first; returns it."""
    turn = turns.add_turn(c, CHAT)
    for role, cost in zip((Role.USER, Role.ASSISTANT), tokens, strict=False):
        text = "" if cost == 0 else "said"
        turns.add_message(c, CHAT, turn, role, text, status=MessageStatus.COMPLETE, at=1.0, tokens=cost)
    return turn


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each example empties the store itself
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)) | st.tuples(st.integers(0, 50)), max_size=12))
def test_running_counters_are_those_that_are_rebuilt(write, talk):
    def check(c):
        c.execute("DELETE FROM conversations WHERE session_id = ?", (CHAT,))
        conversations.ensure(c, CHAT, at=0.0)
        for tokens in talk:
            standing = conversations.count_turn(c, CHAT, add(c, tokens), keep=KEEP)
            rebuilt = load_window(turns.load_live_estimates(c, CHAT), KEEP)
            assert (standing.pending_tokens, standing.live_tokens) == (rebuilt.pending_tokens, rebuilt.live_tokens)

    write(check)


def test_a_deleted_conversation_has_no_standing(write):
    write(lambda c: conversations.ensure(c, CHAT, at=0.0))
    write(lambda c: conversations.set_deleted(c, CHAT, 5.0))
    assert write(lambda c: conversations.count_turn(c, CHAT, add(c, (3, 4)), keep=KEEP)) is None
