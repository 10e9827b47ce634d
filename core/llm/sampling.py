"""How the next token is drawn: llama.cpp's chain of samplers for a request. Runs in the model process only."""

from llama_cpp import llama_cpp as native

from core.llm.port import GenerationRequest
from core.llm.vocabulary import Vocabulary

PENALTY_WINDOW_TOKENS = 64


def make_sampler(request: GenerationRequest, vocabulary: Vocabulary) -> int:
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
