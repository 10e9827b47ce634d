"""Working Memory as rows: all seven sections, each line with origin, evidence and what can be done with it."""

from dataclasses import replace

from app.rendering.memory_changes import changes_html, changes_plain
from app.rendering.memory_rows import Act, Draft, RowKind, build_rows, describe_update, summarise
from core.model import (
    ChangeKind,
    LineChange,
    LineState,
    MemoryLine,
    MemorySection,
    Origin,
    ParkedLine,
    Section,
    SessionId,
    TurnId,
    WantedLine,
)
from tests.app.scripted import empty_memory

FACTS, TITLE = Section.FACTS, Section.TITLE
COLOURS = dict.fromkeys(("added", "removed", "warning", "muted"), "#000000")


def line(text="port is 5432", state=LineState.KEPT, origin=Origin.HEURISTIC, turns=(7, 9), locked=False):
    return MemoryLine(text=text, origin=origin, state=state, turns=tuple(map(TurnId, turns)), locked=locked)


def memory(*lines, section=FACTS, parked=(), wanted=(), warning=""):
    base = empty_memory(SessionId("a"))
    part = MemorySection(section=section, lines=lines, tokens=9, parked=parked, wanted=wanted, warning=warning)
    sections = tuple(part if s.section is section else s for s in base.sections)
    return replace(base, version=1, newest=1, sections=sections, turn_numbers={TurnId(7): 1, TurnId(9): 2})


def only(rows, kind):
    return [row for row in rows if row.kind is kind]


def test_an_empty_memory_shows_seven_quiet_sections_that_can_be_added_to():
    rows = build_rows(None)
    assert [row.shown for row in rows] == [section.value for section in Section]
    assert {(row.note, row.tone, row.acts) for row in rows} == {("nothing yet", "quiet", (Act.ADD,))}


def test_each_line_names_its_origin_and_its_turns_as_counted_in_the_conversation():
    lines = [line(f"fact {origin}", origin=origin) for origin in Origin]
    rows = only(build_rows(memory(*lines)), RowKind.LINE)
    assert [row.suffix for row in rows] == ["you", "noticed", "model", "restored"]
    assert rows[0].turns == ((7, 1), (9, 2))
    assert rows[0].spoken == "fact user. you, from turns 1–2"


def test_commands_follow_the_state_of_a_line():
    def acts(*lines, **fields):
        return [row.acts for row in only(build_rows(memory(*lines, **fields)), RowKind.LINE)]

    assert acts(line()) == [(Act.EDIT, Act.LOCK, Act.MOVE, Act.REMOVE, Act.JUMP, Act.COPY)]
    assert acts(line(locked=True, turns=()))[0][:2] == (Act.EDIT, Act.UNLOCK)
    assert acts(line(state=LineState.PENDING))[0][:2] == (Act.KEEP, Act.DISCARD)
    assert acts(line(state=LineState.REMOVED))[0][0] is Act.PUT_BACK
    assert Act.MOVE not in acts(line(), section=TITLE)[0]


def test_an_old_version_can_only_be_read():
    rows = build_rows(memory(line(), parked=(ParkedLine(text="x", reason="y"),)), opened={FACTS}, editable=False)
    assert {act for row in rows for act in row.acts} == {Act.JUMP, Act.COPY, Act.FOLD}


def test_lines_set_aside_are_folded_and_say_why_when_opened():
    given = memory(line(), parked=(ParkedLine(text="old", reason="It waits.", turns=(TurnId(9),)),))
    (fold,) = only(build_rows(given), RowKind.FOLD)
    assert (fold.shown, only(build_rows(given), RowKind.PARKED)) == ("▸ 1 line set aside", [])
    (parked,) = only(build_rows(given, opened={FACTS}), RowKind.PARKED)
    assert (parked.text, parked.note, parked.turns) == ("old", "It waits.", ((9, 2),))
    assert parked.links == (Act.BRING_BACK, Act.DROP)


def test_a_proposal_stands_under_its_locked_line_alone():
    wanted = (WantedLine(line="port is 5432", text="port is 6432"),)
    rows = build_rows(memory(line("a"), line(locked=True), line("z"), wanted=wanted))
    kinds = [(row.kind, row.text) for row in rows if row.section is FACTS][1:]
    assert kinds == [
        (RowKind.LINE, "a"), (RowKind.LINE, "port is 5432"), (RowKind.WANTED, "port is 6432"), (RowKind.LINE, "z"),
    ]  # fmt: skip
    (row,) = only(rows, RowKind.WANTED)
    assert (row.line, row.links) == ("port is 5432", (Act.TAKE, Act.DISMISS))


def test_a_section_over_its_limits_is_warned_of():
    (row,) = only(build_rows(memory(line(), warning="26 lines: too many.")), RowKind.WARNING)
    assert (row.shown, row.tone) == ("26 lines: too many.", "warning")


def test_a_line_keeps_its_key_while_its_state_changes_and_twins_have_keys_of_their_own():
    kept, added = (only(build_rows(memory(line(state=s))), RowKind.LINE)[0] for s in (LineState.KEPT, LineState.ADDED))
    removed = only(build_rows(memory(line(state=LineState.REMOVED))), RowKind.LINE)[0]
    assert kept.key == added.key != removed.key
    keys = [row.key for row in build_rows(memory(line(), line()))]
    assert len(set(keys)) == len(keys)


def test_a_draft_opens_an_empty_section():
    rows = [row for row in build_rows(None, draft=Draft(section=FACTS, text="half")) if row.section is FACTS]
    assert [(row.kind, row.text) for row in rows] == [(RowKind.HEAD, ""), (RowKind.DRAFT, "half")]
    assert rows[0].tone == ""


def test_the_whole_is_summed_up_in_words():
    assert summarise(None) == "nothing yet"
    assert summarise(memory(line(), line("b", LineState.REMOVED), line("c", LineState.PENDING))) == (
        "1 line in 1 section, 1 pending"
    )


def test_an_update_is_told_in_a_sentence():
    lines = [line("a", LineState.ADDED), line("b", LineState.RESTORED), line("c", LineState.ADDED), line("d")]
    assert describe_update(memory(*lines)) == "Memory updated: 2 new, 1 restored."
    assert describe_update(memory(line())) == ""


def test_differences_are_text_with_signs_and_never_markup_of_others():
    changes = [
        LineChange(section=FACTS, kind=ChangeKind.CAME, before="", after="<b>new</b>", reason="why"),
        LineChange(section=FACTS, kind=ChangeKind.WENT, before="old", after=""),
    ]
    html = changes_html(changes, COLOURS)
    assert "&lt;b&gt;new&lt;/b&gt;" in html
    assert html.count(FACTS.value.replace("&", "&amp;")) == 1
    assert "(why)" in html
    assert changes_plain(changes).startswith("Key Facts & Decisions, came: ")
    assert "both hold the same" in changes_html([], COLOURS)
