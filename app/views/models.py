"""The Models page: who does what, the list, one model's details, and how a dropped file comes in."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.rendering.model_rows import HERE, ModelAct, ModelRow
from app.theme import Look
from app.views.base import make_button, make_frame, make_label, make_named, set_property
from app.views.model_details import ModelDetails
from app.views.model_list import ModelList
from app.views.server_panel import ServerPanel
from app.views.toast import Toast
from core.model_files import ImportWay

HINT = "Drop a .gguf file anywhere here to add it. Nothing is asked of the network before you press Download."
LIST_WIDTH = 320
WAYS = (
    (ImportWay.REFERENCE, "Leave it where it is", "Only its place is noted; if the file moves, it is gone from here"),
    (
        ImportWay.LINK,
        "Link it",
        "A second name for the same file, in Keepsake's folder; takes no space, same disk only",
    ),
    (ImportWay.COPY, "Copy it", "A file of Keepsake's own; takes the space a second time"),
)


class ImportQuestion(QFrame):
    """Asks once how files come in."""

    chosen = Signal(object)  # ImportWay, None for not at all

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "note")
        self._text = make_label("", "line", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(12), look.px(8), look.px(12), look.px(10))
        column.setSpacing(look.px(8))
        column.addWidget(self._text)
        row = QHBoxLayout()
        self.buttons = {way: make_button(text, "small", partial(self._choose, way), tip=tip) for way, text, tip in WAYS}
        self.cancel = make_button("Cancel", "small", partial(self._choose, None))
        for button in (*self.buttons.values(), self.cancel):
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        self.hide()

    def _choose(self, way: ImportWay | None) -> None:
        self.chosen.emit(way)

    def ask(self, names: Sequence[str]) -> None:
        """Ask about files; nothing to ask if there are none."""
        if names:
            what = f"“{names[0]}”" if len(names) == 1 else f"{len(names)} files"
            ways = "\n".join(f"• {text}: {tip[0].lower()}{tip[1:]}." for _, text, tip in WAYS)
            self._text.setText(f"How should {what} come into the list? You are asked once.\n{ways}")
            self._text.setAccessibleName(self._text.text())
        self.setVisible(bool(names))
        if names:
            self.buttons[ImportWay.REFERENCE].setFocus()


class ModelsPage(QWidget):
    """Says what the user wants with a model, shows what it is told."""

    acted = Signal(str, ModelAct)
    add_requested = Signal()
    import_way_chosen = Signal(object)
    undo_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._key = ""
        self._header = make_frame("header")
        self._roles = make_label("", "muted", wrap=True)
        self.add_button = make_button("Add a file…", "small", self.add_requested.emit, tip="Ctrl+O")
        self.server_button = make_button(
            "Another program…", "small", self._toggle_server, tip="Let Ollama, LM Studio or another server answer"
        )
        self.server_button.setCheckable(True)
        self.server = ServerPanel(look)
        self.server.hide()
        self._build_header()
        self.question = ImportQuestion(look)
        self.question.chosen.connect(self.import_way_chosen)
        self._message = make_label("", "error", wrap=True)
        self._notes = make_label("", "muted", wrap=True)
        self.list = ModelList(look)
        self.details = ModelDetails(look)
        self._side = make_named("sidebar")
        side = QVBoxLayout(self._side)
        side.setContentsMargins(0, 0, 0, 0)
        side.addWidget(self.list)
        self._hint = make_label(HINT, "small", wrap=True)
        self._top = QVBoxLayout()
        for widget in (self.server, self.question, self._message, self._notes):
            self._top.addWidget(widget)
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self._side)
        body.addWidget(self.details, 1)
        self._bottom = QHBoxLayout()
        self._bottom.addWidget(self._hint, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addLayout(self._top)
        column.addLayout(body, 1)
        column.addLayout(self._bottom)
        self.toast = Toast(look, self, above=48)
        self.toast.undo_requested.connect(self.undo_requested)
        self.list.acted.connect(self.acted)
        self.details.acted.connect(self.acted)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.setFocusProxy(self.list)
        look.changed.connect(self._on_look)
        self._on_look()
        self.show_message("")
        self.show_rows((), "", ())

    def _build_header(self) -> None:
        row = self._header_row = QHBoxLayout(self._header)
        texts = QVBoxLayout()
        texts.addWidget(make_label("Models", "title"))
        texts.addWidget(self._roles)
        row.addLayout(texts, 1)
        row.addWidget(self.server_button)
        row.addWidget(self.add_button)

    def show_rows(self, rows: Sequence[ModelRow], roles: str, notes: Sequence[str]) -> None:
        """Show the list, which model does what, and what else is to be said."""
        place = self.list.currentIndex().row()
        in_chat = (row.key for row in rows if row.group == HERE and "chat" in row.mark)
        key = self._key or next(in_chat, "")
        self.list.rows.set_rows(rows)
        if not self.list.select(key):
            index = self.list.rows.nearest(max(0, place))
            if index.isValid():
                self.list.setCurrentIndex(index)
        self.details.show_row(self.list.current())
        self._roles.setText(roles)
        self._notes.setText("\n".join(notes))
        self._notes.setVisible(bool(notes))
        self._fit_top()

    def show_message(self, text: str) -> None:
        """What an import led to; "" takes it away."""
        self._message.setText(text)
        self._message.setVisible(bool(text))
        set_property(self._message, "kind", "muted" if text.endswith("…") else "error")
        self._fit_top()

    def ask_import_way(self, names: Sequence[str]) -> None:
        """Ask how files come in; an empty list takes the question away."""
        self.question.ask(names)
        self._fit_top()
        if not names:
            self.list.setFocus()

    def select(self, key: str) -> None:
        """Select a model."""
        self.list.select(key)

    def follow(self, old_key: str, new_key: str) -> None:
        """What was one row is another now: select it if the old one was selected, or its place was."""
        if self._key == old_key or not self.list.rows.index_of(old_key).isValid():
            self.list.select(new_key)

    def offer_undo(self, text: str) -> None:
        """Say what was done, with Undo."""
        self.toast.show_text(text, undo=True)

    def set_dropping(self, dropping: bool) -> None:
        """Show that a file may be let go here."""
        set_property(self._hint, "kind", "kept" if dropping else "small")
        self._hint.setText("Let go to add it." if dropping else HINT)

    def _on_current(self, index: QModelIndex) -> None:
        row = self.list.rows.row_at(index)
        self._key = row.key if row else self._key
        self.details.show_row(row)

    def _toggle_server(self) -> None:
        self.server.setVisible(self.server.isHidden())
        self.server_button.setChecked(not self.server.isHidden())
        self._fit_top()
        if not self.server.isHidden():
            self.server.address.setFocus()

    def _fit_top(self) -> None:
        """Where nothing is said above the list, no room is kept for it."""
        empty = all(widget.isHidden() for widget in (self.server, self.question, self._message, self._notes))
        side, above = self._look.px(20), 0 if empty else self._look.px(8)
        self._top.setContentsMargins(side, above, side, above)

    def _on_look(self) -> None:
        px = self._look.px
        self._header_row.setContentsMargins(px(20), px(12), px(20), px(12))
        self._fit_top()
        self._top.setSpacing(px(6))
        self._bottom.setContentsMargins(px(20), px(7), px(20), px(8))
        self._side.setFixedWidth(px(LIST_WIDTH))
