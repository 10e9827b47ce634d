"""Small widgets and helpers that all panes use. Looks come from the style sheet by the `kind` property."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Look


def set_property(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the style sheet selects by, and restyle if it changed."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def make_label(text: str = "", kind: str = "body", *, wrap: bool = False) -> QLabel:
    """A plain-text label of a kind; text from elsewhere is never read as HTML."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("kind", kind)
    label.setWordWrap(wrap)
    if kind == "chip":
        label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return label


def make_button(
    text: str, kind: str, on_click: Callable[[], object] | None = None, *, name: str = "", tip: str = ""
) -> QPushButton:
    """A button of a kind; `name` is for screen readers where the text alone does not say it."""
    button = QPushButton(text)
    button.setProperty("kind", kind)
    button.setAutoDefault(False)
    if name:
        button.setAccessibleName(name)
    if tip:
        button.setToolTip(tip)
    if kind in ("link", "jump", "chip", "segment"):
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    if on_click is not None:
        button.clicked.connect(lambda _checked=False: on_click())
    return button


def make_named(name: str) -> QWidget:
    """A plain widget that the style sheet knows by name."""
    widget = QWidget()
    widget.setObjectName(name)
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    return widget


def make_frame(kind: str) -> QFrame:
    """A frame of a kind."""
    frame = QFrame()
    frame.setProperty("kind", kind)
    return frame


class ElidedLabel(QLabel):
    """One line that ends in an ellipsis when there is no room; the whole text is its tooltip."""

    def __init__(self, text: str = "", kind: str = "body", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("kind", kind)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._whole = ""
        self.set_whole(text)

    def set_whole(self, text: str) -> None:
        """Show `text`, as much of it as fits."""
        self._whole = text
        self.setAccessibleName(text)
        self._elide()

    def whole(self) -> str:
        """The text without ellipsis."""
        return self._whole

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self._whole) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(20, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        fitting = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, max(20, self.width() - 1))
        if fitting != self.text():
            self.setText(fitting)
        self.setToolTip(self._whole if fitting != self._whole else "")


class _Column(QWidget):
    """The content of a `Scroll`: as wide as the pane, as tall as its layout needs at that width."""

    resized = Signal()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.resized.emit()
        return done


class Scroll(QScrollArea):
    """A vertical scroll area around a column of widgets.

    Qt's own resizing goes by size hints, which for wrapped text are those of another width; this asks
    the layout for the height at the width there is.
    """

    def __init__(self, look: Look, *, margins: int = 12, spacing: int = 10) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._content = _Column()
        self._content.setObjectName("scrolled")
        self._content.resized.connect(self.fit)
        # a stretch below, no alignment: an aligned layout is never taller than its hint, which is that of another width
        whole = QVBoxLayout(self._content)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        self.column = QVBoxLayout()
        whole.addLayout(self.column)
        whole.addStretch(1)
        side = look.px(margins)
        self.column.setContentsMargins(side, side, side, side)
        self.column.setSpacing(look.px(spacing))
        self.setWidget(self._content)

    def fit(self) -> None:
        """Give the content the height it needs; the scroll position stays where it can."""
        for _ in range(2):  # a scroll bar that appears makes the pane narrower
            width = self.viewport().width()
            height = self.column.heightForWidth(width) if self.column.hasHeightForWidth() else 0
            height = max(height, self.column.sizeHint().height() if not height else 0)
            self._content.resize(width, max(height, self.viewport().height()))
            if self.viewport().width() == width:
                break

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class Mark(QWidget):
    """The product's mark: a letter on a rounded square."""

    def __init__(self, look: Look, size: int = 18) -> None:
        super().__init__()
        self._look = look
        self._size = size
        self.setFixedSize(look.px(size), look.px(size))
        look.changed.connect(self._on_look)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._look.colour("accent"))
        radius = self.width() * 0.28
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        painter.setPen(QPen(self._look.colour("on_accent")))
        painter.setFont(self._look.font(self._size * 0.61, 600))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "K")
        painter.end()

    def _on_look(self) -> None:
        self.setFixedSize(self._look.px(self._size), self._look.px(self._size))
        self.update()
