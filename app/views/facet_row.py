"""One thing known of the user: its words, how strong it is, where it was said, and what can be done with it."""

import html

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from app.rendering.display import one_line
from app.rendering.words import ago
from app.theme import Look
from app.views.base import make_button, make_label, set_property
from core.model import FacetConflict, FacetOrigin, FacetSource, FacetState, FormerValue, ProfileFacet
from core.wording import count, say_turns

MAX_CHARS = 400
MAX_LINKS = 4
TITLE_CHARS = 32  # of a conversation
_STRENGTH = {
    FacetState.ACTIVE: "active",
    FacetState.PROVISIONAL: "fading, still in use",
    FacetState.CANDIDATE: "faded, not in use",
    FacetState.DROPPED: "faded, not in use",
}
_SIGNS = {FacetState.ACTIVE: "●", FacetState.PROVISIONAL: "◐", FacetState.CANDIDATE: "○", FacetState.DROPPED: "○"}
_NEW = "new, in use"
_ORIGINS = {FacetOrigin.EXPLICIT: "you asked to remember it", FacetOrigin.USER: "confirmed by you"}


def describe_strength(facet: ProfileFacet, now: float) -> str:
    """How strong a facet is and why, in words."""
    if facet.ended_at is not None:
        return f"ended {ago(facet.ended_at, now)}"
    if facet.pinned:
        return "pinned: always in use"
    if facet.origin in _ORIGINS:
        return f"active · {_ORIGINS[facet.origin]}"
    fresh = facet.state is FacetState.PROVISIONAL and facet.segments <= 1 and now - facet.last_at < 86_400
    word = _NEW if fresh else _STRENGTH[facet.state]
    said = "said once" if facet.segments <= 1 else f"said on {facet.segments} occasions"
    return f"{word} · {said}"


