"""What remembering costs: turns a second without a model, embedding passes a turn, ms a merge.

    python -m benchmarks.cost [--data DIR] [--files N] [--profile FILE] [--json]

`pipeline_turns_per_s`: replay of transcripts (MemoryBank, LoCoMo) with embeddings off, through
exactly the path of the chat, timed until every turn is stored, indexed, has its twin on the disk, is in a
segment and remembered, and every commit is made as a version of Working Memory in the store.
`finished_turns_per_s`: the same turns in the whole time, until nothing is left in the queue: the files of
archives, MEMORY.md, recaps, events and the memory tree too. Floor of both: the bare inserts of the same turns
through the same database thread, one transaction a turn. `embedding_passes_per_turn`: calls of the embedding
model while a few turns are replayed; floor: one. `wm_merge_ms`: folding what was noticed into the next version,
median over the commits of the replay; floor: parsing and rendering the same documents. A whole commit:
`benchmarks.commit_cost`. `estimate_mb_per_s`: estimating the tokens of the transcripts' texts, MB of UTF-8 a
second; floor: a quarter of the characters, which is wrong for all but plain English.
"""

import argparse
import asyncio
import cProfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.commit_cost import measure_commit
from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.transcripts import find_transcripts, load_turns
from core.config import Settings
from core.engine import Engine
from core.model import LineState, ReplayProgress, ReplayStage, SaidTurn, Section, SessionId
from core.paths import DataFolder
from core.sessions import transcript
from core.sessions.fold import fold, propose_by_heuristics
from core.storage import conversations, memory_versions
from core.storage.database import Connection, Database
from core.storage.memory_versions import PendingLine, Version
from core.text.tokens import estimate_tokens
from core.working_memory.document import parse_document, render_document

EMBEDDED_TURNS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay took."""

    turns: int
    took_s: float  # until all was remembered
    finished_s: float  # until nothing was left to do
    embedding_passes: int


async def replay(files: list[Path], folder: Path, settings: Settings, *, profile: Path | None = None) -> Replayed:
    """Replay transcripts into a new data folder."""
    engine = Engine(DataFolder(folder), settings, exclusive=False)
    await engine.open()
    profiler = cProfile.Profile() if profile else None
    try:
        turns, took_s, begun = 0, 0.0, time.perf_counter()
        if profiler:
            profiler.enable()
        for file in files:
            watch = _Watch()
            turns += (await engine.replay(file, progress=watch.see, stop=asyncio.Event())).done_turns
            took_s += watch.took_s
        await engine.wait_idle()
        if profiler:
            profiler.disable()
        finished_s = time.perf_counter() - begun
        passes = engine.backroom.embedder.passes
        return Replayed(turns=turns, took_s=took_s, finished_s=finished_s, embedding_passes=passes)
    finally:
        await engine.aclose()
        if profiler and profile:
            profiler.dump_stats(profile)


class _Watch:
    """Takes the time until a replay has remembered all turns."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self.took_s = 0.0

    def see(self, state: ReplayProgress) -> None:
        if state.stage is not ReplayStage.TURNS and not self.took_s:
            self.took_s = time.perf_counter() - self._begun


async def insert_bare(turns: list[SaidTurn], file: Path) -> float:
    """Store turns in a new database and do nothing else; returns turns/s."""
    database = Database(file)
    await database.open()
    chat = SessionId("bare")
    try:
        await database.write(lambda c: conversations.add(c, chat, at=0.0))
        begun = time.perf_counter()
        for said in turns:
            await database.write(partial(transcript.record_turn, session_id=chat, said=said))
        return len(turns) / (time.perf_counter() - begun)
    finally:
        await database.aclose()


def measure_estimate(texts: list[str]) -> Measure:
    """Estimate tokens of texts of some 10 kB, a hundred messages each; medians in MB/s."""
    joined = ["\n".join(texts[at : at + 100]) for at in range(0, len(texts), 100)]
    size_mb = sum(len(text.encode()) for text in joined) / 1e6

    def rate(estimate: Callable[[str], float]) -> float:
        took_s = []
        for _ in range(5):
            begun = time.perf_counter()
            for text in joined:
                estimate(text)
            took_s.append(time.perf_counter() - begun)
        return size_mb / median(took_s)

    return Measure(floor=rate(lambda text: len(text) / 4), ours=rate(estimate_tokens))


