"""Edits by the user: each does what it says to one line, leaves all others alone, and can be taken back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import MemoryEditError
from core.model import EditKind, LineState, MemoryEdit, MemoryLine, Origin, ParkedLine, Section, TurnId
from core.working_memory.bodies import safe_body
from core.working_memory.document import Document, Extra, close_text_fences, parse_document, render_document
from core.working_memory.edits import Held, apply_edits, edits_between, hold, read_typed, reapply
from core.working_memory.provenance import Meta, annotate, key_of
from tests.core.working_memory.strategies import STATEMENTS, documents, sections, statements

FACTS, ISSUES, TITLE = Section.FACTS, Section.ISSUES, Section.TITLE


def memory(text: str, parked: dict[Section, tuple[ParkedLine, ...]] | None = None) -> Held:
    """A version of that text, as a merge leaves it: fences closed, each line with evidence of its own."""
    read = parse_document(text)
    document = Document(
        bodies={section: safe_body(body) for section, body in read.bodies.items()},
        extra=tuple(Extra(extra.header, close_text_fences(extra.body)) for extra in read.extra),
        preamble=close_text_fences(read.preamble),
    )
    known = {
        key_of(section, line.text): Meta(origin=Origin.MODEL, turns=(TurnId(100 * i + n),), locked=n % 3 == 1)
        for i, (section, lines) in enumerate(annotate(document, {}).items())
        for n, line in enumerate(lines)
    }
    return hold(document, annotate(document, known), parked or {})


def facts(*lines: str, parked: tuple[ParkedLine, ...] = ()) -> Held:
    body = "\n".join(f"- {line}" for line in lines)
    return memory(f"# Working Memory\n\n## Key Facts & Decisions\n{body}\n", {FACTS: parked})


def edit(kind: EditKind, text: str, section: Section = FACTS, **fields) -> MemoryEdit:
    return MemoryEdit(kind=kind, section=section, text=text, **fields)


def shown(held: Held, section: Section = FACTS) -> list[str]:
    return [line.text for line in held.lines_of(section)]


def test_changed_line_is_the_users_and_keeps_place_evidence_and_lock():
    held = facts("port is 5432", "Naomi owns billing", "Kyoto trip")
    after = apply_edits(held, [edit(EditKind.CHANGE, "Naomi owns billing", new_text="Bea owns billing")]).held
    assert shown(after) == ["port is 5432", "Bea owns billing", "Kyoto trip"]
    old, new = held.lines_of(FACTS)[1], after.lines_of(FACTS)[1]
    assert (new.origin, new.turns, new.locked) == (Origin.USER, old.turns, old.locked)
    assert (after.lines_of(FACTS)[0], after.lines_of(FACTS)[2]) == (held.lines_of(FACTS)[0], held.lines_of(FACTS)[2])


def test_line_is_found_in_a_newer_version_by_what_it_says():
    held = facts("**Port** is 5432.")
    after = apply_edits(held, [edit(EditKind.CHANGE, "port is 5432", new_text="port is 6432")]).held
    assert shown(after) == ["port is 6432"]


@pytest.mark.parametrize("kind", [EditKind.CHANGE, EditKind.REMOVE, EditKind.MOVE, EditKind.LOCK, EditKind.DROP])
def test_edit_of_a_line_that_is_gone_is_an_error(kind):
    with pytest.raises(MemoryEditError, match="no longer"):
        apply_edits(facts("a fact"), [edit(kind, "another", new_text="x", to=ISSUES)])


def test_what_is_there_is_not_added_again():
    with pytest.raises(MemoryEditError, match="already"):
        apply_edits(facts("port is 5432"), [edit(EditKind.ADD, "Port is 5432.")])
    with pytest.raises(MemoryEditError, match="already"):
        apply_edits(facts("a1", "b2"), [edit(EditKind.CHANGE, "a1", new_text="b2")])


def test_line_moves_with_its_evidence():
    held = facts("a1", "b2", "c3")
    after = apply_edits(held, [edit(EditKind.MOVE, "b2", to=ISSUES)]).held
    assert (shown(after), shown(after, ISSUES)) == (["a1", "c3"], ["b2"])
    before, moved = held.lines_of(FACTS)[1], after.lines_of(ISSUES)[0]
    assert (moved.origin, moved.turns, moved.locked) == (before.origin, before.turns, before.locked)


def test_nested_line_moves_with_the_words_it_hung_on():
    held = memory("## Key Facts & Decisions\n- Database\n  - port 5432\n- Kyoto\n")
    after = apply_edits(held, [edit(EditKind.MOVE, "port 5432", to=ISSUES)]).held
    assert shown(after, ISSUES) == ["Database: port 5432"]


def test_what_was_nested_under_a_removed_line_stays_and_joins_no_other():
    held = memory("## Key Facts & Decisions\n- Kyoto\n- Database\n  - port 5432\n    - since May\n  - host a\n- end\n")
    after = apply_edits(held, [edit(EditKind.REMOVE, "Database")]).held
    assert after.document.bodies[FACTS] == "- Kyoto\n- port 5432\n  - since May\n- host a\n- end"


def test_title_is_one_line_and_is_changed_in_place():
    held = memory("## Session Title\nKyoto trip\n")
    after = apply_edits(held, [edit(EditKind.CHANGE, "Kyoto trip", TITLE, new_text="Osaka trip")]).held
    assert after.document.bodies[TITLE] == "Osaka trip"
    with pytest.raises(MemoryEditError, match="one title"):
        apply_edits(held, [edit(EditKind.ADD, "Second title", TITLE)])
    assert read_typed("- one\n- two", TITLE) == ("one - two",)


def test_parked_line_comes_back_with_its_evidence_or_goes_for_good():
    waiting = (
        ParkedLine(text="old fact", reason="It waits.", turns=(TurnId(7),), origin=Origin.MODEL, at=5.0),
        ParkedLine(text="x1", reason="y"),
    )
    held = facts("a1", parked=waiting)
    back = apply_edits(held, [edit(EditKind.BRING_BACK, "old fact")]).held
    assert (shown(back), [line.text for line in back.parked_of(FACTS)]) == (["a1", "old fact"], ["x1"])
    assert (back.lines_of(FACTS)[1].origin, back.lines_of(FACTS)[1].turns) == (Origin.MODEL, (7,))
    dropped = apply_edits(held, [edit(EditKind.DROP, "old fact")])
    assert [line.text for line in dropped.held.parked_of(FACTS)] == ["x1"]
    again = apply_edits(dropped.held, dropped.inverse).held
    assert set(again.parked_of(FACTS)) == set(waiting)


def test_parked_line_that_the_user_types_leaves_the_list_and_undo_puts_it_back():
    waiting = (ParkedLine(text="old fact", reason="It waits."),)
    applied = apply_edits(facts("a1", parked=waiting), [edit(EditKind.ADD, "Old fact.")])
    assert applied.held.parked_of(FACTS) == ()
    assert apply_edits(applied.held, applied.inverse).held.parked_of(FACTS) == waiting


def test_typed_text_loses_secrets_headers_and_machine_tags():
    (line,) = read_typed("my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD", FACTS)
    assert "abcdefghij" not in line
    assert read_typed("## Open Issues", FACTS) == ("Open Issues",)
    assert read_typed("[restored] call Bea", FACTS) == ("call Bea",)
    assert read_typed("- one\n- two", FACTS) == ("one", "two")


@pytest.mark.parametrize("text", ["", "  \n ", "---", "- ", "[⚠ CONSOLIDATION REQUIRED: x]", "x" * 5_000])
def test_text_without_words_to_remember_is_refused(text):
    with pytest.raises(MemoryEditError):
        read_typed(text, FACTS)


@given(sections, statements | st.text(max_size=60))
def test_typed_line_reads_back_as_typed_and_opens_nothing(section, text):
    try:
        lines = read_typed(text, section)
    except MemoryEditError:
        return
    held = memory("## Current State\nresting\n")
    for line in lines:
        try:
            held = apply_edits(held, [edit(EditKind.ADD, line, section)]).held
        except MemoryEditError:
            assert shown(held, section)  # it is there, or there is a title
            continue
        assert line in shown(held, section)
    assert held.document.extra == ()
    assert parse_document(render_document(held.document)) == held.document


kinds = st.sampled_from([EditKind.ADD, EditKind.CHANGE, EditKind.REMOVE, EditKind.MOVE, EditKind.LOCK, EditKind.UNLOCK])


def draw_edit(data, held: Held) -> MemoryEdit | None:
    """An edit of one of the lines that are there, as the window would ask for it."""
    filled = [section for section in Section if held.lines_of(section)]
    kind = data.draw(kinds)
    section = data.draw(st.sampled_from(filled)) if filled and kind is not EditKind.ADD else data.draw(sections)
    typed = data.draw(st.sampled_from([text for text in STATEMENTS if text.strip()]))
    try:
        new = read_typed(typed, section)[0]
    except MemoryEditError:
        return None
    if kind is EditKind.ADD:
        return edit(kind, new, section)
    if not filled:
        return None
    line = data.draw(st.sampled_from(held.lines_of(section)))
    return edit(kind, line.text, section, new_text=new, to=data.draw(sections))


@given(documents, st.data())
def test_edit_touches_its_line_alone_and_the_document_round_trips(text, data):
    held = memory(text)
    asked = draw_edit(data, held)
    if asked is None:
        return
    try:
        after = apply_edits(held, [asked]).held
    except MemoryEditError:
        return
    assert parse_document(render_document(after.document)) == after.document
    assert after.document.extra == held.document.extra
    assert after.document.preamble == held.document.preamble
    for section in Section:
        if section not in (asked.section, asked.to):
            assert after.document.bodies[section] == held.document.bodies[section]
            assert after.lines_of(section) == held.lines_of(section)
        named = {asked.text, asked.new_text}
        for line in held.lines_of(section):
            if line.text not in named:
                assert line in after.lines_of(section)


@given(documents, st.data())
def test_inverse_brings_the_lines_back(text, data):
    held = memory(text)
    asked = draw_edit(data, held)
    if asked is None:
        return
    try:
        applied = apply_edits(held, [asked])
    except MemoryEditError:
        return
    if len(shown(held, TITLE)) > 1 or any(
        len({key_of(s, text) for text in shown(held, s)}) < len(shown(held, s)) for s in Section
    ):
        return  # a line that stands there twice comes back once
    back = apply_edits(applied.held, applied.inverse).held
    for section in Section:
        if asked.kind is not EditKind.MOVE:  # a nested line comes back with its parent's words
            assert sorted(shown(back, section)) == sorted(shown(held, section))
        assert sorted(line.turns for line in back.lines_of(section)) == sorted(
            line.turns for line in held.lines_of(section)
        )


@given(documents, documents, st.data())
def test_edits_made_meanwhile_survive_on_another_document(text, other, data):
    held, newer = memory(text), memory(other)
    asked = draw_edit(data, held)
    if asked is None:
        return
    try:
        apply_edits(held, [asked])
    except MemoryEditError:
        return
    after = reapply(newer, [asked]).held
    target = asked.to if asked.kind is EditKind.MOVE and asked.to else asked.section
    said = asked.new_text if asked.kind is EditKind.CHANGE else asked.text
    assert parse_document(render_document(after.document)) == after.document
    if asked.kind is EditKind.REMOVE:
        assert len(shown(after, target)) <= len(shown(newer, target))
    elif asked.kind not in (EditKind.UNLOCK, EditKind.MOVE) and target is not TITLE:
        keys = {key_of(target, line) for line in shown(after, target)}
        assert key_of(target, said) in keys


def test_change_whose_line_is_gone_comes_as_a_line_of_its_own():
    after = reapply(facts("c3"), [edit(EditKind.CHANGE, "a1", new_text="b2")]).held
    assert shown(after) == ["c3", "b2"]


def test_locked_line_that_an_update_dropped_meanwhile_comes_back_locked():
    after = reapply(facts("c3"), [edit(EditKind.LOCK, "a1", turns=(TurnId(4),))]).held
    assert [(line.text, line.locked, line.turns) for line in after.lines_of(FACTS)][1] == ("a1", True, (4,))


@given(documents, documents)
def test_difference_of_two_versions_as_edits_leads_from_one_to_the_other(old, new):
    before, after = memory(old), memory(new)
    result = reapply(before, edits_between(before, after)).held
    for section in Section:
        if section is not TITLE:
            wanted = {key_of(section, line) for line in shown(after, section)}
            assert {key_of(section, line) for line in shown(result, section)} >= wanted


def test_lines_pending_or_removed_are_no_part_of_what_is_held():
    lines = {
        FACTS: (
            MemoryLine(text="a1", origin=Origin.MODEL, state=LineState.REMOVED),
            MemoryLine(text="b2", origin=Origin.MODEL, state=LineState.ADDED),
            MemoryLine(text="c3", origin=Origin.HEURISTIC, state=LineState.PENDING),
        )
    }
    assert shown(hold(parse_document("## Key Facts & Decisions\n- b2\n"), lines, {})) == ["b2"]
