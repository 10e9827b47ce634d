"""All adapters by mechanism: how a vector's input reaches the product, and its outcome the vector."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from core.config import apply_environment, read_learning
from tests.vectors.adapter_archivist import ARCHIVIST_ADAPTERS
from tests.vectors.adapter_librarian import LIBRARIAN_ADAPTERS
from tests.vectors.adapter_profile import PROFILE_ADAPTERS
from tests.vectors.adapter_recall import RECALL_ADAPTERS
from tests.vectors.adapter_recap import RECAP_ADAPTERS
from tests.vectors.adapter_statements import STATEMENT_ADAPTERS
from tests.vectors.adapter_text import TEXT_ADAPTERS
from tests.vectors.adapter_tree import TREE_ADAPTERS
from tests.vectors.adapter_wm import WM_ADAPTERS

Adapter = Callable[[dict[str, Any]], Any]


def _config_env(given: dict[str, Any]) -> dict[str, Any]:
    learning, warnings = apply_environment(read_learning(given["file"]), given["env"])
    return {"values": asdict(learning), "warnings": list(warnings)}


CONFIG_ADAPTERS: dict[str, Adapter] = {"config_env": _config_env}

ADAPTERS: dict[str, Adapter] = {
    **CONFIG_ADAPTERS,
    **TEXT_ADAPTERS,
    **WM_ADAPTERS,
    **ARCHIVIST_ADAPTERS,
    **STATEMENT_ADAPTERS,
    **PROFILE_ADAPTERS,
    **RECAP_ADAPTERS,
    **TREE_ADAPTERS,
    **RECALL_ADAPTERS,
    **LIBRARIAN_ADAPTERS,
}
