"""Where everything in a row of memory stands: text, evidence, links. Measured once for a width and look."""

from dataclasses import dataclass

from PySide6.QtCore import QElapsedTimer, QPointF, QRect
from PySide6.QtGui import QFont, QFontMetrics, QTextCharFormat, QTextLayout, QTextOption

from app.rendering.memory_rows import LABELS, Act, Row, RowKind
from app.theme import Look

OUTER, PAD = 12, 13  # design pixels: around a card, inside it
SIGN_X, SIGN_W, GAP = 6, 14, 8
ROW_PAD = 3
CARD_GAP, CARD_PAD = 10, 10
SLICE_MS = 3  # of measuring at a time
MAX_TURNS, WIDE_ROW = 3, 300  # how much evidence stands beside a line, from what width (design pixels) on
FOLD_PLACE = "fold"
_MUTED = ("removed", "pending", "muted")


@dataclass(frozen=True, slots=True)
class Zone:
    """A place in a row that can be clicked, relative to the row's corner."""

    rect: QRect
    target: str  # an act, or `turn:24`
    label: str
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Laid:
    """A row that was measured; places are relative to its corner."""

    height: int
    card: QRect
    frame: QRect  # what is tinted and framed
    text: QTextLayout | None
    text_at: QPointF
    text_height: int
    zones: tuple[Zone, ...]
    note: QRect  # HEAD: at the right; PARKED: the reason under the text
    suffix: QRect  # the small words: after the text, under the evidence, or on a line of their own


