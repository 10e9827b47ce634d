"""Parked lists are asked through an index that follows them; the answers are those of reading every line."""

from hypothesis import given
from hypothesis import strategies as st

from core.model import Origin, ParkedLine
from core.text.keys import KeyIndex, item_key
from core.text.normal_form import fresh_items
from core.working_memory.parked import ParkReason, park, release, returns_by_itself
from core.working_memory.parked_index import KEPT_FROM_LINES, ParkedIndex, index_parked

OTHERS = tuple(
    ParkedLine(text=f"Berth number {number} is taken", reason=ParkReason.STOP) for number in range(KEPT_FROM_LINES)
)
# few words, so that texts are often the same but for their dress
words = st.sampled_from(["the boat", "boats", "is red", "call Bea", "Bea", "船是红的", "v1.5"])
clauses = st.lists(words, min_size=1, max_size=3).map(" ".join)
dressed = st.one_of(
    clauses,
    st.builds(": ".join, st.lists(clauses, min_size=2, max_size=2)),
    clauses.map(lambda text: f"{text}:"),
    clauses.map(lambda text: f"- {text}"),
    clauses.map(lambda text: f"**{text}**."),
    st.builds("[2024-05-0{}] {}".format, st.integers(1, 3), clauses),
    st.builds("; ".join, st.lists(clauses, min_size=2, max_size=3)),
    st.builds("{}. {}.".format, clauses, clauses),
    st.builds("\n- ".join, st.lists(clauses, min_size=2, max_size=2)),
    st.builds("\n".join, st.lists(clauses, min_size=2, max_size=2)),
    st.sampled_from(["", "  ", "[x]", "---", "[⚠ CONSOLIDATION REQUIRED: now]"]),
)
parked_lines = st.builds(
    ParkedLine, text=dressed, reason=st.sampled_from(ParkReason), origin=st.none() | st.just(Origin.MODEL)
)
lists = st.lists(parked_lines, max_size=6).map(tuple)
bodies = st.lists(dressed, max_size=5).map(lambda items: "\n".join(f"- {item}" for item in items))


def release_one_by_one(parked, body):
    """The plain way: every line against the whole body."""
    unsaid = set(fresh_items([line.text for line in parked], body)) if body else {line.text for line in parked}
    return [line for line in parked if line.text in unsaid or not item_key(line.text)]


@given(lists, lists, bodies, st.booleans())
def test_what_a_body_says_leaves_the_list(first, second, body, long):
    for lines in (first, (*first, *second), second):  # the index of a long list follows from one to the next
        whole = (*OTHERS, *lines) if long else lines
        assert list(release(whole, body)) == release_one_by_one(whole, body)


@given(lists, lists, dressed, st.booleans())
def test_a_text_is_held_by_a_list_if_it_is_a_duplicate_of_a_line(first, second, text, long):
    for lines in (first, second, (*second, *first)):
        whole = (*OTHERS, *lines) if long else lines
        texts = [line.text for line in whole]
        assert index_parked(whole).holds(text) == KeyIndex(texts).holds(text)
        returning = [line.text for line in whole if returns_by_itself(line)]
        assert index_parked(whole).holds(text, returns_by_itself) == KeyIndex(returning).holds(text)


@given(lists, st.lists(dressed, max_size=4), st.booleans())
def test_what_waits_already_is_not_parked_again(lines, texts, long):
    whole = (*OTHERS, *lines) if long else lines
    known, expected = KeyIndex(line.text for line in whole), [line.text for line in whole]
    for text in texts:
        if text.strip() and not known.holds(text):
            known.add(text)
            expected.append(text)
    assert [line.text for line in park(whole, texts, ParkReason.CAP)] == expected


@given(lists, lists)
def test_an_index_follows_a_list_or_says_that_it_cannot(first, second):
    index = ParkedIndex(first)
    if index.follow(first, (*first[1:], *second)):
        for line in (*first, *second):
            key = item_key(line.text)
            found, fresh = index.find(key), ParkedIndex((*first[1:], *second)).find(key)
            assert (found is None) == (fresh is None)
            assert found is None or item_key(found.text) == key
