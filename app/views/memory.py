"""The Memory tab: seven sections as cards, each line with its state, evidence and history.

A live refresh reuses the rows that are there, so nothing flickers and the scroll position stays.
"""

from PySide6.QtCore import Property as QtProperty
from PySide6.QtCore import QPropertyAnimation, QRectF, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QSlider, QVBoxLayout, QWidget

from app.rendering.display import one_line
from app.rendering.words import ago, count, section_note
from app.theme import Look
from app.views.base import Scroll, make_button, make_label, set_property
from app.views.decisions import DecisionNote
from core.model import LineState, MemoryLine, MemorySection, Section, WorkingMemory

SIGNS = {
    LineState.KEPT: "●",
    LineState.ADDED: "+",
    LineState.REMOVED: "−",
    LineState.RESTORED: "↺",
    LineState.PENDING: "…",
}
_SPOKEN = {
    LineState.KEPT: "",
    LineState.ADDED: "new: ",
    LineState.REMOVED: "removed: ",
    LineState.RESTORED: "restored: ",
    LineState.PENDING: "pending: ",
}
MAX_LINE_CHARS = 600
MAX_TURNS, WIDE_ROW = 3, 300  # how much evidence stands beside a line, from what width (design pixels) on


class LineRow(QFrame):
    """One remembered line."""

    turn_requested = Signal(int)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._glow = 0.0
        self._line: MemoryLine | None = None
        self._shown_turns = MAX_TURNS
        self.setProperty("kind", "memory-line")
        self._sign = make_label("", "sign")
        self._sign.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter)
        self._text = make_label("", "line", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self._evidence = make_label("", "evidence")
        self._evidence.setTextFormat(Qt.TextFormat.RichText)
        self._evidence.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self._evidence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._evidence.linkActivated.connect(lambda target: self.turn_requested.emit(int(target)))
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._sign)
        self._row.addWidget(self._text, 1)
        self._row.addWidget(self._evidence)
        self._animation = QPropertyAnimation(self, b"glow", self)
        self.restyle()

    def set_line(self, line: MemoryLine, *, glow: bool) -> None:
        """Show a line; glow once if it is new on screen."""
        if line != self._line:
            self._line = line
            state = line.state.value
            for widget in (self, self._sign, self._text):
                set_property(widget, "state", state)
            self._sign.setText(SIGNS[line.state])
            prefix = "pending: " if line.state is LineState.PENDING else ""
            text = one_line(line.text, MAX_LINE_CHARS)
            self._text.setText(prefix + text)
            lock = "locked, " if line.locked else ""
            self._text.setAccessibleName(f"{lock}{_SPOKEN[line.state]}{text}")
            self._show_evidence(line)
            self.setToolTip("locked: only you change this line" if line.locked else "")
        if glow and self._look.motion:
            self._animation.stop()
            self._animation.setDuration(1_000)
            self._animation.setStartValue(1.0)
            self._animation.setEndValue(0.0)
            self._animation.start()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        px = self._look.px
        self._row.setContentsMargins(px(6), px(3), px(6), px(3))
        self._row.setSpacing(px(8))
        self._sign.setFixedWidth(px(14))
        self._sign.setContentsMargins(0, px(2), 0, 0)
        self._evidence.setContentsMargins(0, px(2), 0, 0)
        if self._line is not None:
            self._show_evidence(self._line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room, the line's words are worth more than all of its evidence."""
        super().resizeEvent(event)
        shown = MAX_TURNS if event.size().width() >= self._look.px(WIDE_ROW) else 1
        if shown != self._shown_turns:
            self._shown_turns = shown
            if self._line is not None:
                self._show_evidence(self._line)

    def _show_evidence(self, line: MemoryLine) -> None:
        accent = self._look.theme.colours["accent"]
        shown = line.turns[-self._shown_turns :]
        links = ", ".join(f'<a href="{turn}" style="color:{accent}; text-decoration:none">{turn}</a>' for turn in shown)
        more = "…, " if len(line.turns) > len(shown) else ""
        self._evidence.setText(f'<span style="color:{accent}">turn {more}</span>{links}' if links else "")
        self._evidence.setToolTip("Go to the turn this came from" if links else "")
        self._evidence.setAccessibleName(f"from turn {', '.join(map(str, line.turns))}" if links else "")
        self._evidence.setVisible(bool(links))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._glow > 0:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            tint = self._look.colour("accent")
            tint.setAlphaF(0.30 * self._glow)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tint)
            painter.drawRoundedRect(QRectF(self.rect()), self._look.px(6), self._look.px(6))
            painter.end()

    def _get_glow(self) -> float:
        return self._glow

    def _set_glow(self, value: float) -> None:
        self._glow = value
        self.update()

    glow = QtProperty(float, _get_glow, _set_glow)


