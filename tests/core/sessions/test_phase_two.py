"""Phase 2 as a job: a model's update (scripted), failures stage by stage, waits, the user's edits meanwhile."""

import json

import pytest

from core.errors import ModelError, StorageError
from core.model import EditKind, MemoryEdit, Section
from core.sessions.archive_recovery import give_up, restart
from core.sessions.phase_two import MAX_ATTEMPTS, PREDECESSOR_WAIT_S, QUEUE_WAIT_S, VECTORS_WAIT_S
from core.storage import archives, memory_edits, memory_versions, outbox, queue
from core.storage.archives import Stage
from core.storage.memory_edits import Change
from core.working_memory.document import parse_document, render_document
from core.working_memory.edits import apply_edits, hold
from tests.core.sessions.desk import CHAT, FILES, ScriptedUpdater, archived_ids, fact, live_ids, open_desk, run


async def unfinished(desk):
    return [m.id for m in await desk.read(lambda c: archives.load_unfinished_messages(c, CHAT))]


def test_a_model_is_asked_after_the_messages_are_safe_and_they_are_shown_raw_until_then(tmp_path):
    async def work():
        updater = ScriptedUpdater()
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            before = await desk.read(live_ids)
            done = await desk.committer.commit(CHAT, cause="a test")
            assert (done.archive, done.version) == (1, None)
            assert updater.seen == []
            assert desk.names(1) == {".meta.json", "messages.jsonl"}
            assert desk.meta(1)["phase1"] == "ready"
            assert await unfinished(desk) + await desk.read(live_ids) == before

            await desk.run_jobs()
            version = await desk.version()
            assert (version.mode, version.archive, version.cause) == ("select", 1, "a test")
            assert await desk.facts() == [fact(n) for n in range(12)]
            assert desk.names(1) == FILES
            assert desk.meta(1)["mode"] == "select"
            assert await unfinished(desk) == []
            (material,) = updater.seen
            assert [m.id for m in material.messages] == before[:14]
            assert material.document == ""

    run(work)


def test_a_model_that_is_gone_is_tried_three_times_and_then_done_without(tmp_path):
    async def work():
        updater = ScriptedUpdater(failures=MAX_ATTEMPTS)
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            begun = desk.now
            await desk.run_jobs()
            assert len(updater.seen) == 1
            assert await desk.version() is None
            await desk.run_jobs(until=begun + 3.0)  # 1 s, then 2 s
            assert len(updater.seen) == MAX_ATTEMPTS
            version = await desk.version()
            assert version.mode == "heuristics"
            assert "model" in version.notes[0]
            assert (await desk.archive(1)).state == "done"
            assert await desk.read(queue.count_jobs) == (0, 0)

    run(work)


def test_a_failed_extraction_leaves_the_document_and_is_tried_again_on_request(tmp_path):
    async def work():
        calls = []

        async def extract(session_id, archive, turns):
            calls.append(turns)
            if len(calls) <= MAX_ATTEMPTS:
                raise RuntimeError("a bug")
            return [{"op": "add", "kind": "event", "id": "e1", "before": None, "after": "x", "turns": [1]}]

        async with open_desk(tmp_path, 12, extract=extract) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs(until=desk.now + 10)
            assert calls == [tuple(range(1, 8))] * MAX_ATTEMPTS
            assert desk.names(1) == FILES - {".done", "memory_diff.json"}
            assert (desk.meta(1)["wm"], desk.meta(1)["extraction"]) == ("complete", "failed")
            assert desk.meta(1)["extraction_failure"]["attempts"] == MAX_ATTEMPTS
            (failed,) = await desk.read(archives.load_failed)
            assert (failed.number, failed.version) == (1, 1)
            await desk.recover()  # a start does not try it by itself
            await desk.run_jobs()
            assert len(calls) == MAX_ATTEMPTS

            assert await desk.write(lambda c: restart(c, CHAT, 1, at=desk.now))
            await desk.run_jobs()
            assert desk.names(1) == FILES
            diff = json.loads((desk.folder(1) / "memory_diff.json").read_text())
            assert diff["covers"] == list(range(1, 8))
            assert diff["changes"][0]["id"] == "e1"
            assert desk.meta(1)["extraction"] == "complete"
            assert "extraction_failure" not in desk.meta(1)

    run(work)


