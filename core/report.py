"""What memory holds, as text for a terminal."""

from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from core.engine import Engine
from core.model import BoundaryReason, LineState, Segment, WorkingMemory
from core.wording import count, say_segment_turns, say_turns

SIGNS = {
    LineState.KEPT: ("\N{BLACK CIRCLE}", ""),
    LineState.ADDED: ("+", "green"),
    LineState.RESTORED: ("\N{ANTICLOCKWISE OPEN CIRCLE ARROW}", "yellow"),
    LineState.REMOVED: ("\N{MINUS SIGN}", "red strike"),
    LineState.PENDING: ("\N{HORIZONTAL ELLIPSIS}", "dim"),
}
REASONS = {
    BoundaryReason.TURN_COUNT: "twenty turns were full",
    BoundaryReason.MARKER: "you changed the topic",
    BoundaryReason.DRIFT: "the topic drifted",
    BoundaryReason.LEXICAL_DRIFT: "the words changed",
    BoundaryReason.FLUSH: "the conversation rested",
    BoundaryReason.HAND: "you divided it there",
}


async def print_memory(engine: Engine, console: Console) -> None:
    """Print every conversation's Working Memory and segments, then the memory files."""
    for conversation in await engine.list_conversations():
        memory = await engine.memory.load(conversation.id)
        turns = count(conversation.turn_count, "turn")
        console.print(Panel(_describe_memory(memory), title=escape(conversation.title), subtitle=turns))
        for segment in await engine.segments.load(conversation.id):
            console.print(_describe_segment(segment))
        console.print()
    for file in await engine.files.load():
        if file.text:
            console.print(Panel(Markdown(file.text), title=file.name))


def _describe_memory(memory: WorkingMemory) -> Text:
    text = Text()
    for section in memory.sections:
        text.append(f"{section.section}\n", style="bold")
        for line in section.lines:
            sign, style = SIGNS[line.state]
            turns = say_turns(memory.turn_numbers[turn] for turn in line.turns if turn in memory.turn_numbers)
            text.append(f"  {sign} {line.text}", style=style)
            text.append(f"  {turns}\n", style="dim")
        if not section.lines:
            text.append("  nothing yet\n", style="dim")
    text.rstrip()
    return text


def _describe_segment(segment: Segment) -> Text:
    why = "the conversation began"
    if segment.opened_by is BoundaryReason.TIME_GAP:
        why = f"{_describe_gap(segment.gap_s or 0.0)} of silence"
    elif segment.opened_by is not None:
        why = REASONS[segment.opened_by]
    text = Text(f"  {say_segment_turns(segment)}  ", style="dim")
    text.append(segment.title or "Small talk", style="bold")
    text.append(f"  began: {why}", style="dim")
    if segment.summary:
        text.append("".join(f"\n    {line}" for line in segment.summary.splitlines()))
    return text


def _describe_gap(seconds: float) -> str:
    for unit, length_s in (("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0)):
        if seconds >= length_s:
            return count(round(seconds / length_s), unit)
    return "a moment"
