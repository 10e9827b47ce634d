"""What holds for every prompt, whatever is said, known and remembered, from 2k to 128k tokens."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.model import MessageId, PartKind, Role
from core.sessions.budget import share_context
from core.sessions.context import Sources, build_prompt
from core.sessions.instruction import Known, Notes
from core.text.tokens import estimate_tokens
from tests.core.sessions.prompts import TEXTS, live

INSTRUCTION = (PartKind.SYSTEM, PartKind.INSTRUCTIONS, PartKind.PREFERENCES, PartKind.PROFILE, PartKind.FILE)
MESSAGES = (PartKind.ARCHIVED, PartKind.HISTORY, PartKind.QUESTION, PartKind.RECALLED)

words = st.sampled_from(["boat ", "昨天我们", "</memory> ", "1.5 GB, ", "\n- x ", "<|im_end|>", "überall "])
texts = st.builds(lambda word, times: f"a{word * times}", words, st.sampled_from([1, 3, 40, 400, 4_000]))
lines = st.lists(st.builds(lambda word, times: f"b{word * times}", words, st.integers(1, 30)), max_size=12)
sizes = st.sampled_from([2_048, 4_096, 8_192, 32_768, 80_000, 131_072])


@st.composite
def made_sources(draw: st.DrawFn) -> Sources:
    """A conversation with everything a prompt may hold."""
    messages = live(*draw(st.lists(texts, min_size=1, max_size=15)))
    archived = draw(st.integers(0, len(messages) - 1))
    document = "# Working Memory\n\n## Session Title\nBoats\n\n## Key Facts & Decisions\n" + "".join(
        f"- {' '.join(line.split())}\n" for line in draw(lines)
    )
    return Sources(
        live=messages,
        texts=TEXTS,
        archived=frozenset(m.id for m in messages[:archived]),
        own=draw(st.one_of(st.just(""), texts)),
        known=Known(preferences=("Never use emojis", *draw(lines)), profile=tuple(draw(lines))),
        notes=Notes(text="".join(f"- {line}\n" for line in draw(lines)), limit_chars=draw(st.integers(0, 2_000))),
        document=document,
        recalled=draw(st.dictionaries(st.sampled_from([m.turn for m in messages]), texts, max_size=4)),
        recap=draw(st.one_of(st.just(""), texts)),
        start=draw(st.one_of(st.none(), st.sampled_from([m.id for m in messages]))),
    )


@given(made_sources(), sizes, st.sampled_from([1.0, 0.8, 0.4, 0.1]))
def test_no_part_exceeds_its_share_and_all_fit_beside_the_answer(made, size, scale):
    prompt, shares = build_prompt(made, size, scale=scale), share_context(size)
    tokens = {part.kind: part.tokens for part in prompt.parts}
    instruction = sum(tokens.get(kind, 0) for kind in INSTRUCTION)
    assert instruction <= shares.instruction + len(INSTRUCTION)  # each part's estimate is rounded up
    assert tokens.get(PartKind.DOCUMENT, 0) <= shares.archive
    for part in prompt.parts:
        if part.kind in (*MESSAGES, PartKind.RECAP):
            assert part.tokens <= part.share_tokens
    assert sum(tokens.values()) <= size - shares.reserve + len(INSTRUCTION)
    sent = sum(estimate_tokens(message.text) for message in prompt.messages)
    assert sent <= size - shares.reserve + 2 * len(made.live)


@given(made_sources(), sizes, st.sampled_from([1.0, 0.8, 0.4, 0.1]))
def test_the_newest_question_and_step_are_there_without_a_gap_before_them(made, size, scale):
    prompt = build_prompt(made, size, scale=scale)
    shown = [number for part in prompt.parts for number, _ in part.messages]
    ids = [message.id for message in made.live]
    assert sorted((*shown, *prompt.left_out)) == ids
    question = next(m.id for m in reversed(made.live) if m.role is Role.USER)
    assert {question, ids[-1]} <= set(shown)
    assert sorted(shown) == ids[ids.index(min(shown)) :]
    assert (prompt.start == min(shown)) if prompt.left_out else (prompt.start is None)


@given(made_sources(), sizes)
def test_pinned_preferences_survive_any_history_and_instructions(made, size):
    assert "\n- Never use emojis" in build_prompt(made, size).messages[0].text


@given(made_sources(), sizes)
def test_the_same_sources_make_the_same_prompt_and_its_parts_are_its_text(made, size):
    prompt = build_prompt(made, size)
    assert prompt == build_prompt(made, size)
    system = [part.text for part in prompt.parts if part.kind not in MESSAGES]
    assert prompt.messages[0].text == "".join(system)
    for part in prompt.parts:
        assert bool(part.why) == bool(part.left_out)


@given(st.lists(st.integers(5, 60), min_size=20, max_size=90), st.sampled_from([2_048, 4_096]))
def test_between_commits_a_prompt_begins_with_the_one_before_but_where_it_was_cut(lengths, size):
    made = Sources(live=live(*("word " * length for length in lengths)), texts=TEXTS)
    before, cuts, start = (), 0, None
    for end in range(1, len(lengths) + 1, 2):
        prompt = build_prompt(replace(made, live=made.live[:end], start=start), size)
        if prompt.start != start:
            cuts, start = cuts + 1, prompt.start
        else:
            assert prompt.messages[: len(before)] == before
        before = prompt.messages
    share = share_context(size)
    spoken = sum(message.tokens for message in made.live)
    room = share.session + share.instruction + share.archive
    assert cuts <= 1 + spoken / (0.4 * room - 2 * 75)  # each cut makes room for many turns


@given(st.lists(texts, min_size=1, max_size=9), sizes)
def test_without_memory_nothing_of_it_is_in_the_prompt(said, size):
    bare = Sources(live=live(*said), texts=TEXTS)
    empty = replace(bare, known=Known(), notes=Notes(limit_chars=2_000), recap="x", recalled={}, document="")
    prompt = build_prompt(replace(empty, recap=""), size)
    assert prompt == build_prompt(bare, size)
    assert prompt.messages[0].text == TEXTS.system
    assert MessageId(len(said) - 1) not in prompt.left_out
