"""The prompt of an update: document, parked lines and new messages as quoted data, the question last.

Pure. It costs at most half of the model's window (working-memory rule 17): the document and what waits
are shown in part if they must be, messages newest first and never with a gap; of those that do not fit
the lines that the heuristics found are shown, and the number is named. Everything up to the question is
the same for all questions about one archive, so that a model reads it once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.model import ParkedLine, Section
from core.redaction import redact
from core.text.tokens import estimate_tokens, truncate_tokens
from core.working_memory.bodies import item_texts
from core.working_memory.decisions import count
from core.working_memory.document import HEADING, Document, parse_document
from core.working_memory.material import Material, QuotedMessage
from core.working_memory.overview import fit_overview, make_reminders
from core.working_memory.prompts import fill, load_parts, name_language
from core.working_memory.quotes import TextPart, format_message, neutralise

NAME = "memory_update"
WINDOW_SHARE = 0.5  # of the model's window
QUESTION_TOKENS = 120  # what the longest question costs
_DOCUMENT_SHARE = 0.45  # of what is left after system text and question
_PARKED_SHARE = 0.1
_EARLIER_SHARE = 0.12
_ENDS_SHARE = 0.15
_END_CHARS = (160, 60)  # of the first and newest item of a section; the first width that fits is taken
_LEAST_MESSAGE_TOKENS = 24  # less of a message is not worth showing


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePrompt:
    """What all questions about one archive share."""

    system: str
    frame: str
    left_out: tuple[int, ...] = ()  # ids of messages that did not fit
    note: str = ""  # for the user, "" when all messages were shown


def build_update_prompt(material: Material, *, scale: float = 1.0) -> UpdatePrompt:
    """Build the shared part; `scale` below 1 makes it smaller, where the tokenizer counts more than the estimate."""
    parts = load_parts(NAME, material.language)
    system = fill(parts["system"], language=name_language(material.language))
    budget = int(material.context_tokens * WINDOW_SHARE * scale) - estimate_tokens(system) - QUESTION_TOKENS
    document = _show_document(material, int(budget * _DOCUMENT_SHARE))
    rest = [_show_parked(material, int(budget * _PARKED_SHARE)), _show_ends(material, int(budget * _ENDS_SHARE))]
    rest.append(make_reminders(material.document).text)
    used = sum(map(estimate_tokens, (document, *rest)))
    earlier_room = int(budget * _EARLIER_SHARE)
    shown, left_out = _fit_messages(material.messages, budget - used - earlier_room)
    rest.append(_show_earlier(material, left_out, earlier_room))
    frame = fill(
        parts["frame"],
        document=document or parts["empty"],
        rest="\n".join(part for part in rest if part),
        messages="\n".join(shown) or parts["empty"],
    )
    note = ""
    if left_out:
        note = (
            f"{count(len(left_out), 'older message')} did not fit into what the model can read; "
            "it saw what was noticed in them."
        )
    return UpdatePrompt(system=system, frame=frame, left_out=tuple(m.id for m in left_out), note=note)


def ask(prompt: UpdatePrompt, question: str) -> str:
    """Return the user's message: the shared part, then the question."""
    return f"{prompt.frame}\n\n{question}"


def _show_document(material: Material, max_tokens: int) -> str:
    if not any(parse_document(material.document).bodies.values()):
        return ""
    shown = fit_overview(redact(material.document), max(max_tokens, 0)).text
    return neutralise(shown.removeprefix(HEADING).strip())


def _show_parked(material: Material, max_tokens: int) -> str:
    """Lines that wait, those of each section in turn, while they fit."""
    queues: list[tuple[Section, list[ParkedLine]]] = [
        (section, list(material.parked.get(section, ()))) for section in Section
    ]
    lines: list[str] = []
    cost = 0
    while any(queue for _, queue in queues):
        for section, queue in queues:
            if not queue:
                continue
            line = queue.pop(0)
            text = f"- {section.value}: {neutralise(redact(line.text))} ({line.reason})"
            cost += estimate_tokens(text) + 1
            if cost > max_tokens:
                return _part(material, "parked", lines)
            lines.append(text)
    return _part(material, "parked", lines)


def _show_ends(material: Material, max_tokens: int) -> str:
    """First and newest item of each section: the prompt may have to show the rest in part."""
    document: Document = parse_document(material.document)
    ends = [(section, items) for section, body in document.bodies.items() if len(items := item_texts(body)) > 1]
    for width in _END_CHARS:
        lines = [
            f"- {section.value}: {_short(items[0], width)} … {_short(items[-1], width)}" for section, items in ends
        ]
        if sum(map(estimate_tokens, lines)) <= max_tokens:
            return _part(material, "ends", lines)
    return ""


def _short(text: str, width: int) -> str:
    line = " ".join(neutralise(redact(text)).split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _fit_messages(messages: Sequence[QuotedMessage], max_tokens: int) -> tuple[list[str], list[QuotedMessage]]:
    """The newest messages that fit as blocks, in order, and the older ones that do not.

    The newest is always shown, in part if it must be.
    """
    shown: list[str] = []
    left = max_tokens
    for i in range(len(messages) - 1, -1, -1):
        block = format_message(messages[i].role, [TextPart(text=messages[i].text)])
        cost = estimate_tokens(block) + 1
        if cost > left:
            if not shown and left >= _LEAST_MESSAGE_TOKENS:
                shown.append(truncate_tokens(block, left))
                i -= 1
            return shown[::-1], list(messages[: i + 1])
        shown.append(block)
        left -= cost
    return shown[::-1], []


def _show_earlier(material: Material, left_out: Sequence[QuotedMessage], max_tokens: int) -> str:
    """What the heuristics noticed in the messages that do not fit."""
    turns = {message.turn for message in left_out}
    lines: list[str] = []
    cost = 0
    for proposal in material.proposals:
        if turns.isdisjoint(proposal.turns):
            continue
        line = f"- {neutralise(redact(proposal.text))}"
        cost += estimate_tokens(line) + 1
        if cost > max_tokens:
            break
        lines.append(line)
    if not left_out:
        return ""
    return fill(
        load_parts(NAME, material.language)["earlier"], count=str(len(left_out)), lines="\n".join(lines) or "- …"
    )


def _part(material: Material, name: str, lines: Sequence[str]) -> str:
    return fill(load_parts(NAME, material.language)[name], lines="\n".join(lines)) if lines else ""
