"""Short plain words for what was sent to the model. Pure."""

from app.rendering.display import one_line
from core.model import PartKind, PromptPart, RecalledItem, SentPrompt
from core.wording import count

NAMES = {
    PartKind.SYSTEM: "What Keepsake says",
    PartKind.INSTRUCTIONS: "Your instructions",
    PartKind.PREFERENCES: "Your preferences",
    PartKind.PROFILE: "About you",
    PartKind.FILE: "From MEMORY.md",
    PartKind.DOCUMENT: "Working Memory",
    PartKind.RECAP: "Recap of earlier messages",
    PartKind.ARCHIVED: "Archived messages",
    PartKind.HISTORY: "Earlier messages",
    PartKind.RECALLED: "Recalled",
    PartKind.QUESTION: "Your message",
}
_HINTS = {
    PartKind.SYSTEM: "The same in every conversation",
    PartKind.INSTRUCTIONS: "For this conversation only",
    PartKind.PREFERENCES: "Pinned, or what you asked to be remembered",
    PartKind.PROFILE: "What you said of yourself, from the Profile tab",
    PartKind.FILE: "An excerpt, newest entries first",
    PartKind.DOCUMENT: "The Memory tab, as of its newest version",
    PartKind.RECAP: "In place of messages there was no room for",
    PartKind.ARCHIVED: "Until Working Memory holds them",
    PartKind.HISTORY: "This conversation, as far as there is room",
    PartKind.RECALLED: "Quoted from other conversations, or preferences that fit the message",
    PartKind.QUESTION: "What the reply answers",
}
_THINGS = {
    PartKind.PREFERENCES: "line",
    PartKind.PROFILE: "line",
    PartKind.FILE: "entry",
    PartKind.DOCUMENT: "line",
    PartKind.ARCHIVED: "message",
    PartKind.HISTORY: "message",
    PartKind.RECALLED: "quotation",
}
_KINDS = {"turn": "Said", "recap": "Recap", "preference": "Preference"}


def part_hint(part: PromptPart) -> str:
    """What a part is, for its tooltip."""
    return f"{_HINTS[part.kind]}. It might have taken {count(part.share_tokens, 'token')}."


def part_tokens(part: PromptPart) -> str:
    """`1,234`, or a dash for a part of which nothing was sent."""
    return f"{part.tokens:,}" if part.text or part.messages else "–"


def left_out(part: PromptPart) -> str:
    """What of a part was left out and why, "" for nothing."""
    if not part.left_out:
        return ""
    thing = _THINGS.get(part.kind)
    if thing is None or any(limit is not None for _, limit in part.messages):
        return f"Shortened: {part.why}."
    many = "entries" if thing == "entry" else f"{thing}s"
    return f"{count(part.left_out, thing, many)} left out: {part.why}."


def prompt_place(sent: SentPrompt) -> str:
    """`Reply 3 of 12`."""
    return f"Reply {sent.place} of {sent.count}" if sent.count > 1 else "The newest reply"


def prompt_cost(sent: SentPrompt) -> str:
    """What was sent in all, in what window, and what is kept free."""
    used = sent.prompt_tokens
    whole = f"{used:,} tokens" if used is not None else f"About {sum(part.tokens for part in sent.parts):,} tokens"
    return f"{whole} of {sent.context_tokens:,}; {sent.reserve_tokens:,} are kept for the answer."


def prompt_reuse(sent: SentPrompt) -> str:
    """How much of it the model had read before, "" while that is not known."""
    if not sent.prompt_tokens or sent.reused_tokens is None:
        return ""
    share, new = sent.reused_tokens / sent.prompt_tokens, sent.prompt_tokens - sent.reused_tokens
    if not sent.reused_tokens:
        return "Nothing of it was known from before: all of it had to be read."
    return f"{share * 100:.0f} % was known from the message before; {count(new, 'token')} had to be read."


def recalled_head(item: RecalledItem) -> str:
    """What was recalled, from where and how near it is."""
    title = f", “{one_line(item.title, 50)}”" if item.title else ""
    near = f"similarity {item.cosine:.2f}" if item.cosine is not None else f"score {item.score:.3f}"
    room = "" if item.used else " · not sent, no room"
    return f"{_KINDS.get(item.kind, item.kind)}{title} · {near}{room}"


def describe_prompt(sent: SentPrompt) -> str:
    """The bar in words, for screen readers."""
    parts = ", ".join(f"{NAMES[part.kind]} {part.tokens:,}" for part in sent.parts if part.tokens)
    return f"{prompt_cost(sent)} {parts}"
