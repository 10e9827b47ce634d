"""Builds and joins what commits conversations: phase 1, phase 2 as jobs, and what crashes left of either."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.changes import Changes
from core.jobs.archive_jobs import ArchiveJobs
from core.jobs.runner import Handler
from core.sessions.archive_recovery import recover_archives
from core.sessions.commit import Committer
from core.sessions.phase_two import Extraction, FindUpdater, PhaseTwo
from core.storage import queue
from core.storage.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Committing:
    """The parts; `handlers` are theirs, by job kind."""

    committer: Committer
    phase_two: PhaseTwo
    jobs: ArchiveJobs
    handlers: Mapping[str, Handler]


def build_committing(
    database: Database,
    *,
    workspace: Path,
    context_tokens: int,
    tail_tokens: int,
    find_updater: FindUpdater,
    extract: Extraction,
    pool: Executor,
    archives: Executor,
    publish: Callable[[Changes], None],
    clock: Callable[[], float],
) -> Committing:
    """Build the parts; starts nothing. `find_updater` returns what asks a model, None where none is to be asked."""

    async def asks_model() -> bool:
        return await find_updater() is not None

    committer = Committer(
        database,
        workspace=workspace,
        clock=clock,
        pool=pool,
        files=archives,
        tail_tokens=tail_tokens,
        asks_model=asks_model,
    )
    phase_two = PhaseTwo(
        database,
        workspace=workspace,
        clock=clock,
        pool=pool,
        files=archives,
        find_updater=find_updater,
        extract=extract,
        context_tokens=context_tokens,
    )
    recover = partial(recover_archives, database, workspace=workspace, files=archives, clock=clock)
    jobs = ArchiveJobs(database, phase_two, recover=recover, publish=publish)
    return Committing(
        committer=committer,
        phase_two=phase_two,
        jobs=jobs,
        handlers={queue.MEMORY_UPDATE: jobs.finish},
    )
