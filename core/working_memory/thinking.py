"""Where an update and an exam do what takes thought: in a pool's thread, off the loop that shows the window."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Protocol, TypeVar

T = TypeVar("T")


class Think(Protocol):
    """Runs a pure job, off the loop where there is a thread for it."""

    async def __call__(self, job: Callable[[], T], /) -> T: ...


def think_in(pool: Executor | None) -> Think:
    """Return what runs jobs in a pool; on the spot where there is none."""

    async def think(job: Callable[[], T], /) -> T:
        if pool is None:
            return job()
        return await asyncio.get_running_loop().run_in_executor(pool, job)

    return think
