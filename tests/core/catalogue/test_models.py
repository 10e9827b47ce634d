"""models.txt: what it lists, what is wrong with it, and where a model's file is found."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue.models import find_model, load_listing, load_models, parse_models

SHA256 = "AB" * 32
BLOCK = f"""\
# a comment
[tiny]
name = Tiny 100%
role = chat
source = pypi:tiny==1.0
file = tiny.gguf
sha256 = {SHA256}
bytes = 12
context = 4096
licence = MIT
least_ram_bytes = 1000
"""
EMBEDDING = BLOCK.replace("[tiny]", "[vectors]").replace("chat", "embedding").replace("tiny.gguf", "vectors.gguf")


def test_a_block_becomes_an_entry():
    (entry,) = parse_models(BLOCK).entries
    assert (entry.id, entry.name, entry.role, entry.file) == ("tiny", "Tiny 100%", "chat", "tiny.gguf")
    assert (entry.sha256, entry.bytes, entry.context_tokens) == ("ab" * 32, 12, 4096)
    assert (entry.licence, entry.least_ram_bytes, entry.source) == ("MIT", 1000, "pypi:tiny==1.0")


BROKEN = {
    "missing key": (BLOCK.replace(f"sha256 = {SHA256}\n", ""), r"line 2: \[tiny\] has no sha256"),
    "empty key": (BLOCK.replace("= MIT", "="), r"line 10: \[tiny\] has no licence"),
    "not a number": (BLOCK.replace("= 12", "= twelve"), r"line 8: bytes of \[tiny\] is not a number"),
    "nothing": (BLOCK.replace("= 12", "= 0"), r"line 8: bytes of \[tiny\] is not a number above 0"),
    "a path": (BLOCK.replace("tiny.gguf", "../tiny.gguf"), "line 6: .*not the plain name"),
    "another kind": (BLOCK.replace("= chat", "= cook"), "line 4: role"),
    "short hash": (BLOCK.replace(SHA256, "abc"), "line 7: sha256"),
    "unsafe source": (BLOCK.replace("pypi:tiny==1.0", "http://models.example/x.gguf"), "line 5: source"),
    "no block": ("name = x\n", "line 1: .*before the first"),
    "no value": (BLOCK.replace("role = chat", "role chat"), "line 4: 'role chat' is not of the form"),
    "twice": (BLOCK + BLOCK, r"line 13: \[tiny\] is there twice"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_wrong_line_is_named_and_the_rest_works(text, said):
    listing = parse_models(text + "\n" + EMBEDDING)
    assert len(listing.problems) == 1
    assert re.search(said, listing.problems[0])
    assert "vectors" in [entry.id for entry in listing.entries]


@pytest.mark.parametrize("source", ["https://models.example/x.gguf", "http://127.0.0.1:8000/x.gguf", "pypi:a-b==1.0"])
def test_a_source_is_a_package_or_an_address_that_can_be_trusted(source):
    (entry,) = parse_models(BLOCK.replace("pypi:tiny==1.0", source)).entries
    assert entry.is_download == (not source.startswith("pypi"))


@given(text=st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    parse_models(text)
    parse_models(BLOCK + text)


def test_the_users_list_adds_and_replaces(folders):
    resources, mine = folders
    (mine.parent / "data").mkdir()
    file = mine.parent / "data" / "models.txt"
    file.write_text(BLOCK.replace("MIT", "GPL-3.0") + BLOCK.replace("[tiny]", "[own]") + "[broken]\n", "utf-8")
    listing = load_listing(resources, mine.parent / "data")
    assert [(entry.id, entry.licence, entry.by_user) for entry in listing.entries] == [
        ("vectors", "MIT", False),
        ("tiny", "GPL-3.0", True),
        ("own", "MIT", True),
    ]
    assert str(file) in listing.problems[0]


def test_a_list_that_is_no_text_is_left_out_in_words(folders):
    resources, mine = folders
    (mine / "models.txt").write_bytes(b"\xff\xfe")
    listing = load_listing(resources, mine)
    assert len(listing.entries) == 2
    assert "cannot be read" in listing.problems[0]


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
