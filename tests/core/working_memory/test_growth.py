"""Growth: thresholds at their limits, the queue of parked facts, and the way out of the stop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import ParkedLine, Section
from core.text.items import extract_items, read_items
from core.working_memory.growth import (
    APPEND_CAP,
    STOP_ITEMS,
    Size,
    Zone,
    hold_ceiling,
    measure,
    relieve,
    take_in,
)
from core.working_memory.merge import merge
from core.working_memory.parked import ParkReason, park, release


def facts(number, start=0):
    return "\n".join(f"- fact {i}" for i in range(start, start + number))


@pytest.mark.parametrize(
    ("items", "tokens", "zone"),
    [
        (25, 1500, Zone.NORMAL),
        (26, 0, Zone.THROTTLED),
        (0, 1501, Zone.THROTTLED),
        (50, 3000, Zone.THROTTLED),
        (51, 0, Zone.STOPPED),
        (0, 3001, Zone.STOPPED),
    ],
)
def test_zone_at_its_limits(items, tokens, zone):
    assert Size(items=items, tokens=tokens).zone is zone


def test_sentinel_counts_for_nothing():
    body = facts(25) + "\n- [⚠ CONSOLIDATION REQUIRED: anything]"
    assert measure(body) == measure(facts(25))


@given(st.integers(0, 60), st.integers(0, 12), st.integers(0, 40))
def test_every_candidate_enters_or_waits_and_the_longest_waiting_goes_first(there, waiting, fresh):
    parked = park((), [f"old {i}" for i in range(waiting)], ParkReason.CAP)
    intake = take_in(facts(there), parked, [f"new {i}" for i in range(fresh)])
    queue = [*intake.entering, *(line.text for line in intake.parked)]
    assert queue == [f"old {i}" for i in range(waiting)] + [f"new {i}" for i in range(fresh)]
    if measure(facts(there)).zone is Zone.NORMAL:
        assert there + len(intake.entering) <= STOP_ITEMS
    elif there > STOP_ITEMS:
        assert not intake.entering
    else:
        assert len(intake.entering) <= APPEND_CAP


def test_corrected_and_unapplied_lines_do_not_flow_back():
    parked = park(park((), ["rent is 900"], ParkReason.SUPERSEDED), ["loose text"], ParkReason.NOT_APPLIED)
    assert take_in("", parked, ()).entering == ()


def test_parked_fact_enters_at_a_keep_once_there_is_room():
    parked = {Section.FACTS: (ParkedLine(text="boiler serviced", reason=ParkReason.STOP),)}
    result = merge("## Key Facts\n" + facts(3), None, parked)
    assert extract_items(result.document.bodies[Section.FACTS])[-1] == "boiler serviced"
    assert result.parked[Section.FACTS] == ()
    full = merge("## Key Facts\n" + facts(51), None, parked)
    assert full.parked[Section.FACTS] == parked[Section.FACTS]


def test_one_huge_fact_does_not_block_the_queue():
    intake = take_in("", (), ["word " * 4000, "small"])
    assert intake.entering == ("small",)


def test_full_section_changes_once_and_then_not_at_all():
    text = "## Key Facts\n" + facts(51)
    first = merge(text, {"Facts": {"items": ["a new one"]}})
    second = merge(first.text, {"Facts": {"items": ["another one"]}}, first.parked)
    assert first.text.count("CONSOLIDATION REQUIRED") == 1
    assert second.text == first.text
    assert [line.text for line in second.parked[Section.FACTS]] == ["a new one", "another one"]


def test_ceiling_takes_the_oldest_and_an_oversized_item_first():
    body = facts(51) + "\n- " + "word " * 3000
    cut = hold_ceiling(body, read_items(body))
    assert [text[:6] for text in cut.removed] == ["word w", "fact 0"]
    assert measure(cut.body).items == STOP_ITEMS


def test_relief_keeps_what_must_stay():
    cut = relieve(facts(60), lambda text: text == "fact 0")
    assert measure(cut.body).items == 25
    assert extract_items(cut.body)[:2] == ("fact 0", "fact 36")
    assert len(cut.removed) == 35


def test_parking_twice_lists_once_and_release_looks_at_clauses():
    parked = park(park((), ["rent is 900 EUR"], ParkReason.CAP), ["Rent is 900 EUR."], ParkReason.STOP)
    assert len(parked) == 1
    assert release(parked, "- heating is included") == parked
    assert release(parked, "- rent is 900 EUR") == ()
