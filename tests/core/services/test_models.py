"""The Models service on a real store: list, choose, import, find, download, forget, settings of a conversation."""

import asyncio
import hashlib
import os
import tomllib
from dataclasses import replace

import pytest

from core.catalogue.exam_results import ExamResults
from core.catalogue.places import Surroundings
from core.config import ModelSettings, Settings, load_settings
from core.engine import Engine
from core.errors import CoreError, DownloadError, ModelFileError, NotFoundError, SettingsError
from core.model import ExamResult
from core.model_files import (
    ConversationSettings,
    DownloadStep,
    FitVerdict,
    ImportWay,
    ModelKind,
    ModelOrigin,
    ModelRole,
    Sampling,
)
from tests.core.catalogue import file_server as behave
from tests.core.catalogue.file_server import FileServer
from tests.core.catalogue.gguf_files import gguf, write_model

GIB = 1 << 30


@pytest.fixture
def resources(tmp_path, root):
    """The program's resources with a small model in the place of the bundled one."""
    folder = tmp_path / "resources"
    folder.mkdir()
    for name in ("presets", "catalogue", "prompts", "rules", "exam", "embedding"):
        (folder / name).symlink_to(root / "resources" / name)
    write_model(folder / "models" / "Built.gguf", name="Built-in model")
    data = (folder / "models" / "Built.gguf").read_bytes()
    block = f"""\
[built]
name = Built
role = chat
source = pypi:built==1.0
file = Built.gguf
sha256 = {hashlib.sha256(data).hexdigest()}
bytes = {len(data)}
context = 2048
licence = MIT
least_ram_bytes = 1000
"""
    (folder / "models.txt").write_text(block)
    return folder


@pytest.fixture
def use(data_folder, resources, tmp_path):
    """Run a function of an open engine; no model is started."""

    def run(work, *, settings=None, free=GIB, again=False):
        async def main():
            engine = Engine(data_folder, settings or load_settings(data_folder.settings, {}), resources=resources)
            engine.models._free_bytes = lambda: free
            engine.models._surroundings = Surroundings(
                platform="linux", home=tmp_path / "home", environment=run.environment
            )
            try:
                await engine.open()
                return await asyncio.wait_for(work(engine), 30)
            finally:
                await engine.aclose()

        return asyncio.run(main())

    run.environment = {}
    return run


def find(cards, name):
    return next(card for card in cards if card.name == name)


def test_the_list_says_what_each_model_is_and_who_uses_it(use, data_folder):
    write_model(data_folder.models / "Mine-Q8_0.gguf", name="My model")
    (data_folder.models / "broken.gguf").write_bytes(b"<html>")

    async def work(engine):
        cards = await engine.models.list_models()
        built, mine, broken = (find(cards, name) for name in ("Built", "My model", "broken"))
        assert (built.origin, built.licence, built.roles) == (
            ModelOrigin.BUILT_IN,
            "MIT",
            (ModelRole.CHAT, ModelRole.MEMORY),
        )
        assert (mine.origin, mine.quantisation, mine.context_tokens, mine.roles) == (ModelOrigin.OURS, "Q8_0", 2048, ())
        assert mine.fit.verdict is FitVerdict.FITS
        assert mine.exam is None
        assert "web page" in broken.problem

    use(work)


def test_an_exam_and_a_speed_are_shown_with_their_model(use, data_folder):
    path = write_model(data_folder.models / "Mine.gguf", name="My model")
    results = ExamResults(data_folder.models)
    values = {"model": path.name, "taken_at": 1.0, "took_s": 2.0, "verdict": "off", "sentence": "No help."}
    results.save(ExamResult(sha256=results.hash(path), tokens_per_s=12.5, **values))

    async def work(engine):
        mine = find(await engine.models.list_models(), "My model")
        assert (mine.exam.sentence, mine.tokens_per_s) == ("No help.", 12.5)

    use(work)


