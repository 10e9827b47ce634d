"""Prompts of Working Memory: texts in resources/prompts, a file a language, in named parts.

A part begins with `<!-- name -->` on a line of its own. Places to fill in are written `$name`; what is
filled in is never read as a template again.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from string import Template

from core.paths import find_resources

_FALLBACK = "en"


@cache
def load_parts(name: str, language: str) -> Mapping[str, str]:
    """Return the parts of a prompt file in a language, English where there is none."""
    folder = find_resources() / "prompts"
    file = folder / f"{name}.{language.split('-')[0]}.md"
    text = (file if file.exists() else folder / f"{name}.{_FALLBACK}.md").read_text(encoding="utf-8")
    parts: dict[str, str] = {}
    for piece in text.split("<!-- ")[1:]:
        key, _, body = piece.partition(" -->")
        parts[key.strip()] = body.strip()
    return parts


def fill(part: str, **values: str) -> str:
    """Return a part with its places filled in; an unknown `$` stays as it is."""
    return Template(part).safe_substitute(values)


@cache
def _language_names() -> Mapping[str, str]:
    text = (find_resources() / "prompts" / "languages.toml").read_text(encoding="utf-8")
    names: Mapping[str, str] = tomllib.loads(text)["names"]
    return names


def name_language(tag: str) -> str:
    """Return what a language is called in a prompt; the tag itself where no name is known."""
    names = _language_names()
    return names.get(tag) or names.get(tag.split("-")[0]) or tag
