"""What the list shows of a file: kind, quantisation, parts, and which files are no models by themselves."""

import struct

import pytest

from core.catalogue.facts import find_parts, is_later_part, knows_architecture, read_facts
from core.errors import ModelFileError
from core.model_files import ModelKind
from tests.core.catalogue.gguf_files import entry, gguf, string, write_model


def test_a_model_with_sizes_that_differ_by_layer_counts_with_the_highest(tmp_path):
    heads = entry("llama.attention.head_count_kv", 9, struct.pack("<IQ3I", 4, 3, 2, 8, 4))
    path = write_model(tmp_path / "m.gguf", extra=[heads])
    assert read_facts(path).kv_heads == 8


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Qwen3-4B-Q4_K_M.gguf", "Q4_K_M"),
        ("gemma-3-1b-it-UD-IQ2_XXS.gguf", "UD-IQ2_XXS"),
        ("phi.F16.gguf", "F16"),
        ("plain.gguf", ""),
    ],
)
def test_a_file_that_does_not_tell_its_quantisation_is_believed_by_its_name(tmp_path, name, said):
    assert read_facts(write_model(tmp_path / name)).quantisation == said


def test_the_files_own_word_on_its_quantisation_counts_more_than_its_name(tmp_path):
    kind = entry("general.file_type", 4, struct.pack("<I", 15))
    assert read_facts(write_model(tmp_path / "m-Q8_0.gguf", extra=[kind])).quantisation == "Q4_K_M"


@pytest.mark.parametrize(
    ("architecture", "pooling", "kind"),
    [
        ("llama", None, ModelKind.CHAT),
        ("qwen3", 3, ModelKind.EMBEDDING),
        ("llama", 0, ModelKind.CHAT),
        ("nomic-bert", None, ModelKind.EMBEDDING),
    ],
)
def test_embedding_models_are_told_by_kind_or_pooling(tmp_path, architecture, pooling, kind):
    extra = [entry(f"{architecture}.pooling_type", 4, struct.pack("<I", pooling))] if pooling is not None else []
    assert read_facts(write_model(tmp_path / "m.gguf", architecture=architecture, extra=extra)).kind is kind


def test_what_only_helps_another_model_is_refused_in_words(tmp_path):
    picture = write_model(tmp_path / "mmproj-m.gguf", architecture="clip")
    with pytest.raises(ModelFileError, match="only adds pictures"):
        read_facts(picture)
    adapter = write_model(tmp_path / "a.gguf", extra=[entry("general.type", 8, string("adapter"))])
    with pytest.raises(ModelFileError, match="adapter"):
        read_facts(adapter)


def test_an_architecture_is_known_by_the_library_that_runs_it(tmp_path):
    assert knows_architecture("llama")
    assert knows_architecture("bert")
    assert not knows_architecture("notamodel")
    assert not knows_architecture("")
    with pytest.raises(ModelFileError, match="'notamodel'"):
        read_facts(write_model(tmp_path / "m.gguf", architecture="notamodel"))


def test_a_split_model_is_one_and_a_missing_part_is_named(tmp_path):
    first, second = (tmp_path / f"big-0000{i}-of-00002.gguf" for i in (1, 2))
    write_model(first)
    with pytest.raises(ModelFileError, match="big-00002-of-00002"):
        read_facts(first)
    write_model(second)
    facts = read_facts(first)
    assert find_parts(first) == (first, second)
    assert (facts.parts, facts.name) == (2, "小模型")
    assert facts.weight_bytes == 2 * len(gguf())
    assert not is_later_part(first)
    assert is_later_part(second)


def test_a_file_that_changes_is_read_again(tmp_path):
    path = write_model(tmp_path / "m.gguf", name="Before it")
    assert read_facts(path).name == "Before it"
    write_model(path, name="Afterwards")
    assert read_facts(path).name == "Afterwards"
    path.unlink()
    with pytest.raises(ModelFileError, match="is not in"):
        read_facts(path)