class RowLayouts:
    """Measures rows and remembers them. Of many rows at once only some are measured, the others guessed for now."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._known: dict[tuple[str, int], tuple[Row, Laid]] = {}  # by key and width
        self._guessed: dict[tuple[str, int], tuple[Row, int]] = {}  # and the height they were given
        self._fonts: dict[tuple[float, int], QFont] = {}
        self._slice = QElapsedTimer()

    def clear(self) -> None:
        """Forget all: theme or zoom changed."""
        self._known.clear()
        self._guessed.clear()
        self._fonts.clear()

    def begin_slice(self) -> None:
        """From now on rows are measured for a few milliseconds, then guessed."""
        self._slice.start()

    def height(self, row: Row, width: int) -> int:
        """The height of a row; a guess where measuring it now would make the window wait."""
        key = (row.key, width)
        if self._find(row, width) is not None or self._has_time():
            return self.get(row, width).height
        guess = self._guessed.get(key)
        if guess is None or guess[0] != row:
            self._guessed[key] = guess = (row, self._guess(row, width))
        return guess[1]

    def font(self, size: float, weight: int = 400) -> QFont:
        """The interface's font, made once."""
        found = self._fonts.get((size, weight))
        if found is None:
            found = self._fonts[size, weight] = self._look.font(size, weight)
        return found

    def _find(self, row: Row, width: int) -> Laid | None:
        found = self._known.get((row.key, width))
        return found[1] if found is not None and (found[0] is row or found[0] == row) else None

    def measure_some(self, width: int) -> bool:
        """Measure rows that were guessed, for a few milliseconds; True while some are left."""
        self._guessed = {key: guess for key, guess in self._guessed.items() if key[1] == width}
        self.begin_slice()
        while self._guessed and self._has_time():
            self.get(next(iter(self._guessed.values()))[0], width)
        return bool(self._guessed)

    @property
    def has_guesses(self) -> bool:
        """Whether the height of some row is a guess."""
        return bool(self._guessed)

    def _has_time(self) -> bool:
        return not self._slice.isValid() or self._slice.elapsed() < SLICE_MS

    def _guess(self, row: Row, width: int) -> int:
        """A height from the number of characters."""
        px = self._look.px
        if row.kind is RowKind.HEAD:
            return px(CARD_GAP + CARD_PAD + 20)
        columns = max(10, int((width - px(150)) / px(6.6)))
        lines = 1 + len(row.shown) // columns + bool(row.note) + bool(row.links)
        return px(17 * lines + 2 * ROW_PAD + (CARD_PAD if row.last else 0))

    def get(self, row: Row, width: int) -> Laid:
        """Where things stand in a row of this width."""
        found = self._find(row, width)
        if found is None:
            if len(self._known) > 4_000:
                self._known.clear()
            found = self._head(row, width) if row.kind is RowKind.HEAD else self._line(row, width)
            self._known[row.key, width] = (row, found)
            self._guessed.pop((row.key, width), None)
        return found

    def _head(self, row: Row, width: int) -> Laid:
        px, empty = self._look.px, row.tone == "quiet"
        metrics = QFontMetrics(self.font(12))
        gap, pad = px(CARD_GAP), px(1 if empty else CARD_PAD)
        height = metrics.height()
        total = gap + pad + height + px(1 if empty else 4) + (px(1) if row.last and not empty else 0)
        x, right = px(OUTER + PAD), width - px(OUTER + PAD)
        zones = []
        edge = right
        if Act.ADD in row.links:
            label = "+ Add"
            size = metrics.horizontalAdvance(label)
            zones.append(Zone(QRect(right - size, gap + pad, size, height), Act.ADD, label, empty))
            edge = right - size - px(10)
        note = QRect(x, gap + pad, edge - x, height)
        card = QRect(px(OUTER), gap, width - 2 * px(OUTER), total - gap)
        frame = QRect(px(OUTER) + px(5), gap + pad - px(2), width - 2 * px(OUTER + 5), height + px(4))
        return Laid(total, card, frame, None, QPointF(x, gap + pad), height, tuple(zones), note, QRect())

    def _line(self, row: Row, width: int) -> Laid:
        px = self._look.px
        left, right = px(OUTER + PAD), width - px(OUTER + PAD)
        text_x = left + px(SIGN_X + SIGN_W + GAP)
        small = QFontMetrics(self.font(11))
        zones: list[Zone] = []
        edge = self._evidence(row, right - px(SIGN_X), right - left, small, zones)
        text = self._text(row, max(px(60), edge - text_x))
        text_height = round(text.boundingRect().height())
        suffix = self._suffix(row, text, text_x, edge, right - px(SIGN_X), small)
        y = max(px(ROW_PAD) + text_height, suffix.bottom() + 1)
        note = QRect()
        if row.note:
            wide = max(px(60), right - px(SIGN_X) - text_x)
            lines = self._wrapped(row.note, wide, small)
            note = QRect(text_x, y, wide, lines)
            y += lines
        if row.links and row.kind is not RowKind.FOLD:
            y += px(1)
            self._links(row, text_x, right - px(SIGN_X), y, small, zones)
            y = max(zone.rect.bottom() + 1 for zone in zones)
        y += px(ROW_PAD)
        frame = QRect(left, 0, right - left, y)
        if row.kind is RowKind.FOLD:
            zones.append(Zone(QRect(left, 0, right - left, y), FOLD_PLACE, ""))
        total = y + (px(CARD_PAD) if row.last else 0)
        card = QRect(px(OUTER), 0, width - 2 * px(OUTER), total)
        return Laid(total, card, frame, text, QPointF(text_x, px(ROW_PAD)), text_height, tuple(zones), note, suffix)

    def _evidence(self, row: Row, right: int, width: int, metrics: QFontMetrics, zones: list[Zone]) -> int:
        """Place the turns at the right; returns where the text must end."""
        if not row.turns:
            return right
        px = self._look.px
        shown = row.turns[-(MAX_TURNS if width >= px(WIDE_ROW) else 1) :]
        more = len(row.turns) > len(shown)
        word = "turn " if len(row.turns) == 1 else "turns "
        labels = [f"{word if i == 0 else ''}{'…, ' if more and i == 0 else ''}{n}" for i, (_, n) in enumerate(shown)]
        labels = [label + (", " if i < len(labels) - 1 else "") for i, label in enumerate(labels)]
        x = right - sum(metrics.horizontalAdvance(label) for label in labels)
        left, y = x, px(ROW_PAD + 2)
        for (turn, _), label in zip(shown, labels, strict=True):
            size = metrics.horizontalAdvance(label)
            zones.append(Zone(QRect(x, y, size, metrics.height()), f"turn:{turn}", label))
            x += size
        return left - px(GAP)

    def _links(self, row: Row, x: int, right: int, y: int, metrics: QFontMetrics, zones: list[Zone]) -> None:
        """Place links in a line, in the next one where there is no room."""
        px, left = self._look.px, x
        for act in row.links:
            label = LABELS[act][0]
            size = metrics.horizontalAdvance(label)
            if x > left and x + size > right:
                x, y = left, y + metrics.height()
            zones.append(Zone(QRect(x, y, size, metrics.height()), act, label))
            x += size + px(14)

    def _text(self, row: Row, width: int) -> QTextLayout:
        layout = QTextLayout(row.shown, self.font(12 if row.kind in (RowKind.WARNING, RowKind.FOLD) else 13))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats([self._format(row)])
        layout.setCacheEnabled(True)
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, y))
            y += line.height()
        layout.endLayout()
        return layout

    def _suffix(self, row: Row, text: QTextLayout, x: int, edge: int, right: int, metrics: QFontMetrics) -> QRect:
        """Place the small words where they cost no line, if there is such a place."""
        if not row.suffix:
            return QRect()
        px, width, height = self._look.px, metrics.horizontalAdvance(row.suffix), metrics.height()
        last = text.lineAt(text.lineCount() - 1)
        bottom = px(ROW_PAD) + round(last.y() + last.height())
        end = x + round(last.naturalTextWidth()) + px(7)
        if end + width <= edge:
            return QRect(end, bottom - height - px(1), width, height)
        if text.lineCount() > 1 and right - width >= edge:
            return QRect(right - width, bottom - height - px(1), width, height)
        return QRect(x, bottom, width, height)

    def _format(self, row: Row) -> QTextLayout.FormatRange:
        found = QTextLayout.FormatRange()
        found.start, found.length = 0, _utf16(row.shown)
        form = QTextCharFormat()
        colour = "warning" if row.kind is RowKind.WARNING else "muted" if row.tone in _MUTED else "text"
        form.setForeground(self._look.colour(colour))
        if row.tone == "removed":
            form.setFontStrikeOut(True)
        found.format = form
        return found

    @staticmethod
    def _wrapped(text: str, width: int, metrics: QFontMetrics) -> int:
        return metrics.boundingRect(QRect(0, 0, width, 10_000), _WRAP, text).height()


def _utf16(text: str) -> int:
    """The length of a text as Qt counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_WRAP = 0x1000  # Qt.TextFlag.TextWordWrap
