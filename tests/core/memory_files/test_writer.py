"""The writer on a real disk: links, locks, the user's own edits, undo, budgets."""

import os
import stat
import threading
from pathlib import Path

import pytest

from core.errors import MemoryFileBusyError, MemoryFileError, NotFoundError
from core.locks import OwnedLock
from core.memory_files import folder as folder_module
from core.memory_files.documents import Outcome
from core.memory_files.history import OUTSIDE_ACTOR
from core.memory_files.workspace_lock import LOCK_NAME
from core.memory_files.writer import Cause, MemoryFileWriter
from core.model import TurnId
from tests.core.memory_files.store import Memory

posix = pytest.mark.skipif(os.name != "posix", reason="links and modes are POSIX things")


@pytest.fixture
def store():
    return Memory()


@pytest.fixture
def writer(tmp_path, store):
    return MemoryFileWriter(tmp_path, store)


def why(at=1.0, actor="Keepsake", cause="A fact you told", turns=(3,)):
    return Cause(at=at, actor=actor, cause=cause, turns=tuple(map(TurnId, turns)))


def left_behind(workspace: Path) -> list[str]:
    names = os.listdir(workspace / ".history")
    return [name for name in names if name.startswith((".tmp-", ".note-"))]


@pytest.fixture(params=["exchange", "rename", "paths"])
def disk(request, monkeypatch):
    """A disk that can exchange two names, one that cannot, and a system without folder handles (Windows)."""
    if request.param == "rename":
        monkeypatch.setattr(folder_module.Folder, "exchange", lambda *_: False)
    if request.param == "paths":
        monkeypatch.setattr(folder_module, "_BY_HANDLE", False)
    return request.param


def test_a_write_is_recorded_with_its_cause_and_both_texts(tmp_path, store, writer, disk):
    writer.append("MEMORY.md", "- fact: a", why(1))
    result = writer.append("MEMORY.md", "- fact: b", why(2, turns=(5, 6)))
    assert (tmp_path / "MEMORY.md").read_bytes() == b"- fact: a\n- fact: b\n"
    change = result.change
    assert (change.before, change.after) == ("- fact: a\n", "- fact: a\n- fact: b\n")
    assert (change.actor, change.cause, change.turns, change.at) == ("Keepsake", "A fact you told", (5, 6), 2)
    assert (result.outcome, result.lines, result.bytes_written) == (Outcome.WRITTEN, (2,), 20)
    assert len(store.all) == 2
    assert left_behind(tmp_path) == []


def test_what_was_replaced_stays_in_the_history_folder(tmp_path, writer, disk):
    writer.append("MEMORY.md", "- fact: a", why(1))
    writer.append("MEMORY.md", "- fact: b", why(2))
    kept = sorted(p for p in (tmp_path / ".history").iterdir() if p.name.startswith("MEMORY.md."))
    assert [p.read_text() for p in kept] == ["- fact: a\n"]


def test_a_known_entry_leaves_the_file_untouched(tmp_path, store, writer):
    writer.append("MEMORY.md", "- fact: a", why())
    before = (tmp_path / "MEMORY.md").stat()
    result = writer.append("MEMORY.md", "* Fact: A.", why())
    assert (result.outcome, result.change) == (Outcome.DUPLICATE, None)
    assert (tmp_path / "MEMORY.md").stat() == before
    assert len(store.all) == 1


@pytest.mark.parametrize("file", ["NOTES.md", "../MEMORY.md", "memory.md", ".history/x", ""])
def test_no_other_file_is_written(tmp_path, writer, file):
    assert writer.append(file, "- x", why()).reason == "file_not_allowed"
    with pytest.raises(MemoryFileError, match="not a memory file"):
        writer.save(file, "x", "", 1.0)
    assert os.listdir(tmp_path) == []


def test_the_users_own_edit_is_the_base_and_is_recorded_as_theirs(tmp_path, store, writer, disk):
    writer.append("MEMORY.md", "- fact: a", why(1))
    (tmp_path / "MEMORY.md").write_text("my title\n- fact: a\n", encoding="utf-8")
    result = writer.append("MEMORY.md", "- fact: b", why(2))
    assert result.text == "my title\n- fact: a\n- fact: b\n"
    [outside] = result.outside
    assert (outside.actor, outside.before, outside.after) == (
        OUTSIDE_ACTOR,
        "- fact: a\n",
        "my title\n- fact: a\n",
    )
    assert [c.actor for c in store.all] == ["Keepsake", OUTSIDE_ACTOR, "Keepsake"]


