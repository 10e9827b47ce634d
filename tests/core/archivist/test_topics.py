"""Names of segments: the topic in the user's words, never a greeting."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archivist.summaries import summarise
from core.archivist.topics import name_topic


def test_an_english_topic_is_named_by_what_comes_back_in_its_own_spelling():
    texts = [
        "Hi there! Can you help me renew my passport?",
        "The passport office in Leeds is closed today. Is there another passport office?",
        "Thanks!",
    ]
    assert name_topic(texts, "en") == "Passport office"


def test_a_chinese_topic_is_named_by_runs_of_characters():
    texts = ["你好！周末想去莫干山徒步，带什么装备好？", "莫干山徒步要带登山杖吗？", "好的，谢谢"]
    name = name_topic(texts, "zh")
    assert name.startswith("莫干山徒步")
    assert not re.search("你好|谢谢|什么", name)


def test_latin_names_in_chinese_text_are_kept():
    assert "Docker" in name_topic(["怎么用 Docker 部署服务？", "Docker 镜像太大了"], "zh")


def test_code_and_quotes_name_nothing():
    texts = ["```\nzebra zebra zebra zebra\n```\nwhy does the retry loop hang?", "> zebra\nthe retry loop hangs again"]
    assert name_topic(texts, "en") == "Retry loop"


@pytest.mark.parametrize("texts", [[], [""], ["hi", "thanks!"], ["你好", "谢谢"], ["Hi, my name is Emily."], ["👍"]])
def test_talk_without_a_topic_has_no_name(texts):
    assert name_topic(texts) == ""


def test_a_person_addressed_is_no_topic():
    name = name_topic(
        ["Hey Mel! The transgender support group was powerful.", "Thanks, Mel! The group meets weekly."], "en"
    )
    assert "Mel" not in name
    assert "group" in name.lower()


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (
            ["I attended a pottery workshop today.", "The pottery kiln was very hot."],
            "Pottery workshop",
        ),
        (["We saw a comedy called The Silver Kettle.", "The Silver Kettle made us laugh."], "Silver Kettle"),
        (["I'm trying to relax by cooking a lentil soup. The lentil soup is delicious."], "Lentil soup"),
        (["My sister formed a chess club. The chess club is growing quickly."], "Chess club"),
    ],
)
def test_what_is_done_and_how_it_is_names_nothing(texts, name):
    assert name_topic(texts, "en") == name


def test_a_name_has_two_parts_at_most():
    name = name_topic(["My garden, my violin, my bicycle and my telescope keep me happy."], "en")
    assert len(re.split(",| and ", name)) <= 2
    assert name_topic(["我喜欢种花、拉小提琴、骑车和看星星。"], "zh").count("、") <= 1


def test_the_message_that_gives_a_name_does_not_set_the_topic():
    texts = [
        "My name is Noor and I keep a bakery stall.",
        "I want to rebuild our flour mill.",
        "The flour mill is old.",
    ]
    assert name_topic(texts, "en") == "Flour mill"


def test_a_feeling_is_the_topic_where_nothing_else_is_named():
    assert name_topic(["I feel so lonely these days.", "I don't know why."], "en") == "Feeling lonely"
    assert name_topic(["I'm exhausted.", "I don't know why."], "en") == "Feeling exhausted"


def test_who_speaks_is_no_topic_in_chinese():
    assert name_topic(["你好，我是林小雨。"], "zh") == ""


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["今天学做了一道红烧茄子，真好吃！", "先放油，再把茄子煎五分钟左右。"], "茄子"),
        (["我想和你聊聊退休计划。", "退休以后想去海边住。"], "退休计划"),
    ],
)
def test_a_chinese_name_is_the_thing_not_what_is_done_with_it(texts, name):
    assert name in name_topic(texts, "zh") or name_topic(texts, "zh") in name


@given(st.lists(st.text(max_size=80), max_size=6), st.sampled_from(["en", "zh", "de", "ja", "", "xx"]))
def test_a_name_is_short_and_made_of_the_users_words(texts, language):
    name = name_topic(texts, language)
    assert len(name.replace(",", "").split()) <= 7
    together = "\n".join(texts).casefold()
    for word in re.split(r"[ ,、]+", name):
        assert word in ("and", "Feeling") or word.casefold() in together


def test_a_summary_is_the_first_and_last_sentence_that_say_something():
    texts = [
        "Hello! The migration fails on the orders table. It worked before.",
        "ok",
        "Then I rebuilt the index. The foreign key check complains. Thanks!",
    ]
    assert summarise(texts) == "The migration fails on the orders table.\nThe foreign key check complains."


def test_a_summary_reads_chinese_sentences_too():
    assert summarise(["你好！数据库迁移在订单表上失败了。怎么办？", "谢谢"]) == "数据库迁移在订单表上失败了。"


def test_a_long_sentence_is_cut_at_a_word():
    summary = summarise(["The migration " + "fails badly " * 40])
    assert len(summary) <= 160
    assert summary.endswith(("fails…", "badly…"))


@given(st.lists(st.text(max_size=300), max_size=5))
def test_a_summary_is_never_longer_than_two_sentences_may_be(texts):
    assert len(summarise(texts)) <= 2 * 160 + 1


@pytest.mark.parametrize(
    ("texts", "summary"),
    [
        (
            ["Hello friend, my oven door squeaks badly.", "Thank you, that was very kind of you."],
            "My oven door squeaks badly.",
        ),
        (["I'm Ines.", "But my bicycle chain keeps slipping."], "My bicycle chain keeps slipping."),
        (
            ["So much rain fell on our roof garden.", "The colours blend nicely."],
            "So much rain fell on our roof garden.",
        ),
        (["The choir rehearses on Mondays.", "Which songs would fit a choir?"], "The choir rehearses on Mondays."),
        (["你好，我的自行车刹车坏了。", "谢谢你的耐心解答。"], "我的自行车刹车坏了。"),
    ],
)
def test_a_summary_tells_and_leaves_courtesy_and_questions_out(texts, summary):
    assert summarise(texts) == summary
