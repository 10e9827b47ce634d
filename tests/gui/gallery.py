"""Pictures of the window in many states, for looking at: `python -m tests.gui.gallery FOLDER [STATE …]`."""

import asyncio
from dataclasses import replace

from PySide6.QtWidgets import QTreeWidget, QWidget

from app.desk import Desk
from app.windows.main_window import MainWindow
from core.model import (
    BoundaryReason,
    Decision,
    EngineStatus,
    FileChange,
    LineState,
    MemoryFile,
    MemoryLine,
    MemorySection,
    MessageStatus,
    ModelPhase,
    ModelStatus,
    Origin,
    ParkedLine,
    RecapSource,
    Section,
    Segment,
    SegmentId,
    SegmentRecap,
    SessionId,
    TreeItem,
    TreeView,
    TurnId,
    WorkingMemory,
)
from tests.app.scripted import ScriptedEngine
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

DAY = 86_400.0
STATES = (
    "light", "dark", "chinese", "zoom150", "narrow", "first", "new", "segments", "files", "darkfiles", "error",
    "notice", "decision", "toast", "stream", "darkstream", "long", "sheet",
)  # fmt: skip


def line(text: str, state: LineState, *turns: int, locked: bool = False) -> MemoryLine:
    origin = Origin.RESTORED if state is LineState.RESTORED else Origin.HEURISTIC
    return MemoryLine(text=text, origin=origin, state=state, turns=tuple(TurnId(t) for t in turns), locked=locked)


def sample_memory(session: SessionId, now: float) -> WorkingMemory:
    kept, new, gone, back, wait = (
        LineState.KEPT, LineState.ADDED, LineState.REMOVED, LineState.RESTORED, LineState.PENDING,
    )  # fmt: skip
    lines = {
        Section.TITLE: [line("PostgreSQL 16 cutover of the billing service", kept, locked=True)],
        Section.STATE: [
            line("Drafting the runbook.", gone, 18),
            line("Runbook drafted; rehearsal waits for a sign-off.", new, 24),
        ],
        Section.FACTS: [
            line("Cutover on 2026-12-14 at 09:00, chosen because traffic is lowest.", kept, 3),
            line("Tomasz approved the last rollback.", kept, 11),
            line("Staging database is db-stg-3, port 6432.", new, 24),
        ],
        Section.ERRORS: [line("Port 5432 was wrong; the staging port is 6432.", new, 24)],
        Section.ISSUES: [
            line("Who signs off the rollback plan?", back, 9, 24),
            line("ask Tomasz, or move the rehearsal to Monday", wait, 25),
        ],
    }
    tokens = {Section.STATE: 38, Section.FACTS: 212, Section.ISSUES: 24, Section.ERRORS: 18}
    parked = (ParkedLine(text="Is the standby in the same rack?", reason="answered in turn 12"),)
    return WorkingMemory(
        session_id=session,
        version=12,
        newest=12,
        committed_at=now - 120,
        sections=tuple(
            MemorySection(
                section=s,
                lines=tuple(lines.get(s, [])),
                tokens=tokens.get(s, 0),
                parked=parked if s is Section.ISSUES else (),
            )
            for s in Section
        ),
        decisions=(
            Decision(
                section=Section.ISSUES,
                asked="UPDATE",
                applied="UPDATE",
                reason="The model left out “Who signs off the rollback plan?” without saying it was resolved, "
                "so it was kept.",
                restored=("Who signs off the rollback plan?",),
            ),
            Decision(section=Section.FACTS, asked="APPEND", applied="APPEND", reason=""),
        ),
        pending_tokens=340,
        cause="You asked for it.",
    )


