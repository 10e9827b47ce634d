"""Redaction of JSON values: keys that name a credential, and secrets inside any other text."""

import re
from typing import Any

from core.redaction.keywords import is_value
from core.redaction.redactor import redact
from core.redaction.spans import make_mark

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_CREDENTIALS = {
    "password": "password",
    "passwd": "password",
    "pwd": "password",
    "passphrase": "password",
    "secret": "secret",
    "apikey": "api_key",
    "authorization": "token",
    "cookie": "token",
    "credentials": "secret",
    "token": "token",
}
_PAGING = {"page", "next", "continuation"}
_KEYED = {"api", "access", "secret", "private", "client"}


def redact_json(value: Any) -> Any:
    """Return a JSON value of the same shape without secrets; numbers, booleans and null stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _redact_entry(str(key), item) for key, item in value.items()}
    return value


def _redact_entry(key: str, value: Any) -> Any:
    kind = find_credential(key)
    return _mask(value, kind) if kind else redact_json(value)


def _mask(value: Any, kind: str) -> Any:
    """Mask every text below a credential's key."""
    if isinstance(value, str):
        return make_mark(kind) if is_value(value) else value
    if isinstance(value, list):
        return [_mask(item, kind) for item in value]
    if isinstance(value, dict):
        return {key: _mask(item, kind) for key, item in value.items()}
    return value


def find_credential(key: str) -> str | None:
    """Return the kind of credential that a key names, by its last word; None where it names none."""
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return None
    before = words[-2] if len(words) > 1 else ""
    if words[-1] == "key" and before in _KEYED:
        return "api_key"
    if words[-1] == "token" and before in _PAGING:
        return None
    return _CREDENTIALS.get(words[-1])
