"""Does a model go into the memory that is free: weights, keys and values for the context, buffers. Pure.

What llama.cpp takes, checked against the resident memory of the model process with the bundled model at several
contexts (tests/core/catalogue/test_fit_real.py): the weights once; keys and values of 16 bits for every token of
the context and layer; for a batch of 512 tokens the values of one layer and the mask over the context; the vocabulary's
tables; the process itself.
"""

from core.catalogue.facts import ModelFacts
from core.errors import ModelFileError
from core.model_files import Fit, FitVerdict, ModelKind

BATCH_TOKENS = 512  # that are read at once (core.llm.llama)
KV_BYTES = 2  # a value: f16
PROCESS_BYTES = 44 << 20  # Python, numpy and llama.cpp's libraries, measured
TOKEN_BYTES = 360  # of a vocabulary's tables for each token: its text, and the way back; measured
LEAST_LEFT_BYTES = 512 << 20  # for everything else; less than this, or than a tenth, is tight
CONTEXTS = (131_072, 65_536, 32_768, 16_384, 8192, 6144, 4096, 3072, 2048, 1024)  # that are offered, largest first
LEAST_CONTEXT_TOKENS = 1024
_NO_CACHE = ("mamba", "rwkv", "arwkv", "falcon-mamba")  # architectures whose state does not grow with the context


def estimate_bytes(facts: ModelFacts, context_tokens: int) -> int:
    """Return the resident memory of the model process with the whole context in use."""
    context = min(context_tokens, facts.context_tokens or context_tokens)
    batch = min(BATCH_TOKENS, context)
    layer = 2 * facts.feed_forward_size + 6 * facts.embedding_size
    buffers = batch * 4 * (layer + context)  # the mask has a value for each pair of token and place
    return (
        facts.weight_bytes
        + estimate_cache_bytes(facts, context)
        + buffers
        + facts.vocabulary * TOKEN_BYTES
        + PROCESS_BYTES
    )


def estimate_cache_bytes(facts: ModelFacts, context_tokens: int) -> int:
    """Return the memory of keys and values."""
    if facts.architecture.startswith(_NO_CACHE) or (facts.kind is ModelKind.EMBEDDING and "bert" in facts.architecture):
        return 0
    return facts.layers * context_tokens * facts.kv_heads * (facts.key_size + facts.value_size) * KV_BYTES


def judge_fit(facts: ModelFacts, context_tokens: int, free_bytes: int | None) -> Fit:
    """Return whether the model fits with a context, and which smaller one would if it does not."""
    wanted = min(context_tokens, facts.context_tokens or context_tokens)
    needed = estimate_bytes(facts, wanted)
    verdict = judge_bytes(needed, free_bytes)
    offered = None
    if verdict is FitVerdict.TOO_BIG and free_bytes is not None:
        offered = next((c for c in CONTEXTS if c < wanted and estimate_bytes(facts, c) <= free_bytes), None)
    return Fit(
        verdict=verdict,
        needed_bytes=needed,
        free_bytes=free_bytes,
        context_tokens=wanted,
        offered_context_tokens=offered,
        sentence=write_fit(verdict, needed, free_bytes, wanted, offered),
    )


def judge_bytes(needed_bytes: int, free_bytes: int | None) -> FitVerdict:
    """Return the verdict on a need for memory."""
    if free_bytes is None:
        return FitVerdict.UNKNOWN
    left = free_bytes - needed_bytes
    if left < 0:
        return FitVerdict.TOO_BIG
    return FitVerdict.TIGHT if left < max(LEAST_LEFT_BYTES, free_bytes // 10) else FitVerdict.FITS


def judge_least(least_bytes: int, context_tokens: int, free_bytes: int | None) -> Fit:
    """Return the fit of a model of which only the catalogue's figure is known."""
    verdict = judge_bytes(least_bytes, free_bytes)
    return Fit(
        verdict=verdict,
        needed_bytes=least_bytes,
        free_bytes=free_bytes,
        context_tokens=context_tokens,
        sentence=write_fit(verdict, least_bytes, free_bytes, context_tokens, None),
    )


def check_fit(facts: ModelFacts, context_tokens: int, free_bytes: int | None) -> Fit:
    """Return the fit; raise `ModelFileError` with the numbers if loading would fail."""
    fit = judge_fit(facts, context_tokens, free_bytes)
    if fit.verdict is FitVerdict.TOO_BIG:
        raise ModelFileError(
            f"{facts.name} was not loaded. {fit.sentence} Your conversations are not affected."
            + ("" if fit.offered_context_tokens else " Close other programs, or choose a smaller model.")
            + " To load it all the same, set memory_check = false under [models] in settings.toml."
        )
    return fit


def write_fit(
    verdict: FitVerdict, needed_bytes: int, free_bytes: int | None, context_tokens: int, offered_tokens: int | None
) -> str:
    """Return the fit in words."""
    need = f"needs about {write_bytes(needed_bytes)} with a context of {context_tokens:,} tokens"
    if free_bytes is None:
        return f"It {need}; how much memory is free, this system does not tell."
    free = write_bytes(free_bytes)
    match verdict:
        case FitVerdict.FITS:
            return f"Fits: it {need}, and {free} are free."
        case FitVerdict.TIGHT:
            return f"Tight: it {need}, and {free} are free, so other programs may become slow."
        case _:
            way = f" With a context of {offered_tokens:,} tokens it fits." if offered_tokens else ""
            return f"Too big: it {need}, and {free} are free.{way}"


def write_bytes(count: int) -> str:
    """Return a size as people write it, in powers of 1024."""
    size = float(max(0, count))
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    return f"{size:.1f} {unit}" if unit == "GB" else f"{size:.0f} {unit}"
