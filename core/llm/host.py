"""The chat model behind a process of its own: starts it, talks to it, says why it died, starts it again.

Relies on `core.llm.process` for the process and on `core.llm.worker` at its other end. All methods are for one
asyncio loop, which may be qasync's.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from core.errors import ModelError, ModelFileError
from core.llm.explanations import explain_load_failure, read_end, read_error, read_scores
from core.llm.frames import Frame
from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    ChoiceScores,
    GenerationEnd,
    GenerationPiece,
    GenerationRequest,
    ModelProcessError,
    Priority,
)
from core.llm.process import HostProcess, default_command, explain_exit
from core.llm.state_files import forget_files
from core.llm.watch import HangWatch, Patience
from core.model import ModelPhase, ModelStatus

log = logging.getLogger(__name__)

DETAIL_LINES = 80  # a stack of a crash takes some thirty, and what llama.cpp said comes before it

_ENDS = frozenset({"end", "chosen", "counted", "forgotten", "error"})  # what a request may end with

_Answer = GenerationPiece | GenerationEnd | ChoiceScores | ModelError | int | None


class ModelHost:
    """A `ChatModel` in another process. Requests are answered by priority, then in order of arrival."""

    def __init__(
        self,
        model_path: Path,
        *,
        name: str | None = None,
        context_tokens: int = 4096,
        threads: int | None = None,
        batch_threads: int | None = None,
        states: Path | None = None,
        idle_s: float | None = None,
        patience: Patience = Patience(),  # noqa: B008 - frozen
        command: Sequence[str] | None = None,
        check_file: Callable[[Path], object] | None = None,
        on_status: Callable[[ModelStatus], None] | None = None,
    ) -> None:
        """Start nothing yet.

        `threads` None leaves the choice to the process (all physical cores but one), `batch_threads` None reads prompts
        with as many. `states` is the folder where the last conversations' prefixes are kept from one run to the next
        (None: nowhere). After `idle_s` without a request the process ends and its memory is free (None: never); the
        next request starts it again. `check_file` runs off the loop before each start and raises `ModelFileError` for a
        broken file. `on_status` is called on the loop.
        """
        self._path = model_path.absolute()
        self._load = {"context_tokens": context_tokens, "threads": threads, "batch_threads": batch_threads}
        self._states, self._idle_s, self._patience = states, idle_s, patience
        self._command = tuple(command) if command is not None else default_command()
        self._check_file = check_file
        self._on_status = on_status
        self._status = ModelStatus(
            name=name or model_path.stem,
            phase=ModelPhase.STARTING if model_path.is_file() else ModelPhase.ABSENT,
            context_size_tokens=context_tokens,
        )
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Queue[_Answer]] = {}
        self._over: set[int] = set()  # open requests that have ended, whether or not their answers were taken
        self._background: set[int] = set()  # the requests whose cost is no news for the status
        self._process: HostProcess | None = None
        self._watch: HangWatch | None = None
        self._beats: asyncio.TimerHandle | None = None
        self._unloading: asyncio.Task[None] | None = None
        self._used_s = 0.0  # when a request came or ended last
        self._hang = ""  # why the process was given up
        self._ready: asyncio.Future[None] | None = None
        self._failed_load = ""  # what the process said when it could not load
        self._closed = False

    @property
    def status(self) -> ModelStatus:
        """What the model is doing."""
        return self._status

    @property
    def pid(self) -> int | None:
        """The id of the model process, if one runs."""
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        """Load the model, if it is not loaded; raise `ModelError` or `ModelFileError` saying why it cannot."""
        if self._closed:
            raise ModelError("The model has been closed.")
        if self._unloading is not None:
            await asyncio.wait([self._unloading])
        if self._process is None or self._ready is None:
            self._launch()
        assert self._ready is not None
        await asyncio.shield(self._ready)

    def _launch(self) -> None:
        now_s = time.monotonic()
        self._ready = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(_retrieve)
        self._failed_load = self._hang = ""
        self._used_s = now_s
        self._watch = HangWatch(self._patience, now_s)
        self._report(phase=ModelPhase.LOADING, detail="", context_used_tokens=0, reused_share=None)
        self._process = HostProcess(
            self._command, before=self._check, on_frame=self._take_frame, on_exit=self._take_exit
        )
        states = str(self._states) if self._states is not None else None
        self._process.send(op="load", model=str(self._path), states=states, **self._load)
        self._plan_beat()

    def _check(self) -> None:
        """Refuse a missing or broken file; runs off the loop."""
        if self._check_file is not None:
            self._check_file(self._path)
        elif not self._path.is_file():
            raise ModelFileError(
                f"The model file {self._path.name} is not in {self._path.parent}. Put it back, or choose another "
                "model. Your conversations are not affected."
            )

    async def aclose(self) -> None:
        """Stop the process and wait until it is gone; running answers end with `ModelError`."""
        self._closed = True
        if self._unloading is not None:
            await asyncio.wait([self._unloading])
        if self._process is not None:
            await self._process.aclose()

    async def unload(self) -> None:
        """Free the model's memory: end the process; the next request starts it again."""
        if self._process is not None and self._unloading is None:
            self._unloading = asyncio.get_running_loop().create_task(self._unload(self._process))
        if self._unloading is not None:
            await asyncio.wait([self._unloading])

    async def _unload(self, process: HostProcess) -> None:
        try:
            await process.aclose()
        finally:
            self._unloading = None

    async def forget(self, conversation: str) -> None:
        """Drop all that the model has read of a conversation, in memory and on the disk.

        To be called when it is deleted, and when a message in it is edited or deleted.
        """
        if self._process is not None:
            number, answers = self._open()
            try:
                self._send(op="forget", id=number, conversation=conversation)
                await answers.get()  # or an error: a process that is gone has forgotten all but the files
            finally:
                self._close(number)
        if self._states is not None:
            await asyncio.to_thread(forget_files, self._states, conversation)

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        """Yield pieces, then one end; see `ChatModel`. Starts the process if it does not run."""
        await self.start()
        number, answers = self._open(background=request.priority is Priority.BACKGROUND)
        ended = False
        try:
            self._send(op="generate", id=number, **asdict(request))
            while not ended:
                answer = await answers.get()
                ended = not isinstance(answer, GenerationPiece)
                if isinstance(answer, ModelError):
                    raise answer
                assert isinstance(answer, GenerationPiece | GenerationEnd)
                yield answer
        finally:
            self._cancel(number)
            self._close(number)

    def cancel(self) -> None:
        """End all running and waiting answers; each then yields its end, with reason `cancelled`."""
        for number in self._answers:
            self._cancel(number)

    async def choose(self, request: ChoiceRequest) -> ChoiceScores:
        """Return how likely each choice is as the answer; see `ChatModel`. Starts the process if it does not run."""
        await self.start()
        number, answers = self._open(background=request.priority is Priority.BACKGROUND)
        answer: _Answer = None
        try:
            self._send(op="choose", id=number, **asdict(request))
            answer = await answers.get()
        finally:
            self._cancel(number)
            self._close(number)
        if isinstance(answer, ModelError):
            raise answer
        assert isinstance(answer, ChoiceScores)
        return answer

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Return the tokens of the prompt these messages make; does not wait for a running answer."""
        await self.start()
        number, answers = self._open()
        try:
            self._send(op="count", id=number, messages=[asdict(message) for message in messages])
            answer = await answers.get()
        finally:
            self._close(number)
        if isinstance(answer, ModelError):
            raise answer
        assert isinstance(answer, int)
        return answer

    def _open(self, *, background: bool = False) -> tuple[int, asyncio.Queue[_Answer]]:
        number = next(self._numbers)
        self._answers[number] = asyncio.Queue()
        if background:
            self._background.add(number)
        return number, self._answers[number]

    def _close(self, number: int) -> None:
        del self._answers[number]
        self._background.discard(number)
        self._over.discard(number)
        self._used_s = time.monotonic()

    def _cancel(self, number: int) -> None:
        """End a request, unless it has ended."""
        if number in self._over:
            return
        self._send(op="cancel", id=number)
        if self._watch is not None:
            self._watch.cancel(number, time.monotonic())

    def _send(self, **frame: object) -> None:
        if self._process is not None:
            self._process.send(**frame)

    def _answer(self, number: int, answer: _Answer) -> None:
        if (queue := self._answers.get(number)) is not None:  # else nobody waits any more
            queue.put_nowait(answer)

    def _plan_beat(self) -> None:
        self._beats = asyncio.get_running_loop().call_later(self._patience.beat_s, self._beat)

    def _beat(self) -> None:
        """Ask the process for a sign of life; give it up if there is none, end it if nobody needs it."""
        if self._process is None or self._watch is None:
            return
        now_s = time.monotonic()
        self._send(op="ping", id=next(self._numbers))
        loaded = self._ready is not None and self._ready.done()
        idles = self._idle_s is not None and not self._answers and now_s - self._used_s >= self._idle_s
        if hang := self._watch.beat(now_s):
            self._hang = self._hang or hang
            self._process.kill()
        elif loaded and idles and self._unloading is None:
            self._unloading = asyncio.get_running_loop().create_task(self._unload(self._process))
        self._plan_beat()

    # ---- news of the process, on the loop

    def _take_frame(self, frame: Frame) -> None:
        if self._watch is not None and frame["op"] != "pong":
            self._watch.hear(time.monotonic())
            if frame["op"] in _ENDS:
                self._watch.end(frame["id"])
                self._over.update({frame["id"]} & self._answers.keys())
        match frame["op"]:
            case "pong":
                if self._watch is not None:
                    self._watch.take_answer(time.monotonic(), computing_s=frame["computing_s"], cpu_s=frame["cpu_s"])
            case "forgotten":
                self._answer(frame["id"], None)
            case "thinking":
                self._report(phase=ModelPhase.WRITING)
            case "ready":
                self._report(
                    phase=ModelPhase.READY, context_size_tokens=frame["context_tokens"], detail=frame.get("note", "")
                )
                self._used_s = time.monotonic()
                if self._ready is not None and not self._ready.done():
                    self._ready.set_result(None)
            case "failed":
                self._failed_load = frame["reason"]
            case "reading":
                self._report(phase=ModelPhase.READING)
            case "piece":
                if self._status.phase is not ModelPhase.WRITING:
                    self._report(phase=ModelPhase.WRITING)
                self._answer(frame["id"], GenerationPiece(frame["text"], frame.get("thought", False)))
            case "end":
                self._take_end(frame)
            case "chosen":
                self._report(phase=ModelPhase.READY)
                self._answer(frame["id"], read_scores(frame))
            case "counted":
                self._answer(frame["id"], frame["tokens"])
            case "error":
                self._take_error(frame)

    def _take_end(self, frame: Frame) -> None:
        end = read_end(frame)
        if frame["id"] in self._background:
            self._report(phase=ModelPhase.READY)
            self._answer(frame["id"], end)
            return
        self._report(
            phase=ModelPhase.READY,
            context_used_tokens=end.context_used_tokens,
            reused_share=end.reused_tokens / end.prompt_tokens if end.prompt_tokens else self._status.reused_share,
            tokens_per_s=end.new_tokens / end.generation_s
            if end.new_tokens and end.generation_s > 0
            else self._status.tokens_per_s,
        )
        self._answer(frame["id"], end)

    def _take_error(self, frame: Frame) -> None:
        if self._status.phase in {ModelPhase.READING, ModelPhase.WRITING}:
            self._report(phase=ModelPhase.READY)
        self._answer(frame["id"], read_error(frame, self._details()))

    def _take_exit(self, result: BaseException | int) -> None:
        error = self._explain(result)
        if self._beats is not None:
            self._beats.cancel()
        if self._unloading is not None and not self._closed:
            self._report(phase=ModelPhase.ASLEEP, context_used_tokens=0, reused_share=None)
        elif not self._closed:
            log.error("the model process ended: %s\n%s", error, getattr(error, "details", ""))
            self._report(
                phase=ModelPhase.ABSENT if not self._path.is_file() else ModelPhase.FAILED,
                detail=str(error),
                context_used_tokens=0,
            )
        ready, self._process, self._ready, self._watch = self._ready, None, None, None
        if ready is not None and not ready.done():
            ready.set_exception(error)
        for answers in self._answers.values():
            answers.put_nowait(error)

    def _explain(self, result: BaseException | int) -> ModelError:
        if isinstance(result, ModelError):
            return result
        details = self._details()
        if self._closed:
            return ModelProcessError("The model was closed. The conversation is kept.", details=details)
        if self._unloading is not None:
            return ModelProcessError(
                "The model was put to sleep. The conversation is kept; ask again.", details=details
            )
        if self._hang:
            reason = f"The model process was ended because {self._hang}."
        elif isinstance(result, OSError):
            reason = f"The model process could not be started ({result.strerror or result})."
        elif isinstance(result, BaseException):
            log.error("the thread of the model process failed", exc_info=result)
            reason = "The model process could not be started; the log has the details."
        elif self._failed_load:
            return ModelProcessError(explain_load_failure(self._path.name, details), details=details)
        else:
            reason = f"The model process stopped: {explain_exit(result)}."
        return ModelProcessError(
            f"{reason} The conversation is kept; your next message starts the model again.", details=details
        )

    def _details(self) -> str:
        lines = self._process.last_lines if self._process is not None else ()
        return "\n".join(lines[-DETAIL_LINES:])

    def _report(self, **changes: Any) -> None:
        status = replace(self._status, **changes)
        if status != self._status:
            self._status = status
            if self._on_status is not None:
                self._on_status(status)


def _retrieve(future: asyncio.Future[None]) -> None:
    """Mark a failure as seen: whoever still waits gets it, and nobody may be waiting."""
    if not future.cancelled():
        future.exception()
