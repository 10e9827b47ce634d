"""Where things are: the data folder that was asked for, a portable one, and what cannot be written."""

import sys
from pathlib import Path

import pytest

from core.errors import DataFolderError
from core.paths import PORTABLE_MARKER, DataFolder, find_data_folder, find_resources


def test_the_folder_that_was_asked_for_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_data_folder("here").root == tmp_path / "here"
    assert find_data_folder(tmp_path / "there").root == tmp_path / "there"
    assert find_data_folder("~/mine").root == Path.home() / "mine"


def test_without_a_wish_it_is_the_users_own():
    assert find_data_folder().root.is_relative_to(Path.home())


def test_a_marker_beside_a_bundle_keeps_the_data_there(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "keepsake"))
    assert find_data_folder().root != tmp_path / "data"
    (tmp_path / PORTABLE_MARKER).touch()
    assert find_data_folder().root == tmp_path / "data"
    assert find_data_folder(tmp_path / "other").root == tmp_path / "other"  # a wish still wins


def test_naming_a_folder_makes_nothing(tmp_path):
    folder = DataFolder(tmp_path / "new")
    assert folder.database.parent == folder.root
    assert not folder.root.exists()


def test_preparing_makes_the_folder_and_leaves_no_probe(tmp_path):
    folder = DataFolder(tmp_path / "a" / "b")
    folder.prepare()
    folder.prepare()
    assert folder.workspace().is_dir()
    assert list(folder.state.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    folder = DataFolder(tmp_path / "file" / "data")
    with pytest.raises(DataFolderError, match=r"cannot write.*Nothing was changed.*--data-dir") as caught:
        folder.prepare()
    assert str(folder.root) in str(caught.value)


def test_the_shipped_data_is_found(root, monkeypatch, tmp_path):
    assert find_resources() == root / "resources"
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert find_resources() == tmp_path / "resources"
