"""A transcript through exactly the path of the chat, turn by turn.

Each turn is stored under a key made of its place and text, so a replay that was cut off goes on
where it ended and never doubles a turn. Turns and commits come first, the files that follow from commits
after them: what was said is remembered soon, and a run that is cut off writes the files at its next start.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from itertools import islice
from pathlib import Path

from core.interchange import jsonl
from core.jobs.reading import Talk
from core.jobs.turn_hook import Prepared
from core.jobs.worker import Worker
from core.model import ReplayProgress, ReplayStage

BATCH_TURNS = 20  # read at once, so that the file is never held whole


async def replay_transcript(
    path: Path,
    *,
    worker: Worker,
    pool: Executor,
    progress: Callable[[ReplayProgress], None],
    stop: asyncio.Event,
) -> ReplayProgress:
    """Feed a transcript into the store; `stop` ends it between two turns.

    Raises `TranscriptError` if the file cannot be read at all; a bad line is in the result.
    """
    loop = asyncio.get_running_loop()
    await worker.drain()  # what an earlier run or a crash left
    session_id = await loop.run_in_executor(pool, jsonl.name_session, path)
    total = await loop.run_in_executor(pool, jsonl.count_turns, path)
    bad: list[tuple[int, str]] = []
    state = ReplayProgress(done_turns=0, total_turns=total, session_ids=(session_id,))
    progress(state)
    reading = jsonl.read_turns(path, session_id, lambda number, reason: bad.append((number, reason)))

    async def prepare(talk: Talk) -> tuple[list[Prepared], Talk]:
        batch = await loop.run_in_executor(pool, lambda: list(islice(reading, BATCH_TURNS)))
        return await worker.prepare(batch, talk) if batch else ([], talk)

    worker.expect(total)
    preparing = loop.create_task(prepare(Talk()))
    publishing = loop.create_task(worker.publish_twins(()))
    try:
        while True:
            prepared, talk = await preparing
            if not prepared:
                break
            preparing = loop.create_task(prepare(talk))  # while those before are taken
            taken = await worker.take(session_id, prepared, stop=stop)
            await publishing
            # twins wait for the disk: meanwhile the next turns can be thought about
            publishing = loop.create_task(worker.publish_twins(taken))
            state = replace(
                state,
                done_turns=state.done_turns + len(taken),
                skipped_turns=state.skipped_turns + sum(each.turn is None for each in taken),
                bad_lines=tuple(bad),
            )
            progress(state)
            if stop.is_set():
                return state
    finally:
        preparing.cancel()
        await asyncio.wait([preparing])
        await publishing
    await worker.commit_store(session_id, cause="The transcript ended.")
    state = replace(state, bad_lines=tuple(bad))
    await worker.finish(
        progress=lambda left: progress(replace(state, stage=ReplayStage.FILES, jobs_left=left)), stop=stop
    )
    state = replace(state, stage=ReplayStage.DONE)
    progress(state)
    return state
