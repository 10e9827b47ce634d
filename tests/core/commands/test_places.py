"""Turns are named by their place in their conversation in what keepsake-jobs prints, never by the store's."""

import asyncio

import pytest
from typer.testing import CliRunner

from core.cli import cli
from core.jobs.memory_entries import WORKSPACE
from core.model import SaidTurn, SessionId
from core.paths import DataFolder
from core.sessions.transcript import record_turn
from core.storage import conversations, goals
from core.storage.database import Database

SAID = ("We decided to use port 8001 for the billing service.", "I live in Turin.", "The cutover is on 14 December.")


@pytest.fixture
def data(tmp_path):
    """A data folder with two conversations: turns 1 to 3 of the first are 1 to 3 of the store, the other's 4 to 6."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    folder.settings.write_text("[models]\nembedding_enabled = false\n")

    def fill(c):
        turns = {}
        for n, chat in enumerate(("garden", "harbour")):
            conversations.ensure(c, SessionId(chat), at=0.0, title=chat.title())
            for i, text in enumerate(SAID):
                at = 1_700_000_000.0 + 10_000.0 * n + 60.0 * i
                said = SaidTurn(
                    source_key=f"{chat}{i}", user_text=text, user_at=at, reply_text="Noted.", reply_at=at + 5
                )
                turns[chat, i + 1] = record_turn(c, SessionId(chat), said)
        return turns

    return folder, write(folder, fill)


def write(folder, work):
    async def main():
        database = Database(folder.database)
        await database.open()
        try:
            return await database.write(work)
        finally:
            await database.aclose()

    return asyncio.run(main())


def say(folder, *arguments):
    done = CliRunner().invoke(cli, [*arguments, "--data-dir", str(folder.root)])
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def test_memory_and_segments_count_within_each_conversation(data):
    folder, _ = data
    say(folder, "flush")
    shown = say(folder, "show")
    assert shown.count("turns 1–3") == 2
    assert "turn 4" not in shown
    assert "turns 4–6" not in shown


def test_the_parts_of_the_tree_too(data):
    folder, _ = data
    say(folder, "flush")
    for view in ("conversation", "month"):
        tree = say(folder, "tree", "--by", view)
        assert tree.count("turns 1–3") == 2
        assert "4–6" not in tree
    assert (
        say(folder, "tree", "--by", "level")
        == "There are no summaries yet: ten parts of the tree are summed up together."
    )


def test_a_proposed_goal_says_where_it_comes_from(data):
    folder, turns = data
    here, there = turns["garden", 2], (turns["harbour", 1], turns["harbour", 3])

    def propose(c):
        for goal, evidence in (("Learn to sail", there), ("Move to Turin", (here,)), ("Both", (here, *there))):
            goals.propose(c, WORKSPACE, kind="add", goal="", text=goal, turns=evidence, why="You said so.", at=1.0)

    write(folder, propose)
    said = say(folder, "goals")
    assert "add “Learn to sail” (turns 1, 3 of “Harbour”)." in said
    assert "add “Move to Turin” (turn 2 of “Garden”)." in said
    assert "add “Both” (turn 2 of “Garden”; turns 1, 3 of “Harbour”)." in said


def test_a_single_turn_is_no_plural(tmp_path):
    transcript = tmp_path / "one.jsonl"
    transcript.write_text(
        '{"role": "user", "content": "I live in Turin."}\n{"role": "assistant", "content": "Noted."}\n'
    )
    folder = DataFolder(tmp_path / "data")
    said = say(folder, "replay", str(transcript), "--show", "--no-embeddings")
    assert "1 turn added" in said
    assert "1 turns" not in said
    assert "turn 1 " in said
    again = say(folder, "replay", str(transcript), "--no-embeddings")
    assert "0 turns added, 1 was there already." in again
