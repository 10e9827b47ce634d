"""Adapter of the Working Memory vectors: plain JSON in, the product's own functions, plain JSON out."""

from collections.abc import Callable, Mapping
from typing import Any

from core.model import ParkedLine, Section
from core.sessions.archive_state import ArchiveMeta, find_next_step
from core.sessions.budget import fit_messages, share_context
from core.sessions.split import split_messages
from core.sessions.turns import LiveMessage
from core.sessions.window import load_window
from core.text.items import extract_items
from core.working_memory.document import (
    Document,
    Extra,
    is_working_memory,
    parse_document,
    render_document,
)
from core.working_memory.guards.apply import apply_guard
from core.working_memory.merge import MergeResult, merge
from core.working_memory.operations import Append, Operation, Update, read_operation
from core.working_memory.operations_schema import TOOL_NAME, is_valid, tool_parameters, tool_text
from core.working_memory.overview import fit_overview, make_abstract, make_reminders
from core.working_memory.parked import ParkReason
from core.working_memory.quotes import TextPart, ToolPart, format_message
from core.working_memory.recovery import recover_operations

Json = dict[str, Any]


def parse_sections(given: Json) -> Json:
    document = parse_document(given["text"])
    return {
        "sections": bodies(document),
        "extra": [{"header": extra.header, "body": extra.body} for extra in document.extra],
        "preamble": document.preamble,
    }


def render_sections(given: Json) -> Json:
    document = Document(
        bodies={Section(name): body for name, body in given["sections"].items()},
        extra=tuple(Extra(extra["header"], extra["body"]) for extra in given.get("extra", [])),
        preamble=given.get("preamble", ""),
    )
    return {"text": render_document(document)}


def bodies(document: Document) -> dict[str, str]:
    return {section.value: body for section, body in document.bodies.items()}


def operation(applied: Operation) -> Json:
    if isinstance(applied, Update):
        return {"op": "UPDATE", "content": applied.content}
    if isinstance(applied, Append):
        return {"op": "APPEND", "items": list(applied.items)}
    return {"op": "KEEP"}


def guard(section: Section) -> Callable[[Json], Json]:
    def run(given: Json) -> Json:
        parked = [ParkedLine(text=text, reason=ParkReason.CAP) for text in given.get("parked", [])]
        outcome = apply_guard(section, read_operation(given["op"], section), given["old"], parked)
        return {
            "op": operation(outcome.operation),
            "body": outcome.body,
            "parked": [line.text for line in outcome.parked],
        }

    return run


def run_merge(given: Json) -> Json:
    parked = {
        Section(name): tuple(ParkedLine(text=text, reason=ParkReason.CAP) for text in texts)
        for name, texts in given.get("parked", {}).items()
    }
    return describe(merge(given["old_wm"], given["ops"], parked))


def describe(result: MergeResult) -> Json:
    return {
        "wm": result.text,
        "sections": bodies(result.document),
        "parked": [line.text for section in Section for line in result.parked[section]],
    }


def run_rounds(old: str, rounds: list[Any]) -> MergeResult:
    result = merge(old, None)
    for ops in rounds:
        result = merge(result.text, ops, result.parked)
    return result


def merge_rounds(given: Json) -> Json:
    result = run_rounds(given["old_wm"], given["rounds"])
    items = {section.value: list(extract_items(body)) for section, body in result.document.bodies.items()}
    return {**describe(result), "items": items}


def growth(given: Json) -> Json:
    old = "## Key Facts & Decisions\n- item 0-0\n## Files & Context\n- src/f0.py\n## Errors & Corrections\n- e0\n"
    rounds = [
        {
            "Key Facts & Decisions": {
                "op": "APPEND",
                "items": [f"item {r}-{i}" for i in range(given["per_round"])],
            },
            "Errors & Corrections": {"op": "APPEND", "items": [f"err {r}"]},
        }
        for r in range(1, given["rounds"] + 1)
    ]
    result = run_rounds(old, rounds)
    facts = extract_items(result.document.bodies[Section.FACTS])
    errors = extract_items(result.document.bodies[Section.ERRORS])
    waiting = [line.text for line in result.parked[Section.FACTS]]
    folded = [line.text for line in result.parked[Section.ERRORS]]
    return {
        "facts": len(facts),
        "facts_parked": len(waiting),
        "facts_distinct": len({*facts, *waiting}),
        "sentinels": result.document.bodies[Section.FACTS].count("CONSOLIDATION REQUIRED"),
        "errors": len(errors),
        "errors_distinct": len({*errors, *folded}),
    }


