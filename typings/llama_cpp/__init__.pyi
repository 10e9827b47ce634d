"""What we use of llama-cpp-python 0.3: its wrapper (benchmarks only)."""

from collections.abc import Iterator
from typing import Any

__version__: str

class Llama:
    def __init__(
        self,
        model_path: str,
        *,
        n_ctx: int = 512,
        n_batch: int = 512,
        n_threads: int | None = None,
        n_threads_batch: int | None = None,
        seed: int = 0xFFFFFFFF,
        verbose: bool = True,
    ) -> None: ...
    def create_completion(
        self,
        prompt: str | list[int],
        *,
        max_tokens: int | None = 16,
        temperature: float = 0.8,
        top_p: float = 0.95,
        min_p: float = 0.05,
        top_k: int = 40,
        repeat_penalty: float = 1.0,
        seed: int | None = None,
        stream: bool = False,
    ) -> Iterator[dict[str, Any]]: ...
    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = False) -> list[int]: ...
    def reset(self) -> None: ...
    def close(self) -> None: ...
