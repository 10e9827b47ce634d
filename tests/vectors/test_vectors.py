"""The product against the behaviour vectors, one test a mechanism.

A mechanism passes all its vectors, less the deviations that `deviations.toml` gives a reason for.
What is not built yet stands in `NOT_YET`, what is built in part in `AT_LEAST`; both lists may only
shrink: a mechanism that outgrew its entry fails until the entry is gone.
"""

import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.vectors.adapter import ADAPTERS
from tests.vectors.check import failures, load

HERE = Path(__file__).parent
FILES = ("wm.json", "archivist.json")
MOST_DEVIATIONS = 0.03  # of a file's vectors

NOT_YET: dict[str, str] = {}  # mechanism -> what brings it

AT_LEAST: dict[str, int] = {}  # mechanism -> vectors that pass

VECTORS = {file: load(HERE / file) for file in FILES}
BY_MECHANISM: dict[str, list[dict[str, Any]]] = defaultdict(list)
for _vectors in VECTORS.values():
    for _vector in _vectors:
        BY_MECHANISM[_vector["mechanism"]].append(_vector)
DEVIATIONS = tomllib.loads((HERE / "deviations.toml").read_text(encoding="utf-8"))


def find_failures(mechanism: str) -> dict[str, str]:
    """Return why each failing vector of a mechanism fails, by id."""
    found = {}
    for vector in BY_MECHANISM[mechanism]:
        try:
            missed = failures(vector, ADAPTERS[mechanism](vector["input"]))
        except Exception as error:  # noqa: BLE001  (whatever an adapter raises is a failing vector)
            missed = [f"raised {type(error).__name__}: {error}"]
        if missed:
            found[vector["id"]] = "; ".join(missed)[:400]
    return found


@pytest.mark.parametrize("mechanism", sorted(ADAPTERS))
def test_mechanism_does_what_its_vectors_say(mechanism: str) -> None:
    found = find_failures(mechanism)
    unexplained = {key: reason for key, reason in found.items() if key not in DEVIATIONS}
    total = len(BY_MECHANISM[mechanism])
    if mechanism in AT_LEAST:
        assert unexplained, f"{mechanism} passes all {total} vectors: take it out of AT_LEAST"
        assert total - len(unexplained) >= AT_LEAST[mechanism], _list(unexplained)
    else:
        assert not unexplained, _list(unexplained)


def test_every_mechanism_is_adapted_or_said_to_be_missing() -> None:
    assert set(BY_MECHANISM) - set(ADAPTERS) == set(NOT_YET)


def test_no_adapter_is_without_vectors() -> None:
    assert set(ADAPTERS) <= set(BY_MECHANISM)


@pytest.mark.parametrize("file", FILES)
def test_deviations_are_few(file: str) -> None:
    ids = {vector["id"] for vector in VECTORS[file]}
    assert len(ids & set(DEVIATIONS)) <= MOST_DEVIATIONS * len(ids)


def test_each_deviation_has_a_reason_and_still_deviates() -> None:
    failing = {key for mechanism in ADAPTERS for key in find_failures(mechanism)}
    for key, entry in DEVIATIONS.items():
        assert entry["reason"].strip(), f"{key} has no reason"
        assert key in failing, f"{key} passes, or is no vector that is run: take it out of deviations.toml"


def _list(found: dict[str, str]) -> str:
    return "\n" + "\n".join(f"{key}: {reason}" for key, reason in found.items())
