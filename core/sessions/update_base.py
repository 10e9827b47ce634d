"""What an update of Working Memory starts from: the newest version, what waits for it, and what was archived.

Archives before it that no document holds are rolled forward: their messages belong to the same update.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.model import EditKind, MemoryEdit, Message, Role, SessionId
from core.profile.forgetting import cut_forgotten
from core.redaction import redact
from core.sessions import archive_twin
from core.sessions.commit import load_user_texts
from core.sessions.fold import read_proposals
from core.storage import archives, conversations, memory_edits, memory_versions, tombstones, vectors
from core.storage.archives import Archive
from core.storage.database import Connection
from core.storage.memory_versions import PendingLine, Version
from core.working_memory.material import Material, QuotedMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What an update starts from."""

    version: Version | None
    pending: tuple[PendingLine, ...]
    user_texts: tuple[str, ...]
    messages: tuple[Message, ...]  # of the archive and of those before it that no document holds
    covers: tuple[int, ...]
    language: str
    vectors: Mapping[str, bytes]  # of what the user said in the messages, as far as they are there, by text
    vector_model: str | None  # their model's signature
    forgotten: frozenset[str] = frozenset()  # hashes of what must not come back


def load_base(c: Connection, archive: Archive) -> Base:
    """Read what the update of an archive starts from."""
    session_id = archive.session_id
    pending = memory_versions.load_pending(c, session_id)
    forward = (*archives.load_uncovered(c, session_id, before=archive.number), archive)
    messages = {
        message.id: message
        for each in forward
        for allowed in [archives.load_remembered(c, each)]
        for message in archives.load_messages(c, each)
        if message.turn in allowed
    }
    said = archive_twin.list_user_texts(tuple(messages.values()))
    model = vectors.get_searchable(c)
    turns = sorted(message.turn for message in messages.values())
    known = {}
    if model is not None and turns:
        known = vectors.load_said_vectors(c, session_id, model.id, first=turns[0], last=turns[-1])
    return Base(
        version=memory_versions.get(c, session_id),
        pending=pending,
        user_texts=tuple(dict.fromkeys((*said, *load_user_texts(c, session_id, pending)))),
        messages=tuple(messages.values()),
        covers=tuple(each.number for each in forward),
        language=conversations.load_language(c, session_id) or "en",
        vectors=known,
        vector_model=model.name if model is not None else None,
        forgotten=tombstones.load_all(c),
    )


def load_edits(c: Connection, session_id: SessionId, base: Base) -> tuple[Version | None, tuple[MemoryEdit, ...]]:
    """Return the newest version and what the user did since `base`; None where nothing or something else came since.

    A waiting line that the user discarded is removed from a result that has taken it up.
    """
    number = base.version.number if base.version else 0
    newest = memory_versions.get(c, session_id)
    if newest is None or newest.number == number or not memory_versions.are_by_hand(c, session_id, number):
        return None, ()
    waiting = {line.id for line in memory_versions.load_pending(c, session_id)}
    held = {(section, line.text) for section, lines in newest.lines.items() for line in lines}
    gone = [line for line in base.pending if line.id not in waiting and (line.section, line.text) not in held]
    discarded = [
        MemoryEdit(kind=kind, section=line.section, text=line.text)
        for line in gone
        for kind in (EditKind.REMOVE, EditKind.DROP)
    ]
    return newest, (*discarded, *memory_edits.load_since(c, session_id, number))


def make_material(base: Base, context_tokens: int) -> Material:
    """Return what a model may look at; `context_tokens` is its window. What was forgotten is left out."""
    version, hashes = base.version, base.forgotten
    said = [(m, cut_forgotten(m.text, hashes) if m.role is Role.USER else m.text) for m in base.messages]
    return Material(
        document=version.document if version else "",
        parked=version.parked if version else {},
        lines=version.lines if version else {},
        messages=tuple(QuotedMessage(id=m.id, turn=m.turn, role=m.role, text=redact(text)) for m, text in said if text),
        proposals=read_proposals(base.pending),
        language=base.language,
        context_tokens=context_tokens,
        user_texts=tuple(text for said in base.user_texts if (text := cut_forgotten(said, hashes))),
        vectors=base.vectors,
        vector_model=base.vector_model,
    )
