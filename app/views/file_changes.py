"""A recorded change of a memory file as a card, and the links to where its words were said."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from app.rendering.display import one_line
from app.rendering.words import ago
from app.theme import Look
from app.views.base import make_button, make_label
from app.views.diff import DiffView
from core.model import FileChange, Place, TurnId

MAX_JUMPS = 4
TITLE_CHARS = 32  # of a conversation, so that its links stand in one line of the pane
GO = "Go to where it was said"

Known = tuple[tuple[TurnId, Place], ...]


def find_known(turns: Sequence[TurnId], places: Mapping[TurnId, Place]) -> Known:
    """Return those turns whose conversations are there, a conversation's together."""
    known = {turn: places[turn] for turn in turns if turn in places}
    order = list(dict.fromkeys(place.session_id for place in known.values()))
    return tuple(sorted(known.items(), key=lambda each: order.index(each[1].session_id)))


def make_jumps(look: Look, known: Known, go: Callable[[str, int], object]) -> QVBoxLayout:
    """Make links, a line for a conversation: its title, further places in it as "again"."""
    column = QVBoxLayout()
    column.setSpacing(look.px(2))
    for _, group in groupby(known[:MAX_JUMPS], key=lambda each: each[1].session_id):
        row = QHBoxLayout()
        row.setSpacing(look.px(10))
        for number, (turn, place) in enumerate(group):
            row.addWidget(_make_jump(turn, place, go, again=number > 0))
        row.addStretch(1)
        column.addLayout(row)
    if len(known) > MAX_JUMPS:
        column.addWidget(make_label(f"and {len(known) - MAX_JUMPS:,} more", "small"))
    return column


def _make_jump(turn: TurnId, place: Place, go: Callable[[str, int], object], *, again: bool) -> QPushButton:
    named = f"in “{one_line(place.title, TITLE_CHARS)}”" if place.title.strip() else "in an untitled conversation"
    tip = f"{GO}: “{one_line(place.title, 120)}”" if len(place.title) > TITLE_CHARS else GO
    text = "again" if again else named.replace("&", "&&")
    return make_button(text, "jump", partial(go, place.session_id, turn), name=f"{GO}, {named}", tip=tip)


class ChangeCard(QFrame):
    """One recorded change: who, when, why, where it was said, the difference, and taking it back."""

    undo_requested = Signal(int)
    turn_requested = Signal(str, int)

    def __init__(
        self, look: Look, change: FileChange, now: float, places: Mapping[TurnId, Place] | None = None
    ) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.change = change
        known = find_known(change.turns, places or {})
        self.shown = (change, known)  # what this card is made of
        self._who = make_label("", "heading")
        self.set_now(now)
        cause = make_label(one_line(change.cause), "muted", wrap=True)
        cause.setVisible(bool(change.cause.strip()))
        diff = DiffView(look)
        diff.show_difference(change.before, change.after)
        px = look.px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(13), px(10), px(13), px(10))
        column.setSpacing(px(4))
        column.addLayout(self._make_head())
        column.addWidget(cause)
        if known:
            column.addLayout(make_jumps(look, known, self.turn_requested.emit))
        column.addWidget(diff)

    def set_now(self, now: float) -> None:
        """Time has passed: say how long ago it was."""
        self._who.setText(f"{self.change.actor} · {ago(self.change.at, now)}")

    def _make_head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.addWidget(self._who, 1)
        if self.change.undone:
            head.addWidget(make_label("↺ taken back", "warning"))
        elif self.change.undoes is None:
            tip = "Take back these lines; later changes stay"
            head.addWidget(make_button("Undo this change", "link", self._on_undo, tip=tip))
        return head

    def _on_undo(self) -> None:
        self.undo_requested.emit(self.change.id)
