"""Tokens a second through the model host and through the whole app, beside llama-cpp-python's own stream.

    python -m benchmarks.throughput [--json] [--rounds N] [--threads N] [--batch-threads N] [--cycles N] [--no-app]

All have the same settings and prompts, and run in processes of their own that stay loaded. Each round runs them one
after the other, in another order each time; medians are compared. A round reads a prompt of some 200 tokens, of
which the system text is known from the round before, then writes 256 tokens.

`tokens_per_s`: through the model host, taken where the text arrives, so with the way between the processes.
`app_tokens_per_s`: through the window: from the first words' notice at a subscriber of the engine to the notice that
the whole reply is stored, while the window shows it and saves it twice a second. `prompt_tokens_per_s`: of the host.
`first_token_s`: from sending to the first words; ours is the app's, which also stores the message and counts tokens.
The floor's stream stays within its process.

Then the host's own numbers (`benchmarks.host_rounds`): its start, chats beside background work, cancellations, and
cycles of loading and of answering. `--batch-threads` reads prompts with more threads than it writes with, here and in
the floor alike.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.common import ROOT, Measure, make_parser, print_result, say
from benchmarks.host_rounds import PhaseTimes, measure_cycles, measure_interruptions, measure_start, serve_start
from benchmarks.listening import hear
from benchmarks.screen import open_screen
from core.llm.host import ModelHost
from core.llm.port import ChatMessage, GenerationRequest
from core.llm.processors import choose_threads
from core.model import MessageId, Role, TurnId
from core.sessions.context import Sources, build_prompt
from core.sessions.prompt_texts import load_prompt_texts
from core.storage.turns import LiveMessage

MODEL = ROOT / "resources" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 4096
NEW_TOKENS = 256
TALE = "The lighthouse keeper counted the ships that passed in the night and wrote their names into a book. " * 6
SETTINGS = f"[models]\ncontext_tokens = {CONTEXT_TOKENS}\nmax_reply_tokens = {NEW_TOKENS}\ntemperature = 0.0\n"
NO_RECALL = (
    "[learning]\nstm_recall_enabled = false\n"  # else the app quotes the round before: the prompts are no more the same
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round took."""

    first_s: float  # from sending to the first words
    tokens_per_s: float


def _question(number: int) -> str:
    return f"This is tale {number}. {TALE}\nTell it again as a very long story, with many more details."


def _messages(number: int) -> tuple[ChatMessage, ...]:
    """The prompt that the app makes of the question in a new conversation."""
    live = LiveMessage(id=MessageId(1), turn=TurnId(1), role=Role.USER, text=_question(number), tokens=200)
    return build_prompt(Sources(live=(live,), texts=load_prompt_texts("en")), CONTEXT_TOKENS).messages


def serve_floor(model: str, threads: int, batch_threads: int) -> None:
    """Be the floor's process: for each number on stdin a round's measures, for each text its tokens, as JSON."""
    from llama_cpp import Llama

    llama = Llama(
        model, n_ctx=CONTEXT_TOKENS, n_batch=512, n_threads=threads, n_threads_batch=batch_threads, verbose=False
    )
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, str):
            print(len(llama.tokenize(asked.encode(), add_bos=False)), flush=True)
            continue
        messages = "".join(f"<|im_start|>{m.role}\n{m.text}<|im_end|>\n" for m in _messages(asked))
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


