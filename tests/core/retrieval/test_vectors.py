"""Vectors follow what they were made from; models stand beside each other until the new one is complete."""

import pytest

from core.retrieval.indexing import add_sentence_items, find_sentences, put_items, put_messages
from core.storage import episodic, vectors
from tests.core.retrieval.conftest import MODEL, pointing

LONG = f"A first sentence about boilers{' and more' * 40}. A second sentence about doors{' and more' * 40}."
TABLES = ("vector_items", "vector_codes", "vectors")


def count(write):
    return [write(lambda c, t=table: c.execute(f"SELECT count(*) FROM {t}").fetchone()[0]) for table in TABLES]


def fill(write, name=MODEL):
    """Give every item a vector, as the background does."""

    def work(c):
        number = vectors.add_signature(c, name, 8)
        add_sentence_items(c, limit=100)
        for item in vectors.load_missing(c, number, limit=100):
            put_items(c, number, name, [(item.item, pointing(0))])
        return number

    return write(work)


def test_a_deleted_turn_leaves_no_item_code_or_vector(say, write):
    turn = say("a", LONG, vector=pointing(0))
    fill(write)
    assert count(write) == [3, 3, 3]
    write(lambda c: c.execute("DELETE FROM turns WHERE turn = ?", (turn,)))
    assert count(write) == [0, 0, 0]


def test_a_changed_message_loses_its_vectors_and_a_new_neighbour_changes_none(say, write):
    turn = say("a", LONG, vector=pointing(0))
    fill(write)
    say("a", "Something else")
    assert count(write) == [4, 3, 3]
    write(lambda c: episodic.put_turn(c, "a", turn, user="Other words", user_ts=1.0, reply="", reply_ts=2.0))
    assert count(write) == [2, 0, 0]


def test_a_vector_is_replaced_not_doubled(say, write):
    say("a", "words", vector=pointing(0))
    row = write(lambda c: c.execute("SELECT id FROM episodic").fetchone()[0])
    write(lambda c: put_messages(c, MODEL, 8, [(row, pointing(3))]))
    assert count(write) == [1, 1, 1]


def test_a_new_model_serves_only_when_nothing_is_missing_and_the_old_one_until_then(say, write):
    for n in range(3):
        say("a", f"message {n}", vector=pointing(n))
    row = write(lambda c: c.execute("SELECT id FROM episodic").fetchone()[0])
    write(lambda c: put_messages(c, "newer", 8, [(row, pointing(0))]))
    assert write(vectors.get_searchable).name == MODEL
    write(lambda c: vectors.drop_others(c, "newer"))  # not complete: nothing goes
    assert count(write)[1:] == [4, 4]
    number = fill(write, "newer")
    assert write(vectors.get_searchable).name == "newer"
    assert write(lambda c: vectors.load_missing(c, number, limit=9)) == ()
    write(lambda c: vectors.drop_others(c, "newer"))
    assert count(write)[1:] == [3, 3]


def test_what_lacks_a_vector_is_a_query_oldest_first(say, write):
    say("a", "first")
    say("b", "second")
    number = write(lambda c: vectors.add_signature(c, MODEL, 8))
    assert [m.text for m in write(lambda c: vectors.load_missing(c, number, limit=9))] == ["first", "second"]
    assert write(vectors.get_searchable) is None
    assert write(vectors.find_waiting_conversation) == "a"
    fill(write)
    assert write(vectors.find_waiting_conversation) is None


@pytest.mark.parametrize("vector", [b"", bytes(32), pointing(0)[:12]])
def test_a_vector_that_says_nothing_is_not_stored(say, write, vector):
    say("a", "words", vector=vector)
    assert count(write)[2] == (1 if len(vector) == 12 else 0)


def test_sentences_are_spans_of_their_message():
    text = f"The boiler is leaking again. Ok.\n- Call the plumber on Monday\n锅炉坏了。明天修。\n{'x' * 600}"
    spans = [text[start : start + length] for start, length in find_sentences(text)]
    assert spans == ["The boiler is leaking again.", "Call the plumber on Monday", "锅炉坏了。", "明天修。", "x" * 600]
    assert find_sentences(f"One sentence only, however long it may be{' and on' * 200}.") == ()
    assert find_sentences("Two short sentences. They need no keys.") == ()


def test_an_event_is_an_item_as_long_as_it_is_there(say, write):
    turn = say("a", "words")
    write(
        lambda c: c.execute(
            "INSERT INTO events(event_id, session_id, segment_id, kind, text, key, negative, confidence, subject, rule,"
            " first_turn) VALUES ('e', 'a', 's', 'fact', 'I own a boat', 'k', 0, 0.7, 'user', 'r', ?)",
            (turn,),
        )
    )
    number = fill(write)
    assert count(write) == [2, 2, 2]
    write(lambda c: c.execute("UPDATE events SET text = 'I own a canoe'"))
    assert [m.text for m in write(lambda c: vectors.load_missing(c, number, limit=9))] == ["I own a canoe"]
    write(lambda c: c.execute("DELETE FROM events"))
    assert count(write) == [1, 1, 1]
