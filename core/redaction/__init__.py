"""Secrets out, once, before every sink but the chat transcript itself (archivist.md section 17)."""

from core.redaction.redactor import get_rules_version, hide_contacts, redact, redact_with_kinds
from core.redaction.structured import redact_json

__all__ = ["get_rules_version", "hide_contacts", "redact", "redact_json", "redact_with_kinds"]
