"""Commits under kill -9: a real process dies at each write of a commit, and the next start goes on from there.

A server process imports the program once and forks for each run, so that a run costs milliseconds. The model's
update is scripted.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.storage import archives, queue
from tests.core.sessions.desk import CHAT, FILES, ScriptedUpdater, archived_ids, fact, live_ids, open_desk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a POSIX thing"),
]
ROOT = Path(__file__).parents[2]
TURNS = 8
KEEP = 4
# Runs a commit and its jobs in a fork for each line of its input: folder, update, number of the write to die at.
SERVER = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.core.sessions.desk import CHAT, ScriptedUpdater, open_desk
from tests.faults.test_commits import KEEP, TURNS

async def run(folder, kind, last):
    count = 0
    def on_step(step):
        nonlocal count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
    updater = ScriptedUpdater() if kind == "scripted" else None
    async with open_desk(Path(folder), TURNS, updater=updater, on_step=on_step) as desk:
        await desk.committer.commit(CHAT, cause="a test", keep=KEEP)
        await desk.run_jobs()
    return count

for line in sys.stdin:
    folder, kind, last = line.split()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(asyncio.run(run(folder, kind, int(last)))).encode())
        os._exit(0)
    os.close(writer)
    count = os.read(reader, 100).decode()
    os.close(reader)
    _, status = os.waitpid(child, 0)
    print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, count or 0, flush=True)
"""


@pytest.fixture(scope="module")
def server():
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def run(folder, kind, last=0):
        folder.mkdir()
        process.stdin.write(f"{folder} {kind} {last}\n")
        process.stdin.flush()
        died_of, count = process.stdout.readline().split()
        return int(died_of), int(count)

    yield run
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


async def start_again(folder, kind):
    """Do what a start does, say one more turn, commit; returns what is there then."""
    updater = ScriptedUpdater() if kind == "scripted" else None
    async with open_desk(folder, updater=updater) as desk:
        await desk.write(lambda c: [queue.release(c, owner, note="It died.") for owner in queue.list_owners(c)])
        recovered = await desk.recover()
        await desk.run_jobs()
        first = await look(desk)
        if not first["archives"]:  # the kill came before the commit point: nothing had happened, so it is asked for
            await desk.committer.commit(CHAT, cause="a test", keep=KEEP)
            await desk.run_jobs()
        again = await desk.recover()
        return recovered, first, await look(desk), again


async def look(desk):
    """Return everything that a crash must not change."""
    states = await desk.read(archives.load_states)
    numbers = [number for (_, number), state in sorted(states.items()) if state != "discarded"]
    version = await desk.version()
    return {
        "archives": [states[CHAT, number] for number in numbers],
        "messages": [await desk.read(lambda c, n=number: archived_ids(c, n)) for number in numbers],
        "live": await desk.read(live_ids),
        "version": version.number if version else 0,
        "document": version.document if version else "",
        "facts": await desk.facts(),
        "files": [desk.names(number) for number in numbers],
        "texts": [(desk.folder(number) / ".overview.md").read_text() for number in numbers],
        "said": [(desk.folder(number) / "messages.jsonl").read_text() for number in numbers],
        "folders": sorted(path.name for path in (desk.workspace / "sessions" / CHAT).glob("archive_*")),
        "jobs": await desk.read(queue.count_jobs),
    }


@pytest.mark.parametrize("kind", ["heuristics", "scripted"])
def test_a_commit_that_is_killed_at_any_write_is_whole_after_the_next_start(tmp_path, server, kind):
    died_of, writes = server(tmp_path / "undisturbed", kind)
    assert died_of == 0
    assert writes > 30
    _, expected, _, _ = asyncio.run(start_again(tmp_path / "undisturbed", kind))
    assert expected["archives"] == ["done"]
    assert expected["files"] == [FILES]
    assert expected["facts"] == [fact(n) for n in range(TURNS)]
    begun = []
    for last in range(1, writes + 1):
        folder = tmp_path / str(last)
        assert server(folder, kind, last)[0] == signal.SIGKILL
        left = find_left(folder)
        recovered, _, after, again = asyncio.run(start_again(folder, kind))
        for name in ("archives", "messages", "live", "document", "facts", "files", "texts", "said", "version"):
            assert after[name] == expected[name], f"{name} after a kill at write {last}"
        assert after["texts"] == [after["document"]]
        assert len(after["folders"]) == 1  # what a crash left is gone
        assert after["jobs"][1] == 0
        assert (again.resumed, again.discarded) == ((), ())  # and the start after that has nothing to do
        begun.append(bool(recovered.discarded))
        assert ".done" not in left or left >= FILES, f"`.done` came before {FILES - left}"
    assert begun[0] is True  # killed before the commit point: the folder was given up
    assert begun == sorted(begun, reverse=True)


def find_left(folder):
    """Return the names of the files in the archive that a kill left."""
    found = list((folder / "work" / "sessions" / CHAT).glob("archive_*/*"))
    return {path.name for path in found if not path.name.endswith(".tmp")}


def test_a_kill_at_start_while_it_puts_things_right_does_no_harm(tmp_path, server):
    """The folder of a commit that never happened is given up in the store before it is removed."""
    server(tmp_path / "first", "heuristics", 2)
    folder = tmp_path / "first"

    async def killed_between():
        async with open_desk(folder) as desk:
            assert await desk.write(lambda c: archives.discard(c, CHAT, 1, at=1.0))

    asyncio.run(killed_between())
    recovered, _, after, _ = asyncio.run(start_again(folder, "heuristics"))
    assert recovered.discarded == ((CHAT, 1),)
    assert after["folders"] == ["archive_002"]
    assert after["files"] == [FILES]
    meta = json.loads((folder / "work" / "sessions" / CHAT / "archive_002" / ".meta.json").read_text())
    assert meta["wm"] == "complete"
