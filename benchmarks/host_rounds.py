"""The model host's own numbers, for `benchmarks.throughput`: start, stop, chats beside background work, many cycles.

Relies on /proc for memory; where there is none, growth is not measured.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from contextlib import aclosing
from pathlib import Path

from benchmarks.common import ROOT, Measure, say
from benchmarks.listening import hear
from core.llm.host import ModelHost
from core.llm.port import ChatMessage, GenerationRequest, Priority
from core.model import ModelPhase, ModelStatus

HELLO = (ChatMessage("user", "Say hello."),)
TALE = "The lighthouse keeper counted the ships that passed in the night and wrote their names into a book. "
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
SETTLED = 5  # cycles before growth is counted: allocators and caches fill first


def serve_start(model: str, threads: int, context_tokens: int) -> None:
    """Be the floor of the start: a fresh process that loads the model and writes its first words."""
    from llama_cpp import Llama

    llama = Llama(model, n_ctx=context_tokens, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False)
    stream = llama.create_completion(
        "<|im_start|>user\nSay hello.<|im_end|>\n<|im_start|>assistant\n", max_tokens=1, temperature=0.0, stream=True
    )
    next(iter(stream))
    print("first", flush=True)
    os._exit(0)


def _time_raw_start(options: list[str]) -> float:
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.throughput", "--floor-start", *options], stdout=subprocess.PIPE, cwd=ROOT
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        return time.perf_counter() - started


async def _time_first(host: ModelHost, request: GenerationRequest) -> float:
    """Return the seconds to the first words; the rest is not waited for."""
    started = time.perf_counter()
    async with aclosing(host.generate(request)) as answers:
        await anext(answers)
        return time.perf_counter() - started


async def measure_start(model: Path, threads: int, context_tokens: int, rounds: int) -> dict[str, Measure]:
    """`start_to_first_token_s`: from nothing to the first words; the floor is a fresh process of llama-cpp-python."""
    raw, ours = [], []
    options = ["--model", str(model), "--threads", str(threads)]
    for number in range(rounds + 1):
        raw_s = await asyncio.to_thread(_time_raw_start, options)
        host = ModelHost(model, context_tokens=context_tokens, threads=threads)
        ours_s = await _time_first(host, GenerationRequest(messages=HELLO, max_tokens=1, temperature=0.0))
        await host.aclose()
        if number:  # the first one warms the disk's cache
            raw.append(raw_s)
            ours.append(ours_s)
    return {"start_to_first_token_s": Measure(floor=statistics.median(raw), ours=statistics.median(ours))}


async def measure_interruptions(host: ModelHost, watcher: "PhaseTimes", rounds: int) -> dict[str, Measure]:
    """`chat_beside_update_s`: a chat turn while background work runs; the floor is the same turn alone.

    `chat_start_beside_update_ms`: from sending to the first step of reading; `cancel_reading_ms`,
    `cancel_writing_ms`: from the wish to the end. Floors of these: what we promise (100 and 200 ms).
    """
    alone: list[float] = []
    beside: list[float] = []
    starts: list[float] = []
    background = GenerationRequest(
        messages=(ChatMessage("user", TALE * 40),),
        max_tokens=3000,
        temperature=0.0,
        conversation="update",
        priority=Priority.BACKGROUND,
    )
    work = asyncio.ensure_future(hear(host, background))
    try:
        for number in range(2 * rounds + 2):
            busy = number % 2 == 1
            if busy and work.done():
                work = asyncio.ensure_future(hear(host, background))
            elif not busy:
                work.cancel()
                await asyncio.wait([work])
            if busy:
                await watcher.reach(ModelPhase.READING, ModelPhase.WRITING)
            took_s, start_ms = await _chat(host, number)
            if number > 1:
                (beside if busy else alone).append(took_s)
                if busy:
                    starts.append(start_ms)
    finally:
        work.cancel()
        await asyncio.wait([work])
    cancels = {phase: [await _cancel(host, watcher, phase) for _ in range(rounds)] for phase in ("reading", "writing")}
    return {
        "chat_beside_update_s": Measure(floor=statistics.median(alone), ours=statistics.median(beside)),
        "chat_start_beside_update_ms": Measure(floor=100.0, ours=statistics.median(starts)),
    } | {f"cancel_{phase}_ms": Measure(floor=200.0, ours=statistics.median(times)) for phase, times in cancels.items()}


class PhaseTimes:
    """An `on_status` that lets one wait for a phase to come."""

    def __init__(self) -> None:
        self._phase = ModelPhase.STARTING
        self._news = asyncio.Event()

    def __call__(self, status: ModelStatus) -> None:
        self._phase = status.phase
        self._news.set()

    async def reach(self, *phases: ModelPhase) -> None:
        """Return when one of the phases is there."""
        while self._phase not in phases:
            self._news.clear()
            await self._news.wait()


async def _chat(host: ModelHost, number: int) -> tuple[float, float]:
    """Run one turn of a chat with a known prefix; return its seconds, and the ms until it was begun.

    When it is begun the host tells nothing of its own, so the time its prompt took is taken off its first words.
    """
    messages = (ChatMessage("system", TALE * 10), ChatMessage("user", f"Tale {number}. {TALE} What became of it?"))
    request = GenerationRequest(messages=messages, max_tokens=16, temperature=0.0, conversation="chat")
    heard = await hear(host, request)
    return heard.whole_s, max(0.0, heard.first_s - heard.end.prompt_s) * 1000


async def _cancel(host: ModelHost, watcher: PhaseTimes, phase: str) -> float:
    text = TALE * 100 if phase == "reading" else "Write a long story."
    request = GenerationRequest(messages=(ChatMessage("user", text),), max_tokens=2000)
    await watcher.reach(ModelPhase.READY)
    task = asyncio.ensure_future(hear(host, request))
    await watcher.reach(ModelPhase(phase))
    started = time.perf_counter()
    host.cancel()
    await task
    return (time.perf_counter() - started) * 1000


async def measure_cycles(model: Path, threads: int, cycles: int) -> dict[str, Measure]:
    """`load_cycles` and `answer_cycles` that went well, and what our processes grew by; floors: all, and nothing."""
    request = GenerationRequest(messages=HELLO, max_tokens=2, temperature=0.0)
    loaded, before_mb = 0, 0.0
    for number in range(cycles):
        host = ModelHost(model, context_tokens=1024, threads=threads)
        await hear(host, request)
        await host.aclose()
        loaded += host.pid is None
        if number == min(SETTLED, cycles - 1):
            before_mb = _read_memory_mb(os.getpid())
    app_growth_mb = _read_memory_mb(os.getpid()) - before_mb
    say(f"{loaded} of {cycles} load cycles; the program grew by {app_growth_mb:.1f} MB")
    host = ModelHost(model, context_tokens=1024, threads=threads)
    answered = 0
    try:
        for number in range(cycles):
            text = f"Question {number}? Say hello to {number}."
            await hear(
                host, GenerationRequest(messages=(ChatMessage("user", text),), max_tokens=4, conversation=str(number))
            )
            await host.forget(str(number))
            answered += 1
            if number == min(SETTLED, cycles - 1):
                before_mb = _read_memory_mb(host.pid)
        host_growth_mb = _read_memory_mb(host.pid) - before_mb
    finally:
        await host.aclose()
    return {
        "load_cycles": Measure(floor=float(cycles), ours=float(loaded)),
        "answer_cycles": Measure(floor=float(cycles), ours=float(answered)),
        "load_cycles_growth_mb": Measure(floor=0.0, ours=app_growth_mb),
        "answer_cycles_growth_mb": Measure(floor=0.0, ours=host_growth_mb),
    }


def _read_memory_mb(pid: int | None) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * PAGE_BYTES / 1e6
