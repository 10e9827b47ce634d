"""How the window looks: colours from a theme file, one style sheet, fonts and lengths that follow the zoom.

Relies on `resources/themes`: `light.toml`, `dark.toml` (colours) and `window.qss` (the style sheet,
with places for colours and lengths). Widgets that paint themselves ask `Look` for colours.
"""

import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

PT_PER_PX = 0.75  # design pixels are 1/96 inch, points 1/72
MIN_ZOOM_PERCENT, MAX_ZOOM_PERCENT = 50, 200
_PLACE = re.compile(r"\{(\d+(?:\.\d+)?)(px|pt)\}|\{([a-z_]+)\}")
_CJK_FAMILIES = ["Noto Sans CJK SC", "Source Han Sans SC", "PingFang SC", "Microsoft YaHei UI", "WenQuanYi Micro Hei"]
_MONO_FAMILIES = ["DejaVu Sans Mono", "Menlo", "Cascadia Mono", "Consolas", "Noto Sans Mono"]


class ThemeMode(StrEnum):
    """What the user chose in View > Theme. The values are stored."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """One set of colours, each as `#RRGGBB`."""

    name: str
    dark: bool
    colours: Mapping[str, str]
    code: Mapping[str, str]  # by kind of code token


def load_theme(path: Path) -> Theme:
    """Read a theme file."""
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    return Theme(name=raw["name"], dark=raw["dark"], colours=dict(raw["colours"]), code=dict(raw["code"]))


def fill_sheet(sheet: str, theme: Theme, zoom_percent: int) -> str:
    """Put colours and zoomed lengths into a style sheet's places; an unknown colour is a KeyError."""

    def fill(match: re.Match[str]) -> str:
        number, unit, colour = match.groups()
        if colour is not None:
            return theme.colours[colour]
        value = float(number) * zoom_percent / 100
        return f"{max(1, round(value))}px" if unit == "px" else f"{value * PT_PER_PX:.2f}pt"

    return _PLACE.sub(fill, re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))


def make_palette(theme: Theme) -> QPalette:
    """The palette for what the style sheet does not reach: links, selections, disabled text."""
    palette = QPalette()
    role = QPalette.ColorRole
    for target, name in {
        role.Window: "background", role.WindowText: "text", role.Base: "card", role.AlternateBase: "side",
        role.Text: "text", role.Button: "card", role.ButtonText: "text", role.BrightText: "removed",
        role.Highlight: "accent", role.HighlightedText: "on_accent", role.Link: "accent",
        role.LinkVisited: "accent", role.ToolTipBase: "card", role.ToolTipText: "text",
        role.PlaceholderText: "muted", role.Accent: "accent", role.Mid: "line", role.Light: "card",
        role.Midlight: "hover", role.Dark: "handle", role.Shadow: "line",
    }.items():  # fmt: skip
        palette.setColor(target, QColor(theme.colours[name]))
    for target in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, target, QColor(theme.colours["muted"]))
    return palette


def bounded_zoom(percent: int) -> int:
    """The nearest zoom that is allowed."""
    return min(MAX_ZOOM_PERCENT, max(MIN_ZOOM_PERCENT, percent))


def ui_families() -> list[str]:
    """Font families to try in order: a clear sans first, Chinese as the fallback."""
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
    first = ["Inter", "Noto Sans"] if sys.platform.startswith("linux") else []
    return [*first, system, *_CJK_FAMILIES]


class Look(QObject):
    """The theme and zoom in use. `changed` is emitted after the application wears the new look, `changing` before."""

    changing = Signal()
    changed = Signal()

    def __init__(self, app: QApplication, themes: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._themes = {mode: load_theme(themes / f"{mode}.toml") for mode in ("light", "dark")}
        self._sheet = (themes / "window.qss").read_text(encoding="utf-8")
        self._families = ui_families()
        self.mode = ThemeMode.SYSTEM
        self.zoom_percent = 100
        self.theme = self._themes["light"]
        self._worn = False
        self._cache: dict[str, str] = {}
        self._hints = app.styleHints()  # kept: what it hands out dies with this wrapper
        app.setStyle("Fusion")
        self._hints.colorSchemeChanged.connect(self._on_system_change)

    def apply(self, *, mode: ThemeMode | None = None, zoom_percent: int | None = None) -> None:
        """Take a theme or zoom, or put on the present ones for the first time."""
        self.mode = self.mode if mode is None else mode
        if zoom_percent is not None:
            self.zoom_percent = bounded_zoom(zoom_percent)
        scheme = {ThemeMode.LIGHT: Qt.ColorScheme.Light, ThemeMode.DARK: Qt.ColorScheme.Dark}
        self._hints.setColorScheme(scheme.get(self.mode, Qt.ColorScheme.Unknown))
        self._wear()

    def colour(self, name: str) -> QColor:
        """A colour of the theme by name."""
        return QColor(self.theme.colours[name])

    def code_colour(self, kind: str) -> QColor:
        """A colour of code by kind of token."""
        return QColor(self.theme.code.get(kind, self.theme.colours["text"]))

    def cached(self, name: str, make: Callable[[], str]) -> str:
        """A text that depends on theme and zoom only, made once for each look."""
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    def px(self, length: float) -> int:
        """A design length in device-independent pixels at the present zoom."""
        return max(1, round(length * self.zoom_percent / 100)) if length else 0

    def font(self, size: float, weight: int = 400) -> QFont:
        """The interface's font at a size in design pixels."""
        font = QFont()
        font.setFamilies(self._families)
        font.setPointSizeF(size * PT_PER_PX * self.zoom_percent / 100)
        font.setWeight(QFont.Weight(weight))
        return font

    def mono(self, size: float = 12.5) -> QFont:
        """The font of code."""
        font = self.font(size)
        font.setFamilies([*_MONO_FAMILIES, "monospace", *_CJK_FAMILIES])
        font.setStyleHint(QFont.StyleHint.Monospace)
        return font

    @property
    def motion(self) -> bool:
        """Whether things may move: not when the system asks for reduced motion."""
        hints = self._hints.accessibility()
        return bool(hints.motionPreference() != Qt.MotionPreference.ReducedMotion)

    def _wear(self) -> None:
        dark = self.mode is ThemeMode.DARK or (
            self.mode is ThemeMode.SYSTEM and self._hints.colorScheme() is Qt.ColorScheme.Dark
        )
        theme = self._themes["dark" if dark else "light"]
        if theme is not self.theme or not self._worn:
            self.theme = theme
            self._app.setPalette(make_palette(theme))
        if self.font(14) != self._app.font():
            self._app.setFont(self.font(14))
        self._worn = True
        self._cache.clear()
        self.changing.emit()
        self._app.setStyleSheet(fill_sheet(self._sheet, self.theme, self.zoom_percent))
        self.changed.emit()

    def _on_system_change(self) -> None:
        if self.mode is ThemeMode.SYSTEM:
            self._wear()
