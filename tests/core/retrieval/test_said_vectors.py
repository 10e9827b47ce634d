"""The vectors of what the user said, for the update of memory: messages and their sentences, by text."""

from core.retrieval.indexing import add_sentence_items, put_items
from core.storage import vectors
from tests.core.retrieval.conftest import MODEL, pointing

FIRST = f"A first sentence about boilers{' and more' * 40}."
SECOND = f"A second sentence about doors{' and more' * 40}."


def test_messages_and_sentences_of_the_turns_are_found_by_their_text(say, write):
    say("a", "too early", vector=pointing(0))
    first = say("a", f"{FIRST}\n {SECOND}", vector=pointing(1))
    last = say("a", "short\nand  wide", vector=pointing(2))
    say("a", "too late", vector=pointing(3))
    say("b", "of another conversation", vector=pointing(4))

    def fill(c):
        number = vectors.add_signature(c, MODEL, 8)
        add_sentence_items(c, limit=100)
        for n, item in enumerate(vectors.load_missing(c, number, limit=100)):
            put_items(c, number, MODEL, [(item.item, pointing(5 + n))])
        return number

    number = write(fill)
    found = write(lambda c: vectors.load_said_vectors(c, "a", number, first=first, last=last))
    assert found == {
        f"{FIRST} {SECOND}": pointing(1),
        FIRST: pointing(5),
        SECOND: pointing(6),
        "short and wide": pointing(2),
    }
    assert write(lambda c: vectors.load_said_vectors(c, "a", number + 1, first=first, last=last)) == {}