def test_a_failed_document_holds_up_neither_the_extraction_nor_the_next_archive_which_takes_its_messages_along(
    tmp_path,
):
    async def work():
        async def break_down():
            raise RuntimeError("a bug")

        updater, covered = ScriptedUpdater(before=break_down), []

        async def extract(session_id, archive, turns):
            covered.append(archive)
            return []

        async with open_desk(tmp_path, 12, updater=updater, extract=extract) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs(until=desk.now + 10)
            assert len(updater.seen) == MAX_ATTEMPTS
            assert (await desk.archive(1)).state == "failed"
            assert covered == [1]
            assert desk.meta(1)["wm"] == "failed"
            assert await desk.version() is None

            updater.before = None
            await desk.say(6, first=12)
            await desk.committer.commit(CHAT, cause="another")
            await desk.run_jobs()
            both = [await desk.read(lambda c, n=n: archived_ids(c, n)) for n in (1, 2)]
            assert [m.id for m in updater.seen[-1].messages] == both[0] + both[1]
            assert await desk.facts() == [fact(n) for n in range(18)]
            assert desk.meta(2)["covers"] == [1, 2]
            assert [(await desk.archive(n)).state for n in (1, 2)] == ["done", "done"]
            assert desk.names(1) == desk.names(2) == FILES
            assert covered == [1, 2]

    run(work)


def test_without_a_model_a_commit_takes_along_what_failed_before(tmp_path):
    async def work():
        updater = ScriptedUpdater()
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            await desk.write(lambda c: give_up(c, CHAT, 1, why="You stopped it.", at=desk.now))
        async with open_desk(tmp_path) as desk:
            await desk.say(6, first=12)
            assert (await desk.committer.commit(CHAT, cause="another")).version == 1
            await desk.run_jobs()
            assert await desk.facts() == [fact(n) for n in range(18)]
            assert desk.names(1) == desk.names(2) == FILES
            assert await desk.read(archives.load_failed) == ()

    run(work)


def test_a_document_waits_for_the_one_before_it_but_not_for_ever(tmp_path):
    async def work():
        updater = ScriptedUpdater(failures=1)
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            await desk.committer.commit(CHAT, cause="first")
            await desk.run_jobs()  # the model is gone; the next try is due in a second
            await desk.say(6, first=12)
            await desk.committer.commit(CHAT, cause="second")
            assert (await desk.phase_two.finish(CHAT, 2, queued_at=desk.now, waits=0)).seconds == 1.0
            late = await desk.phase_two.finish(CHAT, 2, queued_at=desk.now, waits=50)
            assert late.seconds == PREDECESSOR_WAIT_S
            assert len(updater.seen) == 1
            assert await desk.phase_two.finish(CHAT, 2, queued_at=desk.now - QUEUE_WAIT_S) is None
            assert (await desk.version()).cause == "second"
            await desk.run_jobs(until=desk.now + 2)
            assert desk.names(1) == desk.names(2) == FILES
            assert len(updater.seen) == 2  # the first archive came in with the second
            assert (await desk.version()).number == 1

    run(work)


def test_documents_follow_each_other_in_the_order_of_the_archives(tmp_path):
    async def work():
        updater = ScriptedUpdater(failures=1)
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            await desk.committer.commit(CHAT, cause="first")
            await desk.say(6, first=12)
            await desk.committer.commit(CHAT, cause="second")
            await desk.run_jobs(until=desk.now + 10)
            assert [(await desk.version(n)).cause for n in (1, 2)] == ["first", "second"]
            assert [(await desk.version(n)).archive for n in (1, 2)] == [1, 2]
            assert updater.seen[-1].document == (await desk.version(1)).document

    run(work)


