"""What is going on now, in one line: the user's last request or topic, and what the reply did.

Pure. Courtesy changes nothing; the wording is data, in the user's language.
"""

import re
from dataclasses import dataclass

from core.model import Section
from core.text.clauses import Clause, fold, mask, read_clauses
from core.working_memory.heuristic_model import Known, Proposal, TurnText
from core.working_memory.heuristic_rules import Rules, StateRules, load_line_rules, load_state_rules, pick_language
from core.working_memory.heuristic_terms import find_terms

MAX_CHARS = 110  # of each part
_LAST_QUESTION = re.compile(r"([^.!?。！？\n]{4,160}[?？])\s*$")
_EARLY_CHARS = 3
_LEAST_TOLD = 3.0  # two for "I", one for each content term: a clause of the user's needs two of these
_LEAST_AROUND = 2.0  # around a request one will do
_LONG_QUESTION = 40
_EDGES = " \t\n.,;:!?…。，；：！？、~～-–—"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateReading:
    """What a turn says about what is going on; empty where it says nothing."""

    language: str
    asked: str = ""  # the user's last request as it is told
    about: str = ""  # what is said around it
    told: str = ""  # what the user talks about, where nothing is asked
    end: str = ""  # of the line: what the reply did, or what stays open


def read_state(turn: TurnText, clauses: tuple[Clause, ...], language: str) -> StateReading:
    """Return what a turn says about what is going on, whatever memory holds."""
    lang = pick_language(language)
    rules, state = load_line_rules(lang), load_state_rules(lang)
    if rules is None:
        return StateReading(language=lang)
    own, words = [clause for clause in clauses if clause.language == lang], state.words
    asked, given = _asked(own, rules, state)
    if asked and _stays_open(own, rules):
        return StateReading(language=lang, told=asked, end=f"{words['join']}{words['open']}{words['stop']}")
    if asked:
        about = _context(own, rules, state, asked)
        return StateReading(language=lang, asked=asked, about=about, end=_read_end(turn.reply, state, given))
    told = _told(own, rules, state)
    if not told:
        return StateReading(language=lang)
    told = words["talk"].format(x=_capital(told))
    return StateReading(language=lang, told=told, end=_read_end(turn.reply, state, ""))


def find_state(turn: TurnText, reading: StateReading, known: Known) -> Proposal | None:
    """Return the new state, or None where the turn says nothing that changes it."""
    rules, state = load_line_rules(reading.language), load_state_rules(reading.language)
    if rules is None or not (reading.asked or reading.told):
        return None
    line = reading.told
    if reading.asked:
        about = reading.about or _earlier(known, reading.language, rules, state, reading.asked)
        line = state.words["about"].format(ask=reading.asked, x=about) if about else reading.asked
    line += reading.end or ("" if line.endswith("…") else state.words["stop"])
    if line in known.of(Section.STATE):
        return None
    return Proposal(section=Section.STATE, text=line, turns=(turn.turn,))


def _asked(clauses: list[Clause], rules: Rules, state: StateRules) -> tuple[str, str]:
    """Return the user's last request as it is told, and what a reply to it gives."""
    for clause in reversed(clauses):
        if clause.question and not _really_asks(clause):
            continue
        words = fold(mask(clause.text))
        for rule in state.asks:
            match = rule.pattern.search(words)
            if match is None or (rule.only is not None and not rule.only.search(words)):
                continue
            if not clause.question and not _is_request(clause, match, state):
                continue
            return _told_ask(rule.text, clause, match), rule.given
        if clause.question and not state.quiet.search(words) and len(find_terms(clause.text)) >= 1:
            question = _capital(_cut(clause.text)) + state.question_mark
            return state.words["asked"].format(x=question), state.words["done"]
    return "", ""


def _stays_open(clauses: list[Clause], rules: Rules) -> bool:
    """Say whether the user says that what they ask is not settled, or asks what only they can settle."""
    return any(
        (rules.issue_questions if clause.question else rules.issues).match(clause.words)
        for clause in clauses
        if not rules.not_issue.search(clause.words)
    ) and any(clause.question and rules.issue_questions.match(clause.words) for clause in clauses)


