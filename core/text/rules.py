"""Rule tables: patterns and word lists as data, one TOML file per language in `resources/rules`.

A family is all files named `<family>.<language>.toml`. In a pattern `%name%` stands for the text of
that name in the file's `[macros]`, so that long alternations are written once. Patterns are compiled
as they are: callers match them against lower-cased text.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.paths import find_resources

NEVER = re.compile(r"(?!)")
_MACRO = re.compile(r"%(\w+)%")


@dataclass(frozen=True, slots=True)
class RuleTable:
    """One table of a rule file; missing keys read as empty."""

    source: str
    table: Mapping[str, object]
    macros: Mapping[str, str]

    def section(self, key: str) -> "RuleTable":
        """Return the table under `key`."""
        value = self.table.get(key, {})
        if not isinstance(value, dict):
            raise ValueError(f"{self.source}: {key} must be a table")
        return RuleTable(self.source, value, self.macros)

    def sections(self, key: str) -> tuple["RuleTable", ...]:
        """Return the array of tables under `key`."""
        value = self.table.get(key, [])
        if not isinstance(value, list):
            raise ValueError(f"{self.source}: {key} must be an array of tables")
        return tuple(RuleTable(self.source, item, self.macros) for item in value)

    def text(self, key: str, default: str = "") -> str:
        """Return one string."""
        value = self.table.get(key, default)
        if not isinstance(value, str):
            raise ValueError(f"{self.source}: {key} must be a string")
        return value

    def flag(self, key: str) -> bool:
        """Return a switch, off where it is missing."""
        return self.table.get(key, False) is True

    def number(self, key: str, default: float = 0.0) -> float:
        """Return one number."""
        value = self.table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{self.source}: {key} must be a number")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings; a string counts as its words."""
        value = self.table.get(key, [])
        if isinstance(value, str):
            return tuple(value.split())
        if not isinstance(value, list):
            raise ValueError(f"{self.source}: {key} must be a list")
        return tuple(str(item) for item in value)

    def words(self, key: str) -> frozenset[str]:
        """Return a word list as a set."""
        return frozenset(self.texts(key))

    def pattern(self, key: str) -> re.Pattern[str]:
        """Return one pattern that matches wherever any pattern of the list under `key` does."""
        return compile_any([self.expand(item) for item in self.texts(key)], f"{self.source}: {key}")

    def patterns(self, key: str) -> tuple[re.Pattern[str], ...]:
        """Return the patterns of the list under `key`, each on its own (they may name groups)."""
        return tuple(compile_any([self.expand(item)], f"{self.source}: {key}") for item in self.texts(key))

    def expand(self, pattern: str) -> str:
        """Return `pattern` with its macros put in."""
        for _ in range(8):
            if not _MACRO.search(pattern):
                return pattern
            pattern = _MACRO.sub(lambda match: f"(?:{self.macros[match[1]]})", pattern)
        raise ValueError(f"{self.source}: macros nest too deeply in {pattern!r}")


def compile_any(patterns: Sequence[str], source: str) -> re.Pattern[str]:
    """Compile an alternation; an empty list matches nothing."""
    if not patterns:
        return NEVER
    try:
        return re.compile("|".join(f"(?:{item})" for item in patterns) if len(patterns) > 1 else patterns[0])
    except re.error as error:
        raise ValueError(f"{source}: {error}") from error


@cache
def load_rules(family: str) -> dict[str, RuleTable]:
    """Return the tables of a family by language, in the order of their names."""
    return {
        path.name.split(".")[1]: _read(path) for path in sorted((find_resources() / "rules").glob(f"{family}.*.toml"))
    }


def _read(path: Path) -> RuleTable:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    macros = {key: str(value) for key, value in table.get("macros", {}).items()}
    return RuleTable(path.name, table, macros)
