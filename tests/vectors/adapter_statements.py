"""Vectors of the statement rules: events and memory commands."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from core.text.statements import find_command, find_statements


def event_extraction(given: dict[str, Any]) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    for message in given["messages"]:
        if message.get("role", "user") != "user":
            continue
        at = datetime.fromisoformat(message["at"]) if message.get("at") else None
        for statement in find_statements(message["text"], at=at):
            same = [e for e in events if (e["kind"], e["text"]) == (str(statement.kind), statement.text)]
            if same:
                same[0]["source_turn_ids"].append(message["id"])
                continue
            events.append(
                {
                    "kind": str(statement.kind),
                    "text": statement.text,
                    "polarity": "negative" if statement.negative else "positive",
                    "confidence": statement.confidence,
                    "subject": statement.subject,
                    "due": statement.due,
                    "source_turn_ids": [message["id"]],
                }
            )
    return {"events": events}


def memory_command(given: dict[str, Any]) -> dict[str, Any]:
    found = find_command(given["text"])
    if found is None:
        return {"command": None, "payload": None}
    return {"command": found.command, "payload": found.payload}


STATEMENT_ADAPTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "event_extraction": event_extraction,
    "memory_command": memory_command,
}
