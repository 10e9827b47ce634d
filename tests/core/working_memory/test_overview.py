"""The document as it is shown: within its share, fair to the sections that matter, and honest."""

from hypothesis import given
from hypothesis import strategies as st

from core.model import Section
from core.text.items import extract_items
from core.text.tokens import estimate_tokens
from core.working_memory.document import EMPTY, parse_document, render_document
from core.working_memory.overview import MAX_ABSTRACT_CHARS, fit_overview, make_abstract, make_reminders
from tests.core.working_memory.strategies import documents

LONG = {
    Section.TITLE: "House move to Leipzig",
    Section.STATE: "Packing room by room. " + "The hall is full of boxes. " * 40,
    Section.GOALS: "\n".join(f"- return key {i} by 2026-07-06" for i in range(40)),
    Section.FACTS: "\n".join(f"- box {i} is {'blue' if i % 2 else 'on floor ' + str(i)}" for i in range(40)),
    Section.FILES: "\n".join(f"- move/list-{i}.ods" for i in range(40)),
    Section.ERRORS: "- wrong van size",
    Section.ISSUES: "- parking permit is missing\n- who feeds the cat",
}


def write(**bodies):
    return render_document(EMPTY.with_bodies({Section[name]: body for name, body in bodies.items()}))


@given(documents, st.integers(-3, 200))
def test_shown_document_costs_at_most_its_share_and_never_shows_the_sentinel(text, max_tokens):
    shown = fit_overview(text, max_tokens)
    assert shown.tokens == estimate_tokens(shown.text) <= max(0, max_tokens)
    assert "CONSOLIDATION REQUIRED" not in shown.text


@given(st.integers(120, 1500))
def test_every_item_is_shown_or_counted_as_left_out(max_tokens):
    shown = fit_overview(render_document(EMPTY.with_bodies(LONG)), max_tokens)
    parsed = parse_document(shown.text)
    for section in (Section.GOALS, Section.FACTS, Section.FILES, Section.ERRORS, Section.ISSUES):
        items = [item for item in extract_items(parsed.bodies[section]) if not item.startswith("(…")]
        assert len(items) + shown.omitted.get(section.value, 0) == len(extract_items(LONG[section]))


@given(st.integers(160, 1500))
def test_no_section_starves_the_first_four(max_tokens):
    shown = parse_document(fit_overview(render_document(EMPTY.with_bodies(LONG)), max_tokens).text)
    assert shown.bodies[Section.TITLE] == LONG[Section.TITLE]
    assert all(shown.bodies[section] for section in (Section.STATE, Section.GOALS, Section.ISSUES))


def test_facts_with_numbers_and_the_newest_come_first():
    text = write(FACTS=LONG[Section.FACTS])
    shown = fit_overview(text, 60)
    kept = extract_items(parse_document(shown.text).bodies[Section.FACTS])
    assert "box 39 is blue" in kept
    assert shown.text.rstrip().endswith(f"(… +{shown.omitted['Key Facts & Decisions']})")


def test_users_own_section_is_shown_last_and_counted():
    text = write(TITLE="Tea") + "\n## Recipes\n" + "\n".join(f"- soup number {i}" for i in range(100))
    shown = fit_overview(text, 100)
    assert "## Recipes" in shown.text
    assert 0 < shown.omitted["Recipes"] < 100


def test_abstract_falls_back_to_the_first_filled_section():
    assert make_abstract(write(FILES="- **docs/a.md** is new\n- b")) == "docs/a.md is new"
    assert make_abstract("") == ""


def test_abstract_is_one_short_line():
    line = make_abstract(write(TITLE="T" * 300, STATE="x"))
    assert len(line) == MAX_ABSTRACT_CHARS
    assert line.endswith("…")


@given(documents)
def test_abstract_of_anything_is_one_line_and_never_the_heading(text):
    line = make_abstract(text)
    assert "\n" not in line
    assert len(line) <= MAX_ABSTRACT_CHARS
    assert not line.startswith("# Working Memory")


def test_reminder_says_what_will_happen_to_errors():
    text = make_reminders(write(ERRORS="\n".join(f"- e{i}" for i in range(26)))).text
    assert text.startswith("<section_size_warnings>\n- Errors & Corrections: 26 items")
    assert "folded" in text
