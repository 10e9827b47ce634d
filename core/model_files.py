"""Model files as the window and the terminal show them: what is there, what could be, and how it is used.

Frozen records only; `core.services.models` makes them.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.model import ExamResult


class ModelRole(StrEnum):
    """What a model is used for."""

    CHAT = "chat"
    MEMORY = "memory"  # asked when memory is updated; the chat's model unless another is chosen
    EMBEDDING = "embedding"  # search by meaning


class ModelKind(StrEnum):
    """What a file can be used for."""

    CHAT = "chat"  # and memory
    EMBEDDING = "embedding"


class ModelOrigin(StrEnum):
    """How a model came to be in the list, which decides what "remove" does."""

    BUILT_IN = "built in"  # ships with the program; cannot be removed
    OURS = "ours"  # a file in the folder of models; removing moves it to the trash there
    ELSEWHERE = "elsewhere"  # a file that stays where it is; removing only forgets it


class FitVerdict(StrEnum):
    """Whether a model goes into the memory that is free."""

    FITS = "fits"
    TIGHT = "tight"  # it goes in, but leaves other programs little
    TOO_BIG = "too big"
    UNKNOWN = "unknown"  # the machine or the file does not tell


class ImportWay(StrEnum):
    """How a file from elsewhere comes into the list."""

    LINK = "link"  # a hard link in the folder of models: no second copy, and it stays if the other name goes
    REFERENCE = "reference"  # only its place is noted
    COPY = "copy"


class DownloadStep(StrEnum):
    """Where a download stands."""

    CONNECTING = "connecting"
    RECEIVING = "receiving"
    WAITING = "waiting"  # before the next try
    CHECKING = "checking"  # size and sha256
    DONE = "done"
    PAUSED = "paused"  # stopped by the user; what came is kept and is gone on with


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A model against the memory that is free, in bytes and in words."""

    verdict: FitVerdict
    needed_bytes: int
    free_bytes: int | None
    context_tokens: int  # that was asked about
    offered_context_tokens: int | None = None  # a smaller one that fits; only if this one does not
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """A model of the list. `id` is its file name in the folder of models or in the program, else its whole path."""

    id: str
    name: str
    path: Path
    kind: ModelKind
    origin: ModelOrigin
    size_bytes: int = 0
    architecture: str = ""
    quantisation: str = ""  # as "Q4_1"
    parameters: int | None = None
    context_tokens: int | None = None  # that it was trained for
    layers: int | None = None
    heads: int | None = None
    licence: str = ""
    has_template: bool = False  # whether the file says how to talk to it
    source: str = ""  # where it came from, in words
    tokens_per_s: float | None = None  # measured here
    fit: Fit | None = None
    exam: ExamResult | None = None  # None: not taken yet; `exam.sentence` is the result in words
    roles: tuple[ModelRole, ...] = ()  # that use it now
    problem: str = ""  # why it cannot be used, in words; "" if it can


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model of the catalogue that can be downloaded. Nothing is asked of the network to list it."""

    id: str
    name: str
    kind: ModelKind
    host: str  # that a download would ask
    file: str
    size_bytes: int
    context_tokens: int
    licence: str
    fit: Fit
    received_bytes: int = 0  # of an earlier try, kept
    by_user: bool = False  # from the user's own models.txt


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A model that another program holds on this machine."""

    path: Path  # of the first part, if it is in several
    program: str  # as "LM Studio"
    name: str
    kind: ModelKind
    size_bytes: int  # of all parts
    quantisation: str
    context_tokens: int | None
    fit: Fit
    parts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model that another program serves, in the place of the models here."""

    address: str
    model: str
    allowed_host: str = ""  # "" where it is this computer


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadProgress:
    """How far a download is."""

    id: str
    step: DownloadStep
    done_bytes: int
    total_bytes: int
    bytes_per_s: float | None = None
    sentence: str = ""  # why it waits, or where it resumed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How answers are drawn, and how long they may be."""

    temperature: float = 0.4  # 0..2; 0 takes the likeliest word each time
    top_p: float = 0.95  # 0..1
    top_k: int = 40  # 0: no limit
    min_p: float = 0.05  # 0..1
    repeat_penalty: float = 1.1  # 1..2; 1 is none
    max_tokens: int = 512  # of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSettings:
    """What a conversation changes of the way the model is asked."""

    sampling: Sampling
    system_prompt: str = ""  # what the user tells the model for this conversation, behind the program's own words
    preset: str = ""  # that these values came from and still equal; "" if none


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Values that ship with the program, under a name; `names` by language tag."""

    id: str
    names: tuple[tuple[str, str], ...]
    sampling: Sampling
    system_prompts: tuple[tuple[str, str], ...] = ()

    def name(self, language: str) -> str:
        """Return the name in a language, English where there is none."""
        return _pick(self.names, language)

    def system_prompt(self, language: str) -> str:
        """Return what it tells the model, in a language; "" for nothing."""
        return _pick(self.system_prompts, language)


def _pick(texts: tuple[tuple[str, str], ...], language: str) -> str:
    known = dict(texts)
    return known.get(language.split("-")[0].lower(), known.get("en", ""))
