"""Anchors: what a statement hangs on, in one form, and whether another statement still holds it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.anchors import Kind, coverage, find_anchors, is_covered, is_present, prepare

CASES = {
    "dates": ("on 2026-08-21, 21 August 2026, August 21st, 21.08.2026, 2026年8月21日", ["2026-08-21", "08-21"]),
    "month of a year": ("2026年8月 and August 2026", ["2026-08"]),
    "slash dates": ("21/08/2026 or 04/09/2026", ["2026-08-21", "04/09/2026"]),
    "other languages": (
        "am 3. Mai, le 14 juillet, 5 de marzo de 2026, 15 августа",
        ["05-03", "07-14", "2026-03-05", "08-15"],
    ),
    "times": ("4 PM, 4:00 pm, 16:00, 下午4点, 午後4時, 16 Uhr", ["16:00"]),
    "day parts": ("上午8:05，晚上12点，中午1点，下午三点半", ["08:05", "00:00", "13:00", "15:30"]),
    "points are no hours": ("有 3点", ["3"]),
    "money": (
        "$1,450 and 250 EUR and 1.250,50 € and USD 300 and 18000 元",
        ["1450 usd", "250 eur", "1250.5 eur", "300 usd", "18000 cny"],
    ),
    "ten thousands": ("３５ 万, 1.5亿", ["350000", "150000000"]),
    "units": ("5-day trip, 6 天, 240ms, 16GB, 20%, -5 °C", ["5 day", "6 day", "240 ms", "16 gb", "20%", "-5 °c"]),
    "stops are no digits": ("then $90. And 9090.", ["90 usd", "9090"]),
    "versions": ("v2.31.0 at 10.0.0.1", ["2.31.0", "10.0.0.1"]),
    "identifiers": (
        "B220 PAY-118 #381 snake_case kebab-case camelCase TLS C++ sha256:77ab DB_HOST=local a@b.org",
        [
            "b220",
            "pay-118",
            "#381",
            "snake_case",
            "kebab-case",
            "camelcase",
            "tls",
            "c++",
            "sha256:77ab",
            "db_host=local",
            "a@b.org",
        ],
    ),
    "back quotes": ("run `npm run build` on `8080`", ["npm run build", "8080"]),
    "references": ("see src/app.py and https://a.b/c", ["src/app.py", "https://a.b/c"]),
    "names": ("With Naomi Smith, O'Brien and Jean-Luc in New York", ["naomi smith", "o'brien", "jean-luc", "new york"]),
    "titles end no sentence": ("ask Dr. Okonkwo", ["okonkwo"]),
    "start of a sentence": ("Prefers tea. Always. I'm OK", []),
    "capitalised elsewhere": ("Naomi left. We miss Naomi", ["naomi"]),
    "whole item": ("- Alpha\n- Bravo", ["alpha", "bravo"]),
    "weekdays": ("never on Fridays", ["friday"]),
    "decisions": ("we decided; 因为便宜", ["decided", "因为", "便宜"]),
    "shouting": ("THIS IS ALL LOUD", []),
    "sentinel and tags": ("- [⚠ CONSOLIDATION REQUIRED: UPDATE]\n- [RESOLVED] fine", []),
}


@pytest.mark.parametrize(("text", "anchors"), CASES.values(), ids=CASES)
def test_canonical_forms(text, anchors):
    assert list(find_anchors(text).canonical) == anchors


def test_decision_words_and_cjk_terms_are_soft():
    found = find_anchors("决定 2026年4月17日 去京都")
    assert {a.kind for a in found.soft} == {Kind.DECISION, Kind.TERM}
    assert [a.text for a in found.hard] == ["2026-04-17"]


def test_a_name_at_the_start_is_known_by_its_context():
    assert find_anchors("Naomi left").canonical == ()
    assert find_anchors("Naomi left", context="we miss Naomi").canonical == ("naomi",)


@pytest.mark.parametrize(
    ("anchor", "text", "present"),
    [
        ("$1,450", "costs 1450", True),
        ("$1,450", "costs 1450 EUR", False),
        ("6 天", "6 days", True),
        ("30", "300", False),
        ("8月21日", "on 2026-08-21", True),
        ("2026-08-21", "on August 21", False),
        ("04/09/2026", "on 4 September 2026", True),
        ("04/09/2026", "on April 9, 2026", True),
        ("04/09/2026", "on 5 September 2026", False),
        ("4 PM", "下午4点", True),
        ("SZ-552", "SZ-5520", False),
        ("llama3", "llama3.2", False),
        ("billing-service", "the billing service", True),
        ("B220", "在B220室", True),
        ("`CI`", "decide", False),
        ("on Fridays", "every friday", True),
        ("src/a.py", "lib/src/a.py", True),
        ("去京都四条", "京都四条的酒店", True),
    ],
)
def test_presence(anchor, text, present):
    (found,) = find_anchors(anchor).all
    assert is_present(found, text) is present
    assert is_present(found, prepare(text)) is present


def test_coverage_is_the_share_of_old_anchors():
    old = "- Alpha\n- Bravo\n- Charlie\n- Delta"
    assert coverage(old, "we kept Alpha, Bravo and Charlie") == 0.75
    assert coverage("- nothing here", "x") is None
    assert coverage(old, old) == 1


@pytest.mark.parametrize(
    ("old", "new", "covered"),
    [
        (
            "Finish thesis draft before 2026-08-31, at most 80 pages",
            "Finish the thesis draft by 2026-08-31 (max 80 pages)",
            True,
        ),
        ("Naomi owns the billing-service repo", "Naomi owns billing-service; oncall rotates Naomi, Tomasz", True),
        ("Release train leaves every 2 weeks", "budget 5 EUR; release train every 2 weeks; staging", True),
        ("Never deploy on Fridays unless Naomi approves", "Deploy on Fridays after Naomi approves", False),
        ("Allergic to nuts and penicillin", "Allergic to nuts", False),
        ("Rent is 900 EUR", "Rent is 950 EUR", False),
        ("Enable backups of the archive", "Disable backups of the archive", False),
        ("不坐红眼航班", "坐红眼航班", False),
        ("预算 18000 元，不坐红眼航班", "预算 18000 元", False),
        ("预算 18000 元，不坐红眼航班", "不坐红眼航班；预算 18000 元以内", True),
    ],
)
def test_what_new_items_still_say(old, new, covered):
    assert is_covered(old, [new]) is covered


def test_an_item_is_covered_by_one_new_item_not_by_several():
    assert not is_covered("Ana likes tea and lemon", ["Ana likes tea", "lemon is sour"])


words = st.sampled_from(
    ["Naomi", "owns", "not", "2026-08-21", "5 days", "src/a.py", "B220", "不", "京都行程", ",", ".", "and", "`x y`"]
)


@given(st.lists(words, min_size=1, max_size=10).map(" ".join))
def test_a_text_holds_its_own_anchors(text):
    assert all(is_present(anchor, text) for anchor in find_anchors(text).all)
    assert coverage(text, text) in {None, 1.0}
    assert find_anchors(text) == find_anchors(text)


@given(st.text(max_size=200))
def test_any_text_is_read_without_trouble(text):
    found = find_anchors(text)
    assert len(set(found.all)) == len(found.all)
    is_covered(text, [text, "x"])


@pytest.mark.parametrize("text", ["it took 3 Mİ", "on 4 Aprıl 2026", "Aprİl 5", "12 ſt"])
def test_a_letter_that_only_looks_like_one_of_a_unit_or_month_is_read_without_trouble(text):
    anchors = find_anchors(text)
    assert not any(anchor.unit for anchor in anchors.all)
    assert {anchor.kind for anchor in anchors.all}.isdisjoint({Kind.DATE, Kind.PARTIAL_DATE})
