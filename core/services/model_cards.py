"""Model files as records of the list. Functions that read headers; no state."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.catalogue.discovery import Discovered
from core.catalogue.facts import ModelFacts, read_facts
from core.catalogue.fit import judge_least
from core.catalogue.models import ModelEntry, match_files
from core.catalogue.shelf import Shelved
from core.errors import ModelFileError
from core.model import ExamResult
from core.model_files import Fit, FoundFile, ModelCard, ModelKind, ModelOffer, ModelOrigin, ModelRole

EMBEDDING_CONTEXT_TOKENS = 512  # that an embedding model reads of a text


def read_card(shelved: Shelved, judge: Callable[[ModelFacts], Fit], entries: tuple[ModelEntry, ...]) -> ModelCard:
    """Return the card of a model; one that cannot be used says why."""
    entry = match_files(entries).get(shelved.path.name)
    try:
        facts = read_facts(shelved.path)
    except ModelFileError as error:
        return ModelCard(
            id=shelved.id,
            name=entry.name if entry else shelved.path.stem,
            path=shelved.path,
            kind=ModelKind(entry.role) if entry else ModelKind.CHAT,
            origin=shelved.origin,
            size_bytes=_find_size(shelved.path),
            source=shelved.source,
            problem=_explain_missing(shelved) if not shelved.path.exists() else str(error),
        )
    card = make_card(facts, id=shelved.id, fit=judge(facts), origin=shelved.origin, source=shelved.source)
    if entry is None or entry.bytes not in {card.size_bytes, _find_size(shelved.path)}:
        return card
    return replace(card, name=entry.name, licence=entry.licence, source=card.source or entry.source)


def make_card(facts: ModelFacts, *, id: str, fit: Fit, origin: ModelOrigin, source: str = "") -> ModelCard:
    """Return the card of a usable model."""
    return ModelCard(
        id=id,
        name=facts.name,
        path=facts.path,
        kind=facts.kind,
        origin=origin,
        size_bytes=facts.weight_bytes,
        architecture=facts.architecture,
        quantisation=facts.quantisation,
        parameters=facts.parameters or None,
        context_tokens=facts.context_tokens or None,
        layers=facts.layers or None,
        heads=facts.heads or None,
        licence=facts.licence,
        has_template=facts.has_template,
        source=source,
        fit=fit,
    )


def complete(
    card: ModelCard, *, roles: tuple[ModelRole, ...], exam: ExamResult | None, tokens_per_s: float | None
) -> ModelCard:
    """Return the card with what was measured, and who uses it; an exam measured the speed too."""
    speed = tokens_per_s if tokens_per_s is not None else (exam.tokens_per_s if exam else None)
    return replace(card, roles=roles, exam=exam, tokens_per_s=speed)


def make_offer(entry: ModelEntry, folder: Path, free_bytes: int | None) -> ModelOffer:
    """Return what the catalogue offers."""
    return ModelOffer(
        id=entry.id,
        name=entry.name,
        kind=ModelKind(entry.role),
        host=entry.host,
        file=entry.file,
        size_bytes=entry.bytes,
        context_tokens=entry.context_tokens,
        licence=entry.licence,
        fit=judge_least(entry.least_ram_bytes, entry.context_tokens, free_bytes),
        received_bytes=_find_size(folder / f"{entry.file}.part"),
        by_user=entry.by_user,
    )


def make_found(found: Discovered, fit: Fit) -> FoundFile:
    """Return a file of another program."""
    return FoundFile(
        path=found.path,
        program=found.program,
        name=found.name,
        kind=found.facts.kind,
        size_bytes=found.facts.weight_bytes,
        quantisation=found.facts.quantisation,
        context_tokens=found.facts.context_tokens or None,
        fit=fit,
        parts=found.facts.parts,
    )


def discard_part(target: Path) -> None:
    """Throw away what came of a file."""
    from core.catalogue.download import discard  # httpx comes with it

    discard(target)


def _explain_missing(shelved: Shelved) -> str:
    return (
        f"The file is no longer at {shelved.path}: it was moved or deleted, or its disk is not connected. Put it back, "
        "or remove the model from the list. Your conversations are not affected."
    )


def _find_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
