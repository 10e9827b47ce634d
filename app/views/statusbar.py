"""The bottom line: model, state, speed, context fill, memory; problems in words above it."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.rendering.words import phase, tokens_k
from app.theme import Look
from app.views.base import ElidedLabel, make_label, make_named, set_property
from core.model import ModelPhase, ModelStatus

_TONES = {
    ModelPhase.READY: "good",
    ModelPhase.READING: "good",
    ModelPhase.WRITING: "good",
    ModelPhase.ASLEEP: "good",
    ModelPhase.ABSENT: "bad",
    ModelPhase.FAILED: "bad",
}
LOCAL = "nothing leaves this computer"
_SIGNS = {"good": "●", "bad": "▲", "busy": "○"}


class Meter(QWidget):
    """A thin bar that fills up."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._share = 0.0
        look.changed.connect(self._on_look)
        self._on_look()

    def set_share(self, share: float) -> None:
        """Fill to `share`, 0 to 1."""
        self._share = min(1.0, max(0.0, share))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        height, radius = self._look.px(5), self._look.px(5) / 2
        bar = QRectF(0, (self.height() - height) / 2, self.width(), height)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._look.colour("line"))
        painter.drawRoundedRect(bar, radius, radius)
        if self._share > 0:
            bar.setWidth(max(height, bar.width() * self._share))
            painter.setBrush(self._look.colour("warning" if self._share > 0.9 else "accent"))
            painter.drawRoundedRect(bar, radius, radius)
        painter.end()

    def _on_look(self) -> None:
        self.setFixedWidth(self._look.px(84))


class StatusBar(QWidget):
    """Shows the model's status and the memory's; nothing can be clicked here."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._problems = make_named("problems")
        self._problems.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._problem_text = make_label("", "line", wrap=True)
        self._problem_row = QHBoxLayout(self._problems)
        self._problem_row.addWidget(self._problem_text)
        self._problems.hide()
        self._engine_problems: tuple[str, ...] = ()
        self._model_problem = ""
        self._bar = make_named("statusBar")
        self._bar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._name = make_label("opening your conversations…", "muted")
        self._state = make_label("", "muted")
        self._speed = make_label("", "muted")
        self._context = make_label("context", "muted")
        self._meter = Meter(look)
        self._fill = make_label("", "muted")
        self._reuse = make_label("", "muted")
        self._memory = make_label("", "muted")
        self._local = ElidedLabel(LOCAL, "muted")
        self._local.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._context_box = QWidget()
        self._context_row = QHBoxLayout(self._context_box)
        parts: tuple[QWidget, ...] = (self._context, self._meter, self._fill)
        for widget in parts:
            self._context_row.addWidget(widget)
        self._row = QHBoxLayout(self._bar)
        parts = (self._name, self._state, self._speed, self._context_box, self._reuse, self._memory)
        for widget in parts:
            self._row.addWidget(widget)
        self._row.addWidget(self._local, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._problems)
        column.addWidget(self._bar)
        look.changed.connect(self._on_look)
        self._on_look()
        for widget in (self._speed, self._context_box, self._reuse):
            widget.hide()

    def show_model(self, status: ModelStatus) -> None:
        """Show what the model host is doing."""
        tone = _TONES.get(status.phase, "busy")
        absent = status.phase is ModelPhase.ABSENT
        self._name.setText(status.name)
        self._name.setVisible(bool(status.name) and not absent)
        self._model_problem = status.detail if tone == "bad" else ""
        self._show_problem_strip()
        self._state.setText(f"{_SIGNS[tone]} {phase(status)}")
        set_property(self._state, "tone", tone)
        speed = status.tokens_per_s
        self._speed.setText(f"{speed:.0f} tokens/s" if speed else "")
        self._speed.setVisible(bool(speed))
        size, used = status.context_size_tokens, status.context_used_tokens
        self._context_box.setVisible(size > 0)
        self._fill.setText(f"{tokens_k(used)} / {tokens_k(size)}")
        self._context_box.setToolTip(f"{used:,} of {size:,} tokens of the model's context are in use")
        self._meter.set_share(used / size if size else 0.0)
        self._meter.setAccessibleName(f"context: {used} of {size} tokens used")
        reused = status.reused_share
        percent = round(reused * 100) if reused is not None else 0
        self._reuse.setText(f"{percent} % of the prompt reused" if percent else "")
        self._reuse.setVisible(bool(percent) and self.width() > self._look.px(900))

    def show_other_computer(self, host: str) -> None:
        """Say that answers come from another computer, "" if from this one."""
        self._local.set_whole(f"▲ what you write goes to {host}" if host else LOCAL)
        set_property(self._local, "tone", "busy" if host else "")

    def show_memory_state(self, text: str) -> None:
        """Say whether memory keeps up."""
        self._memory.setText(text)

    def show_problems(self, problems: Sequence[str]) -> None:
        """What does not work as it should, one sentence each."""
        self._engine_problems = tuple(problems)
        self._show_problem_strip()

    def _show_problem_strip(self) -> None:
        """Why there is no model stands here too, for a tooltip is seen by few."""
        model = (self._model_problem,) if self._model_problem not in ("", *self._engine_problems) else ()
        problems = model + self._engine_problems
        self._problem_text.setText("\n".join(f"▲ {problem}" for problem in problems))
        self._problems.setVisible(bool(problems))

    def _on_look(self) -> None:
        px = self._look.px
        self._bar.setFixedHeight(px(28))
        self._row.setContentsMargins(px(14), 0, px(14), 0)
        self._row.setSpacing(px(20))
        self._context_row.setContentsMargins(0, 0, 0, 0)
        self._context_row.setSpacing(px(6))
        self._problem_row.setContentsMargins(px(14), px(6), px(14), px(6))
