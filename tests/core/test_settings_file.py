"""settings.toml changed by the program: one key, and nothing else in the file."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import SettingsError
from core.settings_file import change_key, save_setting, write_value

FILE = """\
# my settings
[app]
theme = "dark"  # easier on the eyes

[models]
threads = 2 # of "four"
"chat_model" = "a # b.gguf" # mine
"""


def test_only_the_line_of_the_key_changes_and_its_comment_stays():
    changed = change_key(FILE, "models", "chat_model", '"c.gguf"')
    assert changed == FILE.replace('"chat_model" = "a # b.gguf" # mine', 'chat_model = "c.gguf" # mine')
    assert change_key(FILE, "models", "threads", "3") == FILE.replace("threads = 2 #", "threads = 3 #")


def test_a_new_key_stands_under_its_heading_and_a_new_heading_at_the_end():
    assert '[models]\nproxy = "none"\nthreads' in change_key(FILE, "models", "proxy", '"none"')
    assert change_key("x = 1", "learning", "enabled", "true") == "x = 1\n\n[learning]\nenabled = true\n"
    assert change_key("", "learning", "enabled", "true") == "[learning]\nenabled = true\n"


@given(value=st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.integers(), st.booleans()))
def test_every_value_comes_back_as_it_was(value):
    changed = change_key(FILE, "models", "chat_model", write_value(value))
    assert tomllib.loads(changed)["models"]["chat_model"] == value
    assert tomllib.loads(change_key(changed, "models", "chat_model", '"a # b.gguf"')) == tomllib.loads(FILE)


def test_a_value_that_could_not_be_read_again_is_not_written(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text(FILE.replace('"dark"', '"light"'))
    before = file.read_text()
    with pytest.raises(SettingsError, match="import_way"):
        save_setting(file, "models", "import_way", "steal")
    assert file.read_text() == before
    assert [each.name for each in tmp_path.iterdir()] == ["settings.toml"]


def test_a_file_and_its_folder_are_made(tmp_path):
    file = tmp_path / "data" / "settings.toml"
    save_setting(file, "models", "import_way", "link")
    assert tomllib.loads(file.read_text()) == {"models": {"import_way": "link"}}
