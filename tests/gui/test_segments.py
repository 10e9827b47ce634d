"""The Segments tab in the window: what a recap lacks, merging, splitting, renaming with undo, the memory tree."""

import asyncio
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QTreeWidget

from app.views.segment_card import SegmentCard
from core.model import (
    BoundaryReason,
    RecapSource,
    Segment,
    SegmentId,
    SegmentRecap,
    SessionId,
    SplitTurn,
    TreeItem,
    TreeView,
    TurnId,
)

A = SessionId("a")
FIRST = Segment(
    id=SegmentId("one"), session_id=A, first_turn=TurnId(1), last_turn=TurnId(2), turn_count=2, started_at=0.0,
    ended_at=1.0, is_open=False, opened_by=None, gap_s=None, title="Boilers",
    summary="Conversation segment (2 turns). Started with: It leaks | Ended with: Fine\nThe boiler leaks at the valve.",
    recap=SegmentRecap(source=RecapSource.HEURISTIC, usable=False, error="No model has shown that it can sum up."),
)  # fmt: skip
SECOND = replace(
    FIRST, id=SegmentId("two"), first_turn=TurnId(3), last_turn=TurnId(6), turn_count=4, title="Trains",
    opened_by=BoundaryReason.MARKER, summary="The user booked.",
    recap=SegmentRecap(source=RecapSource.MODEL, usable=True, model="scripted"),
)  # fmt: skip


async def until(holds) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def texts(widget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def act(card: SegmentCard, name: str) -> QAction:
    """The action of a card's menu that is called so."""
    card.show_menu()
    return next(action for action in card._menu.actions() if action.text().startswith(name))


async def open_tab(stage, window) -> list[SegmentCard]:
    window.show_tab("Segments")
    await until(lambda: len(window.segments.findChildren(SegmentCard)) == 2)
    await stage.settle()
    return window.segments.findChildren(SegmentCard)


def begin(stage) -> None:
    stage.engine.add("talk", id="a")
    stage.engine.segments.held[A] = (FIRST, SECOND)


async def test_a_placeholder_says_so_with_its_cause_and_can_be_tried_again(stage):
    begin(stage)
    stage.engine.segments.answer = "There is still no model."
    async with stage.playing() as window:
        trains, boilers = await open_tab(stage, window)
        assert "Recap written by scripted, checked against the turns" in texts(trains)
        said = texts(boilers)
        assert "The boiler leaks at the valve." in said
        assert "Placeholder, no recap yet. No model has shown that it can sum up." in said
        (again,) = [b for b in boilers.findChildren(QPushButton) if b.text() == "Recap again" and b.isVisible()]
        assert again.accessibleName() == "Recap again: Boilers"
        QTest.keyClick(again, Qt.Key.Key_Space)
        await until(lambda: ("recap_again", "one") in stage.engine.segments.asked)
        await until(lambda: "There is still no model." in texts(window.toast))


async def test_segments_are_merged_split_and_renamed_with_a_way_back(stage):
    begin(stage)
    asked = stage.engine.segments.asked
    stage.engine.segments.turns = tuple(SplitTurn(turn=TurnId(n), number=n - 2, text=f"word {n}") for n in (3, 4, 5, 6))
    async with stage.playing() as window:
        trains, boilers = await open_tab(stage, window)
        assert not act(boilers, "Merge").isEnabled()  # nothing comes before it
        act(trains, "Merge").trigger()
        await until(lambda: ("merge", "two") in asked)
        await until(window.toast.isVisible)
        window.toast._on_undo()
        await until(lambda: any(each[0] == "undo" for each in asked))
        act(trains, "Split").trigger()
        await until(lambda: trains._menu.actions()[0].text() == "A new segment begins at")
        offered = trains._menu.actions()[1:]
        assert [a.text() for a in offered] == ["Turn 2  word 4", "Turn 3  word 5", "Turn 4  word 6"]
        offered[1].trigger()
        await until(lambda: ("split", "two", 5) in asked)
        act(trains, "Rename").trigger()
        (edit,) = trains.findChildren(QLineEdit)
        assert edit.text() == "Trains"
        edit.setText("Trains to Porto")
        QTest.keyClick(edit, Qt.Key.Key_Return)
        await until(lambda: ("rename", "two", "Trains to Porto") in asked)


async def test_escape_leaves_a_name_as_it_was(stage):
    begin(stage)
    async with stage.playing() as window:
        trains, _ = await open_tab(stage, window)
        act(trains, "Rename").trigger()
        (edit,) = trains.findChildren(QLineEdit)
        edit.setText("Something else")
        QTest.keyClick(edit, Qt.Key.Key_Escape)
        await stage.settle()
        assert "Trains" in texts(trains)
        assert not any(each[0] == "rename" for each in stage.engine.segments.asked)


async def test_the_tree_is_read_branch_by_branch_and_leads_to_its_turns(stage):
    begin(stage)
    stage.engine.add("other", id="b")
    head = TreeItem(ref="conversation:b", title="Other talk", started_at=0.0, ended_at=1.0, leaves=1)
    leaf = TreeItem(
        ref="", title="When?", started_at=0.0, ended_at=1.0, text="You: When?\n\nReply: On Monday.",
        session_id=SessionId("b"), turns=(TurnId(9),),
    )  # fmt: skip
    stage.engine.tree.top[TreeView.CONVERSATION] = (head,)
    stage.engine.tree.top[TreeView.LEVEL] = (
        replace(head, ref="node:1", title="Summary of 10 parts", text="When?", placeholder=True),
    )
    stage.engine.tree.below["conversation:b"] = (leaf,)
    async with stage.playing() as window:
        await open_tab(stage, window)
        window.segments.show_page("Memory tree")
        pane = window.segments.tree
        (tree,) = pane.findChildren(QTreeWidget)
        await until(lambda: tree.topLevelItemCount() == 1)
        tree.topLevelItem(0).setExpanded(True)
        await until(lambda: tree.topLevelItem(0).childCount() == 1)
        tree.setCurrentItem(tree.topLevelItem(0).child(0))
        assert "You: When?\n\nReply: On Monday." in texts(pane)
        (go,) = [b for b in pane.findChildren(QPushButton) if b.text() == "Go to where it was said"]
        QTest.mouseClick(go, Qt.MouseButton.LeftButton)
        await until(lambda: stage.desk.list.selected == "b")
        pane._group.button(3).click()
        await until(lambda: tree.topLevelItem(0).text(0) == "Summary of 10 parts")
        tree.setCurrentItem(tree.topLevelItem(0))
        assert any("placeholder" in text for text in texts(pane))
