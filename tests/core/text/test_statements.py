"""What a user says about themselves, and what only looks like it."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.clauses import read_clauses
from core.text.orders import find_command
from core.text.statements import StatementKind, find_statements

AT = datetime.fromisoformat("2026-03-04T09:30:00+01:00")  # a Wednesday


def said(text: str) -> list[tuple[str, str, bool]]:
    return [(str(s.kind), s.text, s.negative) for s in find_statements(text, at=AT)]


@pytest.mark.parametrize(
    ("text", "kind", "kept"),
    [
        ("Let's go with the green tiles.", "decision", "Let's go with the green tiles"),
        ("We've decided against a skylight.", "decision", "We've decided against a skylight"),
        ("I'm going to repaint the hallway in May.", "commitment", "I'm going to repaint the hallway in May"),
        ("I can't stand instant coffee", "preference", "I can't stand instant coffee"),
        ("I live in Tromsø.", "fact", "I live in Tromsø"),
        ("Hi, I'm a beekeeper, nice to meet you", "fact", "I'm a beekeeper, nice to meet you"),
        ("我们决定周六搬家。", "decision", "我们决定周六搬家"),
        ("我对猫毛过敏。", "fact", "我对猫毛过敏"),
        ("我討厭下雨天。", "preference", "我討厭下雨天"),
        ("Vivo en Bilbao.", "fact", "Vivo en Bilbao"),
        ("Ich wohne in Kiel.", "fact", "Ich wohne in Kiel"),
    ],
)
def test_a_statement_is_kept_in_the_users_words(text: str, kind: str, kept: str) -> None:
    assert [(k, t) for k, t, _ in said(text)] == [(kind, kept)]


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Tromsø?",
        "Where do I live",
        "If it freezes I will cover the roses",
        "Imagine I live on a boat",
        "My landlord says I always pay late",
        "My landlord prefers cash",
        "I used to live in Tromsø",
        "> I live in Tromsø",
        "```\nI live in Tromsø\n```",
        '{"note": "I live in Tromsø"}',
        "Translate into Norwegian: I live in Tromsø",
        "I like your second idea",
        "I'll try that, thanks",
        "Perhaps I'll use oak",
        "我住在哪里？",
        "如果下雪我会坐地铁",
        "我以前喜欢滑雪",
        "请翻译：我住在大连",
    ],
)
def test_what_is_no_statement_of_the_users_yields_nothing(text: str) -> None:
    assert said(text) == []


def test_each_clause_with_its_own_subject_is_read() -> None:
    assert said("I prefer oak, but I don't like varnish, and my name is Bo.") == [
        ("preference", "I prefer oak", False),
        ("preference", "I don't like varnish", True),
        ("fact", "my name is Bo", False),
    ]


def test_a_shared_subject_is_not_cut_in_two() -> None:
    assert [clause.text for clause in read_clauses("My wife and I moved to Turku.")] == ["My wife and I moved to Turku"]


def test_a_chinese_clause_takes_over_the_first_person_but_not_another_persons() -> None:
    assert said("我住在厦门，喜欢潜水。") == [("fact", "我住在厦门", False), ("preference", "喜欢潜水", False)]
    assert said("我知道他住在厦门，喜欢潜水。") == []


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("I'll mail the form by Monday", "2026-03-09"),
        ("I'll mail the form next Friday", "2026-03-13"),
        ("I'll mail the form tomorrow at 5 pm", "2026-03-05T17:00"),
        ("I'll mail the form by the end of the month", "2026-03-31"),
        ("The permit is due on February 2", "2027-02-02"),
        ("我会在下周五之前交表", "2026-03-13"),
        ("我打算月底交房租", "2026-03-31"),
    ],
)
def test_a_commitment_carries_the_day_it_is_due(text: str, due: str) -> None:
    assert [s.due for s in find_statements(text, at=AT)] == [due]


def test_without_a_time_of_the_message_no_day_is_made_up() -> None:
    assert [s.due for s in find_statements("I'll mail the form by Monday")] == [None]


def test_a_hedged_taste_counts_less_than_a_plain_one() -> None:
    plain, hedged = find_statements("I like oak. I think I like birch.")
    assert (plain.kind, hedged.kind) == (StatementKind.PREFERENCE, StatementKind.PREFERENCE)
    assert hedged.confidence < plain.confidence


def test_a_relation_is_the_subject_of_its_fact() -> None:
    assert [s.subject for s in find_statements("My brother is called Aksel")] == ["brother"]


@pytest.mark.parametrize(
    ("text", "command", "payload"),
    [
        ("Please remember that the spare key is under the pot.", "remember", "the spare key is under the pot"),
        ("From now on, write dates as 2026-03-04", "remember", "From now on, write dates as 2026-03-04"),
        ("记住，周三不送货", "remember", "周三不送货"),
        ("Forget everything about my old flat", "forget", "my old flat"),
        ("忘掉我的旧地址", "forget", "我的旧地址"),
    ],
)
def test_a_command_to_memory_is_read_with_what_it_is_about(text: str, command: str, payload: str) -> None:
    found = find_command(text)
    assert found is not None
    assert (found.command, found.payload) == (command, payload)


@pytest.mark.parametrize("text", ["Do you remember my birthday?", "I forgot my keys", "Forget it.", "还记得我吗？", ""])
def test_talk_about_remembering_is_no_command(text: str) -> None:
    assert find_command(text) is None


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for clause in read_clauses(text):
        assert clause.text == clause.text.strip()
    for statement in find_statements(text, at=AT):
        assert 0 < len(statement.text) <= 300


def test_a_megabyte_is_read_in_bounded_time() -> None:
    assert len(find_statements("I like oak. " * 90_000, at=AT)) == 1
