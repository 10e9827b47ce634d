"""Archives that did not get through: what crashes left of them, put right at start, and the user's retry.

The table is that of working-memory.md section 21. A folder whose archive the store does not hold never happened:
it goes, and its number with it. Every other archive that is not finished is queued again and goes on where it
stands; one that was given up waits for the user.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.model import SessionId
from core.sessions import archive_twin
from core.sessions.archive_files import ArchiveFolder, OnStep, ignore_step, list_archives
from core.sessions.archive_state import NextStep
from core.sessions.commit import name_job, queue_phase_two
from core.sessions.phase_two import MAX_ATTEMPTS
from core.storage import archives, queue
from core.storage.archives import Failure, Stage
from core.storage.database import Connection, Database

log = logging.getLogger(__name__)

Key = tuple[SessionId, int]
HAPPENED = ("pending", "failed", "done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What was found: archives that go on, and folders that went."""

    resumed: tuple[Key, ...] = ()
    discarded: tuple[Key, ...] = ()


async def recover_archives(
    database: Database,
    *,
    workspace: Path,
    files: Executor,
    clock: Callable[[], float],
    on_step: OnStep = ignore_step,
) -> Recovered:
    """Look at every archive of a workspace and queue what is unfinished; for the start of a process."""
    loop = asyncio.get_running_loop()
    # folders first: one whose archive is committed in between is then found in the store
    folders = await loop.run_in_executor(files, _list_folders, workspace)
    states = await database.read(archives.load_states)
    keys = sorted({*folders, *(key for key, state in states.items() if state in HAPPENED)})
    steps = await loop.run_in_executor(files, _find_steps, workspace, keys, states)
    resumed, discarded = [], []
    for key, step in steps.items():
        session_id, number = key
        state = states.get(key, "")
        if step is NextStep.DISCARD:
            gone = partial(archives.discard, session_id=session_id, number=number, at=clock())
            if await database.write(gone):
                await loop.run_in_executor(files, _folder(workspace, key, on_step).remove)
                discarded.append(key)
        elif state == "pending" or (state == "done" and step is not NextStep.NOTHING):
            await database.write(partial(_resume, session_id=session_id, number=number, at=clock()), repeatable=True)
            resumed.append(key)
    if resumed or discarded:
        log.info("archives after a crash: %s go on, %s discarded", resumed, discarded)
    return Recovered(resumed=tuple(resumed), discarded=tuple(discarded))


def _folder(workspace: Path, key: Key, on_step: OnStep = ignore_step) -> ArchiveFolder:
    return ArchiveFolder(workspace / "sessions" / key[0], key[1], on_step)


def _list_folders(workspace: Path) -> set[Key]:
    sessions = workspace / "sessions"
    try:
        names = os.listdir(sessions)
    except OSError:
        return set()
    return {(SessionId(name), number) for name in names for number in list_archives(sessions / name)}


def _find_steps(workspace: Path, keys: list[Key], states: dict[Key, str]) -> dict[Key, NextStep]:
    return {key: archive_twin.find_step(_folder(workspace, key), in_store=states.get(key) in HAPPENED) for key in keys}


def _resume(c: Connection, *, session_id: SessionId, number: int, at: float) -> None:
    """Queue an archive again unless it is queued."""
    archive = archives.get(c, session_id, number)
    if archive is not None:
        archives.set_state(c, session_id, number, "pending")
        queue_phase_two(c, session_id, number, has_version=archive.version is not None, at=at)


def restart(c: Connection, session_id: SessionId, number: int, *, at: float) -> bool:
    """Try an archive afresh that was given up or waits; False if it is done or gone."""
    archive = archives.get(c, session_id, number)
    if archive is None or archive.state == "done":
        return False
    archives.clear_failures(c, session_id, number)
    archives.set_state(c, session_id, number, "pending")
    queue.drop_job(c, name_job(session_id, number))  # it may have run out of attempts, or be of the other lane
    queue_phase_two(c, session_id, number, has_version=archive.version is not None, at=at)
    return True


def give_up(c: Connection, session_id: SessionId, number: int, *, why: str, at: float) -> None:
    """Stop working on an archive until the user's retry, unless its document is there already: the rest goes on."""
    archive = archives.get(c, session_id, number)
    if archive is None or archive.version is not None or archive.state != "pending":
        return
    failure = Failure(stage=Stage.MEMORY, attempts=MAX_ATTEMPTS, error=why, at=at)
    archives.note_failure(c, session_id, number, failure)
    archives.set_state(c, session_id, number, "failed")
    queue.drop_job(c, name_job(session_id, number))
