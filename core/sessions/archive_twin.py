"""An archive's files, stage by stage, from what the store holds of it. Runs on a files thread.

Each stage may be done again: it writes what is missing and leaves what is whole (working-memory.md section 21).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from core.model import Message, MessageId, Role, TurnId
from core.redaction import redact
from core.sessions.archive_files import (
    ABSTRACT,
    DONE,
    MEMORY_DIFF,
    MESSAGES,
    META,
    OVERVIEW,
    ArchiveFolder,
    read_states,
)
from core.sessions.archive_state import NextStep, Phase1, StageState, find_next_step
from core.storage.archives import Archive, Failure, Stage
from core.storage.memory_versions import Version
from core.storage.parked_lists import pack
from core.storage.turns import LiveMessage
from core.working_memory.overview import make_abstract

_META_KEYS = {Stage.MEMORY: "wm", Stage.EXTRACTION: "extraction"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What the conversation's own `.meta.json` says, in tokens and messages."""

    pending_tokens: int
    live_tokens: int
    keep: int


def describe(archive: Archive, moved: Sequence[MessageId]) -> dict[str, object]:
    """Return what an archive's `.meta.json` says from the start."""
    return {
        "cause": archive.cause,
        "archived": list(moved),
        "kept": list(archive.kept),
        "copied": list(archive.copied),
        "keep": archive.keep,
        "base": archive.number - 1 or None,
        "phase1": Phase1.PREPARING,
        "wm": StageState.PENDING,
        "extraction": StageState.PENDING,
    }


def begin(
    folder: ArchiveFolder, archive: Archive, messages: Sequence[Message | LiveMessage], moved: Sequence[MessageId]
) -> None:
    """Write the files that stand before the commit point."""
    folder.write_json(META, describe(archive, moved))
    folder.write_lines(
        MESSAGES, ({"id": m.id, "turn": m.turn, "role": m.role, "content": redact(m.text)} for m in messages)
    )
    folder.sync()


def find_step(folder: ArchiveFolder, *, in_store: bool) -> NextStep:
    """Return what the files in a folder need next."""
    return find_next_step(folder.list_files(), read_states(folder.read_meta()), in_store=in_store)


def mark_ready(
    folder: ArchiveFolder, archive: Archive, messages: Sequence[Message | LiveMessage], counters: Counters
) -> None:
    """End phase 1: rebuild what a crash took of its files, and say that they are whole."""
    folder.make()
    moved = [MessageId(m.id) for m in messages if m.id not in set(archive.copied)]
    if MESSAGES not in folder.list_files():
        begin(folder, archive, messages, moved)
    folder.write_session({"newest_archive": archive.number, **asdict(counters)})
    folder.write_json(META, {**describe(archive, moved), **folder.read_meta(), "phase1": Phase1.READY})


def write_document(folder: ArchiveFolder, version: Version, covers: Sequence[int]) -> None:
    """Write the document's files: the parked list is on disk before the document that leaves its lines out.

    What is whole stays: a document whose hash is known needs only its abstract and its mark, or nothing.
    """
    digest = sha256(version.document.encode()).hexdigest()
    before = folder.read_meta()
    is_there = before.get("document_sha256") == digest and folder.hash_overview() == digest
    if is_there and before.get("wm") == StageState.COMPLETE and ABSTRACT in folder.list_files():
        return
    meta = {
        **_without(before, "wm_failure"),
        "mode": version.mode,
        "version": version.number,
        "covers": list(covers),
        "decisions": [pack(decision) for decision in version.decisions],
        "notes": list(version.notes),
        "parked": {name: [pack(line) for line in lines] for name, lines in version.parked.items() if lines},
        "document_sha256": digest,
    }
    if not is_there or before.get("wm") not in (StageState.WRITING, StageState.COMPLETE):
        folder.write_json(META, {**meta, "wm": StageState.WRITING})
        folder.write(OVERVIEW, version.document)
    folder.write(ABSTRACT, make_abstract(version.document) + "\n")
    folder.write_json(META, {**meta, "wm": StageState.COMPLETE})


def write_changes(
    folder: ArchiveFolder, archive: Archive, turns: Sequence[TurnId], changes: Sequence[Mapping[str, object]]
) -> None:
    """Write what the extraction changed, also when that is nothing; nothing is written where it is there."""
    meta = folder.read_meta()
    if MEMORY_DIFF in folder.list_files() and meta.get("extraction") == StageState.COMPLETE:
        return
    folder.write_json(
        MEMORY_DIFF, {"archive": archive.number, "covers": list(turns), "changes": [dict(each) for each in changes]}
    )
    folder.write_json(META, {**_without(meta, "extraction_failure"), "extraction": StageState.COMPLETE})


def write_failure(folder: ArchiveFolder, failure: Failure) -> None:
    """Say in `.meta.json` that a stage was given up, and why."""
    key = _META_KEYS.get(failure.stage)
    if key is None or not folder.path.is_dir():
        return
    told = {"error": redact(failure.error), "attempts": failure.attempts, "at": failure.at}
    folder.write_json(META, {**folder.read_meta(), key: StageState.FAILED, f"{key}_failure": told})


def write_done(folder: ArchiveFolder) -> None:
    """Write `.done`, which may not be seen before what it vouches for."""
    folder.clear_temporaries()
    folder.sync()
    folder.write(DONE, "")
    folder.sync()


def list_turns(messages: Sequence[Message], copied: Sequence[MessageId]) -> tuple[TurnId, ...]:
    """Return the turns that an archive covers; one whose question is only copied belongs to the next."""
    return tuple(sorted({message.turn for message in messages if message.id not in set(copied)}))


def list_user_texts(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the user's own words in an archive, redacted."""
    return tuple(redact(message.text) for message in messages if message.role is Role.USER)


def _without(meta: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name != key}
