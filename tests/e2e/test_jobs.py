"""The app and two job processes at work on one data folder, one of them killed in the middle of a job."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from core.model import SaidTurn, SessionId
from core.paths import DataFolder
from core.sessions.transcript import record_turn
from core.storage import conversations
from core.storage.database import Database
from tests.e2e.harness import LIMIT_S, ROOT, running

CHATS, TURNS = 12, 15
TOPICS = ("the harbour crane", "a lemon cake", "the tax return", "a trip to Kyoto", "the billing service")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed (set-up installs it)"),
    pytest.mark.skipif(os.name == "nt", reason="processes are stopped and killed by signals"),
]


def fill(folder: DataFolder) -> None:
    """Store finished turns of many conversations that nothing was done for yet."""

    async def main() -> None:
        database = Database(folder.database)
        await database.open()
        await database.write(put)
        await database.aclose()

    def put(c):
        for chat in range(CHATS):
            session_id = SessionId(f"chat{chat:02}")
            conversations.ensure(c, session_id, at=1_700_000_000.0)
            for n in range(TURNS):
                at = 1_700_000_000.0 + chat * 100_000 + n * 60 + (n // 5) * 3600  # a silence every five turns
                topic = TOPICS[(chat + n // 5) % len(TOPICS)]
                said = SaidTurn(
                    source_key=f"{chat}:{n}",
                    user_text=f"We decided that {topic} gets number {chat * 100 + n}. I live in Turin.",
                    user_at=at,
                    reply_text=f"Noted: number {chat * 100 + n}.",
                    reply_at=at + 5,
                )
                record_turn(c, session_id, said)

    folder.prepare()
    folder.settings.write_text("[models]\nembedding_enabled = false\n")
    asyncio.run(main())


class Store:
    """Looks into the store as any other program would; never waits for a lock in vain."""

    def __init__(self, folder: DataFolder) -> None:
        self._connection = sqlite3.connect(f"file:{folder.database}?mode=ro", uri=True, timeout=10)

    def ask(self, sql: str) -> list[tuple]:
        return list(self._connection.execute(sql))

    def leases(self, pid: int) -> int:
        both = f"SELECT owner FROM jobs WHERE owner LIKE 'job-{pid}-%' UNION ALL "
        return len(self.ask(both + f"SELECT owner FROM outbox WHERE owner LIKE 'job-{pid}-%'"))

    def left(self) -> int:
        sql = "SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM turns"
        return self.ask(sql + " WHERE hook = 'pending')")[0][0]

    def close(self) -> None:
        self._connection.close()


def start_job(folder: DataFolder, *arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "core", *arguments, "--data-dir", str(folder.root)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def kill_in_the_middle(process: subprocess.Popen, store: Store) -> bool:
    """Stop a process while it holds a lease, so that it is in the middle for certain; then kill it."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline and process.poll() is None:
        if store.leases(process.pid):
            process.send_signal(signal.SIGSTOP)
            if store.leases(process.pid):
                process.kill()
                process.communicate()
                return True
            process.send_signal(signal.SIGCONT)
        time.sleep(0.002)
    return False


def test_two_job_processes_beside_the_app_and_one_is_killed(x_display, tmp_path):
    folder = DataFolder(tmp_path / "data")
    fill(folder)
    store = Store(folder)
    with running(x_display, folder.root) as app:
        first = start_job(folder, "flush")
        second = start_job(folder, "run", "--for", "30")
        slowest_s = 0.0
        assert kill_in_the_middle(first, store), "it was killed while it held a job"
        deadline = time.monotonic() + LIMIT_S
        while store.left() and time.monotonic() < deadline:
            looked_at = time.monotonic()
            assert app.look(), "the app answers"
            slowest_s = max(slowest_s, time.monotonic() - looked_at)
            time.sleep(0.2)
        flushed = start_job(folder, "flush")
        told = flushed.communicate(timeout=LIMIT_S)[0]
        assert flushed.returncode == 0, told
        told += second.communicate(timeout=LIMIT_S)[0]
        assert second.returncode == 0, told
        deadline = time.monotonic() + LIMIT_S
        while store.left() and time.monotonic() < deadline:
            time.sleep(0.2)
        assert store.left() == 0, store.ask("SELECT kind, owner, attempts, error FROM jobs")
        assert slowest_s < 2.0, "the window stays responsive"
        assert "locked" not in app.texts()
        assert app.close() == 0
        assert "locked" not in told + app.log.read_text(errors="replace")
    check_that_all_was_done_once(store)
    store.close()


def check_that_all_was_done_once(store: Store) -> None:
    ask = store.ask
    assert ask("SELECT count(*), count(DISTINCT turn || role) FROM episodic") == [
        (CHATS * TURNS * 2, CHATS * TURNS * 2)
    ]
    assert ask("SELECT count(*) FROM segments WHERE status = 'open'") == [(0,)]
    assert ask("SELECT sum(turn_count) FROM segments") == [(CHATS * TURNS,)], "each turn is in one segment"
    assert ask("SELECT count(*) FROM job_log WHERE outcome IN ('failed', 'gave up')") == [(0,)]
    (segments,) = ask("SELECT count(*) FROM segments")[0]
    done = dict(ask("SELECT kind, count(*) FROM job_log WHERE outcome = 'done' GROUP BY kind"))
    for kind in ("finalise", "recap", "extract", "tree"):
        assert done[kind] == segments, f"{kind} was done once a segment"
    chunks = ask("SELECT segment_id, place, count(*) FROM tree_chunks GROUP BY 1, 2 HAVING count(*) > 1")
    assert chunks == [], "no part is in the tree twice"
    owners = {owner.split("-")[0] for (owner,) in ask("SELECT owner FROM job_log WHERE outcome = 'done'")}
    assert owners == {"app", "job"}, "both kinds of process did their share"
