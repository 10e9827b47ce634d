"""The prompt: order, what is recalled and where it stands, and that without memory it is as if there were none."""

from core.model import MessageId, Role, TurnId
from core.sessions.context import build_prompt
from core.storage.turns import LiveMessage
from core.text.tokens import estimate_tokens

BLOCK = "<recalled>\n- 2026-01-02, “Boats”, the user said:\n> I sail.\n</recalled>"


def live(*texts):
    """Messages of a conversation, the user's first."""
    return tuple(
        LiveMessage(
            id=MessageId(n),
            turn=TurnId(n // 2 + 1),
            role=Role.ASSISTANT if n % 2 else Role.USER,
            text=text,
            tokens=estimate_tokens(text),
        )
        for n, text in enumerate(texts)
    )


def build(messages, recalled=None, context_tokens=4096):
    options = {} if recalled is None else {"recalled": recalled}
    return build_prompt(messages, system_text="Be kind.", document="", context_tokens=context_tokens, **options)


def test_what_was_recalled_stands_before_its_question_and_not_in_the_system_text():
    prompt = build(live("Where do I sail?"), {TurnId(1): BLOCK})
    system, question = prompt.messages
    assert system.text == "Be kind."
    assert question.role == "user"
    assert question.text == f"{BLOCK}\n\nWhere do I sail?"


def test_a_block_stays_at_its_place_while_the_conversation_goes_on():
    first = build(live("Where do I sail?"), {TurnId(1): BLOCK}).messages
    later = build(live("Where do I sail?", "In Kiel.", "Thanks"), {TurnId(1): BLOCK}).messages
    assert later[: len(first)] == first
    assert BLOCK not in later[-1].text


def test_without_memory_the_prompt_is_the_same_byte_for_byte():
    messages = live("Where do I sail?", "I do not know.", "Oh")
    assert build(messages) == build(messages, {}) == build(messages, {TurnId(99): BLOCK})
    assert [m.text for m in build(messages).messages] == ["Be kind.", "Where do I sail?", "I do not know.", "Oh"]


def test_a_block_counts_towards_the_budget_and_yields_to_a_question_that_must_be_cut():
    long = "word " * 3_000
    prompt = build(live(long), {TurnId(1): BLOCK}, context_tokens=2048)
    assert prompt.truncated
    assert BLOCK not in prompt.messages[-1].text
    older = live("An older question", "An answer", "Where do I sail?")
    block = "x " * 4_000
    assert build(older, {TurnId(2): block}, context_tokens=2048).left_out
    assert not build(older, context_tokens=2048).left_out
