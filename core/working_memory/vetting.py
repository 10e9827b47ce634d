"""Operations that a model wrote, line by line: what may go to the merge, and what stays out and why.

Pure. A section's operation is sound if nothing of it had to be left out; one that is not is asked for
again, and what is left of the better answer is used.
"""

from dataclasses import dataclass, replace

from core.model import Section
from core.text.evidence import is_degenerate
from core.text.items import render_items
from core.working_memory.bodies import item_texts, strip_sentinel
from core.working_memory.line_checks import Sources
from core.working_memory.material import DroppedLine, ModelLine
from core.working_memory.operations import KEEP, Append, Keep, Operation, Update, read_operation
from core.working_memory.recovery import keep_complete_lines

_PROSE = frozenset({Section.TITLE, Section.STATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Vetted:
    """One section's operation after the checks."""

    operation: Operation = KEEP
    lines: tuple[ModelLine, ...] = ()
    dropped: tuple[DroppedLine, ...] = ()
    cut: bool = False  # the answer ended before its text did

    @property
    def is_sound(self) -> bool:
        """Whether nothing is missing and nothing had to be left out."""
        return not self.dropped and not self.cut


def vet(section: Section, operation: Operation, sources: Sources, *, cut: bool = False) -> Vetted:
    """Check an operation; degenerate content counts as no operation, a cut UPDATE only adds its complete lines."""
    operation = read_operation(to_json(keep_complete_lines(operation) if cut else operation), section).operation
    return replace(_vet(section, operation, sources), cut=cut)


def _vet(section: Section, operation: Operation, sources: Sources) -> Vetted:
    if isinstance(operation, Keep):
        return Vetted()
    text = operation.content if isinstance(operation, Update) else "\n".join(operation.items)
    if is_degenerate(text, section):
        reason = "It says nothing or repeats itself."
        return Vetted(dropped=(DroppedLine(section=section, text=text.strip()[:200], reason=reason),))
    if isinstance(operation, Update):
        asked: tuple[str, ...] = item_texts(strip_sentinel(operation.content))
    else:
        asked = operation.items
    kept: list[ModelLine] = []
    dropped: list[DroppedLine] = []
    for line in asked:
        verdict = sources.check(line, section)
        if verdict.passes:
            kept.append(ModelLine(section=section, text=line, turns=verdict.turns))
        else:
            dropped.append(DroppedLine(section=section, text=line, reason=verdict.reason))
    texts = tuple(line.text for line in kept)
    checked: Operation = KEEP
    if texts and isinstance(operation, Append):
        checked = Append(texts)
    elif texts:
        checked = operation if not dropped else _rewrite(section, texts)
    return Vetted(operation=checked, lines=tuple(kept), dropped=tuple(dropped))


def _rewrite(section: Section, texts: tuple[str, ...]) -> Operation:
    return Update("\n".join(texts) if section in _PROSE else render_items(texts))


def to_json(operation: Operation) -> dict[str, object]:
    """Return an operation as the merge takes it."""
    if isinstance(operation, Update):
        return {"op": "UPDATE", "content": operation.content}
    if isinstance(operation, Append):
        return {"op": "APPEND", "items": list(operation.items)}
    return {"op": "KEEP"}
