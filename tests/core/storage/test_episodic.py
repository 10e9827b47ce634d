"""The index: full text in step with its rows, Chinese by the character, neighbours."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.model import Role, SessionId
from core.storage import conversations, episodic, turns


def put(c, chat, turn, user, reply=""):
    episodic.put_turn(c, chat, turn, user=user, user_ts=turn * 10.0, reply=reply, reply_ts=turn * 10.0 + 1)


def say(c, chat, user, reply=""):
    turn = turns.add_turn(c, chat)
    put(c, chat, turn, user, reply)
    return turn


def find(write, match):
    return [row.content for row in write(lambda c: episodic.search(c, match))]


def query_cjk(text):
    """The pairs of a query as an expression: what a search for CJK text asks the index."""
    pairs = episodic.pair_cjk(text).split()
    return "cjk : (" + " AND ".join(f'"{pair}"*' for pair in (pairs[:-1] or pairs)) + ")"


def in_step(write):
    """FTS5's own check of the index against its content table."""
    write(lambda c: c.execute("INSERT INTO episodic_fts(episodic_fts, rank) VALUES ('integrity-check', 1)"))


# -- full text ---------------------------------------------------------------------------------


def test_what_was_said_is_found_by_its_stem(write, chat):
    write(lambda c: say(c, chat, "We deployed the payments service", "Noted."))
    assert find(write, '"deploy"') == ["We deployed the payments service", "Noted."]  # the neighbour too, after it


def test_replacing_a_turn_replaces_its_words(write, chat):
    turn = write(lambda c: say(c, chat, "apples", "ok"))
    rows = write(lambda c: episodic.load_turn(c, turn))
    write(lambda c: put(c, chat, turn, "pears", "ok"))
    assert [row.id for row in write(lambda c: episodic.load_turn(c, turn))] == [row.id for row in rows]
    assert find(write, "apples") == []  # nor as the neighbour of the reply
    assert find(write, "pears") == ["pears", "ok"]
    in_step(write)


def test_deleting_a_turn_takes_its_words_out(write, chat):
    turn = write(lambda c: say(c, chat, "a secret word", "a reply"))
    write(lambda c: c.execute("DELETE FROM turns WHERE turn = ?", (turn,)))
    assert find(write, '"secret"') == []
    in_step(write)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 4), st.text(max_size=12), st.text(max_size=12)), max_size=8))
def test_the_index_follows_its_rows_whatever_is_written(write, chat, puts):
    def work(c):
        while (c.execute("SELECT max(turn) FROM turns").fetchone()[0] or 0) < 4:
            turns.add_turn(c, chat)
        c.execute("DELETE FROM episodic")
        for turn, user, reply in puts:
            put(c, chat, turn, user.replace("\0", ""), reply.replace("\0", ""))

    write(work)
    in_step(write)


def test_an_empty_question_finds_nothing(write, chat):
    write(lambda c: say(c, chat, "something"))
    assert find(write, "") == []


# -- Chinese -----------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["茶", "京", "乌龙", "龙茶", "北京", "喝乌龙茶"])
def test_chinese_is_found_by_one_and_two_characters(write, chat, query):
    write(lambda c: say(c, chat, "我在北京喝乌龙茶"))
    write(lambda c: say(c, chat, "明天去上海开会"))
    assert find(write, query_cjk(query)) == ["我在北京喝乌龙茶"]


def test_pairs_never_cross_other_text():
    assert episodic.pair_cjk("茶 and 水果 v2 好") == "茶 水果 果 好"
    assert episodic.pair_cjk("no such letters") == ""


def test_pairs_cover_every_character_of_a_run():
    assert episodic.pair_cjk("乌龙茶") == "乌龙 龙茶 茶"
    assert episodic.pair_cjk("カフェ 한국") == "カフ フェ ェ 한국 국"


# -- neighbours --------------------------------------------------------------------------------


def neighbours(write):
    return write(lambda c: [tuple(row) for row in c.execute("SELECT content, prev, next FROM episodic ORDER BY id")])


def test_each_row_knows_what_was_said_before_and_after(write, chat):
    write(lambda c: say(c, chat, "q1", "a1"))
    write(lambda c: say(c, chat, "q2", "a2"))
    assert neighbours(write) == [("q1", "", "a1"), ("a1", "q1", "q2"), ("q2", "a1", "a2"), ("a2", "q2", "")]


def test_neighbours_stay_within_a_conversation(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    write(lambda c: say(c, chat, "mine"))
    write(lambda c: say(c, SessionId("other"), "theirs"))
    write(lambda c: say(c, chat, "mine again"))
    assert neighbours(write) == [("mine", "", "mine again"), ("theirs", "", ""), ("mine again", "mine", "")]


def test_a_follow_up_is_found_by_the_words_of_its_question(write, chat):
    write(lambda c: say(c, chat, "Which port does Grafana use?", "It is 3000."))
    assert find(write, '"grafana"') == ["Which port does Grafana use?", "It is 3000."]


# -- recent texts ------------------------------------------------------------------------------


def test_recent_texts_are_the_last_ones_oldest_first(write, chat):
    for number in (1, 2, 3):
        write(lambda c, n=number: say(c, chat, f"q{n}", f"a{n}"))
    recent = write(lambda c: episodic.load_recent(c, chat, before=3, limit=3))
    assert [(said.role, said.text) for said in recent] == [
        (Role.ASSISTANT, "a1"),
        (Role.USER, "q2"),
        (Role.ASSISTANT, "a2"),
    ]
    assert write(lambda c: episodic.load_user_texts(c, chat, first=2, last=3)) == ("q2", "q3")


def test_a_turn_comes_back_users_row_first(write, chat):
    turn = write(lambda c: say(c, chat, "question", "answer"))
    rows = write(lambda c: episodic.load_turn(c, turn))
    assert [(row.role, row.content) for row in rows] == [(Role.USER, "question"), (Role.ASSISTANT, "answer")]


def test_replacing_a_turn_in_the_middle_leaves_none_of_its_old_words(write, chat):
    write(lambda c: say(c, chat, "first", "one"))
    turn = write(lambda c: say(c, chat, "zeppelin", "airship"))
    write(lambda c: say(c, chat, "third", "three"))
    write(lambda c: put(c, chat, turn, "bicycle", "tandem"))
    for old in ("zeppelin", "airship"):
        assert find(write, f'"{old}"') == []
    assert find(write, "prev : tandem") == ["third"]
    assert find(write, "next : third") == ["tandem"]
    in_step(write)
