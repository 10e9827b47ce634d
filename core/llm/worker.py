"""The model process: `python -m core.llm.worker`, or the frozen program with --model-host.

Reads frames from stdin, writes frames to stdout, logs to stderr. Three threads: the main one computes, one reads
requests (so that a cancellation or a more urgent request is seen at once), one counts tokens (so that counting does
not wait for an answer). Ends when stdin does: the program that started it has gone.

to the worker    load{model, context_tokens, threads, ...} first; then generate{id, messages, ...},
                 choose{id, messages, choices, ...}, count{id, messages}, cancel{id}, forget{id, conversation},
                 ping{id}. Ids ascend. End of stdin: stop.
from the worker  ready{context_tokens, threads, note} or failed{what}; then a request's reading{id, known, prompt},
                 piece{id, text, thought}, thinking{id}, end{id, ...}; chosen{id, probabilities, ...}; forgotten{id};
                 counted{id, tokens}; pong{id, computing_s, cpu_s}; for all error{id, kind, ...}
"""

import faulthandler
import logging
import os
import queue
import signal
import sys
import threading
import time
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.llm.frames import Frame, FrameError, read_frame, write_frame
from core.llm.pieces import Pieces
from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    ChoiceScores,
    GenerationEnd,
    GenerationRequest,
    GrammarError,
    Priority,
    PromptTooLongError,
)
from core.llm.processors import choose_threads

if TYPE_CHECKING:
    from core.llm.answers import Answerer
    from core.llm.llama import LlamaRunner
    from core.llm.prefixes import Prefixes
    from core.llm.schedule import Schedule, Task

log = logging.getLogger(__name__)

NOW = -1  # a priority above all requests: what takes no time
RESTORE_AFTER_S = 0.05  # of quiet: the chat's prefix goes back into the context
SAVE_AFTER_S = 10.0  # of quiet: prefixes go to the disk
STOP_S = 1.2  # for the last saving, after stdin's end
KEPT_BYTES = 256 << 20  # beside the context
_SAMPLING = frozenset(field.name for field in fields(GenerationRequest)) - {"messages", "priority"}


class Worker:
    """Answers the requests of one program with one model."""

    def __init__(
        self, runner: "LlamaRunner", answerer: "Answerer", prefixes: "Prefixes", schedule: "Schedule", link: "Link"
    ) -> None:
        self._runner, self._answerer, self._prefixes = runner, answerer, prefixes
        self._schedule, self._link = schedule, link

    def run(self) -> None:
        """Serve until stdin ends, then save what is worth it."""
        quiet_since = time.monotonic()
        while not self._schedule.stopping:
            task = self._schedule.take(self._next_chore_s(time.monotonic() - quiet_since))
            if task is not None:
                self._advance(task)
                quiet_since = time.monotonic()
            elif not self._schedule.stopping:
                self._do_chores(time.monotonic() - quiet_since)
        self._runner.clear_abort()
        self._prefixes.save()

    def _next_chore_s(self, quiet_s: float) -> float | None:
        if quiet_s < RESTORE_AFTER_S:
            return RESTORE_AFTER_S
        return max(0.0, SAVE_AFTER_S - quiet_s) if self._prefixes.unsaved else None

    def _do_chores(self, quiet_s: float) -> None:
        if quiet_s >= SAVE_AFTER_S:
            self._prefixes.save()
        elif quiet_s >= RESTORE_AFTER_S:
            self._answerer.release()
            self._prefixes.restore_chat()

    def _advance(self, task: "Task") -> None:
        """Run a task until it ends, or until another one is more urgent."""
        pieces = Pieces(self._link.send, task.number, show_thinking=bool(task.frame.get("show_thinking")))
        try:
            if task.steps is None:
                self._begin(task)
                if task.steps is None:
                    return
            while True:
                try:
                    piece = next(task.steps)
                except StopIteration as stop:
                    pieces.flush()
                    self._finish(task, stop.value)
                    return
                if piece is not None:
                    pieces.add(piece.text, thought=piece.thought)
                if self._schedule.yields(task):
                    pieces.flush()
                    return
        except Exception as error:  # noqa: BLE001 - a task's end: the request failed, the process goes on
            pieces.flush()
            self._answerer.release()
            self._link.send_error(task.number, error)

    def _begin(self, task: "Task") -> None:
        from core.llm.answers import Turn
        from core.llm.prefixes import Owner

        frame, number = task.frame, task.number
        if frame["op"] == "forget":
            self._answerer.release()
            self._prefixes.forget(frame["conversation"])
            self._link.send(op="forgotten", id=number)
            return
        turn = Turn(
            owner=Owner(frame.get("conversation", ""), chat=task.priority == Priority.CHAT),
            on_reading=lambda known, prompt: self._link.send(op="reading", id=number, known=known, prompt=prompt),
        )
        if frame["op"] == "generate":
            request = GenerationRequest(
                messages=_parse_messages(frame),
                priority=Priority(task.priority),
                **{key: frame[key] for key in _SAMPLING if key in frame},
            )
            self._schedule.begin(task, turn, self._answerer.generate(request, turn))
        else:
            choice = ChoiceRequest(messages=_parse_messages(frame), choices=tuple(frame["choices"]))
            self._schedule.begin(task, turn, self._answerer.choose(choice, turn))

    def _finish(self, task: "Task", result: GenerationEnd | ChoiceScores | None) -> None:
        match result:
            case GenerationEnd():
                self._link.send(op="end", id=task.number, **asdict(result))
            case ChoiceScores():
                self._link.send(op="chosen", id=task.number, **asdict(result))
            case None:
                self._link.send_cancelled(task)


