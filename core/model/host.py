"""What the model host does, and what the memory exam found out about a model."""

from dataclasses import dataclass
from enum import StrEnum


class ModelPhase(StrEnum):
    """What the model host is doing."""

    ABSENT = "absent"  # no model file
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    READING = "reading"  # evaluates the prompt
    WRITING = "writing"
    ASLEEP = "asleep"  # unloaded after a time without use; the next request wakes it
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """The model's state for the status bar."""

    name: str
    phase: ModelPhase
    detail: str = ""  # one sentence; for FAILED the reason and what to do
    tokens_per_s: float | None = None
    context_used_tokens: int = 0
    context_size_tokens: int = 0
    reused_share: float | None = None  # of the last prompt's tokens, 0..1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """What the memory exam found out about a chat model; shares are 0..1, None where nothing was measured."""

    model: str  # file name
    sha256: str
    taken_at: float
    took_s: float
    verdict: str  # write, select or off: what the model is used for when memory is updated
    sentence: str  # the same in words
    useful: tuple[str, ...] = ()  # select questions that help, as "en:keep", "zh:settled"
    tokens_per_s: float | None = None
    valid_calls: float | None = None
    supported_items: float | None = None
    written_recall: float | None = None  # of the lines worth keeping that it wrote
    resolved_accuracy: float | None = None  # heuristics and model together
    resolved_accuracy_alone: float | None = None  # of the heuristics
    newer_accuracy: float | None = None
    kept_f1: float | None = None  # heuristics and the model's choices together
    kept_f1_ranked: float | None = None  # heuristics and as many sentences chosen without the model
    kept_f1_alone: float | None = None  # of the heuristics
    kept_precision: float | None = None
    kept_recall: float | None = None
    complete: bool = True  # False: the time was over first
