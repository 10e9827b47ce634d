"""Settings: what is wrong is named, the environment wins, its mistakes are said."""

from dataclasses import fields

import pytest

from core.config import ENVIRONMENT_PREFIX, LearningSettings, Settings, apply_environment, load_settings, read_learning
from core.errors import SettingsError


@pytest.fixture
def settings_file(tmp_path):
    def make(text):
        path = tmp_path / "settings.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def test_without_a_file_the_defaults_hold(tmp_path):
    assert load_settings(tmp_path / "none.toml", {}) == Settings()


def test_every_section_is_read(settings_file):
    found = load_settings(
        settings_file('[learning]\nstm_gate = 0.5\n[models]\nthreads = 2\ntemperature = 1\n[app]\ntheme = "dark"\n'), {}
    )
    assert (found.learning.stm_gate, found.models.threads, found.models.temperature) == (0.5, 2, 1)
    assert found.app.theme == "dark"
    assert found.learning.recap_enabled is True  # what is not named keeps its default


def test_a_file_saved_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xef\xbb\xbf[models]\ncontext_tokens = 2048\n")
    assert load_settings(path, {}).models.context_tokens == 2048


WRONG = {
    "an unknown key": ("[learning]\nrecap_enabeld = true", ["recap_enabeld", "[learning]", "recap_enabled"]),
    "an unknown section": ("[lerning]\nenabled = true", ["[lerning]"]),
    "a value outside any section": ("enabled = true", ["[enabled]"]),
    "text for a number": ('[learning]\nmax_turns_per_segment = "20"', ["max_turns_per_segment", "'20'"]),
    "a number for a switch": ("[learning]\nenabled = 1", ["enabled", "1"]),
    "a switch for a number": ("[models]\ncontext_tokens = true", ["context_tokens", "True"]),
    "a fraction for a count": ("[models]\ncontext_tokens = 0.5", ["context_tokens", "0.5"]),
    "less than nothing": ("[models]\nthreads = -1", ["threads", "-1"]),
    "no TOML": ("[learning\n", ["cannot be read"]),
}


@pytest.mark.parametrize(("text", "named"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(settings_file, text, named):
    path = settings_file(text)
    with pytest.raises(SettingsError) as caught:
        load_settings(path, {})
    for word in (str(path), *named):
        assert word in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"settings\.toml cannot be read"):
        load_settings(path, {})


def test_the_environment_wins_over_the_file(settings_file):
    path = settings_file("[learning]\nrecap_enabled = true\nmax_turns_per_segment = 5\n")
    found = load_settings(
        path,
        {"KEEPSAKE_LEARNING_RECAP_ENABLED": " Off ", "KEEPSAKE_LEARNING_STM_GATE": "0.25", "OTHER_VARIABLE": "x"},
    )
    assert (found.learning.recap_enabled, found.learning.max_turns_per_segment) == (False, 5)
    assert found.learning.stm_gate == 0.25
    assert found.warnings == ()


@pytest.mark.parametrize("value", ["maybe", "", "2"])
def test_an_unreadable_switch_changes_nothing_and_is_said(value):
    found, warnings = apply_environment(LearningSettings(), {"KEEPSAKE_LEARNING_ENABLED": value})
    assert found == LearningSettings()
    assert len(warnings) == 1
    assert "KEEPSAKE_LEARNING_ENABLED" in warnings[0]


@pytest.mark.parametrize("value", ["many", "-3", "1.5", "nan", "inf", ""])
def test_an_unreadable_number_changes_nothing_and_is_said(value):
    found, warnings = apply_environment(LearningSettings(), {"KEEPSAKE_LEARNING_MAX_TURNS_PER_SEGMENT": value})
    assert found == LearningSettings()
    assert "KEEPSAKE_LEARNING_MAX_TURNS_PER_SEGMENT" in warnings[0]


@pytest.mark.parametrize("value", ["inf", "nan", "-0.5", "half"])
def test_an_unreadable_fraction_changes_nothing_and_is_said(value):
    found, warnings = apply_environment(LearningSettings(), {"KEEPSAKE_LEARNING_STM_GATE": value})
    assert found == LearningSettings()
    assert "KEEPSAKE_LEARNING_STM_GATE" in warnings[0]


def test_a_variable_that_names_nothing_is_said():
    _, warnings = apply_environment(LearningSettings(), {"KEEPSAKE_LEARNING_RECAL_ENABLED": "1"})
    assert "KEEPSAKE_LEARNING_RECAL_ENABLED" in warnings[0]


@pytest.mark.parametrize("name", [field.name for field in fields(LearningSettings)])
def test_every_setting_can_be_set_from_the_environment(name):
    default = getattr(LearningSettings(), name)
    text = ("off" if default else "on") if isinstance(default, bool) else "1"
    found, warnings = apply_environment(LearningSettings(), {ENVIRONMENT_PREFIX + name.upper(): text})
    assert warnings == ()
    assert getattr(found, name) != default


def test_a_section_can_be_read_alone():
    assert read_learning({"enabled": True}).enabled is True
    with pytest.raises(SettingsError, match="no setting 'nope'"):
        read_learning({"nope": 1})


def test_vectors_can_be_switched_off_alone(settings_file):
    found = load_settings(settings_file("[models]\nthreads = 2\n"), {}).without_embeddings()
    assert (found.models.embedding_enabled, found.models.threads) == (False, 2)