class SectionCard(QFrame):
    """One section: a card with its lines, or one quiet line when it is empty."""

    turn_requested = Signal(int)

    def __init__(self, look: Look, section: Section) -> None:
        super().__init__()
        self._look = look
        self._section: MemorySection | None = None
        self._rows: list[LineRow] = []
        self.heading = make_label(section.value, "heading")
        self.note = make_label("", "muted")
        self._parked_button = make_button("", "link", self._toggle_parked)
        self._parked = make_label("", "muted", wrap=True)
        self._parked.hide()
        self._parked_button.hide()
        self._head = QHBoxLayout()
        self._head.addWidget(self.heading)
        self._head.addStretch(1)
        self._head.addWidget(self.note)
        self._lines = QVBoxLayout()
        self._lines.setSpacing(0)
        column = self._column = QVBoxLayout(self)
        column.addLayout(self._head)
        column.addLayout(self._lines)
        column.addWidget(self._parked_button)
        column.addWidget(self._parked)
        self.restyle()

    def set_section(self, section: MemorySection, *, glow: bool) -> None:
        """Show a section; lines that were not there before glow if asked to."""
        old = self._section
        if section == old:
            return
        self._section = section
        empty = not section.lines and not section.parked
        set_property(self, "kind", "" if empty else "card")
        set_property(self.heading, "kind", "muted" if empty else "heading")
        self.note.setText("nothing yet" if empty else section_note(section))
        known = {(line.text, line.state) for line in old.lines} if old else set()
        for i, line in enumerate(section.lines):
            if i == len(self._rows):
                self._rows.append(row := LineRow(self._look))
                row.turn_requested.connect(self.turn_requested)
                self._lines.addWidget(row)  # also shows it, later: `show` would lay all cards out once a row
            elif self._rows[i].isHidden():
                self._rows[i].show()
            self._rows[i].set_line(line, glow=glow and (line.text, line.state) not in known)
        for row in self._rows[len(section.lines) :]:
            row.hide()
        self._show_parked(section)
        self._set_margins()

    def restyle(self) -> None:
        """Take the present theme and zoom."""
        self._set_margins()
        for row in self._rows:
            row.restyle()

    def _set_margins(self) -> None:
        px = self._look.px
        empty = self._section is None or not (self._section.lines or self._section.parked)
        self._column.setContentsMargins(px(13), px(2 if empty else 10), px(13), px(2 if empty else 10))
        self._column.setSpacing(px(4))

    def _show_parked(self, section: MemorySection) -> None:
        self._parked_button.setVisible(bool(section.parked))
        if section.parked:
            sign = "▾" if self._parked.isVisible() else "▸"
            self._parked_button.setText(f"{sign} {len(section.parked)} set aside")
            self._parked.setText("\n".join(f"• {one_line(p.text)} ({p.reason})" for p in section.parked))
        else:
            self._parked.hide()

    def _toggle_parked(self) -> None:
        self._parked.setVisible(not self._parked.isVisible())
        if self._section is not None:
            self._show_parked(self._section)


