"""A model's line: supported by what was said, no placeholder, no loop."""

import pytest

from core.text.evidence import check_evidence, is_degenerate, is_placeholder

TURNS = [
    "I moved the appointment with Dr. Castellanos to 14 May 2026.",
    "酒店订单号 SZ-5520，3 晚",
    "run tools/sync.py",
]


@pytest.mark.parametrize(
    "line",
    [
        "appointment with Castellanos on 2026-05-14",
        "订单 SZ-5520",
        "three nights",
        "stays 3 nights",
        "see sync script tools/sync.py",
    ],
)
def test_a_line_that_rests_on_the_turns_is_supported(line):
    assert check_evidence(line, TURNS).supported


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("Order number is SZ-5530", ("sz-5530",)),
        ("with Dr. Okonkwo on 15 May 2026", ("okonkwo", "2026-05-15")),
        ("tools/sync_all.py fails", ("tools/sync_all.py",)),
        ("stays 4 nights", ("4 night",)),
    ],
)
def test_what_nobody_said_is_named(line, missing):
    evidence = check_evidence(line, TURNS)
    assert not evidence.supported
    assert evidence.missing == missing


@pytest.mark.parametrize(
    "text", ["", " \n", "N/A", "- none", "TBD.", "同上", "无", "…", "---", "7", "(no change)", "なし", "- none\n- tbd"]
)
def test_placeholders(text):
    assert is_placeholder(text)
    assert is_degenerate(text)


@pytest.mark.parametrize(
    "text", ["none of the rooms is free", "7 rooms", "无锡", "TBD by Ana on Friday", "no change of address"]
)
def test_words_of_a_placeholder_inside_a_statement_are_content(text):
    assert not is_placeholder(text)


def test_a_sections_own_name_is_a_placeholder_there():
    assert is_placeholder("## Open Issues\n", "Open Issues")
    assert not is_placeholder("Open Issues", "Current State")


@pytest.mark.parametrize(
    "text",
    [
        "1.1.1.1.1.1.1.1.1.1",
        "- The user wants help.\n" * 4,
        '{"op": "UPDATE", "content": "x y z"}',
        "<think>I should",
        "so so so so so so so so",
        "the user is here " * 12,
        "好的好的好的好的好的",
    ],
)
def test_loops_and_echoes_are_degenerate(text):
    assert is_degenerate(text)


@pytest.mark.parametrize(
    "text",
    [
        "Waiting for the plumber; he comes on 3 June between 8 and 10.",
        "等装修队报价，预计下周三前有结果。",
        "- tea\n- tea towels\n- tea strainer\n- salt",
        "use a <section> element",
        "\n".join(f"- Customer {n} uses plan tier {n}" for n in range(40)),
        "".join(chr(0x4E00 + n * 7) for n in range(900)),
    ],
)
def test_ordinary_content_is_not(text):
    assert not is_degenerate(text)
