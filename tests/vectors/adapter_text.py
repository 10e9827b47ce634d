"""Text and redaction: from a vector's input to the product's own functions and back."""

from collections.abc import Callable
from typing import Any

from core.redaction import redact, redact_json
from core.text.anchors import find_anchors, polarity
from core.text.evidence import check_evidence, is_degenerate
from core.text.items import extract_items
from core.text.language import detect_language
from core.text.markup import strip_tool_markup
from core.text.normal_form import fresh_items
from core.text.paths import find_paths
from core.text.tokens import estimate_tokens, truncate_tokens

Adapter = Callable[[dict[str, Any]], Any]


def _truncate_tokens(data: dict[str, Any]) -> Any:
    text = truncate_tokens(data["text"], data["max_tokens"])
    return {"text": text, "tokens": estimate_tokens(text)}


def _anchors(data: dict[str, Any]) -> Any:
    found = polarity(data["text"])
    return {
        "anchors": list(find_anchors(data["text"]).canonical),
        "negations": found.negations,
        "obligation": found.obligation,
    }


def _evidence_check(data: dict[str, Any]) -> Any:
    evidence = check_evidence(data["text"], data["turns"])
    return {"supported": evidence.supported, "missing": list(evidence.missing)}


TEXT_ADAPTERS: dict[str, Adapter] = {
    "estimate_tokens": lambda data: {"tokens": estimate_tokens(data["text"])},
    "truncate_tokens": _truncate_tokens,
    "extract_items": lambda data: {"items": list(extract_items(data["text"]))},
    "path_tokens": lambda data: {"tokens": list(find_paths(data["text"]))},
    "anchors": _anchors,
    "fresh_items": lambda data: {"items": list(fresh_items(data["new"], data["old"]))},
    "evidence_check": _evidence_check,
    "degeneration_check": lambda data: {
        "degenerate": is_degenerate(data["text"], data.get("section", "Current State"))
    },
    "redaction": lambda data: redact(data["text"]),
    "redaction_json": lambda data: redact_json(data["value"]),
    "tool_markup_strip": lambda data: strip_tool_markup(data["assistant_text"]),
    "detect_language": lambda data: {"language": detect_language(data["user_text"], data["fallback"])},
}
