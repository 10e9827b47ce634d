"""What an editor saved while the program wrote: nothing acknowledged and nothing typed is lost."""

from dataclasses import replace

import pytest

from core.memory_files.history import OUTSIDE_ACTOR
from core.memory_files.outside import STALE_WITHIN_S
from core.memory_files.writer import Cause, MemoryFileWriter
from tests.core.memory_files.store import Memory

CAUSE = Cause(at=100.0, actor="Keepsake", cause="test")


@pytest.fixture
def store():
    return Memory()


@pytest.fixture
def writer(tmp_path, store):
    return MemoryFileWriter(tmp_path, store)


def read(tmp_path):
    return (tmp_path / "MEMORY.md").read_text(encoding="utf-8")


def test_an_editor_that_saves_an_older_text_takes_no_entry_away(tmp_path, writer, store):
    writer.append("MEMORY.md", "- fact: first", CAUSE)
    loaded = read(tmp_path)
    writer.append("MEMORY.md", "- fact: came in meanwhile", CAUSE)
    (tmp_path / "MEMORY.md").write_text(loaded + "Shopping: bread, milk\n", encoding="utf-8")
    result = writer.append("MEMORY.md", "- fact: last", CAUSE)
    for line in ("- fact: first", "- fact: came in meanwhile", "Shopping: bread, milk", "- fact: last"):
        assert result.text.count(line) == 1
    assert [change.actor for change in result.outside] == [OUTSIDE_ACTOR] * 2
    assert [change.before for change in store.all] == ["", *[change.after for change in store.all[:-1]]]


def test_looking_at_the_file_is_enough_to_put_entries_back(tmp_path, writer):
    writer.append("MEMORY.md", "- fact: first", CAUSE)
    (tmp_path / "MEMORY.md").write_text("Shopping: bread, milk\n", encoding="utf-8")
    writer.notice_edits("MEMORY.md", 101.0)
    assert "- fact: first" in read(tmp_path)


@pytest.mark.parametrize("text", ["", "- fact: first\n"], ids=["all", "the newest"])
def test_a_save_that_only_takes_lines_out_is_meant_that_way(tmp_path, writer, text):
    writer.append("MEMORY.md", "- fact: first", CAUSE)
    writer.append("MEMORY.md", "- fact: second", CAUSE)
    (tmp_path / "MEMORY.md").write_text(text, encoding="utf-8")
    writer.notice_edits("MEMORY.md", 101.0)
    assert read(tmp_path) == text


def test_an_entry_that_was_reworded_does_not_come_back(tmp_path, writer):
    writer.append("MEMORY.md", "- fact: I live in Turin", CAUSE)
    (tmp_path / "MEMORY.md").write_text("- fact: I live in Turin, near the river\n", encoding="utf-8")
    writer.notice_edits("MEMORY.md", 101.0)
    assert read(tmp_path) == "- fact: I live in Turin, near the river\n"


def test_what_was_there_long_ago_was_taken_out_on_purpose(tmp_path, writer):
    writer.append("MEMORY.md", "- fact: first", CAUSE)
    (tmp_path / "MEMORY.md").write_text("Shopping: bread, milk\n", encoding="utf-8")
    writer.notice_edits("MEMORY.md", 101.0 + STALE_WITHIN_S)
    assert read(tmp_path) == "Shopping: bread, milk\n"


def test_an_editor_that_still_had_the_replaced_file_open_is_merged(tmp_path, writer):
    writer.append("MEMORY.md", "- fact: first", CAUSE)
    with (tmp_path / "MEMORY.md").open("r+", encoding="utf-8") as editor:
        writer.append("MEMORY.md", "- fact: second", CAUSE)
        editor.seek(0, 2)
        editor.write("typed into the old file\n")
    result = writer.append("MEMORY.md", "- fact: third", replace(CAUSE, at=101.0))
    for line in ("- fact: first", "- fact: second", "typed into the old file", "- fact: third"):
        assert result.text.count(line) == 1
    again = writer.append("MEMORY.md", "- fact: fourth", replace(CAUSE, at=102.0))
    assert again.text.count("typed into the old file") == 1


def test_entries_that_make_room_are_kept_beside_the_history(tmp_path, store):
    writer = MemoryFileWriter(tmp_path, store, budget=58)
    writer.append("MEMORY.md", "- fact: number one", replace(CAUSE, turns=(1, 2)))
    writer.append("MEMORY.md", "- fact: number two", CAUSE)
    writer.append("MEMORY.md", "- fact: number three", CAUSE)
    result = writer.append("MEMORY.md", "- fact: number four", CAUSE)
    assert result.text == "- fact: number one\n- fact: number four\n"  # what several turns confirm goes last
    moved = (tmp_path / ".history" / "older-MEMORY.md").read_text(encoding="utf-8")
    assert moved == "- fact: number two\n- fact: number three\n"
    assert "older-MEMORY.md" in result.note
