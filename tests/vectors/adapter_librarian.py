"""Adapters from the librarian's vectors to the product's functions (no logic of their own)."""

from collections.abc import Callable
from typing import Any

from core.archivist.librarian import UserFile, build_prompt, resolve_tools


def librarian_prompt(given: dict[str, Any]) -> str:
    return build_prompt([UserFile(**file) for file in given["files"]], given["tools"], given["workspace"])


def librarian_tools(given: dict[str, Any]) -> dict[str, Any]:
    resolved = resolve_tools(given["registered"])
    return {"tools": list(resolved.tools), "missing": list(resolved.missing)}


LIBRARIAN_ADAPTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "librarian_prompt": librarian_prompt,
    "librarian_tools": librarian_tools,
}
