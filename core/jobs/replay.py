"""A transcript through exactly the path of the chat, turn by turn.

Each turn is stored under a key made of its place and text, so a replay that was cut off goes on
where it ended and never doubles a turn.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from itertools import islice
from pathlib import Path

from core.interchange import jsonl
from core.jobs.worker import Worker
from core.model import ReplayProgress, SaidTurn, SessionId, TurnId
from core.sessions import transcript
from core.storage import conversations, turns
from core.storage.database import Connection, Database

BATCH_TURNS = 20  # read at once, so that the file is never held whole


async def replay_transcript(
    path: Path,
    *,
    database: Database,
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
    while batch := await loop.run_in_executor(pool, lambda: list(islice(reading, BATCH_TURNS))):
        taken: list[TurnId] = []
        for said in batch:
            if stop.is_set():
                break
            turn = await _store(database, session_id, said)
            if turn is not None:
                await worker.take_turn(turn)
                taken.append(turn)
            state = replace(
                state,
                done_turns=state.done_turns + 1,
                skipped_turns=state.skipped_turns + (turn is None),
                bad_lines=tuple(bad),
            )
            progress(state)
        await worker.publish_twins(taken)
        if stop.is_set():
            return replace(state, bad_lines=tuple(bad))
    await worker.commit(session_id, cause="The transcript ended.")
    return replace(state, bad_lines=tuple(bad))


async def _store(database: Database, session_id: SessionId, said: SaidTurn) -> TurnId | None:
    """Store one turn, waiting for the hook; None if it was there already."""

    def store(c: Connection) -> TurnId | None:
        if turns.find_by_source(c, said.source_key) is not None:
            return None
        conversations.add(c, session_id, at=said.user_at)
        return transcript.record_turn(c, session_id, said)

    return await database.write(store)
