"""MEMORY.md under fire: many processes write, editors save over them, writers are killed, a reader never stops.

`python -m benchmarks.memory_fire [--processes 8] [--writes 200] [--json]`. Needs no data. Writers are processes with
the product's own store, lock and history; an editor saves by rename and another by truncating in place, each reading
first, as people's editors do. The floor is the plain way, read, append, write in place, under the same fire.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import ROOT, Measure, make_parser, print_result, say
from core.errors import MemoryFileBusyError, MemoryFileError
from core.memory_files.writer import Cause, MemoryFileWriter
from core.model import FileChange

LOCK_WAIT_S = 120.0  # of the writers: eight of them wait for each other
STOPPED_WAIT_S = 1.0  # of the one that waits for a stopped holder
EDIT_EVERY_S = (0.3, 1.5)  # two editors: more often than anybody saves, but writers must get a turn
KILL_EVERY_S = (0.3, 1.2)
KILLS = 3  # of one writer; each costs a start
START_S = 2.0  # of a writer, before it is in danger

WRITER = """
import asyncio, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from core.config import LearningSettings
from core.errors import MemoryFileBusyError
from core.jobs.memory_entries import MemoryKeeper
from core.memory_files.writer import Cause
from core.storage.database import Database

async def main(root, workspace, number, first, count):
    database = Database(Path(root) / "store.db")
    await database.open()
    learning = LearningSettings(memory_md_budget_chars=10_000_000, lock_wait_seconds=int(sys.argv[6]))
    with ThreadPoolExecutor(1) as files:
        keeper = MemoryKeeper(database, workspace=Path(workspace), learning=learning, files=files, actor="Keepsake")
        for i in range(int(first), int(count)):
            cause = Cause(at=time.time(), actor="Keepsake", cause="fire")
            while True:
                try:
                    result = await keeper.use(lambda w: w.append("MEMORY.md", f"- fact: w{number}n{i}.", cause))
                    break
                except MemoryFileBusyError as error:  # an editor saved four times in a row: a job would try again
                    assert error.pid is None, error
            print(result.outcome.value, flush=True)
    await database.aclose()

asyncio.run(main(*sys.argv[1:6]))
"""
PLAIN = """
import sys
from pathlib import Path
root, workspace, number, first, count = sys.argv[1:6]
target = Path(workspace) / "MEMORY.md"
for i in range(int(first), int(count)):
    text = target.read_text(encoding="utf-8") if target.exists() else ""
    target.write_text(text + f"- fact: w{number}n{i}.\\n", encoding="utf-8")
    print("written", flush=True)
