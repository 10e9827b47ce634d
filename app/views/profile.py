"""The Profile tab: what is known of the user by class, with its strength, evidence and history, open to correction."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.rendering.display import one_line
from app.theme import Look
from app.views.base import Scroll, make_button, make_label
from app.views.facet_row import FacetRow
from core.model import FacetClass, ForgetLine, ForgetPreview, Profile, ProfileFacet
from core.wording import count

HEADINGS = {
    FacetClass.IDENTITY: "About you",
    FacetClass.VETO: "What not to do",
    FacetClass.STYLE: "Likes and habits",
    FacetClass.TOOLING: "Tools",
    FacetClass.GOAL: "Goals",
    FacetClass.CHANNEL: "How to reach you",
}
ENDED = "No longer so"
EMPTY = (
    "Nothing is known about you yet. What you say about yourself in a conversation, such as “I live in Turin” or "
    "“I prefer short answers”, stands here once the talk moves on, with the place where you said it. "
    "“Remember that …” puts it here at once."
)


STAYS = (
    "The conversation itself stays as it is, and earlier versions of memory and of the files keep the words: "
    "they are what Undo needs."
)
MOST_LINES = 6  # listed one by one


class ForgetCard(QFrame):
    """What the user asked to forget in the chat: what would go, and the two ways on."""

    forget_requested = Signal(list)
    keep_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "note")
        self._ids: list[str] = []
        self._text = make_label("", "body", wrap=True)
        self._forget = make_button("Forget", "small", lambda: self.forget_requested.emit(self._ids))
        self._keep = make_button("Keep", "small", self.keep_requested.emit)
        row = QHBoxLayout()
        row.addWidget(self._forget)
        row.addWidget(self._keep)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(12), look.px(8), look.px(12), look.px(10))
        column.setSpacing(look.px(8))
        column.addWidget(self._text)
        column.addLayout(row)

    def set_request(self, asked: ForgetPreview | None) -> None:
        """Show a request, or nothing."""
        self.setVisible(asked is not None)
        if asked is not None:
            self._ids = list(asked.facet_ids)
            lines = "\n".join(f"• {one_line(text, 120)}" for text in asked.texts)
            self._text.setText(
                f"You asked to forget “{one_line(asked.asked, 80)}”. This would go:\n{lines}\n{describe_cost(asked)}"
            )
            self._text.setAccessibleName(self._text.text())


def describe_cost(preview: ForgetPreview) -> str:
    """What goes along with the facets, in words."""
    parts = [count(preview.events, "noted statement")] if preview.events else []
    going = [line for line in preview.lines if not line.locked]
    for file in dict.fromkeys(line.place for line in going if line.session_id is None):
        of_file = sum(line.session_id is None and line.place == file for line in going)
        parts.append(count(of_file, f"line of {file}", f"lines of {file}"))
    in_memory = sum(line.session_id is not None for line in going)
    parts += [count(in_memory, "line of Working Memory", "lines of Working Memory")] if in_memory else []
    head = f"With it go {join_words(parts)}" if parts else ""
    listed = "".join(f"\n{_describe_line(line)}" for line in going[:MOST_LINES])
    more = f"\n… and {len(going) - MOST_LINES} more" if len(going) > MOST_LINES else ""
    along = f"{head}:{listed}{more}\n" if going else f"{head}. " if head else ""
    recaps = f"{count(preview.recaps, 'recap')} will be written anew. " if preview.recaps else ""
    return f"{along}{recaps}{_describe_locked(preview)}{STAYS}"


def _describe_line(line: ForgetLine) -> str:
    where = f" ({one_line(line.place, 40)})" if line.place else ""
    left = f" → {one_line(line.left, 80)}" if line.left else ""
    return f"• {one_line(line.text.lstrip('-*+ '), 80)}{left}{where}"


def _describe_locked(preview: ForgetPreview) -> str:
    """Say which lines stay as the user locked them, and how they go."""
    locked = [line for line in preview.lines if line.locked]
    if not locked:
        return ""
    listed = "".join(f"\n{_describe_line(line)}" for line in locked[:MOST_LINES])
    one = len(locked) == 1
    which = "A line that you locked stays" if one else f"{len(locked)} lines that you locked stay"
    way = "To remove it, delete it in the Memory tab" if one else "To remove them, delete each in the Memory tab"
    return f"{which}. {way}:{listed}\n"


def join_words(parts: list[str]) -> str:
    """Join words for a sentence: a, b and c."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


