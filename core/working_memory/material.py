"""What an update of Working Memory is made from, and what it proposes.

Pure records. The messages are those that a commit archives; the proposals are the lines that the
heuristics noticed in them. An update is only a proposal: the merge and its guards decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.model import MemoryLine, ParkedLine, Section, TurnId
from core.working_memory.heuristic_model import Proposal

UpdateMode = Literal["write", "select", "heuristics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedMessage:
    """One archived message; `role` is user or assistant."""

    id: int
    turn: TurnId
    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything that an update may look at."""

    document: str = ""
    parked: Mapping[Section, tuple[ParkedLine, ...]] = field(default_factory=dict)
    messages: tuple[QuotedMessage, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    language: str = "en"  # BCP 47; of the user's last turns
    context_tokens: int = 4096  # the model's window
    user_texts: tuple[str, ...] = ()  # the user's own words in the archived turns
    lines: Mapping[Section, tuple[MemoryLine, ...]] = field(default_factory=dict)  # of the document, with evidence
    vectors: Mapping[str, bytes] = field(default_factory=dict)  # of user messages and their sentences, as far as known
    vector_model: str | None = None  # the signature of their model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLine:
    """A line that a model wrote or chose, with the turns that it rests on."""

    section: Section
    text: str
    turns: tuple[TurnId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedLine:
    """A line of a model's that code did not let through, and why, in words."""

    section: Section
    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A part of an update that did not work: a section's name or the step, and why, in words."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What an update proposes. `operations` is what the merge takes: one object a section."""

    operations: Mapping[str, object]
    mode: UpdateMode
    notes: tuple[str, ...] = ()  # for the user, one sentence each
    model_lines: tuple[ModelLine, ...] = ()
    dropped: tuple[DroppedLine, ...] = ()
    failures: tuple[Failure, ...] = ()
    proposals: tuple[Proposal, ...] = ()  # all lines that were offered by code: evidence of what is no model's
