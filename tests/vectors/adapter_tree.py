"""Adapters from the memory tree's vectors to the product's functions (no logic of their own)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from core.archivist import tree
from core.model import Role


def _message(given: dict[str, Any]) -> tree.TreeMessage:
    return tree.TreeMessage(
        turn=given.get("turn", 0),
        role=Role(given["role"]),
        at=datetime.fromisoformat(given["at"]).timestamp() if "at" in given else 0.0,
        text=given["text"],
    )


def tree_input(given: dict[str, Any]) -> dict[str, Any]:
    messages = tree.prepare_input(list(map(_message, given["turns"])))
    return {"source_id": tree.SOURCE_ID, "texts": [message.text for message in messages]}


def tree_admission(given: dict[str, Any]) -> dict[str, Any]:
    return {"admit": tree.admits(list(map(_message, given["turns"])))}


def tree_chunking(given: dict[str, Any]) -> dict[str, Any]:
    chunks = tree.cut_chunks(list(map(_message, given["messages"])), given["max_tokens"])
    return {"chunks": [{"text": each.text, "turns": list(each.turns), "partial": each.partial} for each in chunks]}


def tree_seal(given: dict[str, Any]) -> dict[str, Any]:
    due = tree.is_due(given["level"], items=given["items"], tokens=given["tokens"], oldest_days=given["oldest_days"])
    return {"seal": due}


TREE_ADAPTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tree_input": tree_input,
    "tree_admission": tree_admission,
    "tree_chunking": tree_chunking,
    "tree_seal": tree_seal,
}
