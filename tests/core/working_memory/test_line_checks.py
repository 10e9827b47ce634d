"""What a line of a model's needs to become memory: evidence, the user's word, and the right way round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import LineState, MemoryLine, Origin, Section, TurnId
from core.working_memory.line_checks import Sources
from tests.core.working_memory.scripted import document, make_material

SAID = (
    "Yeah, it does! The boiler was fixed by Mr Aydin for 240 euros.",
    "Not yet, but I'm sure I will have a garden one day. We never heat the attic.",
    "我们的猫不吃鱼，只吃鸡肉。暖气片不漏水。",
)


def check(line, section=Section.FACTS, **options):
    return Sources(make_material(*SAID, **options)).check(line, section)


@pytest.mark.parametrize(
    "line",
    [
        "Mr Aydin fixed the boiler for 240 euros",
        "The boiler is fixed",
        "They never heat the attic",
        "The attic is not heated",
        "猫不吃鱼",
        "暖气片不漏水",
    ],
)
def test_what_was_said_passes_in_other_words_too(line):
    verdict = check(line)
    assert verdict.passes
    assert verdict.turns


@pytest.mark.parametrize(
    "line",
    [
        "Mr Aydin fixed the boiler for 340 euros",
        "Mrs Okoye fixed the boiler",
        "The boiler plan is in docs/boiler.pdf",
        "The boiler was not fixed by Mr Aydin for 240 euros",
        "We heat the attic",
        "Not yet, but I'm sure I will not have a garden one day",
        "Yeah, it does not!",
        "猫吃鱼",
        "暖气片漏水",
        "1",
        "yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes",
    ],
)
def test_what_was_not_said_or_is_turned_round_does_not_pass(line):
    verdict = check(line)
    assert not verdict.passes
    assert verdict.reason


def test_line_of_the_document_passes_as_it_is():
    stored = document(FACTS="- The lease of Quill House ends on 2027-03-31")
    assert check("The lease of Quill House ends on 2027-03-31", stored=stored).passes


def test_reworded_line_of_the_document_keeps_its_turns():
    text = "The lease of Quill House ends on 2027-03-31"
    line = MemoryLine(text=text, origin=Origin.USER, state=LineState.KEPT, turns=(TurnId(77),))
    verdict = check(
        "Quill House: the lease ends on 31 March 2027",
        stored=document(FACTS=f"- {text}"),
        lines={Section.FACTS: (line,)},
    )
    assert (verdict.passes, verdict.turns) == (True, (TurnId(77),))


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4), st.sampled_from(list(Section)))
def test_any_line_is_judged_and_one_that_passes_has_evidence(line, said, section):
    verdict = Sources(make_material(*said, "so it is")).check(line, section)
    assert bool(verdict.reason) != verdict.passes
    assert not verdict.passes or verdict.turns
