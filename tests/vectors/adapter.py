"""All adapters by mechanism: how a vector's input reaches the product, and its outcome the vector."""

import importlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from core.config import apply_environment, read_learning

Adapter = Callable[[dict[str, Any]], Any]


def _config_env(given: dict[str, Any]) -> dict[str, Any]:
    learning, warnings = apply_environment(read_learning(given["file"]), given["env"])
    return {"values": asdict(learning), "warnings": list(warnings)}


CONFIG_ADAPTERS: dict[str, Adapter] = {"config_env": _config_env}


def _collect() -> dict[str, Adapter]:
    adapters = dict(CONFIG_ADAPTERS)
    for room in ("text", "wm", "archivist", "statements"):
        try:
            module = importlib.import_module(f"tests.vectors.adapter_{room}")
        except ModuleNotFoundError:
            continue
        adapters |= next(value for name, value in vars(module).items() if name.endswith("_ADAPTERS"))
    return adapters


ADAPTERS = _collect()
