"""Adapters from the Archivist vectors to the product's functions (no logic of their own)."""

import importlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from core.archivist import boundaries, drift, lessons, twins
from core.memory_files import documents
from core.memory_files.goals import GoalOp, apply_ops
from core.model import Role


def _redactor() -> Callable[[str], str]:
    """Return the product's redactor, or one that changes nothing while there is none."""
    try:
        module = importlib.import_module("core.redaction.redactor")
    except ModuleNotFoundError:
        return str
    redact: Callable[[str], str] = module.redact
    return redact


redact = _redactor()


def boundary(given: dict[str, Any]) -> dict[str, Any]:
    config = given.get("config", {})
    rules = boundaries.BoundaryRules(
        max_turns=config.get("max_turns", 20),
        max_gap_s=config.get("max_gap_seconds", 600),
        min_cosine=config.get("min_cosine", 0.4),
    )
    segment = boundaries.OpenSegment(**given["segment"])
    verdict = boundaries.find_boundary(segment, boundaries.NewTurn(**given["turn"]), rules)
    reason = verdict.reason.value if verdict.reason else None
    return {"boundary": reason is not None, "reason": reason}


def centroid_update(given: dict[str, Any]) -> dict[str, Any]:
    updated = drift.update_centroid(
        given["centroid"],
        given["new"],
        given["count"],
        model=given.get("model"),
        new_model=given.get("new_model"),
    )
    centroid = None if updated.centroid is None else list(updated.centroid)
    return {"centroid": centroid, "count": updated.count, "changed": updated.changed}


def turn_times(given: dict[str, Any]) -> dict[str, Any]:
    return asdict(boundaries.stamp_turn(given["arrived"], given["reply_end"]))


def md_archive_path(given: dict[str, Any]) -> str:
    return str(twins.twin_path(given["session_id"], given["existing_files"], redact))


@dataclass(frozen=True)
class _Row:
    id: int
    session_id: str
    turn: int
    role: Role


def segment_membership(given: dict[str, Any]) -> list[int]:
    rows = [
        _Row(id=row["id"], session_id=row["session"], turn=row["turn"], role=Role(row["role"])) for row in given["rows"]
    ]
    segment = given["segment"]
    members = boundaries.select_members(
        rows, session_id=segment["session"], first_turn=segment["first_turn"], last_turn=segment["last_turn"]
    )
    return [row.id for row in members]


def tool_lesson(given: dict[str, Any]) -> str | None:
    return lessons.draw_lesson(
        [
            lessons.ToolCall(
                name=call["name"],
                success=call["success"],
                output=call.get("output", ""),
                arguments=call.get("args"),
            )
            for call in given["calls"]
        ]
    )


def tool_error_class(given: dict[str, Any]) -> str:
    return lessons.classify_error(given["output"])


def memory_md_guard(given: dict[str, Any]) -> dict[str, Any]:
    reason = documents.guard(given["file"], given["action"], given["content"], given.get("section_title"))
    return {"allowed": reason is None, "reason": reason}


def memory_md_append(given: dict[str, Any]) -> dict[str, Any]:
    edit = documents.append(
        given["existing"], given["content"], given.get("section"), given.get("budget"), redact=redact
    )
    return {"text": edit.text, "outcome": edit.outcome.value}


def memory_md_replace_section(given: dict[str, Any]) -> dict[str, Any]:
    edit = documents.replace_section(
        given["existing"],
        given["section_title"],
        given["content"],
        given.get("protected", ()),
        given.get("budget"),
        redact=redact,
    )
    return {"text": edit.text, "outcome": edit.outcome.value}


def memory_md_excerpt(given: dict[str, Any]) -> str:
    return documents.excerpt(given["text"], given["budget"])


def _goal_op(op: dict[str, Any]) -> GoalOp:
    if "edit" in op:
        return GoalOp(id=op["edit"][0], text=op["edit"][1])
    return GoalOp(id=op["delete"]) if "delete" in op else GoalOp(text=op["add"])


def goals(given: dict[str, Any]) -> dict[str, Any]:
    done = apply_ops(given["text"], list(map(_goal_op, given["ops"])), given.get("next_id", 1), redact=redact)
    return {
        "text": done.text,
        "goals": [[goal.id, goal.text] for goal in done.goals],
        "outcomes": [outcome.value for outcome in done.outcomes],
        "next_id": done.next_id,
    }


ARCHIVIST_ADAPTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "boundary": boundary,
    "centroid_update": centroid_update,
    "turn_times": turn_times,
    "md_archive_path": md_archive_path,
    "segment_membership": segment_membership,
    "tool_lesson": tool_lesson,
    "tool_error_class": tool_error_class,
    "memory_md_guard": memory_md_guard,
    "memory_md_append": memory_md_append,
    "memory_md_replace_section": memory_md_replace_section,
    "memory_md_excerpt": memory_md_excerpt,
    "goals": goals,
}
ADAPTERS = ARCHIVIST_ADAPTERS
