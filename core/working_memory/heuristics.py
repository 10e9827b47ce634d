"""Working Memory without a model: what each turn adds to the seven sections.

Pure. `propose` runs after every turn and its lines are shown as pending; `to_operations` turns the
proposals since the last commit into the operations that the merge guards and applies. Facts about the
user come from the user's words only.
"""

from collections.abc import Sequence

from core.model import Section
from core.text.clauses import fold
from core.text.sentences import split_sentences
from core.working_memory.heuristic_files import find_files
from core.working_memory.heuristic_lines import find_lines
from core.working_memory.heuristic_model import Known, Proposal, TurnText
from core.working_memory.heuristic_state import find_state
from core.working_memory.heuristic_terms import is_repeat
from core.working_memory.heuristic_title import find_title, read_phrases
from core.working_memory.heuristic_trouble import find_trouble
from core.working_memory.reading import NOTHING_HEARD, Heard, TurnReading, read_turn

__all__ = ["Known", "Proposal", "TurnReading", "TurnText", "propose", "read_turn", "to_operations"]

_REDACTED = "[REDACTED:"  # a password or the like: the user is told that it is not remembered
_SINGLE = (Section.TITLE, Section.STATE)


def propose(
    turn: TurnText, known: Known, reading: TurnReading | None = None, heard: Heard = NOTHING_HEARD
) -> tuple[Proposal, ...]:
    """Return what one turn adds to or changes in memory; nothing for courtesy.

    `reading` is that of the turn where it was read before (`read_turn`), `heard` what is at hand of the readings
    before it; what is lacking is read here.
    """
    if not turn.user.strip():
        return ()
    if reading is None or not reading.fits(turn, known.language):
        reading = read_turn(turn, known.language)
    said = [heard.get((text, known.language)) or read_phrases(text, known.language) for text in known.recent]
    found = [
        find_title(turn, [*said, reading.phrases], known, known.language),
        find_state(turn, reading.state, known),
    ]
    proposals = [proposal for proposal in found if proposal is not None]
    lines = find_lines(turn, reading.clauses, reading.lines, known)
    ordered = _remembered(turn, reading, known, lines)
    proposals += ordered
    trouble = find_trouble(turn, reading.trouble, known)
    files = find_files(turn, reading.clauses, reading.files, known, [proposal.text for proposal in trouble])
    # a fact that a line of Files or an ordered one says whole is not said twice; one that only names its version or
    # path is kept
    described = [proposal.text.casefold() for proposal in (*files, *ordered)]
    proposals += [
        proposal
        for proposal in lines
        if proposal.section is not Section.FACTS or not any(proposal.text.casefold() in text for text in described)
    ]
    proposals += trouble
    return _once([*proposals, *files])


def to_operations(proposals: Sequence[Proposal], known: Known) -> dict[str, object]:
    """Return the seven-section operations for a commit; `known` is the committed memory."""
    operations: dict[str, object] = {}
    for section in Section:
        own = [proposal for proposal in proposals if proposal.section is section]
        if not own:
            operations[section.value] = {"op": "KEEP"}
        elif section in _SINGLE:
            operations[section.value] = {"op": "UPDATE", "content": own[-1].text}
        else:
            operations[section.value] = _list_operation(section, own, known.of(section))
    return operations


def _list_operation(section: Section, own: Sequence[Proposal], held: tuple[str, ...]) -> dict[str, object]:
    """Return APPEND, or UPDATE with the whole list where a committed line is replaced."""
    lines = list(held)
    changed = False
    for proposal in own:
        if proposal.replaces is not None and proposal.replaces in lines:
            place = lines.index(proposal.replaces)
            lines[place] = proposal.text
            changed = changed or place < len(held)
        elif proposal.text not in lines:
            lines.append(proposal.text)
    added = lines[len(held) :]
    if not changed:
        return {"op": "APPEND", "items": added} if added else {"op": "KEEP"}
    if section is Section.ISSUES:  # an appended line that differs in its mark alone sets the mark in place
        return {"op": "APPEND", "items": [line for line in lines if line not in held]}
    return {"op": "UPDATE", "content": "\n".join(f"- {line}" for line in lines)}


def _remembered(turn: TurnText, reading: TurnReading, known: Known, lines: Sequence[Proposal]) -> list[Proposal]:
    """Return what the user asks to remember, in the words of its line where it has one; not what `lines` do with it."""
    found: list[Proposal] = []
    facts = [line.text for line in reading.lines if line.section is Section.FACTS]
    others = [fold(line.text) for line in lines if line.section is not Section.FACTS or line.replaces is not None]
    for order in reading.commands:
        if order.command != "remember" or _REDACTED in order.payload:
            continue
        for sentence in split_sentences(order.payload):
            text = sentence.strip(" .。!！")
            if not text or is_repeat(text, [*known.of(Section.FACTS), *(proposal.text for proposal in found)]):
                continue
            if any(line.startswith(fold(text)) for line in others):
                continue
            dated = next((line for line in facts if fold(line).startswith(fold(text))), "")
            text = dated or text[:1].upper() + text[1:]
            found.append(Proposal(section=Section.FACTS, text=text, turns=(turn.turn,)))
    return found


def _once(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Return the proposals without repeats inside one section of one turn."""
    kept: list[Proposal] = []
    for proposal in proposals:
        same = [other.text for other in kept if other.section is proposal.section and other.replaces is None]
        if proposal.replaces is None and proposal.section not in _SINGLE and _says_the_same(proposal.text, same):
            continue
        kept.append(proposal)
    return tuple(kept)


def _says_the_same(text: str, others: Sequence[str]) -> bool:
    """Say whether one of `others` is this line or says the same."""
    return bool(others) and (text in others or is_repeat(text, others))
