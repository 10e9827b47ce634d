"""Evidence follows a line through versions, and a version's difference reads in order."""

from core.model import LineState, MemoryLine, Origin, ParkedLine, Section, TurnId
from core.working_memory.document import EMPTY
from core.working_memory.provenance import (
    KnownLines,
    Meta,
    Proposal,
    annotate,
    annotate_parked,
    compare,
    key_of,
)

ISSUES = Section.ISSUES


def line(text, state=LineState.KEPT, origin=Origin.HEURISTIC, turns=(1,)):
    return MemoryLine(text=text, origin=origin, state=state, turns=tuple(map(TurnId, turns)))


def annotate_issues(body, previous=None, proposals=()):
    return annotate(EMPTY.with_bodies({ISSUES: body}), previous or {}, proposals)[ISSUES]


def test_line_keeps_its_evidence_and_grows_with_a_new_proposal():
    before = KnownLines({ISSUES: [line("call Bea", turns=(3,))]}, {})
    proposal = Proposal(section=ISSUES, text="Call Bea.", origin=Origin.MODEL, turns=(TurnId(9),))
    (found,) = annotate_issues("- **call Bea**", before, [proposal])
    assert (found.origin, found.turns, found.state) == (Origin.HEURISTIC, (3, 9), LineState.KEPT)


def test_new_line_has_the_evidence_of_its_proposal():
    proposal = Proposal(section=ISSUES, text="buy salt", origin=Origin.HEURISTIC, turns=(TurnId(4),))
    (found,) = annotate_issues("- buy salt", proposals=[proposal])
    assert (found.origin, found.turns, found.state) == (Origin.HEURISTIC, (4,), LineState.ADDED)


def test_restored_line_is_shown_without_its_tag_and_keeps_its_turns_and_lock():
    previous = {key_of(ISSUES, "call Bea"): Meta(origin=Origin.MODEL, turns=(TurnId(2),), locked=True)}
    (found,) = annotate_issues("- [restored] call Bea", previous)
    assert (found.text, found.origin, found.state) == ("call Bea", Origin.RESTORED, LineState.RESTORED)
    assert (found.turns, found.locked) == ((2,), True)
    (later,) = annotate_issues("- [restored] call Bea", KnownLines({ISSUES: [found]}, {}))
    assert later.state is LineState.KEPT


def test_parked_line_gets_the_turns_it_came_from():
    parked = [ParkedLine(text="call Bea", reason="x"), ParkedLine(text="buy salt", reason="x")]
    found = annotate_parked(ISSUES, parked, KnownLines({ISSUES: [line("call Bea", turns=(5,))]}, {}))
    assert [entry.turns for entry in found] == [(5,), ()]


def test_line_that_waited_keeps_its_evidence_when_it_enters_later():
    waiting = ParkedLine(text="call Bea", reason="x", turns=(TurnId(7),), origin=Origin.HEURISTIC)
    (found,) = annotate_issues("- call Bea", KnownLines({}, {ISSUES: (waiting,)}))
    assert (found.turns, found.origin) == ((7,), Origin.HEURISTIC)
    (shown,) = compare([], [found])
    assert shown.state is LineState.ADDED


def test_parked_line_gets_its_origin_and_the_day_it_began_to_wait_once():
    parked = [ParkedLine(text="call Bea", reason="x"), ParkedLine(text="buy salt", reason="x", at=1.0)]
    found = annotate_parked(ISSUES, parked, KnownLines({ISSUES: [line("call Bea")]}, {}), at=9.0)
    assert [(entry.origin, entry.at) for entry in found] == [(Origin.HEURISTIC, 9.0), (None, 1.0)]


def test_difference_reads_in_order_with_removed_lines_where_they_were():
    before = [line("a"), line("b"), line("c"), line("old", LineState.REMOVED), line("soon", LineState.PENDING)]
    after = [line("a"), line("new"), line("c"), line("back", origin=Origin.RESTORED)]
    assert [(found.text, found.state) for found in compare(before, after)] == [
        ("a", LineState.KEPT),
        ("b", LineState.REMOVED),
        ("new", LineState.ADDED),
        ("c", LineState.KEPT),
        ("back", LineState.RESTORED),
    ]


def test_line_removed_from_the_top_comes_first():
    assert [found.text for found in compare([line("gone"), line("a")], [line("a")])] == ["gone", "a"]


def test_line_restored_earlier_is_simply_kept():
    restored = line("a", origin=Origin.RESTORED)
    assert compare([restored], [restored])[0].state is LineState.KEPT
