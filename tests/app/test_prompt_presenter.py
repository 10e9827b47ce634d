"""The Prompt tab's presenter and its words: the newest prompt is followed, what was left out is said."""

import asyncio

from app.presenters.prompt import PromptPresenter
from app.rendering.words_prompt import left_out, part_tokens, prompt_cost, prompt_reuse, recalled_head
from core.changes import Changes
from core.model import (
    MessageId,
    PartKind,
    PromptPart,
    RecalledItem,
    SentPrompt,
    SessionId,
    TurnId,
)
from tests.app.scripted import ScriptedEngine

CHAT = SessionId("s1")


def sent(turn: int, **fields) -> SentPrompt:
    given = {"model": "m", "context_tokens": 4_096, "reserve_tokens": 1_024, "parts": (), "at": 0.0} | fields
    return SentPrompt(session_id=CHAT, turn=TurnId(turn), **given)


class View:
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.shown: list[SentPrompt | None] = []
        self.instructions: list[tuple[str, bool]] = []

    def show_prompt(self, sent: SentPrompt | None, now: float) -> None:
        self.shown.append(sent)

    def show_instructions(self, text: str, possible: bool) -> None:
        self.instructions.append((text, possible))


async def settle() -> None:
    await asyncio.sleep(0.08)


def test_the_newest_prompt_is_followed_until_an_older_one_is_chosen() -> None:
    async def check() -> None:
        engine, view = ScriptedEngine(), View()
        chat = engine.add("Boats", id=CHAT)
        engine.prompts.held[CHAT] = (sent(1), sent(2))
        presenter = PromptPresenter(engine.prompts, view, report=lambda _: None, clock=lambda: 1.0)
        presenter.show(chat)
        await settle()
        assert view.shown == [None]  # not on screen yet
        presenter.set_visible(True)
        await settle()
        assert view.shown[-1].turn == 2
        presenter.choose(1, newest=False)
        await settle()
        engine.prompts.held[CHAT] = (sent(1), sent(2), sent(3))
        presenter.on_changes(Changes(prompts=frozenset({CHAT})))
        await settle()
        assert view.shown[-1].turn == 1
        presenter.choose(3, newest=True)
        await settle()
        engine.prompts.held[CHAT] += (sent(4),)
        presenter.on_changes(Changes(messages=frozenset({CHAT})))
        await settle()
        assert view.shown[-1].turn == 4
        await presenter.aclose()

    asyncio.run(check())


def test_without_a_conversation_there_are_no_instructions_to_give() -> None:
    async def check() -> None:
        engine, view = ScriptedEngine(), View()
        presenter = PromptPresenter(engine.prompts, view, report=lambda _: None, clock=lambda: 1.0)
        presenter.set_visible(True)
        presenter.show(engine.add("Boats", id=CHAT))
        presenter.set_instructions("Be brief.")
        await settle()
        assert engine.prompts.instructions == {CHAT: "Be brief."}
        presenter.show(None)
        presenter.set_instructions("lost")
        await settle()
        assert view.instructions[-1] == ("", False)
        assert engine.prompts.instructions == {CHAT: "Be brief."}
        await presenter.aclose()

    asyncio.run(check())


def test_costs_and_reuse_in_words() -> None:
    part = PromptPart(kind=PartKind.SYSTEM, text="x", tokens=31)
    assert prompt_cost(sent(1, parts=(part,))) == "About 31 tokens of 4,096; 1,024 are kept for the answer."
    assert prompt_reuse(sent(1)) == ""
    done = sent(1, prompt_tokens=200, reused_tokens=180)
    assert prompt_cost(done).startswith("200 tokens of 4,096")
    assert prompt_reuse(done) == "90 % was known from the message before; 20 tokens had to be read."
    assert "all of it" in prompt_reuse(sent(1, prompt_tokens=200, reused_tokens=0))


def test_what_was_left_out_is_said_with_the_reason() -> None:
    history = PromptPart(kind=PartKind.HISTORY, messages=((MessageId(1), None),), left_out=1, why="older")
    assert left_out(history) == "1 message left out: older."
    cut = PromptPart(kind=PartKind.QUESTION, messages=((MessageId(1), 900),), left_out=1, why="longer than its share")
    assert left_out(cut) == "Shortened: longer than its share."
    missing = PromptPart(kind=PartKind.FILE, left_out=2, why="no room", tokens=0)
    assert (left_out(missing), part_tokens(missing)) == ("2 entries left out: no room.", "–")
    item = RecalledItem(kind="turn", ref="3", session_id=CHAT, title="Boats", at=0.0, text="x", score=0.1, used=False)
    assert recalled_head(item) == "Said, “Boats” · score 0.100 · not sent, no room"
