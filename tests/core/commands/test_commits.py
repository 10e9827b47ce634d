"""keepsake-jobs commits: what was given up is listed with its reason, and finished by a retry."""

import asyncio

import pytest
from typer.testing import CliRunner

from core.cli import cli
from core.paths import DataFolder
from core.storage import archives
from core.storage.archives import Failure, Stage
from core.storage.database import Database
from tests.core.jobs.talk import run_replay, write_transcript


@pytest.fixture
def given_up(tmp_path):
    """A data folder whose first archive's extraction was given up; returns it and the archive's folder."""
    data = tmp_path / "data"
    run_replay(data, write_transcript(tmp_path / "talk.jsonl", turns=24))

    async def break_first():
        database = Database(DataFolder(data).database)
        await database.open()

        def work(c):
            (session_id, number) = min(archives.load_states(c))
            c.execute("UPDATE archives SET changes_json = NULL WHERE number = ?", (number,))
            archives.set_state(c, session_id, number, "failed")
            failure = Failure(stage=Stage.EXTRACTION, attempts=3, error="The disk is full.", at=1.0)
            archives.note_failure(c, session_id, number, failure)
            return session_id, number

        session_id, number = await database.write(work)
        await database.aclose()
        folder = DataFolder(data).workspace() / "sessions" / session_id / f"archive_{number:03}"
        (folder / ".done").unlink()
        (folder / "memory_diff.json").unlink()
        return folder

    return data, asyncio.run(break_first())


def test_what_was_given_up_is_listed_and_finished_by_a_retry(given_up):
    data, folder = given_up
    listed = CliRunner().invoke(cli, ["commits", "--data-dir", str(data)])
    assert listed.exit_code == 1
    assert "archive 1" in listed.stdout
    assert "extraction, tried 3 times: The disk is full." in " ".join(listed.stdout.split())
    assert not (folder / ".done").exists()

    retried = CliRunner().invoke(cli, ["commits", "--retry", "--data-dir", str(data)])
    assert (retried.exit_code, retried.stdout.strip()) == (0, "1 of 1 finished.")
    assert (folder / ".done").exists()
    assert (folder / "memory_diff.json").exists()

    again = CliRunner().invoke(cli, ["commits", "--data-dir", str(data)])
    assert (again.exit_code, again.stdout.strip()) == (0, "Every commit is finished.")
