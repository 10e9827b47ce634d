"""The two promises of Working Memory, over any course of updates: nothing protected and nothing brought disappears."""

from hypothesis import given
from hypothesis import strategies as st

from core.model import Section
from core.text.anchors import is_covered
from core.text.evidence import is_placeholder
from core.text.items import extract_items, is_sentinel
from core.text.keys import is_duplicate, is_resolved, item_key
from core.text.normal_form import fresh_items, is_pointer
from core.text.paths import find_missing, find_paths
from core.text.tokens import estimate_tokens
from core.working_memory.document import find_section
from core.working_memory.growth import APPEND_CAP, STOP_ITEMS, STOP_TOKENS, measure
from core.working_memory.guards.outcome import is_constraint
from core.working_memory.marks import CARRIED, RESTORED, front_tags, strip_tag
from core.working_memory.merge import merge
from tests.core.working_memory.strategies import STATEMENTS

LASTING = (Section.GOALS, Section.FACTS, Section.FILES, Section.ERRORS, Section.ISSUES)
PLAIN = [text for text in STATEMENTS if "\n" not in text and not text.startswith("## ")]
NAMES = [
    "Naomi",
    "Bea",
    "Petra",
    "花子",
    "port",
    "docs/faq.md",
    "2026-05-03",
    "240 EUR",
    "never",
    "must",
    "pay",
    "不",
    "猫",
]
lines = st.sampled_from(PLAIN) | st.lists(st.sampled_from(NAMES), min_size=1, max_size=5).map(" ".join)
sections = st.sampled_from(LASTING)


def make_update(kind, items):
    if kind == "UPDATE":
        return {"op": "UPDATE", "content": "\n".join(f"- {item}" for item in items)}
    return {"op": "APPEND", "items": items}


rounds = st.lists(st.tuples(st.sampled_from(["UPDATE", "APPEND"]), st.lists(lines, max_size=5)), min_size=1, max_size=4)


def everything(result, section):
    parked = [line.text for line in result.parked[section]]
    return [*extract_items(result.document.bodies[section]), *parked]


def is_protected(section, item):
    if section is Section.GOALS:
        return is_constraint(strip_tag(item, CARRIED)) and not is_resolved(item)
    if section is Section.FILES:
        return bool(find_paths(item))
    return not (section is Section.ISSUES and is_resolved(item))


def is_there(section, item, after, before):
    text = strip_tag(item, CARRIED, RESTORED)
    if any(is_duplicate(text, other) or item_key(text) in item_key(other) for other in after):
        return True
    if section is Section.FILES and not find_missing(find_paths(item), "\n".join(after)):
        return True  # its reference is what is protected
    return is_covered(text, after, "\n".join(f"- {line}" for line in before))  # what a name is, the old body says


@given(sections, st.lists(lines, max_size=6), rounds)
def test_protected_lines_are_there_after_every_round(section, first, updates):
    result = merge("", {section.value: {"op": "APPEND", "items": first}})
    for kind, items in updates:
        before = extract_items(result.document.bodies[section])
        waited = [line.text for line in result.parked[section]]
        result = merge(result.text, {section.value: make_update(kind, items)}, result.parked)
        after = everything(result, section)
        for item in before:
            if is_protected(section, item):
                assert is_there(section, item, after, before), (item, after)
        for text in waited:
            assert is_there(section, text, after, before), (text, after)


@given(sections, st.lists(lines, max_size=6), rounds)
def test_brought_lines_are_there_or_the_decision_names_them(section, first, updates):
    result = merge("", {section.value: {"op": "APPEND", "items": first}})
    for kind, items in updates:
        result = merge(result.text, {section.value: make_update(kind, items)}, result.parked)
        after = everything(result, section)
        decision = next(d for d in result.decisions if d.section is section)
        for item in items:
            if not item.strip() or is_sentinel(item) or is_placeholder(item) or find_section(item) is section:
                continue
            told = any(item.strip() in text or text in item for text in decision.skipped if text)
            said = not fresh_items([item], "\n".join(f"- {text}" for text in after)) or is_pointer(item)
            assert said or told or is_covered(item, after), (item, after, decision)


@given(sections, st.lists(st.integers(0, 60), min_size=1, max_size=4), st.booleans())
def test_growth_is_bounded_whatever_is_appended(section, counts, long):
    result, longest = merge("", None), 0
    for n, count in enumerate(counts):
        tail = "".join(f" remark{k}" for k in range(40)) if long else ""
        items = [f"entry {n}.{i} about shelf-{n}-{i}{tail}" for i in range(count)]
        result = merge(result.text, {section.value: {"op": "APPEND", "items": items}}, result.parked)
        size = measure(result.document.bodies[section])
        longest = max([longest, *map(estimate_tokens, items)])  # an earlier round's facts may wait and enter now
        last = APPEND_CAP if section is Section.FACTS else 0  # facts that may carry it over the stop line, once
        assert size.items <= STOP_ITEMS + last
        assert size.tokens <= STOP_TOKENS + last * longest + last
        waiting = {line.text for line in result.parked[section]}
        held = set(extract_items(result.document.bodies[section]))
        assert set(items) <= waiting | held


@given(sections, st.lists(lines, max_size=6), rounds)
def test_tags_of_code_stand_once_at_most(section, first, updates):
    result = merge("", {section.value: {"op": "APPEND", "items": first}})
    for kind, items in updates:
        result = merge(result.text, {section.value: make_update(kind, items)}, result.parked)
        for item in extract_items(result.document.bodies[section]):
            tags = [tag for tag in front_tags(item) if tag in (RESTORED, CARRIED)]
            assert len(tags) <= 1, item