async def edit(desk, *edits):
    """Change the newest version by hand, as the Memory tab does."""

    def work(c):
        version = memory_versions.get(c, CHAT)
        held = apply_edits(hold(parse_document(version.document), version.lines, version.parked), edits).held
        made = type(version)(
            number=version.number + 1,
            created_at=desk.now,
            cause="By hand.",
            archive=None,
            document=render_document(held.document),
            lines=held.lines,
            decisions=(),
            parked=held.parked,
            mode="user",
        )
        memory_versions.add(c, CHAT, made, asked={})
        change = Change(version=made.number, at=desk.now, words="you changed it", edits=tuple(edits), inverse=())
        memory_edits.add(c, CHAT, change)

    await desk.write(work)


def test_what_the_user_does_to_memory_while_a_model_is_asked_stands_on_its_result(tmp_path):
    async def work():
        updater = ScriptedUpdater()
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            await desk.committer.commit(CHAT, cause="first")
            await desk.run_jobs()
            await desk.say(6, first=12)
            await desk.committer.commit(CHAT, cause="second")
            removed = MemoryEdit(kind=EditKind.REMOVE, section=Section.FACTS, text=fact(0))
            locked = MemoryEdit(kind=EditKind.LOCK, section=Section.FACTS, text=fact(1))
            added = MemoryEdit(kind=EditKind.ADD, section=Section.FACTS, text="The ferry leaves at 8:15.")

            async def meddle():
                await edit(desk, removed, locked, added)

            updater.before = meddle
            await desk.run_jobs()
            assert [(await desk.version(n)).cause for n in (1, 2, 3)] == ["first", "By hand.", "second"]
            facts = await desk.facts()
            assert sorted(facts) == sorted([*(fact(n) for n in range(1, 18)), "The ferry leaves at 8:15."])
            newest = await desk.version()
            assert [line.text for line in newest.lines[Section.FACTS] if line.locked] == [fact(1)]
            assert fact(0) not in newest.document
            assert "The ferry leaves at 8:15." in newest.document
            assert (desk.folder(2) / ".overview.md").read_text() == newest.document

    run(work)


@pytest.mark.parametrize("asks_model", [True, False])
def test_a_waiting_line_that_the_user_discards_meanwhile_stays_out(tmp_path, asks_model):
    async def work():
        updater = ScriptedUpdater()
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            await desk.committer.commit(CHAT, cause="first")
            await desk.run_jobs()
            await desk.say(6, first=12)
            await desk.committer.commit(CHAT, cause="second")

            async def discard():
                await edit(desk)  # a version of its own, with no edit in it
                (line,) = [p for p in await desk.read(lambda c: memory_versions.load_pending(c, CHAT)) if p.turn == 14]
                await desk.write(lambda c: memory_versions.drop_pending(c, [line]))
                if not asks_model:
                    raise ModelError("The model host is gone.")

            updater.before = discard
            await desk.run_jobs()
            updater.before = None
            await desk.run_jobs(until=desk.now + 10)
            assert await desk.facts() == [fact(n) for n in range(18) if n != 13]
            assert (await desk.version()).number == 3

    run(work)


def test_another_version_meanwhile_is_the_base_instead(tmp_path):
    async def work():
        updater = ScriptedUpdater()
        async with open_desk(tmp_path, 12, updater=updater) as desk, open_desk(tmp_path) as other:
            await desk.committer.commit(CHAT, cause="first")

            async def meddle():  # what an older program may do: a version that is neither ours nor an edit
                version = memory_versions.Version(
                    number=1, created_at=1.0, cause="elsewhere", archive=None,
                    document="## Key Facts & Decisions\n- The mole is closed.\n", lines={}, decisions=(), parked={},
                )  # fmt: skip
                await other.write(lambda c: memory_versions.add(c, CHAT, version, asked={}))

            updater.before = meddle
            await desk.run_jobs()
            assert await desk.facts() == ["The mole is closed.", *(fact(n) for n in range(12))]
            assert len(updater.seen) == 1

    run(work)


