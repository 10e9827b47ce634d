"""Which model file serves which role: what the settings name, else what is there."""

from dataclasses import dataclass
from pathlib import Path

from core.catalogue.facts import read_facts
from core.catalogue.models import find_model, load_listing, match_files
from core.catalogue.shelf import Shelf
from core.config import ModelSettings
from core.errors import ModelFileError
from core.model_files import ModelKind, ModelRole


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """The model of a role. Its file may be gone: whoever loads it says so."""

    id: str
    name: str
    path: Path


class ModelChoice:
    """What is chosen now, in this process. `find` reads the disk: call it off the loop."""

    def __init__(self, resources: Path, data_folder: Path, models_folder: Path, settings: ModelSettings) -> None:
        self._resources, self._data_folder = resources, data_folder
        self.shelf = Shelf(models_folder, resources / "models")
        self.ids = {
            ModelRole.CHAT: settings.chat_model,
            ModelRole.MEMORY: settings.memory_model,
            ModelRole.EMBEDDING: settings.embedding_model,
        }

    @property
    def has_own_memory_model(self) -> bool:
        """Whether memory is kept with another model than the chat's."""
        return self.ids[ModelRole.MEMORY] not in {"", self.ids[ModelRole.CHAT]}

    def find(self, role: ModelRole) -> ChosenModel | None:
        """Return the model of a role; None where there is none (embedding: the built-in one serves)."""
        model_id = self.ids[role]
        if not model_id and role is ModelRole.MEMORY:
            return self.find(ModelRole.CHAT)
        if model_id:
            shelved = self.shelf.find(model_id)
            path = shelved.path if shelved else self.shelf.folder / model_id  # an absolute one stays itself
            return ChosenModel(id=model_id, name=self._name(path), path=path)
        return self._find_default() if role is ModelRole.CHAT else None

    def find_chat(self) -> ChosenModel | None:
        """Return the chat's model."""
        return self.find(ModelRole.CHAT)

    def _find_default(self) -> ChosenModel | None:
        """The first listed chat model that is there, else the first usable one."""
        listed = find_model(self._resources, self.shelf.folder)
        if listed is not None:
            return ChosenModel(id=listed.path.name, name=listed.entry.name, path=listed.path)
        for each in self.shelf.list_all():
            try:
                if read_facts(each.path).kind is ModelKind.CHAT:
                    return ChosenModel(id=each.id, name=self._name(each.path), path=each.path)
            except ModelFileError:
                continue
        return None

    def _name(self, path: Path) -> str:
        entry = match_files(load_listing(self._resources, self._data_folder).entries).get(path.name)
        if entry is not None:
            return entry.name
        try:
            return read_facts(path).name
        except ModelFileError:
            return path.stem
