"""From messages to the text a model was trained on: the model's own template, else ChatML.

The template comes with the model file, so it is foreign code: llama-cpp-python renders it with Jinja's immutable
sandbox. It is tried once when the model loads, since what templates do not support they refuse or leave out without a
word. Runs in the model process only.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

import jinja2
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from core.llm.port import ChatMessage
from core.llm.thinking import strip_thinking

log = logging.getLogger(__name__)

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
MISSING = "This model's file says nothing about how to talk to it (no chat template); its answers may be odd."
BROKEN = "This model's chat template is broken, so a common one is used; its answers may be odd."
_REFUSALS = (jinja2.TemplateError, ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError)
_TRIAL = (
    ChatMessage("system", "keepsake-trial-1"),
    ChatMessage("user", "keepsake-trial-2"),
    ChatMessage("assistant", "keepsake-trial-3"),
    ChatMessage("user", "keepsake-trial-4"),
)


class ChatTemplate:
    """Renders prompts that end where the answer begins."""

    def __init__(self, source: str | None, *, bos: str, eos: str) -> None:
        self._fallback = Jinja2ChatFormatter(CHATML, eos, bos)
        self._own: Jinja2ChatFormatter | None = None
        self._folds = False  # whether the template knows no system role, or drops its text
        self.note = "" if source else MISSING
        if not source:
            return
        try:
            own = Jinja2ChatFormatter(source, eos, bos)
        except _REFUSALS as error:
            log.warning("the model's chat template does not compile (%s); using ChatML", error)
            self.note = BROKEN
            return
        if _keeps_all(own, _TRIAL):
            self._own = own
        elif _keeps_all(own, fold_roles(_TRIAL)):
            self._own, self._folds = own, True
        else:
            log.warning("the model's chat template leaves out messages; using ChatML")
            self.note = BROKEN

    def render(self, messages: Sequence[ChatMessage], *, thinks: bool = True) -> str:
        """Return the prompt. Models that know no system role, or want roles to alternate, get them folded.

        Thoughts in earlier answers are left out. `thinks` False asks for an answer without one, where a template
        knows that wish. Raises ValueError if nothing can be made of the messages.
        """
        plain = [replace(m, text=strip_thinking(m.text)) if m.role == "assistant" else m for m in messages]
        folded = fold_roles(plain)
        shapes = [(self._own, folded if self._folds else plain), (self._own, folded), (self._fallback, plain)]
        for formatter, shape in shapes:
            if formatter is None:
                continue
            try:
                prompt = _render(formatter, shape, thinks=thinks)
            except _REFUSALS as error:
                log.warning("the chat template refused the messages: %s", error)
                continue
            if prompt.strip():
                return prompt
        raise ValueError("no template accepts these messages")


def _render(formatter: Jinja2ChatFormatter, messages: Sequence[ChatMessage], *, thinks: bool = True) -> str:
    given = [{"role": m.role, "content": m.text} for m in messages]
    return formatter(messages=given, enable_thinking=thinks).prompt


def _keeps_all(formatter: Jinja2ChatFormatter, messages: Sequence[ChatMessage]) -> bool:
    try:
        prompt = _render(formatter, messages)
    except _REFUSALS as error:
        log.info("the chat template refuses %s: %s", [m.role for m in messages], error)
        return False
    return all(line in prompt for m in messages for line in m.text.splitlines())


def fold_roles(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages with system text within the user's, and neighbours of one role joined."""
    folded: list[ChatMessage] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if folded and folded[-1].role == role:
            folded[-1] = ChatMessage(role, f"{folded[-1].text}\n\n{message.text}")
        else:
            folded.append(ChatMessage(role, message.text))
    return tuple(folded)
