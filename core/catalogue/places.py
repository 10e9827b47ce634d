"""Where other programs keep their models, from resources/catalogue/places.toml. Pure but for small pointer files.

The environment is passed in: nothing here reads it.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
_POINTER_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The machine as far as folders go: `sys.platform`, the home folder, the environment."""

    platform: str
    home: Path
    environment: Mapping[str, str]

    def names(self) -> dict[str, str]:
        """Return what stands for {home}, {data} and so on in places.toml."""
        home = self.home
        match SYSTEMS.get(self.platform, "linux"):
            case "windows":
                local = self._folder("LOCALAPPDATA", home / "AppData" / "Local")
                roaming = self._folder("APPDATA", home / "AppData" / "Roaming")
                found = {"data": roaming, "config": roaming, "cache": local, "local": local}
            case "macos":
                support = home / "Library" / "Application Support"
                found = {"data": support, "config": support, "cache": home / "Library" / "Caches", "local": support}
            case _:
                data = self._folder("XDG_DATA_HOME", home / ".local" / "share")
                config = self._folder("XDG_CONFIG_HOME", home / ".config")
                found = {
                    "data": data,
                    "config": config,
                    "cache": self._folder("XDG_CACHE_HOME", home / ".cache"),
                    "local": data,
                }
        return {name: str(path) for name, path in {**found, "home": home, "documents": home / "Documents"}.items()}

    def _folder(self, variable: str, default: Path) -> Path:
        value = self.environment.get(variable, "")
        return Path(value) if os.path.isabs(value) else default


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder of another program that is there."""

    program: str
    layout: str  # folder, ollama or hub
    folder: Path


def find_places(resources: Path, surroundings: Surroundings) -> tuple[Place, ...]:
    """Return the folders that are there; one that a variable names stands in for the usual ones."""
    table = tomllib.loads((resources / "catalogue" / "places.toml").read_text("utf-8"))
    return tuple(
        Place(program=program["name"], layout=program["layout"], folder=folder)
        for program in table["program"]
        for folder in dict.fromkeys(_list_folders(program, surroundings))
        if _is_folder(folder)
    )


def _list_folders(program: dict[str, Any], surroundings: Surroundings) -> list[Path]:
    names = surroundings.names()
    for variable, below in program.get("environment", {}).items():
        if value := surroundings.environment.get(variable, "").strip():
            return [_expand(value, surroundings.home) / below]
    folders = [Path(text.format(**names)) for text in program[SYSTEMS.get(surroundings.platform, "linux")]]
    for file, below in program.get("pointers", {}).items():
        if home := _read_pointer(Path(file.format(**names))):
            folders.insert(0, _expand(home, surroundings.home) / below)
    return folders


def _expand(text: str, home: Path) -> Path:
    return home / text[2:] if text.startswith(("~/", "~\\")) else Path(text)


def _read_pointer(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(_POINTER_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _is_folder(path: Path) -> bool:
    try:
        return path.is_absolute() and path.is_dir()
    except OSError:
        return False