class FacetRow(QFrame):
    """Opens below its words: actions, contradictions, history."""

    turn_requested = Signal(str, int)
    confirm_requested = Signal(str)
    pin_requested = Signal(str, bool)
    correct_requested = Signal(str, str)
    choose_requested = Signal(str, int)
    ask_forget_requested = Signal(str)
    forget_requested = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._facet: ProfileFacet | None = None
        self._now = 0.0
        self._open = False
        self.setProperty("kind", "memory-line")
        self._sign = make_label("", "sign")
        self._sign.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        self._text = make_label("", "line", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self._meta = make_label("", "small", wrap=True)
        self._meta.setTextFormat(Qt.TextFormat.RichText)  # holds our words and numbers only
        self._meta.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self._meta.linkActivated.connect(self._on_link)
        self.more = make_button("More", "link", self._toggle)
        self._head = QHBoxLayout()
        self._head.addWidget(self._sign)
        self._head.addWidget(self._text, 1)
        self._head.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        self._below = QVBoxLayout()
        self._below.addWidget(self._meta)
        self._conflicts = QWidget()
        self._conflict_column = QVBoxLayout(self._conflicts)
        self._below.addWidget(self._conflicts)
        self._build_details()
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._head)
        self._column.addLayout(self._below)
        self.restyle()

    def _build_details(self) -> None:
        self._details = QWidget()
        self._detail_column = QVBoxLayout(self._details)
        self._history = make_label("", "small", wrap=True)
        self._actions = QWidget()
        actions = self._action_row = QHBoxLayout(self._actions)
        self.confirm = make_button("Confirm", "link", self._on_confirm, tip="It holds: keep it as your own word")
        self.correct = make_button("Correct…", "link", self._on_correct, tip="Say it in your own words")
        self.pin = make_button("Pin", "link", self._on_pin, tip="Keep it in use, however old it gets")
        self.forget = make_button("Forget…", "link", self._on_forget, tip="Remove it and keep it from coming back")
        for button in (self.confirm, self.correct, self.pin, self.forget):
            actions.addWidget(button)
        actions.addStretch(1)
        self._editor = QWidget()
        editor = self._editor_row = QHBoxLayout(self._editor)
        self.entry = QLineEdit()
        self.entry.setAccessibleName("What is right")
        self.entry.setMaxLength(300)
        self.entry.returnPressed.connect(self._on_save)
        editor.addWidget(self.entry, 1)
        editor.addWidget(make_button("Save", "small", self._on_save))
        editor.addWidget(make_button("Cancel", "small", self._close_panels))
        self._asking = QWidget()
        asking = self._asking_column = QVBoxLayout(self._asking)
        self._cost = make_label("", "small", wrap=True)
        self.really = make_button("Forget it", "small", self._on_really)
        buttons = QHBoxLayout()
        buttons.addWidget(self.really)
        buttons.addWidget(make_button("Cancel", "small", self._close_panels))
        buttons.addStretch(1)
        asking.addWidget(self._cost)
        asking.addLayout(buttons)
        for widget in (self._history, self._actions, self._editor, self._asking):
            self._detail_column.addWidget(widget)
        self._below.addWidget(self._details)
        self._details.hide()
        self._editor.hide()
        self._asking.hide()

    def set_facet(self, facet: ProfileFacet, now: float) -> None:
        """Show a facet as it stands; what the user has open stays open."""
        if self._facet is not None and facet.text != self._facet.text:
            self._close_panels()
        conflicts_before = self._facet.conflicts if self._facet is not None else ()
        self._facet, self._now = facet, now
        text = one_line(facet.text, MAX_CHARS)
        self._sign.setText("★" if facet.pinned else _SIGNS[facet.state])
        self._text.setText(text)
        set_property(self._text, "state", "removed" if facet.ended_at is not None else "kept")
        strength = describe_strength(facet, now)
        self._text.setAccessibleName(f"{text}. {strength}")
        self._show_meta(facet)
        self._history.setText(_describe_history(facet.history, now))
        self._history.setVisible(bool(facet.history))
        self.pin.setText("Unpin" if facet.pinned else "Pin")
        self.confirm.setVisible(facet.origin is not FacetOrigin.USER or facet.ended_at is not None)
        self.confirm.setText("Confirm" if facet.ended_at is None else "It still holds")
        self.pin.setVisible(facet.ended_at is None)
        self.more.setAccessibleName(f"More about: {text}")
        if facet.conflicts != conflicts_before or not facet.conflicts:
            self._show_conflicts(facet)

    def ask_to_forget(self, cost: str) -> None:
        """Say what goes along and ask."""
        self._close_panels()
        self._set_open(True)
        self._cost.setText(cost)
        self._actions.hide()
        self._asking.show()
        self.really.setFocus()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        px = self._look.px
        self._column.setContentsMargins(px(4), px(3), px(4), px(3))
        self._column.setSpacing(px(2))
        self._head.setSpacing(px(8))
        self._below.setContentsMargins(px(22), 0, 0, 0)
        self._below.setSpacing(px(3))
        self._sign.setFixedWidth(px(14))
        self._sign.setContentsMargins(0, px(2), 0, 0)
        for layout in (self._detail_column, self._conflict_column, self._asking_column):
            layout.setContentsMargins(0, px(2), 0, 0)
            layout.setSpacing(px(4))
        for row in (self._action_row, self._editor_row):
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(px(12) if row is self._action_row else px(6))
        if self._facet is not None:
            self._show_meta(self._facet)
            self._show_conflicts(self._facet)

    def _show_meta(self, facet: ProfileFacet) -> None:
        links = _link_sources(facet.sources, self._look.theme.colours["accent"])
        words = describe_strength(facet, self._now)
        self._meta.setText(f"{words} · {links}" if links else words)
        self._meta.setToolTip("Go to where you said it" if links else "")
        said = ", ".join(_name_group(group) for group in _group_sources(facet.sources))
        self._meta.setAccessibleName(f"{words}, said in {said}" if said else words)

    def _show_conflicts(self, facet: ProfileFacet) -> None:
        while (item := self._conflict_column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._conflicts.setVisible(bool(facet.conflicts))
        if not facet.conflicts:
            return
        asks = "Twice you said otherwise. What holds?" if facet.asks else "Once you said otherwise:"
        self._conflict_column.addWidget(make_label(asks, "warning", wrap=True))
        for conflict in facet.conflicts:
            self._conflict_column.addWidget(self._make_conflict(facet, conflict))
        keep = make_button(f"Keep “{one_line(facet.text, 40).replace('&', '&&')}”", "small", self._on_confirm)
        row = QWidget()
        box = QHBoxLayout(row)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(keep)
        box.addStretch(1)
        self._conflict_column.addWidget(row)

    def _make_conflict(self, facet: ProfileFacet, conflict: FacetConflict) -> QWidget:
        holder = QWidget()
        box = QHBoxLayout(holder)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(self._look.px(8))
        words = make_label(f"“{one_line(conflict.text, 160)}”", "line", wrap=True)
        words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        source = conflict.source
        jump = make_button(
            "where it was said", "jump", lambda: self.turn_requested.emit(source.session_id, source.turn)
        )
        use = make_button(
            "Use this",
            "small",
            lambda: self.choose_requested.emit(facet.id, conflict.id),
            name=f"Use this: {one_line(conflict.text, 80)}",
        )
        box.addWidget(words, 1)
        box.addWidget(jump)
        box.addWidget(use)
        return holder

    # -- what the user does ----------------------------------------------------------------------

    def _toggle(self) -> None:
        self._set_open(not self._open)

    def _set_open(self, opened: bool) -> None:
        self._open = opened
        if not opened:
            self._close_panels()
        self._details.setVisible(opened)
        self.more.setText("Less" if opened else "More")

    def _close_panels(self) -> None:
        had_focus = self.isAncestorOf(self.focusWidget() or self)
        self._editor.hide()
        self._asking.hide()
        self._actions.show()
        if had_focus:
            self.more.setFocus()

    def _on_link(self, target: str) -> None:
        session, _, turn = target.rpartition("/")
        self.turn_requested.emit(session, int(turn))

    def _on_confirm(self) -> None:
        if self._facet is not None:
            self.confirm_requested.emit(self._facet.id)

    def _on_pin(self) -> None:
        if self._facet is not None:
            self.pin_requested.emit(self._facet.id, not self._facet.pinned)

    def _on_correct(self) -> None:
        if self._facet is not None:
            self._actions.hide()
            self.entry.setText(self._facet.text)
            self._editor.show()
            self.entry.setFocus()
            self.entry.selectAll()

    def _on_save(self) -> None:
        if self._facet is not None:
            text = self.entry.text()
            self._close_panels()
            if text.strip() != self._facet.text:
                self.correct_requested.emit(self._facet.id, text)

    def _on_forget(self) -> None:
        if self._facet is not None:
            self.ask_forget_requested.emit(self._facet.id)

    def _on_really(self) -> None:
        if self._facet is not None:
            self.forget_requested.emit(self._facet.id)


_Group = tuple[FacetSource, ...]  # of one conversation


def _group_sources(sources: _Group) -> tuple[_Group, ...]:
    """Return the newest sources whose conversations are there, those of one together."""
    groups: dict[str, list[FacetSource]] = {}
    for source in [each for each in sources if each.place is not None and each.place.number][-MAX_LINKS:]:
        groups.setdefault(source.session_id, []).append(source)
    return tuple(map(tuple, groups.values()))


def _number(source: FacetSource) -> int:
    return (source.place.number if source.place else None) or 0


def _name_conversation(group: _Group) -> str:
    title = one_line(group[0].place.title, TITLE_CHARS) if group[0].place else ""
    return f" of “{title}”" if title else ""


def _name_group(group: _Group) -> str:
    return f"{say_turns(map(_number, group))}{_name_conversation(group)}"


def _link_group(group: _Group, colour: str) -> str:
    links = ", ".join(
        f'<a href="{each.session_id}/{each.turn}" style="color:{colour}; text-decoration:none">{_number(each)}</a>'
        for each in group
    )
    word = "turn" if len(group) == 1 else "turns"
    return f'<span style="color:{colour}">{word} </span>{links}{html.escape(_name_conversation(group))}'


def _link_sources(sources: _Group, colour: str) -> str:
    groups = _group_sources(sources)
    more = len(sources) - sum(map(len, groups))
    earlier = f"{count(more, 'earlier turn')}, " if more and groups else ""
    return earlier + ", ".join(_link_group(group, colour) for group in groups)


def _describe_history(history: tuple[FormerValue, ...], now: float) -> str:
    return "\n".join(f"Before, until {ago(each.until, now)}: “{one_line(each.text, 160)}”" for each in history)