def test_a_choice_holds_over_a_restart_and_leaves_other_settings_alone(use, data_folder):
    write_model(data_folder.models / "Mine.gguf", name="My model")
    data_folder.settings.write_text("# mine\n[models]\nthreads = 1 # one\n")

    async def choose(engine):
        await engine.models.choose(ModelRole.CHAT, "Mine.gguf", context_tokens=1024)
        assert find(await engine.models.list_models(), "My model").roles == (ModelRole.CHAT, ModelRole.MEMORY)

    async def look(engine):
        assert find(await engine.models.list_models(), "My model").roles == (ModelRole.CHAT, ModelRole.MEMORY)
        await engine.models.choose(ModelRole.MEMORY, "Built.gguf")
        assert find(await engine.models.list_models(), "Built").roles == (ModelRole.MEMORY,)
        await engine.models.choose(ModelRole.CHAT, "")
        await engine.models.choose(ModelRole.MEMORY, "")
        assert find(await engine.models.list_models(), "Built").roles == (ModelRole.CHAT, ModelRole.MEMORY)

    use(choose)
    text = data_folder.settings.read_text()
    assert text.startswith("# mine\n")
    assert "threads = 1 # one" in text
    assert tomllib.loads(text)["models"] == {"threads": 1, "chat_model": "Mine.gguf", "context_tokens": 1024}
    use(look)


def test_what_cannot_be_used_is_refused_and_nothing_changes(use, data_folder):
    write_model(data_folder.models / "vectors.gguf", name="Vectors", architecture="nomic-bert")
    write_model(
        data_folder.models / "huge.gguf", name="Huge model", sizes={"block_count": 90, "embedding_length": 8192}
    )
    (data_folder.models / "broken.gguf").write_bytes(b"GGUF")

    async def work(engine):
        for role, name, said in (
            (ModelRole.CHAT, "vectors.gguf", "only for search"),
            (ModelRole.EMBEDDING, "Built.gguf", "not for search"),
            (ModelRole.CHAT, "broken.gguf", "cut short"),
            (ModelRole.CHAT, "gone.gguf", "no longer in the list"),
            (ModelRole.MEMORY, "huge.gguf", r"Too big: it needs about \d+ MB.*10 MB are free"),
        ):
            with pytest.raises(ModelFileError, match=said):
                await engine.models.choose(role, name)
        assert find(await engine.models.list_models(), "Built").roles == (ModelRole.CHAT, ModelRole.MEMORY)

    use(work, free=10 << 20)
    assert not data_folder.settings.exists()


def test_an_embedding_model_takes_the_place_of_the_built_in_one_and_gives_it_back(use, data_folder):
    write_model(data_folder.models / "nomic.gguf", name="Nomic embed", architecture="nomic-bert")

    async def work(engine):
        before = (await engine.backroom.embedder.identify())[0]
        await engine.models.choose(ModelRole.EMBEDDING, "nomic.gguf")
        assert find(await engine.models.list_models(), "Nomic embed").roles == (ModelRole.EMBEDDING,)
        assert await engine.backroom.embedder.identify() is None  # a fabricated file: its process says so
        assert "nomic.gguf cannot be used" in engine.backroom.embedder.problem
        await engine.models.choose(ModelRole.EMBEDDING, "")
        assert (await engine.backroom.embedder.identify())[0] == before

    use(work)


@pytest.mark.parametrize("way", list(ImportWay))
def test_a_file_from_elsewhere_comes_in_as_asked_and_stays_where_it_is(use, tmp_path, data_folder, way):
    path = write_model(tmp_path / "downloads" / "Theirs-Q4_0.gguf", name="Their model")

    async def work(engine):
        assert await engine.models.load_import_way() is None
        assert (await engine.models.inspect(path)).name == "Their model"
        card = await engine.models.import_file(path, way)
        assert await engine.models.load_import_way() is way
        assert await engine.models.import_file(path) == card
        if way is ImportWay.REFERENCE:
            assert (card.origin, card.path, card.id) == (ModelOrigin.ELSEWHERE, path, str(path))
        else:
            assert (card.origin, card.id) == (ModelOrigin.OURS, "Theirs-Q4_0.gguf")
            assert card.path.samefile(path) == (way is ImportWay.LINK)
        await engine.models.choose(ModelRole.CHAT, card.id)
        said = await engine.models.forget(card.id)
        assert "Their model" in said
        assert path.exists()
        assert find(await engine.models.list_models(), "Built").roles == (ModelRole.CHAT, ModelRole.MEMORY)
        assert len(await engine.models.list_models()) == 1
        assert (await engine.models.restore(card.id)).id == card.id

    use(work)
    assert tomllib.loads(data_folder.settings.read_text())["models"]["import_way"] == way.value


