"""keepsake-jobs config: what there is, where it comes from, and how it is changed."""

import json

from typer.testing import CliRunner

from core.cli import cli


def call(folder, *arguments):
    return CliRunner().invoke(cli, ["config", *arguments, "--data-dir", str(folder)])


def test_every_setting_is_listed_with_its_source(tmp_path, monkeypatch):
    monkeypatch.setenv("KEEPSAKE_LEARNING_STM_GATE", "0.7")
    monkeypatch.setenv("KEEPSAKE_LEARNING_STM_GAET", "0.7")
    (tmp_path / "settings.toml").write_text('[app]\ntheme = "dark"\n')
    told = json.loads(call(tmp_path, "--json").stdout)
    assert told["settings"]["learning.stm_gate"] == {"value": 0.7, "default": None, "source": "environment"}
    assert told["settings"]["app.theme"]["source"] == "settings.toml"
    assert told["settings"]["learning.recap_enabled"]["source"] == "default"
    assert "KEEPSAKE_LEARNING_STM_GAET" in told["warnings"][0]
    shown = call(tmp_path).stdout
    assert "learning.recap_enabled" in shown
    assert "KEEPSAKE_LEARNING_STM_GATE" in shown


def test_set_and_unset_write_the_file(tmp_path):
    assert call(tmp_path, "set", "learning.recap_enabled", "off").stdout.strip() == (
        "learning.recap_enabled = off (settings.toml)"
    )
    assert (tmp_path / "settings.toml").read_text() == "[learning]\nrecap_enabled = false\n"
    assert call(tmp_path, "unset", "learning.recap_enabled").stdout.strip() == "learning.recap_enabled = on (default)"


def test_a_wrong_value_or_name_is_exit_code_1_and_writes_nothing(tmp_path):
    assert call(tmp_path, "set", "learning.recap_enabled", "perhaps").exit_code == 1
    assert call(tmp_path, "set", "learning.nothing", "1").exit_code == 1
    assert not (tmp_path / "settings.toml").exists()
