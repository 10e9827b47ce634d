"""Counts and turns in words, the same in the window and in a terminal. Pure.

Turns are named by their places in the conversation, from 1: the numbers of the store run over all conversations, and
say nothing to anybody who reads one.
"""

from collections.abc import Iterable

from core.model import Segment


def count(number: int, one: str, many: str = "") -> str:
    """`3 items`, `1 item`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def say_turns(places: Iterable[int]) -> str:
    """`turn 4`, `turns 3, 5–7`; "" for none."""
    runs: list[tuple[int, int]] = []
    for place in sorted(set(places)):
        if runs and place == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    named = (f"{first}" if first == last else f"{first}\N{EN DASH}{last}" for first, last in runs)
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{'turn' if single else 'turns'} {', '.join(named)}" if runs else ""


def say_segment_turns(segment: Segment) -> str:
    """`turn 4`, `turns 3–9`; how many they are where their places are not known."""
    if segment.places is None:
        return count(segment.turn_count, "turn")
    first, last = segment.places
    return say_turns(range(first, last + 1))
