"""Every setting with its value, where that comes from, and the way to change it; for the dialog and the terminal.

Relies on `core.config` for what there is and on `core.settings_file` for writing one key.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, get_type_hints

from core.config import (
    CHOICES,
    ENVIRONMENT_PREFIX,
    SECTIONS,
    Settings,
    load_settings,
    parse_value,
)
from core.errors import SettingsError
from core.settings_file import drop_setting, save_setting

Value = bool | int | float | str | None
# read once when the program starts; all others hold at once
AT_START = frozenset(
    {
        "models.context_tokens",
        "models.threads",
        "models.prompt_threads",
        "models.unload_after_minutes",
        "models.embedding_enabled",
        "learning.max_time_gap_seconds",
        "learning.memory_md_budget_chars",
        "learning.lock_wait_seconds",
        "learning.recap_deadline_seconds",
    }
)


class Source(StrEnum):
    """Where a setting's value comes from."""

    DEFAULT = "default"
    FILE = "settings.toml"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingItem:
    """One setting. A value of None: chosen by the program."""

    section: str
    name: str
    value: Value
    default: Value
    source: Source
    choices: tuple[str, ...] = ()
    variable: str = ""  # of the environment, where it comes from there

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def holds_at_once(self) -> bool:
        """Whether a change takes effect without a new start."""
        return self.key not in AT_START


def list_settings(file: Path, environment: Mapping[str, str]) -> tuple[SettingItem, ...]:
    """Return every setting, in order; raise `SettingsError` if the file cannot be read."""
    settings = load_settings(file, environment)
    given = _read_given(file)
    variables = {variable.upper(): variable for variable in environment}
    return tuple(
        _describe(section, field.name, settings, given.get(section, {}), variables)
        for section, kind in SECTIONS.items()
        for field in fields(kind)
    )


def change_setting(file: Path, key: str, text: str) -> Value:
    """Write one setting, given as text, into the file; returns its value. Raises `SettingsError` in words."""
    section, name, kind = find_setting(key)
    try:
        value = parse_value(text, kind)
    except ValueError as error:
        raise SettingsError(f"{key} cannot be {text!r}: {_say_kind(name, kind)}. Nothing was changed.") from error
    allowed = CHOICES.get(name)
    if allowed and value not in allowed:
        raise SettingsError(f"{key} cannot be {text!r}: {_say_kind(name, kind)}. Nothing was changed.")
    save_setting(file, section, name, value)
    return value


def reset_setting(file: Path, key: str) -> None:
    """Take one setting out of the file, so that its default holds."""
    section, name, _ = find_setting(key)
    drop_setting(file, section, name)


def find_setting(key: str) -> tuple[str, str, Any]:
    """Return (section, name, kind) of `section.name`; raise `SettingsError` naming what there is."""
    section, _, name = key.partition(".")
    if section not in SECTIONS:
        raise SettingsError(f"There is no setting {key!r}. The sections are {', '.join(SECTIONS)}.")
    kinds = get_type_hints(SECTIONS[section])
    if name not in kinds:
        raise SettingsError(f"There is no setting {key!r}. Section {section} has {', '.join(kinds)}.")
    return section, name, kinds[name]


def _describe(
    section: str, name: str, settings: Settings, given: Mapping[str, Any], variables: Mapping[str, str]
) -> SettingItem:
    value: Value = getattr(getattr(settings, section), name)
    variable = variables.get(f"{ENVIRONMENT_PREFIX}{name.upper()}", "") if section == "learning" else ""
    if variable and any(variable in warning for warning in settings.warnings):
        variable = ""  # it could not be read and changes nothing
    source = Source.ENVIRONMENT if variable else Source.FILE if name in given else Source.DEFAULT
    return SettingItem(
        section=section,
        name=name,
        value=value,
        default=getattr(SECTIONS[section](), name),
        source=source,
        choices=CHOICES.get(name, ()),
        variable=variable,
    )


def _read_given(file: Path) -> dict[str, dict[str, Any]]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}


def _say_kind(name: str, kind: Any) -> str:
    if name in CHOICES:
        return f"it is one of {', '.join(word or 'empty' for word in CHOICES[name])}"
    if kind is bool:
        return "it is a switch, on or off"
    return "it is a number of at least 0" if kind is not str else "it is a text"
