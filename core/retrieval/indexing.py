"""Vectors into the store: of a turn's messages as they are said, of everything that lacks one afterwards.

Functions over one open transaction; the vectors are computed outside of it.
"""

from collections.abc import Sequence

from core.retrieval.vector import is_usable, load_space
from core.storage import vectors
from core.storage.database import Connection
from core.storage.vectors import Entry
from core.text.sentences import split_sentences

# A shorter message is found best by its own vector: keys for its sentences cost 1.7 of a hundred answers on LoCoMo
# (R@10 75.7 to 74.0). Of a longer one the model reads the beginning only. Counted in bytes: a CJK character says more.
LEAST_SPLIT_BYTES = 600
LEAST_SENTENCE = 20  # characters; a shorter one says nothing without its message
MOST_SENTENCES = 40  # of one message: what follows is pasted material


def put_messages(c: Connection, signature: str, dimension: int, messages: Sequence[tuple[int, bytes]]) -> None:
    """Store the vectors of indexed messages, given by row."""
    number = vectors.add_signature(c, signature, dimension)
    items = vectors.find_items(c, "message", [row for row, _ in messages])
    put_items(c, number, signature, [(items[str(row)], vector) for row, vector in messages if str(row) in items])


def put_items(c: Connection, number: int, signature: str, found: Sequence[tuple[int, bytes]]) -> None:
    """Store the vectors of items; the model can be searched by once none is missing."""
    entries = []
    for item, vector in found:
        space = load_space(signature, len(vector) // 4)
        if vector and is_usable(vector, len(vector) // 4):
            entries.append(Entry(item=item, vector=vector, code=space.encode(vector)))
    vectors.put(c, number, entries)
    vectors.complete_if_filled(c, number)


def add_sentence_items(c: Connection, *, limit: int) -> int:
    """Make items of the sentences of the oldest messages that were not split yet; returns how many messages."""
    unsplit = vectors.load_unsplit(c, limit=limit)
    for item, message, session_id, text in unsplit:
        vectors.add_sentences(c, item, message, session_id, find_sentences(text))
    return len(unsplit)


def find_sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Return (start, length) of the sentences of a long message that are keys of their own."""
    if len(text.encode("utf-8", "replace")) < LEAST_SPLIT_BYTES:
        return ()
    spans: list[tuple[int, int]] = []
    at = 0
    for sentence in split_sentences(text):
        start = text.find(sentence, at)
        if start < 0:
            continue  # split across lines that the text writes otherwise
        at = start + len(sentence)
        if len(sentence) >= LEAST_SENTENCE or not sentence.isascii():
            spans.append((start, len(sentence)))
    return tuple(spans[:MOST_SENTENCES]) if len(spans) > 1 else ()
