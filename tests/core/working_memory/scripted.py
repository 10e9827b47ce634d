"""Calls, documents and material for tests of updates."""

from core.model import Section, TurnId
from core.working_memory.document import EMPTY, render_document
from core.working_memory.heuristics import Proposal
from core.working_memory.material import Material, QuotedMessage


async def no_pause(seconds: float) -> None:
    """Wait for nobody."""


def call(**sections: object) -> dict[str, object]:
    """A whole tool call; sections are named as in the enumeration, the others are kept."""
    given = {Section[name]: value for name, value in sections.items()}
    return {"sections": {section.value: given.get(section, {"op": "KEEP"}) for section in Section}}


def document(**bodies: str) -> str:
    """A stored document."""
    return render_document(EMPTY.with_bodies({Section[name]: body for name, body in bodies.items()}))


def make_material(*users: str, stored: str = "", proposals: tuple[Proposal, ...] = (), **rest: object) -> Material:
    """Material of some turns of the user's, with a short reply each."""
    messages: list[QuotedMessage] = []
    for n, text in enumerate(users, start=1):
        messages.append(QuotedMessage(id=2 * n - 1, turn=TurnId(n), role="user", text=text))
        messages.append(QuotedMessage(id=2 * n, turn=TurnId(n), role="assistant", text="Noted."))
    return Material(
        document=stored,
        messages=tuple(messages),
        proposals=proposals,
        user_texts=users,
        **rest,
    )
