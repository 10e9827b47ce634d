"""The Models page's presenter: what it shows, and what it asks of the engine."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from pathlib import Path

from app.presenters.models import ModelsPresenter
from app.rendering.model_rows import FOUND, HERE, OFFERED, ModelAct, ModelRow
from core.changes import Changes
from core.errors import DownloadError, ModelFileError
from core.model_files import (
    DownloadProgress,
    DownloadStep,
    FitVerdict,
    FoundFile,
    ImportWay,
    ModelKind,
    ModelOffer,
    ModelOrigin,
    ModelRole,
    ServedModel,
)
from tests.app.scripted import ScriptedEngine
from tests.app.scripted_models import BUILT_IN, FITS

OFFER = ModelOffer(
    id="o", name="Qwen3 0.6B", kind=ModelKind.CHAT, host="example.org", file="q.gguf", size_bytes=1000,
    context_tokens=4096, licence="Apache-2.0", fit=FITS,
)  # fmt: skip
ELSEWHERE = FoundFile(
    path=Path("/lm/gemma.gguf"), program="LM Studio", name="gemma", kind=ModelKind.CHAT, size_bytes=5,
    quantisation="Q4_0", context_tokens=4096, fit=FITS,
)  # fmt: skip
OTHER = replace(BUILT_IN, id="other.gguf", name="Other", origin=ModelOrigin.OURS, roles=())


class View:
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.rows: dict[str, ModelRow] = {}
        self.roles = ""
        self.notes: tuple[str, ...] = ()
        self.message = ""
        self.asked: tuple[str, ...] = ()
        self.selected = ""
        self.undo = ""

    def show_rows(self, rows: Sequence[ModelRow], roles: str, notes: Sequence[str]) -> None:
        self.rows, self.roles, self.notes = {row.key: row for row in rows}, roles, tuple(notes)

    def show_message(self, text: str) -> None:
        self.message = text

    def ask_import_way(self, names: Sequence[str]) -> None:
        self.asked = tuple(names)

    def select(self, key: str) -> None:
        self.selected = key

    def follow(self, old_key: str, new_key: str) -> None:
        self.selected = new_key

    def offer_undo(self, text: str) -> None:
        self.undo = text


class Page:
    """A presenter with all around it, opened."""

    def __init__(self) -> None:
        self.engine = ScriptedEngine()
        self.models = self.engine.models
        self.view = View()
        self.said: list[str] = []
        self.presenter = ModelsPresenter(self.models, self.view, report=self.said.append, reload_after_s=0)

    async def open(self) -> None:
        self.presenter.set_visible(True)
        await self.settle()

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def act(self, key: str, act: ModelAct) -> None:
        self.presenter.act(key, act)
        await self.settle()


def run(work: Coroutine[object, object, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 10))


def test_all_three_groups_are_shown_with_what_does_what() -> None:
    async def check() -> None:
        page = Page()
        page.models.offers, page.models.found = [OFFER], [ELSEWHERE]
        page.models.problems = ("models.txt, line 3: the size is missing.",)
        await page.open()
        assert {row.group for row in page.view.rows.values()} == {HERE, FOUND, OFFERED}
        assert page.view.rows["here:small.gguf"].mark == "chat · memory"
        assert page.view.roles == "Chat: SmolLM2 135M · Q4_1  ·  Memory: the same  ·  Search: built in"
        assert page.view.notes == page.models.problems
        await page.presenter.aclose()

    run(check())


def test_nothing_is_read_while_the_page_is_closed() -> None:
    async def check() -> None:
        page = Page()
        page.presenter.on_changes(Changes(model=True))
        await page.settle()
        assert page.view.rows == {}
        await page.open()
        page.models.cards.append(OTHER)
        page.presenter.on_changes(Changes(model=True))
        await page.settle()
        assert "here:other.gguf" in page.view.rows
        page.presenter.set_visible(False)
        page.models.cards.remove(OTHER)
        page.presenter.on_changes(Changes(model=True))
        await page.settle()
        assert "here:other.gguf" in page.view.rows
        await page.presenter.aclose()

    run(check())


def test_a_model_is_chosen_for_each_role_and_back() -> None:
    async def check() -> None:
        page = Page()
        page.models.cards.append(OTHER)
        await page.open()
        await page.act("here:other.gguf", ModelAct.CHAT)
        assert page.view.rows["here:other.gguf"].mark == "chat"
        assert ModelAct.CHAT not in page.view.rows["here:other.gguf"].acts
        await page.act("here:other.gguf", ModelAct.MEMORY)
        await page.act("here:other.gguf", ModelAct.CHAT_DEFAULT)
        assert page.view.rows["here:small.gguf"].mark == "chat"
        assert page.models.asked == [
            ("choose", ModelRole.CHAT, "other.gguf", None),
            ("choose", ModelRole.MEMORY, "other.gguf", None),
            ("choose", ModelRole.CHAT, "", None),
        ]
        await page.presenter.aclose()

    run(check())


def test_a_model_that_is_too_big_is_offered_with_a_smaller_context_only() -> None:
    async def check() -> None:
        page = Page()
        too_big = replace(FITS, verdict=FitVerdict.TOO_BIG, offered_context_tokens=2048)
        page.models.cards.append(replace(OTHER, fit=too_big))
        await page.open()
        acts = page.view.rows["here:other.gguf"].acts
        assert acts == (ModelAct.CHAT_SMALLER, ModelAct.REMOVE)
        await page.act("here:other.gguf", ModelAct.CHAT_SMALLER)
        assert page.models.asked == [("choose", ModelRole.CHAT, "other.gguf", 2048)]
        await page.presenter.aclose()

    run(check())


def test_a_refusal_stands_at_its_row_until_the_next_command() -> None:
    async def check() -> None:
        page = Page()
        page.models.cards.append(OTHER)
        await page.open()
        page.engine.fail_next = ModelFileError("It is gone. Nothing was changed.")
        await page.act("here:other.gguf", ModelAct.CHAT)
        assert page.view.rows["here:other.gguf"].error == "It is gone. Nothing was changed."
        await page.act("here:other.gguf", ModelAct.CHAT)
        assert page.view.rows["here:other.gguf"].error == ""
        await page.presenter.aclose()

    run(check())


def test_how_files_come_in_is_asked_once() -> None:
    async def check() -> None:
        page = Page()
        await page.open()
        page.presenter.import_paths([Path("/dl/a.gguf")])
        await page.settle()
        assert page.view.asked == ("a.gguf",)
        assert page.models.asked == []
        page.presenter.import_as(ImportWay.LINK)
        await page.settle()
        assert page.view.asked == ()
        assert page.view.selected == "here:/dl/a.gguf"
        page.presenter.import_paths([Path("/dl/b.gguf")])
        await page.settle()
        assert page.view.asked == ()
        assert page.models.asked == [("import", "a.gguf", ImportWay.LINK), ("import", "b.gguf", None)]
        await page.presenter.aclose()

    run(check())


def test_an_import_can_be_called_off() -> None:
    async def check() -> None:
        page = Page()
        await page.open()
        page.presenter.import_paths([Path("/dl/a.gguf")])
        await page.settle()
        page.presenter.import_as(None)
        page.presenter.import_as(ImportWay.COPY)
        await page.settle()
        assert page.models.asked == []
        await page.presenter.aclose()

    run(check())


def test_a_broken_file_is_told_before_anything_is_asked() -> None:
    async def check() -> None:
        page = Page()
        page.models.broken.add("page.html")
        await page.open()
        page.presenter.import_paths([Path("/dl/page.html")])
        await page.settle()
        assert page.view.message == "page.html is no model file. Your conversations are not affected."
        assert page.view.asked == ()
        await page.presenter.aclose()

    run(check())


def test_a_file_of_another_program_is_used_where_it_is() -> None:
    async def check() -> None:
        page = Page()
        page.models.found = [ELSEWHERE]
        await page.open()
        await page.act("found:/lm/gemma.gguf", ModelAct.TAKE_CHAT)
        assert page.models.asked == [
            ("import", "gemma.gguf", ImportWay.REFERENCE),
            ("choose", ModelRole.CHAT, "/lm/gemma.gguf", None),
        ]
        assert "found:/lm/gemma.gguf" not in page.view.rows
        assert page.view.selected == "here:/lm/gemma.gguf"
        await page.presenter.aclose()

    run(check())


def test_a_removed_model_comes_back() -> None:
    async def check() -> None:
        page = Page()
        page.models.cards.append(OTHER)
        await page.open()
        await page.act("here:other.gguf", ModelAct.REMOVE)
        assert "here:other.gguf" not in page.view.rows
        assert page.view.undo == "Other is out of the list; its file stays where it is."
        page.presenter.undo()
        await page.settle()
        assert page.view.selected == "here:other.gguf"
        assert "here:other.gguf" in page.view.rows
        await page.presenter.aclose()

    run(check())


def test_the_built_in_model_cannot_be_removed() -> None:
    async def check() -> None:
        page = Page()
        await page.open()
        assert ModelAct.REMOVE not in page.view.rows["here:small.gguf"].acts
        await page.presenter.aclose()

    run(check())


def test_a_download_shows_its_progress_pauses_and_goes_on() -> None:
    async def check() -> None:
        page = Page()
        page.models.offers = [OFFER]
        await page.open()
        await page.act("offer:o", ModelAct.DOWNLOAD)
        assert page.models.running is not None
        page.models.running(
            DownloadProgress(id="o", step=DownloadStep.RECEIVING, done_bytes=250, total_bytes=1000, bytes_per_s=50.0)
        )
        row = page.view.rows["offer:o"]
        assert (row.mark, row.acts) == ("25%", (ModelAct.PAUSE, ModelAct.CANCEL))
        assert row.work is not None
        assert row.work.words == "250 bytes of 1000 bytes, 50 bytes a second, less than a minute left"
        await page.act("offer:o", ModelAct.PAUSE)
        row = page.view.rows["offer:o"]
        assert (row.mark, row.acts) == ("50%", (ModelAct.DOWNLOAD, ModelAct.CANCEL))
        await page.act("offer:o", ModelAct.DOWNLOAD)
        page.models.gate.set()
        await page.settle()
        assert "here:/data/models/q.gguf" in page.view.rows
        assert page.said == ["Qwen3 0.6B is here. Choose it under Models when you like."]
        await page.presenter.aclose()

    run(check())


def test_a_running_download_is_stopped_before_it_is_thrown_away() -> None:
    async def check() -> None:
        page = Page()
        page.models.offers = [OFFER]
        await page.open()
        await page.act("offer:o", ModelAct.DOWNLOAD)
        await page.act("offer:o", ModelAct.CANCEL)
        assert page.models.asked == [("download", "o"), ("discard", "o")]
        assert page.view.rows["offer:o"].acts == (ModelAct.DOWNLOAD,)
        await page.presenter.aclose()

    run(check())


def test_a_download_that_fails_says_so_at_its_row() -> None:
    async def check() -> None:
        page = Page()
        page.models.offers = [OFFER]
        await page.open()
        await page.act("offer:o", ModelAct.DOWNLOAD)
        page.engine.fail_next = DownloadError("The server sent other bytes. Nothing was kept.")
        page.models.gate.set()
        await page.settle()
        row = page.view.rows["offer:o"]
        assert row.error == "The server sent other bytes. Nothing was kept."
        assert row.work is None
        await page.presenter.aclose()

    run(check())


def test_closing_the_window_ends_a_download() -> None:
    async def check() -> None:
        page = Page()
        page.models.offers = [OFFER]
        await page.open()
        await page.act("offer:o", ModelAct.DOWNLOAD)
        await asyncio.wait_for(page.presenter.aclose(), 1)
        assert len(asyncio.all_tasks()) <= 2

    run(check())


def test_an_exam_tells_where_it_is_and_can_be_stopped() -> None:
    async def check() -> None:
        page = Page()
        await page.open()
        await page.act("here:small.gguf", ModelAct.EXAMINE)
        row = page.view.rows["here:small.gguf"]
        assert row.work is not None
        assert row.work.words == "Question 3 of 40"
        assert ModelAct.STOP_EXAM in row.acts
        assert ModelAct.EXAMINE not in row.acts
        await page.act("here:small.gguf", ModelAct.STOP_EXAM)
        assert page.view.rows["here:small.gguf"].work is None
        await page.presenter.aclose()

    run(check())


def test_where_a_model_came_from_and_its_size_are_said_in_words() -> None:
    async def check() -> None:
        page = Page()
        page.models.cards[0] = replace(BUILT_IN, source="pypi:some-model==0.1.2", size_bytes=1_056_000_000)
        await page.open()
        facts = dict(page.view.rows["here:small.gguf"].facts)
        assert facts["Came from"] == "comes with Keepsake (from the package some-model 0.1.2)"
        assert facts["Size"] == "1.0 GB"
        await page.presenter.aclose()

    run(check())


def test_a_server_takes_the_chats_part_on_the_page() -> None:
    async def check() -> None:
        page = Page()
        served = ServedModel(address="http://127.0.0.1:11434/v1", model="llama3.2:3b")
        presenter = ModelsPresenter(page.models, page.view, report=page.said.append, served=lambda: served)
        presenter.set_visible(True)
        await page.settle()
        assert page.view.roles.startswith("Chat: llama3.2:3b, served by http://127.0.0.1:11434/v1  ·  Memory: the same")
        assert page.view.rows["here:small.gguf"].mark == ""
        await presenter.aclose()

    run(check())
