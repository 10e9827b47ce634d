"""Between text and a model's tokens. Thread-safe: the native vocabulary is only read.

Relies on llama.cpp through llama-cpp-python's ctypes layer; runs in the model process only.
"""

import codecs
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace

from llama_cpp import llama_cpp as native

from core.llm.grammars import Grammars
from core.llm.port import ChatMessage
from core.llm.template import ChatTemplate
from core.llm.thinking import opens_thought

WORD_JOINER = "\u2060"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPrompt:
    """A prompt's tokens, and whether it ends within a thought of the model."""

    tokens: list[int]
    opens_thought: bool


class Vocabulary:
    """A loaded model's tokenizer and chat template."""

    def __init__(self, model: int) -> None:
        self._vocab = native.llama_model_get_vocab(model)
        self.grammars = Grammars(self._vocab)
        self.size = native.llama_vocab_n_tokens(self._vocab)
        self._bos = self._piece_text(native.llama_vocab_bos(self._vocab))
        self._adds_bos = native.llama_vocab_get_add_bos(self._vocab)
        source = native.llama_model_chat_template(model, None)
        self._template = ChatTemplate(
            source.decode("utf-8", "replace") if source else None,
            bos=self._bos,
            eos=self._piece_text(native.llama_vocab_eos(self._vocab)),
        )

    def encode_prompt(self, messages: Sequence[ChatMessage], *, thinks: bool = True) -> EncodedPrompt:
        """Return the prompt that the messages make; `thinks` False asks the template for an answer without thought."""
        text = self._render(messages, thinks)
        return EncodedPrompt(tokens=self._encode_text(text), opens_thought=opens_thought(text))

    @property
    def template_note(self) -> str:
        """What is odd about the model's chat template, for the user; "" if nothing is."""
        return self._template.note

    def encode_choices(
        self, messages: Sequence[ChatMessage], choices: Sequence[str]
    ) -> tuple[list[int], list[tuple[int, ...]]]:
        """Return the tokens of the prompt, and of each choice as they follow it."""
        text = self._render(messages, False)
        prompt = self._encode_text(text)
        encoded = []
        for choice in choices:
            whole = self._encode_text(text + choice)
            # some vocabularies see a word's beginning otherwise when it follows nothing; few join it to the prompt
            joined = whole[: len(prompt)] != prompt
            alone = self._tokenize(choice, add_special=False, parse_special=False)
            encoded.append(tuple(alone if joined else whole[len(prompt) :]))
        return prompt, encoded

    def _render(self, messages: Sequence[ChatMessage], thinks: bool) -> str:
        return self._template.render([self._disarm(message) for message in messages], thinks=thinks)

    def _encode_text(self, prompt: str) -> list[int]:
        add_bos = self._adds_bos and not (self._bos and prompt.startswith(self._bos))
        return self._tokenize(prompt, add_special=add_bos, parse_special=True)

    def is_end(self, token: int) -> bool:
        """Tell whether the model ends its answer with this token."""
        return native.llama_vocab_is_eog(self._vocab, token)

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """Return the token's bytes, which need not be whole characters; control tokens are empty unless `special`."""
        if token < 0:
            return b""
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            length = native.llama_token_to_piece(self._vocab, token, buffer, room, 0, special)
            if length >= 0:
                return buffer.raw[:length]
            room = -length

    def _piece_text(self, token: int) -> str:
        return self.piece(token, special=True).decode("utf-8", "replace")

    def _tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        data = text.encode("utf-8", "replace")  # a lone surrogate becomes a question mark
        room = len(data) + 8
        tokens = (native.llama_token * room)()
        count = native.llama_tokenize(self._vocab, data, len(data), tokens, room, add_special, parse_special)
        if count < 0:
            raise ValueError(f"a text of {len(data)} bytes has more tokens than bytes")
        return tokens[:count]

    def _disarm(self, message: ChatMessage) -> ChatMessage:
        """Break control tokens that stand in the text itself: a quoted <|im_end|> must not end the message."""
        text = message.text
        if "<" not in text and "[" not in text:  # what the control tokens of all known vocabularies begin with
            return message
        tokens = self._tokenize(text, add_special=False, parse_special=True)
        for token in {t for t in tokens if native.llama_vocab_is_control(self._vocab, t)}:
            control = self._piece_text(token)
            text = text.replace(control, control[:1] + WORD_JOINER + control[1:])
        return message if text == message.text else replace(message, text=text)


class TextDecoder:
    """Joins the bytes of tokens to whole characters; bytes that make none are dropped."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def feed(self, data: bytes) -> str:
        """Return the characters that are whole by now."""
        return self._decoder.decode(data)
