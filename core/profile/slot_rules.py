"""How statements become slots, as data: `resources/rules/facets.*.toml` and `alternatives.toml`, compiled once."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from core.paths import find_resources
from core.profile.comparing import is_cjk, split_words, strip_accents
from core.text.rules import RuleTable, load_rules


@dataclass(frozen=True, slots=True)
class SlotRule:
    """One way to say something; `many`: the object is part of the slot, `count`: so many of an object."""

    attribute: str
    negative: bool
    many: bool
    count: bool
    patterns: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class SlotLanguage:
    """The compiled facet rules of one language."""

    language: str
    facts: tuple[SlotRule, ...]
    preferences: tuple[SlotRule, ...]
    dropped: frozenset[str]  # words that make no other value
    dropped_cjk: re.Pattern[str]
    bare: frozenset[str]  # words that say nothing alone
    bare_cjk: re.Pattern[str]
    light: frozenset[str]
    light_cjk: re.Pattern[str]
    context_end: tuple[re.Pattern[str], ...]
    context_start: tuple[re.Pattern[str], ...]
    context_dropped: frozenset[str]
    over: tuple[re.Pattern[str], ...]
    over_plain: tuple[re.Pattern[str], ...]
    cut: tuple[re.Pattern[str], ...]
    goals: re.Pattern[str]
    app: re.Pattern[str]
    joins: tuple[str, ...]  # what joins two clauses
    orders: re.Pattern[str]  # how a wish opens that is no statement


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Sets of which a user has one side, names of relations, and what two classes are known by."""

    sets: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]
    relations: dict[str, str]
    tooling: frozenset[str]
    channel: frozenset[str]


@cache
def load_slot_languages() -> dict[str, SlotLanguage]:
    """Return the facet rules by language; English and Chinese first, then the others by name."""
    tables = load_rules("facets")
    order = sorted(tables, key=lambda language: (language not in ("en", "zh"), language))
    return {language: _language(tables[language]) for language in order}


@cache
def load_alternatives() -> Alternatives:
    """Return what holds for all languages."""
    table = tomllib.loads((find_resources() / "rules" / "alternatives.toml").read_text(encoding="utf-8"))
    sets = tuple(
        (entry["id"], tuple(re.compile("|".join(f"(?:{p})" for p in side)) for side in entry["sides"]))
        for entry in table["set"]
    )
    relations = {word: name for name, words in table["relations"].items() for word in words.split()}
    classes = {name: frozenset(strip_accents(words).split()) for name, words in table["classes"].items()}
    return Alternatives(sets=sets, relations=relations, tooling=classes["tooling"], channel=classes["channel"])


def _language(table: RuleTable) -> SlotLanguage:
    dropped = [*table.texts("drop"), *table.texts("articles")]
    return SlotLanguage(
        language=table.text("language"),
        facts=tuple(_rule(each) for each in table.sections("facts")),
        preferences=tuple(_rule(each) for each in table.sections("preferences")),
        dropped=frozenset(word for each in dropped for word in split_words(each)),
        dropped_cjk=_any_cjk(dropped, ""),
        bare=frozenset(word for each in table.texts("bare") for word in split_words(each)),
        bare_cjk=_any_cjk(table.texts("bare"), ""),
        light=frozenset(word for each in table.texts("light") for word in split_words(each)),
        light_cjk=_any_cjk(table.texts("light"), r"(?=..)"),
        context_end=table.patterns("context_end"),
        context_start=table.patterns("context_start"),
        context_dropped=frozenset(word for each in table.texts("context_drop") for word in split_words(each)),
        over=table.patterns("over"),
        over_plain=table.patterns("over_plain"),
        cut=table.patterns("cut"),
        goals=table.pattern("goals"),
        app=table.pattern("app"),
        joins=table.texts("joins"),
        orders=table.pattern("orders"),
    )


def _rule(table: RuleTable) -> SlotRule:
    return SlotRule(
        attribute=table.text("attribute"),
        negative=table.flag("negative"),
        many=table.flag("many"),
        count=table.flag("count"),
        patterns=table.patterns("patterns"),
    )


def _any_cjk(listed: list[str] | tuple[str, ...], follow: str) -> re.Pattern[str]:
    words = sorted((word for word in listed if is_cjk(word)), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, words))}){follow}" if words else "(?!)")
