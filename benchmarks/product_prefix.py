"""How much of a prompt need not be read again, with the prompts that the product itself builds turn by turn.

A conversation is replayed through the engine's store, jobs, commits and assembly (no answer is generated: replies are
scripted, as long as a small model's). Counted are the model's own tokens of the messages with which a prompt and the
one before it, its reply included, begin alike. Used by `benchmarks.prefix`.

Steady turns are those between two versions of memory. Floor: the same sources, the history trimmed at each turn to
what fits, as a sliding window does.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.common import Measure, say
from core.config import ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.llm.port import ChatMessage
from core.model import MessageStatus, PartKind, SessionId
from core.sessions import transcript
from core.sessions.budget import fit_messages
from core.sessions.context import Prompt, Sources, build_prompt
from core.sessions.turns import LiveMessage as Measured
from core.storage import turns
from core.storage.database import Database
from core.text.tokens import estimate_tokens

TOPICS = ("the lighthouse", "the ferry to Bergen", "sourdough", "the billing service", "the garden wall", "a violin")
ASKS = (
    "What should I know about {0} before part {1} begins?",
    "We decided to look after {0} on day {1}, so how do we start?",
    "I had trouble with {0} again, number {1}: what did others do?",
)
TELLS = "For {0}, step {1}: look at what is there, write it down, then ask somebody who did it in year {2}. "
MOST_TURNS = 120


class Counter(Protocol):
    """Whoever counts with the model's own tokenizer."""

    async def count_tokens(self, messages: Sequence[ChatMessage], /) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A conversation: its window, how long its messages are, and how many tokens of history come before it counts."""

    name: str
    context_tokens: int
    reply_sentences: int
    history_tokens: int
    counted_turns: int = 20


CASES = (
    Case(name="product_short", context_tokens=4_096, reply_sentences=1, history_tokens=500),
    Case(name="product_long", context_tokens=65_536, reply_sentences=12, history_tokens=6_000),
    Case(name="product_wordy", context_tokens=4_096, reply_sentences=8, history_tokens=300, counted_turns=24),
)


class Shares:
    """What of some prompts was known, and what the floor would have known."""

    def __init__(self) -> None:
        self._prompt_tokens = self._known_tokens = self._floor_tokens = 0

    def add(self, prompt_tokens: int, known_tokens: int, floor_tokens: int) -> None:
        """Count one prompt."""
        self._prompt_tokens += prompt_tokens
        self._known_tokens += known_tokens
        self._floor_tokens += floor_tokens

    def measure(self) -> Measure:
        """Return both as shares of the prompts' tokens."""
        whole = max(1, self._prompt_tokens)
        return Measure(floor=self._floor_tokens / whole, ours=self._known_tokens / whole)


async def count_common(counter: Counter, messages: Sequence[ChatMessage], before: Sequence[ChatMessage]) -> int:
    """Return the tokens of the whole messages that two prompts begin with alike."""
    common = 0
    for now, then in zip(messages, before, strict=False):
        if now != then:
            break
        common += 1
    return await counter.count_tokens(messages[:common]) if common else 0


async def measure_product(counter: Counter) -> dict[str, Measure]:
    """Return the reused share of each case's steady turns, and of all turns, commits included, of the wordy one."""
    found: dict[str, Measure] = {}
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="keepsake-prefix-", ignore_cleanup_errors=True) as folder:
            steady, whole, told = await _replay(case, counter, Path(folder))
        say(f"{case.name}: {told}")
        found[f"{case.name}_reused_share"] = steady.measure()
        if case.name == "product_wordy":
            found[f"{case.name}_all_turns_reused_share"] = whole.measure()
    return found


async def _replay(case: Case, counter: Counter, folder: Path) -> tuple[Shares, Shares, str]:
    models = ModelSettings(context_tokens=case.context_tokens, embedding_enabled=False)
    engine = Engine(DataFolder(folder), Settings(models=models), resources=folder / "nothing")
    await engine.open()
    store = Database(DataFolder(folder).database)
    try:
        await store.open()
        return await _Replay(case, counter, engine, store).run()
    finally:
        await store.aclose()
        await engine.aclose()


class _Replay:
    """One conversation, told turn by turn."""

    def __init__(self, case: Case, counter: Counter, engine: Engine, store: Database) -> None:
        self._case, self._counter, self._engine, self._store = case, counter, engine, store
        self._before: Prompt | None = None
        self._known: dict[str, tuple[ChatMessage, ...]] = {"ours": (), "floor": ()}
        self._steady, self._whole = Shares(), Shares()
        self._versions = self._cuts = 0

    async def run(self) -> tuple[Shares, Shares, str]:
        """Tell the conversation; return steady turns, all turns, and what happened, in words."""
        session = (await self._engine.create_conversation()).id
        number = counted = history = 0
        while counted < self._case.counted_turns and number < MOST_TURNS:
            prompt = await self._turn(session, number, counts=counted > 0)
            reached = sum(part.tokens for part in prompt.parts if part.kind is PartKind.HISTORY)
            history = max(history, reached)
            counted += 1 if counted or reached >= self._case.history_tokens else 0
            number += 1
        told = f"{counted} turns counted, up to {history} tokens of history, {self._versions} new versions of memory"
        return self._steady, self._whole, f"{told}, {self._cuts} cuts"

    async def _turn(self, session: SessionId, number: int, *, counts: bool) -> Prompt:
        topic = TOPICS[number // 4 % len(TOPICS)]
        ask = ASKS[number % len(ASKS)].format(topic, number)
        reply = "".join(TELLS.format(topic, n, 1990 + number) for n in range(1, 1 + self._case.reply_sentences)).strip()
        _, place = await self._store.write(lambda c: transcript.begin_turn(c, session, ask, at=float(number)))
        sources = await self._engine.prompts.gather(session)
        prompt = build_prompt(sources, self._case.context_tokens)
        await self._engine.prompts.keep(session, prompt, "replayed")
        await self._count(sources, prompt, reply, counts=counts)
        await self._store.write(
            lambda c: turns.finish_reply(
                c,
                place.id,
                reply,
                status=MessageStatus.COMPLETE,
                at=number + 0.5,
                tokens=estimate_tokens(reply),
            )
        )
        self._engine.backroom.worker.wake()
        await self._engine.wait_idle()
        return prompt

    async def _count(self, sources: Sources, prompt: Prompt, reply: str, *, counts: bool) -> None:
        steady = self._before is not None and self._before.version == prompt.version
        cut = steady and self._before is not None and self._before.start != prompt.start
        whole = await self._counter.count_tokens(prompt.messages)
        sent = {"ours": prompt.messages, "floor": _slide(sources, prompt)}
        known = {name: await count_common(self._counter, sent[name], self._known[name]) for name in sent}
        if counts:
            self._versions += not steady
            self._cuts += cut
            for shares in (self._whole, self._steady) if steady and not cut else (self._whole,):
                shares.add(whole, known["ours"], known["floor"])
        answer = ChatMessage(role="assistant", text=reply)
        self._known = {name: (*messages, answer) for name, messages in sent.items()}
        self._before = prompt


def _slide(sources: Sources, prompt: Prompt) -> tuple[ChatMessage, ...]:
    """The prompt of a sliding window: the newest messages that fit, whatever the prompt before began with."""
    budget = next(part.share_tokens for part in prompt.parts if part.kind is PartKind.QUESTION)
    fit = fit_messages([Measured(id=m.id, role=m.role, tokens=m.tokens) for m in sources.live], budget)
    shown = [ChatMessage(role=m.role, text=m.text) for m in sources.live if m.id in fit.ids]
    return (prompt.messages[0], *shown)
