"""Pictures of the Profile tab: `python -m tests.gui.gallery_profile FOLDER [STATE …]`."""

from typing import Any

from core.model import (
    FacetClass,
    FacetConflict,
    FacetOrigin,
    FacetSource,
    FacetState,
    ForgetLine,
    ForgetPreview,
    FormerValue,
    Place,
    Profile,
    ProfileFacet,
    SessionId,
    TurnId,
)
from tests.gui.gallery import fill
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

DAY = 86_400.0
STATES = ("light", "dark", "chinese", "zoom150", "open", "empty", "dark-open")


def facet(now: float, number: int, facet_class: FacetClass, text: str, **given: object) -> ProfileFacet:
    """A facet said in turn `number`."""
    place = Place(session_id=SessionId("pg"), title="PostgreSQL 16 cutover", number=number)
    source = FacetSource(turn=TurnId(number), session_id=SessionId("pg"), at=now - DAY, place=place)
    fields: dict[str, Any] = {
        "id": f"fc-{number}", "facet_class": facet_class, "text": text, "origin": FacetOrigin.STATED, "score": 2.0,
        "state": FacetState.ACTIVE, "segments": 3, "since": now - 9 * DAY, "last_at": now - DAY, "sources": (source,),
    }  # fmt: skip
    return ProfileFacet(**{**fields, **given})


def sample_profile(now: float, *, chinese: bool = False) -> Profile:
    """Facets of every class and state."""
    if chinese:
        return Profile(
            facets=(
                facet(now, 3, FacetClass.IDENTITY, "我住在杭州", history=(
                    FormerValue(text="我住在成都", since=now - 90 * DAY, until=now - 9 * DAY),)),
                facet(now, 4, FacetClass.IDENTITY, "我对青霉素过敏", segments=1, state=FacetState.PROVISIONAL),
                facet(now, 5, FacetClass.VETO, "我不喜欢回答里有表情符号", origin=FacetOrigin.EXPLICIT),
                facet(now, 6, FacetClass.STYLE, "我更喜欢简短的回答，先给结论，再解释原因，最后列出可以参考的资料"),
            ),
            undo="Confirmed: “我住在杭州”",
        )  # fmt: skip
    conflict = FacetSource(turn=TurnId(31), session_id=SessionId("pg"), at=now - 3_600)
    return Profile(
        facets=(
            facet(now, 3, FacetClass.IDENTITY, "My name is Ada", origin=FacetOrigin.USER),
            facet(now, 9, FacetClass.IDENTITY, "I live in Bergen", history=(
                FormerValue(text="I live in Oslo", since=now - 90 * DAY, until=now - 9 * DAY),)),
            facet(now, 11, FacetClass.IDENTITY, "I work at Lindqvist & Sons", origin=FacetOrigin.USER, conflicts=(
                FacetConflict(id=1, text="I work for the city council now", source=conflict),
                FacetConflict(id=2, text="I work at the city council as a planner", source=conflict))),
            facet(now, 12, FacetClass.VETO, "I don't want emojis in the answers", origin=FacetOrigin.EXPLICIT),
            facet(now, 14, FacetClass.STYLE, "I prefer short answers with the conclusion first and reasons after"),
            facet(now, 15, FacetClass.STYLE, "I love hiking in the Dolomites", state=FacetState.PROVISIONAL, segments=1,
                  last_at=now - 20 * DAY),
            facet(now, 16, FacetClass.STYLE, "I usually work from home on Mondays", state=FacetState.DROPPED,
                  last_at=now - 60 * DAY, segments=1),
            facet(now, 17, FacetClass.TOOLING, "I prefer uv over pip", pinned=True),
            facet(now, 18, FacetClass.CHANNEL, "I hate phone calls before ten", segments=1,
                  state=FacetState.PROVISIONAL, last_at=now - 60),
            facet(now, 19, FacetClass.IDENTITY, "I have a dog", ended_at=now - 2 * DAY, state=FacetState.DROPPED),
        ),
        to_forget=ForgetPreview(
            facet_ids=("fc-15",), texts=("I love hiking in the Dolomites",), events=2, recaps=1, asked="hiking",
            lines=(ForgetLine(place="MEMORY.md", text="- preference: I love hiking in the Dolomites"),
                   ForgetLine(place="Holidays", text="I love hiking in the Dolomites", session_id=SessionId("s-1")),
                   ForgetLine(place="Holidays", text="I love hiking", session_id=SessionId("s-1"), locked=True))),
        undo="Forgot “I own a boat”",
    )  # fmt: skip


def set_scene(state: str, stage: Stage) -> None:
    """Facets of every class, or none."""
    fill(stage.engine)
    if "empty" not in state:
        stage.engine.profile.held = sample_profile(stage.engine.now, chinese="chinese" in state)
    stage.window.resize(1440, 1000)


async def prepare(state: str, stage: Stage) -> None:
    """Open the tab and what is to be seen of it."""
    stage.window.show_tab("Profile")
    await stage.settle(0.2)
    rows = stage.window.profile.rows()
    if "open" in state and "chinese" not in state:
        rows["fc-9"].more.click()
        rows["fc-14"].more.click()
        rows["fc-14"].correct.click()
        rows["fc-12"].more.click()
        rows["fc-12"].forget.click()
    if "scrolled" in state:
        stage.window.profile.area.verticalScrollBar().setValue(10_000)


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare, prefix="profile-")