def test_an_edit_is_noticed_without_a_write(tmp_path, store, writer):
    assert writer.notice_edits("MEMORY.md", 1.0) is None
    (tmp_path / "MEMORY.md").write_text("mine\n", encoding="utf-8")
    assert writer.notice_edits("MEMORY.md", 2.0).after == "mine\n"
    assert writer.notice_edits("MEMORY.md", 3.0) is None
    assert len(store.all) == 1


@pytest.mark.parametrize("how", ["in place", "by replacing"])
@pytest.mark.parametrize("step", ["write", "note", "exchange", "record"])
def test_a_save_of_an_editor_during_a_write_is_never_lost(tmp_path, store, disk, how, step):
    target = tmp_path / "MEMORY.md"
    saved = []

    def edit(now):
        if now == step and not saved:
            saved.append(True)
            text = target.read_text(encoding="utf-8") + "- typed just now\n"
            if how == "in place":
                target.write_text(text, encoding="utf-8")
            else:
                (tmp_path / "editor~").write_text(text, encoding="utf-8")
                (tmp_path / "editor~").replace(target)

    MemoryFileWriter(tmp_path, store).append("MEMORY.md", "- fact: a", why(1))
    if disk != "exchange" and step == "exchange" and how == "by replacing":
        pytest.skip("without an exchange the last instant before the rename cannot be covered")
    MemoryFileWriter(tmp_path, store, on_step=edit).append("MEMORY.md", "- fact: b", why(2))
    MemoryFileWriter(tmp_path, store).notice_edits("MEMORY.md", 3.0)
    lines = target.read_text(encoding="utf-8").splitlines()
    assert sorted(lines) == ["- fact: a", "- fact: b", "- typed just now"]
    assert saved
    assert store.all[-1].after.splitlines() == lines
    typed = [c for c in store.all if "typed" in c.after and "typed" not in c.before]
    assert [c.actor for c in typed] == [OUTSIDE_ACTOR]
    assert left_behind(tmp_path) == []


def test_a_file_that_appears_during_the_first_write_is_kept(tmp_path, store):
    target = tmp_path / "MEMORY.md"

    def edit(now):
        if now == "exchange" and not target.exists():
            target.write_text("- mine\n", encoding="utf-8")

    result = MemoryFileWriter(tmp_path, store, on_step=edit).append("MEMORY.md", "- fact: a", why())
    assert target.read_text() == result.text == "- mine\n- fact: a\n"


def test_an_editor_that_never_stops_writing_makes_the_write_give_way(tmp_path, store):
    target = tmp_path / "MEMORY.md"

    def edit(now):
        if now == "note":
            text = target.read_text(encoding="utf-8") if target.exists() else ""
            target.write_text(text + "- again\n", encoding="utf-8")

    with pytest.raises(MemoryFileBusyError, match="another program"):
        MemoryFileWriter(tmp_path, store, on_step=edit).append("MEMORY.md", "- fact: a", why())
    assert "fact: a" not in target.read_text()
    assert left_behind(tmp_path) == []


def test_undo_keeps_what_was_written_later(tmp_path, store, writer):
    writer.append("MEMORY.md", "- fact: a", why(1))
    change = writer.append("MEMORY.md", "- fact: wrong", why(2)).change
    writer.append("MEMORY.md", "- fact: c", why(3))
    (tmp_path / "MEMORY.md").write_text("# Mine\n- fact: a\n- fact: wrong\n- fact: c\n", encoding="utf-8")
    result = writer.undo(change.id, 4.0)
    assert result.text == "# Mine\n- fact: a\n- fact: c\n"
    assert result.change.undoes == change.id
    assert store.find_change(change.id).undone
    assert (result.note, result.change.actor, result.change.cause) == ("", "you", "Undid: A fact you told")


def test_undo_of_the_last_change_restores_the_bytes(tmp_path, writer):
    target = tmp_path / "MEMORY.md"
    target.write_bytes(b"\xef\xbb\xbfa\r\nno newline at the end")
    change = writer.append("MEMORY.md", "- b", why()).change
    writer.undo(change.id, 2.0)
    assert target.read_bytes() == b"\xef\xbb\xbfa\r\nno newline at the end"


def test_an_undo_can_be_undone(tmp_path, writer):
    change = writer.append("MEMORY.md", "- fact: a", why()).change
    undone = writer.undo(change.id, 2.0).change
    assert writer.undo(undone.id, 3.0).text == "- fact: a\n"


