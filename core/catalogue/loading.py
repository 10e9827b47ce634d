"""May a model be loaded: is the file whole, is its kind known, is there memory for it. Asked before each load."""

from pathlib import Path

from core.catalogue.facts import read_facts
from core.catalogue.fit import check_fit
from core.catalogue.memory import read_free_bytes
from core.model_files import Fit


def check_load(path: Path, *, context_tokens: int, memory_check: bool = True) -> Fit:
    """Return how the model fits; raise `ModelFileError` in words, with the numbers, if a load must fail.

    Without `memory_check` a model that is too big is no reason.
    """
    return check_fit(read_facts(path), context_tokens, read_free_bytes() if memory_check else None)
