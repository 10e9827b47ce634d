"""keepsake-jobs goals: the long-term goals, what is proposed about them, and a look for new ones."""

from pathlib import Path
from typing import Annotated

import typer

from core.commands.terminal import EXIT_ERROR, DataDir, console, open_engine, run
from core.model import GoalKind, GoalProposal, GoalsState, Place
from core.wording import count, say_turns

Run = Annotated[
    bool, typer.Option("--run", help="Look for goals in every part of a conversation that has ended first.")
]
Take = Annotated[int | None, typer.Option("--take", help="Do what the proposal of this number says.")]
Retire = Annotated[str, typer.Option("--retire", help="With --take: the goal that makes room, such as g3.")]
Dismiss = Annotated[int | None, typer.Option("--dismiss", help="Let the proposal of this number go.")]


def add_to(cli: typer.Typer) -> None:
    """Add the commands of this area."""
    cli.command()(goals)


def goals(
    data_dir: DataDir = None, look: Run = False, take: Take = None, retire: Retire = "", dismiss: Dismiss = None
) -> None:
    """List long-term goals and what is proposed about them."""
    run(_goals(data_dir, look=look, take=take, retire=retire, dismiss=dismiss))


async def _goals(data_dir: Path | None, *, look: bool, take: int | None, retire: str, dismiss: int | None) -> int:
    code = 0
    async with open_engine(data_dir) as engine:
        if take is not None and (note := await engine.goals.take(take, retire=retire)):
            console.print(note, style="yellow", markup=False)
            code = EXIT_ERROR
        if dismiss is not None:
            await engine.goals.dismiss(dismiss)
        if look:
            looked = await engine.goals.look()
            await engine.wait_idle()
            console.print(f"Looked at {count(looked, 'part')} of conversations.", highlight=False)
        _print(await engine.goals.load())
        for problem in engine.status.problems:
            console.print(problem, style="yellow", markup=False)
    return code


def _print(state: GoalsState) -> None:
    if not state.goals:
        console.print("There are no long-term goals yet.")
    for goal in state.goals:
        console.print(f"{goal.id:>4}  {goal.text}{' (yours)' if goal.by_user else ''}", markup=False, highlight=False)
    for proposal in state.proposals:
        console.print(
            f"Proposal {proposal.id}: {_word(proposal)}{_where(proposal)}. {proposal.why}",
            markup=False,
            highlight=False,
            style="yellow",
        )


def _word(proposal: GoalProposal) -> str:
    if proposal.kind is GoalKind.ADD:
        return f"add “{proposal.text}”"
    if proposal.kind is GoalKind.DELETE:
        return f"take {proposal.goal_id} out, “{proposal.before}”"
    return f"{proposal.goal_id} “{proposal.before}” becomes “{proposal.text}”"


def _where(proposal: GoalProposal) -> str:
    """Where the user said it: ` (turns 2, 5 of “Garden”)`; "" where no conversation is left."""
    talks: dict[str, list[Place]] = {}
    for place in proposal.places.values():
        talks.setdefault(place.session_id, []).append(place)
    said = []
    for places in talks.values():
        of = f" of “{title}”" if (title := places[0].title.strip()) else ""
        said.append(say_turns(place.number for place in places if place.number) + of)
    return f" ({'; '.join(said)})" if said else ""
