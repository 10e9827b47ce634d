"""What plain building blocks find: the floors of the benchmark of retrieval."""

import re
from array import array
from collections.abc import Sequence
from operator import mul

import apsw

from benchmarks.recall_sets import Said

_WORD = re.compile(r"\w+")
# as in spec/retrieval.md 3: an OR of the quoted terms that are no stop words
_STOP = frozenset(
    """
    a an the and or but if of in on at to for from by with about as is are was were be been being am do does did
    doing has have having had will would can could should may might must shall i you he she it we they me him her
    us them my your his its our their this that these those what which who whom whose when where why how there
    here not no so than too very just also any some s t d ll m re ve
    """.split()  # noqa: SIM905
)


class Floors:
    """FTS5 over single messages, cosines, and reciprocal rank fusion of both."""

    def __init__(self, said: Sequence[Said], *, stemmer: str = "porter unicode61") -> None:
        self._said = said
        self._index = apsw.Connection(":memory:")
        self._index.execute(f"CREATE VIRTUAL TABLE f USING fts5(text, tokenize='{stemmer}')")
        self._index.executemany("INSERT INTO f(rowid, text) VALUES (?, ?)", [(n, m.text) for n, m in enumerate(said)])

    def by_words(self, question: str) -> list[str]:
        """Return keys by BM25."""
        terms = [word for word in dict.fromkeys(_WORD.findall(question.lower())) if word not in _STOP]
        if not terms:
            return []
        match = " OR ".join(f'"{term}"' for term in terms)
        rows = self._index.execute("SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT 100", (match,))
        return [self._said[row].key for (row,) in rows]

    def by_meaning(self, query: bytes | None, vectors: Sequence[bytes | None]) -> list[str]:
        """Return keys by plain cosine (the vectors have length 1)."""
        asked = array("f", query or b"")
        scores = [sum(map(mul, asked, array("f", vector or b""))) for vector in vectors]
        best = sorted(range(len(scores)), key=lambda n: -scores[n])[:100]
        return [self._said[n].key for n in best]

    def fuse_ranks(self, *lists: Sequence[str], k: int = 60) -> list[str]:
        """Return keys by the sum of 1 / (k + rank)."""
        scores: dict[str, float] = {}
        for keys in lists:
            for rank, key in enumerate(keys, 1):
                scores[key] = scores.get(key, 0.0) + 1 / (k + rank)
        return sorted(scores, key=lambda key: -scores[key])