def test_a_link_over_two_disks_becomes_a_reference(use, tmp_path, monkeypatch):
    path = write_model(tmp_path / "downloads" / "Theirs.gguf", name="Their model")

    def refuse(*_):
        raise OSError(18, "Invalid cross-device link")  # the system's answer between two disks

    monkeypatch.setattr(os, "link", refuse)

    async def work(engine):
        assert (await engine.models.import_file(path, ImportWay.LINK)).origin is ModelOrigin.ELSEWHERE

    use(work)


def test_files_that_are_no_models_are_refused_and_leave_nothing(use, tmp_path, data_folder):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"PK\x03\x04")

    async def work(engine):
        with pytest.raises(ModelFileError, match="not a GGUF model"):
            await engine.models.import_file(path, ImportWay.COPY)

    use(work)
    assert not (data_folder.models / "x.gguf").exists()
    assert not data_folder.settings.exists()


def test_a_reference_whose_file_is_gone_is_said_in_words_and_can_be_forgotten(use, tmp_path):
    path = write_model(tmp_path / "downloads" / "Theirs.gguf", name="Their model")

    async def work(engine):
        await engine.models.import_file(path, ImportWay.REFERENCE)
        path.unlink()
        card = find(await engine.models.list_models(), "Theirs")
        assert f"no longer at {path}" in card.problem
        with pytest.raises(ModelFileError, match="is not in"):
            await engine.models.choose(ModelRole.CHAT, card.id)
        await engine.models.forget(card.id)
        assert len(await engine.models.list_models()) == 1

    use(work)


def test_what_was_removed_is_in_the_trash_until_it_is_emptied(use, data_folder):
    path = write_model(data_folder.models / "Mine.gguf", name="My model")
    size = path.stat().st_size

    async def work(engine):
        with pytest.raises(ModelFileError, match="part of Keepsake"):
            await engine.models.forget("Built.gguf")
        await engine.models.forget("Mine.gguf")
        assert not path.exists()
        await engine.models.restore("Mine.gguf")
        assert path.stat().st_size == size
        await engine.models.forget("Mine.gguf")
        assert await engine.models.empty_trash() == size
        with pytest.raises(NotFoundError):
            await engine.models.restore("Mine.gguf")

    use(work)


def test_what_other_programs_hold_is_found_and_comes_in_without_a_copy(use, tmp_path):
    path = write_model(tmp_path / "home" / ".lmstudio" / "models" / "a" / "b" / "Found-Q4_K_M.gguf", name="Found one")

    async def work(engine):
        (found,) = await engine.models.find_files()
        assert (found.program, found.name, found.quantisation, found.kind) == (
            "LM Studio",
            "Found one",
            "Q4_K_M",
            ModelKind.CHAT,
        )
        card = await engine.models.import_file(found.path, ImportWay.LINK)
        assert card.path.samefile(path)
        assert await engine.models.find_files() == ()

    use(work)


@pytest.fixture
def server():
    server = FileServer(gguf() + bytes(2_000_000))
    yield server
    server.close()


@pytest.fixture
def offer(server, data_folder):
    """An offer in the user's own models.txt, whose second block is broken."""
    data = server.plan.data
    text = f"""\
[offered]
name = Offered
role = chat
source = {server.url}
file = offered.gguf
sha256 = {hashlib.sha256(data).hexdigest()}
bytes = {len(data)}
context = 2048
licence = MIT
least_ram_bytes = 1000
[wrong]
name
"""
    (data_folder.root / "models.txt").write_text(text)
    return data


def test_an_offer_is_downloaded_with_progress_and_comes_into_the_list(use, offer, server):
    steps = []

    async def work(engine):
        (listed,) = await engine.models.list_offers()
        assert (listed.name, listed.host, listed.by_user) == ("Offered", "127.0.0.1", True)
        (problem,) = await engine.models.list_problems()
        assert "line 12" in problem
        assert server.plan.paths == []  # nothing was asked of the network until now
        card = await engine.models.download("offered", progress=steps.append, stop=asyncio.Event())
        assert (card.name, card.origin, card.source) == ("Offered", ModelOrigin.OURS, server.url)
        assert await engine.models.list_offers() == ()
        with pytest.raises(NotFoundError):
            await engine.models.download("wrong", progress=steps.append, stop=asyncio.Event())

    use(work)
    assert steps[0].step is DownloadStep.CONNECTING
    assert steps[-1].step is DownloadStep.DONE


