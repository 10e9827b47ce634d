"""The heuristics' patterns and word lists, compiled per language from `resources/rules/heuristics.*`."""

import re
from dataclasses import dataclass
from functools import cache

from core.text.rules import RuleTable, load_rules

DEFAULT_LANGUAGE = "en"
_STATE_PATTERNS = ("quiet", "accept", "fragment", "own", "request", "asks_behind")


@dataclass(frozen=True, slots=True)
class FactRule:
    """Clauses that are worth keeping as a fact; `base` counts toward the score a line needs."""

    id: str
    base: float
    pattern: re.Pattern[str]
    must: re.Pattern[str] | None  # somewhere in the sentence
    needs_number: bool
    least: int  # content terms a line needs
    lasting: bool  # true beyond the conversation


@dataclass(frozen=True, slots=True)
class AskRule:
    """How a request is told in one line; `text` holds the places {x} and {y}."""

    pattern: re.Pattern[str]
    text: str
    given: str
    only: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Rules:
    """All heuristics of one language."""

    language: str
    spaceless: bool  # written without blanks: counted in characters
    question_mark: str
    pointing: re.Pattern[str]
    pointing_after: int  # words, characters in Chinese
    never: re.Pattern[str]
    vague: frozenset[str]
    least_content: int
    pointing_own: re.Pattern[str]  # a clause about somebody of the user's, whom `pointing_persons` mean
    pointing_persons: frozenset[str]
    pointing_end: re.Pattern[str]
    pointing_end_ok: re.Pattern[str]
    extend: re.Pattern[str]
    extend_kin: tuple[re.Pattern[str], ...]
    drop: re.Pattern[str]
    intro: re.Pattern[str]
    name: re.Pattern[str]
    number: re.Pattern[str]
    facts: tuple[FactRule, ...]
    reaction: re.Pattern[str]
    retracts: re.Pattern[str]
    passing: re.Pattern[str]  # true for a while, but where `lasting` matches
    lasting: re.Pattern[str]
    goals: tuple[re.Pattern[str], ...]
    goals_weak: re.Pattern[str]
    goals_passing: re.Pattern[str]
    goals_except: re.Pattern[str]
    done: re.Pattern[str]
    cancelled: re.Pattern[str]
    deed: re.Pattern[str]
    praise: re.Pattern[str]
    bare_done: re.Pattern[str]
    issues: re.Pattern[str]
    issue_questions: re.Pattern[str]
    not_issue: re.Pattern[str]
    resolved: re.Pattern[str]
    bare_resolved: re.Pattern[str]
    error_lines: re.Pattern[str]
    error_clauses: re.Pattern[str]
    log_stamp: re.Pattern[str]
    fixes: re.Pattern[str]
    vague_subject: re.Pattern[str]
    not_error: re.Pattern[str]
    corrected: re.Pattern[str]
    contrast: tuple[re.Pattern[str], ...]
    contrast_words: tuple[str, ...]  # without one of them no contrast is looked for
    rhetoric: re.Pattern[str]
    version: re.Pattern[str]
    not_version: re.Pattern[str]
    saved: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class StateRules:
    """How the current state is worded in one language."""

    asks: tuple[AskRule, ...]
    quiet: re.Pattern[str]
    accept: re.Pattern[str]
    fragment: re.Pattern[str]
    own: re.Pattern[str]
    request: re.Pattern[str]
    asks_behind: re.Pattern[str]
    question_mark: str
    words: dict[str, str]


@dataclass(frozen=True, slots=True)
class TitleRules:
    """How a topic is named in one language."""

    language: str
    topics: tuple[re.Pattern[str], ...]
    skip: re.Pattern[str]
    vocative: re.Pattern[str]
    stop: frozenset[str]
    links: frozenset[str]
    breaks: tuple[str, ...]  # scripts without blanks: longest first
    edges: tuple[str, ...]
    keep: tuple[str, ...]
    joins: str
    comma: str
    spaceless: bool

    def split(self, title: str) -> list[str]:
        """Return the phrases a title is joined from."""
        return [part for part in re.split(f"{re.escape(self.joins)}|{re.escape(self.comma)}", title) if part]


def pick_language(language: str) -> str:
    """Return the language whose heuristics serve for `language`."""
    short = language.split("-")[0]
    return short if short in load_rules("heuristics") else DEFAULT_LANGUAGE