class Child:
    """A process that answers a line of JSON with a line of JSON."""

    def __init__(self, *command: object, environment: Mapping[str, str] | None = None) -> None:
        self._name = str(command[0])
        self._child = subprocess.Popen(
            [sys.executable, "-m", *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        self._read_line()

    def _read_line(self) -> str:
        output: IO[str] | None = self._child.stdout
        assert output is not None
        line = output.readline()
        if not line:
            raise SystemExit(f"{self._name} ended")
        return line

    def ask(self, question: object) -> Any:
        """Send one line, return the answer."""
        assert self._child.stdin is not None
        self._child.stdin.write(f"{json.dumps(question)}\n")
        self._child.stdin.flush()
        return json.loads(self._read_line())

    def close(self) -> None:
        """End the process."""
        self._child.communicate(timeout=30)


def _run_floor(floor: Child, number: int) -> Round:
    started, first, last, pieces = floor.ask(number)
    return Round(first_s=first - started, tokens_per_s=(pieces - 1) / (last - first))


def _run_app(app: Child, floor: Child, number: int) -> Round:
    times = app.ask(_question(number))
    tokens = NEW_TOKENS if "length limit" in times["note"] else floor.ask(times["text"])
    return Round(first_s=times["first"] - times["sent"], tokens_per_s=(tokens - 1) / (times["stored"] - times["first"]))


async def _run_host(host: ModelHost, number: int) -> tuple[Round, int]:
    """Run one round; also returns the tokens that were read."""
    request = GenerationRequest(messages=_messages(number), max_tokens=NEW_TOKENS, temperature=0.0)
    heard = await hear(host, request)
    end = heard.end
    new = Round(first_s=heard.first_s, tokens_per_s=(end.new_tokens - 1) / (heard.whole_s - heard.first_s))
    return new, end.prompt_tokens - end.reused_tokens


async def _compare(host: ModelHost, floor: Child, app: Child | None, rounds: int) -> dict[str, Measure]:
    found: dict[str, list[Round]] = {"floor": [], "host": [], "app": []}
    read_tokens = 0

    async def run_host(number: int) -> Round:
        nonlocal read_tokens
        result, read_tokens = await _run_host(host, number)
        return result

    runs: dict[str, Callable[[int], Awaitable[Round]]] = {
        "floor": lambda number: asyncio.to_thread(_run_floor, floor, number),
        "host": run_host,
    }
    if app is not None:
        runs["app"] = lambda number: asyncio.to_thread(_run_app, app, floor, number)
    names = list(runs)
    for number in range(rounds + 1):
        names = names[1:] + names[:1]
        took = {name: await runs[name](number) for name in names}
        say(f"round {number}, tokens/s: " + ", ".join(f"{name} {took[name].tokens_per_s:.1f}" for name in runs))
        if number:  # the first one warms up
            for name in runs:
                found[name].append(took[name])
    return _summarize(found, read_tokens)


def _summarize(found: Mapping[str, Sequence[Round]], read_tokens: int) -> dict[str, Measure]:
    speed = {who: statistics.median(r.tokens_per_s for r in rounds) for who, rounds in found.items() if rounds}
    first_s = {who: statistics.median(r.first_s for r in rounds) for who, rounds in found.items() if rounds}
    measures = {"tokens_per_s": Measure(floor=speed["floor"], ours=speed["host"])}
    if "app" in speed:
        floor, ours = speed["floor"], speed["app"]
        measures["app_tokens_per_s"] = Measure(floor=floor, ours=ours)
        pairs = zip(found["floor"], found["app"], strict=True)
        ratio = statistics.median(app.tokens_per_s / raw.tokens_per_s for raw, app in pairs)
        say(f"app to floor: {ours / floor:.3f} of the medians, {ratio:.3f} as the median of the rounds' ratios")
        measures["first_token_s"] = Measure(floor=first_s["floor"], ours=first_s["app"])
    measures["prompt_tokens_per_s"] = Measure(floor=read_tokens / first_s["floor"], ours=read_tokens / first_s["host"])
    return measures


async def _measure(options: argparse.Namespace, folder: Path, environment: Mapping[str, str]) -> dict[str, Measure]:
    watcher = PhaseTimes()
    host = ModelHost(
        options.model,
        context_tokens=CONTEXT_TOKENS,
        threads=options.threads,
        batch_threads=options.batch_threads,
        on_status=watcher,
    )
    given = ("--model", options.model, "--threads", options.threads, "--batch-threads", options.batch_threads)
    floor = Child("benchmarks.throughput", "--floor", *given)
    app = None
    try:
        if options.app and options.model == MODEL:
            (folder / "data").mkdir()
            (folder / "data" / "settings.toml").write_text(
                f"{SETTINGS}threads = {options.threads}\n{NO_RECALL}", encoding="utf-8"
            )
            app = Child("benchmarks.app_rounds", folder / "data", environment=environment)
        await host.start()
        measures = await _compare(host, floor, app, options.rounds)
        measures |= await measure_interruptions(host, watcher, options.rounds)
    finally:
        floor.close()
        if app is not None:
            app.close()
        await host.aclose()
    measures |= await measure_start(options.model, options.threads, CONTEXT_TOKENS, max(1, options.rounds // 2))
    if options.cycles:
        measures |= await measure_cycles(options.model, options.threads, options.cycles)
    return measures


def main() -> None:
    """Run the benchmark."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=choose_threads(), help="default: as the program chooses")
    parser.add_argument("--batch-threads", type=int, help="for reading prompts; default: as many as --threads")
    parser.add_argument("--cycles", type=int, default=100, help="of loading, and of answering; 0 skips them")
    parser.add_argument("--no-app", dest="app", action="store_false", help="measure the model host only")
    parser.add_argument("--floor", action="store_true", help="be the floor's process (for internal use)")
    parser.add_argument("--floor-start", action="store_true", help="be the floor of the start (for internal use)")
    options = parser.parse_args()
    options.batch_threads = options.batch_threads or options.threads
    if options.floor:
        serve_floor(str(options.model), options.threads, options.batch_threads)
        return
    if options.floor_start:
        serve_start(str(options.model), options.threads, CONTEXT_TOKENS)
        return
    if not options.model.is_file():
        say(f"Skipped: {options.model} is not there; packaging/set-up.sh brings it.")
        print_result({}, json_only=options.json)
        return
    with (
        tempfile.TemporaryDirectory(prefix="keepsake-speed-", ignore_cleanup_errors=True) as folder,
        open_screen(Path(folder) / "home") as environment,
    ):
        measures = asyncio.run(_measure(options, Path(folder), environment))
    print_result(measures, json_only=options.json)


if __name__ == "__main__":
    main()
