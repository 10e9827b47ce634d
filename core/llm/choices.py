"""Probabilities of a few short answers from the probabilities of their tokens. Pure.

A choice's mass is the product of its tokens' probabilities, that is of all answers that begin with it. Where one
choice begins another ("yes", "yes, please"), the shorter one keeps only what the longer ones leave: an answer belongs
to the longest choice that it begins with.
"""

import math
from collections.abc import Mapping, Sequence

Tokens = tuple[int, ...]
LEAST_SHARE = 1e-12  # of a choice's mass that its longer relatives leave: rounding may leave nothing or less


def list_questions(choices: Sequence[Tokens]) -> list[Tokens]:
    """Return the beginnings after which the model must be asked for the next token, each after its own beginning."""
    return sorted({choice[:length] for choice in choices for length in range(len(choice))})


def score_choices(
    choices: Sequence[Tokens], log_probabilities: Mapping[Tokens, Mapping[int, float]]
) -> tuple[float, ...]:
    """Return the choices' probabilities, which add up to 1.

    `log_probabilities` holds, for each of `list_questions`, the natural logarithm of the next tokens' probabilities.
    """
    logs = {choice: sum(log_probabilities[choice[:at]][token] for at, token in enumerate(choice)) for choice in choices}
    masses = [logs[choice] + _log_share_left(choice, logs) for choice in choices]
    highest = max(masses)
    weights = [math.exp(mass - highest) for mass in masses]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def _log_share_left(choice: Tokens, logs: Mapping[Tokens, float]) -> float:
    longer = [other for other in logs if len(other) > len(choice) and other[: len(choice)] == choice]
    nearest = [one for one in longer if not any(one != other and one[: len(other)] == other for other in longer)]
    taken = math.fsum(math.exp(logs[other] - logs[choice]) for other in nearest)
    return math.log(max(LEAST_SHARE, 1.0 - taken))
