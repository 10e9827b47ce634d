"""Wording of what a merge did, so that every module says numbers the same way.

Pure. The texts are for the user: plain, and about what happened to the user's lines.
"""


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def lines_were(number: int) -> str:
    """Return "1 line was" or "n lines were"."""
    return "1 line was" if number == 1 else f"{number} lines were"


def wait(number: int) -> str:
    """Return the verb for so many things that wait."""
    return "waits" if number == 1 else "wait"
