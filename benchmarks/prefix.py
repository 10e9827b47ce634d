"""How much of a prompt need not be read again: in a chat, between chats, around background work, after a restart.

    python -m benchmarks.prefix [--json] [--rounds N] [--threads N] [--history N] [--model FILE]

`chat_reused_share`: of the prompt's tokens, in a chat turn while background questions run between the turns.
`switch_reused_share`: three conversations that take turns. `update_questions_reused_share`: questions about one archive
on a shared prefix, a chat turn between them. `restart_reused_share`: the first message after the process was ended.
Floors: one llama.cpp context that keeps the common beginning with the request before (what llama-cpp-python does),
counted on the same requests; nothing is left of it after a restart.

`product_…_reused_share`: the same with the prompts that the product builds (`benchmarks.product_prefix`).
`long_history_new_tokens`: tokens read for one new message after some 6,000 tokens of history; the floor is the same
message after some 500. `first_token_s`: from the new message to its first words, the history's state in place; the
floor is llama-cpp-python's own stream in a process of its own with its own state in place, rounds alternating.
`first_token_ratio` is the median of the rounds' ratios. `first_token_after_work_s`: the same after background work.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.listening import hear
from benchmarks.product_prefix import Shares, count_common, measure_product
from benchmarks.throughput import MODEL, Child
from core.llm.host import ModelHost
from core.llm.port import ChatMessage, ChoiceRequest, GenerationEnd, GenerationRequest, Priority
from core.llm.processors import choose_threads

CONTEXT_TOKENS = 8192
REPLY_TOKENS = 8
SYSTEM = ChatMessage("system", "You are a helpful assistant. Answer in one short sentence.")
FACT = "On day {0} the keeper of lighthouse {0} counted {1} ships, wrote their names into a book and went to sleep. "
NEWS = "Number {0}: what should I cook for two friends tonight, if one of them likes no fish and the other no cheese?"
DOCUMENT = "".join(FACT.format(day, day * 7 % 40) for day in range(1, 16))
SHORT_HISTORY_TOKENS = 500


def _history(name: str, facts: int) -> list[ChatMessage]:
    text = "".join(FACT.format(day, day * 3 % 50) for day in range(facts))
    return [SYSTEM, ChatMessage("user", f"{name} tells: {text}"), ChatMessage("assistant", "I see.")]


class Chat:
    """A conversation that grows by what is asked and answered."""

    def __init__(self, name: str, facts: int = 20) -> None:
        self.name = name
        self.messages = _history(name, facts)

    def say(self, text: str) -> tuple[ChatMessage, ...]:
        """Add a user's message; return the prompt."""
        self.messages.append(ChatMessage("user", text))
        return tuple(self.messages)

    def hear(self, text: str) -> None:
        """Add the reply."""
        self.messages.append(ChatMessage("assistant", text.strip() or "Well."))


def serve_floor(model: str, threads: int) -> None:
    """Be the floor's process: for each list of messages on stdin the seconds to the first words and the reply."""
    from llama_cpp import Llama

    llama = Llama(model, n_ctx=CONTEXT_TOKENS, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False)
    print("ready", flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        prompt = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in json.loads(line))
        first_s, reply = 0.0, ""
        for chunk in llama.create_completion(
            prompt + "<|im_start|>assistant\n",
            max_tokens=REPLY_TOKENS,
            temperature=0.0,
            repeat_penalty=1.1,
            stream=True,
        ):
            reply += chunk["choices"][0]["text"]
            if reply and not first_s:
                first_s = time.perf_counter() - started
        print(json.dumps([first_s, reply]), flush=True)


class Asker:
    """Asks the host, and knows what one context would have kept from the request before."""

    def __init__(self, host: ModelHost) -> None:
        self._host = host
        self._before: tuple[ChatMessage, ...] = ()

    async def _count_floor(self, messages: tuple[ChatMessage, ...]) -> int:
        """Tokens of the messages that this request and the one before begin with alike, to a message."""
        before, self._before = self._before, messages
        # what is rendered after the common messages (the answer's opening) counts as common: it favours the floor
        return await count_common(self._host, messages, before)

    async def chat(self, chat: Chat, text: str, shares: Shares | None = None) -> tuple[float, GenerationEnd]:
        """Run one turn of a chat; return the seconds to its first words, and its end."""
        messages = chat.say(text)
        floor = await self._count_floor(messages)
        request = GenerationRequest(messages=messages, max_tokens=REPLY_TOKENS, temperature=0.0, conversation=chat.name)
        heard = await hear(self._host, request)
        end = heard.end
        chat.hear(heard.text)
        self._before = (*messages, chat.messages[-1])
        if shares is not None:
            shares.add(end.prompt_tokens, end.reused_tokens, min(floor, end.prompt_tokens - 1))
        return heard.first_s, end

    async def question(self, number: int, shares: Shares | None = None) -> None:
        """Ask one question about the archive, in the background."""
        messages = (
            ChatMessage("system", f"Here is an archive:\n{DOCUMENT}"),
            ChatMessage("user", f"Does sentence {number} hold a decision? Answer yes or no."),
        )
        floor = await self._count_floor(messages)
        scores = await self._host.choose(
            ChoiceRequest(
                messages=messages, choices=("yes", "no"), conversation="archive", priority=Priority.BACKGROUND
            )
        )
        if shares is not None:
            shares.add(scores.prompt_tokens, scores.reused_tokens, min(floor, scores.prompt_tokens - 1))


