"""What a finished segment changes in the list of long-term goals: by rule, or as a model proposes it. Pure.

By rule, goals of Working Memory that the segment's turns speak of come in if they are meant for longer than a while
(`resources/rules/goals.*`), and a goal that Working Memory marks as done is proposed to go. A model's proposals need
the user's words of a turn of the segment (archivist.md section 14).
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from core.archivist.entries import Witness
from core.archivist.words import load_rules
from core.memory_files.goals import MAX_GOAL_CHARACTERS, Goal
from core.model import MemoryLine, TurnId
from core.text.clauses import fold
from core.text.keys import is_resolved, item_key
from core.text.terms import content_terms, count_present
from core.working_memory.heuristic_terms import is_repeat
from core.working_memory.marks import front_tags

MOST_CHANGES = 3  # of one segment
SPOKEN_OF = 0.5  # of a goal's content words that a turn must hold to change or end it
GoalOpKind = Literal["add", "edit", "delete"]
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "changes": {
                "type": "array",
                "maxItems": MOST_CHANGES,
                "items": {
                    "type": "object",
                    "properties": {
                        "op": {"enum": ["add", "edit", "delete"]},
                        "id": {"type": "string", "maxLength": 12},
                        "text": {"type": "string", "maxLength": MAX_GOAL_CHARACTERS},
                        "turn": {"type": "integer"},
                    },
                    "required": ["op", "turn"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["changes"],
        "additionalProperties": False,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalChange:
    """One change of the list with what it rests on; `goal_id` "" for a new goal, `text` "" for one that goes."""

    kind: GoalOpKind
    turns: tuple[TurnId, ...]
    goal_id: str = ""
    text: str = ""
    done: bool = False  # DELETE: the user reached it


def find_by_rule(
    lines: Sequence[MemoryLine], goals: Sequence[Goal], turns: Collection[TurnId]
) -> tuple[GoalChange, ...]:
    """Return what the goals in Working Memory change; `turns` are those of the segment."""
    found: list[GoalChange] = []
    known = [goal.text for goal in goals]
    for line in lines:
        rests_on = tuple(turn for turn in line.turns if turn in turns)
        if not rests_on:
            continue
        if is_resolved(line.text) or front_tags(line.text):
            found += _find_done(line.text, goals, rests_on)
            continue
        text = line.text.strip()
        if _is_long_term(text) and len(text) <= MAX_GOAL_CHARACTERS and not is_repeat(text, known):
            known.append(text)
            found.append(GoalChange(kind="add", turns=rests_on, text=text))
    return tuple(found[:MOST_CHANGES])


def _find_done(text: str, goals: Sequence[Goal], turns: tuple[TurnId, ...]) -> list[GoalChange]:
    if not is_resolved(text):
        return []
    return [
        GoalChange(kind="delete", turns=turns, goal_id=goal.id, done=True)
        for goal in goals
        if item_key(goal.text) == item_key(text)
    ]


def read_answer(
    answer: str, goals: Sequence[Goal], witness: Witness, told: Mapping[TurnId, str]
) -> tuple[GoalChange, ...]:
    """Return the changes in a model's answer that the user's words bear out; () for what cannot be read.

    `told` are the user's messages of the segment by turn.
    """
    by_id, known = {goal.id: goal for goal in goals}, [goal.text for goal in goals]
    found: list[GoalChange] = []
    for change in _load(answer):
        turn, text = TurnId(change["turn"]), " ".join(str(change.get("text", "")).split())
        goal = by_id.get(str(change.get("id", "")))
        if turn not in told or (change["op"] != "add" and goal is None):
            continue
        if change["op"] == "delete":
            if goal is not None and _speaks_of(told[turn], goal.text):
                found.append(GoalChange(kind="delete", turns=(turn,), goal_id=goal.id))
            continue
        if not text or not witness.of_turn(turn).judge(text, "fact").passes:
            continue
        if change["op"] == "add" and not is_repeat(text, known):
            known.append(text)
            found.append(GoalChange(kind="add", turns=(turn,), text=text))
        elif goal is not None and change["op"] == "edit" and _speaks_of(text, goal.text) and text != goal.text:
            found.append(GoalChange(kind="edit", turns=(turn,), goal_id=goal.id, text=text))
    return tuple(found[:MOST_CHANGES])


def _load(answer: str) -> Iterable[dict[str, Any]]:
    import jsonschema

    try:
        value = json.loads(answer)
        jsonschema.validate(value, json.loads(SCHEMA))
    except (ValueError, RecursionError, jsonschema.ValidationError):
        return ()
    changes: list[dict[str, Any]] = value["changes"]
    return changes


def _speaks_of(text: str, goal: str) -> bool:
    wanted = content_terms(goal)
    return bool(wanted) and count_present(wanted, content_terms(text)) >= SPOKEN_OF * len(wanted)


def _is_long_term(text: str) -> bool:
    aims, passing = _load_patterns()
    folded = fold(text)
    return aims.search(folded) is not None and passing.search(folded) is None


@cache
def _load_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what shows a long-term goal and what is over soon, of all languages."""
    gathered: dict[str, list[str]] = {"aims": [], "passing": []}
    for _, rules in load_rules("goals"):
        for key, patterns in gathered.items():
            listed = rules.get(key, [])
            patterns += [str(pattern) for pattern in listed] if isinstance(listed, list) else []
    aims, passing = (re.compile("|".join(f"(?:{p})" for p in patterns)) for patterns in gathered.values())
    return aims, passing