def test_a_download_that_is_stopped_keeps_what_came_and_goes_on(use, offer, server):
    server.plan.behaviours = [behave.drip(100_000, 0.05)]
    stop, got = asyncio.Event(), []

    async def work(engine):
        began, came = asyncio.Event(), asyncio.Event()

        def hear(progress):
            began.set()
            if progress.done_bytes > 200_000:
                came.set()

        running = asyncio.ensure_future(engine.models.download("offered", progress=hear, stop=stop))
        await began.wait()
        with pytest.raises(DownloadError, match="downloaded already"):
            await engine.models.download("offered", progress=got.append, stop=asyncio.Event())
        with pytest.raises(DownloadError, match="Stop it first"):
            await engine.models.discard_download("offered")
        await came.wait()
        stop.set()
        assert await running is None
        (listed,) = await engine.models.list_offers()
        assert 200_000 < listed.received_bytes < len(offer)
        assert await engine.models.download("offered", progress=got.append, stop=asyncio.Event()) is not None
        assert server.plan.ranges[-1] == f"bytes={listed.received_bytes}-"

    use(work)


def test_closing_the_program_ends_a_download_and_what_came_can_be_discarded(use, offer, server, data_folder):
    server.plan.behaviours = [behave.drip(100_000, 0.05)]
    tasks = []

    async def begin(engine):
        came = asyncio.Event()
        hear = lambda progress: came.set() if progress.done_bytes > 100_000 else None  # noqa: E731
        tasks.append(asyncio.ensure_future(engine.models.download("offered", progress=hear, stop=asyncio.Event())))
        await came.wait()

    async def discard(engine):
        assert (await engine.models.list_offers())[0].received_bytes > 0
        await engine.models.discard_download("offered")
        assert (await engine.models.list_offers())[0].received_bytes == 0

    use(begin)
    use(discard)
    assert not list(data_folder.models.glob("offered*"))


def test_a_conversation_asks_as_it_was_told_and_others_as_before(use):
    async def work(engine):
        one = (await engine.create_conversation()).id
        default = await engine.asking.load(one)
        assert default.sampling == Sampling(temperature=0.4, max_tokens=512)
        warm = ConversationSettings(sampling=replace(default.sampling, temperature=1.2))
        assert not await engine.asking.save(one, warm)
        assert await engine.asking.load(one) == warm
        assert await engine.asking.save(one, replace(warm, system_prompt="Rhyme."))
        assert await engine.prompts.load_instructions(one) == "Rhyme."
        assert await engine.asking.load("other") == default
        with pytest.raises(SettingsError, match="Temperature must be from 0 to 2"):
            await engine.asking.save(one, ConversationSettings(sampling=Sampling(temperature=3)))
        assert await engine.asking.save(one, None)
        assert await engine.asking.load(one) == default

    use(work)


def test_every_preset_can_be_applied_and_is_named_in_both_languages(use):
    async def work(engine):
        session = (await engine.create_conversation()).id
        presets = engine.asking.list_presets()
        assert len(presets) >= 3
        for preset in presets:
            assert preset.name("zh-Hans") != preset.name("en") == preset.name("fi")
            got = await engine.asking.apply_preset(session, preset.id)
            assert (got.preset, got.sampling, got.system_prompt) == (
                preset.id,
                preset.sampling,
                preset.system_prompt("en"),
            )

    use(work)


def test_the_settings_name_how_files_come_in(data_folder):
    data_folder.settings.write_text('[models]\nimport_way = "steal"\n')
    with pytest.raises(SettingsError, match="import_way"):
        load_settings(data_folder.settings, {})
    assert Settings().models.import_way == ""


def test_the_exam_of_a_file_is_not_taken_by_the_server_that_answers_meanwhile(use):
    async def work(engine):
        with pytest.raises(CoreError) as raised:  # the file holds no weights; nobody listens at the address
            await engine.models.examine("Built.gguf", progress=lambda _: None, stop=asyncio.Event())
        assert "Nothing answers at" not in str(raised.value)
        assert "Built" in str(raised.value)

    use(work, settings=Settings(models=ModelSettings(server_address="http://127.0.0.1:9", embedding_enabled=False)))
