"""Short plain words for what the window shows: times, reasons, counts. Pure; the time is passed in."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from core.model import BoundaryReason, Decision, MemorySection, ModelPhase, ModelStatus, Section, Segment
from core.wording import count

GROUPS = ("Pinned", "Today", "Yesterday", "Last week", "Earlier")
_PHASES = {
    ModelPhase.ABSENT: "no model",
    ModelPhase.STARTING: "starting",
    ModelPhase.LOADING: "loading",
    ModelPhase.READY: "ready",
    ModelPhase.READING: "reading",
    ModelPhase.WRITING: "writing",
    ModelPhase.ASLEEP: "asleep",
    ModelPhase.FAILED: "stopped working",
}
_WAITING = {
    ModelPhase.ABSENT: "there is no model to answer",
    ModelPhase.STARTING: "starting the model…",
    ModelPhase.LOADING: "loading the model…",
    ModelPhase.ASLEEP: "waking the model…",
    ModelPhase.READING: "reading…",
    ModelPhase.WRITING: "writing…",
}
_BOUNDARIES = {
    BoundaryReason.TURN_COUNT: "the one before had grown long",
    BoundaryReason.MARKER: "you changed the subject",
    BoundaryReason.DRIFT: "the topic changed",
    BoundaryReason.LEXICAL_DRIFT: "the words changed to another topic",
    BoundaryReason.FLUSH: "the conversation had paused",
    BoundaryReason.HAND: "you divided it there",
}


def group_of(updated_at: float, pinned: bool, now: float) -> str:
    """The heading a conversation stands under; local days."""
    if pinned:
        return GROUPS[0]
    days = (datetime.fromtimestamp(now).date() - datetime.fromtimestamp(updated_at).date()).days
    return GROUPS[1] if days <= 0 else GROUPS[2] if days == 1 else GROUPS[3] if days <= 7 else GROUPS[4]


def clock_time(at: float, now: float) -> str:
    """`09:12` today, `Tue 09:12` this week, `3 Nov, 09:12` else; the year if it is another."""
    then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    if then.date() == today.date():
        return f"{then:%H:%M}"
    if timedelta() < today - then < timedelta(days=6):
        return f"{then:%a %H:%M}"
    return f"{then.day} {then:%b}, {then:%H:%M}" if then.year == today.year else f"{then.day} {then:%b %Y, %H:%M}"


def day(at: float) -> str:
    """`3 Nov 2026`; a local day."""
    then = datetime.fromtimestamp(at)
    return f"{then.day} {then:%b %Y}"


def span(start: float, end: float | None, now: float) -> str:
    """`09:12 to 09:20`, `3 Nov, 09:12 to 09:20`; the day once, and one time if both are the same minute."""
    first, last = clock_time(start, now), clock_time(end, now) if end is not None else ""
    if not last or last == first:
        return first
    same_day = end is not None and datetime.fromtimestamp(start).date() == datetime.fromtimestamp(end).date()
    return f"{first} to {last[-5:] if same_day else last}"


def ago(at: float, now: float) -> str:
    """`just now`, `2 min ago`, `3 h ago`, else the time; never negative when the clock went back."""
    passed = max(0.0, now - at)
    if passed < 45:
        return "just now"
    if passed < 3_600:
        return f"{max(1, round(passed / 60))} min ago"
    if passed < 24 * 3_600:
        return f"{round(passed / 3_600)} h ago"
    return clock_time(at, now)


def duration(seconds: float) -> str:
    """`14 minutes`, `3 hours`, `2 days`."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size * 0.95:
            return count(max(1, round(seconds / size)), name)
    return count(max(1, round(seconds)), "second")


def boundary(segment: Segment) -> str:
    """Why a segment began, in a few words; "" for the conversation's first."""
    if segment.opened_by is None:
        return ""
    if segment.opened_by is BoundaryReason.TIME_GAP:
        return f"{duration(segment.gap_s)} of silence" if segment.gap_s else "a long silence"
    return _BOUNDARIES[segment.opened_by]


def drift(similarities: Sequence[float]) -> str:
    """What the curve of a segment says, for those who cannot see it."""
    return f"Closeness to the topic, lowest {min(similarities):.2f} of {count(len(similarities), 'message')}"


def section_note(section: MemorySection) -> str:
    """What stands at the right of a section's heading."""
    lines = [line for line in section.lines if line.state.value not in ("removed", "pending")]
    if section.section is Section.TITLE:
        return "locked" if any(line.locked for line in lines) else ""
    tokens = count(section.tokens, "token") if section.tokens else ""
    if section.section is Section.STATE:
        return tokens
    items = count(len(lines), "item") if lines else ""
    if section.section is Section.ERRORS:
        return f"{items} · only grows" if items else ""
    return " · ".join(part for part in (items, tokens) if part)


def guard_summary(decisions: Sequence[Decision]) -> tuple[str, str]:
    """What the checks did with an update: a short headline and one sentence; both "" if nothing."""
    restored = sum(len(d.restored) for d in decisions)
    parked = sum(len(d.parked) for d in decisions)
    skipped = sum(len(d.skipped) for d in decisions)
    reason = next((d.reason for d in decisions if d.reason and d.restored), "") or next(
        (d.reason for d in decisions if d.reason), ""
    )
    headline = ", ".join(
        f"{number} {word}"
        for number, word in ((restored, "restored"), (parked, "set aside"), (skipped, "left out"))
        if number
    )
    return (f"{headline}." if headline else ""), reason


def phase(status: ModelStatus) -> str:
    """The model's state in a word or two."""
    return _PHASES[status.phase]


def waiting(status: ModelStatus) -> str:
    """What a reply without text is waiting for."""
    if status.phase is ModelPhase.FAILED:
        return status.detail or "the model stopped working"
    return _WAITING.get(status.phase, "waiting for the model…")


def size(number_bytes: int) -> str:
    """`980 bytes`, `98 MB`, `2.4 GB`: powers of 1024, as the sentences about memory count."""
    value = float(max(0, number_bytes))
    for unit in ("bytes", "KB", "MB"):
        if value < (1_000 if unit == "MB" else 1_024):  # "1007 MB" is a gigabyte to everybody
            return f"{value:.0f} {unit}"
        value /= 1_024
    return f"{value:.1f} GB"


def tokens_k(tokens: int) -> str:
    """`980`, `3.7k`, `8k` (also for 8,192, as context sizes are named)."""
    if tokens >= 1_024 and tokens % 1_024 == 0:
        return f"{tokens // 1_024}k"
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1_000:.1f}".removesuffix(".0") + "k"
