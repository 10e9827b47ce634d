"""Builds and joins what finishes closed segments: the finaliser, recaps, the memory tree."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from core.changes import Changes
from core.config import LearningSettings
from core.jobs.finalise import RECAP, TREE, Finaliser, FindModel
from core.jobs.recaps import RecapMaker
from core.jobs.runner import Handler
from core.jobs.tree import TreeKeeper
from core.storage.database import Database
from core.storage.recaps import FINALISE
from core.storage.tree import SEAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Finishing:
    """The parts; `handlers` are theirs, by job kind."""

    finaliser: Finaliser
    recaps: RecapMaker
    tree: TreeKeeper

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {
            FINALISE: self.finaliser.finalise,
            RECAP: self.recaps.run,
            TREE: self.tree.grow,
            SEAL: self.tree.seal,
        }


def build_finishing(
    database: Database,
    *,
    workspace: Path,
    learning: LearningSettings,
    find_model: FindModel,
    pool: Executor,
    files: Executor,
    publish: Callable[[Changes], None],
    clock: Callable[[], float],
) -> Finishing:
    """Build the parts; starts nothing."""
    finaliser = Finaliser(database, learning=learning, find_model=find_model, pool=pool, clock=clock)
    recaps = RecapMaker(
        database,
        learning=learning,
        find_model=find_model,
        queue_due=finaliser.queue_due,
        queue_learners=finaliser.queue_learners,
        pool=pool,
        publish=publish,
        clock=clock,
    )
    tree = TreeKeeper(
        database,
        workspace=workspace,
        find_model=find_model,
        deadline_s=float(learning.recap_deadline_seconds),
        pool=pool,
        files=files,
        clock=clock,
    )
    return Finishing(finaliser=finaliser, recaps=recaps, tree=tree)
