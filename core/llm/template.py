"""From messages to the text a model was trained on: the model's own template, else ChatML.

The template comes with the model file, so it is foreign code: llama-cpp-python renders it with Jinja's immutable
sandbox. Runs in the model process only.
"""

import logging
from collections.abc import Sequence

import jinja2
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from core.llm.port import ChatMessage

log = logging.getLogger(__name__)

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class ChatTemplate:
    """Renders prompts that end where the answer begins."""

    def __init__(self, source: str | None, *, bos: str, eos: str) -> None:
        self._fallback = Jinja2ChatFormatter(CHATML, eos, bos)
        self._own = self._fallback
        if source:
            try:
                self._own = Jinja2ChatFormatter(source, eos, bos)
            except jinja2.TemplateError as error:
                log.warning("the model's chat template does not compile (%s); using ChatML", error)

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """Return the prompt. Models that know no system role, or want roles to alternate, get them folded."""
        for formatter, shape in ((self._own, messages), (self._own, fold_roles(messages)), (self._fallback, messages)):
            try:
                prompt = formatter(messages=[{"role": m.role, "content": m.text} for m in shape]).prompt
            except (jinja2.TemplateError, ValueError, TypeError) as error:
                log.warning("the chat template refused the messages: %s", error)
                continue
            if prompt.strip():
                return prompt
        raise ValueError("no template accepts these messages")


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
