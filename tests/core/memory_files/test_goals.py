"""The goals file: ids only grow, the user's lines stay, nothing is dropped in silence."""

import re
import threading

from hypothesis import given
from hypothesis import strategies as st

from core.memory_files.goals import GOALS_FILE, GoalOp, GoalOutcome, apply_ops, edit_goals, read_goals
from core.memory_files.writer import Cause, MemoryFileWriter
from tests.core.memory_files.store import Memory

ids = st.integers(1, 12).map(lambda n: f"g{n}")
goal_texts = st.one_of(
    st.sampled_from(["a", "b", "learn to sail", " ", "two\nlines", "x" * 241, "学游泳"]), st.text(max_size=20)
)
ops = st.lists(
    st.one_of(
        st.builds(GoalOp, text=goal_texts),
        st.builds(GoalOp, id=ids, text=goal_texts),
        st.builds(GoalOp, id=ids),
    ),
    max_size=12,
)
files = st.lists(
    st.sampled_from(["# Goals", "", "my note", "- [g1] a", "- [g3] c", "```", "- [ ] task", "* [g2] b"]), max_size=8
).map("\n".join)


@given(files, ops, st.integers(1, 20))
def test_the_users_lines_stay_in_place(text, ops, next_id):
    def users(text):
        return [line for line in text.split("\n") if line.strip() and not re.match(r"[-*+] \[g\d+\]", line)]

    done = apply_ops(text, ops, next_id)
    # a file that was left empty gets a title with its next goal
    kept = [line for line in users(done.text) if line != "# Long-term Goals"]
    assert kept == users(text)


@given(files, ops, st.integers(1, 20))
def test_ids_only_grow_and_no_goal_is_dropped_unasked(text, ops, next_id):
    before = {goal.id for goal in read_goals(text)}
    done = apply_ops(text, ops, next_id)
    after = [goal.id for goal in done.goals]
    new = [int(goal[1:]) for goal in after if goal not in before]
    assert all(number >= next_id and number > max((int(g[1:]) for g in before), default=0) for number in new)
    assert new == sorted(set(new))
    assert done.next_id > max((int(goal[1:]) for goal in after), default=0)
    asked = {op.id for op, outcome in zip(ops, done.outcomes, strict=True) if outcome is GoalOutcome.DELETED}
    assert before - asked <= set(after)
    assert len(done.goals) <= max(8, len(read_goals(text)))
    if not {GoalOutcome.ADDED, GoalOutcome.EDITED, GoalOutcome.DELETED} & set(done.outcomes):
        assert done.text == text


def test_a_deleted_number_is_not_used_again():
    done = apply_ops("# G\n\n- [g1] a\n", [GoalOp(id="g1"), GoalOp(text="b")])
    assert [(goal.id, goal.text) for goal in done.goals] == [("g2", "b")]


def test_line_endings_and_fences_are_respected():
    text = "# G\r\n\r\n```\r\n- [g9] sample\r\n```\r\n- [g1] a\r\nnote"
    done = apply_ops(text, [GoalOp(text="b"), GoalOp(id="g9"), GoalOp(id="g1", text="A!")])
    assert done.text == "# G\r\n\r\n```\r\n- [g9] sample\r\n```\r\n- [g1] A!\r\n- [g2] b\r\nnote"
    assert done.outcomes == (GoalOutcome.ADDED, GoalOutcome.UNKNOWN_ID, GoalOutcome.EDITED)


def test_a_goal_is_redacted():
    done = apply_ops(None, [GoalOp(text="rotate tulip")], redact=lambda text: text.replace("tulip", "[REDACTED:token]"))
    assert done.text == "# Long-term Goals\n\n- [g1] rotate [REDACTED:token]\n"


def test_goals_added_at_once_are_all_there(tmp_path):
    writer = MemoryFileWriter(tmp_path, Memory())
    threads = [
        threading.Thread(
            target=edit_goals,
            args=(writer, [GoalOp(text=f"goal {i}")], Cause(at=float(i), actor="Keepsake", cause="test")),
        )
        for i in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    goals = read_goals((tmp_path / GOALS_FILE).read_text(encoding="utf-8"))
    assert [goal.id for goal in goals] == [f"g{i}" for i in range(1, 7)]
    assert {goal.text for goal in goals} == {f"goal {i}" for i in range(6)}