def fill(engine: ScriptedEngine) -> None:
    now = engine.now
    engine.add("Kitchen renovation", preview="Quote from Lindqvist due Friday", pinned=True, turn_count=3)
    main = engine.add(
        "PostgreSQL 16 cutover plan", id="pg", preview="Port is 6432, not 5432", updated_at=now, turn_count=2
    )
    engine.add("论文第三章修改意见", id="zh", preview="导师希望补充消融实验", updated_at=now - 60, turn_count=9)
    engine.add("Trip to Porto in March", preview="Ana prefers the morning train", updated_at=now - DAY)
    engine.add("Sourdough hydration test", preview="78 % too slack, try 74 %", updated_at=now - DAY)
    engine.add("Taxes 2026: what to collect", preview="4 open questions", updated_at=now - 4 * DAY)
    engine.add("Reading list on type systems", preview="2 books finished", updated_at=now - 5 * DAY)
    session = main.id
    engine.add_turn(
        session,
        "What is in the runbook so far?",
        "The runbook has four stages. Before the switch, check replication lag on the staging host:\n\n"
        '```sql\npsql -h db-stg-3 -p 5432 -c "select pg_last_wal_replay_lsn();"\n```\n',
    )
    turn = engine.add_turn(
        session,
        "The staging port is 6432, not 5432. That was my mistake yesterday. And Priya is out until Monday, "
        "so who signs off the rollback plan?",
        "Corrected: staging is **db-stg-3:6432**. For the sign-off you have two options: ask Tomasz, who "
        "approved the last rollback, or move the rehearsal to Monday when Priya is back. The cutover itself "
        "stays on 14 December, 09:00.",
        tokens_per_s=31.0,
        kept=2,
    )
    engine.memories[session] = [replace(sample_memory(session, now), version=v) for v in range(1, 13)]
    first = engine.messages[session][0].turn
    base = Segment(
        id=SegmentId("a"), session_id=session, first_turn=first, last_turn=first, turn_count=6,
        started_at=now - 4_000, ended_at=now - 2_600, is_open=False, opened_by=None, gap_s=None,
        title="Runbook for the cutover", summary="The four stages were listed and the lag check was written.",
        similarities=(0.91, 0.9, 0.88, 0.92, 0.86, 0.71),
        recap=SegmentRecap(source=RecapSource.MODEL, usable=True, model="Qwen3 4B · Q4_K_M"),
    )  # fmt: skip
    waiting = replace(
        base, id=SegmentId("p"), started_at=now - 9_000, ended_at=now - 8_100, title="Choosing the cutover day",
        summary="Conversation segment (6 turns). Started with: When is traffic lowest? | Ended with: 14 December, then."
        "\nTraffic is lowest on Monday mornings.\nWe decided to cut over on 14 December at 09:00.",
        recap=SegmentRecap(
            source=RecapSource.HEURISTIC, usable=False, attempts=2, next_try_at=now + 540,
            error="The model's text held names or numbers that nobody said.",
        ),
    )  # fmt: skip
    pending = replace(
        waiting, id=SegmentId("w"), started_at=now - 7_900, ended_at=now - 7_000, title="Replication lag",
        summary="Lag on staging is under two seconds.", opened_by=BoundaryReason.DRIFT,
        recap=SegmentRecap(source=RecapSource.HEURISTIC, usable=False, working=True),
    )  # fmt: skip
    engine.segments.held[session] = (
        waiting,
        pending,
        replace(base, opened_by=BoundaryReason.HAND),
        replace(
            base, id=SegmentId("b"), first_turn=turn, last_turn=turn, started_at=now - 1_700, ended_at=None,
            is_open=True, opened_by=BoundaryReason.TIME_GAP, gap_s=840.0, title="Sign-off and staging port",
            summary="", similarities=(0.9, 0.84, 0.88),
        ),
    )  # fmt: skip
    before = "# Memory\n\n## Facts\n- Billing runs on PostgreSQL 14.\n- Staging port is 5432.\n"
    after = before.replace("5432.", "6432.") + "- Priya signs off rollbacks.\n"
    change = FileChange(
        id=1, file="MEMORY.md", at=now - 130, actor="Keepsake", cause="after an update of the memory",
        turns=(TurnId(24),), before=before, after=after,
    )  # fmt: skip
    engine.files.held = (
        MemoryFile(name="MEMORY.md", path="/home/ada/.local/share/Keepsake/workspaces/default/MEMORY.md", text=after,
                   changes=(change, replace(change, id=0, before="", after=before, at=now - DAY, undone=True))),
        MemoryFile(name="SKILL.md", path="/home/ada/.local/share/Keepsake/workspaces/default/SKILL.md", text=""),
        MemoryFile(name="MEMORY_GOALS.md", path="/x/MEMORY_GOALS.md", text="", problem="It is not UTF-8 text."),
    )  # fmt: skip
    engine.model_status = ModelStatus(
        name="Qwen3 4B · Q4_K_M", phase=ModelPhase.READY, tokens_per_s=31, context_used_tokens=3_700,
        context_size_tokens=8_192, reused_share=0.92,
    )  # fmt: skip
    fill_chinese(engine)
    fill_tree(engine)


