"""The log of writes to memory files: newest first, one log a file, undone ones marked."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.model import FileChange, Place, TurnId
from core.storage import conversations, file_changes, turns


def make(**options):
    values = {
        "id": 0, "file": "MEMORY.md", "at": 1.0, "actor": "Keepsake", "cause": "A commit.", "turns": (1, 2),
        "before": "old\n", "after": "new\n",
    }  # fmt: skip
    return FileChange(**(values | options))


def add(write, workspace="default", **options):
    return write(lambda c: file_changes.add(c, workspace, make(**options)))


def newest(write, file="MEMORY.md", *, workspace="default", limit=10):
    return [change.after for change in write(lambda c: file_changes.load_newest(c, workspace, file, limit=limit))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.integers(1, 2**53)).map(tuple),
    st.none() | st.just(1),
)
def test_a_change_comes_back_as_it_was_recorded(write, before, after, turns, undoes):
    def there_and_back(c):
        c.execute("DELETE FROM file_changes")
        change = file_changes.add(c, "default", make(before=before, after=after, turns=turns, undoes=undoes))
        return change, file_changes.get(c, change.id)

    given_back, found = write(there_and_back)
    assert given_back == found
    assert (found.before, found.after, found.turns, found.undoes) == (before, after, turns, undoes)


def test_the_log_is_read_newest_first_one_file_and_workspace_at_a_time(write):
    for text in ("one", "two", "three"):
        add(write, after=text)
    add(write, file="SKILL.md", after="skill")
    add(write, workspace="work", after="elsewhere")
    assert newest(write) == ["three", "two", "one"]
    assert newest(write, limit=2) == ["three", "two"]
    assert newest(write, "SKILL.md") == ["skill"]
    assert newest(write, workspace="work") == ["elsewhere"]


def test_a_change_that_was_taken_back_says_so(write):
    first = add(write, after="one")
    second = add(write, after="two")
    add(write, after="one again", undoes=second.id)
    undone = [write(lambda c, i=change.id: file_changes.get(c, i)).undone for change in (first, second)]
    assert undone == [False, True]


def test_a_change_that_is_not_there_is_none(write):
    assert write(lambda c: file_changes.get(c, 404)) is None


def test_turns_are_placed_by_conversation_and_title_while_it_is_there(write, chat):
    turn = write(lambda c: turns.add_turn(c, chat))
    write(lambda c: conversations.rename(c, chat, "Cutover", by_user=True))
    asked = [turn, TurnId(turn + 100)]
    assert write(lambda c: file_changes.find_places(c, asked)) == {turn: Place(session_id=chat, title="Cutover")}
    write(lambda c: conversations.set_deleted(c, chat, 5.0))
    assert write(lambda c: file_changes.find_places(c, asked)) == {}
