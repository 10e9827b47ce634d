"""Whatever order turns, commits, jobs, failures and restarts come in: nothing is lost, doubled or out of order."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from core.sessions.archive_recovery import give_up, restart
from core.sessions.window import load_window
from core.storage import archives, conversations, memory_versions, turns
from tests.core.sessions.desk import CHAT, FILES, ScriptedUpdater, fact, live_ids, open_desk

SAY, COMMIT, RUN, FAIL, STOP, RETRY, RESTART = "say", "commit", "run", "fail", "stop", "retry", "restart"
steps = st.lists(
    st.one_of(
        st.tuples(st.just(SAY), st.integers(1, 9)),
        st.tuples(st.just(COMMIT), st.sampled_from([0, 1, 2, 3, 5, 10])),
        st.tuples(st.sampled_from([RUN, STOP, RETRY, RESTART]), st.just(0)),
        st.tuples(st.just(FAIL), st.integers(1, 4)),
    ),
    max_size=14,
)


async def act(desk, updater, step, number):
    """Do one step; returns how many turns it added."""
    if step == SAY:
        said = await desk.read(lambda c: c.execute("SELECT count(*) FROM turns").fetchone()[0])
        await desk.say(number, first=said)
    elif step == COMMIT:
        await desk.committer.commit(CHAT, cause="a test", keep=number)
    elif step == RUN:
        await desk.run_jobs(until=desk.now + 10)
    elif step == FAIL and updater is not None:
        updater.failures = number
    elif step == STOP:
        for archive in await desk.read(lambda c: archives.load_uncovered(c, CHAT)):
            await desk.write(lambda c, n=archive.number: give_up(c, CHAT, n, why="Stopped.", at=desk.now))
    elif step == RETRY:
        for archive in await desk.read(archives.load_failed):
            await desk.write(lambda c, n=archive.number: restart(c, CHAT, n, at=desk.now))
    elif step == RESTART:
        await desk.recover()


async def check(desk):
    """Check what holds at any moment."""

    def work(c):
        ids = [i for (i,) in c.execute("SELECT id FROM messages ORDER BY turn, role DESC")]
        archived = [i for (i,) in c.execute("SELECT id FROM messages WHERE archive NOTNULL ORDER BY turn, role DESC")]
        numbers = [
            n for (n,) in c.execute("SELECT archive FROM messages WHERE archive NOTNULL ORDER BY turn, role DESC")
        ]
        newest = memory_versions.get_newest_number(c, CHAT)
        return {
            "ids": ids,
            "archived": archived,
            "numbers": numbers,
            "live": live_ids(c),
            "estimates": turns.load_live_estimates(c, CHAT),
            "counters": conversations.load_counters(c, CHAT),
            "raw": [m.id for m in archives.load_unfinished_messages(c, CHAT)],
            "uncovered": [a.number for a in archives.load_uncovered(c, CHAT)],
            "versions": [memory_versions.get(c, CHAT, n) is not None for n in range(1, newest + 1)],
            "pending": len(memory_versions.load_pending(c, CHAT)),
        }

    now = await desk.read(work)
    assert now["archived"] + now["live"] == now["ids"]  # all, once, in order
    assert now["numbers"] == sorted(now["numbers"])
    assert now["raw"] == [i for i, n in zip(now["archived"], now["numbers"], strict=True) if n in now["uncovered"]]
    assert now["counters"][1] == load_window(now["estimates"], 0).live_tokens
    assert all(now["versions"])
    version = await desk.version()
    in_memory = await desk.facts() if version else []
    parked = [line.text for lines in version.parked.values() for line in lines] if version else []
    remembered = [*in_memory, *parked]
    assert len(remembered) == len(set(remembered))
    assert len(remembered) + now["pending"] == len(now["ids"]) // 2  # every turn's fact is somewhere, once
    return now


@settings(max_examples=max(10, settings().max_examples // 10))  # each example is a store with its files
@given(st.booleans(), st.sampled_from([5, 60, 10_000]), steps)
def test_any_course_of_events_keeps_every_message_and_every_fact(asks_model, tail_tokens, course):
    async def run(folder):
        updater = ScriptedUpdater() if asks_model else None
        async with open_desk(folder, updater=updater, tail_tokens=tail_tokens) as desk:
            for step, number in course:
                await act(desk, updater, step, number)
                await check(desk)
            if updater is not None:
                updater.failures = 0
            await act(desk, updater, RETRY, 0)
            await act(desk, updater, RESTART, 0)
            await act(desk, updater, RUN, 0)
            await desk.committer.commit(CHAT, cause="the end", keep=0)
            await desk.run_jobs(until=desk.now + 10)
            end = await check(desk)
            assert (end["live"], end["raw"], end["pending"]) == ([], [], 0)
            states = await desk.read(archives.load_states)
            assert set(states.values()) <= {"done"}
            assert all(desk.names(number) == FILES for _, number in states)
            assert (await desk.recover()).resumed == ()
            said = len(end["ids"]) // 2
            version = await desk.version()
            parked = [line.text for lines in version.parked.values() for line in lines] if version else []
            assert sorted([*await desk.facts(), *parked]) == sorted(fact(n) for n in range(said))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
