"""llama.cpp's model and context: tokens in, logits out, state in and out, an end at any moment.

Works on the native functions that llama-cpp-python binds, so that no logits pass through Python unless they are
asked for. Relies on one thread calling it; `abort` may come from any thread. Runs in the model process only.
"""

import ctypes
import math
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from llama_cpp import llama_cpp as native

from core.llm.sampling import Sampler
from core.llm.vocabulary import Vocabulary

BATCH_TOKENS = 512
PLAIN_UBATCH_TOKENS = 128  # computed at once without flash attention: as fast as 512, with a quarter of the memory
ABORTED = 2  # what llama_decode returns when the abort callback ended it


class LoadError(Exception):
    """llama.cpp refused the model or the context; its log says why."""


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
    """A loaded model with one context, which holds the state of `known` tokens, from position 0."""

    def __init__(self, path: Path, *, context_tokens: int, threads: int, batch_threads: int | None = None) -> None:
        native.llama_backend_init()
        model = native.llama_model_load_from_file(str(path).encode(), native.llama_model_default_params())
        if not model:
            raise LoadError("the model file")
        params = native.llama_context_default_params()
        params.n_ctx = min(context_tokens, native.llama_model_n_ctx_train(model) or context_tokens)
        params.n_batch = params.n_ubatch = BATCH_TOKENS
        params.n_threads, params.n_threads_batch = threads, batch_threads or threads
        params.no_perf = True
        # On a processor llama.cpp's flash attention is made for long reads: a message of some 35 tokens behind 2,000
        # known ones takes it 1.4 times as long, and each token written 1.15 times. Chats do little else.
        self.has_flash_attention = native.llama_supports_gpu_offload()
        if not self.has_flash_attention:
            params.flash_attn_type = native.LLAMA_FLASH_ATTN_TYPE_DISABLED
            params.n_ubatch = PLAIN_UBATCH_TOKENS
        context = native.llama_init_from_model(model, params)
        if not context:
            raise LoadError("the context")
        self._context = context
        self._memory = native.llama_get_memory(context)
        self.vocabulary = Vocabulary(model)
        self.context_tokens = native.llama_n_ctx(context)
        self.known: list[int] = []
        self.computing_since_s = 0.0  # on the monotonic clock; 0 while no native computation runs
        self._abort = _AbortFlag()
        native.llama_set_abort_callback(context, self._abort.callback, self._abort.data)

    def abort(self) -> None:
        """End the running computation within milliseconds."""
        self._abort.set(True)

    def clear_abort(self) -> None:
        """Let the next computation run."""
        self._abort.set(False)

    def rewind(self, length: int) -> int:
        """Forget all tokens from position `length` on; return how many are left (0 if the model cannot forget)."""
        if length < len(self.known) and not native.llama_memory_seq_rm(self._memory, 0, length, -1):
            native.llama_memory_clear(self._memory, True)
            length = 0
        del self.known[length:]
        return len(self.known)

    def decode(self, tokens: list[int]) -> bool:
        """Evaluate tokens after the known ones; return False if aborted, with the context as it was."""
        if self._abort.is_set:
            return False
        array = (native.llama_token * len(tokens))(*tokens)  # the batch only points to it
        self.computing_since_s = time.monotonic()
        code = native.llama_decode(self._context, native.llama_batch_get_one(array, len(tokens)))
        self.computing_since_s = 0.0
        if code == 0:
            self.known += tokens
            return True
        kept = len(self.known)
        if not native.llama_memory_seq_rm(self._memory, 0, kept, -1):  # what of the batch is in already
            native.llama_memory_clear(self._memory, True)
            self.known.clear()
        if code == ABORTED:
            return False
        raise RuntimeError(f"llama_decode returned {code} at {kept} of {self.context_tokens} tokens")

    def sample(self, sampler: Sampler) -> int:
        """Return the next token; the last one decoded must be the end of the answer so far."""
        return sampler.draw(self._context)

    def read_log_probabilities(self, tokens: Iterable[int]) -> dict[int, float]:
        """Return the natural logarithms of these tokens' probabilities as the next one."""
        logits = np.ctypeslib.as_array(native.llama_get_logits_ith(self._context, -1), (self.vocabulary.size,))
        highest = float(logits.max())
        log_total = highest + math.log(float(np.exp(logits - highest, dtype=np.float64).sum()))
        return {token: float(logits[token]) - log_total for token in tokens}

    def copy_out(self) -> memoryview:
        """Return a copy of the state of all known tokens."""
        size = native.llama_state_seq_get_size(self._context, 0)
        buffer = (ctypes.c_uint8 * size)()
        written = native.llama_state_seq_get_data(self._context, buffer, size, 0)
        return memoryview(buffer).cast("B")[:written]

    def copy_in(self, data: memoryview, tokens: list[int]) -> bool:
        """Replace the state; False, and an empty context, if it does not fit."""
        native.llama_memory_clear(self._memory, True)
        self.known.clear()
        buffer = (ctypes.c_uint8 * len(data)).from_buffer(data)
        if len(tokens) > self.context_tokens or not native.llama_state_seq_set_data(
            self._context, buffer, len(data), 0
        ):
            native.llama_memory_clear(self._memory, True)
            return False
        self.known += tokens
        return True
