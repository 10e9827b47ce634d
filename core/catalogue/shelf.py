"""The user's models: the files in the folder of models, files elsewhere that are only noted, and the trash.

library.json in that folder holds what the files do not say of themselves. A file outside the folder is never changed,
moved or deleted here. All methods read or write the disk: call them off the loop.
"""

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.catalogue.facts import find_parts, is_later_part, is_projector, read_facts
from core.errors import ModelFileError, NotFoundError
from core.model_files import ImportWay, ModelOrigin

FILE, TRASH = "library.json", ".trash"
SAYS_NOTHING = frozenset({"model", "models", "ggml-model", "gguf"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelved:
    """A model of the list: where its (first) file is, and how it came here."""

    id: str
    path: Path
    origin: ModelOrigin
    source: str = ""


class Shelf:
    """The models of one data folder, with those that ship."""

    def __init__(self, folder: Path, built_in: Path) -> None:
        self.folder, self._built_in = folder, built_in
        self._file = folder / FILE

    def list_all(self) -> tuple[Shelved, ...]:
        """Return built-in models, then the folder's, then those elsewhere; a file of ours hides a built-in namesake."""
        notes = self._read()
        ours = [self._make(path, ModelOrigin.OURS, notes) for path in _list_files(self.folder)]
        names = {each.id for each in ours}
        built_in = [
            self._make(path, ModelOrigin.BUILT_IN, notes)
            for path in _list_files(self._built_in)
            if path.name not in names
        ]
        elsewhere = [self._make(Path(path), ModelOrigin.ELSEWHERE, notes) for path in notes["references"]]
        return (*built_in, *ours, *elsewhere)

    def find(self, model_id: str) -> Shelved | None:
        """Return one model, whether or not its file is there still."""
        return next((each for each in self.list_all() if each.id == model_id), None)

    def add(self, path: Path, way: ImportWay, *, source: str = "") -> Shelved:
        """Take a file into the list; the same file twice is one. A link that cannot be made becomes a reference.

        Raises `ModelFileError` if it is no usable model, or cannot be copied; then nothing was changed.
        """
        facts = read_facts(path)
        real = path.resolve()
        for each in self.list_all():
            if each.path.exists() and (each.path.samefile(real) or _is_copy(each, path)):
                return each
        if way is ImportWay.REFERENCE:
            return self._refer(path, source)
        target = self._choose_target(path, f"{facts.name}-{facts.quantisation}".rstrip("-"))
        pairs = _pair_parts(path, target)
        try:
            self._bring(pairs, way)
        except OSError as error:
            for _, made in pairs:
                made.unlink(missing_ok=True)
            if way is ImportWay.LINK:
                return self._refer(path, source)
            raise ModelFileError(
                f"{path.name} cannot be copied to {self.folder} ({error.strerror or error}). Nothing was changed; use "
                "it where it is, or make room."
            ) from error
        self.note_source(target, source or str(path))
        return self._make(target, ModelOrigin.OURS, self._read())

    def note_source(self, path: Path, source: str) -> None:
        """Note where a file of the folder came from."""
        notes = self._read()
        notes["sources"][path.name] = source
        self._write(notes)

    def remove(self, model_id: str) -> ModelOrigin:
        """Take a model out of the list: ours go to the trash, one elsewhere is only forgotten."""
        found = self.find(model_id)
        if found is None:
            raise NotFoundError("This model is no longer in the list.")
        if found.origin is ModelOrigin.BUILT_IN:
            raise ModelFileError(f"{found.path.name} is part of Keepsake and stays; choose another model to use.")
        notes = self._read()
        if found.origin is ModelOrigin.ELSEWHERE:
            notes["references"] = [each for each in notes["references"] if each != model_id]
        else:
            trash = self.folder / TRASH
            trash.mkdir(parents=True, exist_ok=True)
            for part in find_parts(found.path):
                os.replace(part, trash / part.name)
        notes["removed"] = [*[each for each in notes["removed"] if each != model_id], model_id]
        self._write(notes)
        return found.origin

    def restore(self, model_id: str) -> Shelved:
        """Undo `remove`; raises `NotFoundError` if it cannot be undone any more."""
        notes = self._read()
        if model_id not in notes["removed"]:
            raise NotFoundError("This model is no longer in the trash.")
        if os.path.isabs(model_id):
            notes["references"] = [*notes["references"], model_id]
        else:
            kept, target = self.folder / TRASH / model_id, self.folder / model_id
            if not kept.is_file() or target.exists():
                raise NotFoundError(f"{model_id} is no longer in the trash, or another file has its name now.")
            for part in find_parts(kept):
                os.replace(part, self.folder / part.name)
        notes["removed"] = [each for each in notes["removed"] if each != model_id]
        self._write(notes)
        found = self.find(model_id)
        if found is None:
            raise NotFoundError(f"{model_id} is no longer there.")
        return found

    def empty_trash(self) -> int:
        """Delete what was removed, for good; return the bytes. Names that other folders hold stay there."""
        trash, freed = self.folder / TRASH, 0
        for path in sorted(trash.iterdir()) if trash.is_dir() else ():
            freed += path.stat().st_size
            path.unlink()
        notes = self._read()
        notes["removed"] = []
        self._write(notes)
        return freed

    def load_speeds(self) -> dict[str, float]:
        """Return the tokens a second measured here, by model."""
        return {str(k): float(v) for k, v in self._read()["speeds"].items() if isinstance(v, int | float)}

    def save_speed(self, model_id: str, tokens_per_s: float) -> None:
        """Note how fast a model writes here."""
        notes = self._read()
        notes["speeds"][model_id] = round(tokens_per_s, 1)
        self._write(notes)

    # ---- inside

    def _make(self, path: Path, origin: ModelOrigin, notes: dict[str, Any]) -> Shelved:
        named = origin is not ModelOrigin.ELSEWHERE
        source = str(notes["sources"].get(path.name if named else str(path), ""))
        return Shelved(id=path.name if named else str(path), path=path, origin=origin, source=source)

    def _refer(self, path: Path, source: str) -> Shelved:
        notes, place = self._read(), str(path.absolute())
        if place not in notes["references"]:
            notes["references"].append(place)
        if source:
            notes["sources"][place] = source
        self._write(notes)
        return self._make(Path(place), ModelOrigin.ELSEWHERE, notes)

    def _choose_target(self, path: Path, name: str) -> Path:
        """Return a free name in the folder: the file's own, or the model's if the file's says nothing."""
        stem = path.stem
        if path.suffix.lower() != ".gguf" or stem.lower() in SAYS_NOTHING:
            stem = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "model"
        taken = {each.name.lower() for folder in (self.folder, self._built_in) for each in _list_files(folder)}
        name, number = f"{stem}.gguf", 2
        while name.lower() in taken:
            name, number = f"{stem}-{number}.gguf", number + 1
        return self.folder / name

    def _bring(self, pairs: list[tuple[Path, Path]], way: ImportWay) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for source, target in pairs:
            if way is ImportWay.LINK:
                os.link(source, target)
            else:
                part = target.with_name(target.name + ".part")
                try:
                    shutil.copyfile(source, part)
                    os.replace(part, target)
                finally:
                    part.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        empty: dict[str, Any] = {"references": [], "sources": {}, "speeds": {}, "removed": []}
        try:
            data = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return empty
        if not isinstance(data, dict):
            return empty
        return {key: data[key] if isinstance(data.get(key), type(value)) else value for key, value in empty.items()}

    def _write(self, notes: dict[str, Any]) -> None:
        part = self._file.with_name(f".{FILE}.{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(notes, ensure_ascii=False, indent=1), "utf-8")
            os.replace(part, self._file)
        except OSError as error:
            raise ModelFileError(
                f"The list of models in {self.folder} cannot be written ({error.strerror or error})."
            ) from error
        finally:
            part.unlink(missing_ok=True)


def _list_files(folder: Path) -> list[Path]:
    """Return the models in a folder by name, each once."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf")
    except OSError:
        return []
    return [path for path in found if path.is_file() and not is_later_part(path) and not is_projector(path)]


def _is_copy(shelved: Shelved, path: Path) -> bool:
    """Tell whether a model was copied from a path before, and what is there has the same size."""
    return shelved.source == str(path) and shelved.path.stat().st_size == path.stat().st_size


def _pair_parts(path: Path, target: Path) -> list[tuple[Path, Path]]:
    """Return each part with the place it goes to; parts keep their names, which say what they are parts of."""
    parts = find_parts(path)
    if len(parts) == 1:
        return [(path.resolve(), target)]
    return [(part.resolve(), target.with_name(part.name)) for part in parts]
