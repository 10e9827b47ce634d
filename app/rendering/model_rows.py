"""The Models page as rows: what is here, what other programs hold, what could be downloaded. Pure.

List, details, menu and keys all take their commands from `ModelRow.acts`, so that nothing can be reached in one way
only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.rendering.words import size, tokens_k
from core.model_files import (
    DownloadProgress,
    DownloadStep,
    Fit,
    FitVerdict,
    FoundFile,
    ModelCard,
    ModelKind,
    ModelOffer,
    ModelOrigin,
    ModelRole,
    ServedModel,
)
from core.wording import count

HERE, FOUND, OFFERED = "On this computer", "In other programs", "Can be downloaded"
SEARCH = "search by meaning"
ROLE_WORDS = {ModelRole.CHAT: "chat", ModelRole.MEMORY: "memory", ModelRole.EMBEDDING: "search"}
FIT_WORDS = {FitVerdict.FITS: "fits", FitVerdict.TIGHT: "tight", FitVerdict.TOO_BIG: "too big", FitVerdict.UNKNOWN: ""}
_ORIGINS = {
    ModelOrigin.BUILT_IN: "comes with Keepsake",
    ModelOrigin.OURS: "in Keepsake's folder of models",
    ModelOrigin.ELSEWHERE: "used where it is",
}


class ModelAct(StrEnum):
    """What can be done with a row."""

    CHAT = "use for chat"
    CHAT_SMALLER = "use for chat with a smaller context"
    CHAT_DEFAULT = "use the default for chat"
    MEMORY = "use for memory"
    MEMORY_DEFAULT = "use the chat's model for memory"
    SEARCH = "use for search"
    SEARCH_DEFAULT = "use the built-in search"
    EXAMINE = "examine"
    STOP_EXAM = "stop the exam"
    REMOVE = "remove"
    TAKE_CHAT = "take and use for chat"
    TAKE = "take"
    DOWNLOAD = "download"
    PAUSE = "pause"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What runs on a row; `share` is 0..1, None where it is not known."""

    words: str
    share: float | None = None
    acts: tuple[ModelAct, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model of the page, in words."""

    key: str
    group: str
    title: str
    line: str  # under the title in the list
    mark: str = ""  # right of the title: what it is used for, or how far a download is
    facts: tuple[tuple[str, str], ...] = ()
    fit: str = ""
    tight: bool = False  # the fit is a warning
    problem: str = ""  # why it cannot be used
    error: str = ""  # what the last command led to
    work: Work | None = None
    acts: tuple[ModelAct, ...] = ()
    smaller_tokens: int | None = None  # the context of CHAT_SMALLER

    @property
    def spoken(self) -> str:
        """The row for a screen reader."""
        parts = (self.title, self.mark, self.line, self.problem or self.error)
        return ". ".join(part for part in parts if part)


def act_words(act: ModelAct, row: ModelRow) -> str:
    """The text of a command's button."""
    match act:
        case ModelAct.CHAT_SMALLER:
            return f"Use for chat with a context of {tokens_k(row.smaller_tokens or 0)}"
        case ModelAct.DOWNLOAD:
            return "Go on with the download" if row.mark else "Download"
        case _:
            return ACT_WORDS[act]


ACT_WORDS = {
    ModelAct.CHAT: "Use for chat",
    ModelAct.CHAT_DEFAULT: "Use the built-in one for chat",
    ModelAct.MEMORY: "Use for memory",
    ModelAct.MEMORY_DEFAULT: "Leave memory to the chat's model",
    ModelAct.SEARCH: "Use for search",
    ModelAct.SEARCH_DEFAULT: "Use the built-in search",
    ModelAct.EXAMINE: "Take the memory exam",
    ModelAct.STOP_EXAM: "Stop the exam",
    ModelAct.REMOVE: "Remove",
    ModelAct.TAKE_CHAT: "Use it for chat, without copying",
    ModelAct.TAKE: "Add it to the list, without copying",
    ModelAct.PAUSE: "Pause",
    ModelAct.CANCEL: "Discard the download",
}
ACT_TIPS = {
    ModelAct.CHAT: "Answers come from this model from now on",
    ModelAct.MEMORY: "Updates of Working Memory and recaps are asked of this model",
    ModelAct.SEARCH: "Search by meaning uses this model",
    ModelAct.EXAMINE: "About a minute: what this model can be trusted with when memory is updated",
    ModelAct.TAKE_CHAT: "The file stays where it is; answers come from it from now on",
    ModelAct.TAKE: "The file stays where it is",
}


def make_rows(
    cards: Sequence[ModelCard],
    found: Sequence[FoundFile],
    offers: Sequence[ModelOffer],
    works: Mapping[str, Work],
    errors: Mapping[str, str],
) -> tuple[ModelRow, ...]:
    """Return the rows of all three groups, in their order."""
    rows = [_row_of_card(card, works, errors) for card in cards]
    rows += [_row_of_found(file, works, errors) for file in found]
    rows += [_row_of_offer(offer, works, errors) for offer in offers]
    return tuple(rows)


def role_line(cards: Sequence[ModelCard], served: ServedModel | None = None) -> str:
    """Which model does what, in a line."""
    names = {role: card.name for card in cards for role in card.roles}
    chat = names.get(ModelRole.CHAT, "none")
    if served is not None:
        chat = f"{served.model}, served by {served.address}"
    memory = names.get(ModelRole.MEMORY, chat)
    search = names.get(ModelRole.EMBEDDING, "built in")
    return f"Chat: {chat}  ·  Memory: {'the same' if memory == chat != 'none' else memory}  ·  Search: {search}"


def download_words(progress: DownloadProgress) -> str:
    """How far a download is: `1.2 of 2.4 GB, 8.1 MB a second, 3 min left`."""
    done, total = size(progress.done_bytes), size(progress.total_bytes)
    if progress.step is DownloadStep.CONNECTING:
        return progress.sentence or "Asking for the file…"
    if progress.step is DownloadStep.WAITING:
        return progress.sentence or "Waiting before the next try…"
    if progress.step is DownloadStep.CHECKING:
        return "Checking that every byte is right…"
    if progress.step is DownloadStep.PAUSED:
        return f"Paused at {done} of {total}. What came is kept."
    words = f"{done} of {total}"
    if progress.bytes_per_s:
        words += f", {size(round(progress.bytes_per_s))} a second, "
        words += time_left((progress.total_bytes - progress.done_bytes) / progress.bytes_per_s)
    return f"{words}. {progress.sentence}" if progress.sentence else words


def time_left(seconds: float) -> str:
    """`about 3 min left`."""
    if seconds < 60:
        return "less than a minute left"
    return f"about {round(seconds / 60)} min left" if seconds < 5_400 else f"about {round(seconds / 3_600)} h left"


def _row_of_card(card: ModelCard, works: Mapping[str, Work], errors: Mapping[str, str]) -> ModelRow:
    key, work = f"here:{card.id}", works.get(f"here:{card.id}")
    fit = card.fit
    return ModelRow(
        key=key,
        group=HERE,
        title=card.name,
        line="cannot be used" if card.problem else _line(card.kind, card.quantisation, card.size_bytes, fit),
        mark=" · ".join(ROLE_WORDS[role] for role in card.roles),
        facts=tuple(_facts_of_card(card)),
        fit=fit.sentence if fit else "",
        tight=fit is not None and fit.verdict in (FitVerdict.TIGHT, FitVerdict.TOO_BIG),
        problem=card.problem,
        error=errors.get(key, ""),
        work=work,
        acts=(work.acts if work else ()) + tuple(_acts_of_card(card, busy=work is not None)),
        smaller_tokens=fit.offered_context_tokens if fit else None,
    )


def _acts_of_card(card: ModelCard, *, busy: bool) -> list[ModelAct]:
    acts: list[ModelAct] = []
    own, built_in = card.roles, card.origin is ModelOrigin.BUILT_IN
    too_big = card.fit is not None and card.fit.verdict is FitVerdict.TOO_BIG
    if not card.problem and card.kind is ModelKind.EMBEDDING:
        acts += [ModelAct.SEARCH] if ModelRole.EMBEDDING not in own else []
    elif not card.problem:
        if ModelRole.CHAT not in own and not too_big:
            acts.append(ModelAct.CHAT)
        if too_big and card.fit and card.fit.offered_context_tokens:
            acts.append(ModelAct.CHAT_SMALLER)
        acts += [ModelAct.MEMORY] if ModelRole.MEMORY not in own and not too_big else []
        acts += [ModelAct.EXAMINE] if not busy and not too_big else []
    acts += [ModelAct.CHAT_DEFAULT] if ModelRole.CHAT in own and not built_in else []
    acts += [ModelAct.MEMORY_DEFAULT] if ModelRole.MEMORY in own and ModelRole.CHAT not in own else []
    acts += [ModelAct.SEARCH_DEFAULT] if ModelRole.EMBEDDING in own and not built_in else []
    return acts + ([] if built_in else [ModelAct.REMOVE])


def _facts_of_card(card: ModelCard) -> list[tuple[str, str]]:
    built = " · ".join(
        part
        for part in (
            card.architecture,
            parameters_words(card.parameters),
            count(card.layers, "layer") if card.layers else "",
            count(card.heads, "head") if card.heads else "",
        )
        if part
    )
    exam = card.exam.sentence if card.exam else "not taken yet"
    chat = card.kind is ModelKind.CHAT and not card.problem
    licence = "" if card.problem else card.licence or "not told by the file"
    facts = [
        ("Size", size(card.size_bytes) if card.size_bytes else ""),
        ("Quantisation", card.quantisation),
        ("Context", f"{card.context_tokens:,} tokens" if card.context_tokens else ""),
        ("Built as", built),
        ("Speed here", _speed(card) if chat else ""),
        ("Memory exam", exam if chat else ""),
        ("Template", "" if card.has_template or not chat else "none in the file; a plain one is used"),
        ("Licence", licence),
        ("Came from", _source(card)),
        ("File", str(card.path)),
    ]
    return [(name, text) for name, text in facts if text]


def _source(card: ModelCard) -> str:
    package = card.source.removeprefix("pypi:")
    if package != card.source:
        return f"{_ORIGINS[card.origin]} (from the package {package.replace('==', ' ')})"
    return card.source or _ORIGINS[card.origin]


def _speed(card: ModelCard) -> str:
    return f"{card.tokens_per_s:.0f} tokens a second" if card.tokens_per_s else "not measured yet"


def _row_of_found(file: FoundFile, works: Mapping[str, Work], errors: Mapping[str, str]) -> ModelRow:
    key = f"found:{file.path}"
    work = works.get(key)
    usable = file.kind is ModelKind.CHAT and file.fit.verdict is not FitVerdict.TOO_BIG
    facts = [
        ("Program", file.program),
        ("Size", size(file.size_bytes) + (f" in {file.parts} files" if file.parts > 1 else "")),
        ("Quantisation", file.quantisation),
        ("Context", f"{file.context_tokens:,} tokens" if file.context_tokens else ""),
        ("File", str(file.path)),
    ]
    return ModelRow(
        key=key,
        group=FOUND,
        title=file.name,
        line=_line(file.kind, file.quantisation, file.size_bytes, file.fit),
        mark=file.program,
        facts=tuple((name, text) for name, text in facts if text),
        fit=file.fit.sentence,
        tight=file.fit.verdict in (FitVerdict.TIGHT, FitVerdict.TOO_BIG),
        error=errors.get(key, ""),
        work=work,
        acts=() if work else (ModelAct.TAKE_CHAT, ModelAct.TAKE) if usable else (ModelAct.TAKE,),
    )


def _row_of_offer(offer: ModelOffer, works: Mapping[str, Work], errors: Mapping[str, str]) -> ModelRow:
    key = f"offer:{offer.id}"
    work = works.get(key)
    share = offer.received_bytes / offer.size_bytes if offer.size_bytes else 0.0
    if work is not None and work.share is not None:
        share = work.share
    facts = [
        ("Size", size(offer.size_bytes)),
        ("Context", f"{offer.context_tokens:,} tokens" if offer.context_tokens else ""),
        ("Licence", offer.licence),
        ("Asked of", f"{offer.host}, when you press Download and at no other time"),
        ("Listed in", "your own models.txt" if offer.by_user else ""),
        ("Kept of it", size(offer.received_bytes) if offer.received_bytes and not work else ""),
        ("File", offer.file),
    ]
    idle = (ModelAct.DOWNLOAD, ModelAct.CANCEL) if offer.received_bytes else (ModelAct.DOWNLOAD,)
    return ModelRow(
        key=key,
        group=OFFERED,
        title=offer.name,
        line=_line(offer.kind, "", offer.size_bytes, offer.fit),
        mark=f"{share:.0%}" if work or offer.received_bytes else "",
        facts=tuple((name, text) for name, text in facts if text),
        fit=offer.fit.sentence,
        tight=offer.fit.verdict in (FitVerdict.TIGHT, FitVerdict.TOO_BIG),
        error=errors.get(key, ""),
        work=work,
        acts=work.acts if work else idle,
    )


def _line(kind: ModelKind, quantisation: str, size_bytes: int, fit: Fit | None) -> str:
    parts = [SEARCH if kind is ModelKind.EMBEDDING else "", quantisation, size(size_bytes) if size_bytes else ""]
    parts.append(FIT_WORDS[fit.verdict] if fit else "")
    return " · ".join(part for part in parts if part)


def parameters_words(number: int | None) -> str:
    """`135 million parameters`, `4.0 billion parameters`."""
    if not number:
        return ""
    return f"{number / 1e9:.1f} billion parameters" if number >= 1e9 else f"{number / 1e6:.0f} million parameters"
