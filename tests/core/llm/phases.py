"""Lets a test wait for a phase of the model instead of sleeping."""

import asyncio
from collections import defaultdict

from core.model import ModelPhase, ModelStatus


class Phases:
    """An `on_status` that remembers which phases there were."""

    def __init__(self) -> None:
        self._reached: defaultdict[ModelPhase, asyncio.Event] = defaultdict(asyncio.Event)

    def __call__(self, status: ModelStatus) -> None:
        self._reached[status.phase].set()

    async def reach(self, phase: ModelPhase) -> None:
        """Return once the model has been in `phase`, or is."""
        await self._reached[phase].wait()

    def clear(self) -> None:
        """Forget which phases there were."""
        self._reached.clear()
