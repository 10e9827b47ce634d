"""Two statements are about the same thing whatever words, case, accents or script they are in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.profile.slots import Relation, read_statement, relate
from core.profile.strength import classify
from core.text.statements import StatementKind

PREFERENCE, FACT = StatementKind.PREFERENCE, StatementKind.FACT
RESTATES, SUPERSEDES, COEXISTS = Relation.RESTATES, Relation.SUPERSEDES, Relation.COEXISTS


def compare(kind: StatementKind, older: str, newer: str) -> Relation:
    first, second = read_statement(kind, older), read_statement(kind, newer)
    assert first is not None
    assert second is not None
    return relate(first, second)


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("I prefer dark mode", "我更喜欢深色模式", RESTATES),
        ("I prefer dark mode", "I like the light theme", SUPERSEDES),
        ("I like my answers short", "I prefer concise replies", RESTATES),
        ("我喜欢简短的回答", "我更喜欢详细的回答", SUPERSEDES),
        ("I prefer tabs over spaces", "I prefer spaces over tabs", SUPERSEDES),
        ("我喜欢靠窗的座位", "I'd prefer a window seat", RESTATES),
        ("I like C", "I like C++", COEXISTS),
        ("I like C#", "I love C#", RESTATES),
        ("I like café", "I like cafe", RESTATES),
        ("I love dark chocolate", "I love dark mode", COEXISTS),
        ("我喜歡爬山", "我喜欢爬山", RESTATES),
        ("I always take the stairs", "I never take the stairs", SUPERSEDES),
        ("My favourite colour is blue", "My favourite colour is green", SUPERSEDES),
        ("I prefer tea to coffee", "I prefer coffee to tea", SUPERSEDES),
        ("When travelling I prefer a window seat", "I prefer a window seat when I travel", RESTATES),
        ("我写代码时喜欢深色模式", "我看书时喜欢浅色模式", COEXISTS),
        ("Ich mag keinen Koriander", "Ich mag Koriander", SUPERSEDES),
        ("No me gusta el cilantro", "Me gusta el cilantro", SUPERSEDES),
    ],
)
def test_preferences(older: str, newer: str, relation: Relation) -> None:
    assert compare(PREFERENCE, older, newer) is relation


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("I work at Acme", "I work for Globex now", SUPERSEDES),
        ("I'm from Spain", "I come from Spain", RESTATES),
        ("I live in São Paulo", "I currently live in Sao Paulo", RESTATES),
        ("I moved to Bergen last year", "I live in Bergen", RESTATES),
        ("My mom's name is Ana", "My mother's name is Ana", RESTATES),
        ("My dog is called Rex", "My cat is called Rex", COEXISTS),
        ("I have two kids", "I have three kids", SUPERSEDES),
        ("我今年30岁", "我今年31岁", SUPERSEDES),
        ("我对花生过敏", "我对青霉素过敏", COEXISTS),
        ("Ich wohne in Köln", "Ich wohne nicht mehr in Köln", SUPERSEDES),
        ("Vivo en Madrid", "Ya no vivo en Madrid", SUPERSEDES),
    ],
)
def test_facts(older: str, newer: str, relation: Relation) -> None:
    assert compare(FACT, older, newer) is relation


@pytest.mark.parametrize("text", ["I am on", "I'm a", "My name is", "我叫", "I live in", "key: [REDACTED:api_key]"])
def test_a_statement_without_content_has_no_slot(text: str) -> None:
    assert read_statement(FACT, text) is None


def test_decisions_have_no_slot() -> None:
    assert read_statement(StatementKind.DECISION, "We decided to use Redis") is None


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (FACT, "I live in Oslo", "identity"),
        (PREFERENCE, "I don't want emojis in the answers", "veto"),
        (PREFERENCE, "I never eat after nine", "style"),
        (PREFERENCE, "I prefer uv over pip", "tooling"),
        (PREFERENCE, "我喜欢用微信联系", "channel"),
    ],
)
def test_classes(kind: StatementKind, text: str, expected: str) -> None:
    reading = read_statement(kind, text)
    assert reading is not None
    assert str(classify(reading)) == expected


@given(st.text(max_size=80), st.sampled_from([PREFERENCE, FACT]))
def test_what_is_read_restates_itself(text: str, kind: StatementKind) -> None:
    reading = read_statement(kind, text)
    if reading is not None:
        assert relate(reading, reading) is RESTATES
        assert reading.slot.key
