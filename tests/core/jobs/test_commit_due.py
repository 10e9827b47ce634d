"""When a commit is due: a full window, a closed segment with enough behind it, an order to remember."""

import asyncio
import json

from core.storage.database import Connection
from tests.core.jobs.talk import read, run_replay

DISHES = ("ramen", "tacos", "paella", "risotto", "gumbo", "goulash", "pierogi", "laksa", "biryani", "moussaka")


def write_talk(path, said, *, gap_before):
    """Write a transcript a minute a turn, with one long silence, which closes a segment."""
    at, lines = 1_700_000_000.0, []
    for number, user in enumerate(said):
        at += 3600.0 if number == gap_before else 60.0
        lines.append({"role": "user", "content": user, "timestamp": at})
        lines.append({"role": "assistant", "content": "Good.", "timestamp": at + 10})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def replay_causes(tmp_path, said, *, gap_before):
    """Return what caused each version that a replay commits, oldest first."""
    run_replay(tmp_path / "data", write_talk(tmp_path / "talk.jsonl", said, gap_before=gap_before))

    def load(c: Connection) -> list[str]:
        return [cause for (cause,) in c.execute("SELECT cause FROM memory_versions ORDER BY version")]

    return asyncio.run(read(tmp_path / "data", load))


def test_a_segment_that_closes_on_little_makes_no_commit_due(tmp_path):
    said = ["I live in Turin.", "My sister is called Ines.", "I play the cello."]
    assert replay_causes(tmp_path, said, gap_before=2) == ["The transcript ended."]


def test_a_segment_that_closes_on_many_waiting_lines_is_committed(tmp_path):
    said = [f"My friend moved to house {i}40 and cooks {dish} every week." for i, dish in enumerate(DISHES)]
    assert replay_causes(tmp_path, [*said, "I play the cello."], gap_before=len(said))[0] == "A segment closed."


def test_a_full_window_is_committed_before_any_segment_closes(tmp_path):
    said = [f"Yesterday I wrote about {dish}. " + "It was a long and quiet day. " * 60 for dish in DISHES[:3]]
    assert replay_causes(tmp_path, said, gap_before=99)[0] == "The conversation outgrew the window."


def test_an_order_to_remember_is_committed_at_once(tmp_path):
    causes = replay_causes(tmp_path, ["Hello there.", "Remember that my locker is number 41."], gap_before=99)
    assert causes == ["You asked to remember something."]
