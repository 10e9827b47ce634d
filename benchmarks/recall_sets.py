"""The sets of the benchmark of retrieval, read from their files."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.retrieval.aliases import Named

_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of an evaluation set."""

    key: str
    session: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the keys of the messages that answer it."""

    text: str
    evidence: frozenset[str]
    category: int = 0


def read_locomo(file: Path) -> tuple[list[Said], list[Question]]:
    """Read a LoCoMo conversation: its messages without names, and the questions of categories 1 to 4."""
    data = json.loads(file.read_text(encoding="utf-8"))
    said, number = [], 1
    while f"session_{number}" in data or f"session_{number}_date_time" in data:
        for turn in data.get(f"session_{number}", ()):
            caption = turn.get("blip_caption")
            text = turn["text"] + (f" [image: {caption}]" if caption else "")
            said.append(Said(key=turn["dia_id"], session=str(number), text=text))
        number += 1
    questions = []
    for asked in data["qa"]:
        evidence = frozenset(f"D{a}:{b}" for cell in asked["evidence"] for a, b in _EVIDENCE.findall(str(cell)))
        if asked["category"] != 5 and evidence:
            questions.append(Question(text=asked["question"], evidence=evidence, category=asked["category"]))
    return said, questions


def read_memdaily(file: Path) -> list[tuple[list[Said], list[Question]]]:
    """Read the talks of a MemDaily file: messages of one person, and questions with the messages that answer them."""
    talks = []
    for number, talk in enumerate(json.loads(file.read_text(encoding="utf-8"))):
        session = f"{file.stem}-{number}"
        said = [
            Said(key=f"{session}:{message['mid']}", session=session, text=message["message"])
            for message in talk["message_list"]
        ]
        questions = [
            Question(text=asked["question"], evidence=frozenset(f"{session}:{n}" for n in asked["target_step_id"]))
            for asked in talk["question_list"]
            if asked["target_step_id"] and asked["question"] != "[ERRORQ]"  # the set's own mark of a broken one
        ]
        talks.append((said, questions))
    return talks


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A message, what is known in its scope, and what of that it is about."""

    text: str
    known: tuple[Named[str], ...]
    expected: set[str]


def read_beliefs(folder: Path) -> list[Case]:
    """Read PrecisionMemBench's cases on relevant beliefs: what is neither pinned nor superseded nor an open question.

    Cases about a budget in tokens are left out: they test another step.
    """
    files = folder / "beliefs.seed.json", folder / "retrieval.cases.json"
    if not all(file.exists() for file in files):
        return []
    beliefs, cases = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    return [
        Case(
            text=case["query"],
            known=tuple(_name(belief) for belief in beliefs if _is_open_to(belief, case)),
            expected=set(case["expect"]["relevantBeliefs"]["shouldOnlyInclude"]),
        )
        for case in cases
        if "budget" not in case and "shouldOnlyInclude" in case["expect"].get("relevantBeliefs", {})
    ]


def _is_open_to(belief: dict[str, Any], case: dict[str, Any]) -> bool:
    return (
        belief["user_id"] == case.get("userId", belief["user_id"])
        and not belief["pinned"]
        and belief["type"] != "open_question"
        and belief["epistemic_status"] in ("active", "inferred")
        and belief["resolved_at"] is None
        and bool(set(belief["scope"]) & set(case["scope"]))
    )


def _name(belief: dict[str, Any]) -> Named[str]:
    return Named(key=belief["_id"], names=(belief["canonical_name"], *belief["aliases"]))
