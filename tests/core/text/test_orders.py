"""Orders to remember or forget: where in a message they are read, what they are about, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.clauses import read_clauses
from core.text.orders import MAX_COMMANDS, find_commands
from core.text.statements import find_statements


def ordered(text: str) -> list[str]:
    return [order.payload for order in find_commands(text) if order.command == "remember"]


@pytest.mark.parametrize(
    ("text", "payloads"),
    [
        ("Hi! My name is Bo. Remember that I'm allergic to latex.", ["I'm allergic to latex"]),
        ("We leave at noon. Please remember: my gate is B12.", ["my gate is B12"]),
        ("hi my name is bo, remember im left-handed", ["im left-handed"]),
        ("I'm Bo and please remember that I'm left-handed", ["I'm left-handed"]),
        ("I'm left-handed, please remember that.", ["I'm left-handed"]),
        ("I'm left-handed. Don't forget!", ["I'm left-handed"]),
        ("Remember that I'm vegan, what can I cook tonight?", ["I'm vegan"]),
        ("Can you remember that I'm vegan, and suggest a dinner?", ["I'm vegan"]),
        ("Remember I'm vegan. What is for dinner?", ["I'm vegan"]),
        (
            "Remember my sister is called Aino. Also remember that I live in Vaasa.",
            ["my sister is called Aino", "I live in Vaasa"],
        ),
        ("Remember:\n- my gate is B12\n- my seat is 4C\n\nWhat should I pack?", ["my gate is B12", "my seat is 4C"]),
        ("yo can u remember that my dog is called Rex, and write a poem about him", ["my dog is called Rex"]),
        ("我叫阿伟。记住我对芒果过敏。", ["我对芒果过敏"]),
        ("你好，我是小红，请记住我喜欢爬山，推荐个周末去处", ["我喜欢爬山"]),
        ("你好，我叫阿伟，记住我对芒果过敏", ["我对芒果过敏"]),
        ("我对芒果过敏，请记住。", ["我对芒果过敏"]),
        ("我不吃香菜，别忘了", ["我不吃香菜"]),
        ("记住我对芒果过敏，今晚吃什么？", ["我对芒果过敏"]),
        ("你能记住我叫阿伟吗？", ["我叫阿伟"]),
        ("Hallo! Merk dir: mein Zug fährt um neun.", ["mein Zug fährt um neun"]),
        ("Hola. Recuerda que soy celíaco.", ["soy celíaco"]),
    ],
)
def test_an_order_is_read_wherever_a_user_gives_it(text: str, payloads: list[str]) -> None:
    assert ordered(text) == payloads


@pytest.mark.parametrize(
    "text",
    [
        "I'm back. Do you remember that I'm vegan?",
        "I don't remember that.",
        "Remember that place we went to?",
        "Remember that time we got lost in Lyon.",
        "Remember when we met? I do.",
        "She told me to remember that I'm late.",
        "My boss said, remember that I pay you.",
        'It read "Remember that I am here".',
        "My aunt wrote:\nRemember that I love you",
        "> Remember that I'm vegan\n\nWho wrote this?",
        "Run this.\n```\nremember that I am root\n```",
        "Translate into Finnish: remember that I am old",
        "I love hiking. Don't forget to drink water!",
        "You can do it. And remember, I'm always here for you.",
        "Keep going! Remember, every small step counts.",
        "Just remember that stumbling blocks can be doors.",
        "Fix this function. Note that x must be positive.",
        "From Monday it is warm. From now on I will run every day.",
        "我背完了。都记住了。",
        "还记得我吗？我是阿伟。",
        "他说，记住我的话。",
        "记住单词的好方法有哪些？",
    ],
)
def test_what_only_speaks_of_remembering_is_no_order(text: str) -> None:
    assert ordered(text) == []


@pytest.mark.parametrize(
    ("order", "plain"),
    [
        ("Remember that I'm allergic to latex.", "I'm allergic to latex."),
        ("Please remember: my name is Bo.", "my name is Bo."),
        ("I live in Vaasa. Don't forget that I prefer trains.", "I live in Vaasa. I prefer trains."),
        ("记住：我叫阿伟。", "我叫阿伟。"),
        ("我叫阿伟。请记住我不吃香菜。", "我叫阿伟。我不吃香菜。"),
    ],
)
def test_what_is_ordered_is_stated_as_if_it_were_said_plainly(order: str, plain: str) -> None:
    assert [(s.kind, s.text) for s in find_statements(order)] == [(s.kind, s.text) for s in find_statements(plain)]
    assert find_statements(order)


_PIECES = st.sampled_from(
    [
        "Remember that",
        "remember",
        "I'm vegan",
        "记住",
        "我叫阿伟",
        "别忘了",
        "?",
        ". ",
        "，",
        ": ",
        "\n",
        " ",
        "“",
        '"',
        "please",
        "forget about",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=14).map("".join)))
def test_any_text_gives_few_orders_in_its_own_words(text: str) -> None:
    orders = find_commands(text)
    assert len(orders) <= MAX_COMMANDS
    for order in orders:
        assert order.payload.strip() == order.payload != ""
        assert order.payload in text
    for clause in read_clauses(text):
        assert clause.text == clause.text.strip()


@given(
    st.sampled_from(["I'm left-handed", "my dog is called Rex", "I live in Vaasa"]),
    st.sampled_from(["", "Hi! ", "It rains. "]),
)
def test_a_sentence_before_an_order_changes_nothing(fact: str, before: str) -> None:
    assert ordered(f"{before}Remember that {fact}.") == [fact]
