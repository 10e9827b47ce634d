"""The form of log lines: whatever an error's text quotes, secrets are out of it before it is written."""

import logging


class SafeFormatter(logging.Formatter):
    """Formats as its parent does and redacts the whole entry, traceback and all."""

    def format(self, record: logging.LogRecord) -> str:
        from core.redaction import redact  # its rules are read from disk: not before something is logged

        return redact(super().format(record))