async def load_commits(folder: Path) -> list[tuple[Version | None, Version, str]]:
    """Return (version before, version, language) for each commit in a store."""

    def work(c: Connection) -> list[tuple[Version | None, Version, str]]:
        found: list[tuple[Version | None, Version, str]] = []
        for conversation in conversations.load_all(c):
            before: Version | None = None
            for number in range(1, memory_versions.get_newest_number(c, conversation.id) + 1):
                version = memory_versions.get(c, conversation.id, number)
                if version is not None:
                    found.append((before, version, conversations.load_language(c, conversation.id)))
                before = version
        return found

    database = Database(DataFolder(folder).database)
    await database.open()
    try:
        return await database.read(work)
    finally:
        await database.aclose()


def measure_merge(commits: list[tuple[Version | None, Version, str]]) -> Measure:
    """Fold each commit's new lines into the version before it once more; medians in ms."""
    floor_ms, ours_ms = [], []
    for before, version, language in commits:
        pending = find_added(version)
        if before is None or not pending:
            continue
        begun = time.perf_counter()
        render_document(parse_document(before.document))
        floor_ms.append((time.perf_counter() - begun) * 1000)
        begun = time.perf_counter()
        update = propose_by_heuristics(before, pending, language=language or "en")
        fold(before, update, pending, user_texts=(), cause="", archive=None, at=version.created_at)
        ours_ms.append((time.perf_counter() - begun) * 1000)
    return Measure(floor=median(floor_ms), ours=median(ours_ms)) if ours_ms else Measure(floor=None, ours=None)


def find_added(version: Version) -> list[PendingLine]:
    """Return the lines that a version added, as they waited before it."""
    return [
        PendingLine(id=0, turn=line.turns[-1], section=section, text=line.text, replaces=None)
        for section in Section
        for line in version.lines.get(section, ())
        if line.state is LineState.ADDED and line.turns
    ]


async def run(args: argparse.Namespace, folder: Path) -> dict[str, Measure]:
    """Measure everything that can be measured."""
    files = find_transcripts(args.data, folder / "transcripts")[: args.files]
    if not files:
        say(f"Skipped: there is no chat to replay below {args.data}.")
        return {}
    without = Settings().without_embeddings()
    turns = list(load_turns(files))
    floor = await insert_bare(turns, folder / "bare.db")
    plain = await replay(files, folder / "plain", without, profile=args.profile)
    if not args.json:
        print(f"{plain.turns} turns of {len(files)} transcripts: {plain.took_s:.1f} s, {plain.finished_s:.1f} s in all")
    few = folder / "few.jsonl"
    with files[0].open(encoding="utf-8") as source:
        few.write_text("".join(line for _, line in zip(range(2 * EMBEDDED_TURNS), source, strict=False)))
    embedded = await replay([few], folder / "embedded", Settings())
    return {
        "pipeline_turns_per_s": Measure(floor=floor, ours=plain.turns / plain.took_s),
        "finished_turns_per_s": Measure(floor=floor, ours=plain.turns / plain.finished_s),
        "embedding_passes_per_turn": Measure(floor=1.0, ours=embedded.embedding_passes / embedded.turns),
        "embedded_turns_per_s": Measure(floor=None, ours=embedded.turns / embedded.took_s),
        "estimate_mb_per_s": measure_estimate([t for said in turns for t in (said.user_text, said.reply_text)]),
        "wm_merge_ms": measure_merge(await load_commits(folder / "plain")),
    }


def main() -> int:
    """Print what remembering costs."""
    parser = make_parser(__doc__)
    parser.add_argument("--files", type=int, default=None, help="replay only the first N transcripts")
    parser.add_argument("--profile", type=Path, default=None, help="write a cProfile of the replay here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepsake-cost-") as folder:
        measures = {**asyncio.run(run(args, Path(folder))), **measure_commit()}
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