class Link:
    """The program at the other end: its frames come in by a thread of their own, from before the model loads."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._writing = threading.Lock()
        self._early: list[Frame] = []
        self._routing = threading.Lock()
        self._schedule: Schedule | None = None
        self._runner: LlamaRunner | None = None
        self._counts: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self._saved = threading.Event()

    def start(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def attach(self, runner: "LlamaRunner", schedule: "Schedule") -> None:
        """The model is loaded: pass on what came so far, and what will."""
        with self._routing:
            self._runner, self._schedule = runner, schedule
            for frame in self._early:
                self._route(frame, schedule)
            self._early.clear()
        threading.Thread(target=self._count, name="counts", daemon=True).start()

    def close(self) -> None:
        """All is saved: the process may end."""
        self._saved.set()

    def _read(self) -> None:
        try:
            while (frame := read_frame(self._incoming)) is not None:
                with self._routing:
                    if frame["op"] == "ping":
                        self._answer_ping(frame)
                    elif self._schedule is None:
                        self._early.append(frame)
                    else:
                        self._route(frame, self._schedule)
        except (FrameError, OSError):
            log.exception("the stream of requests broke")
        if self._schedule is not None:
            self._schedule.stop()
            self._saved.wait(STOP_S)
        # Native code may be running in another thread for seconds yet, and has nothing more to save.
        os._exit(0)

    def _route(self, frame: Frame, schedule: "Schedule") -> None:
        from core.llm.schedule import Task

        match frame["op"]:
            case "generate" | "choose":
                schedule.put(Task(frame["id"], frame.get("priority", Priority.CHAT), frame))
            case "forget":
                schedule.put(Task(frame["id"], NOW, frame))
            case "count":
                self._counts.put(frame)
            case "cancel":
                if (task := schedule.cancel(frame["id"])) is not None:
                    if task.steps is not None:
                        task.steps.close()
                    self.send_cancelled(task)

    def _answer_ping(self, frame: Frame) -> None:
        since = self._runner.computing_since_s if self._runner is not None else 0.0
        computing_s = time.monotonic() - since if since else 0.0
        self.send(op="pong", id=frame["id"], computing_s=computing_s, cpu_s=time.process_time())

    def _count(self) -> None:
        assert self._runner is not None
        while True:
            frame = self._counts.get()
            try:
                tokens = len(self._runner.vocabulary.encode_prompt(_parse_messages(frame)).tokens)
                self.send(op="counted", id=frame["id"], tokens=tokens)
            except Exception as error:  # noqa: BLE001 - a task's end, as above
                self.send_error(frame["id"], error)

    def send(self, **frame: object) -> None:
        """Write one frame; a program that no longer listens is gone."""
        try:
            with self._writing:
                write_frame(self._outgoing, frame)
        except OSError:
            os._exit(0)

    def send_cancelled(self, task: "Task") -> None:
        """Tell that a task ended before its answer was whole."""
        if task.frame["op"] != "generate":
            self.send(op="error", id=task.number, kind="cancelled")
            return
        end = GenerationEnd(
            finish_reason="cancelled",
            prompt_tokens=0,
            reused_tokens=0,
            new_tokens=0,
            prompt_s=0.0,
            generation_s=0.0,
            context_used_tokens=0,
        )
        self.send(op="end", id=task.number, **asdict(end))

    def send_error(self, number: int, error: Exception) -> None:
        """Tell why a request failed."""
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


def _load(frame: Frame, link: Link) -> Worker:
    import llama_cpp
    from llama_cpp import llama_cpp as native

    from core.llm.answers import Answerer
    from core.llm.llama import LlamaRunner
    from core.llm.prefixes import Prefixes
    from core.llm.schedule import Schedule
    from core.llm.state_files import StateFiles

    # The library's own log goes straight to stderr: its last lines must be out when the process dies.
    native.llama_log_set(native.llama_log_callback(0), None)
    threads = frame["threads"] or choose_threads()
    path = Path(frame["model"])
    runner = LlamaRunner(
        path, context_tokens=frame["context_tokens"], threads=threads, batch_threads=frame.get("batch_threads")
    )
    stat = path.stat()
    files = None
    if folder := frame.get("states"):
        form = "" if runner.has_flash_attention else " plain"  # states of the one do not fit the other
        files = StateFiles(Path(folder), f"{path.name} {stat.st_size} {stat.st_mtime_ns} {llama_cpp.__version__}{form}")
    prefixes = Prefixes(runner, kept_bytes=KEPT_BYTES, files=files)
    schedule = Schedule(interrupt=runner.abort, clear=runner.clear_abort)
    worker = Worker(runner, Answerer(runner, prefixes), prefixes, schedule, link)
    link.send(
        op="ready",
        context_tokens=runner.context_tokens,
        threads=threads,
        note=runner.vocabulary.template_note,
    )
    link.attach(runner, schedule)
    return worker


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
    if frame["op"] == "load_embedding":
        from core.llm.embedding_worker import serve

        return serve(frame, incoming, outgoing)
    link = Link(incoming, outgoing)
    link.start()
    try:
        worker = _load(frame, link)
    except Exception as error:
        log.error("the model did not load", exc_info=error)
        link.send(op="failed", reason=str(error) or type(error).__name__)
        return 1
    worker.run()
    link.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
