"""Adapters from the recap vectors to the product's functions (no logic of their own)."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from core.archivist import recap, recap_check
from core.model import RecapSource


def recap_budget(given: dict[str, Any]) -> dict[str, Any]:
    return asdict(recap.plan_budget(given["input_tokens"]))


def check(given: dict[str, Any]) -> dict[str, Any]:
    verdict = recap_check.check_recap(given["source"], given["recap"])
    return {"accepted": verdict.accepted, "unsupported": list(verdict.unsupported)}


def recap_fallback(given: dict[str, Any]) -> dict[str, Any]:
    text = recap.write_bookend(given["first"], given["last"], given["turns"])
    return {"text": text, "source": RecapSource.HEURISTIC.value}


def recap_outcome(given: dict[str, Any]) -> dict[str, Any]:
    result = given["result"]
    outcome = recap.decide_outcome(result["text"], error=result["error"], seconds=result["seconds"])
    return {**asdict(outcome), "source": outcome.source.value}


def recap_retry(given: dict[str, Any]) -> list[str]:
    pending = [recap.PendingRecap(**each) for each in given["pending"]]
    return list(recap.choose_due(pending, now=given["now"], trigger=recap.Trigger(given["trigger"])))


RECAP_ADAPTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "recap_budget": recap_budget,
    "recap_check": check,
    "recap_fallback": recap_fallback,
    "recap_outcome": recap_outcome,
    "recap_retry": recap_retry,
}
