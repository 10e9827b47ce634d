"""Pictures of the Prompt tab: `python -m tests.gui.gallery_prompt FOLDER [STATE …]`."""

from dataclasses import replace
from typing import Any

from core.model import MessageId, PartKind, PromptPart, RecalledItem, SentPrompt, SessionId, TurnId
from tests.gui.gallery import fill
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

STATES = ("light", "dark", "chinese", "zoom150", "open", "empty")


def part(kind: PartKind, text: str, tokens: int, share: int = 614, **given: object) -> PromptPart:
    """A part with a text."""
    fields: dict[str, Any] = {"kind": kind, "text": text, "tokens": tokens, "share_tokens": share, **given}
    return PromptPart(**fields)


def sample_prompts(now: float, *, chinese: bool = False) -> tuple[SentPrompt, ...]:
    """Two prompts of a conversation, the newer one with everything a prompt may hold."""
    session = SessionId("zh" if chinese else "pg")
    history = tuple((MessageId(n), None) for n in range(9))
    parts = (
        part(PartKind.SYSTEM, "You are a helpful, honest assistant. Answer in the language of the user.", 31),
        part(PartKind.INSTRUCTIONS, "Answer like a database engineer; no small talk.", 16),
        part(PartKind.PREFERENCES, "- I don't want emojis in the answers\n- I prefer short answers", 42),
        part(PartKind.PROFILE, "- My name is Ada\n- I live in Bergen", 24),
        part(PartKind.FILE, "- fact: Billing runs on PostgreSQL 14.\n- fact: Staging port is 6432.", 118, left_out=14,
             why="older entries: the excerpt has a limit"),
        part(PartKind.DOCUMENT, "## Session Title\nPostgreSQL 16 cutover plan\n\n## Key Facts & Decisions\n"
             "- Cutover on 14 December", 640, 819, left_out=7,
             why="no room for all lines: Key Facts & Decisions 5, Files & Context 2"),
        part(PartKind.RECAP, "They compared two replication set-ups and chose logical replication.", 40, 204),
        part(PartKind.HISTORY, "User: When is traffic lowest? I would like to cut over then.\n\nAssistant: On Monday "
             "mornings, by the last four weeks.\n\nUser: 14 December, then.", 1_180, 1_770, left_out=12,
             why="older than what fits into the messages' share", messages=history),
        part(PartKind.RECALLED, "<recalled>\n- 2026-11-02, “Billing outage”, the user said:\n> Never restart pgbouncer "
             "during a cutover.\n</recalled>", 96, 442),
        part(PartKind.QUESTION, "What do we do if the lag does not go down before the cutover?", 17, 1_770,
             messages=((MessageId(10), None),)),
    )  # fmt: skip
    items = (
        RecalledItem(kind="preference", ref="fc-9", session_id=session, title="", at=now, score=0.41, cosine=0.41,
                     text="For outages I want the commands first and the reasons after."),
        RecalledItem(kind="recap", ref="seg-1", session_id=session, title="Billing outage", at=now, score=0.19,
                     cosine=0.52, text="The pooler was restarted during the cutover, and writes were lost."),
        RecalledItem(kind="turn", ref="3", session_id=session, title="Billing outage", at=now, score=0.09,
                     text="Never restart pgbouncer during a cutover."),
        RecalledItem(kind="turn", ref="4", session_id=session, title="Trip to Porto in March", at=now, score=0.083,
                     used=False, text="The lag after the flight was worse than expected."),
    )  # fmt: skip
    newest = SentPrompt(
        session_id=session, turn=TurnId(4), at=now - 70, model="Qwen3 4B · Q4_K_M", context_tokens=4_096,
        reserve_tokens=1_024, parts=parts, recalled=items, prompt_tokens=2_231, reused_tokens=2_098, older=TurnId(2),
        place=2, count=2,
    )  # fmt: skip
    if chinese:
        newest = replace(
            newest,
            parts=(
                part(PartKind.SYSTEM, "你是一位乐于助人、诚实的助手。请用用户的语言回答，简短而清楚。", 48),
                part(PartKind.PROFILE, "- 我住在杭州\n- 我更喜欢简短的回答", 40),
                part(PartKind.DOCUMENT, "## Session Title\n论文第三章修改\n\n## Task & Goals\n- 周五之前补充消融实验",
                     96, 819),
                part(PartKind.QUESTION, "第三章的消融实验还缺哪些？导师希望补充去掉位置编码的那一组，周五之前要给他。",
                     60, 1_770, messages=((MessageId(10), None),)),
            ),
            recalled=(
                replace(items[0], text="写邮件时我喜欢正式的语气"),
                replace(items[2], title="论文第二章", text="导师要求周五之前交初稿。"),
            ),
            prompt_tokens=268, reused_tokens=0,
        )  # fmt: skip
    oldest = replace(newest, turn=TurnId(2), parts=parts[:1] + parts[-1:], recalled=(), prompt_tokens=None,
                     reused_tokens=None, older=None, newer=TurnId(4), place=1)  # fmt: skip
    return oldest, newest


def set_scene(state: str, stage: Stage) -> None:
    """Two prompts, or none."""
    fill(stage.engine)
    prompts, session = stage.engine.prompts, SessionId("zh" if "chinese" in state else "pg")
    if "empty" not in state:
        prompts.held[session] = sample_prompts(stage.engine.now, chinese="chinese" in state)
        prompts.instructions[session] = "Answer like a database engineer; no small talk."
    stage.window.resize(1440, 1000)


async def prepare(state: str, stage: Stage) -> None:
    """Open the tab and what is to be seen of it."""
    tab = stage.window.prompt
    stage.window.show_tab("Prompt")
    await stage.settle(0.2)
    if "open" in state:
        tab.rows()[PartKind.HISTORY].fold.click()
        tab.rows()[PartKind.DOCUMENT].fold.click()
        tab.instructions.change.click()
    if "scrolled" in state:
        tab.area.verticalScrollBar().setValue(10_000)


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare, prefix="prompt-")
