"""What a text asks the index: terms as the index has them, and no way into its query language."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.lexical import MAX_TERMS, build_recall_query, build_search_query, loosen
from core.retrieval.names import drop_common_names, find_names

INDEX = apsw.Connection(":memory:")
INDEX.execute("CREATE VIRTUAL TABLE f USING fts5(content, cjk, tokenize='porter unicode61 remove_diacritics 2')")


def ask(match):
    return INDEX.execute("SELECT rowid FROM f WHERE f MATCH ?", (match,)).fetchall() if match else []


@given(st.text(max_size=200))
def test_any_text_is_a_query_the_index_understands(text):
    for query in (build_recall_query(text), build_search_query(text)):
        ask(query.match)
        ask(query.match_all)
        ask(loosen(query).match)
        assert len(build_recall_query(text).terms) <= MAX_TERMS


@given(st.text(alphabet='"*()^:-+{} ANDORNET近NEAR', max_size=60))
def test_marks_of_the_query_language_are_only_text(text):
    ask(build_search_query(text).match_all)
    ask(build_recall_query(text).match)


def test_courtesy_and_small_words_are_left_out_while_there_is_anything_else():
    assert build_recall_query("Hey, hope you are well! Quick one about the boiler, please").terms == ("boiler",)
    assert build_recall_query("Hallo, bitte kurz: wann kommt der Heizungsmonteur?").terms[-1] == "heizungsmonteur"
    assert build_recall_query("请问锅炉在哪").terms == ("锅炉",)
    assert build_recall_query("what is it").terms == ("what", "is", "it")
    assert build_recall_query("你是谁").terms == ("你是", "是谁")


def test_file_names_and_possessives_are_words():
    assert build_recall_query("Where is Ada's retry.py?").terms == ("ada", "retry.py")


def test_the_rarest_terms_are_kept_in_the_order_they_are_said_in():
    words = [f"word{n}" for n in range(20)]
    query = build_recall_query(" ".join(words), lambda terms: {term: -int(term[4:]) for term in terms})
    assert query.terms == tuple(words[8:])


def test_a_phrase_is_one_condition_and_keywords_are_asked_for_together():
    assert build_search_query('"blue door" paint').match_all == '"blue door" AND "paint"'
    assert build_search_query("“锅炉保修”").match_all == '"锅炉 炉保 保修"'
    assert build_search_query("blue door").keywords
    assert not build_search_query("when did we paint the blue door?").keywords


@pytest.mark.parametrize("text", ["", "   ", "🎉", '()*":', '""', "!!!"])
def test_without_a_word_nothing_is_searched(text):
    assert not build_search_query(text)
    assert build_recall_query(text).match == ""


def test_names_that_are_everywhere_are_left_out_of_what_is_embedded():
    counts = {"ada": 50, "turin": 1}
    text = "When did Ada's brother move to Turin?"
    assert find_names(text) == ("ada", "turin")
    assert drop_common_names(text, 1000, lambda names: counts) == "When did brother move to Turin?"
    assert drop_common_names("Ada", 1000, lambda names: counts) == "Ada"
