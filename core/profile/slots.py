"""What a statement is about: its slot (subject, attribute, object, context) and the value put into it.

Pure. A slot that holds one value (name, residence, theme) is filled anew by the next statement about it; where
many are allowed (tastes, allergies, languages) the object belongs to the slot (archivist.md section 8). Patterns
are data (`core.profile.slot_rules`).
"""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from core.profile.comparing import is_cjk, split_words, stem, strip_accents
from core.profile.slot_rules import SlotLanguage, SlotRule, load_alternatives, load_slot_languages
from core.text.clauses import fold, has_cjk, read_clauses
from core.text.statements import StatementKind
from core.text.wordlists import words_of

REDACTED = "[REDACTED"
TASTE = "taste"
STATED = "fact"
USER = "user"


class Relation(StrEnum):
    """How a newer statement stands to an older one."""

    RESTATES = "restates"
    SUPERSEDES = "supersedes"
    COEXISTS = "coexists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place of the profile; parts are in the form in which they are compared."""

    subject: str
    attribute: str
    object: str = ""  # part of the slot where many are allowed
    context: str = ""  # "": any

    @property
    def key(self) -> str:
        """The slot as one word, for storing."""
        parts = [self.subject, self.attribute.replace(" ", "-"), self.object]
        return ".".join(filter(None, parts)) + (f"@{self.context}" if self.context else "")

    def meets(self, other: "Slot") -> bool:
        """Whether both are the same place; a missing context fits any."""
        same = (self.subject, self.attribute, self.object) == (other.subject, other.attribute, other.object)
        return same and (not self.context or not other.context or self.context == other.context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A statement with its slot and the value in the form in which it is compared."""

    slot: Slot
    value: str
    text: str  # the user's words
    negative: bool
    kind: StatementKind

    @property
    def is_retraction(self) -> bool:
        """Whether it only ends what was said before."""
        return self.negative and self.kind is StatementKind.FACT

    def hashes(self) -> tuple[str, str]:
        """Return hashes of slot and value: with the context, and without it."""
        bare = Slot(subject=self.slot.subject, attribute=self.slot.attribute, object=self.slot.object)
        polarity = "-" if self.negative else "+"
        return (_hash(self.slot.key, self.value, polarity), _hash(bare.key, self.value, polarity))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def relate(older: Reading, newer: Reading) -> Relation:
    """Return how `newer` stands to `older`."""
    if not older.slot.meets(newer.slot):
        return Relation.COEXISTS
    same = older.value == newer.value and older.negative == newer.negative
    return Relation.RESTATES if same else Relation.SUPERSEDES


def read_statement(kind: StatementKind, text: str) -> Reading | None:
    """Return the slot and value of a preference or fact; None where there is nothing to keep."""
    if kind not in (StatementKind.PREFERENCE, StatementKind.FACT) or REDACTED in text:
        return None
    return _read(kind, " ".join(text.split()))


@lru_cache(maxsize=2_048)
def _read(kind: StatementKind, text: str) -> Reading | None:
    body, before = _split_prelude(text)
    for language in load_slot_languages().values():
        if (language.language == "zh") != has_cjk(body):
            continue
        rules = language.facts if kind is StatementKind.FACT else language.preferences
        for rule in rules:
            for pattern in rule.patterns:
                if match := pattern.fullmatch(body):
                    return _reading(kind, text, rule, language, match, before)
    return _read_otherwise(kind, text, body)


def _split_prelude(text: str) -> tuple[str, str]:
    """Return the folded clause from its subject on, and what stands before that (when, where)."""
    folded = fold(text).rstrip(" .。!！,，;；")
    clauses = read_clauses(text)
    if clauses:
        core = clauses[0].words.removeprefix(clauses[0].subject)
        if len(clauses) == 1 and 0 < len(core) < len(folded):
            return clauses[0].subject + folded[len(folded) - len(core) :], folded[: len(folded) - len(core)].strip(
                " ,，"
            )
        if len(clauses) == 1:
            return clauses[0].subject + folded, ""
    return folded, ""


def _reading(
    kind: StatementKind, text: str, rule: SlotRule, language: SlotLanguage, match: re.Match[str], before: str
) -> Reading | None:
    parts = match.groupdict()
    said = parts.get("v") or ""
    if kind is StatementKind.PREFERENCE and not rule.attribute:
        return _read_taste(text, rule, language, said, parts, before)
    slot, value = _place_fact(rule, language, said, parts)
    if slot is None or not value:
        return None
    return Reading(slot=slot, value=value, text=text, negative=rule.negative, kind=kind)


def _place_fact(
    rule: SlotRule, language: SlotLanguage, said: str, parts: dict[str, str | None]
) -> tuple[Slot | None, str]:
    subject = load_alternatives().relations.get(parts.get("r") or "", parts.get("r") or USER)
    plain = _cut(said, language)
    named = parts.get("o") or ""
    if rule.count:
        thing = normalise(_cut(named, language), language, stems=True)
        if not _has_content(named, language):
            return None, ""
        return Slot(subject=subject, attribute=rule.attribute, object=thing), normalise(said, language)
    if not _has_content(plain, language):
        return None, ""
    value = normalise(plain, language)
    if rule.attribute == "favourite":
        return Slot(subject=subject, attribute="favourite", object=normalise(named, language, stems=True)), value
    if not rule.attribute:
        return Slot(subject=subject, attribute=normalise(named, language) or STATED), value
    if rule.many:
        value = normalise(plain, language, stems=True)
        return Slot(subject=subject, attribute=rule.attribute, object=value), value
    return Slot(subject=subject, attribute=rule.attribute), value


def _read_taste(
    text: str, rule: SlotRule, language: SlotLanguage, said: str, parts: dict[str, str | None], before: str
) -> Reading | None:
    plain, context = _split_context(said, language, parts.get("c") or "", before)
    plain = _cut(plain, language)
    preferred, rivals = _split_rivals(plain, language, parts.get("w") or "")
    if not _has_content(preferred, language):
        preferred, context = plain, ""
        if not _has_content(preferred, language):
            return None
    side = find_alternative(preferred)
    if side is not None:
        slot, value = Slot(subject=USER, attribute=side[0], context=context), f"{side[0]}-{side[1]}"
    else:
        thing = normalise(preferred, language, stems=True, light=True)
        others = [normalise(rival, language, stems=True, light=True) for rival in rivals]
        if others and all(others):
            slot = Slot(subject=USER, attribute="choice", object="-or-".join(sorted([thing, *others])), context=context)
        else:
            slot = Slot(subject=USER, attribute=TASTE, object=thing, context=context)
        value = thing
    if not value:
        return None
    return Reading(slot=slot, value=value, text=text, negative=rule.negative, kind=StatementKind.PREFERENCE)


def _read_otherwise(kind: StatementKind, text: str, body: str) -> Reading | None:
    """Place a statement that no pattern knows by its own words."""
    language = load_slot_languages()["zh" if has_cjk(body) else "en"]
    if not _has_content(body, language, bare=True):
        return None
    side = find_alternative(body) if kind is StatementKind.PREFERENCE else None
    if side is not None:
        slot, value = Slot(subject=USER, attribute=side[0]), f"{side[0]}-{side[1]}"
    else:
        value = normalise(body, language, stems=True)
        slot = Slot(subject=USER, attribute=TASTE if kind is StatementKind.PREFERENCE else STATED, object=value)
    return Reading(slot=slot, value=value, text=text, negative=False, kind=kind) if value else None


def find_alternative(words: str) -> tuple[str, int] | None:
    """Return (set, side) of the alternatives that `words` name one side of."""
    plain = strip_accents(words).strip()
    for name, sides in load_alternatives().sets:
        found = [number for number, pattern in enumerate(sides) if pattern.search(plain)]
        if len(found) == 1:
            return name, found[0]
    return None


def normalise(text: str, language: SlotLanguage, *, stems: bool = False, light: bool = False) -> str:
    """Return `text` as it is compared: without what makes no other value; all words stay if nothing else would."""
    found = split_words(text)
    kept: list[str] = []
    for word in found:
        if is_cjk(word):
            shorter = language.dropped_cjk.sub("", word)
            if light and not kept and (match := language.light_cjk.match(shorter)):
                shorter = shorter[match.end() :]
            kept += [shorter] if shorter else []
        elif word not in language.dropped and not (light and not kept and len(found) > 1 and word in language.light):
            kept.append(stem(word) if stems else word)
    return "".join(kept or found)


def _split_context(said: str, language: SlotLanguage, within: str, before: str) -> tuple[str, str]:
    """Return the rest and the context: after the object, within the clause, or before it."""
    for pattern in language.context_end:
        match = pattern.search(said)
        if match and _has_content(said[: match.start()], language):
            return said[: match.start()], _context(match["c"], language)
    if within:
        return said, _context(within, language)
    for pattern in language.context_start:
        if match := pattern.match(before):
            return said, _context(match["c"], language)
    return said, ""


def _context(text: str, language: SlotLanguage) -> str:
    plain = _cut(text, language)
    for ending in ("的时候", "时候", "时"):
        plain = plain.removesuffix(ending)
    dropped = language.context_dropped | language.dropped
    found = [stem(word) for word in split_words(plain) if word not in dropped]
    return "".join(language.dropped_cjk.sub("", word) if is_cjk(word) else word for word in found)


def _split_rivals(said: str, language: SlotLanguage, worse: str) -> tuple[str, list[str]]:
    """Return what is preferred and what it is preferred to."""
    if worse:
        return said, [worse]
    for pattern in (*language.over, *language.over_plain):
        match = pattern.search(said)
        if match and match.start() > 0 and said[match.end() :].strip():
            return said[: match.start()], [said[match.end() :]]
    return said, []


def _cut(text: str, language: SlotLanguage) -> str:
    for pattern in language.cut:
        shorter = pattern.sub("", text)
        text = shorter if shorter.strip() else text
    return text.strip()


def _has_content(text: str, language: SlotLanguage, *, bare: bool = False) -> bool:
    """Whether something is said: a word that is no function word, or a number; `bare`: beyond the verb too."""
    empty = _function_words(language.language) | (language.bare if bare else frozenset())
    for word in split_words(text):
        if is_cjk(word):
            if language.bare_cjk.sub("", word) if bare else word:
                return True
        elif word not in empty:
            return True
    return False


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(part for word in words_of(language, "function_words") for part in split_words(word))
