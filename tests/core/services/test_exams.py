"""Which mode the product uses: what the exam found, unless the settings say otherwise. The model is scripted."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from core.catalogue.exam_results import ExamResults
from core.catalogue.models import load_models
from core.config import ModelSettings, Settings, load_settings
from core.errors import ModelError, SettingsError
from core.model import ExamResult, ModelPhase, ModelStatus
from core.paths import find_resources
from core.services.exams import ExamsService
from core.services.ground import Ground
from core.sessions.chat_model import ChatModelSlot
from core.storage.database import Database


@pytest.fixture
def make_service(data_folder):
    pool = ThreadPoolExecutor(1)

    def make(memory_update="auto", phase=ModelPhase.READY):
        settings = Settings(models=ModelSettings(memory_update=memory_update))
        ground = Ground(
            database=Database(data_folder.database),
            folder=data_folder,
            settings=settings,
            resources=find_resources(),
            pool=pool,
            publish=lambda _: None,
            clock=lambda: 5.0,
            backroom=lambda: pytest.fail("no backroom is needed"),
        )
        slot = ChatModelSlot(find_resources(), data_folder.models, settings.models, pool=pool, on_status=lambda: None)
        slot.status = ModelStatus(name="x", phase=phase)
        return ExamsService(ground, slot)

    yield make
    pool.shutdown()


@pytest.fixture
def model_file(data_folder):
    """A file in the place of the first chat model that the list names."""
    entry = next(entry for entry in load_models(find_resources()) if entry.role == "chat")
    data_folder.models.mkdir(parents=True, exist_ok=True)
    path = data_folder.models / entry.file
    path.write_bytes(b"weights")
    return path


def keep_result(data_folder, model_file, verdict, useful=()):
    results = ExamResults(data_folder.models)
    result = ExamResult(
        model=model_file.name,
        sha256=results.hash(model_file),
        taken_at=1.0,
        took_s=1.0,
        verdict=verdict,
        sentence="It was examined.",
        useful=useful,
    )
    results.save(result)
    return result


def find_mode(service):
    updater = asyncio.run(service.find_updater())
    return updater.mode if updater else None


def test_without_an_exam_no_model_is_asked(make_service, model_file):
    assert find_mode(make_service()) is None


@pytest.mark.parametrize(("verdict", "mode"), [("write", "write"), ("select", "select"), ("off", None)])
def test_exam_decides(make_service, data_folder, model_file, verdict, mode):
    result = keep_result(data_folder, model_file, verdict, useful=("en:keep",))
    service = make_service()
    assert asyncio.run(service.load()) == result
    assert find_mode(service) == mode


def test_settings_win_over_the_exam(make_service, data_folder, model_file):
    keep_result(data_folder, model_file, "off")
    assert find_mode(make_service("write")) == "write"
    keep_result(data_folder, model_file, "write")
    assert find_mode(make_service("off")) is None


def test_model_that_is_not_loaded_is_not_waited_for(make_service, data_folder, model_file):
    keep_result(data_folder, model_file, "write")
    for phase in (ModelPhase.ABSENT, ModelPhase.LOADING, ModelPhase.FAILED):
        assert find_mode(make_service(phase=phase)) is None


def test_exam_without_a_model_is_refused_in_words(make_service):
    service = make_service()
    service._ground = replace(service._ground, resources=service._ground.folder.root)
    with pytest.raises(ModelError, match="no chat model"):
        asyncio.run(service.take())


def test_unknown_mode_in_the_settings_is_named(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('[models]\nmemory_update = "select"\n')
    assert load_settings(file, {}).models.memory_update == "select"
    file.write_text('[models]\nmemory_update = "always"\n')
    with pytest.raises(SettingsError, match="memory_update"):
        load_settings(file, {})