@cache
def load_line_rules(language: str) -> Rules | None:
    """Return the rules for lines in a language, or None where there are none."""
    table = load_rules("heuristics").get(language)
    if table is None:
        return None
    clarity, lines, facts = table.section("clarity"), table.section("lines"), table.section("facts")
    goals, issues = table.section("goals"), table.section("issues")
    errors, files, words = table.section("errors"), table.section("files"), goals.section("words")
    return Rules(
        language=language,
        spaceless=lines.flag("spaceless"),
        question_mark=lines.text("question_mark", "?"),
        pointing=clarity.pattern("pointing"),
        pointing_after=int(clarity.number("pointing_after")),
        never=clarity.pattern("never"),
        vague=clarity.words("vague"),
        least_content=int(clarity.number("least_content", 2)),
        pointing_own=_one(clarity, "pointing_own"),
        pointing_persons=clarity.words("pointing_persons"),
        pointing_end=_one(clarity, "pointing_end"),
        pointing_end_ok=_one(clarity, "pointing_end_ok"),
        extend=lines.pattern("extend"),
        extend_kin=lines.patterns("extend_kin"),
        drop=_one(lines, "drop"),
        intro=_one(lines, "intro"),
        name=lines.pattern("name"),
        number=lines.pattern("number"),
        facts=tuple(_fact_rule(item) for item in facts.sections("rules")),
        reaction=facts.section("words").pattern("reaction"),
        retracts=_one(facts.section("words"), "retracts"),
        passing=facts.section("words").pattern("passing"),
        lasting=facts.section("words").pattern("lasting"),
        goals=goals.patterns("patterns"),
        goals_weak=goals.pattern("weak"),
        goals_passing=goals.pattern("passing"),
        goals_except=goals.pattern("except"),
        done=words.pattern("done"),
        cancelled=words.pattern("cancelled"),
        deed=words.pattern("deed"),
        praise=_one(words, "praise"),
        bare_done=words.pattern("bare_done"),
        issues=issues.pattern("open"),
        issue_questions=issues.pattern("question"),
        not_issue=issues.pattern("not_issue"),
        resolved=issues.pattern("resolved"),
        bare_resolved=issues.pattern("bare_resolved"),
        error_lines=errors.pattern("lines"),
        error_clauses=errors.pattern("clauses"),
        log_stamp=_one(errors, "stamp"),
        fixes=errors.pattern("fixes"),
        vague_subject=_one(errors, "vague"),
        not_error=errors.pattern("not_error"),
        corrected=errors.pattern("corrected"),
        contrast=errors.patterns("contrast"),
        contrast_words=errors.texts("contrast_words"),
        rhetoric=errors.pattern("rhetoric"),
        version=files.pattern("version"),
        not_version=files.pattern("not_version"),
        saved=files.pattern("saved"),
    )


@cache
def load_state_rules(language: str) -> StateRules:
    """Return how the state is worded; `language` comes from `pick_language`."""
    state = load_rules("heuristics")[language].section("state")
    words = state.section("words")
    return StateRules(
        asks=tuple(_ask_rule(item) for item in state.sections("asks")),
        quiet=words.pattern("quiet"),
        accept=words.pattern("accept"),
        fragment=words.pattern("fragment"),
        own=_one(words, "own"),
        request=_one(words, "request"),
        asks_behind=re.compile(words.text("asks_behind") or r"(?!)", re.IGNORECASE),
        question_mark=load_rules("heuristics")[language].section("lines").text("question_mark", "?"),
        words={key: words.text(key) for key in words.table if key not in _STATE_PATTERNS},
    )


@cache
def load_title_rules(language: str) -> TitleRules:
    """Return how topics are named; `language` comes from `pick_language`."""
    title = load_rules("heuristics")[language].section("title")
    common = load_rules("stopwords")[language]
    spoken = title.texts("verbs") + title.texts("vague")
    return TitleRules(
        language=language,
        topics=title.patterns("topics"),
        skip=title.pattern("skip"),
        vocative=title.pattern("vocative"),
        stop=title.words("verbs") | title.words("vague") | common.words("words"),
        links=title.words("links"),
        breaks=_longest_first(common.texts("breaks") + tuple(word for word in spoken if len(word) > 1)),
        edges=_longest_first(common.texts("edges") + tuple(word for word in spoken if len(word) == 1)),
        keep=common.texts("keep") + title.texts("keep"),
        joins=title.text("joins"),
        comma=title.text("comma"),
        spaceless=load_rules("heuristics")[language].section("lines").flag("spaceless"),
    )


@cache
def load_stop_words() -> frozenset[str]:
    """Return the words, of all languages, that say nothing about a line's content."""
    found: set[str] = set()
    for table in load_rules("stopwords").values():
        found |= table.words("words")
    for table in load_rules("heuristics").values():
        found |= table.section("clarity").words("vague")
    return frozenset(found)


def _one(table: RuleTable, key: str) -> re.Pattern[str]:
    return re.compile(table.expand(table.text(key)) or r"(?!)")


@cache
def load_irregular_forms() -> dict[str, str]:
    """Return the past forms, of all languages, whose stem does not show, by form."""
    forms: dict[str, str] = {}
    for table in load_rules("heuristics").values():
        for pair in table.section("lines").texts("irregular"):
            form, base = pair.split()
            forms[form] = base
    return forms


def _longest_first(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(words), key=lambda word: (-len(word), word)))


def _fact_rule(table: RuleTable) -> FactRule:
    return FactRule(
        id=table.text("id"),
        base=table.number("base"),
        pattern=table.pattern("patterns"),
        must=table.pattern("must") if table.texts("must") else None,
        needs_number=table.flag("needs_number"),
        least=int(table.number("least", 2)),
        lasting=table.flag("lasting"),
    )


def _ask_rule(table: RuleTable) -> AskRule:
    only = table.text("only")
    return AskRule(
        pattern=re.compile(table.expand(table.text("pattern"))),
        text=table.text("text"),
        given=table.text("given"),
        only=re.compile(only) if only else None,
    )
