"""Where things are: the data folder, and the resources that ship with the program."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from core.errors import DataFolderError

APP_NAME = "Keepsake"
PORTABLE_MARKER = "keepsake-portable"


def find_resources() -> Path:
    """Return the folder of shipped data: beside the sources, or inside a bundle."""
    bundled = getattr(sys, "_MEIPASS", None)
    return (Path(bundled) if bundled else Path(__file__).resolve().parent.parent) / "resources"


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The user's data folder (DESIGN.md section 3). Making one touches nothing."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "keepsake.db"

    @property
    def settings(self) -> Path:
        return self.root / "settings.toml"

    @property
    def models(self) -> Path:
        return self.root / "models"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def log(self) -> Path:
        return self.state / "keepsake.log"

    @property
    def app_lock(self) -> Path:
        return self.state / "app.lock"

    @property
    def owners(self) -> Path:
        """Locks of the processes at work on this folder."""
        return self.state / "owners"

    def workspace(self, name: str = "default") -> Path:
        return self.root / "workspaces" / name

    def prepare(self) -> None:
        """Make the folder and prove that it can be written; raise `DataFolderError` if not."""
        try:
            for folder in (self.root, self.state, self.workspace()):
                folder.mkdir(parents=True, exist_ok=True)
            probe = self.state / f".write-test-{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise DataFolderError(
                f"Keepsake cannot write to its data folder {self.root} ({error.strerror or error}). "
                "Nothing was changed. Give yourself write access to it, or choose another folder with "
                "--data-dir."
            ) from error


def find_data_folder(override: str | os.PathLike[str] | None = None) -> DataFolder:
    """Return the data folder: `override`, else a portable one beside a bundle, else the platform's."""
    if override is not None:
        return DataFolder(Path(override).expanduser().absolute())
    if getattr(sys, "frozen", False):
        beside = Path(sys.executable).resolve().parent
        if (beside / PORTABLE_MARKER).exists():
            return DataFolder(beside / "data")
    return DataFolder(Path(platformdirs.user_data_dir(APP_NAME, appauthor=False, roaming=False)))
