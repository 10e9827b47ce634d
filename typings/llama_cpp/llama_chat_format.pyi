"""What we use of llama-cpp-python's chat templates."""

from collections.abc import Sequence

class ChatFormatterResponse:
    prompt: str

class Jinja2ChatFormatter:
    def __init__(
        self, template: str, eos_token: str, bos_token: str, add_generation_prompt: bool = True
    ) -> None: ...
    def __call__(self, *, messages: Sequence[dict[str, str]], **kwargs: object) -> ChatFormatterResponse: ...
