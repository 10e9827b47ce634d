"""Presets: ways to ask the model that ship with the program, from resources/presets; and the limits of the values."""

import tomllib
from dataclasses import fields
from pathlib import Path

from core.config import ModelSettings
from core.errors import SettingsError
from core.model_files import Preset, Sampling

LIMITS: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "top_k": (0, 1000),
    "min_p": (0.0, 1.0),
    "repeat_penalty": (1.0, 2.0),
    "max_tokens": (1, 32_768),
}
_NAMES = {
    "temperature": "Temperature",
    "top_p": "Top-p",
    "top_k": "Top-k",
    "min_p": "Min-p",
    "repeat_penalty": "Repeat penalty",
    "max_tokens": "Longest answer",
}


def load_presets(resources: Path) -> tuple[Preset, ...]:
    """Return the presets in the order they are offered."""
    found = []
    for file in sorted((resources / "presets").glob("*.toml")):
        data = tomllib.loads(file.read_text("utf-8"))
        preset = Preset(
            id=file.stem,
            names=tuple(data["name"].items()),
            sampling=Sampling(**data["sampling"]),
            system_prompts=tuple(data.get("system_prompt", {}).items()),
        )
        found.append((data["order"], preset))
    return tuple(preset for _, preset in sorted(found, key=lambda each: each[0]))


def default_sampling(settings: ModelSettings) -> Sampling:
    """Return the values of a conversation that changes nothing."""
    return Sampling(temperature=settings.temperature, max_tokens=settings.max_reply_tokens)


def check_sampling(values: Sampling) -> None:
    """Raise `SettingsError` naming the value that is out of its limits."""
    for field in fields(values):
        low, high = LIMITS[field.name]
        if not low <= getattr(values, field.name) <= high:
            raise SettingsError(f"{_NAMES[field.name]} must be from {low:g} to {high:g}. Nothing was changed.")
