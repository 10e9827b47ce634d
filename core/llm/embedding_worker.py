"""The model process in its other role: texts in, vectors out. Started by `core.llm.worker` for `load_embedding`.

to the worker    load_embedding{model, threads}; then embed{id, texts}. End of stdin: stop.
from the worker  ready{dimension} or failed{reason}; embedded{id, vectors} in base64, or failed{reason} and the end
"""

import base64
import logging
from pathlib import Path
from typing import BinaryIO

import numpy as np
from llama_cpp import llama_cpp as native

from core.llm.frames import Frame, read_frame, write_frame

log = logging.getLogger(__name__)

MAX_TOKENS = 512  # of a text that are read; what models of this kind are trained for, and quick


class EmbeddingRunner:
    """A loaded model that makes vectors."""

    def __init__(self, path: Path, *, threads: int) -> None:
        """Raises ValueError if llama.cpp refuses the file."""
        native.llama_backend_init()
        model = native.llama_model_load_from_file(str(path).encode(), native.llama_model_default_params())
        if not model:
            raise ValueError("llama.cpp refuses the file")
        size = min(MAX_TOKENS, native.llama_model_n_ctx_train(model) or MAX_TOKENS)
        params = native.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = size
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        params.no_perf = True
        context = self._open(model, params)
        if native.llama_pooling_type(context) == native.LLAMA_POOLING_TYPE_NONE:  # the file says nothing: the mean
            native.llama_free(context)
            params.pooling_type = native.LLAMA_POOLING_TYPE_MEAN
            context = self._open(model, params)
        self._context, self._size = context, native.llama_n_ctx(context)
        self._vocabulary = native.llama_model_get_vocab(model)
        self.dimension = native.llama_model_n_embd(model)

    @staticmethod
    def _open(model: int, params: native.llama_context_params) -> int:
        context = native.llama_init_from_model(model, params)
        if not context:
            raise ValueError("there is not enough memory for it")
        return int(context)

    def embed(self, text: str) -> bytes:
        """Return a vector of length 1; a text counts with its first tokens only."""
        tokens = self._tokenize(text)
        memory = native.llama_get_memory(self._context)
        if memory:
            native.llama_memory_clear(memory, True)
        batch = native.llama_batch_init(len(tokens), 0, 1)
        try:
            batch.n_tokens = len(tokens)
            for i, token in enumerate(tokens):
                batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, i, 1
                batch.seq_id[i][0], batch.logits[i] = 0, 1
            code = native.llama_decode(self._context, batch)
        finally:
            native.llama_batch_free(batch)
        if code:
            raise RuntimeError(f"llama_decode returned {code}")
        found = native.llama_get_embeddings_seq(self._context, 0)
        if not found:
            raise RuntimeError("the model makes no vectors")
        vector = np.ctypeslib.as_array(found, (self.dimension,)).astype("<f4")
        length = float(np.linalg.norm(vector))
        return bytes((vector / length if length else vector).astype("<f4").tobytes())

    def _tokenize(self, text: str) -> list[int]:
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        tokens = (native.llama_token * room)()
        count = native.llama_tokenize(self._vocabulary, data, len(data), tokens, room, True, False)
        if count <= self._size:
            return tokens[: max(0, count)] or [native.llama_vocab_bos(self._vocabulary)]
        last = tokens[count - 1]  # a mark that ends the text, if the model wants one
        kept = tokens[: self._size]
        return [*kept[:-1], last] if native.llama_vocab_is_control(self._vocabulary, last) else kept


def serve(frame: Frame, incoming: BinaryIO, outgoing: BinaryIO) -> int:
    """Load the model and answer until stdin ends; return the exit code."""
    try:
        runner = EmbeddingRunner(Path(frame["model"]), threads=frame["threads"])
        write_frame(outgoing, {"op": "ready", "dimension": runner.dimension})
        while (request := read_frame(incoming)) is not None:
            vectors = [base64.b64encode(runner.embed(text)).decode("ascii") for text in request["texts"]]
            write_frame(outgoing, {"op": "embedded", "id": request["id"], "vectors": vectors})
    except Exception as error:
        log.exception("the embedding model failed")
        write_frame(outgoing, {"op": "failed", "reason": str(error) or type(error).__name__})
        return 1
    return 0
