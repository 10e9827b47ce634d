"""models.txt: what it lists, what is wrong with it, and where a model's file is found."""

import pytest

from core.catalogue.models import find_model, load_models, parse_models
from core.errors import ModelFileError

BLOCK = """\
# a comment
[tiny]
name = Tiny 100%
role = chat
source = pypi:tiny==1.0
file = tiny.gguf
sha256 = ABCDEF
bytes = 12
context = 4096
licence = MIT
least_ram_bytes = 1000
"""
EMBEDDING = BLOCK.replace("[tiny]", "[vectors]").replace("chat", "embedding").replace("tiny.gguf", "vectors.gguf")


def test_a_block_becomes_an_entry():
    (entry,) = parse_models(BLOCK)
    assert (entry.id, entry.name, entry.role, entry.file) == ("tiny", "Tiny 100%", "chat", "tiny.gguf")
    assert (entry.sha256, entry.bytes, entry.context_tokens) == ("abcdef", 12, 4096)
    assert (entry.licence, entry.least_ram_bytes, entry.source) == ("MIT", 1000, "pypi:tiny==1.0")


BROKEN = {
    "missing key": (BLOCK.replace("sha256 = ABCDEF\n", ""), r"\[tiny\] has no sha256"),
    "empty key": (BLOCK.replace("= MIT", "="), r"\[tiny\] has no licence"),
    "not a number": (BLOCK.replace("= 12", "= twelve"), r"bytes of \[tiny\] is not a number"),
    "a path": (BLOCK.replace("tiny.gguf", "../tiny.gguf"), "not a plain file name"),
    "no block": ("name = x\n", "cannot be read"),
    "twice": (BLOCK + BLOCK, "cannot be read"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_wrong_list_is_named(text, said):
    with pytest.raises(ModelFileError, match=said):
        parse_models(text)


@pytest.fixture
def folders(tmp_path):
    resources, mine = tmp_path / "resources", tmp_path / "models"
    (resources / "models").mkdir(parents=True)
    mine.mkdir()
    (tmp_path / "models.txt").write_text(EMBEDDING + BLOCK, "utf-8")
    return resources, mine


def test_the_chat_model_is_found_among_the_resources(folders):
    resources, mine = folders
    (resources / "models" / "vectors.gguf").write_bytes(b"x")
    assert find_model(resources, mine) is None
    (resources / "models" / "tiny.gguf").write_bytes(b"x")
    found = find_model(resources, mine)
    assert found is not None
    assert (found.path, found.entry.id) == (resources / "models" / "tiny.gguf", "tiny")


def test_the_users_file_of_that_name_goes_first(folders):
    resources, mine = folders
    for folder in (resources / "models", mine):
        (folder / "tiny.gguf").write_bytes(b"x")
    found = find_model(resources, mine)
    assert found is not None
    assert found.path == mine / "tiny.gguf"


def test_a_list_within_the_resources_goes_before_one_beside_them(folders):
    resources, _ = folders
    (resources / "models.txt").write_text(BLOCK, "utf-8")
    assert [entry.id for entry in load_models(resources)] == ["tiny"]


def test_without_a_list_there_are_no_models(tmp_path):
    assert load_models(tmp_path / "resources") == ()
    assert find_model(tmp_path / "resources", tmp_path) is None


def test_the_list_that_ships_names_a_chat_model(root):
    assert [entry.role for entry in load_models(root / "resources")].count("chat") >= 1
