"""The conversation list: order, names, what hides a row, what counts as replying."""

import pytest

from core.model import MessageStatus, Role, SessionId
from core.storage import conversations, turns


def add(write, name, at=1.0, **options):
    return write(lambda c: conversations.add(c, SessionId(name), at=at, **options))


def listed(write):
    return [row.id for row in write(conversations.load_all)]


def test_adding_twice_keeps_the_first(write):
    add(write, "a", at=1.0, title="First")
    assert add(write, "a", at=9.0, title="Second").title == "First"


def test_pinned_first_then_the_newest(write):
    for at, name in enumerate(("old", "middle", "new"), start=1):
        add(write, name, at=at)
    write(lambda c: conversations.set_pinned(c, "old", True))
    write(lambda c: conversations.touch(c, "middle", at=50.0))
    assert listed(write) == ["old", "middle", "new"]


def test_a_turn_from_the_past_does_not_move_a_conversation_back(write, chat):
    write(lambda c: conversations.touch(c, chat, at=5.0))
    row = write(lambda c: conversations.get(c, chat))
    assert (row.turn_count, row.updated_at) == (1, 1000.0)


def test_a_title_of_the_user_is_never_overwritten(write, chat):
    write(lambda c: conversations.rename(c, chat, "guess", by_user=False))
    write(lambda c: conversations.rename(c, chat, "Mine", by_user=True))
    write(lambda c: conversations.rename(c, chat, "better guess", by_user=False))
    assert write(lambda c: conversations.get(c, chat)).title == "Mine"


def test_deleting_hides_and_restoring_brings_back(write, chat):
    write(lambda c: conversations.set_deleted(c, chat, 2000.0))
    assert listed(write) == []
    assert write(lambda c: conversations.get(c, chat)) is None
    write(lambda c: conversations.set_deleted(c, chat, None))
    assert listed(write) == [chat]


@pytest.mark.parametrize(
    "use",
    [
        lambda c: conversations.touch(c, "chat", at=1.0),
        lambda c: conversations.save_draft(c, "chat", "half a thought"),
        lambda c: conversations.rename(c, "chat", "Plans", by_user=True),
        lambda c: conversations.set_pinned(c, "chat", True),
        lambda c: conversations.set_deleted(c, "chat", 1.0),
    ],
    ids=["a turn", "a draft", "a title", "a pin", "deletion"],
)
def test_only_an_untouched_conversation_is_used_again(write, chat, use):
    assert write(conversations.find_empty).id == chat
    write(use)
    assert write(conversations.find_empty) is None


@pytest.mark.parametrize("status", list(MessageStatus))
def test_a_conversation_replies_while_its_reply_is_unfinished(write, chat, status):
    def say(c):
        turn = turns.add_turn(c, chat)
        turns.add_message(c, chat, turn, Role.ASSISTANT, "", status=status, at=1.0, tokens=0)

    write(say)
    replying = status in (MessageStatus.WAITING, MessageStatus.STREAMING)
    assert write(lambda c: conversations.get(c, chat)).replying is replying


def test_draft_language_and_counters_come_back(write, chat):
    def save(c):
        conversations.save_draft(c, chat, "半句话")
        conversations.set_language(c, chat, "zh")
        conversations.set_counters(c, chat, pending_tokens=7, live_tokens=11)

    write(save)
    found = write(
        lambda c: (
            conversations.load_draft(c, chat),
            conversations.load_language(c, chat),
            conversations.load_counters(c, chat),
        )
    )
    assert found == ("半句话", "zh", (7, 11))
    assert write(lambda c: conversations.load_counters(c, SessionId("nobody"))) == (0, 0)
