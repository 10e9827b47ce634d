"""What can be stored of a text that came from outside."""

import re

from core.errors import MessageError

_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return what can be stored of a text: no NUL, no lone surrogates, line ends as LF.

    Raises `MessageError` when nothing but white space is left.
    """
    cleaned = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text.replace("\0", ""))
    cleaned = cleaned.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not cleaned.strip():
        raise MessageError("There is nothing to send yet: the message is empty.")
    return cleaned
