"""What the memory exam said about which model file: one JSON file in the folder of models.

Results are kept by the sha256 of the model's file, so that a copy needs no second exam; hashes are kept by
path, size and time of change, so that a file of gigabytes is read once. Relies on nothing heavy.
"""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.model import ExamResult

FILE = "exams.json"
VERSION = 2  # of questions and scoring: results of another one do not count
_BLOCK_BYTES = 1 << 20


class ExamResults:
    """The results kept in one folder. All methods read or write the disk: call them off the loop."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def load(self, model: Path) -> ExamResult | None:
        """Return the result for a model file; None if it took no exam of this version."""
        data = self._read()
        return self._find(data, self._hash(model, data))

    def load_known(self, model: Path) -> ExamResult | None:
        """Return the result as `load` does, but None for a file that was never hashed: that may take a minute."""
        data = self._read()
        stat = model.stat()
        known = data["files"].get(str(model.resolve()))
        if not known or known[:2] != [stat.st_size, stat.st_mtime_ns]:
            return None
        return self._find(data, str(known[2]))

    @staticmethod
    def _find(data: dict[str, Any], sha256: str) -> ExamResult | None:
        found = data["results"].get(sha256)
        try:
            return ExamResult(**{**found, "useful": tuple(found["useful"])}) if found else None
        except (TypeError, KeyError):
            return None  # written by another version of the program

    def load_by_hash(self, sha256: str) -> ExamResult | None:
        """Return the result that is kept by a hash; None if there is none."""
        return self._find(self._read(), sha256)

    def hash(self, model: Path) -> str:
        """Return the sha256 of a model file, from the list where it did not change."""
        return self._hash(model, self._read())

    def save(self, result: ExamResult) -> None:
        """Keep a result in the place of an older one for the same file."""
        data = self._read()
        data["results"][result.sha256] = asdict(result)
        self._write(data)

    def _hash(self, model: Path, data: dict[str, Any]) -> str:
        stat = model.stat()
        key, state = str(model.resolve()), [stat.st_size, stat.st_mtime_ns]
        known = data["files"].get(key)
        if known and known[:2] == state:
            return str(known[2])
        digest = hashlib.sha256()
        with model.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
        data["files"][key] = [*state, digest.hexdigest()]
        self._write(data)
        return digest.hexdigest()

    def _read(self) -> dict[str, Any]:
        empty: dict[str, Any] = {"version": VERSION, "files": {}, "results": {}}
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return empty
        if not isinstance(data, dict) or not isinstance(data.get("files"), dict):
            return empty
        kept = data.get("results") if data.get("version") == VERSION else None
        return {**empty, "files": data["files"], "results": kept if isinstance(kept, dict) else {}}

    def _write(self, data: dict[str, Any]) -> None:
        """Write the file whole or not at all; a folder that cannot be written costs another exam, no more."""
        part = self._file.with_name(f".{FILE}.{os.getpid()}")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
            part.replace(self._file)
        except OSError:
            part.unlink(missing_ok=True)
