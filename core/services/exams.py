"""The memory exam of the chat model: taken on demand or when nothing else is asked, kept by the file's hash.

Decides what a model does when memory is updated: what its exam found, unless the settings say otherwise; without
a result, nothing. Relies on the chat model's slot, which need not be loaded.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.archivist.recap_writer import RecapModel
from core.catalogue.choice import ChosenModel, ModelChoice
from core.catalogue.exam_results import ExamResults
from core.changes import Changes
from core.errors import CoreError, ModelError
from core.llm.port import ChatModel
from core.model import ExamResult, ModelPhase
from core.model_files import ModelRole
from core.services.ground import Ground
from core.working_memory.update import Updater

log = logging.getLogger(__name__)

LOOK_EVERY_S = 20.0
REST_LOOKS = 6  # looks in a row at which the model had nothing to do, before an exam begins by itself
_LOADED = frozenset({ModelPhase.READY, ModelPhase.READING, ModelPhase.WRITING})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """What a model may be asked to do about memory; `useful` names the questions that help, None all."""

    mode: Literal["write", "select"]
    useful: tuple[str, ...] | None = None


class ExamsService:
    """Takes exams and says what they mean."""

    def __init__(
        self,
        ground: Ground,
        model: ChatModel,
        *,
        find: Callable[[], ChosenModel | None] | None = None,
        served: Callable[[], str] = lambda: "",
    ) -> None:
        """`find` returns which model is asked about memory; by default the chat's.

        `served` returns what the exam of a server's model is kept by, "" where none is asked.
        """
        self._served = served
        self._ground = ground
        self._find = find or self._find_default
        self._model = model
        self._results = ExamResults(ground.folder.models)
        self._known: ExamResult | None = None
        self._looked = False
        self._watch: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    def start(self) -> None:
        """Take the exam in the background once the model rested for two minutes, if it never took one."""
        if self._watch is None and self._ground.settings.models.memory_update == "auto":
            self._watch = asyncio.get_running_loop().create_task(self._watch_rest())

    async def aclose(self) -> None:
        """Stop; an exam that runs is left and taken another time."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])

    @property
    def examines_served(self) -> bool:
        """Whether `load` and `take` mean a server's model: one answers, and it is asked about memory, too."""
        return bool(self._served())

    async def load(self) -> ExamResult | None:
        """Return what the exam of the chat model found, None if it took none."""
        if not self._looked:
            path, served = await self._find_file(), self._served()
            if served:
                self._known = await self._ground.think(lambda: self._results.load_by_hash(served))
            else:
                self._known = await self._ground.think(lambda: self._results.load(path)) if path else None
            self._looked = True
        return self._known

    async def find_helper(self) -> Path | None:
        """Return the model that may be asked about memory, loaded or not; None where none may."""
        return await self._find_file() if await self._find_use() is not None else None

    def look_again(self) -> None:
        """Another model may be asked about memory from now on."""
        self._known, self._looked = None, False

    async def take(self, progress: Callable[[str], None] | None = None) -> ExamResult:
        """Let the chat model take the exam now; raises `ModelError` where there is none or it stops."""
        if served := self._served():
            return await self._examine(self._model, self._model.status.name, served, progress)
        path = await self._find_file()
        if path is None:
            raise ModelError("There is no chat model to examine. Put a GGUF file into the folder of models first.")
        return await self.examine(self._model, path, progress)

    async def examine(self, model: ChatModel, path: Path, progress: Callable[[str], None] | None = None) -> ExamResult:
        """Let a model take the exam, whose file is at `path`; one exam at a time. Raises `ModelError`."""
        return await self._examine(model, path.name, await asyncio.to_thread(self._results.hash, path), progress)

    async def _examine(
        self, model: ChatModel, name: str, sha256: str, progress: Callable[[str], None] | None
    ) -> ExamResult:
        from core.working_memory.exam import Exam  # jsonschema comes with it

        async with self._lock:
            exam = Exam(model, clock=time.monotonic, pool=self._ground.pool, on_progress=progress)
            result = await exam.take(model_name=name, sha256=sha256, at=self._ground.clock())
            await self._ground.think(lambda: self._results.save(result))
            self.look_again()
        self._ground.publish(Changes(model=True))
        return result

    async def find_updater(self) -> Updater | None:
        """Return what asks the model for an update of memory; None where it is not to be asked, or not loaded."""
        use = await self._find_use() if self._is_loaded else None
        return Updater(self._model, use.mode, useful=use.useful, pool=self._ground.pool) if use else None

    async def find_recap_model(self) -> RecapModel | None:
        """Return what may be asked to sum up, by the same verdict; None where nothing may, or none is loaded."""
        use = await self._find_use() if self._is_loaded else None
        if use is None:
            return None
        if use.mode == "write" or use.useful is None:
            return RecapModel(model=self._model, mode=use.mode)
        languages = frozenset(each.partition(":")[0] for each in use.useful if each.endswith(":keep"))
        return RecapModel(model=self._model, mode=use.mode, languages=languages) if languages else None

    @property
    def _is_loaded(self) -> bool:
        return self._model.status.phase in _LOADED

    async def _find_use(self) -> _Use | None:
        """Say what the model may be asked to do, by the settings or its exam; None for nothing."""
        wanted = self._ground.settings.models.memory_update
        if wanted == "off":
            return None
        if wanted != "auto":
            return _Use(mode="write" if wanted == "write" else "select")
        result = await self.load()
        if result is None or result.verdict not in ("write", "select"):
            return None
        return _Use(mode="write" if result.verdict == "write" else "select", useful=result.useful)

    async def _find_file(self) -> Path | None:
        found = await self._ground.think(self._find) if not self._served() else None
        return found.path if found else None

    def _find_default(self) -> ChosenModel | None:
        folder, settings = self._ground.folder, self._ground.settings.models
        return ModelChoice(self._ground.resources, folder.root, folder.models, settings).find(ModelRole.MEMORY)

    async def _watch_rest(self) -> None:
        """Look now and then whether the model has nothing to do, then let it take its exam."""
        rested = 0
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            rested = rested + 1 if self._model.status.phase is ModelPhase.READY else 0
            if rested < REST_LOOKS:
                continue
            try:
                result = await self.load()
                if result is None or not result.complete:  # the machine may have been busy the other time
                    await self.take()
            except CoreError as error:
                log.warning("the memory exam ended early: %s", error)
            return
