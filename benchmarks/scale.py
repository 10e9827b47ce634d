"""What a long life costs: one conversation of N turns, its speed and memory at the end and the start.

    python -m benchmarks.scale [--data DIR] [--turns N] [--embeddings] [--json]

The turns are those of MemoryBank and LoCoMo, one after the other, again and again, fifteen a day.
`turns_per_s`: floor is the first tenth, ours the last; they are equal where nothing slows down.
`resident_mb`: floor is after the first tenth, ours at the end. `store_kb_per_turn`: floor is the
text that was said, ours everything in the data folder.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.transcripts import find_transcripts, write_long
from core.config import Settings
from core.engine import Engine
from core.model import ReplayProgress
from core.paths import DataFolder

PARTS = 10


async def run(args: argparse.Namespace, folder: Path) -> dict[str, Measure]:
    """Replay the long conversation and compare its parts."""
    files = find_transcripts(args.data, folder / "transcripts")
    if not files:
        say(f"Skipped: there is no chat to replay below {args.data}.")
        return {}
    long = folder / "long.jsonl"
    turns = write_long(files, long, args.turns)
    settings = Settings() if args.embeddings else Settings().without_embeddings()
    engine = Engine(DataFolder(folder / "data"), settings, exclusive=False)
    await engine.open()
    marks: list[tuple[float, float]] = []  # at the end of each part: s, MB

    def watch(state: ReplayProgress) -> None:
        if state.done_turns >= turns * len(marks) / PARTS:
            marks.append((time.perf_counter(), read_resident_mb()))

    try:
        await engine.replay(long, progress=watch, stop=asyncio.Event())
    finally:
        await engine.aclose()
    part = turns / PARTS
    if not args.json:
        for number in range(1, len(marks)):
            took_s = marks[number][0] - marks[number - 1][0]
            print(f"{round(part * number):7} turns  {part / took_s:8.1f} turns/s  {marks[number][1]:7.1f} MB resident")
    stored = sum(file.stat().st_size for file in (folder / "data").rglob("*") if file.is_file())
    return {
        "turns_per_s": Measure(floor=part / (marks[1][0] - marks[0][0]), ours=part / (marks[-1][0] - marks[-2][0])),
        "resident_mb": Measure(floor=marks[1][1], ours=marks[-1][1]),
        "store_kb_per_turn": Measure(floor=long.stat().st_size / turns / 1000, ours=stored / turns / 1000),
    }


def read_resident_mb() -> float:
    """Return what the process holds in memory now; its highest so far where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1_000_000 if sys.platform == "darwin" else 1000)
    return pages * resource.getpagesize() / 1_000_000


def main() -> int:
    """Print how speed and memory change over a long conversation."""
    parser = make_parser(__doc__)
    parser.add_argument("--turns", type=int, default=1000, help="default: 1000")
    parser.add_argument("--embeddings", action="store_true", help="compute vectors too (slower)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepsake-scale-") as folder:
        measures = asyncio.run(run(args, Path(folder)))
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
