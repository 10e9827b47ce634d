"""Both themes: the same colours by name, text that can be read, a style sheet without gaps."""

import pytest

from app.theme import Theme, fill_sheet, load_theme

NAMES = ("light", "dark")
TEXT_ON = {
    "text": ("background", "side", "card", "code", "bubble", "selected", "hover", "added_soft", "removed_soft",
             "warning_soft", "accent_soft"),
    "muted": ("background", "side", "card", "selected", "hover", "removed_soft"),
    "accent": ("background", "side", "card", "accent_soft", "added_soft", "removed_soft", "warning_soft"),
    "on_accent": ("accent", "accent_strong"),
    "added": ("added_soft", "card"),
    "removed": ("removed_soft", "card", "background", "side"),
    "warning": ("warning_soft", "card", "side"),
}  # fmt: skip


@pytest.fixture(params=NAMES)
def theme(request, root) -> Theme:
    return load_theme(root / "resources" / "themes" / f"{request.param}.toml")


def luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_has_a_contrast_of_at_least_four_and_a_half(theme):
    pairs = [(text, ground) for text, grounds in TEXT_ON.items() for ground in grounds]
    weak = {p: round(contrast(*(theme.colours[n] for n in p)), 2) for p in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}


def test_code_can_be_read(theme):
    weak = {kind: contrast(colour, theme.colours["code"]) for kind, colour in theme.code.items()}
    assert {kind: ratio for kind, ratio in weak.items() if ratio < 4.5} == {}


def test_themes_name_the_same_colours(root):
    light, dark = (load_theme(root / "resources" / "themes" / f"{name}.toml") for name in NAMES)
    assert light.colours.keys() == dark.colours.keys()
    assert light.code.keys() == dark.code.keys()


@pytest.mark.parametrize("zoom_percent", [50, 100, 200])
def test_the_style_sheet_is_filled_whole_and_never_uses_pixels_for_type(theme, root, zoom_percent):
    sheet = (root / "resources" / "themes" / "window.qss").read_text(encoding="utf-8")
    filled = fill_sheet(sheet, theme, zoom_percent)
    assert filled.count("{") == filled.count("}") == sheet.count("; }") + sheet.count("{ }")
    sizes = [part.split(";")[0].strip() for part in filled.split("font-size:")[1:]]
    assert sizes
    assert all(size.endswith("pt") for size in sizes)
