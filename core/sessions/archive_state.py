"""What to do next with an archive, from what a crash left of it.

Pure. The store is the truth: an archive whose messages the store does not hold as archived never
happened; anything else is finished from where it stands.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

META = ".meta.json"
MESSAGES = "messages.jsonl"
OVERVIEW = ".overview.md"
ABSTRACT = ".abstract.md"
MEMORY_DIFF = "memory_diff.json"
DONE = ".done"


class NextStep(StrEnum):
    """What an archive needs. The values are part of the spec's vectors."""

    NOTHING = "nothing"
    DISCARD = "discard"
    FINISH_PHASE1 = "finish_phase1"
    RUN_WM = "run_wm"
    FINISH_WM = "finish_wm"
    RUN_EXTRACTION = "run_extraction"
    WAIT_FOR_RETRY = "wait_for_retry"
    WRITE_DONE = "write_done"


class Phase1(StrEnum):
    """How far the archive's own files are. The values are stored."""

    PREPARING = "preparing"
    READY = "ready"


class StageState(StrEnum):
    """How far a stage of phase 2 is; only the document has "writing". The values are stored."""

    PENDING = "pending"
    WRITING = "writing"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveMeta:
    """The states that an archive's `.meta.json` holds."""

    phase1: str = Phase1.PREPARING
    wm: str = StageState.PENDING
    extraction: str = StageState.PENDING


def find_next_step(files: Collection[str], meta: ArchiveMeta | None, *, in_store: bool) -> NextStep:
    """Return what an archive needs; `files` are the names in its folder."""
    if DONE in files and OVERVIEW in files:
        return NextStep.NOTHING
    if not in_store:
        return NextStep.DISCARD
    if meta is None or META not in files or MESSAGES not in files or meta.phase1 != Phase1.READY:
        return NextStep.FINISH_PHASE1
    if OVERVIEW not in files:
        return NextStep.WAIT_FOR_RETRY if meta.wm == StageState.FAILED else NextStep.RUN_WM
    if meta.wm == StageState.PENDING:
        return NextStep.RUN_WM
    if ABSTRACT not in files or meta.wm != StageState.COMPLETE:
        return NextStep.FINISH_WM
    if MEMORY_DIFF not in files:
        failed = meta.extraction == StageState.FAILED
        return NextStep.WAIT_FOR_RETRY if failed else NextStep.RUN_EXTRACTION
    return NextStep.WRITE_DONE
