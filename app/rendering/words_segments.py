"""Words for segments and the memory tree. Pure; the time is passed in."""

from dataclasses import dataclass

from app.rendering.words import clock_time, span
from core.model import RecapSource, Segment, TreeItem
from core.wording import count

BOOKEND = "Conversation segment ("


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapNote:
    """What stands below a summary."""

    text: str
    offers_retry: bool


def shown_summary(segment: Segment) -> str:
    """What a card shows of a segment's summary: of a placeholder the sentences, where it has some."""
    first, _, rest = segment.summary.partition("\n")
    return rest if first.startswith(BOOKEND) and rest.strip() else segment.summary


def recap_note(segment: Segment, now: float) -> RecapNote:
    """Where the summary comes from, and what is missing."""
    recap = segment.recap
    if segment.is_open or recap is None:
        return RecapNote(text="", offers_retry=False)
    if recap.working:
        return RecapNote(text="Recap pending …", offers_retry=False)
    if recap.usable:
        made = {
            RecapSource.MODEL: "Recap written by " + (recap.model or "the model") + ", checked against the turns",
            RecapSource.SELECTED: "Sentences picked by " + (recap.model or "the model"),
        }
        return RecapNote(text=made.get(recap.source, ""), offers_retry=False)
    parts = ["Placeholder, no recap yet."]
    if recap.error:
        parts.append(recap.error)
    if recap.next_try_at is not None and recap.attempts:
        parts.append(f"Tried {count(recap.attempts, 'time')}; next try {_when(recap.next_try_at, now)}.")
    return RecapNote(text=" ".join(parts), offers_retry=True)


def tree_note(item: TreeItem, now: float) -> str:
    """What stands beside a branch or leaf of the tree."""
    return count(item.leaves, "part") if item.leaves else clock_time(item.started_at, now)


def tree_detail(item: TreeItem, now: float) -> str:
    """What stands below the title of what is read in the tree."""
    parts = [span(item.started_at, item.ended_at, now)]
    if item.leaves:
        parts.append(count(item.leaves, "part"))
    if item.placeholder:
        parts.append("placeholder: the first sentence of each part, until a model sums them up")
    return " · ".join(parts)


def _when(at: float, now: float) -> str:
    if at <= now:
        return "soon"
    minutes = round((at - now) / 60)
    if minutes < 90:
        return f"in {count(max(1, minutes), 'minute')}"
    return f"in {count(round(minutes / 60), 'hour')}"
