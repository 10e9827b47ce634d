"""The user's settings: `settings.toml`, checked key by key, and the environment's overrides.

A key that is not known, or a value of the wrong kind, is an error that names it. Variables
named `KEEPSAKE_LEARNING_<NAME>` win over the file (archivist.md section 18); an unreadable one
changes nothing and is a warning. Nothing is read at import.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from core.errors import SettingsError

ENVIRONMENT_PREFIX = "KEEPSAKE_LEARNING_"
CHOICES = {
    "memory_update": ("auto", "off", "select", "write"),
    "import_way": ("", "link", "reference", "copy"),
    "theme": ("system", "light", "dark"),
}
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


@dataclass(slots=True, kw_only=True)
class LearningSettings:
    """Section `learning`: what is remembered, and how (archivist.md section 18).

    All parts of a process share one: `Settings.adopt` changes it in place, so that a change holds at once.
    """

    enabled: bool = False
    episodic_capture_enabled: bool = True
    chat_to_tree_enabled: bool = True
    goals_enrichment_enabled: bool = True
    stm_recall_enabled: bool = True
    explicit_preferences_enabled: bool = True
    recap_enabled: bool = True
    events_enabled: bool = True
    librarian_enabled: bool = True
    drift_confirm: bool = True
    redact_contacts: bool = False
    max_turns_per_segment: int = 20
    max_time_gap_seconds: int = 600
    min_cosine_similarity: float | None = None  # None: the shipped calibration of the embedding model
    recap_deadline_seconds: int = 90
    memory_md_budget_chars: int = 8000
    memory_md_prompt_chars: int = 2000
    lock_wait_seconds: int = 10
    stm_max_age_days: int = 14
    stm_gate: float | None = None  # None: as for min_cosine_similarity
    stm_budget_chars: int = 6000


@dataclass(slots=True, kw_only=True)
class ModelSettings:
    """Section `models`: how the chat model is run. Shared and changed in place as `LearningSettings` is."""

    context_tokens: int = 4096
    threads: int | None = None  # None: all physical cores but one, which the interface keeps
    prompt_threads: int | None = None  # for reading prompts; None: as many
    unload_after_minutes: int = 30  # without use; its memory is free then. 0: never
    max_reply_tokens: int = 512
    temperature: float = 0.4
    embedding_enabled: bool = True
    chat_model: str = ""  # file name in the folder of models, or whole path; "": the first listed one that is there
    memory_model: str = ""  # "": the chat's model
    embedding_model: str = ""  # a GGUF embedding model; "": the built-in one
    import_way: str = ""  # how files from elsewhere come in: link, reference or copy; "": not asked yet
    memory_check: bool = True  # whether a model that needs more memory than is free is refused
    proxy: str = ""  # for downloads: an http:// address, none, or "" for the system's
    server_address: str = ""  # of another program that answers in the place of the models here; "": none
    server_model: str = ""  # of those it has
    server_allowed_host: str = ""  # another computer that the user allowed by name; else only this one is asked
    memory_update: str = "auto"  # what the chat model does for memory: auto (its exam says), off, select or write


@dataclass(slots=True, kw_only=True)
class AppSettings:
    """Section `app`: the window."""

    theme: str = "system"  # system, light or dark


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings; `warnings` are sentences for the user about what was ignored."""

    learning: LearningSettings = field(default_factory=LearningSettings)
    models: ModelSettings = field(default_factory=ModelSettings)
    app: AppSettings = field(default_factory=AppSettings)
    warnings: tuple[str, ...] = ()

    def copy(self) -> "Settings":
        """Return the same settings for another process's parts: adopting there changes nothing here."""
        return replace(self, learning=replace(self.learning), models=replace(self.models), app=replace(self.app))

    def adopt(self, newer: "Settings") -> None:
        """Take the values of newer settings; whoever holds a section sees them from now on."""
        for mine, theirs in ((self.learning, newer.learning), (self.models, newer.models), (self.app, newer.app)):
            for each in fields(mine):
                setattr(mine, each.name, getattr(theirs, each.name))

    def without_embeddings(self) -> "Settings":
        """Return the same settings with vectors switched off."""
        return replace(self, models=replace(self.models, embedding_enabled=False))


SECTIONS = {"learning": LearningSettings, "models": ModelSettings, "app": AppSettings}
T = TypeVar("T", LearningSettings, ModelSettings, AppSettings)


def load_settings(file: Path, environment: Mapping[str, str]) -> Settings:
    """Read `settings.toml` (absent: defaults) and the overrides in `environment`.

    Raises `SettingsError` naming the file and the key.
    """
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):  # what is wrong with the folder is said by its own check
        data = {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file} cannot be read ({error}). Correct it, or move it away to start fresh.") from error
    sections: dict[str, Any] = {}
    for name, table in data.items():
        if name not in SECTIONS or not isinstance(table, dict):
            raise SettingsError(f"{file} holds [{name}], which Keepsake does not know. Correct or remove it.")
        sections[name] = _read_section(SECTIONS[name], table, where=f"{file}, section [{name}]")
    learning, warnings = apply_environment(sections.pop("learning", LearningSettings()), environment)
    return Settings(learning=learning, warnings=warnings, **sections)


def read_learning(table: Mapping[str, Any]) -> LearningSettings:
    """Read a `learning` section; raise `SettingsError` naming the key."""
    return _read_section(LearningSettings, table, where="Section [learning]")


def apply_environment(
    learning: LearningSettings, environment: Mapping[str, str]
) -> tuple[LearningSettings, tuple[str, ...]]:
    """Return the section with the environment's overrides, and a warning for each unreadable one."""
    kinds = get_type_hints(LearningSettings)
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for variable in sorted(environment):
        if not variable.upper().startswith(ENVIRONMENT_PREFIX):
            continue
        name = variable[len(ENVIRONMENT_PREFIX) :].lower()
        if name not in kinds:
            warnings.append(f"{variable} names no setting that Keepsake knows; it was ignored.")
            continue
        try:
            values[name] = _parse(environment[variable], kinds[name])
        except ValueError:
            warnings.append(f"{variable} holds a value that cannot be read; it was ignored.")
    return replace(learning, **values), tuple(warnings)


def _read_section(kind: type[T], table: Mapping[str, Any], *, where: str) -> T:
    kinds = get_type_hints(kind)
    for name, value in table.items():
        if name not in kinds:
            raise SettingsError(f"{where}: there is no setting {name!r}. Known are {', '.join(kinds)}.")
        if not _fits(value, kinds[name]) or value not in CHOICES.get(name, (value,)):
            raise SettingsError(f"{where}: {name} cannot be {value!r}.")
    return kind(**table)


def _fits(value: object, kind: Any) -> bool:
    options = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if isinstance(value, bool):
        return bool in options
    if isinstance(value, int | float) and value < 0:
        return False
    return isinstance(value, options) or (isinstance(value, int) and float in options)


def parse_value(text: str, kind: Any) -> bool | int | float | str:
    """Read one value of a kind that is given as text; raise ValueError where it is none."""
    if kind is str:
        return text.strip()
    return _parse(text, kind)


def _parse(text: str, kind: Any) -> bool | int | float:
    """Read one environment value; raise ValueError where it is none."""
    options = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    word = text.strip().lower()
    if bool in options:
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise ValueError(text)
    value: int | float = int(word) if int in options else float(word)
    if not 0 <= value < float("inf"):
        raise ValueError(text)
    return value
