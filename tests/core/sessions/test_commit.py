"""Commits: what leaves the window is archived once, whole, with its files in order."""

import asyncio
import json

import pytest

from core.errors import CommitBusyError
from core.model import MessageStatus, Role, Section
from core.sessions.commit import KEEP_RECENT
from core.sessions.view import view_memory
from core.storage import archives, memory_versions, queue, turns
from tests.core.sessions.desk import CHAT, FILES, archived_ids, fact, live_ids, open_desk, run


def test_the_window_moves_to_an_archive_and_its_files_are_complete(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            before = await desk.read(live_ids)
            done = await desk.committer.commit(CHAT, cause="a test")
            assert done is not None
            assert (done.version, done.archive) == (1, 1)
            kept = await desk.read(live_ids)
            archived = await desk.read(lambda c: archived_ids(c, 1))
            assert len(kept) == KEEP_RECENT
            assert archived + kept == before
            waiting, failed = await desk.read(queue.count_jobs)
            assert (waiting, failed) == (2, 0)  # the archive's files and MEMORY.md

            await desk.run_jobs()
            memory = await desk.read(lambda c: view_memory(c, CHAT))
            facts = next(part for part in memory.sections if part.section is Section.FACTS)
            assert len(facts.lines) == 12
            assert all(line.turns for line in facts.lines)
            assert desk.names(1) == FILES
            rows = [json.loads(line) for line in (desk.folder(1) / "messages.jsonl").read_text().splitlines()]
            assert [row["id"] for row in rows] == archived
            assert (desk.folder(1) / ".overview.md").read_text() == (await desk.version()).document
            assert b"\r" not in (desk.folder(1) / "messages.jsonl").read_bytes()
            meta = desk.meta(1)
            assert (meta["phase1"], meta["wm"], meta["extraction"]) == ("ready", "complete", "complete")
            assert (meta["archived"], meta["kept"], meta["keep"], meta["covers"]) == (archived, kept, KEEP_RECENT, [1])
            session = json.loads((desk.workspace / "sessions" / CHAT / ".meta.json").read_text())
            assert session["newest_archive"] == 1
            assert session["pending_tokens"] == 0

    run(work)


def test_a_commit_remembers_what_it_was_asked_for_and_what_was_applied(tmp_path):
    async def work():
        async with open_desk(tmp_path, 8) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            operations = await desk.read(lambda c: memory_versions.get_operations(c, CHAT, 1))
            asked, applied = operations.asked[Section.FACTS.value], operations.applied[Section.FACTS.value]
            assert asked["op"] == applied["op"] == "APPEND"
            assert [fact(n) for n in range(8)] == asked["items"] == applied["items"]
            assert operations.applied[Section.ERRORS.value] == {"op": "KEEP"}

    run(work)


def test_doing_phase_two_again_changes_nothing(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs()
            first = {path.name: path.read_bytes() for path in desk.folder(1).iterdir()}
            await desk.write(lambda c: archives.set_state(c, CHAT, 1, "pending"))
            assert await desk.phase_two.finish(CHAT, 1) is None
            assert {path.name: path.read_bytes() for path in desk.folder(1).iterdir()} == first
            assert (await desk.version()).number == 1
            assert (await desk.archive(1)).state == "done"

    run(work)


def test_a_short_conversation_is_folded_without_an_archive(tmp_path):
    async def work():
        async with open_desk(tmp_path, 3) as desk:
            folded = await desk.committer.commit(CHAT, cause="a test")
            assert folded is not None
            assert folded.archive is None
            assert len(await desk.read(live_ids)) == 6
            assert await desk.committer.commit(CHAT, cause="again") is None
            assert await desk.read(archives.load_states) == {}

    run(work)


def test_lost_files_of_an_archive_are_made_again_from_the_store(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs()
            before = {path.name: path.read_bytes() for path in desk.folder(1).iterdir()}
            for path in desk.folder(1).iterdir():
                path.unlink()
            desk.folder(1).rmdir()
            assert (await desk.recover()).resumed == ((CHAT, 1),)
            await desk.run_jobs()
            assert {path.name: path.read_bytes() for path in desk.folder(1).iterdir()} == before

    run(work)


def test_a_commit_that_the_queue_asks_for_happens_once(tmp_path):
    async def work():
        async with open_desk(tmp_path, 3) as desk:
            commit = desk.committer.commit
            assert await commit(CHAT, cause="a test", asked=True) is None
            await desk.write(lambda c: queue.ask_for_commit(c, CHAT, 3, cause="a test"))
            done = await asyncio.gather(*(commit(CHAT, cause="a test", asked=True) for _ in range(2)))
            assert [each.version for each in done if each is not None] == [1]
            await desk.write(lambda c: queue.ask_for_commit(c, CHAT, 3, cause="a test"))
            assert await commit(CHAT, cause="a test", asked=True) is None  # nothing is left to commit
            assert await desk.read(lambda c: queue.is_commit_asked(c, CHAT)) is False

    run(work)


def test_two_processes_that_commit_at_once_archive_each_message_once(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as one, open_desk(tmp_path) as other:
            before = await one.read(live_ids)
            done = await asyncio.gather(
                one.committer.commit(CHAT, cause="one"), other.committer.commit(CHAT, cause="other")
            )
            made = [each for each in done if each is not None]
            (number,) = [each.archive for each in made if each.archive]
            assert await one.read(lambda c: archived_ids(c, number)) + await one.read(live_ids) == before
            assert (await one.facts()) == [fact(n) for n in range(12)]
            assert [path.name for path in one.folder(1).parent.iterdir() if path.is_dir()] == [one.folder(number).name]

    run(work)


def test_a_question_that_stays_live_is_in_the_archive_too_and_comes_back_with_its_files(tmp_path):
    async def work():
        async with open_desk(tmp_path, 3, tail_tokens=5) as desk:  # the newest turn alone costs more
            before = await desk.read(live_ids)
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs()
            archive = await desk.archive(1)
            assert archive.copied == (before[4],)
            assert await desk.read(live_ids) == before[4:]
            assert await desk.read(lambda c: archived_ids(c, 1)) == before[:5]
            lines = (desk.folder(1) / "messages.jsonl").read_text()
            assert [json.loads(line)["id"] for line in lines.splitlines()] == before[:5]
            assert json.loads((desk.folder(1) / "memory_diff.json").read_text())["covers"] == [1, 2]

            (desk.folder(1) / "messages.jsonl").unlink()
            (desk.folder(1) / ".done").unlink()
            await desk.recover()
            await desk.run_jobs()
            assert (desk.folder(1) / "messages.jsonl").read_text() == lines
            assert desk.names(1) == FILES

    run(work)


def test_a_question_whose_reply_is_being_written_is_not_archived(tmp_path):
    async def work():
        async with open_desk(tmp_path, 2) as desk:

            def ask(c):
                turn = turns.add_turn(c, CHAT)
                given = {"status": MessageStatus.COMPLETE, "at": 900.0, "tokens": 5}
                question = turns.add_message(c, CHAT, turn, Role.USER, "And now?", **given)
                turns.add_message(c, CHAT, turn, Role.ASSISTANT, "", **{**given, "status": MessageStatus.STREAMING})
                return question

            question = await desk.write(ask)
            await desk.committer.commit(CHAT, cause="a test", keep=0)
            assert await desk.read(live_ids) == [question]
            assert len(await desk.read(lambda c: archived_ids(c, 1))) == 4

    run(work)


def test_secrets_reach_no_file_of_an_archive(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            key = "sk-ant-api03-" + "a1B2" * 12
            await desk.write(lambda c: c.execute("UPDATE messages SET text = ? WHERE turn = 1", (f"My key: {key}",)))
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs()
            assert all(key not in path.read_text() for path in desk.folder(1).iterdir())

    run(work)


def test_a_commit_that_waits_too_long_for_another_says_so_and_changes_nothing(tmp_path, monkeypatch):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            monkeypatch.setattr("core.sessions.commit.LOCK_WAIT_S", 0.01)
            async with desk.committer._lock(CHAT):
                with pytest.raises(CommitBusyError, match="Nothing was lost"):
                    await desk.committer.commit(CHAT, cause="a test")
            assert await desk.read(archives.load_states) == {}
            assert await desk.committer.commit(CHAT, cause="a test") is not None

    run(work)
