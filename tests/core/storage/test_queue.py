"""Jobs: once a key, in order within a conversation, three attempts, then listed as failed."""

from core.model import SessionId
from core.storage import conversations, queue
from core.storage.outbox import BACKOFF_S
from core.storage.queue import LEASE_S, MAX_ATTEMPTS


def add(write, key, chat="chat", **payload):
    write(lambda c: queue.add_job(c, queue.MEMORY_UPDATE, SessionId(chat), payload, key=key))


def claim(write, owner="app", now=0.0):
    return write(lambda c: queue.claim_job(c, owner, now=now))


def fail(write, job, now):
    write(lambda c: queue.postpone_job(c, job, error="It broke.", now=now))


def exhaust(write):
    """Let the oldest job fail until it has no attempts left; returns the time."""
    now = 0.0
    for _ in range(MAX_ATTEMPTS):
        fail(write, claim(write, now=now), now)
        now += BACKOFF_S[-1]
    return now


def test_a_job_is_queued_once_a_key(write, chat):
    add(write, "k", archive=1)
    add(write, "k", archive=2)
    job = claim(write)
    assert job.payload == {"archive": 1}
    write(lambda c: queue.finish_job(c, job))
    assert claim(write) is None


def test_jobs_of_a_conversation_run_one_after_the_other(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    add(write, "1", number=1)
    add(write, "2", number=2)
    add(write, "3", "other", number=3)
    first = claim(write, "one")
    assert first.payload == {"number": 1}
    assert claim(write, "two").payload == {"number": 3}
    assert claim(write, "three") is None
    write(lambda c: queue.finish_job(c, first))
    assert claim(write, "three").payload == {"number": 2}


def test_a_lease_keeps_others_away_until_it_ends(write, chat):
    add(write, "k")
    assert claim(write, "dead", now=0.0) is not None
    assert claim(write, "heir", now=LEASE_S - 1) is None
    assert claim(write, "heir", now=LEASE_S).attempts == 2


def test_what_a_dead_owner_left_goes_on_at_once(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    add(write, "1", number=1)
    add(write, "2", "other", number=2)
    assert [claim(write, owner).payload["number"] for owner in ("dead", "alive")] == [1, 2]
    write(lambda c: queue.release(c, "dead", note="It ended."))
    assert claim(write, "heir").payload == {"number": 1}
    assert claim(write, "heir's child") is None


def test_a_failed_job_comes_back_after_a_while(write, chat):
    add(write, "k")
    fail(write, claim(write, now=100.0), 100.0)
    assert claim(write, now=100.0 + BACKOFF_S[0] - 0.1) is None
    assert claim(write, now=100.0 + BACKOFF_S[0]).attempts == 2
    assert write(queue.load_errors) == ("It broke.",)


def test_a_job_that_ran_out_of_attempts_is_kept_as_failed_and_blocks_nobody(write, chat):
    add(write, "hopeless", number=1)
    add(write, "next", number=2)
    now = exhaust(write)
    assert write(queue.count_jobs) == (1, 1)
    assert claim(write, now=now).payload == {"number": 2}


def test_failed_jobs_can_be_tried_afresh(write, chat):
    add(write, "k")
    now = exhaust(write)
    assert claim(write, now=now) is None
    assert write(queue.retry_failed) == 1
    assert claim(write, now=now).attempts == 1
    assert write(queue.retry_failed) == 0


def test_jobs_are_counted_by_conversation(write, chat):
    write(lambda c: conversations.add(c, SessionId("other"), at=1.0))
    add(write, "1")
    add(write, "2", "other")
    assert write(queue.count_jobs) == (2, 0)
    assert write(lambda c: queue.count_jobs(c, SessionId("other"))) == (1, 0)


def test_a_commit_that_happened_is_asked_for_no_more_and_its_job_takes_no_other_with_it(write, chat):
    write(lambda c: queue.ask_for_commit(c, chat, 1, cause="A segment closed."))
    assert write(lambda c: queue.claim_job(c, "app", now=0.0, kinds=[queue.MEMORY_FILES])) is None
    job = claim(write)
    assert (job.kind, job.payload) == (queue.COMMIT, {"cause": "A segment closed."})
    write(lambda c: queue.drop_commit(c, chat))
    assert write(lambda c: queue.is_commit_asked(c, chat)) is False
    write(lambda c: queue.ask_for_commit(c, chat, 2, cause="A segment closed."))  # under the number that is free again
    write(lambda c: queue.finish_job(c, job))
    assert write(lambda c: queue.is_commit_asked(c, chat)) is True


def test_a_job_that_is_put_off_comes_back_at_its_time_and_keeps_its_attempts(write, chat):
    add(write, "k")
    for wait in range(2 * MAX_ATTEMPTS):
        job = claim(write, now=10.0 * wait)
        assert (job.attempts, job.waits) == (1, wait)
        write(lambda c, job=job, wait=wait: queue.put_off(c, job, until=10.0 * (wait + 1)))
        assert claim(write, now=10.0 * wait + 9) is None
    assert write(lambda c: queue.has_job(c, "k")) is True


def test_a_job_that_is_waited_for_is_claimed_before_it_is_due_but_never_from_another_process(write, chat):
    write(lambda c: queue.add_job(c, queue.MEMORY_UPDATE, chat, {}, key="k", lane="slow", not_before=100.0))
    assert write(lambda c: queue.claim_by_key(c, "app", "other", now=1.0)) is None
    assert write(lambda c: queue.claim_by_key(c, "app", "k", now=1.0)) is not None
    assert write(lambda c: queue.claim_by_key(c, "jobs", "k", now=2.0)) is None
    write(lambda c: queue.drop_job(c, "k"))
    assert write(lambda c: queue.has_job(c, "k")) is False
