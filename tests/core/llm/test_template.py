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
