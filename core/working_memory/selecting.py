"""Select mode: a weak model answers questions whose answers are choices, never text of its own.

Keep this sentence? Is this issue settled by that one? Which of two lines is the newer? Each answer is the
probability of the answer's tokens, minus what the model would say to a question without content. The
questions of one kind share a prompt prefix; the question comes last. Chosen sentences become proposals like
those of the heuristics, in the user's own words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from core.llm.port import ChatMessage, ChatModel, ChoiceRequest, Priority
from core.model import Section
from core.text.keys import is_resolved
from core.text.polarity import polarity
from core.working_memory.candidates import (
    Candidate,
    OpenIssue,
    Rank,
    find_candidates,
    find_open_issues,
    rank_by_worth,
)
from core.working_memory.heuristic_model import Proposal
from core.working_memory.line_checks import Sources
from core.working_memory.material import Failure, Material, ModelLine
from core.working_memory.prompts import fill, load_parts
from core.working_memory.quotes import neutralise

__all__ = ["Questions", "Rank", "Selection", "Selector"]

NAME = "memory_select"
KINDS = ("keep", "settled")  # of questions that change memory
KEEP_ABOVE = 0.0  # log-odds over the prior
SETTLED_ABOVE = 0.5
MODEL_WEIGHT = 0.5  # of the model's opinion beside the rank, both in standard deviations
KEPT_SHARE = 0.5  # of the candidates at most
MOST_KEPT = 12  # sentences an update
_SENTENCES_AN_ISSUE = 2


@dataclass(slots=True)
class Selection:
    """What was chosen so far; filled while questions are asked, so that a time limit keeps what there is."""

    proposals: list[Proposal] = field(default_factory=list)
    lines: list[ModelLine] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    asked: int = 0


class Questions:
    """Asks one model questions with two answers, calibrated."""

    def __init__(self, model: ChatModel, language: str, *, conversation: str) -> None:
        self._model = model
        self._parts = load_parts(NAME, language)
        self._answers = tuple(self._parts["answers"].split("\n"))
        self._conversation = conversation
        self._priors: dict[str, float] = {}
        self.asked = 0

    async def keep(self, text: str) -> float:
        """Return how much more than for a blank the model thinks that a sentence is worth keeping (log-odds)."""
        return await self._calibrated("keep", {"text": text}) - await self._prior("keep", ("text",))

    async def settled(self, issue: str, text: str) -> float:
        """Return how much more than for a blank the model thinks that a sentence settles an issue (log-odds)."""
        prior = await self._prior("settled", ("text",), issue=issue)
        return await self._calibrated("settled", {"issue": issue, "text": text}) - prior

    async def second_is_newer(self, first: str, second: str) -> float:
        """Return the log-odds that `second` is the newer statement; asked both ways round, so that place is no help."""
        one = await self._log_odds("newer", ("B", "A"), {"first": first, "second": second})
        other = await self._log_odds("newer", ("B", "A"), {"first": second, "second": first})
        return (one - other) / 2

    async def _calibrated(self, kind: str, values: dict[str, str]) -> float:
        return await self._log_odds(kind, self._answers, values)

    async def _prior(self, kind: str, blanked: Sequence[str], **values: str) -> float:
        key = "\x00".join((kind, *values.values()))
        if key not in self._priors:
            blanks = self._parts["blank"].split("\n")
            odds = [
                await self._log_odds(kind, self._answers, {**values, **dict.fromkeys(blanked, blank)})
                for blank in blanks
            ]
            self._priors[key] = sum(odds) / len(odds)
        return self._priors[key]

    async def _log_odds(self, kind: str, answers: Sequence[str], values: dict[str, str]) -> float:
        quoted = {name: neutralise(value) for name, value in values.items()}
        question = fill(self._parts[f"{kind} question"], **quoted)
        messages = (*self._examples(kind), ChatMessage(role="user", text=question))
        scores = await self._model.choose(
            ChoiceRequest(
                messages=messages,
                choices=tuple(answers),
                conversation=f"{self._conversation}-{kind}",
                priority=Priority.BACKGROUND,
            )
        )
        self.asked += 1
        yes, no = (max(probability, 1e-9) for probability in scores.probabilities)
        return math.log(yes / no)

    def _examples(self, kind: str) -> tuple[ChatMessage, ...]:
        """System text and answered examples: what all questions of a kind begin with."""
        messages = [ChatMessage(role="system", text=self._parts[f"{kind} system"])]
        names = {"keep": ("text",), "settled": ("issue", "text"), "newer": ("first", "second")}[kind]
        right = {"+": self._answers[0], "-": self._answers[1]}
        for line in self._parts[f"{kind} examples"].split("\n"):
            mark, _, rest = line.partition(" ")
            values = dict(zip(names, rest.split(" || "), strict=True))
            messages.append(ChatMessage(role="user", text=fill(self._parts[f"{kind} question"], **values)))
            messages.append(ChatMessage(role="assistant", text=right.get(mark, mark)))
        return tuple(messages)


class Selector:
    """Chooses sentences and settled issues of one archive."""

    def __init__(
        self,
        model: ChatModel,
        material: Material,
        sources: Sources,
        *,
        rank: Rank | None,
        conversation: str,
        max_questions: int,
        kinds: frozenset[str] = frozenset(KINDS),
    ) -> None:
        self._questions = Questions(model, material.language, conversation=conversation)
        self._material = material
        self._sources = sources
        self._rank = rank or partial(rank_by_worth, vectors=material.vectors, model=material.vector_model)
        self._max_questions = max_questions
        self._kinds = kinds
        self._candidates: tuple[Candidate, ...] = ()
        self._ranks: tuple[float, ...] = ()
        self._issues: tuple[OpenIssue, ...] = ()
        self._odds: list[float] = []  # the model's, of the candidates asked about so far

    def prepare(self) -> None:
        """Find what may be asked about; the part that takes thought."""
        self._issues = find_open_issues(self._material) if "settled" in self._kinds else ()
        found = find_candidates(self._material) if "keep" in self._kinds else ()
        ranks = tuple(self._rank([candidate.text for candidate in found]))
        order = sorted(range(len(found)), key=lambda i: -ranks[i])[: self._max_questions]
        self._candidates = tuple(found[i] for i in order)
        self._ranks = tuple(ranks[i] for i in order)

    async def select(self, selection: Selection) -> None:
        """Ask; issues that are settled are put into `selection` step by step, sentences by `keep_best` afterwards."""
        for issue in self._issues:
            await self._ask_settled(issue, selection)
        for candidate in self._candidates:
            if self._questions.asked >= self._max_questions:
                break
            self._odds.append(await self._questions.keep(candidate.text))

    def rank_only(self, count: int) -> tuple[Proposal, ...]:
        """Return as many sentences as the rank alone would choose: what the model's opinion is measured against."""
        best = sorted(range(len(self._candidates)), key=lambda i: -self._ranks[i])[:count]
        chosen = [self._candidates[i] for i in sorted(best)]
        return tuple(Proposal(section=Section.FACTS, text=c.text.rstrip("。."), turns=(c.turn,)) for c in chosen)

    async def _ask_settled(self, issue: OpenIssue, selection: Selection) -> None:
        for said in issue.said[:_SENTENCES_AN_ISSUE]:
            if self._questions.asked >= self._max_questions // 2:
                return
            if polarity(said.text).negations:
                continue  # "has not answered yet" settles nothing
            odds = await self._questions.settled(issue.text, said.text)
            if odds > SETTLED_ABOVE:
                text = f"[resolved] {issue.text}"
                turns = (said.turn,)
                selection.proposals.append(
                    Proposal(section=Section.ISSUES, text=text, turns=turns, replaces=issue.text)
                )
                selection.lines.append(ModelLine(section=Section.ISSUES, text=text, turns=turns))
                return

    def keep_best(self, selection: Selection) -> None:
        """Put the sentences that rank and model together put highest, and the model would keep, into `selection`.

        After `select`, however far it came; it takes thought.
        """
        odds = self._odds
        selection.asked = self._questions.asked
        ranked = self._candidates[: len(odds)]
        scores = combine(self._ranks[: len(odds)], odds)
        most = min(MOST_KEPT, math.ceil(KEPT_SHARE * len(ranked)))
        order = sorted(range(len(ranked)), key=lambda i: -scores[i])[:most]
        for i in sorted(i for i in order if odds[i] > KEEP_ABOVE):
            candidate = ranked[i]
            if is_resolved(candidate.text) or not self._sources.check(candidate.text, Section.FACTS).passes:
                continue
            line = candidate.text.rstrip("。.")
            selection.proposals.append(Proposal(section=Section.FACTS, text=line, turns=(candidate.turn,)))
            selection.lines.append(ModelLine(section=Section.FACTS, text=line, turns=(candidate.turn,)))


def combine(ranks: Sequence[float], odds: Sequence[float]) -> tuple[float, ...]:
    """Return one score a sentence from its rank and the model's opinion, each in its own standard deviations."""
    return tuple(
        (1 - MODEL_WEIGHT) * rank + MODEL_WEIGHT * opinion
        for rank, opinion in zip(_standardise(ranks), _standardise(odds), strict=True)
    )


def _standardise(values: Sequence[float]) -> list[float]:
    if not values:
        return []
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)) or 1.0
    return [(value - mean) / spread for value in values]
