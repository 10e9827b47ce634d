"""The folder of models: names, parts, the trash, and files of others that are never touched."""

import pytest

from core.catalogue.shelf import Shelf
from core.errors import NotFoundError
from core.model_files import ImportWay, ModelOrigin
from tests.core.catalogue.gguf_files import write_model


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "models", tmp_path / "built-in")


def test_a_split_model_comes_in_and_goes_whole(shelf, tmp_path):
    for number in (1, 2):
        write_model(tmp_path / "theirs" / f"big-0000{number}-of-00002.gguf")
    added = shelf.add(tmp_path / "theirs" / "big-00001-of-00002.gguf", ImportWay.LINK)
    assert [each.id for each in shelf.list_all()] == [added.id] == ["big-00001-of-00002.gguf"]
    assert len(list(shelf.folder.glob("*.gguf"))) == 2
    shelf.remove(added.id)
    assert list(shelf.folder.glob("*.gguf")) == []
    shelf.restore(added.id)
    assert len(list(shelf.folder.glob("*.gguf"))) == 2
    assert len(list((tmp_path / "theirs").iterdir())) == 2


def test_a_file_whose_name_says_nothing_gets_the_models(shelf, tmp_path):
    path = write_model(tmp_path / "jan" / "model.gguf", name="Fine Model 3B")
    assert shelf.add(path, ImportWay.COPY).id == "Fine-Model-3B.gguf"
    blob = write_model(tmp_path / "ollama" / "sha256-ab", name="..Evil: 模型 1B")
    assert shelf.add(blob, ImportWay.LINK).id.endswith("1B.gguf")
    assert all(each.path.parent == shelf.folder for each in shelf.list_all())


def test_two_models_of_one_name_stand_side_by_side(shelf, tmp_path):
    one = shelf.add(write_model(tmp_path / "a" / "m-1.gguf", name="One model"), ImportWay.COPY)
    two = shelf.add(write_model(tmp_path / "b" / "m-1.gguf", name="Another model"), ImportWay.COPY)
    assert (one.id, two.id) == ("m-1.gguf", "m-1-2.gguf")


def test_a_file_of_ours_hides_a_built_in_one_of_its_name(shelf, tmp_path):
    write_model(tmp_path / "built-in" / "m.gguf")
    assert [each.origin for each in shelf.list_all()] == [ModelOrigin.BUILT_IN]
    write_model(shelf.folder / "m.gguf")
    assert [each.origin for each in shelf.list_all()] == [ModelOrigin.OURS]


def test_a_model_whose_name_was_taken_meanwhile_is_not_restored_over_it(shelf, tmp_path):
    write_model(shelf.folder / "m.gguf", name="First one")
    shelf.remove("m.gguf")
    newer = write_model(shelf.folder / "m.gguf", name="Second one").read_bytes()
    with pytest.raises(NotFoundError, match="another file has its name"):
        shelf.restore("m.gguf")
    assert (shelf.folder / "m.gguf").read_bytes() == newer


@pytest.mark.parametrize("text", ["", "[]", "{", '{"references": 3, "speeds": []}'])
def test_a_damaged_note_file_costs_the_notes_only(shelf, text):
    write_model(shelf.folder / "m.gguf")
    (shelf.folder / "library.json").write_text(text)
    assert [each.id for each in shelf.list_all()] == ["m.gguf"]
    shelf.save_speed("m.gguf", 12.34)
    assert shelf.load_speeds() == {"m.gguf": 12.3}
