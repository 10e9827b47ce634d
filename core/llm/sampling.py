"""How the next token is drawn: llama.cpp's samplers for a request. Runs in the model process only.

A grammar looks at every token of the vocabulary, which takes longer than a small model's computation. So the token is
drawn freely first, and only if the grammar refuses it, drawn again from those that it allows: what is drawn is the same
where the likeliest token is taken, and as probable otherwise.
"""

import ctypes

import numpy as np
from llama_cpp import llama_cpp as native

from core.llm.port import GenerationRequest, GrammarError
from core.llm.vocabulary import Vocabulary

PENALTY_WINDOW_TOKENS = 64
Candidates = np.ndarray[tuple[int], np.dtype[np.void]]
Logits = np.ndarray[tuple[int], np.dtype[np.float32]]
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Sampler:
    """The samplers of one answer; closed by whoever made it."""

    def __init__(self, request: GenerationRequest, vocabulary: Vocabulary) -> None:
        """Raises `GrammarError`."""
        self._form = 0
        if request.json_schema or request.grammar:
            self._form = vocabulary.grammars.make_sampler(json_schema=request.json_schema, grammar=request.grammar)
        self._chain = _make_chain(request, vocabulary.size)
        self._size = vocabulary.size

    def close(self) -> None:
        """Free what is native."""
        native.llama_sampler_free(self._chain)
        if self._form:
            native.llama_sampler_free(self._form)
        self._chain = self._form = 0

    def draw(self, context: int) -> int:
        """Return the next token, and remember it."""
        if not self._form:
            return native.llama_sampler_sample(self._chain, context, -1)
        logits = np.ctypeslib.as_array(native.llama_get_logits_ith(context, -1), (self._size,))
        token = self._draw_from(self._list_all(logits))
        one = np.array([(token, 0.0, 0.0)], dtype=_CANDIDATE)
        native.llama_sampler_apply(self._form, ctypes.byref(_wrap(one)))
        if np.isneginf(one["logit"][0]):
            allowed = self._list_all(logits)
            native.llama_sampler_apply(self._form, ctypes.byref(_wrap(allowed)))
            if np.isneginf(allowed["logit"].max()):
                raise GrammarError("the model has no token that fits it")
            token = self._draw_from(allowed)
        native.llama_sampler_accept(self._form, token)
        native.llama_sampler_accept(self._chain, token)
        return token

    def _draw_from(self, candidates: Candidates) -> int:
        array = _wrap(candidates)
        native.llama_sampler_apply(self._chain, ctypes.byref(array))
        token: int = array.data[array.selected].id
        return token

    def _list_all(self, logits: Logits) -> Candidates:
        candidates = np.zeros(self._size, dtype=_CANDIDATE)
        candidates["id"] = np.arange(self._size, dtype=np.int32)
        candidates["logit"] = logits
        return candidates


def _wrap(candidates: Candidates) -> native.llama_token_data_array:
    """Return llama.cpp's view of the candidates, which must outlive it."""
    data = candidates.ctypes.data_as(ctypes.POINTER(native.llama_token_data))
    return native.llama_token_data_array(data, candidates.size, -1, False)


def _make_chain(request: GenerationRequest, vocabulary_size: int) -> int:
    params = native.llama_sampler_chain_default_params()
    params.no_perf = True
    chain = native.llama_sampler_chain_init(params)

    def add(sampler: int) -> None:
        native.llama_sampler_chain_add(chain, sampler)

    if request.repeat_penalty != 1.0:
        add(
            native.llama_sampler_init_penalties(
                vocabulary_size, PENALTY_WINDOW_TOKENS, request.repeat_penalty, 0.0, 0.0
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
