"""Long-term goals out of finished segments: by rule, by a model, and what is only proposed. The model is scripted."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.archivist.entries import Heard, Witness
from core.archivist.goals import find_by_rule, read_answer
from core.archivist.recap_writer import RecapModel
from core.cli import cli
from core.config import LearningSettings, ModelSettings, Settings
from core.engine import DataFolder, Engine
from core.errors import NotFoundError
from core.memory_files.goals import GOALS_FILE, Goal
from core.model import GoalKind, LineState, MemoryLine, Origin, Role, TurnId
from tests.core.scripted_chat import ScriptedModel

AT = 1_800_000_000.0
GOAL = "My goal is to speak Portuguese by the end of next year."


class Goaler(ScriptedModel):
    """Proposes what a test wants, whatever it is asked; sums up with `recap`."""

    recap = "Nothing to keep."

    def __init__(self, *changes: dict[str, object]) -> None:
        super().__init__(context_tokens=8_192)
        self.changes = list(changes)

    async def generate(self, request):
        wants = '"changes"' in request.json_schema
        self.replies = [json.dumps({"changes": self.changes}) if wants else self.recap]
        async for piece in super().generate(request):
            yield piece


class Bench:
    def __init__(self, folder: Path, **learning: bool) -> None:
        self.folder = DataFolder(folder)
        self.model: ScriptedModel | None = None
        self.engine = Engine(
            self.folder,
            Settings(models=ModelSettings(embedding_enabled=False), learning=LearningSettings(**learning)),
            exclusive=False,
            clock=lambda: AT,
            find_model=self.find_model,
        )

    async def find_model(self) -> RecapModel | None:
        return RecapModel(model=self.model, mode="write") if self.model else None

    async def say(self, *texts: str, name: str = "talk") -> None:
        """Replay a conversation whose first segment, short enough for a verbatim recap, is finished."""
        lines, at = [], AT - 90 * 3_600.0
        for number, text in enumerate((*texts, "That was all for now, thank you.")):
            at += 3_600.0 if number == len(texts) else 60.0
            lines.append({"role": "user", "content": text, "timestamp": at})
            lines.append({"role": "assistant", "content": "Understood.", "timestamp": at + 10})
        file = self.folder.root / f"{name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        await self.engine.replay(file, progress=lambda _: None, stop=asyncio.Event())
        await self.engine.wait_idle()

    def write(self, text: str) -> None:
        path = self.folder.workspace() / GOALS_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self) -> str:
        path = self.folder.workspace() / GOALS_FILE
        return path.read_text(encoding="utf-8") if path.exists() else ""


def run(folder: Path, story, **learning: bool) -> None:
    async def play() -> None:
        bench = Bench(folder, **learning)
        await bench.engine.open()
        try:
            await story(bench)
        finally:
            await bench.engine.aclose()

    asyncio.run(play())


def test_a_goal_that_is_said_comes_into_the_list_with_its_turn(tmp_path):
    async def story(bench):
        await bench.say(GOAL)
        (goal,) = (await bench.engine.goals.load()).goals
        assert "Portuguese" in goal.text
        assert not goal.by_user
        changes = next(f for f in await bench.engine.files.load() if f.name == GOALS_FILE).changes
        assert [change.turns for change in changes] == [(1,)]

    run(tmp_path, story)


def test_without_a_model_the_rules_look_at_segments_that_have_no_recap(tmp_path):
    async def story(bench):
        await bench.say(GOAL + " There is a lot to say about how that came to be, and why it matters." * 30)
        assert "Portuguese" in bench.read()

    run(tmp_path, story)


def test_the_same_goal_said_again_comes_in_once(tmp_path):
    async def story(bench):
        await bench.say(GOAL)
        await bench.say(GOAL, name="again")
        assert len((await bench.engine.goals.load()).goals) == 1

    run(tmp_path, story)


def test_a_goal_that_the_user_took_out_stays_out(tmp_path):
    async def story(bench):
        await bench.say(GOAL)
        bench.write("# Mine\n")
        await bench.engine.goals.look()
        await bench.engine.wait_idle()
        assert bench.read() == "# Mine\n"

    run(tmp_path, story)


def test_switched_off_nothing_is_looked_for(tmp_path):
    async def story(bench):
        await bench.say(GOAL)
        assert bench.read() == ""

    run(tmp_path, story, goals_enrichment_enabled=False)


def test_a_recap_that_comes_late_lets_a_model_look_for_goals(tmp_path):
    async def story(bench):
        long = "There is a lot to say about how that came to be, and why it matters more to me than it used to. " * 30
        await bench.say("Well, it would be grand to speak Portuguese by the end of 2027, I thought. " + long)
        assert bench.read() == ""  # nothing that the rules take for a goal
        bench.model = Goaler({"op": "add", "text": "speak Portuguese by the end of 2027", "turn": 1})
        bench.model.recap = "It would be grand to speak Portuguese by the end of 2027."
        (segment, _) = await bench.engine.segments.load((await bench.engine.list_conversations())[0].id)
        assert await bench.engine.segments.recap_again(segment.id) == ""
        await bench.engine.wait_idle()
        assert "speak Portuguese" in bench.read()

    run(tmp_path, story)


def test_against_a_goal_of_the_users_a_change_is_only_proposed(tmp_path):
    async def story(bench):
        bench.write("- [g1] learn Portuguese\n")
        bench.model = Goaler({"op": "edit", "id": "g1", "text": "learn Portuguese by the summer of 2027", "turn": 1})
        await bench.say("I want to learn Portuguese by the summer of 2027.")
        assert bench.read() == "- [g1] learn Portuguese\n"
        state = await bench.engine.goals.load()
        assert [goal.by_user for goal in state.goals] == [True]
        (proposal,) = state.proposals
        assert (proposal.kind, proposal.goal_id, proposal.turns) == (GoalKind.EDIT, "g1", (1,))
        assert await bench.engine.goals.take(proposal.id) == ""
        assert bench.read() == "- [g1] learn Portuguese by the summer of 2027\n"
        assert (await bench.engine.goals.load()).proposals == ()

    run(tmp_path, story)


def test_a_ninth_goal_waits_until_the_user_says_which_may_go(tmp_path):
    async def story(bench):
        bench.write("".join(f"- [g{i}] goal number {i}\n" for i in range(1, 9)))
        await bench.say(GOAL)
        (proposal,) = (await bench.engine.goals.load()).proposals
        assert "room for eight" in await bench.engine.goals.take(proposal.id)
        assert await bench.engine.goals.take(proposal.id, retire="g3") == ""
        goals = (await bench.engine.goals.load()).goals
        assert len(goals) == 8
        assert "g3" not in [goal.id for goal in goals]
        assert goals[-1].id == "g9"

    run(tmp_path, story)


def test_what_was_dismissed_is_not_proposed_again(tmp_path):
    async def story(bench):
        bench.write("".join(f"- [g{i}] goal number {i}\n" for i in range(1, 9)))
        await bench.say(GOAL)
        (proposal,) = (await bench.engine.goals.load()).proposals
        await bench.engine.goals.dismiss(proposal.id)
        await bench.engine.goals.look()
        await bench.engine.wait_idle()
        assert (await bench.engine.goals.load()).proposals == ()
        with pytest.raises(NotFoundError):
            await bench.engine.goals.take(proposal.id)

    run(tmp_path, story)


def test_the_command_lists_goals_and_proposals(tmp_path):
    async def story(bench):
        await bench.say(GOAL)

    run(tmp_path, story)
    result = CliRunner().invoke(cli, ["goals", "--data-dir", str(tmp_path), "--run"])
    assert result.exit_code == 0, result.output
    assert "Looked at 1 part of conversations." in result.output
    assert "g1" in result.output
    assert "Portuguese" in result.output


# -- pure --------------------------------------------------------------------------------------


def line(text: str, *turns: int) -> MemoryLine:
    return MemoryLine(
        text=text, origin=Origin.HEURISTIC, state=LineState.KEPT, turns=tuple(TurnId(turn) for turn in turns)
    )


@pytest.mark.parametrize(
    "text",
    ["My dream is to run a marathon", "I want to learn to sail", "我的目标是明年考上研究生", "Mein Ziel ist ein Buch"],
)
def test_lasting_goals_are_told_by_their_words(text):
    (change,) = find_by_rule([line(text, 4)], (), {4})
    assert (change.kind, change.text, change.turns) == ("add", text, (4,))


@pytest.mark.parametrize(
    "text",
    [
        "I want to finish the report today",
        "Help me write the letter",
        "我今天想写完报告",
        "My goal is a quiet weekend this week",
    ],
)
def test_tasks_of_the_day_are_no_goals(text):
    assert find_by_rule([line(text, 4)], (), {4}) == ()


def test_a_goal_of_another_segment_is_left_to_it():
    assert find_by_rule([line("My dream is to run a marathon", 3)], (), {4, 5}) == ()


def test_a_goal_that_is_done_is_proposed_to_go():
    goals = [Goal(id="g2", text="run a marathon")]
    (change,) = find_by_rule([line("[done] run a marathon", 4)], goals, {4})
    assert (change.kind, change.goal_id, change.turns) == ("delete", "g2", (4,))


SAID = {TurnId(1): "I want to learn Portuguese by 2027.", TurnId(2): "I gave up on the marathon."}


@pytest.mark.parametrize(
    "answer",
    [
        "not JSON",
        '{"changes": [{"op": "add", "text": "learn Portuguese by 2029", "turn": 1}]}',
        '{"changes": [{"op": "add", "text": "climb the Eiger", "turn": 1}]}',
        '{"changes": [{"op": "add", "text": "learn Portuguese by 2027", "turn": 9}]}',
        '{"changes": [{"op": "add", "text": "learn Portuguese by 2027", "turn": 2}]}',
        '{"changes": [{"op": "edit", "id": "g7", "text": "learn Portuguese by 2027", "turn": 1}]}',
        '{"changes": [{"op": "delete", "id": "g1", "turn": 2}]}',
        '{"changes": [{"op": "add", "text": "learn Portuguese by 2027", "turn": 1, "why": "x"}]}',
    ],
)
def test_a_proposal_that_nothing_bears_out_is_dropped(answer):
    witness = Witness([Heard(turn=turn, role=Role.USER, text=text) for turn, text in SAID.items()])
    assert read_answer(answer, [Goal(id="g1", text="save for a house")], witness, SAID) == ()


def test_what_the_user_gave_up_is_proposed_to_go():
    witness = Witness([Heard(turn=turn, role=Role.USER, text=text) for turn, text in SAID.items()])
    answer = '{"changes": [{"op": "delete", "id": "g1", "turn": 2}]}'
    (change,) = read_answer(answer, [Goal(id="g1", text="run a marathon")], witness, SAID)
    assert (change.kind, change.goal_id) == ("delete", "g1")