def test_an_undo_that_collides_keeps_the_later_lines_and_says_so(tmp_path, writer):
    (tmp_path / "MEMORY.md").write_text("## A\nold\n", encoding="utf-8")
    writer.notice_edits("MEMORY.md", 1.0)
    (tmp_path / "MEMORY.md").write_text("## A\nnew\n", encoding="utf-8")
    change = writer.notice_edits("MEMORY.md", 2.0)
    (tmp_path / "MEMORY.md").write_text("## A\nnewest\n", encoding="utf-8")
    result = writer.undo(change.id, 4.0)
    assert result.text == "## A\nnewest\n"
    assert "later lines were kept" in result.note


def test_undo_of_an_unknown_change_says_so(writer):
    with pytest.raises(NotFoundError, match="no longer"):
        writer.undo(99, 1.0)


def test_saving_in_the_app_keeps_what_was_written_meanwhile(writer):
    base = writer.append("MEMORY.md", "- fact: a", why(1)).text
    writer.append("MEMORY.md", "- fact: b", why(2))
    result = writer.save("MEMORY.md", "# My notes\n" + base, base, 3.0)
    assert result.text == "# My notes\n- fact: a\n- fact: b\n"
    assert result.change.actor == "you"


def test_lines_the_user_wrote_survive_a_replaced_section(tmp_path, writer):
    writer.append("MEMORY.md", "- fact: auto", why(1), section="Facts")
    text = (tmp_path / "MEMORY.md").read_text()
    (tmp_path / "MEMORY.md").write_text(text + "- mine\n", encoding="utf-8")
    result = writer.replace_section("MEMORY.md", "Facts", "- fact: new", why(2))
    assert result.text == "## Facts\n- mine\n- fact: new\n"


def test_the_oldest_entries_of_the_program_make_room(tmp_path, store):
    writer = MemoryFileWriter(tmp_path, store, budget=60)
    (tmp_path / "MEMORY.md").write_text("- typed by me\n", encoding="utf-8")
    for i in range(5):
        result = writer.append("MEMORY.md", f"- fact: number {i}", why(i))
        assert result.outcome is Outcome.WRITTEN
        assert len(result.text) <= 60
    assert result.text == "- typed by me\n- fact: number 3\n- fact: number 4\n"
    assert "number 0" in "".join(change.before for change in store.all)


def test_the_users_lines_never_make_room(tmp_path, store):
    writer = MemoryFileWriter(tmp_path, store, budget=30)
    (tmp_path / "MEMORY.md").write_text("- typed by me, quite long\n", encoding="utf-8")
    result = writer.append("MEMORY.md", "- fact: more", why())
    assert (result.outcome, result.text) == (Outcome.OVER_BUDGET, "- typed by me, quite long\n")


def test_content_is_redacted_before_it_is_written(tmp_path, store):
    writer = MemoryFileWriter(tmp_path, store, redact=lambda text: text.replace("tulip", "[REDACTED:password]"))
    writer.append("MEMORY.md", "- fact: the word is tulip", why())
    assert "tulip" not in (tmp_path / "MEMORY.md").read_text()
    assert all("tulip" not in change.after for change in store.all)


@posix
def test_modes_are_kept_and_new_files_are_private(tmp_path, writer, disk):
    writer.append("SKILL.md", "- pattern: a", why())
    assert stat.S_IMODE((tmp_path / "SKILL.md").stat().st_mode) == 0o600
    (tmp_path / "MEMORY.md").write_text("x\n", encoding="utf-8")
    (tmp_path / "MEMORY.md").chmod(0o640)
    writer.append("MEMORY.md", "- a", why())
    assert stat.S_IMODE((tmp_path / "MEMORY.md").stat().st_mode) == 0o640


@posix
@pytest.mark.parametrize("place", ["outside", "inside"])
def test_a_symbolic_link_is_refused_and_its_target_untouched(tmp_path, store, place):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    other = (tmp_path if place == "outside" else workspace) / "SKILL.md"
    other.write_text("secret\n", encoding="utf-8")
    (workspace / "MEMORY.md").symlink_to(other)
    with pytest.raises(MemoryFileError, match="symbolic link"):
        MemoryFileWriter(workspace, store).append("MEMORY.md", "- a", why())
    assert other.read_text() == "secret\n"
    assert store.all == []


