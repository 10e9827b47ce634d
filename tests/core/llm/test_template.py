"""Chat templates are foreign code from a model file: used as they are, doubted, and replaced when they fail."""

import pytest

pytest.importorskip("llama_cpp")

from core.llm.port import ChatMessage
from core.llm.template import ChatTemplate, fold_roles

SYSTEM, USER, REPLY = ChatMessage("system", "Be brief."), ChatMessage("user", "Hi"), ChatMessage("assistant", "Yes?")
CHATML = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"

STRICT = """{% for m in messages %}{% if m.role == 'system' or (m.role == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('roles must alternate user/assistant') }}{% endif %}[{{ m.role }}]{{ m.content }}{% endfor %}"""


def render(source, *messages):
    return ChatTemplate(source, bos="<s>", eos="</s>").render(messages)


def test_a_models_own_template_is_used():
    assert render("{{ bos_token }}{% for m in messages %}({{ m.content }}){% endfor %}", SYSTEM, USER) == (
        "<s>(Be brief.)(Hi)"
    )


@pytest.mark.parametrize("source", [None, "", "{% for m in messages %}", "{{ nothing.at.all }}"])
def test_without_a_template_that_works_it_is_chatml(source):
    assert render(source, SYSTEM, USER) == CHATML


def test_a_template_that_wants_alternating_roles_gets_them_and_loses_no_text():
    prompt = render(STRICT, SYSTEM, USER, USER, REPLY, USER)
    assert prompt.split() == ["[user]Be", "brief.", "Hi", "Hi[assistant]Yes?[user]Hi"]


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ raise_exception.__globals__ }}",
    ],
)
def test_a_template_cannot_reach_out_of_its_sandbox(source):
    assert render(source, SYSTEM, USER) == CHATML


def test_folding_keeps_order_and_text():
    assert fold_roles([SYSTEM, USER, REPLY, REPLY]) == (
        ChatMessage("user", "Be brief.\n\nHi"),
        ChatMessage("assistant", "Yes?\n\nYes?"),
    )


SENTINEL = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
NO_SYSTEM = "{% for m in messages if m.role != 'system' %}[{{ m.role }}]{{ m.content }}{% endfor %}"
THINKS = SENTINEL + "[assistant]{% if enable_thinking %}<think>\n{% endif %}"


def test_a_template_that_drops_the_system_text_without_a_word_gets_it_with_the_users():
    assert render(NO_SYSTEM, SYSTEM, USER) == "[user]Be brief.\n\nHi"


def test_a_template_that_drops_other_messages_is_not_trusted():
    template = ChatTemplate("[last]{{ messages[-1].content }}", bos="", eos="")
    assert template.render([SYSTEM, USER]) == CHATML
    assert "broken" in template.note


@pytest.mark.parametrize(("source", "said"), [(None, "no chat template"), ("{% for %}", "broken"), (SENTINEL, "")])
def test_what_is_odd_about_a_template_is_said(source, said):
    note = ChatTemplate(source, bos="", eos="").note
    assert said in note
    assert bool(note) is bool(said)


def test_earlier_thoughts_are_not_sent_again():
    thought = ChatMessage("assistant", "<think>secret</think>Yes?")
    assert render(SENTINEL, USER, thought, USER) == "[user]Hi[assistant]Yes?[user]Hi"


def test_a_thought_is_asked_for_only_where_it_is_wanted():
    template = ChatTemplate(THINKS, bos="", eos="")
    assert template.render([USER]).endswith("<think>\n")
    assert template.render([USER], thinks=False).endswith("[assistant]")
