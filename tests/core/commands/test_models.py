"""keepsake-jobs models, as typed: list, add, use, and what is said when it cannot be."""

import pytest
from typer.testing import CliRunner

from core.cli import cli
from tests.core.catalogue.gguf_files import write_model


@pytest.fixture
def type_in(data_folder):
    def run(*words):
        return CliRunner().invoke(cli, ["models", *map(str, words), "--data-dir", str(data_folder.root)])

    return run


def test_a_file_is_added_used_and_listed_with_its_role(type_in, tmp_path):
    path = write_model(tmp_path / "Theirs-Q4_0.gguf", name="Their model")
    assert "Their model · Q4_0" in type_in("add", path, "--way", "link").output
    assert type_in("use", "chat", "Theirs-Q4_0.gguf").exit_code == 0
    listed = type_in("list").output
    assert "Theirs-Q4_0.gguf  [chat, memory]" in listed
    assert "Fits: it needs about" in listed


def test_what_cannot_be_used_is_said_and_fails(type_in, tmp_path):
    (tmp_path / "page.gguf").write_text("<html>")
    result = type_in("add", tmp_path / "page.gguf")
    assert result.exit_code == 1
    assert "web page" in result.stderr
    assert type_in("use", "chat", "none.gguf").exit_code == 1


def test_offers_name_the_host_and_the_broken_line(type_in, data_folder):
    (data_folder.root / "models.txt").write_text("[broken]\nname\n")
    assert "line 2" in type_in("offers").output
