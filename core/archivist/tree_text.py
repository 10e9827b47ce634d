"""The memory tree as text: Markdown of its chunks and nodes, and the words of a node made without a model.

Pure. Headers name turn, speaker and time; they are no part of a chunk's body.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

from core.archivist.markers import is_acknowledgement
from core.archivist.recap_text import tells_something
from core.archivist.tree import SOURCE_ID, TreeMessage
from core.model import Role
from core.text.sentences import split_sentences

FIRST_SENTENCE_CHARACTERS = 200
LOOKED_AT = 12  # sentences of a message


def render_chunk(chunk_id: str, session_id: str, messages: Sequence[TreeMessage], *, partial: bool) -> str:
    """Return a chunk as a Markdown file: what it is, then each message under a header of its own."""
    turns = list(dict.fromkeys(message.turn for message in messages))
    head = _front_matter(
        chunk=chunk_id, source=SOURCE_ID, session_id=session_id, turns=turns, partial=partial, at=_stamp(messages[0].at)
    )
    bodies = (f"## Turn {m.turn} · {m.role} · {_stamp(m.at)}\n\n{m.text}" for m in messages)
    return head + "\n\n".join(bodies) + "\n"


def render_node(
    node_id: str, level: int, summary: str, children: Sequence[str], *, source: str, started_at: float, ended_at: float
) -> str:
    """Return a summary node as a Markdown file; `children` are ids."""
    head = _front_matter(
        node=node_id,
        level=level,
        source=SOURCE_ID,
        made_by=source,
        begins=_stamp(started_at),
        ends=_stamp(ended_at),
        children=list(children),
    )
    return f"{head}{summary}\n"


def take_first_sentence(texts: Sequence[str]) -> str:
    """Return the first sentence of some texts that tells something, cut at 200 characters; else any that is said."""
    said = [" ".join(sentence.split()) for text in texts for sentence in islice(split_sentences(text), LOOKED_AT)]
    said = [line for line in said if any(map(str.isalnum, line)) and not is_acknowledgement(line)]
    line = next(filter(tells_something, said), said[0] if said else "")
    cut = line[: FIRST_SENTENCE_CHARACTERS - 1].rstrip()
    return line if len(line) <= FIRST_SENTENCE_CHARACTERS else cut + "…"


def open_messages(messages: Sequence[TreeMessage]) -> list[str]:
    """Return the texts in the order in which a first sentence is looked for: the user's, then the replies."""
    said = [message.text for message in messages if message.role is Role.USER]
    return said + [message.text for message in messages if message.role is not Role.USER]


def _front_matter(**fields: object) -> str:
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items())
    return "---\n" + "\n".join(lines) + "\n---\n\n"


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
