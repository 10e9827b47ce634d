"""Files, addresses and versions the user mentions, each with the words that say what it is."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from core.model import Section
from core.text.clauses import Clause, has_cjk
from core.text.paths import find_paths
from core.working_memory.heuristic_model import Known, Proposal, TurnText
from core.working_memory.heuristic_rules import Rules, load_line_rules

MAX_LINES = 4  # a turn
MAX_CHARS = 160
_ADDRESS = re.compile(
    r"\b(?:https?|ftp|ssh|git|postgres(?:ql)?|mysql|redis|s3)://[^\s<>\"'，。；）)】]+"
    r"|\b(?:[a-z0-9-]+\.)+(?:internal|local|lan|corp|intra|home\.arpa)\b(?::\d{2,5})?"
    r"|\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3}):\d{2,5}\b",
    re.IGNORECASE,
)
_ADDRESS_SIGN = re.compile(r"://|:\d\d|\.(?:internal|local|lan|corp|intra|home\.arpa)\b", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Z]\.)+[A-Z]\.?$")
_DIGIT = re.compile(r"\d")
_STOPS = " \t\n.,;:!?。，；：！？"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesReading:
    """What a turn mentions."""

    references: tuple[str, ...]  # paths and addresses
    versions: tuple[str, ...]  # products with a version


def read_files(turn: TurnText, clauses: tuple[Clause, ...]) -> FilesReading:
    """Return what a turn mentions, whatever memory holds."""
    return FilesReading(references=tuple(_references(turn, clauses)), versions=tuple(_versions(clauses)))


def find_files(
    turn: TurnText, clauses: tuple[Clause, ...], reading: FilesReading, known: Known, said: Collection[str] = ()
) -> list[Proposal]:
    """Return a line for each reference that is not known yet; `said` are lines the turn gave elsewhere."""
    held = "\n".join(known.of(Section.FILES))
    lines: list[str] = []
    for reference in reading.references:
        if len(lines) < MAX_LINES and not _holds("\n".join((held, *lines)), reference):
            line = _describe(reference, clauses)
            lines.append(reference if any(line in other for other in said) else line)
    versions = [version for version in reading.versions if not _holds(held + "\n" + "\n".join(lines), version)]
    if versions:
        lines.append(", ".join(versions[:MAX_LINES]))
    return [Proposal(section=Section.FILES, text=line, turns=(turn.turn,)) for line in lines]


def _references(turn: TurnText, clauses: tuple[Clause, ...]) -> list[str]:
    text = turn.user[:20_000]
    found = [match[0].rstrip(_STOPS) for match in _ADDRESS.finditer(text)] if _ADDRESS_SIGN.search(text) else []
    paths = (path for path in find_paths(text) if not _INITIALS.match(path))
    found += [path for path in paths if not any(path in other for other in found)]
    for language in {clause.language for clause in clauses}:
        if (rules := load_line_rules(language)) is not None:
            found += _saved_by_reply(turn, rules)
    return list(dict.fromkeys(found))


def _versions(clauses: tuple[Clause, ...]) -> list[str]:
    """Return the products with a version that the user names."""
    rules = load_line_rules("en")
    if rules is None:
        return []
    spoken = "\n".join(dict.fromkeys(clause.sentence for clause in clauses))
    if not _DIGIT.search(spoken):
        return []
    return list(dict.fromkeys(m[0] for m in rules.version.finditer(spoken) if not rules.not_version.match(m[0])))


def _saved_by_reply(turn: TurnText, rules: Rules) -> list[str]:
    """Return the paths that the reply says it wrote."""
    return [
        path
        for line in turn.reply[:20_000].splitlines()
        if rules.saved.search(line.lower())
        for path in find_paths(line)
    ]


def _holds(said: str, reference: str) -> bool:
    return re.search(rf"(?<![\w/]){re.escape(reference)}(?![\w/])", said) is not None


def _describe(reference: str, clauses: tuple[Clause, ...]) -> str:
    """Return the clause, else the sentence that names a reference, or the reference alone."""
    told = [clause for clause in clauses if not clause.question and reference in clause.sentence]
    for text, language in [(c.text, c.language) for c in told] + [(c.sentence.strip(_STOPS), c.language) for c in told]:
        rules = load_line_rules(language)
        rest = text.replace(reference, " ")
        enough = len(rest.strip(_STOPS)) >= 4 if has_cjk(rest) else len(rest.split()) >= 2
        unclear = rules is not None and rules.pointing.match(text.lower()) is not None
        if reference in text and len(text) <= MAX_CHARS and enough and not unclear:
            return text if text.startswith(reference) else text[:1].upper() + text[1:]
    return reference
