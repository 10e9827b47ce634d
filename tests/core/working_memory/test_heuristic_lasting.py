"""What outlives a conversation: tastes, names, home, family; nothing that is only so today."""

import pytest

from core.working_memory.heuristic_lasting import find_lasting


def entries(text):
    return [(line.kind.value, line.text) for line in find_lasting(text)]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Remember that I prefer tea without milk.", ("preference", "I prefer tea without milk")),
        ("Please remember: the spare key hangs in the shed.", ("fact", "The spare key hangs in the shed")),
        ("记住我周三要接孩子。", ("fact", "我周三要接孩子")),
    ],
)
def test_what_the_user_asks_to_remember_is_kept_with_more_confidence(said, kept):
    (line,) = find_lasting(said)
    assert (line.kind.value, line.text) == kept
    assert line.confidence == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I'm allergic to walnuts.", ("fact", "I'm allergic to walnuts")),
        ("I live in Turin, by the way.", ("fact", "I live in Turin")),
        ("My husband works at the harbour.", ("fact", "My husband works at the harbour")),
        ("I'm vegetarian.", ("fact", "I'm vegetarian")),
        ("I just moved to Lisbon last month.", ("fact", "I just moved to Lisbon last month")),
        ("I prefer trains to planes.", ("preference", "I prefer trains to planes")),
        ("我住在成都。", ("fact", "我住在成都")),
        ("我不吃辣。", ("preference", "我不吃辣")),
        ("我的性格比较内向。", ("fact", "我的性格比较内向")),
    ],
)
def test_tastes_traits_home_work_and_family_last(said, kept):
    assert entries(said) == [kept]


@pytest.mark.parametrize(
    "said",
    [
        "I went to an aquarium today.",
        "I usually serve it with some fresh bread.",
        "I loved the ending of that film.",
        "I love all the lanterns in the picture.",
        "My brother will drive us on Sunday.",
        "Do I like opera?",
        "Maybe I like opera.",
        "昨天我去了水族馆。",
        "最近我在学做寿司。",
        "很喜欢里面的音乐。",
        "我总是做不好。",
        "Hello! Nice to meet you.",
    ],
)
def test_what_is_so_for_a_while_or_points_elsewhere_does_not_last(said):
    assert entries(said) == []


def test_a_thing_said_twice_in_one_message_is_one_entry():
    said = "Remember that I like oat biscuits. I really like oat biscuits."
    assert entries(said) == [("preference", "I like oat biscuits")]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("It rains. Remember that I'm colour-blind. What can I do today?", [("fact", "I'm colour-blind")]),
        ("Remember that I'm vegan, what can I cook?", [("fact", "I'm vegan")]),
        ("Please always answer in short sentences.", [("fact", "Always answer in short sentences")]),
        ("我不吃香菜，也不喝牛奶，推荐几个菜", [("preference", "我不吃香菜"), ("preference", "我不喝牛奶")]),
        ("我对海鲜过敏，记得哦", [("fact", "我对海鲜过敏")]),
        ("我从上海搬到了苏州。", [("fact", "我从上海搬到了苏州")]),
        ("My name's not Tom, it's Tim", []),
    ],
)
def test_an_entry_holds_what_lasts_and_no_order_or_request_beside_it(said, kept):
    assert entries(said) == kept
