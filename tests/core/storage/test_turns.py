"""The transcript: numbers, keys, growing and ended replies, pages, archives."""

import pytest

from core.errors import StorageError
from core.model import MessageStatus, Role, SessionId
from core.storage import conversations, turns


def say(c, chat, user="Hello", reply=None, *, status=MessageStatus.COMPLETE, at=10.0, key=None):
    """Store a turn; returns (turn, user's message id, reply's message id)."""
    turn = turns.add_turn(c, chat, source_key=key)
    asked = turns.add_message(c, chat, turn, Role.USER, user, status=MessageStatus.COMPLETE, at=at, tokens=3)
    answered = turns.add_message(c, chat, turn, Role.ASSISTANT, reply or "", status=status, at=at + 0.001, tokens=5)
    return turn, asked, answered


def texts(messages):
    return [message.text for message in messages]


def test_turn_numbers_rise_over_all_conversations_and_are_never_used_again(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    first = write(lambda c: turns.add_turn(c, chat))
    second = write(lambda c: turns.add_turn(c, SessionId("other")))
    write(lambda c: c.execute("DELETE FROM turns WHERE turn = ?", (second,)))
    third = write(lambda c: turns.add_turn(c, chat))
    assert first < second < third


def test_a_source_key_is_taken_once(write, chat):
    turn = write(lambda c: turns.add_turn(c, chat, source_key="file:0"))
    assert write(lambda c: turns.add_turn(c, chat, source_key="file:0")) is None
    assert write(lambda c: turns.find_by_source(c, "file:0")) == turn
    assert write(lambda c: turns.find_by_source(c, "file:1")) is None


def test_a_turn_has_one_message_of_each_role(write, chat):
    turn, _, _ = write(lambda c: say(c, chat))
    with pytest.raises(StorageError):
        write(
            lambda c: turns.add_message(
                c, chat, turn, Role.USER, "again", status=MessageStatus.COMPLETE, at=1.0, tokens=1
            )
        )


def test_a_reply_grows_and_ends(write, chat):
    turn, _, reply = write(lambda c: say(c, chat, status=MessageStatus.WAITING))
    write(lambda c: turns.grow_reply(c, reply, "Half an"))
    growing = write(lambda c: turns.get_message(c, reply))
    assert (growing.text, growing.status) == ("Half an", MessageStatus.STREAMING)
    write(
        lambda c: turns.finish_reply(
            c, reply, "Half an answer", status=MessageStatus.STOPPED, at=12.0, tokens=4, model="m", tokens_per_s=9.5
        )
    )
    ended = write(lambda c: turns.get_message(c, reply))
    assert (ended.text, ended.status, ended.ended_at) == ("Half an answer", MessageStatus.STOPPED, 12.0)
    assert (ended.model, ended.tokens_per_s) == ("m", 9.5)
    assert write(turns.load_waiting) == (turn,)


def test_a_reply_never_ends_before_it_began(write, chat):
    _, _, reply = write(lambda c: say(c, chat, status=MessageStatus.STREAMING, at=100.0))
    write(lambda c: turns.finish_reply(c, reply, "x", status=MessageStatus.COMPLETE, at=40.0, tokens=1))
    ended = write(lambda c: turns.get_message(c, reply))
    assert ended.ended_at > ended.created_at


def test_replies_cut_by_a_crash_are_kept_marked_and_handed_on(write, chat):
    waiting, _, empty = write(lambda c: say(c, chat, status=MessageStatus.WAITING))
    streaming, _, part = write(lambda c: say(c, chat, reply="As far as", status=MessageStatus.STREAMING))
    _, _, whole = write(lambda c: say(c, chat, reply="Done", status=MessageStatus.COMPLETE))
    assert write(turns.interrupt_unfinished) == 2
    found = {m.id: m for m in write(lambda c: turns.load_messages(c, chat))}
    assert found[empty].status is found[part].status is MessageStatus.INTERRUPTED
    assert found[part].text == "As far as"
    assert found[whole].status is MessageStatus.COMPLETE
    assert write(turns.load_waiting) == (waiting, streaming)
    assert write(turns.interrupt_unfinished) == 0


def test_pages_go_back_without_gap_or_overlap(write, chat):
    for number in range(7):
        write(lambda c, n=number: say(c, chat, f"q{n}", f"a{n}"))
    page = write(lambda c: turns.load_messages(c, chat, limit_turns=3))
    assert texts(page) == ["q4", "a4", "q5", "a5", "q6", "a6"]
    seen = list(page)
    while page:
        page = write(lambda c, before=page[0].turn: turns.load_messages(c, chat, before=before, limit_turns=3))
        seen = [*page, *seen]
    assert texts(seen) == [f"{kind}{n}" for n in range(7) for kind in "qa"]


def test_a_page_holds_only_its_conversation(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    write(lambda c: say(c, chat, "mine"))
    write(lambda c: say(c, SessionId("other"), "theirs"))
    assert texts(write(lambda c: turns.load_messages(c, chat))) == ["mine", ""]


def test_a_turn_is_handed_to_the_hook_once(write, chat):
    turn, _, _ = write(lambda c: say(c, chat))
    assert write(lambda c: turns.set_hook_done(c, turn)) is False  # nobody asked for it yet
    write(lambda c: turns.set_hook_pending(c, turn))
    assert write(lambda c: turns.set_hook_done(c, turn)) is True
    assert write(lambda c: turns.set_hook_done(c, turn)) is False
    assert write(turns.load_waiting) == ()


def test_what_a_turn_gave_to_memory_shows_on_its_reply(write, chat):
    turn, asked, answered = write(lambda c: say(c, chat, reply="Noted"))
    write(lambda c: turns.set_outcome(c, turn, kept=3, similarity=0.9))
    found = write(lambda c: turns.load_turn(c, turn))
    assert (found.user.kept, found.reply.kept) == (0, 3)
    assert (found.user.id, found.reply.id) == (asked, answered)


def test_a_turn_without_the_users_message_is_none(write, chat):
    assert write(lambda c: turns.load_turn(c, 404)) is None


def test_live_is_what_is_said_and_not_archived(write, chat):
    _, asked, answered = write(lambda c: say(c, chat, "old", "old reply"))
    write(lambda c: say(c, chat, "new", "being written", status=MessageStatus.STREAMING))
    assert texts(write(lambda c: turns.load_live(c, chat))) == ["old", "old reply", "new"]
    write(lambda c: turns.archive_messages(c, [asked, answered], 1))
    assert texts(write(lambda c: turns.load_live(c, chat))) == ["new"]
    assert write(lambda c: turns.load_live_estimates(c, chat)) == (3,)
    assert texts(write(lambda c: turns.load_archived(c, chat, 1))) == ["old", "old reply"]


def test_a_message_stays_in_its_first_archive(write, chat):
    _, asked, _ = write(lambda c: say(c, chat, "once"))
    write(lambda c: turns.archive_messages(c, [asked], 1))
    write(lambda c: turns.archive_messages(c, [asked], 2))
    assert texts(write(lambda c: turns.load_archived(c, chat, 1))) == ["once"]
    assert write(lambda c: turns.load_archived(c, chat, 2)) == ()
