"""Settings while the program runs: a change holds at once, comments stay, what cannot be is said."""

import asyncio

import pytest

from core.engine import Engine
from core.errors import SettingsError
from core.paths import DataFolder
from core.services.settings import AT_NEXT_START
from core.settings_view import Source
from tests.core.jobs.talk import NO_VECTORS


def use(folder, work, monkeypatch=None):
    async def run():
        engine = Engine(DataFolder(folder), NO_VECTORS, exclusive=False)
        await engine.open()
        try:
            await work(engine)
        finally:
            await engine.aclose()

    asyncio.run(run())


async def find(engine, key):
    return next(item for item in await engine.settings.load() if item.key == key)


def test_a_change_holds_at_once_and_is_taken_back_by_the_next(tmp_path):
    async def work(engine):
        heard = []
        engine.subscribe(lambda changes: heard.append(changes.settings))
        assert await engine.settings.set("learning.recap_enabled", "off") == ""
        assert not engine._settings.learning.recap_enabled
        assert "recap" not in engine.backroom.finishing.finaliser._steps
        assert True in heard
        item = await find(engine, "learning.recap_enabled")
        assert (item.value, item.source) == (False, Source.FILE)
        assert await engine.settings.set("learning.recap_enabled", "on") == ""
        assert "recap" in engine.backroom.finishing.finaliser._steps
        await engine.settings.reset("learning.recap_enabled")
        assert (await find(engine, "learning.recap_enabled")).source is Source.DEFAULT

    use(tmp_path, work)
    assert NO_VECTORS.learning.recap_enabled, "only the engine's own settings changed"


def test_comments_and_other_lines_stay(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("# mine\n[learning]\nstm_gate = 0.5  # as I like it\n[models]\nembedding_enabled = false\n")

    async def work(engine):
        await engine.settings.set("learning.stm_gate", "0.7")
        await engine.settings.set("learning.recap_enabled", "off")
        await engine.settings.reset("learning.recap_enabled")

    use(tmp_path, work)
    text = file.read_text()
    assert text == "# mine\n[learning]\nstm_gate = 0.7  # as I like it\n[models]\nembedding_enabled = false\n"


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("learning.recap_enabled", "maybe", "switch"),
        ("learning.max_turns_per_segment", "-1", "number"),
        ("models.memory_update", "never", "auto"),
        ("learning.recap_enabeld", "on", "recap_enabled"),
        ("lerning.enabled", "on", "learning"),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_changes_nothing(tmp_path, key, text, told):
    async def work(engine):
        with pytest.raises(SettingsError, match=told):
            await engine.settings.set(key, text)

    use(tmp_path, work)
    assert not (tmp_path / "settings.toml").exists()


def test_what_takes_a_new_start_says_so(tmp_path):
    async def work(engine):
        assert await engine.settings.set("models.context_tokens", "2048") == AT_NEXT_START

    use(tmp_path, work)


def test_a_variable_of_the_environment_wins_and_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("KEEPSAKE_LEARNING_RECAP_ENABLED", "No")

    async def work(engine):
        assert "KEEPSAKE_LEARNING_RECAP_ENABLED" in await engine.settings.set("learning.recap_enabled", "on")
        item = await find(engine, "learning.recap_enabled")
        assert (item.value, item.source) == (False, Source.ENVIRONMENT)

    use(tmp_path, work)


def test_what_another_program_changes_in_the_file_is_taken_up(tmp_path):
    async def work(engine):
        file = tmp_path / "settings.toml"
        file.write_text("[learning]\nevents_enabled = false\n")
        await engine.settings.look()
        assert not engine._settings.learning.events_enabled
        file.write_text("[learning]\nevents_enabeld = true\n")
        await engine.settings.look()
        assert "events_enabeld" in engine.status.problems[0]
        assert not engine._settings.learning.events_enabled, "what was in use stays"
        file.write_text("[learning]\n")
        await engine.settings.look()
        assert engine.status.problems == ()
        assert engine._settings.learning.events_enabled

    use(tmp_path, work)
