"""Messages as quoted text for a prompt: labelled, shortened, and unable to speak as another role.

Pure. Stored text is data: what looks like a role label, a wrapper tag or a control token of a
chat template is written with look-alike signs, so that the words stay and the effect goes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.redaction import redact
from core.text.tokens import truncate_tokens

MAX_OUTPUT_TOKENS = 500  # of one tool's output

_ROLES = "system|user|assistant|tool|human|ai|developer|model|function|bot|系统|用户|助手"
_ROLE_LINE = re.compile(
    rf"^([ \t>*_#-]*[\[<(【]?[ \t]*(?:{_ROLES})[ \t]*[\])>】]?[*_ \t]*)[:：]", re.IGNORECASE | re.MULTILINE
)
_ROLE_HEADING = re.compile(rf"^([ \t]*)(#+)([ \t]*(?:{_ROLES})[ \t]*:?[ \t]*)$", re.IGNORECASE | re.MULTILINE)
_TAGS = (
    "conversation|current_working_memory|working_memory|new_messages|messages|message|parked|parked_list|"
    "section_size_warnings|recalled|recall|memory|profile|notes|earlier|document|turns|turn|quoted|instructions|"
    "instruction|"
    "system|user|assistant|tool|tool_call|tool_response|tool_output|think|thinking|reasoning|"
    "start_of_turn|end_of_turn|bos|eos|s|pad"
)
_TAG = re.compile(rf"<(\s*/?\s*(?:{_TAGS})(?:\s[^<>]*)?/?)>", re.IGNORECASE)
_TOKEN = re.compile(r"<([|｜][^<>\n]{0,80}?[|｜])>")
_INST = re.compile(r"\[(\s*/?\s*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\s*)\]")
_SYS = re.compile(r"<<(\s*/?\s*SYS\s*)>>", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Words of a message."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPart:
    """A tool that was used in a message, with what came back."""

    name: str
    output: str
    status: str = "completed"


def format_message(role: str, parts: Sequence[TextPart | ToolPart]) -> str:
    """Return one block for a prompt: role label, texts, tools with name, status and output."""
    blocks = [_format_part(part) for part in parts]
    return f"[{neutralise(role)}]: " + "\n".join(block for block in blocks if block)


def _format_part(part: TextPart | ToolPart) -> str:
    if isinstance(part, TextPart):
        return neutralise(redact(part.text))
    output = neutralise(truncate_tokens(redact(part.output), MAX_OUTPUT_TOKENS))
    name = neutralise(part.name.strip()) or "unnamed"
    return f"(tool {name}, {neutralise(part.status)}) {output}".rstrip()


def neutralise(text: str) -> str:
    """Return text that cannot close the prompt's blocks, speak as a role or start a turn."""
    text = _ROLE_LINE.sub(r"\1꞉", text)
    text = _ROLE_HEADING.sub(lambda match: match[1] + "＃" * len(match[2]) + match[3], text)
    text = _SYS.sub(r"‹‹\1››", _INST.sub(r"［\1］", text))
    return _TAG.sub(r"‹\1›", _TOKEN.sub(r"‹\1›", text))
