"""The librarian's definition, its tools by name, and the prompt it is given.

Pure but for reading `resources/agents/archivist.toml` and `resources/prompts/librarian.*` (archivist.md section 15).
What `build_prompt` returns is what is sent; the text of files stands in it as quoted data.
"""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.paths import find_resources
from core.working_memory.prompts import fill, load_parts
from core.working_memory.quotes import neutralise

UPDATE_MEMORY_MD, INSERT_SQL_RECORD, MEMORY_STORE = "update_memory_md", "insert_sql_record", "memory_store"
TOOL_NAMES = (UPDATE_MEMORY_MD, INSERT_SQL_RECORD, MEMORY_STORE)
CATEGORIES = ("pattern", "mistake", "preference", "fact")
ABOUT_USER = ("preference", "fact")  # categories that need the user's own words
_AGENT = "archivist"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """An agent as its file defines it."""

    id: str
    delegate_name: str
    background: bool
    model: str
    temperature: float
    max_iterations: int
    max_result_characters: int
    prompt: str  # name of the role text in resources/prompts
    omit_identity: bool
    omit_memory_context: bool
    omit_safety_preamble: bool
    sandbox: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFile:
    """A file of the user's as it is shown to the librarian."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Which of the definition's tools are there, and which are not; both in its order."""

    tools: tuple[str, ...]
    missing: tuple[str, ...]


@cache
def load_definition() -> Definition:
    """Return the librarian's definition; raise `TypeError` if its file lacks a value or holds one too many."""
    path = find_resources() / "agents" / f"{_AGENT}.toml"
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    return Definition(**{**values, "tools": tuple(values["tools"])})


def resolve_tools(registered: Collection[str]) -> Resolved:
    """Match the definition's tools with those that are registered; others are never given to the librarian."""
    wanted = load_definition().tools
    return Resolved(
        tools=tuple(name for name in wanted if name in registered),
        missing=tuple(name for name in wanted if name not in registered),
    )


def build_prompt(files: Sequence[UserFile], tools: Sequence[str], workspace: str, *, language: str = "en") -> str:
    """Return the whole prompt: role, the user's files, the tools that are given, the workspace, in this order."""
    parts = load_parts(load_definition().prompt, language or "en")
    blocks = [parts["role"], _quote_files(files, parts), _list_tools(tools, parts)]
    if workspace.strip():
        blocks.append(f"{parts['workspace']}\n{workspace.strip()}")
    return "\n\n".join(blocks)


def _quote_files(files: Sequence[UserFile], parts: Mapping[str, str]) -> str:
    if not files:
        return parts["no_files"]
    quoted = (
        fill(parts["file"], name=neutralise(file.name).replace('"', "'"), text=neutralise(file.text.strip("\n")))
        for file in files
    )
    return "\n".join((parts["files"], *quoted))


def _list_tools(tools: Sequence[str], parts: Mapping[str, str]) -> str:
    if not tools:
        return parts["no_tools"]
    order = {name: place for place, name in enumerate(load_definition().tools)}
    ordered = sorted(dict.fromkeys(tools), key=lambda name: order.get(name, len(order)))
    lines = (f"- {name}: {parts.get(f'tool {name}', '')}".rstrip(": ") for name in ordered)
    return "\n".join((parts["tools"], *lines))
