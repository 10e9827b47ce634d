"""The prompt: what of a conversation goes to the model, in an order that keeps its prefix stable.

Static system text and what is known of the user, then the Working Memory (which changes only at a
commit), then the live messages, append-only (DESIGN.md section 6). What does not fit is left out
whole, oldest first, and reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.llm.port import ChatMessage
from core.model import MessageId, Role, Section, TurnId
from core.paths import find_resources
from core.sessions.budget import Shares, fit_messages, share_context
from core.sessions.turns import LiveMessage as Fitted
from core.storage.turns import LiveMessage
from core.text.tokens import estimate_tokens, truncate_tokens
from core.working_memory.document import Document, parse_document
from core.working_memory.overview import fit_overview

Recalled = Mapping[TurnId, str]  # what of earlier conversations stands before a turn's question
NOTHING_RECALLED: Recalled = {}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the user: what the lines are, in words, and the lines."""

    heading: str
    lines: tuple[str, ...]


NOTHING_KNOWN = Known("", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is sent, and what was left out of it."""

    messages: tuple[ChatMessage, ...]
    left_out: tuple[MessageId, ...]
    truncated: tuple[MessageId, ...]

    @property
    def note(self) -> str:
        """What the user should know about this prompt, "" when nothing was cut."""
        if self.truncated:
            return "The message is longer than the model can read at once; it saw the beginning and the end."
        return ""


def load_system_text(language: str) -> str:
    """Return the static system text for a conversation's language; English where there is none."""
    folder = find_resources() / "prompts"
    file = folder / f"chat.{language.split('-')[0]}.md"
    return (file if file.exists() else folder / "chat.en.md").read_text(encoding="utf-8").strip()


def build_prompt(
    live: Sequence[LiveMessage],
    *,
    system_text: str,
    document: str,
    context_tokens: int,
    scale: float = 1.0,
    recalled: Recalled = NOTHING_RECALLED,
    known: Known = NOTHING_KNOWN,
) -> Prompt:
    """Build the prompt for the newest live message.

    What was recalled stands before its question, as part of the same message: templates want the roles to alternate.
    `scale` below 1 shrinks the share of the messages: the caller uses it when the model's own
    tokenizer counts more than the estimate did.
    """
    shares: Shares = share_context(context_tokens)
    system = system_text + write_profile(known, shares.instruction - estimate_tokens(system_text))
    if document and _has_content(parse_document(document)):
        overview = fit_overview(document, shares.archive).text.strip()
        system = f"{system}\n\n<memory>\n{overview}\n</memory>"
    budget = max(1, int((shares.session + _unused(shares, system)) * scale))
    fitted = fit_messages([_measure(m, recalled) for m in live], budget)
    by_id = {message.id: message for message in live}
    messages = [ChatMessage(role="system", text=system)]
    for message_id in fitted.ids:
        message = by_id[MessageId(int(message_id))]
        text = message.text
        if message_id in fitted.max_tokens:
            text = truncate_tokens(text, fitted.max_tokens[message_id])  # nothing else has room beside it
        elif block := _block_before(message, recalled):
            text = f"{block}\n\n{text}"
        if messages[-1].role == message.role:
            # two questions in a row (the first one's reply failed): one message, templates want them to alternate
            messages[-1] = ChatMessage(role=message.role, text=f"{messages[-1].text}\n\n{text}")
        else:
            messages.append(ChatMessage(role=message.role, text=text))
    return Prompt(
        messages=tuple(messages),
        left_out=tuple(MessageId(int(i)) for i in fitted.left_out_ids),
        truncated=tuple(MessageId(int(i)) for i in fitted.truncated_ids),
    )


def load_profile_heading(language: str) -> str:
    """Return what stands above the profile in a prompt; English where there is none in that language."""
    folder = find_resources() / "prompts"
    file = folder / f"profile.{language.split('-')[0]}.md"
    return (file if file.exists() else folder / "profile.en.md").read_text(encoding="utf-8").strip()


def write_profile(known: Known, budget_tokens: int) -> str:
    """Return the profile's block, "" for none; lines that do not fit are left out from the end."""
    lines = [f"- {' '.join(line.split())}" for line in known.lines]
    while lines:
        block = "\n".join((known.heading, *lines))
        if estimate_tokens(block) <= budget_tokens:
            return f"\n\n<profile>\n{block}\n</profile>"
        lines.pop()
    return ""


def _measure(message: LiveMessage, recalled: Recalled) -> Fitted:
    """A message and what stands before it, as the budget counts them."""
    block = _block_before(message, recalled)
    return Fitted(id=message.id, role=message.role, tokens=message.tokens + (estimate_tokens(block) if block else 0))


def _block_before(message: LiveMessage, recalled: Recalled) -> str:
    return recalled.get(message.turn, "") if message.role is Role.USER else ""


def _unused(shares: Shares, system: str) -> int:
    """Tokens of the instruction and archive shares that this system text does not need."""
    return max(0, shares.instruction + shares.archive - estimate_tokens(system))


def _has_content(document: Document) -> bool:
    return any(document.bodies[section].strip() for section in Section)