def test_done_waits_for_the_embeddings_of_its_archive_but_not_for_ever(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            await desk.write(lambda c: outbox.add(c, CHAT, 3))
            await desk.run_jobs()
            assert desk.names(1) == FILES - {".done"}
            await desk.run_jobs(until=desk.now + VECTORS_WAIT_S + 2)
            assert desk.names(1) == FILES

    run(work)


def test_a_folder_that_cannot_be_written_is_a_failure_that_a_retry_mends(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            (desk.folder(1) / ".overview.md").mkdir()  # nothing can take its place
            await desk.run_jobs(until=desk.now + 10)
            failures = await desk.read(lambda c: archives.load_failures(c, CHAT, 1))
            assert failures[Stage.MEMORY].attempts == MAX_ATTEMPTS
            assert (await desk.version()).number == 1  # the document counts all the same
            assert ".done" not in desk.names(1)
            (desk.folder(1) / ".overview.md").rmdir()
            await desk.write(lambda c: restart(c, CHAT, 1, at=desk.now))
            await desk.run_jobs()
            assert desk.names(1) == FILES

    run(work)


def test_a_folder_that_never_came_into_the_store_goes_and_its_number_is_not_used_again(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            desk.folder(1).mkdir(parents=True)
            (desk.folder(1) / ".meta.json").write_text('{"phase1": "preparing"}')
            finished = desk.folder(7)
            finished.mkdir()
            for name in FILES:  # of a store that was put back from an older copy
                (finished / name).write_text("kept")
            assert (await desk.recover()).discarded == ((CHAT, 1),)
            assert not desk.folder(1).exists()
            assert desk.names(7) == FILES
            before = await desk.read(live_ids)
            assert (await desk.committer.commit(CHAT, cause="a test")).archive == 8
            assert await desk.read(lambda c: archived_ids(c, 8)) + await desk.read(live_ids) == before
            assert (await desk.recover()).resumed == ((CHAT, 8),)
            await desk.run_jobs()
            assert desk.names(8) == FILES

    run(work)


def test_a_number_that_was_discarded_is_skipped(tmp_path):
    async def work():
        async with open_desk(tmp_path, 12) as desk:
            desk.folder(1).mkdir(parents=True)
            await desk.recover()
            assert (await desk.committer.commit(CHAT, cause="a test")).archive == 2

    run(work)


def test_what_was_said_in_a_temporary_chat_is_shown_to_no_update(tmp_path):
    async def work():
        updater = ScriptedUpdater()
        async with open_desk(tmp_path, 12, updater=updater) as desk:
            # the hook has been there and has indexed nothing of the first two turns
            await desk.write(lambda c: c.execute("UPDATE turns SET hook = 'done' WHERE turn <= 2"))
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs()
            (material,) = updater.seen
            assert sorted({m.turn for m in material.messages}) == [3, 4, 5, 6, 7]
            assert len(material.user_texts) == 5

    run(work)


def test_what_was_given_up_is_told_until_it_is_through(tmp_path):
    async def work():
        async def extract(session_id, archive, turns):
            if broken:
                raise StorageError("The disk is full.")
            return []

        broken = True
        async with open_desk(tmp_path, 12, extract=extract) as desk:
            await desk.committer.commit(CHAT, cause="a test")
            await desk.run_jobs()
            assert desk.jobs.problem == ""  # it is tried again
            await desk.run_jobs(until=desk.now + 10)
            assert "The disk is full." in desk.jobs.problem
        async with open_desk(tmp_path, extract=extract) as desk:
            assert desk.jobs.problem == ""
            await desk.recover()
            assert "The disk is full." in desk.jobs.problem
            broken = False
            await desk.write(lambda c: restart(c, CHAT, 1, at=desk.now))
            await desk.run_jobs()
            assert desk.jobs.problem == ""

    run(work)
