"""The model process: `python -m core.llm.worker`, or the frozen program with --model-host.

Reads frames from stdin, writes frames to stdout, logs to stderr. Three threads: the main one generates, one reads
requests (so that a cancellation is seen at once), one counts tokens (so that counting does not wait for an answer).
Ends when stdin does: the program that started it has gone.

to the worker    load{model, context_tokens, threads} first; then generate{id, messages, ...},
                 choose{id, messages, choices, ...}, count{id, messages}, cancel{id}. Ids ascend. End of stdin: stop.
from the worker  ready{context_tokens, threads} or failed{what}; then a generation's reading{id, known, prompt},
                 piece{id, text}, end{id, ...}; chosen{id, probabilities, ...}; counted{id, tokens}; for all error{id,
                 kind, ...}
"""

import faulthandler
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.llm.frames import Frame, FrameError, read_frame, write_frame
from core.llm.port import ChatMessage, ChoiceRequest, GenerationRequest, GrammarError, PromptTooLongError
from core.llm.processors import choose_threads

if TYPE_CHECKING:
    from core.llm.llama import LlamaRunner

log = logging.getLogger(__name__)

_SAMPLING = ("max_tokens", "temperature", "top_k", "top_p", "min_p", "repeat_penalty", "seed", "conversation")
_FORM = ("json_schema", "grammar")


class Requests:
    """Reads the program's frames in a thread of its own, from before the model loads until stdin ends."""

    def __init__(self, incoming: BinaryIO) -> None:
        self._incoming = incoming
        self.generations: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self.counts: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self._lock = threading.Lock()  # guards the rest
        self._abort: Callable[[], None] | None = None  # of the running generation
        self._running = 0
        self._latest = 0  # highest generation begun
        self._cancelled: set[int] = set()  # before they began

    def start(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def _read(self) -> None:
        try:
            while (frame := read_frame(self._incoming)) is not None:
                match frame["op"]:
                    case "generate" | "choose":
                        self.generations.put(frame)
                    case "count":
                        self.counts.put(frame)
                    case "cancel":
                        self._cancel(frame["id"])
        except (FrameError, OSError):
            log.exception("the stream of requests broke")
        # Native code may be running in another thread for seconds yet, and has nothing to save.
        os._exit(0)

    def _cancel(self, number: int) -> None:
        with self._lock:
            if self._abort is not None and number == self._running:
                self._abort()
            elif number > self._latest:
                self._cancelled.add(number)

    def begin(self, number: int, runner: "LlamaRunner") -> None:
        """Let cancellations of generation `number` reach the runner."""
        with self._lock:
            self._running = self._latest = number
            self._abort = runner.abort
            runner.clear_abort()
            if number in self._cancelled:
                runner.abort()
            self._cancelled = {later for later in self._cancelled if later > number}

    def finish(self) -> None:
        """The generation is over: its cancellation comes too late."""
        with self._lock:
            self._abort = None


class Worker:
    """Answers the requests of one program with one model."""

    def __init__(self, runner: "LlamaRunner", requests: Requests, outgoing: BinaryIO) -> None:
        self._runner = runner
        self._requests = requests
        self._outgoing = outgoing
        self._writing = threading.Lock()

    def run(self) -> None:
        """Serve until stdin ends, which ends the process."""
        threading.Thread(target=self._count, name="counts", daemon=True).start()
        while True:
            frame = self._requests.generations.get()
            if frame["op"] == "generate":
                self._generate(frame)
            else:
                self._choose(frame)

    def send(self, **frame: object) -> None:
        """Write one frame; a program that no longer listens is gone."""
        try:
            with self._writing:
                write_frame(self._outgoing, frame)
        except OSError:
            os._exit(0)

    def _generate(self, frame: Frame) -> None:
        number = frame["id"]
        self._requests.begin(number, self._runner)
        try:
            request = GenerationRequest(
                messages=_parse_messages(frame), **{key: frame[key] for key in _SAMPLING + _FORM if key in frame}
            )
            pieces = self._runner.generate(
                request, lambda known, prompt: self.send(op="reading", id=number, known=known, prompt=prompt)
            )
            while True:
                try:
                    self.send(op="piece", id=number, text=next(pieces))
                except StopIteration as stop:
                    self.send(op="end", id=number, **asdict(stop.value))
                    return
        except Exception as error:  # noqa: BLE001 - a task's end: the request failed, the process goes on
            self._send_error(number, error)
        finally:
            self._requests.finish()

    def _choose(self, frame: Frame) -> None:
        number = frame["id"]
        self._requests.begin(number, self._runner)
        try:
            request = ChoiceRequest(messages=_parse_messages(frame), choices=tuple(frame["choices"]))
            scores = self._runner.choose(
                request, lambda known, prompt: self.send(op="reading", id=number, known=known, prompt=prompt)
            )
            if scores is not None:
                self.send(op="chosen", id=number, **asdict(scores))
            else:
                self.send(op="error", id=number, kind="failed", reason="it was stopped")
        except Exception as error:  # noqa: BLE001 - a task's end: the request failed, the process goes on
            self._send_error(number, error)
        finally:
            self._requests.finish()

    def _count(self) -> None:
        while True:
            frame = self._requests.counts.get()
            try:
                tokens = len(self._runner.vocabulary.encode_prompt(_parse_messages(frame)))
                self.send(op="counted", id=frame["id"], tokens=tokens)
            except Exception as error:  # noqa: BLE001 - a task's end, as above
                self._send_error(frame["id"], error)

    def _send_error(self, number: int, error: Exception) -> None:
        if isinstance(error, PromptTooLongError):
            self.send(
                op="error",
                id=number,
                kind="prompt_too_long",
                prompt_tokens=error.prompt_tokens,
                limit_tokens=error.limit_tokens,
            )
            return
        if isinstance(error, GrammarError):
            self.send(op="error", id=number, kind="grammar", reason=error.reason)
            return
        log.error("request %d failed", number, exc_info=error)
        self.send(op="error", id=number, kind="failed", reason=str(error) or type(error).__name__)


def _parse_messages(frame: Frame) -> tuple[ChatMessage, ...]:
    return tuple(ChatMessage(message["role"], message["text"]) for message in frame["messages"])


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the streams of frames; afterwards whatever prints to stdout, native code included, goes to stderr."""
    sys.stdout.flush()
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return incoming, outgoing


def _load(frame: Frame) -> "tuple[LlamaRunner, int]":
    from llama_cpp import llama_cpp as native

    from core.llm.llama import LlamaRunner

    # The library's own log goes straight to stderr: its last lines must be out when the process dies.
    native.llama_log_set(native.llama_log_callback(0), None)
    threads = frame["threads"] or choose_threads()
    return LlamaRunner(Path(frame["model"]), context_tokens=frame["context_tokens"], threads=threads), threads


def main() -> int:
    """Serve one program; return an exit code only if there was nothing to serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the program, which then stops us
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    faulthandler.enable(sys.stderr)
    incoming, outgoing = _take_streams()
    try:
        frame = read_frame(incoming)
    except FrameError:
        log.exception("not a stream of requests")
        return 2
    if frame is None:
        return 0
    requests = Requests(incoming)
    requests.start()
    try:
        runner, threads = _load(frame)
    except Exception as error:
        log.error("the model did not load", exc_info=error)
        write_frame(outgoing, {"op": "failed", "reason": str(error) or type(error).__name__})
        return 1
    worker = Worker(runner, requests, outgoing)
    worker.send(op="ready", context_tokens=runner.context_tokens, threads=threads)
    worker.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
