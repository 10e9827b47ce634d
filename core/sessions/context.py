"""The prompt: what of a conversation goes to the model, in an order that keeps its beginning the same.

Pure. Instructions and what is known of the user, then Working Memory as a quoted block (both change only with what
they say), then the messages: those of archives that no version holds yet, then the live ones, append-only between
commits (DESIGN.md section 6). What was recalled stands before the question it was recalled for. Every part is
reported with its cost and with what was left out of it, and why.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.llm.port import ChatMessage
from core.model import MessageId, PartKind, PromptPart, Role, Section, TurnId
from core.sessions.budget import Fit, Shares, share_context
from core.sessions.history import choose_history
from core.sessions.instruction import NO_NOTES, NOTHING_KNOWN, Known, Notes, write_instruction
from core.sessions.prompt_texts import PromptTexts
from core.sessions.turns import LiveMessage as Measured
from core.storage.turns import LiveMessage
from core.text.tokens import estimate_tokens, truncate_tokens
from core.working_memory.document import Document, parse_document
from core.working_memory.overview import fit_overview
from core.working_memory.quotes import neutralise

Recalled = Mapping[TurnId, str]  # what of earlier conversations stands before a turn's question
NOTHING_RECALLED: Recalled = {}
RECALL_SHARE = 4  # one part in so many of the messages' share
RECAP_SHARE = 8
_EMPTY_SECTION = re.compile(r"^## [^\n]+\n+(?=## |\Z)", re.MULTILINE)  # a header that says nothing costs tokens
PRESSED_AT = 0.75  # of their share: from here the messages may soon be cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """All that a prompt is made of; `live` holds its newest message last."""

    live: tuple[LiveMessage, ...]
    texts: PromptTexts
    archived: frozenset[MessageId] = frozenset()  # of `live`: in an archive that no version holds yet
    own: str = ""  # the user's instructions for this conversation
    known: Known = NOTHING_KNOWN
    notes: Notes = NO_NOTES
    document: str = ""
    recalled: Recalled = field(default_factory=dict)
    summaries: tuple[tuple[TurnId, str], ...] = ()  # of closed segments, each with its last turn
    recap: str = ""  # of the open segment, shown since the history was cut
    next_recap: str = ""  # the same for the next cut
    start: MessageId | None = None  # where the history was cut before
    version: int = 0  # of memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is sent, part by part, and what was left out of it."""

    messages: tuple[ChatMessage, ...]
    parts: tuple[PromptPart, ...]
    left_out: tuple[MessageId, ...]
    truncated: tuple[MessageId, ...]
    turn: TurnId | None  # of the newest message
    start: MessageId | None  # the first message shown if older ones are not
    version: int  # of memory
    pressed: bool  # the messages fill most of their share, or were cut

    @property
    def note(self) -> str:
        """What the user should know about this prompt, "" when nothing was cut."""
        if self.truncated:
            return "The message is longer than the model can read at once; it saw the beginning and the end."
        return ""