@posix
def test_a_pipe_under_the_name_is_refused_without_waiting(tmp_path, writer):
    os.mkfifo(tmp_path / "MEMORY.md")
    with pytest.raises(MemoryFileError, match="not a regular file"):
        writer.append("MEMORY.md", "- a", why())


@posix
@pytest.mark.parametrize("name", [LOCK_NAME, ".history"])
def test_a_link_in_the_place_of_our_own_files_is_refused(tmp_path, store, name):
    workspace, other = tmp_path / "workspace", tmp_path / "other"
    workspace.mkdir()
    other.mkdir()
    (workspace / name).symlink_to(other if name == ".history" else other / "x")
    with pytest.raises(MemoryFileError, match=r"[Nn]othing was written|on disk is whole"):
        MemoryFileWriter(workspace, store).append("MEMORY.md", "- a", why())
    assert os.listdir(other) == []


@posix
def test_a_hard_link_is_said(tmp_path, writer):
    (tmp_path / "MEMORY.md").write_text("x\n", encoding="utf-8")
    os.link(tmp_path / "MEMORY.md", tmp_path / "second")
    assert "hard link" in writer.append("MEMORY.md", "- a", why()).note
    assert (tmp_path / "second").read_text() == "x\n"


def test_text_that_is_not_utf8_is_refused(tmp_path, writer):
    (tmp_path / "MEMORY.md").write_bytes(b"caf\xe9\n")
    with pytest.raises(MemoryFileError, match="not UTF-8"):
        writer.append("MEMORY.md", "- a", why())
    assert (tmp_path / "MEMORY.md").read_bytes() == b"caf\xe9\n"


def test_a_missing_workspace_is_a_clear_error(tmp_path, store):
    with pytest.raises(MemoryFileError, match="gone"):
        MemoryFileWriter(tmp_path / "gone", store).append("MEMORY.md", "- a", why())


@pytest.mark.parametrize("step", ["create", "write", "sync", "note", "exchange"])
def test_a_full_disk_leaves_the_old_file_and_no_rest(tmp_path, store, step):
    MemoryFileWriter(tmp_path, store).append("MEMORY.md", "- fact: a", why(1))

    def fail(now):
        if now == step:
            raise OSError(28, "No space left on device")

    with pytest.raises(MemoryFileError, match="No space left"):
        MemoryFileWriter(tmp_path, store, on_step=fail).append("MEMORY.md", "- fact: b", why(2))
    assert (tmp_path / "MEMORY.md").read_text() == "- fact: a\n"
    assert left_behind(tmp_path) == []
    result = MemoryFileWriter(tmp_path, store).append("MEMORY.md", "- fact: b", why(3))
    assert (result.text, result.outside) == ("- fact: a\n- fact: b\n", ())


def test_a_broken_character_is_refused(tmp_path, writer):
    with pytest.raises(MemoryFileError, match="broken character"):
        writer.save("MEMORY.md", "a\ud800", "", 1.0)
    assert not (tmp_path / "MEMORY.md").exists()


def test_waiting_for_the_lock_ends_with_its_owner(tmp_path, store):
    holder = OwnedLock(tmp_path / LOCK_NAME)
    assert holder.acquire(0)
    try:
        with pytest.raises(MemoryFileBusyError, match=f"process {os.getpid()}") as caught:
            MemoryFileWriter(tmp_path, store, lock_wait_s=0.05).append("MEMORY.md", "- a", why())
        assert caught.value.pid == os.getpid()
    finally:
        holder.release()
    assert MemoryFileWriter(tmp_path, store).append("MEMORY.md", "- a", why()).change is not None


@posix
def test_threads_through_two_spellings_of_the_folder_lose_nothing(tmp_path, store):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "alias").symlink_to(workspace)
    writers = [MemoryFileWriter(workspace, store), MemoryFileWriter(tmp_path / "alias", store)]
    threads = [
        threading.Thread(target=writers[i % 2].append, args=("MEMORY.md", f"- fact: number {i}", why(i)))
        for i in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (workspace / "MEMORY.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"- fact: number {i}" for i in range(50))
    assert all(a.after == b.before for a, b in zip(store.all, store.all[1:], strict=False))


def test_the_history_folder_does_not_grow_without_end(tmp_path, writer):
    for i in range(30):
        writer.append("MEMORY.md", f"- fact: number {i}", why(i))
    kept = sorted(name for name in os.listdir(tmp_path / ".history") if name.startswith("MEMORY.md."))
    assert len(kept) == 20
    assert "number 28" in (tmp_path / ".history" / kept[-1]).read_text()
