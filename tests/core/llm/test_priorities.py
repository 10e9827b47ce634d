"""A chat before background work, conversations side by side, and what is kept of them: with the real model."""

import asyncio
import time

import pytest

from core.errors import ModelError
from core.llm.host import ModelHost
from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    GenerationEnd,
    GenerationPiece,
    GenerationRequest,
    Priority,
)
from core.model import ModelPhase
from tests.core.llm.phases import Phases

pytestmark = [pytest.mark.model, pytest.mark.slow]

SYSTEM = ChatMessage("system", "You are a helpful assistant.")
TALE = "The lighthouse keeper counted the ships that passed in the night. " * 12  # about 200 tokens
LONG = TALE * 3  # seconds of reading


def ask(conversation, *texts, priority=Priority.CHAT, **options):
    roles = ("user", "assistant")
    messages = (SYSTEM, *(ChatMessage(roles[i % 2], text) for i, text in enumerate(texts)))
    return GenerationRequest(
        messages=messages,
        conversation=conversation,
        priority=priority,
        **{"max_tokens": 4, "temperature": 0.0} | options,
    )


async def collect(host, request):
    text = ""
    async for answer in host.generate(request):
        if isinstance(answer, GenerationPiece):
            text += answer.text
    assert isinstance(answer, GenerationEnd)
    return text, answer


def run(chat_model, use, **options):
    async def main():
        phases = Phases()
        host = ModelHost(chat_model, on_status=phases, **options)
        try:
            await host.start()
            await asyncio.wait_for(use(host, phases), 120)
        finally:
            await host.aclose()

    asyncio.run(main())


@pytest.mark.parametrize("phase", [ModelPhase.READING, ModelPhase.WRITING])
def test_a_chat_does_not_wait_for_background_work_which_ends_as_if_nothing_had_been(chat_model, phase):
    async def use(host, phases):
        text = LONG if phase is ModelPhase.READING else TALE
        background = ask("work", text, priority=Priority.BACKGROUND, max_tokens=24)
        alone, _ = await collect(host, background)
        await host.forget("work")
        phases.clear()
        work = asyncio.ensure_future(collect(host, background))
        await phases.reach(phase)
        _, chat = await collect(host, ask("chat", "Say hello.", max_tokens=3))
        assert not work.done()
        assert chat.finish_reason != "cancelled"
        after, end = await work
        assert end.finish_reason in {"stop", "length"}
        assert len(after) > 0
        assert after[:8] == alone[:8]

    run(chat_model, use)


def test_a_choice_is_interrupted_too_and_still_answered(chat_model):
    async def use(host, phases):
        question = ChoiceRequest(messages=(ChatMessage("user", LONG),), choices=("yes", "no"), conversation="work")
        work = asyncio.ensure_future(host.choose(question))
        await phases.reach(ModelPhase.READING)
        await collect(host, ask("chat", "Say hello."))
        assert not work.done()
        scores = await work
        assert sum(scores.probabilities) == pytest.approx(1.0)

    run(chat_model, use)


def test_background_work_that_waits_or_was_interrupted_can_be_cancelled(chat_model):
    async def use(host, phases):
        interrupted = host.generate(ask("work", TALE, priority=Priority.BACKGROUND, max_tokens=2000))
        await anext(interrupted)
        question = ChoiceRequest(messages=(ChatMessage("user", LONG),), choices=("yes", "no"))
        waiting = asyncio.ensure_future(host.choose(question))
        chat = host.generate(ask("chat", "Write a long story.", max_tokens=500))
        await anext(chat)
        host.cancel()
        with pytest.raises(ModelError, match="stopped before it answered"):
            await waiting
        ends = [answer async for answer in interrupted if isinstance(answer, GenerationEnd)]
        assert [end.finish_reason for end in ends] == ["cancelled"]
        ends = [answer async for answer in chat if isinstance(answer, GenerationEnd)]
        assert [end.finish_reason for end in ends] == ["cancelled"]
        await collect(host, ask("chat", "Say hello."))

    run(chat_model, use)


def test_switching_conversations_and_work_in_between_keep_every_prefix(chat_model):
    async def use(host, phases):
        for name in ("anna", "ben"):
            await collect(host, ask(name, f"{name}: {TALE}"))
        await collect(host, ask("anna", f"work {TALE}", priority=Priority.BACKGROUND))
        for name in ("anna", "ben", "anna"):
            _, end = await collect(host, ask(name, f"{name}: {TALE}"))
            assert end.reused_tokens == end.prompt_tokens - 1
        _, end = await collect(host, ask("anna", f"work {TALE}", priority=Priority.BACKGROUND))
        assert end.reused_tokens == end.prompt_tokens - 1

    run(chat_model, use)


def test_an_answer_from_a_copied_prefix_is_the_same(chat_model):
    async def use(host, phases):
        await collect(host, ask("anna", TALE, max_tokens=1))
        first, _ = await collect(host, ask("anna", TALE, max_tokens=12))
        await collect(host, ask("ben", "Quite another thing. " * 20))
        again, _ = await collect(host, ask("anna", TALE, max_tokens=12))
        assert again == first

    run(chat_model, use)


def test_the_first_message_after_a_restart_reads_only_what_is_new(chat_model, tmp_path):
    async def first(host, phases):
        await collect(host, ask("anna", TALE))
        await collect(host, ask("anna", TALE * 2, priority=Priority.BACKGROUND))

    async def second(host, phases):
        _, end = await collect(host, ask("anna", TALE, "Indeed.", "And then?"))
        assert end.reused_tokens >= 0.8 * end.prompt_tokens

    run(chat_model, first, states=tmp_path / "kv")
    assert len(list((tmp_path / "kv").iterdir())) == 1
    run(chat_model, second, states=tmp_path / "kv")


def test_a_forgotten_conversation_is_read_anew_and_has_no_file(chat_model, tmp_path):
    async def use(host, phases):
        await collect(host, ask("anna", TALE))
        await host.unload()
        assert len(list((tmp_path / "kv").iterdir())) == 1
        await host.forget("anna")
        assert list((tmp_path / "kv").iterdir()) == []
        await collect(host, ask("anna", TALE))
        await host.forget("anna")
        _, end = await collect(host, ask("anna", TALE))
        assert end.reused_tokens < 32

    run(chat_model, use, states=tmp_path / "kv")


def test_a_model_without_use_is_unloaded_and_wakes_with_the_next_request(chat_model, tmp_path):
    from core.llm.watch import Patience

    async def use(host, phases):
        await collect(host, ask("anna", TALE))
        await phases.reach(ModelPhase.ASLEEP)
        assert host.pid is None
        _, end = await collect(host, ask("anna", TALE))
        assert end.reused_tokens == end.prompt_tokens - 1
        assert host.status.phase is ModelPhase.READY

    run(chat_model, use, states=tmp_path / "kv", idle_s=0.3, patience=Patience(beat_s=0.05))


def test_cancelling_in_every_phase_takes_less_than_a_moment(chat_model):
    async def use(host, phases):
        for text, phase in ((LONG, ModelPhase.READING), ("Write a long story.", ModelPhase.WRITING)):
            phases.clear()
            task = asyncio.ensure_future(collect(host, ask("anna", text, max_tokens=3000)))
            await phases.reach(phase)
            started = time.perf_counter()
            host.cancel()
            _, end = await task
            assert end.finish_reason == "cancelled"
            assert time.perf_counter() - started < 1  # 0.2 s on an idle machine, which the benchmark measures

    run(chat_model, use)
