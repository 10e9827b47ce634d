"""Turns read ahead, here or in a process of their own, mean what they mean when they are read in place."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from core.jobs.reading import Talk, make_turn, read_batch
from core.jobs.reading_process import WORTH_TURNS, TurnReader
from core.working_memory.heuristics import Known, propose, read_turn
from tests.core.jobs.talk import SAID, look, run_replay, write_transcript

T = TypeVar("T")
BATCH = [(user, reply, 1_700_000_000.0 + 60 * number) for number, (user, reply) in enumerate(SAID)]


def with_reader(command: list[str] | None, work: Callable[[TurnReader], Awaitable[T]]) -> T:
    """Run something with a reader that expects many turns."""

    async def run() -> T:
        with ThreadPoolExecutor(1) as pool:
            reader = TurnReader(pool, command)
            try:
                reader.expect(WORTH_TURNS + 1)
                return await work(reader)
            finally:
                reader.close()

    return asyncio.run(run())


@pytest.mark.parametrize("place", range(len(SAID)))
def test_a_turn_read_ahead_leads_to_the_same_lines(place):
    read, _ = read_batch(BATCH, Talk())
    known = Known(recent=tuple(user for user, _ in SAID[:place]), language=read[place].reading.language)
    turn = make_turn(*BATCH[place])
    assert propose(turn, known, read[place].reading) == propose(turn, known)


def test_a_reading_of_another_turn_or_language_is_not_taken():
    first, second = make_turn(*BATCH[1]), make_turn(*BATCH[2])
    assert propose(second, Known(), read_turn(first, "en")) == propose(second, Known())
    in_chinese = Known(language="zh")
    assert propose(second, in_chinese, read_turn(second, "en")) == propose(second, in_chinese)


def test_the_language_is_followed_over_the_batches():
    said = [("I went to the market and bought some apples today.", "", 0.0), ("我今天去了市场买苹果。", "", 1.0)]
    said.append(("我明天还想去市场买梨。", "", 2.0))
    whole, _ = read_batch(said, Talk())
    first, talk = read_batch(said[:2], Talk())
    rest, _ = read_batch(said[2:], talk)
    assert [each.reading.language for each in whole] == ["en", "en", "zh"]
    assert (*first, *rest) == whole


def test_secrets_do_not_come_into_a_reading():
    secret = "gh" + "p_" + "Ab1" * 12
    (read,), _ = read_batch([(f"My token is {secret} now.", "", 0.0)], Talk())
    assert secret not in repr(read)


@pytest.mark.slow
def test_another_process_reads_as_this_one_does():
    async def work(reader: TurnReader) -> object:
        assert await reader.wait_started()
        return await reader.read(BATCH, Talk())

    assert with_reader(None, work) == read_batch(BATCH, Talk())


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["/nowhere/keepsake-jobs"],
        [sys.executable, "-c", "raise SystemExit(3)"],
        [sys.executable, "-c", "print('no answer of ours')"],
        [sys.executable, "-c", "import pickle, sys; pickle.dump('ready', sys.stdout.buffer)"],
    ],
    ids=["missing", "fails", "babbles", "dies"],
)
def test_without_that_process_turns_are_read_here(command):
    async def work(reader: TurnReader) -> object:
        await reader.wait_started()
        return await reader.read(BATCH, Talk()), await reader.read(BATCH, Talk())

    assert with_reader(command, work) == (read_batch(BATCH, Talk()),) * 2


def test_few_turns_start_no_process():
    async def run() -> bool:
        with ThreadPoolExecutor(1) as pool:
            reader = TurnReader(pool)
            reader.expect(WORTH_TURNS)
            started = await reader.wait_started()
            reader.close()
            return started

    assert not asyncio.run(run())


@pytest.mark.slow
def test_a_long_replay_leaves_what_short_ones_leave(tmp_path):
    turns = WORTH_TURNS + 60
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=turns)
    run_replay(tmp_path / "whole", transcript)
    for length in (WORTH_TURNS // 2, WORTH_TURNS, turns):  # a process is started for the last of them only
        write_transcript(transcript, turns=length)
        run_replay(tmp_path / "parts", transcript)
    whole, parts = look(tmp_path / "whole"), look(tmp_path / "parts")
    assert (parts.messages, parts.indexed) == (whole.messages, whole.indexed)
    assert parts.twins == whole.twins
