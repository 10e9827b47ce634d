"""Archives: an older store is read as it was; numbers are used once; failures are kept until they are healed."""

import json

import apsw

from core.model import SessionId, TurnId
from core.storage import archives, memory_versions
from core.storage.archives import Archive, Failure, Stage
from core.storage.schema import STEPS

CHAT = SessionId("chat")


def make(number, **given):
    fields = {"kept": (), "copied": (), "first_turn": TurnId(1), "last_turn": TurnId(2), **given}
    return Archive(session_id=CHAT, number=number, created_at=1.0, cause="a test", keep=10, **fields)


def test_an_older_store_keeps_its_versions_and_archives():
    c = apsw.Connection(":memory:")
    names = [name for name, _ in STEPS]
    first = names.index("archive stages")
    for _, script in STEPS[:first]:
        c.execute(script)
    c.execute("INSERT INTO conversations(session_id, created_at, updated_at) VALUES ('chat', 1, 1)")
    line = {"text": "a", "origin": "user", "state": "kept", "turns": [1], "locked": True}
    decision = {"section": "Open Issues", "asked": "KEEP", "applied": "KEEP", "reason": "", "restored": [],
                "carried": [], "parked": [], "skipped": []}  # fmt: skip
    c.execute(
        "INSERT INTO memory_versions VALUES ('chat', 1, 1.0, 'x', 1, 'the document', ?, '{}', ?, '{}')",
        (json.dumps({"Key Facts & Decisions": [line]}), json.dumps([decision])),
    )
    c.execute("INSERT INTO turns(turn, session_id) VALUES (1, 'chat'), (2, 'chat')")
    for number, turn in ((1, 1), (2, 2)):
        c.execute(
            "INSERT INTO messages(turn, session_id, role, text, status, created_at, archive)"
            " VALUES (?, 'chat', 'user', 'hello', 'complete', 1.0, ?)",
            (turn, number),
        )
    c.execute("INSERT INTO archives VALUES ('chat', 1, 1.0, 'x', 'done', NULL), ('chat', 2, 1.0, 'y', 'failed', 'no')")
    for _, script in STEPS[first:]:
        c.execute(script)

    version = memory_versions.get(c, CHAT)
    assert (version.document, version.archive) == ("the document", 1)
    assert version.lines["Key Facts & Decisions"][0].locked
    assert memory_versions.get_operations(c, CHAT, 1).asked == {}
    one, two = archives.get(c, CHAT, 1), archives.get(c, CHAT, 2)
    assert (one.state, one.version, one.changes) == ("done", 1, ())
    assert (two.state, two.version, two.changes) == ("pending", None, None)
    assert [m.text for m in archives.load_messages(c, two)] == ["hello"]
    assert [a.number for a in archives.load_uncovered(c, CHAT)] == [2]


def test_a_number_is_used_once_and_a_discarded_one_never(write, chat):
    assert write(lambda c: archives.add(c, make(1))) is True
    assert write(lambda c: archives.add(c, make(1))) is False
    assert write(lambda c: archives.discard(c, chat, 1, at=2.0)) is False
    assert write(lambda c: archives.discard(c, chat, 2, at=2.0)) is True
    assert write(lambda c: archives.discard(c, chat, 2, at=2.0)) is True
    assert write(lambda c: archives.get(c, chat, 2)) is None
    assert write(lambda c: archives.add(c, make(2))) is False
    assert write(lambda c: archives.get_newest_number(c, chat)) == 2
    assert write(lambda c: archives.discard(c, SessionId("gone"), 1, at=2.0)) is True


def test_failures_are_kept_by_stage_until_it_is_complete(write, chat):
    write(lambda c: archives.add(c, make(1)))
    for stage in Stage:
        failure = Failure(stage=stage, attempts=3, error=f"{stage} broke.", at=1.0)
        write(lambda c, failure=failure: archives.note_failure(c, chat, 1, failure))
    assert write(archives.count_failed) == (0, "")
    write(lambda c: archives.set_state(c, chat, 1, "failed"))
    count, error = write(archives.count_failed)
    assert count == 1
    assert error.endswith("broke.")
    write(lambda c: archives.set_version(c, chat, [1], 4))
    write(lambda c: archives.set_changes(c, chat, 1, [{"op": "add", "id": "é"}]))
    assert set(write(lambda c: archives.load_failures(c, chat, 1))) == {Stage.FILES}
    found = write(lambda c: archives.get(c, chat, 1))
    assert (found.version, found.changes) == (4, ({"op": "add", "id": "é"},))
    assert write(lambda c: archives.load_covered(c, chat, 4)) == (1,)