class ProfileTab(QWidget):
    """Facets in cards, one a class; a note on top where the user is asked."""

    turn_requested = Signal(str, int)  # conversation, turn
    confirm_requested = Signal(str)
    pin_requested = Signal(str, bool)
    correct_requested = Signal(str, str)
    choose_requested = Signal(str, int)
    ask_forget_requested = Signal(str)
    forget_requested = Signal(list)
    keep_requested = Signal()
    undo_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._profile = Profile()
        self._now = 0.0
        self._rows: dict[str, FacetRow] = {}
        self._empty = make_label(EMPTY, "lead", wrap=True)
        self._request = ForgetCard(look)
        self._request.forget_requested.connect(self.forget_requested)
        self._request.keep_requested.connect(self.keep_requested)
        self.area = Scroll(look)
        self.area.setAccessibleName("Profile")
        self.area.column.addWidget(self._request)
        self.area.column.addWidget(self._empty)
        self._cards = {name: _Card(look, name) for name in (*HEADINGS.values(), ENDED)}
        for card in self._cards.values():
            self.area.column.addWidget(card)
        self._undo_text = make_label("", "muted", wrap=True)
        self.undo_button = make_button("Undo", "small", self.undo_requested.emit, tip="Take the last change back")
        self._footer = QWidget()
        self._footer_row = QHBoxLayout(self._footer)
        self._footer_row.addWidget(self._undo_text, 1)
        self._footer_row.addWidget(self.undo_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.area, 1)
        column.addWidget(self._footer)
        look.changed.connect(self._on_look)
        self._on_look()
        self.show_profile(Profile(), 0.0)

    def show_profile(self, profile: Profile, now: float) -> None:
        """Show all that is known."""
        self._profile, self._now = profile, now
        self.setUpdatesEnabled(False)
        focused = next((key for key, row in self._rows.items() if row.isAncestorOf(self.focusWidget() or self)), "")
        self._request.set_request(profile.to_forget)
        self._empty.setVisible(not profile.facets)
        wanted = {facet.id for facet in profile.facets}
        for key in [key for key in self._rows if key not in wanted]:
            row = self._rows.pop(key)
            row.hide()
            row.deleteLater()
        for name, card in self._cards.items():
            own = [facet for facet in profile.facets if _heading(facet) == name]
            card.set_rows([self._row(facet) for facet in own])
        self._undo_text.setText(profile.undo)
        self._footer.setVisible(bool(profile.undo))
        self.setUpdatesEnabled(True)
        if focused and focused not in self._rows:
            self.area.setFocus()

    def show_preview(self, preview: ForgetPreview) -> None:
        """Ask at the facet itself whether it is to be forgotten."""
        for facet_id in preview.facet_ids:
            if facet_id in self._rows:
                self._rows[facet_id].ask_to_forget(describe_cost(preview))

    def rows(self) -> dict[str, FacetRow]:
        """The rows on screen, by facet."""
        return dict(self._rows)

    def _row(self, facet: ProfileFacet) -> FacetRow:
        row = self._rows.get(facet.id)
        if row is None:
            row = self._rows[facet.id] = FacetRow(self._look)
            row.turn_requested.connect(self.turn_requested)
            row.confirm_requested.connect(self.confirm_requested)
            row.pin_requested.connect(self.pin_requested)
            row.correct_requested.connect(self.correct_requested)
            row.choose_requested.connect(self.choose_requested)
            row.ask_forget_requested.connect(self.ask_forget_requested)
            row.forget_requested.connect(lambda facet_id: self.forget_requested.emit([facet_id]))
        row.set_facet(facet, self._now)
        return row

    def _on_look(self) -> None:
        px = self._look.px
        self.area.column.setContentsMargins(px(12), px(12), px(12), px(12))
        self.area.column.setSpacing(px(10))
        self._footer_row.setContentsMargins(px(14), px(6), px(14), px(8))
        self._footer_row.setSpacing(px(10))
        for card in self._cards.values():
            card.restyle()
        for row in self._rows.values():
            row.restyle()


def _heading(facet: ProfileFacet) -> str:
    return HEADINGS[facet.facet_class] if facet.ended_at is None else ENDED


class _Card(QFrame):
    """The facets of one class."""

    def __init__(self, look: Look, heading: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._look = look
        self._column = QVBoxLayout(self)
        self._column.addWidget(make_label(heading, "heading"))
        self._shown: list[FacetRow] = []
        self.restyle()

    def set_rows(self, rows: Sequence[FacetRow]) -> None:
        """Show these, in this order."""
        self.setVisible(bool(rows))
        if list(rows) == self._shown:
            return
        self._shown = list(rows)
        for place, row in enumerate(rows, start=1):
            self._column.insertWidget(place, row)
            row.show()

    def restyle(self) -> None:
        """Take the present zoom."""
        px = self._look.px
        self._column.setContentsMargins(px(13), px(10), px(13), px(10))
        self._column.setSpacing(px(6))
        self._column.setAlignment(Qt.AlignmentFlag.AlignTop)
