"""What other programs hold, on fabricated folders of each of them."""

import json
import os

import pytest

from core.catalogue.discovery import discover
from core.catalogue.places import Surroundings, find_places
from core.paths import find_resources
from tests.core.catalogue.gguf_files import write_model

SHA = "ab" * 32


@pytest.fixture
def look(tmp_path):
    """Look around in a home folder; returns (program, name) pairs."""

    def run(known=(), platform="linux", **environment):
        surroundings = Surroundings(platform=platform, home=tmp_path, environment=environment)
        places = find_places(find_resources(), surroundings)
        run.found = discover(places, tuple(known))
        return [(each.program, each.name) for each in run.found]

    return run


def write_blob(folder, digest, manifest, **options):
    """Write a model as Ollama keeps it."""
    write_model(folder / "blobs" / f"sha256-{digest}", **options)
    file = folder / "manifests" / manifest
    file.parent.mkdir(parents=True, exist_ok=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": f"sha256:{'00' * 32}"},
        {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}"},
        {"mediaType": "application/vnd.ollama.image.projector", "digest": f"sha256:{'11' * 32}"},
    ]
    file.write_text(json.dumps({"layers": layers}))


@pytest.mark.parametrize(
    ("program", "platform", "path"),
    [
        ("LM Studio", "linux", ".lmstudio/models/someone/Model-GGUF/Model-Q4_K_M.gguf"),
        ("LM Studio", "linux", ".cache/lm-studio/models/someone/Model-GGUF/Model-Q4_K_M.gguf"),
        ("Jan", "linux", ".config/Jan/data/llamacpp/models/someone/model/model.gguf"),
        ("Jan", "darwin", "Library/Application Support/Jan/data/llamacpp/models/m/model.gguf"),
        ("Jan", "win32", "AppData/Roaming/Jan/data/llamacpp/models/m/model.gguf"),
        ("GPT4All", "linux", ".local/share/nomic.ai/GPT4All/Model.Q4_0.gguf"),
        ("GPT4All", "win32", "AppData/Local/nomic.ai/GPT4All/Model.Q4_0.gguf"),
        ("KoboldCpp", "linux", "koboldcpp/Model.gguf"),
        ("llama.cpp", "darwin", "Library/Caches/llama.cpp/Model.gguf"),
        ("Hugging Face", "win32", ".cache/huggingface/hub/models--a--b/snapshots/0f/Model.gguf"),
    ],
)
def test_each_programs_folder_is_known_on_each_system(look, tmp_path, program, platform, path):
    write_model(tmp_path / path, name="A model")
    assert look(platform=platform) == [(program, "A model")]


def test_ollamas_models_are_found_by_their_manifests_and_named_as_it_names_them(look, tmp_path):
    folder = tmp_path / ".ollama" / "models"
    write_blob(folder, "ab" * 32, "registry.ollama.ai/library/qwen3/4b", name="Qwen3 4B")
    write_blob(folder, "cd" * 32, "registry.ollama.ai/someone/own/latest", extra=[])
    write_blob(folder, "ef" * 32, "hf.co/someone/repo/Q4_K_M")
    (folder / "manifests" / "registry.ollama.ai" / "library" / "qwen3" / "broken").write_text("{")
    write_model(folder / "blobs" / f"sha256-{'99' * 32}")  # no manifest names it
    names = [name for _, name in look()]
    assert names == ["hf.co/someone/repo:Q4_K_M", "qwen3:4b", "someone/own:latest"]


def test_a_variable_names_the_folder_instead_of_the_usual_one(look, tmp_path):
    write_blob(tmp_path / ".ollama" / "models", "ab" * 32, "registry.ollama.ai/library/old/1b")
    write_blob(tmp_path / "big disk", "cd" * 32, "registry.ollama.ai/library/new/1b")
    assert look(OLLAMA_MODELS=str(tmp_path / "big disk")) == [("Ollama", "new:1b")]
    assert look(OLLAMA_MODELS="~/big disk") == [("Ollama", "new:1b")]
    assert look(OLLAMA_MODELS="relative") == []
    write_model(tmp_path / "hf" / "hub" / "models--a--b" / "snapshots" / "0" / "m.gguf", name="From the hub")
    assert ("Hugging Face", "From the hub") in look(HF_HOME=str(tmp_path / "hf"))


def test_lm_studios_pointer_to_another_home_is_followed(look, tmp_path):
    write_model(tmp_path / "elsewhere" / "models" / "a" / "m.gguf", name="Moved")
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'elsewhere'}\n")
    assert look() == [("LM Studio", "Moved")]


def test_the_same_file_counts_once_however_many_names_lead_to_it(look, tmp_path):
    blob = write_model(tmp_path / ".cache/huggingface/hub/models--a--b/blobs" / SHA, name="Once")
    for revision in ("0a", "0b"):
        link = tmp_path / ".cache/huggingface/hub/models--a--b/snapshots" / revision / "once.gguf"
        link.parent.mkdir(parents=True)
        link.symlink_to(blob)
    (tmp_path / ".lmstudio/models/a").mkdir(parents=True)
    os.link(blob, tmp_path / ".lmstudio/models/a/once.gguf")
    write_blob(tmp_path / ".ollama/models", SHA, "registry.ollama.ai/library/once/latest", name="Once")  # by its hash
    assert look() == [("LM Studio", "Once"), ("Ollama", "once:latest")]
    assert look(known=[blob]) == []


def test_what_is_no_model_of_its_own_is_left_out(look, tmp_path):
    folder = tmp_path / ".lmstudio" / "models" / "a" / "b"
    write_model(folder / "big-00001-of-00002.gguf", name="Big one")
    write_model(folder / "big-00002-of-00002.gguf")
    write_model(folder / "lonely-00001-of-00002.gguf")
    write_model(folder / "mmproj-big.gguf", architecture="clip")
    write_model(folder / "picture.gguf", architecture="clip")
    (folder / "broken.gguf").write_bytes(b"GGUF")
    (folder / "half.gguf.part").write_bytes(b"GGUF")
    (folder / "readme.md").write_text("x")
    assert look() == [("LM Studio", "Big one")]
    assert look.found[0].facts.parts == 2


def test_a_loop_of_links_and_a_closed_folder_do_no_harm(look, tmp_path):
    folder = tmp_path / "koboldcpp"
    write_model(folder / "m.gguf", name="Here")
    (folder / "again").symlink_to(folder)
    (folder / "dead.gguf").symlink_to(tmp_path / "gone")
    closed = folder / "closed"
    closed.mkdir(mode=0)
    try:
        assert look() == [("KoboldCpp", "Here")]
    finally:
        closed.chmod(0o700)


def test_a_machine_without_other_programs_has_nothing(look):
    assert look() == []
