"""keepsake-jobs status, run and flush: what is due gets done, what failed is said, and how the exit code tells."""

import asyncio
import json
import sqlite3

import pytest
from typer.testing import CliRunner

from core.cli import cli
from core.model import SaidTurn, SessionId
from core.owners import APP, Owner
from core.paths import DataFolder
from core.sessions.transcript import record_turn
from core.storage import conversations, queue
from core.storage.database import Database

CHAT = SessionId("chat")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder with five finished turns that nothing was done for."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    folder.settings.write_text("[models]\nembedding_enabled = false\n")

    def fill(c):
        conversations.ensure(c, CHAT, at=0.0)
        for n in range(5):
            said = SaidTurn(
                source_key=f"k{n}",
                user_text=f"We decided to use port {8000 + n} for the billing service.",
                user_at=60.0 * n,
                reply_text="Noted.",
                reply_at=60.0 * n + 5,
            )
            record_turn(c, CHAT, said)

    write(folder, fill)
    return folder


def write(folder, work):
    async def main():
        database = Database(folder.database)
        await database.open()
        try:
            return await database.write(work)
        finally:
            await database.aclose()

    return asyncio.run(main())


def call(folder, *arguments):
    return CliRunner().invoke(cli, [*arguments, "--data-dir", str(folder.root)])


def test_run_does_what_is_due_and_status_tells_it(data):
    before = json.loads(call(data, "status", "--json").stdout)
    assert before["health"]["turns_waiting"] == 5
    done = call(data, "run")
    assert (done.exit_code, done.stdout.strip()) == (0, "11 pieces of work done; 0 left.")
    after = json.loads(call(data, "status", "--json").stdout)
    assert after["health"]["turns_waiting"] == 0
    assert {each["kind"] for each in after["successes"]} == {"twin", "remember", "rescan"}
    assert all(each["owner"].startswith("keepsake-jobs, pid ") for each in after["recent"])
    assert call(data, "run").stdout.strip() == "0 pieces of work done; 0 left."


def test_flush_closes_segments_and_does_what_follows(data):
    done = call(data, "flush")
    assert done.exit_code == 0, done.stdout
    assert done.stdout.startswith("1 segment closed.")
    kinds = {each["kind"] for each in json.loads(call(data, "status", "--json").stdout)["successes"]}
    assert kinds >= {"finalise", "recap", "extract", "tree", "commit"}
    assert call(data, "flush").stdout.startswith("There was nothing to close.")


def test_flush_may_leave_what_does_not_rest_yet(data):
    write(data, lambda c: c.execute("UPDATE messages SET created_at = created_at + 1e10, ended_at = ended_at + 1e10"))
    assert call(data, "flush", "--idle", "30").stdout.startswith("There was nothing to close.")


def test_what_was_given_up_is_listed_with_its_reason_and_tried_again_on_demand(data):
    def give_up(c):
        queue.add_job(c, "finalise", CHAT, {"segment": "gone", "revision": 0}, key="finalise:gone:0", lane="slow")
        c.execute("UPDATE jobs SET attempts = 3, error = 'The disk is full.'")

    write(data, give_up)
    told = call(data, "status")
    assert told.exit_code == 3
    assert "The disk is full." in told.stdout
    assert call(data, "run").exit_code == 3
    assert call(data, "run", "--retry").exit_code == 0
    assert call(data, "status").exit_code == 0


def test_time_that_is_up_with_work_left_has_its_own_exit_code(data):
    def add(c):
        queue.add_job(c, "finalise", CHAT, {"segment": "s", "revision": 0}, key="later", not_before=9e12, lane="slow")

    write(data, add)
    assert call(data, "run", "--for", "0.1").exit_code == 4


def test_with_the_app_open_what_asks_the_model_is_left_to_it(data):
    data.settings.write_text('[models]\nembedding_enabled = false\nmemory_update = "write"\n')
    model = data.models / "small.gguf"
    model.parent.mkdir()
    model.write_bytes(b"GGUF")
    app = Owner(data.owners, APP)
    app.acquire()
    try:
        done = call(data, "flush")
        told = call(data, "run")
    finally:
        app.release()
    assert done.exit_code == 0, done.stdout
    assert "left to the app" in " ".join(told.stdout.split())


def test_wrong_usage_is_exit_code_2(data):
    assert call(data, "run", "--once", "--for", "3").exit_code == 2


def test_status_works_beside_a_writer_that_takes_its_time(data):
    with sqlite3.connect(data.database, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE conversations SET title = 'x'")
        told = call(data, "status", "--json")
        other.execute("ROLLBACK")
    assert told.exit_code == 0
