"""Vectors of the statement rules: events and memory commands."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from core.profile.events import UserText, find_events
from core.redaction import redact
from core.text.orders import find_command


def event_extraction(given: dict[str, Any]) -> dict[str, Any]:
    messages = given["messages"]
    texts = [
        UserText(
            turn=number,
            text=redact(message["text"]),
            at=datetime.fromisoformat(message["at"]) if message.get("at") else None,
        )
        for number, message in enumerate(messages)
        if message.get("role", "user") == "user"
    ]
    return {
        "events": [
            {
                "kind": str(event.kind),
                "text": event.text,
                "polarity": "negative" if event.negative else "positive",
                "confidence": event.confidence,
                "subject": event.subject,
                "due": event.due,
                "source_turn_ids": [messages[turn]["id"] for turn in event.turns],
            }
            for event in find_events(texts)
        ]
    }


def memory_command(given: dict[str, Any]) -> dict[str, Any]:
    found = find_command(given["text"])
    if found is None:
        return {"command": None, "payload": None}
    return {"command": found.command, "payload": found.payload}


STATEMENT_ADAPTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "event_extraction": event_extraction,
    "memory_command": memory_command,
}