def _really_asks(clause: Clause) -> bool:
    """Say whether a question opens or ends its sentence; a "which …" in the middle asks nothing."""
    return clause.sentence.rstrip().endswith(("?", "？")) or clause.sentence.startswith(clause.text[:12])


def _is_request(clause: Clause, match: re.Match[str], state: StateRules) -> bool:
    return match.start() <= _EARLY_CHARS or state.request.match(clause.words) is not None


def _told_ask(text: str, clause: Clause, match: re.Match[str]) -> str:
    parts = {}
    for name in ("x", "y"):
        span = match.span(name) if name in match.re.groupindex and match[name] else (0, 0)
        part = clause.text[slice(*span)].rstrip(_EDGES)
        parts[name] = part[:1].lower() + part[1:] if span[0] == 0 and part[1:2].islower() else part
    return _cut(_own_voice(text.format(**parts)))


def _own_voice(text: str) -> str:
    return re.sub(r"\s+(?:for|to|with)\s+(?:me|us)$", "", text).strip()


def _told(clauses: list[Clause], rules: Rules, state: StateRules, least: float = _LEAST_TOLD) -> str:
    """Return the clause of the user's with the most content that reads well alone."""
    best, most = "", least
    accepted: set[int] = set()
    for clause in clauses:
        if state.accept.search(clause.words):
            accepted.add(clause.number)
        if clause.question or clause.number in accepted:
            continue
        own = state.own.match(clause.words) is not None
        content = len(find_terms(clause.text)) + (2.0 if own else -1.0) - (1.0 if clause.subject else 0.0)
        if content > most and not _reads_badly(clause, rules, state):
            best, most = clause.text, content
    return _cut(rules.drop.sub("", best))


def _reads_badly(clause: Clause, rules: Rules, state: StateRules) -> bool:
    """Say whether a clause is no line of its own: small talk, a correction, a fragment."""
    if rules.never.search(clause.words) or rules.corrected.search(clause.words):
        return True
    return state.fragment.search(fold(clause.text)) is not None


def _earlier(known: Known, lang: str, rules: Rules, state: StateRules, asked: str) -> str:
    """Return what the user talked about in the turn before, for a request that names nothing."""
    if len(find_terms(asked)) > 1 or not known.recent:
        return ""
    return _told([c for c in read_clauses(known.recent[-1]) if c.language == lang], rules, state, _LEAST_AROUND)


def _context(clauses: list[Clause], rules: Rules, state: StateRules, asked: str) -> str:
    """Return what the user says around a request, where the request alone does not tell the topic."""
    terms = find_terms(asked)
    told = _told(clauses, rules, state, _LEAST_AROUND)
    return told if told and len(find_terms(told) - terms) >= 1 else ""


def _read_end(reply: str, state: StateRules, given: str) -> str:
    """Return what a reply did, as the end of a line; "" where that is not told."""
    words, reply = state.words, reply.strip()
    if not given and (match := _LAST_QUESTION.search(reply)):
        question = _tail_question(match[1].strip(), state)
        if len(question) <= MAX_CHARS and len(find_terms(question)) >= 2:
            return words["join"] + words["waits"].format(x=question)
    did = words["nothing"] if given and not reply else given
    return words["join"] + did + words["stop"] if did else ""


def _tail_question(question: str, state: StateRules) -> str:
    """Return the part that asks, where the sentence says something before it."""
    starts = [match.end() for match in state.asks_behind.finditer(question)]
    return _capital(question[starts[-1] :]) if starts and len(question) > _LONG_QUESTION else question


def _cut(text: str) -> str:
    text = text.strip(_EDGES)
    if len(text) <= MAX_CHARS:
        return text
    short = text[:MAX_CHARS]
    return (short[: short.rfind(" ")] if " " in short[40:] else short).rstrip(_EDGES) + "…"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