class MemoryTab(QWidget):
    """Versions, what the checks did, the seven sections, and the button that updates now."""

    turn_requested = Signal(int)
    version_chosen = Signal(int)
    update_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._shown: tuple[str, int] | None = None
        self._version_label = make_label("", "muted")
        self._newest_label = make_label("", "muted")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Version of the memory")
        self.slider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._slider_timer = QTimer(self, interval=60, singleShot=True)
        self._slider_timer.timeout.connect(lambda: self.version_chosen.emit(self.slider.value()))
        self.slider.valueChanged.connect(self._on_slider)
        self._versions = QWidget()
        self._versions_row = QHBoxLayout(self._versions)
        for widget, stretch in ((self._version_label, 0), (self.slider, 1), (self._newest_label, 0)):
            self._versions_row.addWidget(widget, stretch)
        self._versions_row.addStretch(0)
        self.note = DecisionNote(look)
        self.area = Scroll(look)
        self.area.setAccessibleName("Working Memory")
        self.cards = {section: SectionCard(look, section) for section in Section}
        self.area.column.addWidget(self._versions)
        self.area.column.addWidget(self.note)
        for card in self.cards.values():
            card.turn_requested.connect(self.turn_requested)
            self.area.column.addWidget(card)
        self._build_footer()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.area, 1)
        column.addWidget(self._footer)
        self._remember = True
        self._message = ""
        self._memory: WorkingMemory | None = None
        look.changed.connect(self._on_look)
        self._on_look()
        self.show_memory(None, 0.0)

    def _build_footer(self) -> None:
        self._pending = make_label("", "muted", wrap=True)
        self.update_button = make_button(
            "Update now", "small", self.update_requested.emit, tip="Take in what is pending"
        )
        self._footer = QWidget()
        self._footer_row = QHBoxLayout(self._footer)
        self._footer_row.addWidget(self._pending, 1)
        self.newest_button = make_button("Show the newest", "small", self._on_newest)
        self._footer_row.addWidget(self.newest_button)
        self._footer_row.addWidget(self.update_button)

    def show_memory(self, memory: WorkingMemory | None, now: float) -> None:
        """Show a version of the memory, or seven empty sections."""
        key = (memory.session_id, memory.version) if memory else None
        same = bool(key and self._shown and key[0] == self._shown[0])
        if self._shown is not None and not (key and key[0] == self._shown[0]):
            self._message = ""
            self.area.verticalScrollBar().setValue(0)
        was_live = self._memory is not None and self._memory.version == self._memory.newest
        if self._memory is not None and memory is not None and memory.version > self._memory.version:
            self._message = ""
        self._memory, self._shown = memory, key
        self.setUpdatesEnabled(False)
        live = memory is not None and memory.version == memory.newest
        given = {s.section: s for s in memory.sections} if memory else {}
        for section, card in self.cards.items():
            empty = MemorySection(section=section, lines=(), tokens=0)
            card.set_section(given.get(section, empty), glow=same and live and was_live)
        self._show_versions(memory, now)
        self.note.show_decisions(memory.decisions if memory else (), memory.cause if memory else "")
        self._show_footer()
        self.setUpdatesEnabled(True)

    def set_remember(self, remember: bool) -> None:
        """Whether this conversation enters memory at all."""
        self._remember = remember
        self._show_footer()

    def set_updating(self, updating: bool) -> None:
        """An update asked for by the user is running."""
        self.update_button.setText("Updating…" if updating else "Update now")
        self.update_button.setEnabled(not updating)

    def show_message(self, text: str) -> None:
        """What came of an update that changed nothing."""
        self._message = text
        self._show_footer()

    def _show_versions(self, memory: WorkingMemory | None, now: float) -> None:
        self._versions.setVisible(bool(memory and memory.newest > 0))
        if memory is None or memory.newest == 0:
            return
        when = f" · {ago(memory.committed_at, now)}" if memory.committed_at else ""
        self._version_label.setText(f"v{memory.version}{when}")
        self._newest_label.setText(f"of {memory.newest}")
        if not self.slider.isSliderDown() and not self._slider_timer.isActive():
            blocker = QSignalBlocker(self.slider)
            self.slider.setRange(min(1, memory.newest), memory.newest)
            self.slider.setValue(memory.version)
            blocker.unblock()
        self.slider.setVisible(memory.newest > 1)
        self._newest_label.setVisible(memory.newest > 1)

    def _show_footer(self) -> None:
        memory = self._memory
        lines = sum(line.state is LineState.PENDING for s in (memory.sections if memory else ()) for line in s.lines)
        live = memory is None or memory.version == memory.newest
        if not self._remember:
            text = "Temporary: nothing of this conversation is remembered."
        elif not live and memory is not None:
            text = f"You are looking at v{memory.version}; v{memory.newest} is in use."
        elif lines:
            text = f"{count(lines, 'line')} pending, {'enters' if lines == 1 else 'enter'} with the next update"
        else:
            text = self._message
        self._pending.setText(text)
        self.update_button.setVisible(self._remember and live and lines > 0)
        self.newest_button.setVisible(not live)
        self._footer.setVisible(bool(text))

    def _on_newest(self) -> None:
        if self._memory is not None:
            self.version_chosen.emit(self._memory.newest)
            self.slider.setFocus()

    def _on_slider(self, value: int) -> None:
        self._version_label.setText(f"v{value}")
        self._slider_timer.start()

    def _on_look(self) -> None:
        px = self._look.px
        self.area.column.setContentsMargins(px(12), px(12), px(12), px(12))
        self.area.column.setSpacing(px(10))
        self._versions_row.setContentsMargins(0, 0, 0, 0)
        self._versions_row.setSpacing(px(10))
        self._footer_row.setContentsMargins(px(14), px(6), px(14), px(8))
        self._footer_row.setSpacing(px(10))
        for card in self.cards.values():
            card.restyle()
