"""What a long life costs: one conversation of N turns, its speed and memory at the end and the start.

    python -m benchmarks.scale [--data DIR] [--turns N] [--files | --no-files] [--embeddings] [--json]

The turns are those of MemoryBank and LoCoMo, one after the other, again and again, fifteen a day.
`turns_per_s`: floor is the first tenth, ours the last; they are equal where nothing slows down.
`resident_mb`: floor is after the first tenth, ours at the end. `store_kb_per_turn`: floor is the
text that was said, ours everything in the data folder.

Of the two stages (`benchmarks.cost` says what belongs to which) the turns' alone gives speed and memory;
`store_kb_per_turn` needs the files worked off too. Up to 10,000 turns they are; beyond that it takes many times as
long as the turns, so that the benchmark ends with their stage and leaves that metric out, unless told `--files`. Each
tenth is printed as it ends. Ctrl-C ends the replay after the turn at hand; what was measured until then is the result.
"""

import argparse
import asyncio
import resource
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.transcripts import find_transcripts, write_long
from core.config import Settings
from core.engine import Engine
from core.model import ReplayProgress, ReplayStage
from core.paths import DataFolder

PARTS = 10
MOST_WITH_FILES = 10_000  # turns


async def run(args: argparse.Namespace, folder: Path) -> dict[str, Measure]:
    """Replay the long conversation and compare its parts."""
    files = find_transcripts(args.data, folder / "transcripts")
    if not files:
        say(f"Skipped: there is no chat to replay below {args.data}.")
        return {}
    long = folder / "long.jsonl"
    turns = write_long(files, long, args.turns)
    with_files = turns <= MOST_WITH_FILES if args.files is None else args.files
    stop = asyncio.Event()
    with suppress(NotImplementedError):  # where a loop knows no signals, Ctrl-C just ends the program
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    parts = _Parts(turns, quiet=args.json)

    def watch(state: ReplayProgress) -> None:
        parts.see(state)
        if state.stage is ReplayStage.FILES and not with_files:
            stop.set()

    settings = Settings() if args.embeddings else Settings().without_embeddings()
    engine = Engine(DataFolder(folder / "data"), settings, exclusive=False)
    await engine.open()
    try:
        await engine.replay(long, progress=watch, stop=stop)
    finally:
        await engine.aclose()
    measures = parts.compare()
    if stop.is_set():
        say("Skipped: store_kb_per_turn; not everything was worked off.")
    else:
        stored = sum(file.stat().st_size for file in (folder / "data").rglob("*") if file.is_file())
        floor = long.stat().st_size / turns / 1000
        measures["store_kb_per_turn"] = Measure(floor=floor, ours=stored / turns / 1000)
    return measures


class _Parts:
    """Takes the time and the memory at the end of each part, and prints them unless `quiet`."""

    def __init__(self, turns: int, *, quiet: bool) -> None:
        self._turns = turns
        self._quiet = quiet
        self._marks: list[tuple[float, float]] = []  # s, MB; the first is the beginning

    def see(self, state: ReplayProgress) -> None:
        number = len(self._marks)
        if state.done_turns < self._turns * number / PARTS:
            return
        self._marks.append((time.perf_counter(), read_resident_mb()))
        if number and not self._quiet:
            speed, held_mb = self._speed(number), self._marks[number][1]
            done = round(self._turns / PARTS * number)
            print(f"{done:7} turns  {speed:8.1f} turns/s  {held_mb:7.1f} MB resident", flush=True)

    def compare(self) -> dict[str, Measure]:
        """Return the last part beside the first, as far as there are any."""
        last = len(self._marks) - 1
        if last < 1:
            return {}
        return {
            "turns_per_s": Measure(floor=self._speed(1), ours=self._speed(last)),
            "resident_mb": Measure(floor=self._marks[1][1], ours=self._marks[last][1]),
        }

    def _speed(self, number: int) -> float:
        return self._turns / PARTS / (self._marks[number][0] - self._marks[number - 1][0])


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
    parser.add_argument(
        "--files",
        action=argparse.BooleanOptionalAction,
        help=f"wait until nothing is left to do (default: up to {MOST_WITH_FILES:,} turns)",
    )
    parser.add_argument("--embeddings", action="store_true", help="compute vectors too (slower)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepsake-scale-") as folder:
        measures = asyncio.run(run(args, Path(folder)))
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
