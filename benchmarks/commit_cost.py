"""What a whole commit costs: 100 turns to an archive and into Working Memory, no model, no embedding.

    python -m benchmarks.commit_cost [--rounds N] [--json]

`commit_100_turns_ms`: median of the time from the request until `.done` is on disk: split, fold, merge, the
transaction and all files of the archive, synced. Floor: writing the archive's texts to one file, synced.
"""

import argparse
import asyncio
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from benchmarks.common import Measure, make_parser, print_result
from core.model import SaidTurn, Section, SessionId
from core.sessions import transcript
from core.sessions.commit import Committer, update_counters
from core.sessions.phase_two import PhaseTwo
from core.storage import conversations, memory_versions
from core.storage.database import Connection, Database

TURNS = 100
ROUNDS = 7
CHAT = SessionId("commit")
# every turn leaves two lines, which is more than a conversation does
_TOPICS = ("harbour", "bridge", "library", "market", "station", "museum", "garden", "theatre", "school", "clinic")


def say(number: int) -> SaidTurn:
    """Return a turn that is worth remembering."""
    topic = _TOPICS[number % len(_TOPICS)]
    return SaidTurn(
        source_key=f"commit-{number}",
        user_text=f"Please note that the {topic} in district {number} has {number * 7 + 3} rooms and opens at "
        f"{number % 12 + 6}:30. We decided to send the report no later than 2025-03-{number % 28 + 1:02}.",
        user_at=float(number * 60),
        reply_text=f"Noted: the {topic} in district {number} has {number * 7 + 3} rooms. I will plan the report.",
        reply_at=float(number * 60 + 10),
    )


def fill(c: Connection) -> None:
    """Store the turns, the lines that wait, and the counters."""
    conversations.ensure(c, CHAT, at=0.0)
    for number in range(TURNS):
        said = say(number)
        turn = transcript.record_turn(c, CHAT, said)
        if turn is None:
            continue
        topic = _TOPICS[number % len(_TOPICS)]
        lines = [
            (Section.FACTS, f"The {topic} in district {number} has {number * 7 + 3} rooms.", None),
            (Section.GOALS, f"Send the report on district {number} by 2025-03-{number % 28 + 1:02}.", None),
        ]
        memory_versions.add_pending(c, CHAT, turn, lines)
    update_counters(c, CHAT)


async def commit_once(folder: Path) -> float:
    """Commit a new conversation; returns ms."""
    database = Database(folder / "store.db")
    await database.open()
    pool, files = ThreadPoolExecutor(1), ThreadPoolExecutor(2)
    committer = Committer(database, workspace=folder, clock=time.time, pool=pool, files=files, tail_tokens=10**9)
    phase_two = PhaseTwo(database, workspace=folder, clock=time.time, pool=pool, files=files)
    try:
        await database.write(fill)
        begun = time.perf_counter()
        committed = await committer.commit(CHAT, cause="A benchmark.", keep=0)
        assert committed is not None
        assert committed.archive is not None
        await phase_two.finish(CHAT, committed.archive)
        return (time.perf_counter() - begun) * 1000
    finally:
        await database.aclose()
        pool.shutdown()
        files.shutdown()


def write_bare(folder: Path) -> float:
    """Write the texts of the same turns to one file, synced; returns ms."""
    text = "".join(f"{said.user_text}\n{said.reply_text}\n" for said in map(say, range(TURNS)))
    begun = time.perf_counter()
    with (folder / "bare.txt").open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return (time.perf_counter() - begun) * 1000


def measure_commit(rounds: int = ROUNDS) -> dict[str, Measure]:
    """Return the medians of some rounds, each with a store of its own."""
    floors, ours = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="keepsake-commit-") as folder:
            floors.append(write_bare(Path(folder)))
            ours.append(asyncio.run(commit_once(Path(folder))))
    return {f"commit_{TURNS}_turns_ms": Measure(floor=median(floors), ours=median(ours))}


def main() -> int:
    """Print what a commit costs."""
    parser: argparse.ArgumentParser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    args = parser.parse_args()
    print_result(measure_commit(args.rounds), json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
