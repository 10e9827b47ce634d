"""llama.cpp's generation loop: prompts in batches, the common prefix kept, an end at any moment.

Works on the native functions that llama-cpp-python binds, so that no logits pass through Python. Relies on one
thread calling `generate`; `abort` may come from any thread. Runs in the model process only.
"""

import ctypes
import itertools
import math
import sys
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from llama_cpp import llama_cpp as native

from core.llm.choices import Tokens, list_questions, score_choices
from core.llm.port import (
    ChoiceRequest,
    ChoiceScores,
    FinishReason,
    GenerationEnd,
    GenerationRequest,
    PromptTooLongError,
)
from core.llm.vocabulary import TextDecoder, Vocabulary

BATCH_TOKENS = 512
ANSWER_ROOM_TOKENS = 64  # what a prompt must leave for the answer, unless fewer are asked for
PENALTY_WINDOW_TOKENS = 64
ABORTED = 2  # what llama_decode returns when the abort callback ended it


class LoadError(Exception):
    """llama.cpp refused the model or the context; its log says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    prompt: int
    reused: int
    prompt_s: float
    started_s: float  # when the answer began, on the performance counter


class _AbortFlag:
    """A byte that ends the native computation when it is set.

    llama.cpp asks its abort callback some 600 times a token; a Python function there costs several per cent. So the
    callback is the C library's `strlen` over this byte and a zero: 0 (go on) or 1 (abort).
    """

    def __init__(self) -> None:
        library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
        address = ctypes.cast(library.strlen, ctypes.c_void_p).value
        if address is None:
            raise LoadError("the C library has no strlen")
        self.callback = native.ggml_abort_callback(address)
        self._byte = (ctypes.c_ubyte * 2)()
        self.data = ctypes.addressof(self._byte)

    @property
    def is_set(self) -> bool:
        return self._byte[0] != 0

    def set(self, value: bool) -> None:
        self._byte[0] = 1 if value else 0


class LlamaRunner:
    """A loaded model with one context, which keeps the tokens of the last request."""

    def __init__(self, path: Path, *, context_tokens: int, threads: int) -> None:
        native.llama_backend_init()
        model = native.llama_model_load_from_file(str(path).encode(), native.llama_model_default_params())
        if not model:
            raise LoadError("the model file")
        params = native.llama_context_default_params()
        params.n_ctx = min(context_tokens, native.llama_model_n_ctx_train(model) or context_tokens)
        params.n_batch = params.n_ubatch = BATCH_TOKENS
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        context = native.llama_init_from_model(model, params)
        if not context:
            raise LoadError("the context")
        self._context = context
        self._memory = native.llama_get_memory(context)
        self.vocabulary = Vocabulary(model)
        self.context_tokens = native.llama_n_ctx(context)
        self._known: list[int] = []  # the tokens whose state is in the context, from position 0
        self._abort = _AbortFlag()
        native.llama_set_abort_callback(context, self._abort.callback, self._abort.data)

    def abort(self) -> None:
        """End the running `generate` within milliseconds, whatever it is doing."""
        self._abort.set(True)

    def clear_abort(self) -> None:
        """Let the next `generate` run."""
        self._abort.set(False)

    def generate(
        self, request: GenerationRequest, on_reading: Callable[[int, int], None]
    ) -> Generator[str, None, GenerationEnd]:
        """Yield the answer's text as it comes; return its end.

        `on_reading(known, prompt_tokens)` is called before each batch of the prompt.
        """
        started = time.perf_counter()
        prompt = self.vocabulary.encode_prompt(request.messages)
        limit = self.context_tokens - max(1, min(request.max_tokens, ANSWER_ROOM_TOKENS))
        if len(prompt) > limit:
            raise PromptTooLongError(prompt_tokens=len(prompt), limit_tokens=limit)
        sampler = _make_sampler(request, self.vocabulary)
        try:
            reused = self._keep_prefix(prompt)
            whole = self._read(prompt, on_reading)
            now = time.perf_counter()
            counts = _Counts(prompt=len(prompt), reused=reused, prompt_s=now - started, started_s=now)
            if not whole:
                return self._end("cancelled", counts, 0)
            return (yield from self._write(request.max_tokens, sampler, counts))
        finally:
            native.llama_sampler_free(sampler)

    def choose(self, request: ChoiceRequest, on_reading: Callable[[int, int], None]) -> ChoiceScores | None:
        """Return the choices' probabilities, or None if aborted. The context keeps the prompt alone."""
        started = time.perf_counter()
        prompt, choices = self.vocabulary.encode_choices(request.messages, request.choices)
        if len(set(choices)) < max(2, len(choices)) or not all(choices):
            raise ValueError("choices must be two or more, different, and not empty")
        limit = self.context_tokens - max(map(len, choices))
        if len(prompt) > limit:
            raise PromptTooLongError(prompt_tokens=len(prompt), limit_tokens=limit)
        reused = self._keep_prefix(prompt)
        if not self._read(prompt, on_reading):
            return None
        prompt_s = time.perf_counter() - started
        asked: dict[Tokens, dict[int, float]] = {}
        for beginning in list_questions(choices):
            if beginning:
                self._rewind(len(prompt) + len(beginning) - 1)
                if len(self._known) < len(prompt) + len(beginning) - 1:
                    raise RuntimeError("this model cannot go back within its context")
                if not self._decode([beginning[-1]]):
                    return None
            asked[beginning] = self._next_log_probabilities(beginning, choices)
        self._rewind(len(prompt))
        probabilities = score_choices(choices, asked)
        return ChoiceScores(
            probabilities=probabilities, prompt_tokens=len(prompt), reused_tokens=reused, prompt_s=prompt_s
        )

    def _next_log_probabilities(self, beginning: Tokens, choices: Sequence[Tokens]) -> dict[int, float]:
        logits = np.ctypeslib.as_array(native.llama_get_logits_ith(self._context, -1), (self.vocabulary.size,))
        highest = float(logits.max())
        log_total = highest + math.log(float(np.exp(logits - highest, dtype=np.float64).sum()))
        length = len(beginning)
        following = {c[length] for c in choices if len(c) > length and c[:length] == beginning}
        return {token: float(logits[token]) - log_total for token in following}

    def _keep_prefix(self, prompt: list[int]) -> int:
        """Drop from the context what is not the prompt's beginning; return how many tokens stay.

        The last token is always read again: its logits begin the answer.
        """
        common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(self._known, prompt)))  # noqa: B905
        return self._rewind(min(common, len(prompt) - 1))

    def _rewind(self, length: int) -> int:
        """Forget all tokens from position `length` on; return how many are left (0 if the model cannot forget)."""
        if not native.llama_memory_seq_rm(self._memory, 0, length, -1):
            native.llama_memory_clear(self._memory, True)
            length = 0
        del self._known[length:]
        return length

    def _decode(self, tokens: list[int]) -> bool:
        """Evaluate tokens after the known ones; return False if aborted, with the context as it was."""
        array = (native.llama_token * len(tokens))(*tokens)  # the batch only points to it
        code = native.llama_decode(self._context, native.llama_batch_get_one(array, len(tokens)))
        if code == 0:
            self._known += tokens
            return True
        self._rewind(len(self._known))
        if code == ABORTED:
            return False
        raise RuntimeError(f"llama_decode returned {code} at {len(self._known)} of {self.context_tokens} tokens")

    def _read(self, prompt: list[int], on_reading: Callable[[int, int], None]) -> bool:
        """Evaluate the rest of the prompt; return False if aborted."""
        while len(self._known) < len(prompt):
            on_reading(len(self._known), len(prompt))
            at = len(self._known)
            if self._abort.is_set or not self._decode(prompt[at : at + BATCH_TOKENS]):
                return False
        return True

    def _write(self, max_tokens: int, sampler: int, counts: _Counts) -> Generator[str, None, GenerationEnd]:
        decoder = TextDecoder()
        new = 0
        while not self._abort.is_set:
            if new >= max_tokens or len(self._known) >= self.context_tokens:
                return self._end("length", counts, new)
            token = native.llama_sampler_sample(sampler, self._context, -1)
            if self.vocabulary.is_end(token):
                return self._end("stop", counts, new)
            new += 1
            if text := decoder.feed(self.vocabulary.piece(token)):
                yield text
            if new < max_tokens and not self._decode([token]):
                break
        return self._end("cancelled", counts, new)

    def _end(self, reason: FinishReason, counts: _Counts, new: int) -> GenerationEnd:
        return GenerationEnd(
            finish_reason=reason,
            prompt_tokens=counts.prompt,
            reused_tokens=counts.reused,
            new_tokens=new,
            prompt_s=counts.prompt_s,
            generation_s=time.perf_counter() - counts.started_s,
            context_used_tokens=len(self._known),
        )


