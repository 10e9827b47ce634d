"""Versions of Working Memory: what goes in comes out, whatever it holds; pending lines in order."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import StorageError
from core.model import Decision, LineState, MemoryLine, Origin, ParkedLine, Section, SessionId
from core.storage import memory_versions, parked_lists
from core.storage.memory_versions import Version

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
numbers = st.lists(st.integers(1, 2**53), max_size=3).map(tuple)
lines = st.builds(
    MemoryLine,
    text=words,
    origin=st.sampled_from(Origin),
    state=st.sampled_from(LineState),
    turns=numbers,
    locked=st.booleans(),
)
parked = st.builds(ParkedLine, text=words, reason=words, turns=numbers)
texts = st.lists(words, max_size=2).map(tuple)
decisions = st.builds(
    Decision,
    section=st.sampled_from(Section),
    asked=words,
    applied=words,
    reason=words,
    restored=texts,
    carried=texts,
    parked=texts,
    skipped=texts,
)
versions = st.builds(
    Version,
    number=st.just(1),
    created_at=st.floats(0, 4e9),
    cause=words,
    archive=st.none() | st.integers(1, 10_000),
    document=words,
    lines=st.dictionaries(st.sampled_from(Section), st.lists(lines, max_size=3).map(tuple)),
    decisions=st.lists(decisions, max_size=3).map(tuple),
    parked=st.dictionaries(st.sampled_from(Section), st.lists(parked, max_size=2).map(tuple)),
)


def make(number, document="", archive=None):
    return Version(
        number=number, created_at=1.0, cause="", archive=archive, document=document, lines={}, decisions=(), parked={}
    )


def store(write, chat, *made):
    for version in made:
        write(lambda c, version=version: memory_versions.add(c, chat, version, asked={}))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(versions)
def test_a_version_comes_back_as_it_was_stored(write, chat, version):
    def there_and_back(c):
        c.execute("DELETE FROM memory_versions")
        memory_versions.add(c, chat, version, asked=[{"op": "KEEP"}])
        return memory_versions.get(c, chat, 1)

    assert write(there_and_back) == version


def test_the_newest_is_meant_when_no_number_is_given(write, chat):
    assert write(lambda c: memory_versions.get(c, chat)) is None
    assert write(lambda c: memory_versions.get_newest_number(c, chat)) == 0
    store(write, chat, make(1, "one"), make(2, "two"))
    assert write(lambda c: memory_versions.get(c, chat)).document == "two"
    assert write(lambda c: memory_versions.get(c, chat, 1)).document == "one"
    assert write(lambda c: memory_versions.get(c, chat, 3)) is None
    assert write(lambda c: memory_versions.get_newest_number(c, chat)) == 2


def test_a_version_is_never_overwritten(write, chat):
    store(write, chat, make(1, "first"))
    with pytest.raises(StorageError):
        store(write, chat, make(1, "second"))
    assert write(lambda c: memory_versions.get(c, chat)).document == "first"


def test_the_archive_of_a_version_is_known(write, chat):
    store(write, chat, make(1, archive=4))
    assert write(lambda c: memory_versions.get_of_archive(c, chat, 4)) is not None
    assert write(lambda c: memory_versions.get_of_archive(c, chat, 5)) is None
    assert write(lambda c: memory_versions.get_of_archive(c, SessionId("other"), 4)) is None


def test_pending_lines_wait_in_order_until_they_are_dropped(write, chat):
    write(
        lambda c: memory_versions.add_pending(c, chat, 1, [(Section.FACTS, "- a", None), (Section.GOALS, "- b", "- a")])
    )
    write(lambda c: memory_versions.add_pending(c, chat, 2, [(Section.FACTS, "- c", None)]))
    waiting = write(lambda c: memory_versions.load_pending(c, chat))
    assert [(p.turn, p.section, p.text, p.replaces) for p in waiting] == [
        (1, Section.FACTS, "- a", None),
        (1, Section.GOALS, "- b", "- a"),
        (2, Section.FACTS, "- c", None),
    ]
    write(lambda c: memory_versions.drop_pending(c, waiting[:2]))
    assert [p.text for p in write(lambda c: memory_versions.load_pending(c, chat))] == ["- c"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 20), max_size=3), st.lists(parked, max_size=3), st.integers(0, 4)), max_size=6
    )
)
def test_parked_lists_come_back_whatever_left_them_and_came(write, chat, steps):
    """Each version is stored as what changed since the one before; some are made of an older one, or of nothing."""

    def there_and_back(c):
        c.execute("DELETE FROM memory_versions")
        made, before, lines = {}, None, ()
        for number, (gone, come, turn) in enumerate(steps, start=1):
            lines = (*(line for place, line in enumerate(lines) if place not in gone), *come)
            if turn == 4:
                lines = lines[::-1]
            version = replace(make(number), parked={Section.FACTS: lines, Section.ISSUES: lines[:1]})
            memory_versions.add(c, chat, version, asked={}, before=before)
            made[number] = version.parked
            before = memory_versions.get(c, chat, number)
            lines = before.parked[Section.FACTS]
        parked_lists.read.cache_clear()
        return made, {number: memory_versions.get(c, chat, number).parked for number in made}

    stored, found = write(there_and_back)
    assert found == stored


def test_a_long_parked_list_is_stored_whole_only_now_and_then(write, chat):
    lines = tuple(ParkedLine(text=f"line {number} {'x' * 50}", reason="It waits.") for number in range(500))

    def fill(c):
        before = None
        for number in range(1, 101):
            waiting = lines if before is None else before.parked[Section.FACTS]
            waiting = (*waiting, ParkedLine(text=f"new {number}", reason="It waits."))
            version = replace(make(number), parked={Section.FACTS: waiting})
            memory_versions.add(c, chat, version, asked={}, before=before)
            before = memory_versions.get(c, chat)
        sizes = [size for (size,) in c.execute("SELECT length(parked) FROM memory_versions ORDER BY version")]
        return sizes, len(before.parked[Section.FACTS])

    sizes, held = write(fill)
    assert held == 600
    assert sum(size > 1000 for size in sizes) <= 1 + 100 // parked_lists.MOST_STEPS
