"""Makes what prompts are made of, for tests."""

from core.model import MessageId, Role, TurnId
from core.sessions.context import Sources
from core.sessions.prompt_texts import PromptTexts
from core.storage.turns import LiveMessage
from core.text.tokens import estimate_tokens

TEXTS = PromptTexts(
    system="Be kind.",
    profile="Said by the user:",
    file="<notes>\n{text}\n</notes>",
    document="<memory>\nA summary; messages win.\n{text}\n</memory>",
    recap="<earlier>\n{text}\n</earlier>",
)


def live(*texts: str, first: int = 0) -> tuple[LiveMessage, ...]:
    """Messages of a conversation, the user's first."""
    return tuple(
        LiveMessage(
            id=MessageId(n),
            turn=TurnId(n // 2 + 1),
            role=Role.ASSISTANT if n % 2 else Role.USER,
            text=text,
            tokens=estimate_tokens(text),
        )
        for n, text in enumerate(texts, start=first)
    )


def sources(*texts: str, **given: object) -> Sources:
    """What a prompt is made of: messages and nothing else but what is given."""
    return Sources(**{"live": live(*texts), "texts": TEXTS, **given})
