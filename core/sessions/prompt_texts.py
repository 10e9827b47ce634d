"""The program's own words in a chat's prompt, per language, from `resources/prompts`."""

import tomllib
from dataclasses import dataclass
from functools import cache

from core.paths import find_resources


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTexts:
    """The static system text, the line above what is known of the user, and the frames of quoted parts."""

    system: str
    profile: str
    file: str
    document: str
    recap: str


@cache  # read by every prompt, on the thread of the database
def load_prompt_texts(language: str) -> PromptTexts:
    """Return the words for a conversation's language; English where there are none."""
    known, folder = language.split("-")[0], find_resources() / "prompts"
    found = tomllib.loads((folder / "context.toml").read_text(encoding="utf-8"))
    frames = found.get(known, found["en"])
    texts = {}
    for name in ("chat", "profile"):
        file = folder / f"{name}.{known}.md"
        texts[name] = (file if file.exists() else folder / f"{name}.en.md").read_text(encoding="utf-8").strip()
    return PromptTexts(
        system=texts["chat"],
        profile=texts["profile"],
        file=frames["file"].strip(),
        document=frames["document"].strip(),
        recap=frames["recap"].strip(),
    )
