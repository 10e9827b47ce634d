"""The presenter of another program's server: nothing is asked before the user says so."""

import asyncio
from collections.abc import Coroutine, Sequence

from app.presenters.servers import ServersPresenter
from core.errors import ModelError
from core.model_files import ServedModel
from tests.app.scripted import ScriptedEngine

HERE, THERE = "127.0.0.1:11434", "http://models.example.org"


class View:
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.served: ServedModel | None = None
        self.names: tuple[str, ...] = ()
        self.message = ""
        self.host = ""
        self.exam, self.examining = "", False

    def show_served(self, served: ServedModel | None) -> None:
        self.served = served

    def show_server_models(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def show_server_message(self, text: str) -> None:
        self.message = text

    def ask_for_host(self, host: str) -> None:
        self.host = host

    def show_exam(self, text: str, *, running: bool) -> None:
        self.exam, self.examining = text, running


class Panel:
    """A presenter with all around it."""

    def __init__(self) -> None:
        self.engine, self.view, self.said = ScriptedEngine(), View(), list[str]()
        self.presenter = ServersPresenter(self.engine.servers, self.engine.exams, self.view, report=self.said.append)
        self.presenter.start()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


def run(work: Coroutine[object, object, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 10))


def test_a_server_is_looked_at_taken_and_left() -> None:
    async def check() -> None:
        panel = Panel()
        assert panel.engine.servers.asked == []
        panel.presenter.look(HERE)
        await panel.settle()
        assert panel.view.names == ("llama3.2:3b", "qwen3:4b")
        panel.presenter.use(HERE, "qwen3:4b")
        await panel.settle()
        assert panel.view.served == ServedModel(address=HERE, model="qwen3:4b")
        panel.presenter.stop_using()
        await panel.settle()
        assert panel.view.served is None
        assert panel.said == ["qwen3:4b answers from now on.", "The models here answer again."]
        await panel.presenter.aclose()

    run(check())


def test_another_computer_is_asked_only_after_it_was_allowed_by_name() -> None:
    async def check() -> None:
        panel = Panel()
        panel.presenter.look(THERE)
        await panel.settle()
        assert panel.view.host == "models.example.org"
        assert panel.engine.servers.asked == []
        panel.presenter.allow("models.example.org", THERE)
        await panel.settle()
        assert panel.view.host == ""
        panel.presenter.use(THERE, "m")
        await panel.settle()
        assert panel.engine.servers.asked == [
            ("list", THERE, "models.example.org"),
            ("use", THERE, "m", "models.example.org"),
        ]
        await panel.presenter.aclose()

    run(check())


def test_what_goes_wrong_is_said_in_the_panel() -> None:
    async def check() -> None:
        panel = Panel()
        panel.engine.fail_next = ModelError("Nothing answers at http://127.0.0.1:11434/v1.")
        panel.presenter.look(HERE)
        await panel.settle()
        assert panel.view.message == "Nothing answers at http://127.0.0.1:11434/v1."
        await panel.presenter.aclose()

    run(check())


def test_the_served_model_takes_the_memory_exam() -> None:
    async def check() -> None:
        panel = Panel()
        await panel.settle()
        assert panel.view.exam == ""
        panel.presenter.examine()
        assert panel.engine.exams.progress is None
        panel.presenter.use(HERE, "qwen3:4b")
        await panel.settle()
        assert panel.view.exam == "Memory exam: not taken yet"
        panel.presenter.examine()
        await panel.settle()
        assert panel.engine.exams.progress is not None
        panel.engine.exams.progress("Writing an update, 3 of 8")
        assert (panel.view.exam, panel.view.examining) == ("Writing an update, 3 of 8", True)
        panel.engine.exams.gate.set()
        await panel.settle()
        assert (panel.view.exam, panel.view.examining) == ("Memory exam: It writes updates.", False)
        await panel.presenter.aclose()

    run(check())


def test_an_exam_that_is_stopped_leaves_nothing() -> None:
    async def check() -> None:
        panel = Panel()
        panel.presenter.use(HERE, "qwen3:4b")
        await panel.settle()
        panel.presenter.examine()
        await panel.settle()
        panel.presenter.stop_exam()
        await panel.settle()
        assert (panel.view.exam, panel.view.examining) == ("Memory exam: not taken yet", False)
        panel.presenter.examine()
        await panel.settle()
        panel.presenter.stop_using()
        await panel.settle()
        assert (panel.view.exam, panel.view.examining) == ("", False)
        await panel.presenter.aclose()

    run(check())