def reminders(given: Json) -> Json:
    found = make_reminders(given["wm"])
    warnings = [
        {"section": warning.section.value, "bullets": warning.items, "tokens": warning.tokens}
        for warning in found.warnings
    ]
    return {"warnings": warnings, "text": found.text}


def pending_tokens(given: Json) -> Json:
    windows = [load_window(given["existing_tokens"], given["keep_recent_count"])]
    for tokens in given["append_tokens"]:
        windows.append(windows[-1].append(tokens))
    rebuilt = load_window([*given["existing_tokens"], *given["append_tokens"]], given["keep_recent_count"])
    result = {
        "pending_after_each": [window.pending_tokens for window in windows],
        "live_after_each": [window.live_tokens for window in windows],
        "pending_if_rebuilt_at_end": rebuilt.pending_tokens,
    }
    if (budget := given.get("token_budget")) is not None:
        ratio = given.get("ratio", 0.5)
        result["commit_due_after_each"] = [window.is_due(budget, ratio) for window in windows]
    return result


def live_messages(given: Json) -> list[LiveMessage]:
    return [
        LiveMessage(id=m["id"], role=m["role"], tokens=m["tokens"], kind=m.get("kind", "")) for m in given["messages"]
    ]


def split(given: Json) -> Json:
    found = split_messages(live_messages(given), given["keep_recent_count"], given.get("tail_token_budget"))
    return {
        "archive_ids": list(found.archive_ids),
        "keep_ids": list(found.keep_ids),
        "copied_ids": list(found.copied_ids),
    }


def context_budget(given: Json) -> Json:
    shares = share_context(given["context_tokens"])
    return {
        "reserve": shares.reserve,
        "archive": shares.archive,
        "instruction": shares.instruction,
        "session": shares.session,
    }


def fit(given: Json) -> Json:
    found = fit_messages(live_messages(given), given["token_budget"])
    return {
        "ids": list(found.ids),
        "left_out_ids": list(found.left_out_ids),
        "truncated_ids": list(found.truncated_ids),
    }


def overview(given: Json) -> Json:
    found = fit_overview(given["overview"], given["max_tokens"])
    return {"text": found.text, "tokens": found.tokens, "omitted": dict(found.omitted)}


def archive_state(given: Json) -> Json:
    meta = None if given["meta"] is None else ArchiveMeta(**given["meta"])
    return {"next": str(find_next_step(given["files"], meta, in_store=given["in_store"]))}


def message_text(given: Json) -> Json:
    message = given["message"]
    parts = [
        TextPart(text=part["text"])
        if part["type"] == "text"
        else ToolPart(
            name=part.get("tool_name") or "",
            output=part.get("tool_output") or "",
            status=part.get("tool_status") or "completed",
        )
        for part in message["parts"]
    ]
    return {"text": format_message(message["role"], parts)}


def recover(given: Json) -> Json:
    found = recover_operations(given["raw"])
    return {
        "ops": {section.value: operation(found.operations[section]) for section in found.operations},
        "truncated": [section.value for section in found.truncated],
    }


WM_ADAPTERS: Mapping[str, Callable[[Json], Json]] = {
    "parse_sections": parse_sections,
    "render_sections": render_sections,
    "is_wm_document": lambda given: {"is_wm": is_working_memory(given["overview"])},
    "abstract": lambda given: {"abstract": make_abstract(given["overview"])},
    "reminders": reminders,
    "title_guard": guard(Section.TITLE),
    "state_guard": guard(Section.STATE),
    "goals_guard": guard(Section.GOALS),
    "key_facts_guard": guard(Section.FACTS),
    "files_guard": guard(Section.FILES),
    "errors_guard": guard(Section.ERRORS),
    "open_issues_guard": guard(Section.ISSUES),
    "merge": run_merge,
    "merge_rounds": merge_rounds,
    "growth": growth,
    "pending_tokens": pending_tokens,
    "split_messages": split,
    "archive_state": archive_state,
    "context_budget": context_budget,
    "fit_messages": fit,
    "fit_overview": overview,
    "format_message": message_text,
    "tool_schema": lambda _: {"name": TOOL_NAME, "parameters": tool_parameters(), "text": tool_text()},
    "validate_args": lambda given: {"valid": is_valid(given["args"])},
    "recover_ops": recover,
}
ADAPTERS = WM_ADAPTERS
