"""The word lists of Working Memory, read once from resources/rules/working_memory.toml.

Relies on the resources that ship with the program; the lists never change while it runs.
"""

import tomllib
from dataclasses import dataclass
from functools import cache

from core.model import Section
from core.paths import find_resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Words as the file gives them; whoever compares brings them into its own normal form."""

    aliases: dict[Section, tuple[str, ...]]
    title_stop_words: frozenset[str]
    title_stop_pairs: frozenset[str]  # of CJK characters


@cache
def load_rules() -> Rules:
    """Return the word lists."""
    path = find_resources() / "rules" / "working_memory.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Rules(
        aliases={Section(name): tuple(words) for name, words in data["aliases"].items()},
        title_stop_words=frozenset(data["title"]["stop_words"]),
        title_stop_pairs=frozenset(data["title"]["stop_pairs"]),
    )