def build_prompt(sources: Sources, context_tokens: int, *, scale: float = 1.0) -> Prompt:
    """Build the prompt for the newest live message.

    `scale` below 1 shrinks the share of the messages, and below a half that of memory too: the caller uses it when
    the model's own tokenizer counts more than the estimate did.
    """
    shares = share_context(context_tokens)
    parts = list(
        write_instruction(sources.texts, shares.instruction, own=sources.own, known=sources.known, notes=sources.notes)
    )
    if sources.document and _has_content(parse_document(sources.document)):
        parts.append(_write_document(sources, int(shares.archive * min(1.0, 2 * scale))))
    budget = max(1, int((shares.session + _unused(shares, parts)) * scale))
    blocks, dropped = _choose_blocks(sources, budget // RECALL_SHARE)
    fit = _fit(sources, blocks, budget)
    if fit.left_out_ids and (sources.summaries or sources.recap):
        fit = _fit(sources, blocks, budget - budget // RECAP_SHARE)
        parts += _write_recap(sources, fit, budget // RECAP_SHARE)
    shown = frozenset(fit.ids)
    blocks = {turn: text for turn, text in blocks.items() if _is_open(sources, turn, fit)}
    system = "".join(part.text for part in parts)
    parts += _describe_messages(sources, fit, blocks, dropped, budget)
    used = sum(part.tokens for part in parts if part.messages or part.kind is PartKind.RECALLED)
    return Prompt(
        messages=(ChatMessage(role="system", text=system), *_write_messages(sources, fit, blocks)),
        parts=tuple(parts),
        left_out=tuple(MessageId(int(i)) for i in fit.left_out_ids),
        truncated=tuple(MessageId(int(i)) for i in fit.truncated_ids),
        turn=sources.live[-1].turn if sources.live else None,
        start=next((m.id for m in sources.live if m.id in shown), None) if fit.left_out_ids else None,
        version=sources.version,
        pressed=bool(fit.left_out_ids) or used > PRESSED_AT * budget,
    )


# -- memory ------------------------------------------------------------------------------------


def _write_document(sources: Sources, share: int) -> PromptPart:
    """Return the document in its frame, within the share."""
    frame = "\n\n" + sources.texts.document
    overview = fit_overview(sources.document, max(0, share - estimate_tokens(frame)))
    text = frame.replace("{text}", neutralise(_EMPTY_SECTION.sub("", overview.text).strip()))
    if estimate_tokens(text) > share:
        return PromptPart(
            kind=PartKind.DOCUMENT, share_tokens=share, left_out=1, why="no room in the share of Working Memory"
        )
    left_out = ", ".join(f"{section} {number}" for section, number in overview.omitted.items())
    return PromptPart(
        kind=PartKind.DOCUMENT,
        text=text,
        tokens=estimate_tokens(text),
        share_tokens=share,
        left_out=sum(overview.omitted.values()),
        why=f"no room for all lines: {left_out}" if left_out else "",
    )


def _write_recap(sources: Sources, fit: Fit, share: int) -> tuple[PromptPart, ...]:
    """Say in short what the history leaves out; the words change only when it is cut."""
    first = next((m for m in sources.live if m.id in fit.ids), None)
    moved = first is None or first.id != sources.start
    rolling = (sources.next_recap if moved else "") or sources.recap
    closed = [text for last, text in sources.summaries if first is None or last < first.turn]
    frame, words = "\n\n" + sources.texts.recap, "\n".join((*closed, rolling)).strip()
    cut = truncate_tokens(neutralise(words), share - estimate_tokens(frame) - 1)
    if not cut:
        return ()
    text = frame.replace("{text}", cut)
    return (PromptPart(kind=PartKind.RECAP, text=text, tokens=estimate_tokens(text), share_tokens=share),)


def _unused(shares: Shares, parts: Sequence[PromptPart]) -> int:
    """Tokens of the instruction and archive shares that nothing needs."""
    return max(0, shares.instruction + shares.archive - sum(part.tokens for part in parts))


def _has_content(document: Document) -> bool:
    return any(document.bodies[section].strip() for section in Section)


# -- messages ----------------------------------------------------------------------------------


def _choose_blocks(sources: Sources, share: int) -> tuple[dict[TurnId, str], int]:
    """Return the recalled blocks that fit into their share, and how many do not.

    The older ones come first: they have been read already, and what stands before the newest message is read anew.
    """
    ids = [message.id for message in sources.live]
    first = ids.index(sources.start) if sources.start in ids else 0
    chosen: dict[TurnId, str] = {}
    dropped = 0
    for message in sources.live[first:]:
        block = sources.recalled.get(message.turn, "") if message.role is Role.USER else ""
        if block and estimate_tokens(block) <= share:
            chosen[message.turn] = block
            share -= estimate_tokens(block)
        else:
            dropped += bool(block)
    return chosen, dropped


def _fit(sources: Sources, blocks: Recalled, budget: int) -> Fit:
    """Choose messages; the questions cost what was recalled for them too."""
    measured = [
        Measured(id=m.id, role=m.role, tokens=m.tokens + estimate_tokens(_block_before(m, blocks)))
        for m in sources.live
    ]
    return choose_history(measured, budget, sources.start)


def _block_before(message: LiveMessage, blocks: Recalled) -> str:
    return blocks.get(message.turn, "") if message.role is Role.USER else ""


def _is_open(sources: Sources, turn: TurnId, fit: Fit) -> bool:
    """Whether a turn's question is shown whole: one that is cut leaves no room for anything beside it."""
    return any(
        m.turn == turn and m.role is Role.USER and m.id in fit.ids and m.id not in fit.max_tokens for m in sources.live
    )


def _write_messages(sources: Sources, fit: Fit, blocks: Recalled) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    shown = frozenset(fit.ids)
    for message in sources.live:
        if message.id not in shown:
            continue
        text = message.text
        if message.id in fit.max_tokens:
            text = truncate_tokens(text, fit.max_tokens[message.id])
        elif block := _block_before(message, blocks):
            text = f"{block}\n\n{text}"
        if messages and messages[-1].role == message.role:
            # two questions in a row (the first one's reply failed): one message, templates want them to alternate
            messages[-1] = ChatMessage(role=message.role, text=f"{messages[-1].text}\n\n{text}")
        else:
            messages.append(ChatMessage(role=message.role, text=text))
    return messages


def _describe_messages(sources: Sources, fit: Fit, blocks: Recalled, dropped: int, budget: int) -> list[PromptPart]:
    shown, groups = frozenset(fit.ids), dict[PartKind, list[LiveMessage]]()
    left_out: dict[PartKind, int] = {}
    newest = sources.live[-1].turn if sources.live else None
    for message in sources.live:
        kind = PartKind.HISTORY
        if message.turn == newest and message.role is Role.USER:
            kind = PartKind.QUESTION
        elif message.id in sources.archived:
            kind = PartKind.ARCHIVED
        groups.setdefault(kind, [])
        if message.id in shown:
            groups[kind].append(message)
        else:
            left_out[kind] = left_out.get(kind, 0) + 1
    parts = [_describe(kind, group, fit, left_out.get(kind, 0), budget) for kind, group in groups.items()]
    if blocks or dropped:
        text = "\n\n".join(blocks.values())
        why = "no room: what is recalled takes at most a quarter of the messages' share" if dropped else ""
        parts.append(
            PromptPart(
                kind=PartKind.RECALLED,
                text=text,
                tokens=sum(map(estimate_tokens, blocks.values())),
                share_tokens=budget // RECALL_SHARE,
                left_out=dropped,
                why=why,
            )
        )
    order = list(PartKind)
    return sorted(parts, key=lambda part: order.index(part.kind))


def _describe(kind: PartKind, messages: Sequence[LiveMessage], fit: Fit, left_out: int, budget: int) -> PromptPart:
    limits = tuple((message.id, fit.max_tokens.get(message.id)) for message in messages)
    part = PromptPart(
        kind=kind,
        messages=limits,
        tokens=sum(m.tokens if limit is None else limit for m, (_, limit) in zip(messages, limits, strict=True)),
        share_tokens=budget,
        left_out=left_out,
        why="older than what fits into the messages' share" if left_out else "",
    )
    if any(limit is not None for _, limit in limits):
        return replace(part, left_out=1, why="longer than its share: the model sees the beginning and the end")
    return part
