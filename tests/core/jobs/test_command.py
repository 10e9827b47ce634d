"""keepsake-jobs as a user meets it: a real process, its words, its exit code."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.core.jobs.talk import look, write_transcript

pytestmark = pytest.mark.slow


@pytest.fixture
def jobs(root):
    """Run keepsake-jobs; returns the finished process."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "core", *map(str, arguments)]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8", timeout=120)

    return run


def words(text: str) -> str:
    """Text without the terminal's line breaks."""
    return " ".join(text.split())


def test_a_replay_says_what_it_did_and_can_be_repeated(jobs, tmp_path):
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=3)
    first = jobs("replay", transcript, "--data-dir", tmp_path / "data", "--no-embeddings")
    assert first.returncode == 0, first.stderr
    assert "talk.jsonl: 3 turns added." in words(first.stdout)
    again = jobs("replay", transcript, "--data-dir", tmp_path / "data", "--no-embeddings")
    assert "talk.jsonl: 0 turns added, 3 were there already." in words(again.stdout)
    assert len(look(tmp_path / "data").messages) == 6


def test_memory_can_be_shown(jobs, tmp_path):
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=3)
    done = jobs("replay", transcript, "--data-dir", tmp_path / "data", "--no-embeddings", "--show")
    assert done.returncode == 0, done.stderr
    assert "PostgreSQL 16" in done.stdout
    shown = jobs("show", "--data-dir", tmp_path / "data")
    assert shown.returncode == 0, shown.stderr
    assert "PostgreSQL 16" in shown.stdout


def test_a_bad_line_is_named(jobs, tmp_path):
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=1)
    with transcript.open("a") as file:
        file.write("{broken\n")
    done = jobs("replay", transcript, "--data-dir", tmp_path / "data", "--no-embeddings")
    assert done.returncode == 0, done.stderr
    assert "line 3 was left out: not JSON." in words(done.stdout)


def _missing(tmp_path: Path) -> list[object]:
    return ["replay", tmp_path / "none.jsonl", "--data-dir", tmp_path / "data"]


def _folder(tmp_path: Path) -> list[object]:
    (tmp_path / "talk.jsonl").mkdir()
    return ["replay", tmp_path / "talk.jsonl", "--data-dir", tmp_path / "data"]


def _empty(tmp_path: Path) -> list[object]:
    (tmp_path / "talk.jsonl").touch()
    return ["replay", tmp_path / "talk.jsonl", "--data-dir", tmp_path / "data"]


def _unwritable(tmp_path: Path) -> list[object]:
    (tmp_path / "data").write_text("a file where the folder should be")
    return ["show", "--data-dir", tmp_path / "data"]


def _no_store(tmp_path: Path) -> list[object]:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "keepsake.db").write_text("Dear diary, this is a text file.\n" * 200)
    return ["show", "--data-dir", tmp_path / "data"]


def _newer(tmp_path: Path) -> list[object]:
    (tmp_path / "data").mkdir()
    connection = apsw.Connection(str(tmp_path / "data" / "keepsake.db"))
    connection.execute("PRAGMA user_version=999")
    connection.close()
    return ["show", "--data-dir", tmp_path / "data"]


def _settings(tmp_path: Path) -> list[object]:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "settings.toml").write_text("[learning]\nrecal = true\n")
    return ["show", "--data-dir", tmp_path / "data"]


WRONG = {
    "a missing file": (_missing, "none.jsonl cannot be read"),
    "a folder for a file": (_folder, "talk.jsonl cannot be read"),
    "a file without messages": (_empty, "holds no message that can be read"),
    "a data folder that cannot be made": (_unwritable, "cannot write to its data folder"),
    "a file that is no store": (_no_store, "is damaged or not a Keepsake store"),
    "a newer store": (_newer, "written by a newer Keepsake (schema 999"),
    "a wrong setting": (_settings, "no setting 'recal'"),
}


@pytest.mark.parametrize(("prepare", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_clear_sentence(jobs, tmp_path, prepare, sentence):
    done = jobs(*prepare(tmp_path))
    assert done.returncode == 1
    assert sentence in words(done.stderr)
    assert "Traceback" not in done.stderr


def test_without_a_command_it_says_what_there_is(jobs):
    done = jobs("--help")
    assert done.returncode == 0
    for command in ("replay", "show", "demo"):
        assert command in done.stdout


def test_recap_seal_and_tree_say_what_there_is(jobs, tmp_path):
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=6)
    folder = ("--data-dir", tmp_path / "data")
    assert "The memory tree is empty" in words(jobs("tree", *folder).stdout)
    assert jobs("replay", transcript, "--no-embeddings", *folder).returncode == 0
    shown = jobs("tree", *folder, "--by", "month")
    assert shown.returncode == 0, shown.stderr
    assert "November 2023 2 parts" in words(shown.stdout)
    assert "My name is Ada and I live in Turin." in words(shown.stdout)
    assert "Every closed segment has its recap." in words(jobs("recap", *folder).stdout)
    assert "No summary was due." in words(jobs("seal", *folder).stdout)
    assert jobs("tree", *folder, "--by", "century").returncode == 2
