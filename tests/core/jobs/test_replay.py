"""Replay: each turn once, whatever stops it; a killed run leaves what an undisturbed one leaves."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import TranscriptError
from core.model import Role
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


@settings(max_examples=12)
@given(st.lists(st.integers(0, len(SAID)), min_size=1, max_size=3))
def test_stopping_and_going_on_never_doubles_a_turn(undisturbed, tmp_path_factory, stops):
    transcript, held = undisturbed
    folder = tmp_path_factory.mktemp("stopped")
    reached = 0
    for stop_after in stops:
        state = run_replay(folder, transcript, stop_after=stop_after)
        assert state.done_turns == stop_after or state.done_turns == len(SAID)
        assert state.skipped_turns == min(reached, state.done_turns)
        reached = max(reached, state.done_turns)
    state = run_replay(folder, transcript)
    assert (state.done_turns, state.total_turns) == (len(SAID), len(SAID))
    assert look(folder) == held


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
from core.storage.database import Database
from tests.core.jobs.talk import run_replay

left = int(sys.argv[3])
whole = Database._in_transaction

def counted(self, work):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, work)

Database._in_transaction = counted
run_replay(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def kill_after_writes(root: Path, folder: Path, transcript: Path, writes: int) -> bool:
    """Replay in a process that dies at the write after `writes` of them; False if it ended before."""
    command = [sys.executable, "-c", KILLED, str(folder), str(transcript), str(writes)]
    done = subprocess.run(command, cwd=root, timeout=120, capture_output=True, text=True)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9


@pytest.mark.slow
@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5, 9, 14, 20, 27, 38])
def test_a_run_killed_at_any_write_and_run_again_is_as_if_undisturbed(undisturbed, tmp_path, root, writes):
    transcript, held = undisturbed
    assert kill_after_writes(root, tmp_path, transcript, writes), "the run ended before it could be killed"
    run_replay(tmp_path, transcript)
    again = look(tmp_path)
    assert again.messages == held.messages
    assert again.indexed == held.indexed
    assert again.segments == held.segments
    assert again.memory == held.memory
    assert again.waiting == held.waiting
    assert set(again.twins) == set(held.twins)
    assert max(Counter(again.twins).values()) <= 2  # at least once: those on their way when it died may come again