async def _measure_shares(host: ModelHost, rounds: int) -> dict[str, Measure]:
    asker, chats = Asker(host), [Chat(name) for name in ("anna", "ben", "chen")]
    for chat in chats:
        await asker.chat(chat, NEWS.format(0))
    await asker.question(0)
    switched, steady, questions = Shares(), Shares(), Shares()
    for number in range(1, rounds + 1):
        for chat in chats:
            await asker.chat(chat, NEWS.format(number), switched)
    for number in range(1, rounds + 1):
        await asker.question(2 * number, questions)
        await asker.question(2 * number + 1, questions)
        await asker.chat(chats[0], NEWS.format(rounds + number), steady)
    await host.unload()
    restarted = Shares()
    await asker.chat(chats[0], NEWS.format(99), restarted)
    return {
        "chat_reused_share": steady.measure(),
        "switch_reused_share": switched.measure(),
        "update_questions_reused_share": questions.measure(),
        "restart_reused_share": Measure(floor=0.0, ours=restarted.measure().ours),
    }


async def _measure_history(host: ModelHost, history_tokens: int) -> dict[str, Measure]:
    asker = Asker(host)
    read = []
    tokens_a_fact = (await host.count_tokens(_history("x", 40)) - await host.count_tokens(_history("x", 20))) / 20
    for tokens in (SHORT_HISTORY_TOKENS, history_tokens):
        chat = Chat(f"history {tokens}", int(tokens / tokens_a_fact))
        await asker.chat(chat, "Good evening!")
        first_s, end = await asker.chat(chat, NEWS.format(1))
        read.append(end.prompt_tokens - end.reused_tokens)
        say(f"after {end.prompt_tokens} tokens: {read[-1]} read for a new message, first words in {first_s:.2f} s")
    return {"long_history_new_tokens": Measure(floor=read[0], ours=read[1])}


async def _measure_first_tokens(host: ModelHost, floor: Child, rounds: int) -> dict[str, Measure]:
    asker = Asker(host)
    ours, theirs = Chat("first"), Chat("first")
    found: dict[str, list[float]] = {"floor": [], "ours": [], "worked": []}

    async def run_floor(text: str) -> float:
        messages = [(message.role, message.text) for message in theirs.say(text)]
        first_s, reply = await asyncio.to_thread(floor.ask, messages)
        theirs.hear(reply)
        return float(first_s)

    async def run_ours(text: str) -> float:
        return (await asker.chat(ours, text))[0]

    for number in range(rounds + 1):
        text = NEWS.format(number)
        order: Sequence[str] = ("floor", "ours") if number % 2 else ("ours", "floor")
        took = {name: await (run_floor(text) if name == "floor" else run_ours(text)) for name in order}
        await asker.question(number)
        took["worked"] = await run_ours(NEWS.format(100 + number))
        await run_floor(NEWS.format(100 + number))  # both histories grow alike
        say(f"round {number}, s to the first words: " + ", ".join(f"{name} {took[name]:.3f}" for name in found))
        if number:  # the first one reads the history
            for name, values in found.items():
                values.append(took[name])
    ratio = statistics.median(a / b for a, b in zip(found["ours"], found["floor"], strict=True))
    floor_s = statistics.median(found["floor"])
    return {
        "first_token_s": Measure(floor=floor_s, ours=statistics.median(found["ours"])),
        "first_token_ratio": Measure(floor=1.0, ours=ratio),
        "first_token_after_work_s": Measure(floor=floor_s, ours=statistics.median(found["worked"])),
    }


async def _measure(options: argparse.Namespace, folder: Path) -> dict[str, Measure]:
    host = ModelHost(
        options.model, context_tokens=CONTEXT_TOKENS, threads=options.threads, states=folder / "kv"
    )  # fmt: skip
    floor = Child("benchmarks.prefix", "--floor", "--model", options.model, "--threads", options.threads)
    try:
        await host.start()
        measures = await _measure_shares(host, options.rounds)
        measures |= await _measure_first_tokens(host, floor, options.rounds)
        measures |= await measure_product(host)
        if options.history:
            measures |= await _measure_history(host, options.history)
        return measures
    finally:
        floor.close()
        await host.aclose()


def main() -> None:
    """Run the benchmark."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--history", type=int, default=6000, help="tokens of the long history; 0 skips it")
    parser.add_argument("--threads", type=int, default=choose_threads(), help="default: as the program chooses")
    parser.add_argument("--floor", action="store_true", help="be the floor's process (for internal use)")
    options = parser.parse_args()
    if options.floor:
        serve_floor(str(options.model), options.threads)
        return
    if not options.model.is_file():
        say(f"Skipped: {options.model} is not there; packaging/set-up.sh brings it.")
        print_result({}, json_only=options.json)
        return
    with tempfile.TemporaryDirectory(prefix="keepsake-prefix-", ignore_cleanup_errors=True) as folder:
        measures = asyncio.run(_measure(options, Path(folder)))
    print_result(measures, json_only=options.json)


if __name__ == "__main__":
    main()
