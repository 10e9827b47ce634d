"""A first document that a model wrote as Markdown: its sections as operations.

Pure. The preamble is dropped; where a model used other headings than level two (one hash, three, bold),
known names count all the same. What comes out is checked and guarded like any other update.
"""

import re
from collections.abc import Mapping

from core.model import Section
from core.working_memory.document import find_section, is_working_memory, parse_document
from core.working_memory.fences import mark_fenced
from core.working_memory.operations import Keep, Operation, read_operation

_OTHER_HEADING = re.compile(r" {0,3}(?:#|#{3,6}|(\*\*|__))[ \t]*(?P<name>[^#\n]+?)[ \t]*(?(1)\1)[ \t]*[:：]?[ \t]*#*$")


def read_created(text: str) -> Mapping[Section, Operation]:
    """Return an UPDATE for each section that the text fills; none for a text without any known header."""
    if not is_working_memory(text):
        text = _repair_headers(text)
        if not is_working_memory(text):
            return {}
    bodies = parse_document(text).bodies
    operations = {
        section: read_operation({"op": "UPDATE", "content": body}, section).operation
        for section, body in bodies.items()
        if body
    }
    return {section: operation for section, operation in operations.items() if not isinstance(operation, Keep)}


def _repair_headers(text: str) -> str:
    """Write headings of other levels that name a section as level two."""
    lines = text.split("\n")
    for i, fenced in enumerate(mark_fenced(lines)):
        found = None if fenced else _OTHER_HEADING.match(lines[i])
        section = find_section(found["name"].strip("*_: ：")) if found else None
        if section is not None:
            lines[i] = f"## {section.value}"
    return "\n".join(lines)
