"""Another program that answers: its address, its models, and the question before another computer is asked."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QMenu, QVBoxLayout

from app.rendering.model_rows import ACT_TIPS, ACT_WORDS, ModelAct
from app.theme import Look
from app.views.base import make_button, make_label, set_property
from core.model_files import ServedModel

LEAD = (
    "Ollama, LM Studio, llama-server and others can answer in the place of the models here, for chat and for memory. "
    "Off until you choose one; only this computer is asked."
)
EXAMPLE = "http://127.0.0.1:11434/v1"


class ServerPanel(QFrame):
    """Says what the user wants of a server, shows what is known of it."""

    look_requested = Signal(str)
    allowed = Signal(str, str)  # host, address
    use_requested = Signal(str, str)  # address, model
    stop_requested = Signal()
    exam_requested = Signal()
    stop_exam_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._names: tuple[str, ...] = ()
        self._model = ""
        self._host = ""
        self._served: ServedModel | None = None
        self._state = make_label(LEAD, "line", wrap=True)
        self.address = QLineEdit(placeholderText=EXAMPLE)
        self.address.setAccessibleName("Address of the program's server")
        self.address.returnPressed.connect(self._on_look_up)
        self.look_button = make_button("Look", "small", self._on_look_up, tip="Ask this address which models it has")
        self.models = make_button("", "small", self._open_models)
        self.menu: QMenu | None = None
        self.use_button = make_button("Let it answer", "send", self._on_use)
        self.stop_button = make_button("Use the models here again", "small", self.stop_requested.emit)
        self._exam = make_label("", "muted", wrap=True)
        self._examining = False
        self.exam_button = make_button("", "small", self._on_exam)
        self._question = make_label("", "warning", wrap=True)
        self.allow_button = make_button("", "small", self._on_allow)
        self._message = make_label("", "error", wrap=True)
        row = QHBoxLayout()
        row.addWidget(self.address, 1)
        for button in (self.look_button, self.models, self.use_button):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(14), look.px(10), look.px(14), look.px(12))
        column.setSpacing(look.px(8))
        column.addWidget(self._state)
        column.addLayout(row)
        column.addWidget(self._question)
        column.addWidget(self.allow_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._message)
        column.addWidget(self._exam)
        foot = QHBoxLayout()
        foot.addWidget(self.exam_button)
        foot.addWidget(self.stop_button)
        foot.addStretch(1)
        column.addLayout(foot)
        self.show_served(None)
        self.show_server_models(())
        self.ask_for_host("")
        self.show_exam("", running=False)
        self.show_server_message("")

    def show_served(self, served: ServedModel | None) -> None:
        """Say who answers now."""
        if served is not None and served != self._served:
            self.address.setText(served.address)
        self._served = served
        self._state.setText(f"{served.model} answers, served by {served.address}." if served else LEAD)
        self.stop_button.setVisible(served is not None)

    def show_server_models(self, names: Sequence[str]) -> None:
        """Offer the models a server has."""
        self._names = tuple(names)
        self._choose(self._names[0] if self._names else "")

    def show_server_message(self, text: str) -> None:
        """Say what a request led to."""
        self._message.setText(text)
        self._message.setVisible(bool(text))
        set_property(self._message, "kind", "muted" if text.endswith("…") else "error")

    def show_exam(self, text: str, *, running: bool) -> None:
        """Say what the served model's memory exam found or where it stands; "" where there is none to take."""
        self._examining = running
        self._exam.setText(text)
        self._exam.setVisible(bool(text))
        act = ModelAct.STOP_EXAM if running else ModelAct.EXAMINE
        self.exam_button.setText(ACT_WORDS[act])
        self.exam_button.setToolTip(ACT_TIPS.get(act, ""))
        self.exam_button.setVisible(bool(text))

    def ask_for_host(self, host: str) -> None:
        """Ask before another computer is asked for anything; "" takes the question away."""
        self._host = host
        self._question.setText(
            f"▲ {host} is not this computer. All that you write there, and what memory adds to it, would leave this "
            "computer. Keepsake has not asked it for anything yet."
        )
        self.allow_button.setText(f"Allow {host}")
        self._question.setVisible(bool(host))
        self.allow_button.setVisible(bool(host))

    def _choose(self, name: str) -> None:
        self._model = name
        self.models.setText(f"{name}  ▾")
        self.models.setAccessibleName(f"Model of the server: {name}")
        self.models.setVisible(bool(name))
        self.use_button.setVisible(bool(name))

    def _open_models(self) -> None:
        menu = self.menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in self._names:
            entry = QAction(name.replace("&", "&&"), menu)
            entry.triggered.connect(partial(self._on_choice, name))
            menu.addAction(entry)
        menu.popup(self.models.mapToGlobal(self.models.rect().bottomLeft()))

    def _on_choice(self, name: str, _checked: bool = False) -> None:
        self._choose(name)

    def _address(self) -> str:
        return self.address.text().strip() or EXAMPLE

    def _on_look_up(self) -> None:
        self.show_server_models(())
        self.look_requested.emit(self._address())

    def _on_exam(self) -> None:
        (self.stop_exam_requested if self._examining else self.exam_requested).emit()

    def _on_allow(self) -> None:
        self.allowed.emit(self._host, self._address())

    def _on_use(self) -> None:
        self.use_requested.emit(self._address(), self._model)
