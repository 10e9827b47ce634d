"""Replay: each turn once, whatever stops it; a killed run leaves what an undisturbed one leaves."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import TranscriptError
from core.model import ReplayStage, Role
from tests.core.jobs.talk import SAID, look, run_replay, write_transcript


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A transcript and what one whole run of it leaves."""
    folder = tmp_path_factory.mktemp("undisturbed")
    transcript = write_transcript(folder / "talk.jsonl")
    run_replay(folder / "data", transcript)
    return transcript, look(folder / "data")


def test_each_turn_is_added_once_with_its_times(undisturbed):
    _, held = undisturbed
    assert [text for role, text, _ in held.messages if role == Role.USER] == [user for user, _ in SAID]
    assert [text for role, text, _ in held.messages if role == Role.ASSISTANT] == [reply for _, reply in SAID]
    assert held.messages[0][2] == 1_700_000_060.0


def test_everything_said_is_indexed_and_has_its_twin(undisturbed):
    _, held = undisturbed
    assert [text for _, text in held.indexed] == [text for turn in SAID for text in turn]
    assert len(held.twins) == 2 * len(SAID)
    for text in (text for turn in SAID for text in turn):
        assert sum(twin.endswith(f"\n\n{text}\n") for twin in held.twins) == 1


def test_a_long_silence_begins_a_segment_and_every_turn_is_in_one(undisturbed):
    _, held = undisturbed
    assert held.segments[1][0] == 3
    assert held.segments[1][3] == "time_gap"
    covered = [turn for first, last, *_ in held.segments for turn in range(first, last + 1)]
    assert covered == list(range(len(SAID)))
    assert [count for _, _, count, *_ in held.segments] == [last - first + 1 for first, last, *_ in held.segments]


def test_memory_is_committed_and_nothing_is_left_to_do(undisturbed):
    _, held = undisturbed
    assert held.versions > 0
    assert any("PostgreSQL 16" in line for _, lines in held.memory for line in lines)
    assert held.waiting == (0, (0, 0))


def test_a_second_run_adds_nothing(undisturbed, tmp_path):
    transcript, held = undisturbed
    run_replay(tmp_path, transcript)
    again = run_replay(tmp_path, transcript)
    assert (again.done_turns, again.skipped_turns) == (len(SAID), len(SAID))
    assert look(tmp_path) == held


def test_temporaries_that_a_crash_left_among_the_twins_go_at_the_next_start(undisturbed, tmp_path):
    transcript, _ = undisturbed
    run_replay(tmp_path, transcript)
    left = next(tmp_path.rglob("episodic/*/000000.md")).with_name(".tmp-0123456789abcdef")
    left.write_text("half a tw", encoding="utf-8")
    os.utime(left, (0, 0))
    run_replay(tmp_path, transcript)
    assert not left.exists()


@settings(max_examples=12)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=3))
def test_stopping_and_going_on_never_doubles_a_turn(undisturbed, tmp_path_factory, moments):
    transcript, held = undisturbed
    folder = tmp_path_factory.mktemp("stopped")
    reached = 0
    for moment in moments:
        state = run_replay(folder, transcript, stop_at=moment)
        assert state.skipped_turns == min(reached, state.done_turns)
        reached = max(reached, state.done_turns)
    state = run_replay(folder, transcript)
    assert (state.done_turns, state.total_turns, state.skipped_turns) == (len(SAID), len(SAID), reached)
    assert look(folder) == held


def test_a_replay_ends_soon_after_it_is_stopped(undisturbed, tmp_path):
    transcript, _ = undisturbed
    assert 0 < run_replay(tmp_path, transcript, stop_at=4).done_turns < len(SAID)


