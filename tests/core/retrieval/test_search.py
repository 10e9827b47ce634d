"""Searching a real store: words, Chinese, filters, meaning, and nothing where nothing is near."""

import pytest

from core.model import Role, SessionId
from core.retrieval.aliases import Named, find_named
from core.retrieval.search import Asked, find_messages
from core.storage import conversations, search
from core.storage.search import Filters
from tests.core.retrieval.conftest import MODEL, pointing

ANY = Filters()


@pytest.fixture
def find(write):
    def work(text, filters=ANY, asked=None, limit=20):
        def read(c):
            found = find_messages(c, text, asked, filters, limit=limit)
            return [message.content for message in search.load_messages(c, [f.id for f in found])]

        return write(read)

    return work


def test_what_was_said_is_found_by_its_words_and_its_neighbour_after_it(say, find):
    say("a", "The boiler is leaking", "Call the plumber.")
    say("b", "Bananas are yellow", "They are.")
    assert find("boilers leak?") == ["The boiler is leaking", "Call the plumber."]


@pytest.mark.parametrize("text", ["茶", "绿茶", "喝绿茶", "我在喝绿茶"])
def test_chinese_is_found_by_one_two_and_more_characters(say, find, text):
    say("a", "我每天早上喝绿茶")
    say("a", "天气很好")
    assert find(text)[0] == "我每天早上喝绿茶"


def test_words_and_numbers_inside_chinese_text_are_found(say, find):
    say("a", "我的上司今年45岁，用iPhone手机")
    say("a", "天气很好")
    assert find("iphone") == find("45岁") == ["我的上司今年45岁，用iPhone手机"]


@pytest.mark.parametrize("text", ['"', "AND OR (", "NEAR(", "🎉", "", "* *", '""', "boiler AND", "col:boiler^2"])
def test_broken_syntax_emoji_and_nothing_are_answered(say, find, text):
    say("a", "The boiler is leaking")
    assert find(text) in (["The boiler is leaking"], [])


def test_a_question_about_something_never_said_finds_nothing(say, find):
    for n in range(40):
        say("a", f"We talked about the garden, plan number {n}")
    assert find("quantum chromodynamics lecture") == []


def test_filters_are_applied_before_the_limit(say, find):
    for n in range(30):
        say("old", f"boiler boiler boiler {n}", at=10.0)
    say("new", "Somebody mentioned a boiler once, long ago, in a long sentence", "The boiler again", at=2000.0)
    assert find("boiler", Filters(since=1500.0, role=Role.USER), limit=1) == [
        "Somebody mentioned a boiler once, long ago, in a long sentence"
    ]
    assert len(find("boiler", Filters(session_id=SessionId("new")))) == 2
    assert len(find("boiler", Filters(not_session_id=SessionId("old")))) == 2


def test_a_hidden_conversation_is_not_found_and_comes_back_when_restored(say, find, write):
    say("a", "The boiler is leaking", vector=pointing(0))
    say("b", "Bananas are yellow", vector=pointing(3))
    asked = Asked(signature=MODEL, vector=pointing(0))
    write(lambda c: conversations.set_deleted(c, SessionId("a"), 5.0))
    assert find("boiler") == find("boiler", asked=asked) == []
    write(lambda c: conversations.set_deleted(c, SessionId("a"), None))
    assert find("boiler", asked=asked)[0] == "The boiler is leaking"


def test_meaning_finds_what_words_do_not(say, find):
    say("a", "The heating is broken", vector=pointing(0))
    say("a", "Bananas are yellow", vector=pointing(4))
    assert find("something warm", asked=Asked(signature=MODEL, vector=pointing(0))) == ["The heating is broken"]
    assert find("something warm", asked=Asked(signature="another model", vector=pointing(0))) == []


def test_meaning_keeps_to_the_filters(say, find):
    say("a", "The heating is broken", vector=pointing(0))
    say("b", "The heating works", vector=pointing(0))
    asked = Asked(signature=MODEL, vector=pointing(0))
    assert find("something warm", Filters(session_id=SessionId("b")), asked) == ["The heating works"]


def test_only_what_is_named_whole_comes_back():
    known = (
        Named(key="mongo", names=("mongodb_raw_driver", "MongoDB")),
        Named(key="k8s", names=("kubernetes", "k8s")),
        Named(key="errors", names=("error handling",)),
        Named(key="tea", names=("绿茶",)),
    )
    assert find_named("what's our K8S story and eror handling?", known) == ("k8s", "errors")
    assert find_named("mango connection pooling on k9s", known) == ()
    assert find_named("how do we handle errors", known) == ()
    assert find_named("我喜欢喝绿茶", known) == ("tea",)