def _make_sampler(request: GenerationRequest, vocabulary: Vocabulary) -> int:
    """Return a sampler chain; the caller frees it. Raises `GrammarError`."""
    form = 0
    if request.json_schema or request.grammar:
        form = vocabulary.grammars.make_sampler(json_schema=request.json_schema, grammar=request.grammar)
    params = native.llama_sampler_chain_default_params()
    params.no_perf = True
    chain = native.llama_sampler_chain_init(params)

    def add(sampler: int) -> None:
        native.llama_sampler_chain_add(chain, sampler)

    if form:
        add(form)
    if request.repeat_penalty != 1.0:
        add(
            native.llama_sampler_init_penalties(
                vocabulary.size, PENALTY_WINDOW_TOKENS, request.repeat_penalty, 0.0, 0.0
            )
        )
    if request.temperature <= 0:
        add(native.llama_sampler_init_greedy())
        return chain
    add(native.llama_sampler_init_top_k(request.top_k))
    add(native.llama_sampler_init_top_p(request.top_p, 1))
    add(native.llama_sampler_init_min_p(request.min_p, 1))
    add(native.llama_sampler_init_temp(request.temperature))
    add(
        native.llama_sampler_init_dist(native.LLAMA_DEFAULT_SEED if request.seed is None else request.seed & 0xFFFFFFFF)
    )
    return chain
