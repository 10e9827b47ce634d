"""What every service stands on. The engine makes one and gives it to each."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from core.changes import Changes
from core.config import Settings
from core.jobs.assembly import Backroom
from core.paths import DataFolder
from core.storage.database import Database

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The store, the thinking thread, the clock and the way to say what changed."""

    database: Database
    folder: DataFolder
    settings: Settings
    resources: Path
    pool: Executor  # one thread for what takes more than a millisecond of thought
    publish: Callable[[Changes], None]
    clock: Callable[[], float]  # s since the epoch
    backroom: Callable[[], Backroom]  # raises `NotFoundError` before the engine is open

    async def think(self, job: Callable[[], T]) -> T:
        """Run a pure job off the loop."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, job)
