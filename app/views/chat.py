"""The centre: title and chips, the messages or a word of welcome, the composer."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.models.conversations import UNTITLED
from app.rendering.display import one_line
from app.theme import Look
from app.views.base import ElidedLabel, make_button, make_frame, set_property
from app.views.composer import Composer
from app.views.transcript import Transcript
from app.views.welcome import Welcome
from core.model import Conversation, Message, MessageId, ModelStatus, TurnId


class ChatPane(QWidget):
    """Says what the user wants with the open conversation, shows what it is told."""

    send_requested = Signal(str)
    stop_requested = Signal()
    draft_changed = Signal(str)
    earlier_wanted = Signal()
    remember_requested = Signal(bool)
    remember_message_requested = Signal(Message)
    copy_requested = Signal(str)
    link_activated = Signal(QUrl)
    models_requested = Signal()
    answers_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("chat")
        self._look = look
        self._conversation: Conversation | None = None
        self._setting_draft = False
        self._header = make_frame("header")
        self.title = ElidedLabel("Keepsake", "title")
        self.memory_chip = make_button(
            "Memory on", "chip", self._on_chip, tip="Keep this conversation in memory or not"
        )
        self.answers_chip = make_button(
            "Answers",
            "chip",
            self.answers_requested.emit,
            tip="Temperature, length, instructions of this conversation",
        )
        self.model_chip = make_button("", "chip", self.models_requested.emit)
        row = self._header_row = QHBoxLayout(self._header)
        row.addWidget(self.title, 1)
        row.addWidget(self.memory_chip)
        row.addWidget(self.answers_chip)
        row.addWidget(self.model_chip)
        self.transcript = Transcript(look)
        self.welcome = Welcome(look)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.transcript)
        self.composer = Composer(look)
        self.setFocusProxy(self.composer.entry)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addWidget(self._pages, 1)
        column.addWidget(self.composer)
        self.composer.send_requested.connect(self.send_requested)
        self.composer.stop_requested.connect(self.stop_requested)
        self.composer.text_changed.connect(self._on_text)
        self.composer.temporary_toggled.connect(lambda on: self.remember_requested.emit(not on))
        self.transcript.earlier_wanted.connect(self.earlier_wanted)
        self.transcript.copy_requested.connect(self.copy_requested)
        self.transcript.link_activated.connect(self.link_activated)
        self.transcript.remember_requested.connect(self.remember_message_requested)
        look.changed.connect(self._on_look)
        self._on_look()
        self.set_conversation(None)

    def set_conversation(self, conversation: Conversation | None) -> None:
        """Show title and memory switch of the open conversation; None when there is none yet."""
        self._conversation = conversation
        title = one_line(conversation.title) if conversation else ""
        self.title.set_whole(title or (UNTITLED if conversation else "Keepsake"))
        remember = conversation is None or conversation.remember
        self.memory_chip.setText("Memory on" if remember else "Temporary")
        self.memory_chip.setAccessibleName(
            "Memory is on for this conversation" if remember else "Temporary: nothing of this is remembered"
        )
        set_property(self.memory_chip, "on", "true" if remember else "false")
        self.memory_chip.setVisible(conversation is not None)
        self._fit_header()
        self.composer.set_temporary(not remember)
        self.welcome.set_first(conversation is None)

    def show_model(self, status: ModelStatus) -> None:
        """Name the model in the header."""
        self.model_chip.setText(status.name)
        self.model_chip.setAccessibleName(f"Model: {status.name}. Open the models")
        self._fit_header()
        self.model_chip.setToolTip(status.detail or "Models: choose, add and remove them")

    def show_answers(self, preset: str) -> None:
        """Name the preset that answers follow; "" for none."""
        self.answers_chip.setText(f"Answers: {preset}" if preset else "Answers")
        self.answers_chip.setAccessibleName(f"How answers are made in this conversation: {preset or 'own or default'}")

    def show_messages(self, messages: Sequence[Message], has_earlier: bool) -> None:
        """Show the conversation's messages, or the empty page."""
        self._pages.setCurrentWidget(self.transcript if messages else self.welcome)
        self.transcript.show_messages(messages, has_earlier)

    def append_piece(self, message_id: MessageId, text: str) -> None:
        """More of a running reply has arrived."""
        self.transcript.append_piece(message_id, text)

    def set_separators(self, separators: Mapping[TurnId, str]) -> None:
        """Which turns begin a segment, and why."""
        self.transcript.set_separators(separators)

    def set_waiting(self, text: str) -> None:
        """What a reply without text waits for."""
        self.transcript.set_waiting(text)

    def set_busy(self, busy: bool) -> None:
        """A reply is running."""
        self.composer.set_busy(busy)

    def set_draft(self, text: str) -> None:
        """Put the kept draft of the conversation into the composer."""
        self._setting_draft = True
        self.composer.set_text(text)
        self.composer.show_error("")
        self._setting_draft = False

    def clear_sent(self, text: str) -> None:
        """`text` is on its way: take it out of the composer, unless it was changed since."""
        if self.composer.text() == text:
            self.set_draft("")

    def show_send_error(self, text: str) -> None:
        """Why a message was not sent; it stays in the composer."""
        self.composer.show_error(text)

    def jump_to(self, turn: TurnId) -> None:
        """Bring a turn on screen."""
        self.transcript.jump_to(turn)

    def _on_text(self, text: str) -> None:
        if not self._setting_draft:
            self.draft_changed.emit(text)

    def _on_chip(self) -> None:
        if self._conversation is not None:
            self.remember_requested.emit(not self._conversation.remember)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_header()

    def _fit_header(self) -> None:
        """Where there is little room, the title is worth more than the chips; the menu has what they do."""
        width = self.width()
        self.model_chip.setVisible(bool(self.model_chip.text()) and width >= self._look.px(520))
        self.answers_chip.setVisible(self._conversation is not None and width >= self._look.px(420))

    def _on_look(self) -> None:
        px = self._look.px
        self._header_row.setContentsMargins(px(20), px(8), px(20), px(8))
        self._header_row.setSpacing(px(10))
        self._header.setMinimumHeight(px(44))
