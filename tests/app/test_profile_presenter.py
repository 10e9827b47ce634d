"""The Profile tab's presenter: reloads when it must, and carries out what the user asks."""

import asyncio
from dataclasses import replace

from app.presenters.profile import ProfilePresenter
from core.changes import Changes
from core.errors import NotFoundError
from core.model import FacetClass, FacetOrigin, FacetState, ForgetPreview, Profile, ProfileFacet
from tests.app.scripted import ScriptedEngine

FACET = ProfileFacet(
    id="fc-1",
    facet_class=FacetClass.IDENTITY,
    text="I live in Oslo",
    origin=FacetOrigin.STATED,
    state=FacetState.ACTIVE,
    score=2.0,
    segments=2,
    since=0.0,
    last_at=0.0,
)


class View:
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.shown: list[Profile] = []
        self.previews: list[ForgetPreview] = []

    def show_profile(self, profile: Profile, now: float) -> None:
        self.shown.append(profile)

    def show_preview(self, preview: ForgetPreview) -> None:
        self.previews.append(preview)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def make() -> tuple[ScriptedEngine, View, ProfilePresenter, list[str]]:
    engine, view, said = ScriptedEngine(), View(), list[str]()
    engine.profile.held = Profile(facets=(FACET,), undo="Pinned: “I live in Oslo”")
    return engine, view, ProfilePresenter(engine.profile, view, report=said.append, clock=lambda: 1.0), said


def test_nothing_is_loaded_before_the_tab_is_looked_at() -> None:
    async def check() -> None:
        _, view, presenter, _ = make()
        await settle()
        assert view.shown == []
        presenter.set_visible(True)
        await settle()
        assert view.shown[-1].facets == (FACET,)
        await presenter.aclose()

    asyncio.run(check())


def test_changes_of_the_profile_are_shown() -> None:
    async def check() -> None:
        engine, view, presenter, _ = make()
        presenter.set_visible(True)
        await settle()
        engine.profile.held = replace(engine.profile.held, facets=())
        presenter.on_changes(Changes(files=True))
        await settle()
        assert view.shown[-1].facets == (FACET,)
        presenter.on_changes(Changes(profile=True))
        await settle()
        assert view.shown[-1].facets == ()
        await presenter.aclose()

    asyncio.run(check())


def test_each_action_reaches_the_engine() -> None:
    async def check() -> None:
        engine, view, presenter, said = make()
        presenter.confirm("fc-1")
        presenter.pin("fc-1", True)
        presenter.correct("fc-1", "I live in Bergen")
        presenter.choose("fc-1", 7)
        presenter.ask_to_forget("fc-1")
        presenter.forget(["fc-1"])
        presenter.keep()
        presenter.undo()
        await settle()
        assert engine.profile.asked == [
            ("confirm", "fc-1"),
            ("pin", "fc-1", True),
            ("correct", "fc-1", "I live in Bergen"),
            ("choose", "fc-1", 7),
            ("forget", "fc-1"),
            ("keep",),
            ("undo",),
        ]
        assert view.previews[0].facet_ids == ("fc-1",)
        assert said == ["Undone: forgot it."]
        await presenter.aclose()

    asyncio.run(check())


def test_a_refusal_is_said() -> None:
    async def check() -> None:
        engine, _, presenter, said = make()
        engine.fail_next = NotFoundError("This is no longer in your profile. Nothing was changed.")
        presenter.confirm("fc-1")
        await settle()
        assert said == ["This is no longer in your profile. Nothing was changed."]
        await presenter.aclose()

    asyncio.run(check())
