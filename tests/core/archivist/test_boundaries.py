"""Segment boundaries: each rule at its limit, then what must hold for any message."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archivist.boundaries import (
    BoundaryRules,
    NewTurn,
    OpenSegment,
    find_boundary,
    select_members,
    stamp_turn,
)
from core.archivist.markers import is_acknowledgement, opens_topic
from core.model import BoundaryReason as Reason
from core.model import Message, MessageId, MessageStatus, Role, SessionId, TurnId

TALK = (
    "The SQLite migration fails on the orders table",
    "Add the missing column first, then rebuild the index",
    "done, but the foreign key check still complains about orders.customer_id",
)
SEGMENT = OpenSegment(turn_count=4, start_ts=0.0, end_ts=300.0)
RULES = BoundaryRules(min_cosine=0.4)


def reason(text, segment=SEGMENT, *, ts=320.0, embedding=None, model=None, rules=RULES):
    return find_boundary(segment, NewTurn(ts=ts, text=text, embedding=embedding, model=model), rules).reason


@pytest.mark.parametrize(
    ("count", "ts", "expected"),
    [
        (19, 300.0, None),
        (20, 300.0, Reason.TURN_COUNT),
        (19, 900.0, None),
        (19, 900.5, Reason.TIME_GAP),
        (20, 9_000.0, Reason.TURN_COUNT),
        (1, -50.0, None),
    ],
)
def test_count_and_gap_at_their_limits(count, ts, expected):
    assert reason("and the second invoice?", replace(SEGMENT, turn_count=count), ts=ts) is expected


def test_without_a_finished_reply_the_gap_counts_from_the_start():
    segment = replace(SEGMENT, start_ts=0.0, end_ts=None)
    assert reason("and the second invoice?", segment, ts=601.0) is Reason.TIME_GAP


@pytest.mark.parametrize(
    "text",
    [
        "New topic\nhow do I season a pan",
        "**New topic:** how do I season a pan",
        "1. New topic: pans",
        "¡Otro tema! la cena",
        "🎉 thanks! By the way, who feeds the cat?",
        "Ok so, different question: pans",
        "ok well anyway, who feeds the cat?",
        "LET’S MOVE ON to dinner",
        "Something else.",
        "By the way what time is it",
        "Moving on to chapter 5.2 of the book",
        "Now let's plan the party",
        "btw thanks to the fix the build is green",
        "對了，護照在哪裡辦？",
        "对了怎么去机场",
        "好的，谢谢。换个话题吧",
        "说点别的 晚上吃什么",
        "聊聊别的啊",
        "話を変えて京都の話",
        "別件ですが、請求書の件です",
        "Vale, por cierto ¿cuándo llega?",
        "Gut, etwas ganz anderes: Rasen",
        "Übrigens ist der Rasen gemäht",
        "Au fait, qui vient ?",
        "Ｎｅｗ ｔｏｐｉｃ：pans",
        "‘not mine’? different topic: pans".replace("‘not mine’? ", ""),
    ],
)
def test_an_opening_marker_is_one(text):
    assert opens_topic(text)


@pytest.mark.parametrize(
    "text",
    [
        "New topic-based routing is broken",
        "new topic.py does not import",
        "New question-answer pairs are in the file",
        "`new topic`: what does this mean?",
        "“New topic: pans” was the title",
        "```\nNew topic: x\n```\nwhat does it print?",
        "> New topic: pans\nwho wrote this?",
        "not a new topic: pans",
        "Anyway thanks for the help",
        "Anyway, thanks!",
        "btw thanks",
        "顺便问一下",
        "对了两道题",
        "对了，谢谢",
        "新话题模块什么时候上线",
        "Moving on to Postgres would break the build",
        "Now let's do the same again",
        "Let's move on with the migration",
        "could you switch to another topic for me",
        "thanks anyway, new build works",
        "Neues Themengebiet im Menü",
        "Unrelatedly, pans",
        "能帮我换个话题吗",
        "另外，新问题来了",
        "",
        "🎉",
        "ᚠ",
    ],
)
def test_what_only_looks_like_a_marker_is_none(text):
    assert not opens_topic(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "👍👍",
        "OK, thanks!",
        "好的，谢谢",
        "嗯嗯",
        "Sí, gracias.",
        "Ja, genau.",
        "D’accord, merci",
        "はい、ありがとうございます",
        "no",
    ],
)
def test_a_message_without_a_topic_of_its_own_never_drifts(text):
    assert is_acknowledgement(text)
    segment = replace(SEGMENT, centroid=[1.0, 0.0])
    assert reason(text, segment, embedding=[0.0, 1.0]) is None


@pytest.mark.parametrize("text", ["no, the other file", "yes exactly that, apply it", "好的，那就用莫干山", "ok pans"])
def test_an_answer_with_content_is_no_acknowledgement(text):
    assert not is_acknowledgement(text)


@pytest.mark.parametrize(
    ("centroid", "embedding"),
    [
        ([1.0, 0.0], None),
        ([1.0, 0.0], [0.0, 0.0]),
        ([1.0, 0.0], [math.nan, 1.0]),
        ([1.0, 0.0], [0.0, 1.0, 0.0]),
        (None, [0.0, 1.0]),
    ],
)
def test_vectors_that_cannot_be_compared_leave_it_to_the_words(centroid, embedding):
    segment = replace(SEGMENT, centroid=centroid, recent_texts=TALK)
    assert reason("how do I descale an espresso machine", segment, embedding=embedding) is Reason.LEXICAL_DRIFT
    assert reason("which index should the orders table get", segment, embedding=embedding) is None
    assert reason("how do I descale that espresso machine", segment, embedding=embedding) is None
    assert reason("espresso machine", segment, embedding=embedding) is None


def test_an_answer_in_another_script_is_no_lexical_drift():
    segment = replace(SEGMENT, recent_texts=("数据库迁移在订单表上失败了", "先补上缺的那一列，重建索引"))
    assert reason("ERROR foreign key constraint failed", segment) is None


def test_the_similarity_is_told_for_the_drift_curve():
    segment = replace(SEGMENT, centroid=[1.0, 0.0])
    verdict = find_boundary(segment, NewTurn(ts=320.0, text="beet greens", embedding=[0.6, 0.8]), RULES)
    assert (verdict.reason, verdict.similarity) == (None, pytest.approx(0.6))


texts = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["New topic: pans", "btw, pans", "换个话题，锅", "ok", "how do I descale an espresso machine"]),
)
vectors = st.one_of(st.none(), st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3))


@given(
    st.integers(0, 40),
    st.floats(-1e6, 1e6),
    texts,
    vectors,
    vectors,
    st.lists(st.text(max_size=30), max_size=6),
)
def test_the_first_check_that_hits_is_the_only_reason(count, gap_s, text, centroid, embedding, recent):
    segment = OpenSegment(turn_count=count, start_ts=0.0, end_ts=0.0, centroid=centroid, recent_texts=recent)
    verdict = find_boundary(segment, NewTurn(ts=gap_s, text=text, embedding=embedding), RULES)
    if count >= 20:
        assert verdict.reason is Reason.TURN_COUNT
    elif gap_s > 600:
        assert verdict.reason is Reason.TIME_GAP
    elif opens_topic(text):
        assert verdict.reason is Reason.MARKER
    elif verdict.similarity is not None:
        assert -1 <= verdict.similarity <= 1
        drifted = verdict.similarity < 0.4 - 1e-6 and not is_acknowledgement(text)
        assert verdict.reason is (Reason.DRIFT if drifted else None) or abs(verdict.similarity - 0.4) < 1e-5
    else:
        assert verdict.reason in (None, Reason.LEXICAL_DRIFT)


@given(st.floats(0, 4e9), st.floats(-1e4, 1e6))
def test_a_turn_sorts_user_first(arrived, took):
    times = stamp_turn(arrived, arrived + took)
    assert times.user_ts == arrived
    assert times.assistant_ts > arrived
    assert times.assistant_ms > times.user_ms


@given(st.permutations(range(12)), st.integers(0, 5), st.integers(0, 5))
def test_membership_goes_by_turn_whatever_the_order_of_rows(order, first, length):
    rows = [
        Message(
            id=MessageId(f"{i}"),
            session_id=SessionId("A" if i % 4 < 3 else "B"),
            turn=TurnId(i // 2),
            role=Role.USER if i % 2 == 0 else Role.ASSISTANT,
            text="",
            status=MessageStatus.COMPLETE,
            created_at=float(100 - i),
        )
        for i in order
    ]
    got = select_members(rows, session_id="A", first_turn=first, last_turn=first + length)
    assert [int(row.id) for row in got] == [i for i in range(12) if i % 4 < 3 and first <= i // 2 <= first + length]