def fill_tree(engine: ScriptedEngine) -> None:
    now = engine.now
    leaf = TreeItem(
        ref="", title="When is traffic lowest? I would like to cut over then.", started_at=now - 9_000,
        ended_at=now - 8_100, tokens=420, session_id=SessionId("pg"), turns=(TurnId(1), TurnId(2)),
        text="You: When is traffic lowest? I would like to cut over then.\n\nReply: On Monday mornings, by the last "
        "four weeks.\n\nYou: 14 December, then.",
    )  # fmt: skip
    chinese = replace(
        leaf, title="第三章的消融实验还缺哪些？", text="You: 第三章的消融实验还缺哪些？", session_id=SessionId("zh")
    )
    head = TreeItem(ref="conversation:pg", title="PostgreSQL 16 cutover plan", started_at=now - 9_000,
                    ended_at=now - 60, leaves=3, tokens=1_260)  # fmt: skip
    engine.tree.top[TreeView.CONVERSATION] = (
        head,
        replace(head, ref="conversation:zh", title="论文第三章修改意见", leaves=1),
        replace(head, ref="conversation:x", title="Trip to Porto in March", leaves=12, started_at=now - 9 * DAY),
    )
    engine.tree.top[TreeView.LEVEL] = (
        TreeItem(ref="node:1", title="Summary of 10 parts", started_at=now - 9 * DAY, ended_at=now - DAY, leaves=10,
                 text="Ana prefers the morning train.\nThe hotel in Porto is booked for three nights.",
                 placeholder=True),
    )  # fmt: skip
    engine.tree.below["conversation:pg"] = (leaf, replace(leaf, title="How do we check the replication lag?"), leaf)
    engine.tree.below["conversation:zh"] = (chinese,)
    engine.tree.below["node:1"] = (leaf,)


def fill_chinese(engine: ScriptedEngine) -> None:
    session = SessionId("zh")
    turn = engine.add_turn(
        session,
        "第三章的消融实验还缺哪些？导师希望补充去掉位置编码的那一组，周五之前要给他。",
        "还缺两组：\n\n1. 去掉**位置编码**，其余不变；\n2. 只用一层注意力。\n\n建议先跑第一组，`seed` 固定为 3 个。",
        kept=2,
        tokens_per_s=28.0,
    )
    memory = sample_memory(session, engine.now)
    lines = {
        Section.TITLE: [line("论文第三章修改", LineState.KEPT)],
        Section.GOALS: [line("周五之前补充消融实验", LineState.ADDED, turn)],
        Section.FACTS: [line("导师希望增加去掉位置编码的一组", LineState.ADDED, turn)],
        Section.ISSUES: [line("第二组要不要跑三个随机种子？", LineState.PENDING, turn)],
    }
    engine.memories[session] = [
        replace(
            memory,
            version=1,
            newest=1,
            decisions=(),
            sections=tuple(MemorySection(section=s, lines=tuple(lines.get(s, [])), tokens=20) for s in Section),
        )
    ]