def test_all_is_remembered_before_files_are_written_and_the_next_run_writes_them(undisturbed, tmp_path):
    transcript, held = undisturbed
    assert run_replay(tmp_path, transcript, stop_in=ReplayStage.FILES).done_turns == len(SAID)
    stopped = look(tmp_path)
    assert (stopped.memory, stopped.versions, stopped.twins) == (held.memory, held.versions, held.twins)
    assert stopped.waiting[1][0] > 0
    assert not list(tmp_path.rglob("MEMORY.md"))
    run_replay(tmp_path, transcript)
    assert look(tmp_path) == held
    assert list(tmp_path.rglob("MEMORY.md"))


def test_a_transcript_that_grew_adds_only_what_is_new(tmp_path):
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=3)
    run_replay(tmp_path / "data", transcript)
    write_transcript(transcript, turns=5)
    state = run_replay(tmp_path / "data", transcript)
    assert (state.done_turns, state.skipped_turns) == (5, 3)
    assert len(look(tmp_path / "data").messages) == 10


def test_a_bad_line_is_named_and_the_rest_goes_in(tmp_path):
    transcript = write_transcript(tmp_path / "talk.jsonl", turns=2)
    lines = transcript.read_text(encoding="utf-8").splitlines()
    transcript.write_text("\n".join([*lines[:2], "{broken", *lines[2:]]), encoding="utf-8")
    state = run_replay(tmp_path / "data", transcript)
    assert state.bad_lines == ((3, "not JSON"),)
    assert len(look(tmp_path / "data").messages) == 4


def test_a_missing_file_is_said_and_changes_nothing(tmp_path):
    with pytest.raises(TranscriptError, match="cannot be read"):
        run_replay(tmp_path / "data", tmp_path / "none.jsonl")


def test_secrets_reach_neither_index_nor_twins(tmp_path):
    secret = "gh" + "p_" + "Ab1" * 12
    transcript = tmp_path / "talk.jsonl"
    transcript.write_text(json.dumps({"role": "user", "content": f"My token is {secret} now.", "timestamp": 1}))
    run_replay(tmp_path / "data", transcript)
    held = look(tmp_path / "data")
    assert held.messages[0][1] == f"My token is {secret} now."  # the transcript is the user's own
    assert not any(secret in text for _, text in held.indexed)
    assert not any(secret in twin for twin in held.twins)
    assert not any(secret in line for _, lines in held.memory for line in lines)


# -- killed ------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
import apsw
from tests.core.jobs.talk import run_replay

dies_at, count, changes = int(sys.argv[3]), 0, 0

def committing(connection):
    global count, changes
    if connection.total_changes() != changes:  # a look for work that finds none commits nothing
        changes = connection.total_changes()
        count += 1
        if count == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
    return False

apsw.connection_hooks.append(lambda c: c.set_commit_hook(lambda: committing(c)))
run_replay(Path(sys.argv[1]), Path(sys.argv[2]))
print(count)
"""


def replay_until_commit(root: Path, folder: Path, transcript: Path, dies_at: int) -> subprocess.CompletedProcess[str]:
    """Replay in a process that dies as it is about to commit for the given time; 0: never."""
    command = [sys.executable, "-c", KILLED, str(folder), str(transcript), str(dies_at)]
    return subprocess.run(command, cwd=root, timeout=120, capture_output=True, text=True)


@pytest.fixture(scope="module")
def commits(undisturbed, tmp_path_factory, root) -> int:
    """How often a whole run commits."""
    done = replay_until_commit(root, tmp_path_factory.mktemp("counted"), undisturbed[0], 0)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0])
def test_a_run_killed_at_any_commit_and_run_again_is_as_if_undisturbed(undisturbed, commits, tmp_path, root, share):
    transcript, held = undisturbed
    done = replay_until_commit(root, tmp_path, transcript, max(1, round(share * commits)))
    assert done.returncode == -9, done.stderr
    run_replay(tmp_path, transcript)
    again = look(tmp_path)
    assert again.messages == held.messages
    assert again.indexed == held.indexed
    assert again.segments == held.segments
    assert again.memory == held.memory
    assert again.waiting == held.waiting
    assert set(again.twins) == set(held.twins)
    assert max(Counter(again.twins).values()) <= 2  # at least once: those on their way when it died may come again
