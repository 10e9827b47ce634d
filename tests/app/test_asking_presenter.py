"""The presenter of a conversation's answer settings: what is shown, and what is stored when."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace

from app.presenters.asking import SAVED, SAVED_READS_AGAIN, AskingPresenter
from core.changes import Changes
from core.errors import SettingsError
from core.model import Conversation
from core.model_files import ConversationSettings, Preset, Sampling
from tests.app.scripted import ScriptedEngine

WARM = ConversationSettings(sampling=Sampling(temperature=1.2))


class View:
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.settings: ConversationSettings | None = None
        self.presets: tuple[Preset, ...] = ()
        self.name = ""
        self.error = ""
        self.closed = 0

    def show_asking(self, settings: ConversationSettings, presets: Sequence[Preset]) -> None:
        self.settings, self.presets = settings, tuple(presets)

    def show_preset_name(self, name: str) -> None:
        self.name = name

    def show_asking_error(self, text: str) -> None:
        self.error = text

    def close_asking(self) -> None:
        self.closed += 1


class Sheet:
    """A presenter with a conversation open."""

    def __init__(self) -> None:
        self.engine, self.view, self.said = ScriptedEngine(), View(), list[str]()
        self.asking = self.engine.asking
        self.presenter = AskingPresenter(self.asking, self.view, report=self.said.append)
        self.conversation = self.engine.add("Boats")

    async def open(self, conversation: Conversation | None = None) -> None:
        self.presenter.show(conversation or self.conversation)
        await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


def run(work: Coroutine[object, object, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 10))


def test_the_settings_of_the_open_conversation_are_shown() -> None:
    async def check() -> None:
        sheet = Sheet()
        other = sheet.engine.add("Trains")
        sheet.asking.settings[other.id] = WARM
        await sheet.open()
        assert sheet.view.settings == ConversationSettings(sampling=Sampling())
        assert [preset.id for preset in sheet.view.presets] == ["balanced", "exact"]
        await sheet.open(other)
        assert sheet.view.settings == WARM
        await sheet.presenter.aclose()

    run(check())


def test_saving_says_when_it_holds_and_closes_the_sheet() -> None:
    async def check() -> None:
        sheet = Sheet()
        await sheet.open()
        closed = sheet.view.closed
        sheet.presenter.save(WARM)
        await sheet.settle()
        assert sheet.said == [SAVED]
        assert sheet.view.closed == closed + 1
        assert sheet.asking.settings[sheet.conversation.id] == WARM
        await sheet.presenter.aclose()

    run(check())


def test_changed_instructions_are_said_to_be_read_again() -> None:
    async def check() -> None:
        sheet = Sheet()
        await sheet.open()
        sheet.presenter.save(replace(WARM, system_prompt="Be brief."))
        await sheet.settle()
        assert sheet.said == [SAVED_READS_AGAIN]
        await sheet.presenter.aclose()

    run(check())


def test_a_preset_gives_the_header_its_name_until_a_value_is_changed() -> None:
    async def check() -> None:
        sheet = Sheet()
        await sheet.open()
        sheet.presenter.choose_preset("exact")
        await sheet.settle()
        assert sheet.view.name == "Exact"
        assert sheet.view.settings is not None
        sheet.presenter.save(replace(sheet.view.settings, sampling=Sampling(temperature=0.9)))
        await sheet.settle()
        assert sheet.asking.settings[sheet.conversation.id].preset == ""
        assert sheet.view.name == ""
        await sheet.presenter.aclose()

    run(check())


def test_reset_goes_back_to_the_defaults() -> None:
    async def check() -> None:
        sheet = Sheet()
        sheet.asking.settings[sheet.conversation.id] = WARM
        await sheet.open()
        sheet.presenter.reset()
        await sheet.settle()
        assert sheet.asking.asked == [("save", sheet.conversation.id, None)]
        assert sheet.view.settings == ConversationSettings(sampling=Sampling())
        await sheet.presenter.aclose()

    run(check())


def test_a_refused_value_is_said_in_the_sheet_which_stays_open() -> None:
    async def check() -> None:
        sheet = Sheet()
        await sheet.open()
        closed = sheet.view.closed
        sheet.engine.fail_next = SettingsError("Temperature must be from 0 to 2. Nothing was changed.")
        sheet.presenter.save(WARM)
        await sheet.settle()
        assert sheet.view.error == "Temperature must be from 0 to 2. Nothing was changed."
        assert sheet.view.closed == closed
        await sheet.presenter.aclose()

    run(check())


def test_what_another_part_of_the_window_changed_is_shown() -> None:
    async def check() -> None:
        sheet = Sheet()
        await sheet.open()
        sheet.asking.settings[sheet.conversation.id] = WARM
        sheet.presenter.on_changes(Changes(prompts=frozenset({sheet.conversation.id})))
        await sheet.settle()
        assert sheet.view.settings == WARM
        await sheet.presenter.aclose()

    run(check())


def test_without_a_conversation_nothing_is_stored() -> None:
    async def check() -> None:
        sheet = Sheet()
        sheet.presenter.show(None)
        sheet.presenter.save(WARM)
        sheet.presenter.reset()
        sheet.presenter.choose_preset("exact")
        await sheet.settle()
        assert sheet.asking.asked == []
        await sheet.presenter.aclose()

    run(check())
