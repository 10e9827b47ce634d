"""Tokens a second through the model host, beside llama-cpp-python's own stream with the same settings.

    python -m benchmarks.throughput [--json] [--rounds N] [--threads N] [--model FILE]

Both run in processes of their own that stay loaded; rounds alternate, and medians are compared. A round reads a
prompt of some 400 tokens that is new from its first line on, then writes 96 tokens. Times are taken where the text
arrives, so ours include the way between the processes. The floor's stream stays within its process.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks.common import ROOT, Measure, make_parser, print_result, say
from core.llm.host import ModelHost
from core.llm.port import ChatMessage, GenerationEnd, GenerationPiece, GenerationRequest
from core.llm.processors import choose_threads

MODEL = ROOT / "resources" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 4096
NEW_TOKENS = 96
TALE = "The lighthouse keeper counted the ships that passed in the night and wrote their names into a book. " * 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round took."""

    prompt_tokens_per_s: float
    tokens_per_s: float


def _messages(number: int) -> tuple[ChatMessage, ...]:
    return (
        ChatMessage("system", f"This is round {number}. You are a helpful assistant."),
        ChatMessage("user", f"{TALE}\nTell this as a long story."),
    )


def serve_floor(model: str, threads: int) -> None:
    """Be the floor's process: a round for each line of stdin, its measures as a line of JSON."""
    from llama_cpp import Llama

    llama = Llama(model, n_ctx=CONTEXT_TOKENS, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False)
    print("ready", flush=True)
    for line in sys.stdin:
        messages = "".join(f"<|im_start|>{m.role}\n{m.text}<|im_end|>\n" for m in _messages(int(line)))
        started = time.perf_counter()
        arrivals: list[float] = []
        stream = llama.create_completion(
            messages + "<|im_start|>assistant\n",
            max_tokens=NEW_TOKENS,
            temperature=0.0,
            repeat_penalty=1.1,
            stream=True,
        )
        for _ in stream:
            arrivals.append(time.perf_counter())  # noqa: PERF401 - the arrival is what counts
        print(json.dumps([started, arrivals[0], arrivals[-1], len(arrivals)]), flush=True)


class Floor:
    """The floor's process, from outside."""

    def __init__(self, model: Path, threads: int) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.throughput", "--floor", "--model", model, "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._read_line()

    def _read_line(self) -> str:
        output: IO[str] | None = self._child.stdout
        assert output is not None
        line = output.readline()
        if not line:
            raise SystemExit("the floor's process ended")
        return line

    def run(self, number: int, prompt_tokens: int) -> Round:
        """Run one round."""
        assert self._child.stdin is not None
        self._child.stdin.write(f"{number}\n")
        self._child.stdin.flush()
        started, first, last, pieces = json.loads(self._read_line())
        return Round(prompt_tokens_per_s=prompt_tokens / (first - started), tokens_per_s=(pieces - 1) / (last - first))

    def close(self) -> None:
        """End the process."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        self._child.wait(10)
        if self._child.stdout is not None:
            self._child.stdout.close()


async def _run_ours(host: ModelHost, number: int) -> tuple[Round, int]:
    request = GenerationRequest(messages=_messages(number), max_tokens=NEW_TOKENS, temperature=0.0)
    started = time.perf_counter()
    first = last = started
    async with aclosing(host.generate(request)) as answers:
        async for answer in answers:
            last = time.perf_counter()
            if isinstance(answer, GenerationPiece) and first == started:
                first = last
    assert isinstance(answer, GenerationEnd)
    new = Round(
        prompt_tokens_per_s=(answer.prompt_tokens - answer.reused_tokens) / (first - started),
        tokens_per_s=(answer.new_tokens - 1) / (last - first),
    )
    return new, answer.prompt_tokens


async def _compare(model: Path, threads: int, rounds: int) -> dict[str, Measure]:
    host = ModelHost(model, context_tokens=CONTEXT_TOKENS, threads=threads)
    floor = Floor(model, threads)
    floors, ours = [], []
    try:
        await host.start()
        for number in range(rounds + 1):
            mine, prompt_tokens = await _run_ours(host, number)
            theirs = floor.run(number, prompt_tokens)
            say(f"round {number}: floor {theirs.tokens_per_s:.1f}, ours {mine.tokens_per_s:.1f} tokens/s")
            if number:  # the first one warms up
                floors.append(theirs)
                ours.append(mine)
    finally:
        floor.close()
        await host.aclose()
    return {
        name: Measure(
            floor=statistics.median(getattr(item, name) for item in floors),
            ours=statistics.median(getattr(item, name) for item in ours),
        )
        for name in ("tokens_per_s", "prompt_tokens_per_s")
    }


def main() -> None:
    """Run the benchmark."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=choose_threads(), help="default: as the program chooses")
    parser.add_argument("--floor", action="store_true", help="be the floor's process (for internal use)")
    options = parser.parse_args()
    if options.floor:
        serve_floor(str(options.model), options.threads)
        return
    if not options.model.is_file():
        raise SystemExit(f"{options.model} is not there; packaging/set-up.sh brings it")
    print_result(asyncio.run(_compare(options.model, options.threads, options.rounds)), json_only=options.json)


if __name__ == "__main__":
    main()