"""


@dataclass(slots=True)
class Seen:
    """What the fire came to."""

    missing: int = 0  # acknowledged entries that are not in the file
    doubled: int = 0
    invalid_reads: int = 0
    reads: int = 0
    kills: int = 0
    saves: int = 0
    failed_writers: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Fire:
    """A workspace with writers, editors and a reader."""

    root: Path
    code: str
    processes: int
    writes: int
    rng: random.Random
    edit_every_s: tuple[float, float] = EDIT_EVERY_S
    start_s: float = START_S
    seen: Seen = field(default_factory=Seen)
    over: threading.Event = field(default_factory=threading.Event)
    truncating: int = 0  # odd while an editor has the file emptied

    @property
    def target(self) -> Path:
        return self.root / "workspace" / "MEMORY.md"

    def run(self) -> Seen:
        """Light it, wait for the writers, count."""
        self.target.parent.mkdir(parents=True)
        began = time.monotonic()
        others = [threading.Thread(target=work) for work in (self._read, self._save_by_rename, self._save_in_place)]
        writers = [threading.Thread(target=self._keep_writing, args=(i,)) for i in range(self.processes)]
        for thread in (*others, *writers):
            thread.start()
        for thread in writers:
            thread.join()
        self.over.set()
        for thread in others:
            thread.join()
        self.seen.seconds = time.monotonic() - began
        lines = self._settle().splitlines()
        for number in range(self.processes):
            for i in range(self.writes):
                count = lines.count(f"- fact: w{number}n{i}.")
                self.seen.missing += count == 0
                self.seen.doubled += count > 1
        return self.seen

    def _settle(self) -> str:
        """One more write after the last save, as there always is one."""
        self._run_writer(self.processes, 0, 1).communicate()
        return self.target.read_text(encoding="utf-8")

    def _run_writer(self, number: int, first: int, count: int) -> subprocess.Popen[str]:
        arguments = (
            str(self.root),
            str(self.target.parent),
            str(number),
            str(first),
            str(count),
            str(int(LOCK_WAIT_S)),
        )
        return subprocess.Popen(
            [sys.executable, "-c", self.code, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )

    def _keep_writing(self, number: int) -> None:
        """Write all entries of one writer; one that is killed is started again where it was."""
        rng, done = random.Random(f"{self.rng.random()}-{number}"), 0
        kills = 0
        while done < self.writes:
            child = self._run_writer(number, done, self.writes)
            killer = threading.Timer(self.start_s + rng.uniform(*KILL_EVERY_S), child.kill)
            if kills < KILLS:
                killer.start()
            output, _ = child.communicate()
            killer.cancel()
            done += len(output.split())
            killed = child.returncode == -signal.SIGKILL
            self.seen.kills += killed
            kills += killed
            if child.returncode and not killed:
                self.seen.failed_writers += 1
                return

    def _save_by_rename(self) -> None:
        for i in self._saves():
            with contextlib.suppress(FileNotFoundError):
                text = self.target.read_text(encoding="utf-8")
                if not text:
                    continue  # the other editor is at it
                temporary = self.target.with_name(f"editor-{i}.tmp")
                temporary.write_text(f"{text}Renamed into place, {i}\n", encoding="utf-8")
                os.replace(temporary, self.target)
                self.seen.saves += 1

    def _save_in_place(self) -> None:
        for i in self._saves():
            with contextlib.suppress(FileNotFoundError):
                data = self.target.read_bytes()
                if not data:
                    continue
                self.truncating += 1
                descriptor = os.open(self.target, os.O_WRONLY | os.O_TRUNC)
                os.write(descriptor, data + f"Typed in place, {i}\n".encode())
                os.close(descriptor)
                self.truncating += 1
                self.seen.saves += 1

    def _saves(self) -> Iterator[int]:
        rng, i = random.Random(self.rng.random()), 0
        while not self.over.wait(rng.uniform(*self.edit_every_s)):
            i += 1
            yield i

    def _read(self) -> None:
        """Read without end: every text is whole lines that somebody wrote."""
        while not self.over.wait(0.002):
            before = self.truncating
            try:
                text = self.target.read_bytes().decode("utf-8")
            except FileNotFoundError:
                continue
            except UnicodeDecodeError:
                text = "?"
            if before != self.truncating or before % 2:
                continue  # what an editor does to its own file is no fault of ours
            self.seen.reads += 1
            starts = ("- fact: w", "Renamed into place, ", "Typed in place, ")
            whole = text.endswith("\n") and all(line.startswith(starts) for line in text.splitlines())
            self.seen.invalid_reads += bool(text) and not whole


class NoHistory:
    """A history that forgets, for attacks on the file alone."""

    def last_change(self, file: str) -> FileChange | None:
        return None

    def changes(self, file: str, *, limit: int = 0) -> list[FileChange]:
        return []

    def find_change(self, change_id: int) -> FileChange | None:
        return None

    def record(self, change: object) -> FileChange:
        fields = {name: getattr(change, name) for name in ("file", "at", "actor", "cause", "turns", "before", "after")}
        return FileChange(id=1, **fields)


def attack(root: Path, rounds: int) -> tuple[int, int]:
    """Swap the file for a link to another one while it is written; returns (attacks, how often that one changed)."""
    workspace, victim = root / "attacked", root / "victim.txt"
    workspace.mkdir()
    target, harmed = workspace / "MEMORY.md", 0
    over = threading.Event()

    spare = workspace / "swap"

    def swap() -> None:
        makers = (lambda: spare.symlink_to(victim), lambda: os.link(victim, spare), lambda: spare.write_text(""))
        while not over.is_set():
            for make in makers:
                with contextlib.suppress(OSError):
                    spare.unlink(missing_ok=True)
                    make()
                    os.replace(spare, target)

    victim.write_text("untouched\n", encoding="utf-8")
    thread = threading.Thread(target=swap)
    thread.start()
    writer = MemoryFileWriter(workspace, NoHistory())
    for i in range(rounds):
        with contextlib.suppress(MemoryFileError, OSError):
            writer.append("MEMORY.md", f"- fact: attack {i}", Cause(at=time.time(), actor="Keepsake", cause="attack"))
        harmed += victim.read_text(encoding="utf-8") != "untouched\n"
    over.set()
    thread.join()
    return rounds, harmed


def wait_for_stopped(root: Path) -> tuple[float, bool]:
    """Wait for a lock whose holder is stopped; returns (seconds, whether the error names the holder)."""
    workspace = root / "stopped"
    workspace.mkdir()
    code = (
        "import sys, time; from pathlib import Path; from core.locks import OwnedLock\n"
        "lock = OwnedLock(Path(sys.argv[1])); lock.acquire(1); print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(workspace / ".memory-write.lock")], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    holder.send_signal(signal.SIGSTOP)
    writer = MemoryFileWriter(workspace, NoHistory(), lock_wait_s=STOPPED_WAIT_S)
    began, named = time.monotonic(), False
    try:
        writer.append("MEMORY.md", "- fact: x", Cause(at=0.0, actor="Keepsake", cause="wait"))
    except MemoryFileBusyError as error:
        named = error.pid == holder.pid and str(holder.pid) in str(error)
    waited = time.monotonic() - began
    holder.kill()
    holder.communicate()
    return waited, named


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--writes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepsake-fire-") as folder:
        root = Path(folder)
        fires = {}
        for name, code in (("plain", PLAIN), ("ours", WRITER)):
            rng = random.Random(options.seed)
            fires[name] = Fire(root / name, code, options.processes, options.writes, rng).run()
            say(f"{name}: {fires[name]}")
        attacks, harmed = attack(root, options.writes)
        waited_s, named = wait_for_stopped(root)
        say(f"{attacks} writes during link attacks; a stopped holder was {'named' if named else 'not named'}")
    plain, ours = fires["plain"], fires["ours"]
    print_result(
        {
            "memory_fire_lost_entries": Measure(floor=plain.missing, ours=ours.missing),
            "memory_fire_doubled_entries": Measure(floor=plain.doubled, ours=ours.doubled),
            "memory_fire_invalid_reads": Measure(floor=plain.invalid_reads, ours=ours.invalid_reads),
            "memory_fire_failed_writers": Measure(floor=plain.failed_writers, ours=ours.failed_writers),
            "memory_fire_harmed_files": Measure(floor=None, ours=harmed),
            "memory_fire_wait_s": Measure(floor=STOPPED_WAIT_S, ours=waited_s if named else None),
        },
        json_only=options.json,
    )


if __name__ == "__main__":
    main()