def set_scene(state: str, stage: Stage) -> None:
    """Conversations and what is known of them, or none before the first message."""
    if state != "first":
        fill(stage.engine)
    window = stage.window
    window.data_folder = "/home/ada/.local/share/Keepsake"
    window.chat.welcome.set_folder(window.data_folder)
    if state == "narrow":
        window.resize(700, 800)


async def prepare(state: str, stage: Stage) -> QWidget | None:
    """Bring the window into a state."""
    engine, window, desk = stage.engine, stage.window, stage.desk
    assert desk is not None
    await stage.settle(0.15)
    if "tree" in state:
        window.show_tab("Segments")
        window.segments.show_page("Memory tree")
        await asyncio.sleep(0.2)
        rows = window.segments.tree.findChildren(QTreeWidget)[0]
        for i in range(2):
            rows.topLevelItem(i).setExpanded(True)
        await asyncio.sleep(0.2)
        rows.setCurrentItem(rows.topLevelItem(0).child(0))
    if state in ("segments", "files", "darkfiles", "darksegments", "zoom150segments"):
        window.show_tab("Files" if "files" in state else "Segments")
    if state == "new":
        desk.list.new()
    if state == "error":
        window.chat.composer.set_text("A message that could not be stored")
        window.chat.show_send_error("The disk is full. Your message was not sent; it is still in the box below.")
        engine.status = EngineStatus(problems=("Search by meaning is off: its model is missing. Run set-up again.",))
        desk.status.start()
    if state == "notice":
        window.show_notice("Keepsake cannot start", "Keepsake cannot write to its data folder /x. Nothing was changed. "
                           "Give yourself write access to it, or choose another folder with --data-dir.")  # fmt: skip
    if state == "decision":
        window.memory.note._on_toggle()
    if state == "toast":
        desk.list.delete(SessionId("zh"))
    if state == "sheet":
        window.menus.show_sheet()
        await asyncio.sleep(0.2)
        return window.menus._sheet
    if state in ("stream", "darkstream"):
        await streaming(engine, window, desk)
    if state == "long":
        session = SessionId("pg")
        engine.add_turn(session, "x" * 1_000_000, "Long **reply** " * 20_000)
        engine.add_turn(
            session,
            "مرحبا كيف حالك؟ \x00\x07 😀👨‍👩‍👧 \ud800 end",
            "שלום *עולם* ok \u202e abc\n\n> quote\n\n| a | b |\n|--|--|\n| 1 | 2 |",
        )
        engine.add_turn(session, "stopped?", "half of a", status=MessageStatus.INTERRUPTED)
        engine.add_turn(
            session,
            "fails?",
            "",
            status=MessageStatus.FAILED,
            error="The model stopped: out of memory. Your message is kept; send it again.",
        )
        from core.changes import Changes

        engine.publish(Changes(everything=True))
        await asyncio.sleep(2)
    return None


async def streaming(engine: ScriptedEngine, window: MainWindow, desk: Desk) -> None:
    engine.model_status = replace(engine.model_status, phase=ModelPhase.WRITING)
    desk.status.start()
    desk.chat.send("Show me how to retry with back-off in Python, and what to watch for.")
    await asyncio.sleep(0.1)
    text = (
        "Here is a small helper:\n\n```python\nimport random\nimport time\n\ndef retry(call, tries=5):\n"
        '    """Call until it works."""\n    for i in range(tries):\n        try:\n            return call()\n'
        "        except OSError as error:  # expected\n            time.sleep(2 ** i + random.random())\n"
        "    raise error\n```\n\nWatch for:\n\n- **idempotence**: the call may have worked\n- a *limit* on the "
        "total time\n- jitter, or all clients come back at once\n\n1. first\n2. second\n\n### A heading\n\nAnd then"
    )
    for i in range(0, len(text), 12):
        engine.stream(SessionId("pg"), text[i : i + 12])
        await asyncio.sleep(0.002)


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare)
