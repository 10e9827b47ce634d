"""Texts and updates as models and users write them, for property tests."""

from hypothesis import strategies as st

from core.model import Section

LINES = [
    "## Open Issues", "## Current State", "##Open Issues", "## Timeline ##", "## # #", "## ", "##", "# Title",
    "## 待办", "## C#", "   ## title:", "### Notes", "```", "~~~", "````", "  ```", "- ```", "```sh", "x```",
    "text", " - nested", "- item", "* item 2", "1. first", "1、第一", "", "   ", "_described_", "\u2028a", "## a\x0b",
    "- [⚠ CONSOLIDATION REQUIRED: x]", "- [restored] call Bea", "- [resolved] call Bea", "- call Bea",
]  # fmt: skip
STATEMENTS = [
    "call Bea", "[resolved] call Bea", "[restored] call Bea", "pay 240 EUR before 2026-05-03", "must bring photos",
    "[carried] must bring photos", "never deploy on Fridays", "deploy on Fridays", "src/pay/retry.py is slow",
    "docs/faq.md", "Naomi owns billing", "port is 6432", "port is 5432", "用户对花生过敏", "预算 18000 元", "none",
    "n/a", "7", "", "All previous facts still hold", "- nested\n- list", "two\nlines", "## Open Issues", "```\ncode",
    "```\ncode\n```", "wrong region eu-west-1", "~~fix the gutter~~", "Kyoto trip", "Kyoto hotel",
]  # fmt: skip

documents = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)
statements = st.sampled_from(STATEMENTS) | st.text(max_size=12)
lists = st.lists(statements, max_size=6)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | statements,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
operations = st.one_of(
    st.just({"op": "KEEP"}),
    st.builds(lambda items: {"op": "APPEND", "items": items}, lists),
    st.builds(lambda items: {"op": "UPDATE", "content": "\n".join(f"- {item}" for item in items)}, lists),
    st.builds(lambda text: {"op": "UPDATE", "content": text}, statements),
    st.builds(
        lambda op, value: {"op": op, "content": value, "items": value}, st.sampled_from(["update", 3]), json_values
    ),
    json_values,
)
names = st.sampled_from([section.value for section in Section]) | st.sampled_from(["待办", "## status", "Timeline"])
updates = st.dictionaries(names, operations, max_size=7) | json_values
sections = st.sampled_from(list(Section))
