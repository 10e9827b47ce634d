"""The memory tree to look at: by conversation, month and year, and level by level as it was sealed.

A branch is read when it is opened, so that a large store costs no more than a small one.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from core.errors import NotFoundError
from core.model import RecapSource, Role, SessionId, TreeItem, TreeView, TurnId
from core.services.ground import Ground
from core.services.turn_places import number_turns
from core.storage import tree
from core.storage.tree import StoredChunk, StoredNode
from core.wording import count

TITLE_CHARACTERS = 90
NO_TITLE = "Untitled conversation"


class TreeService:
    """Reads the tree; grows it only through jobs."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def load(self, view: TreeView) -> tuple[TreeItem, ...]:
        """Return the top of a view, newest first."""
        if view is TreeView.LEVEL:
            nodes = await self._ground.database.read(tree.load_nodes)
            return tuple(_show_node(node) for node in nodes if node.parent is None)
        outline = await self._ground.database.read(tree.load_outline)
        return await self._ground.think(lambda: _group(view, outline))

    async def open(self, ref: str) -> tuple[TreeItem, ...]:
        """Return what lies below an item, in order of time. Raises `NotFoundError` if it is gone."""
        kind, _, name = ref.partition(":")
        if kind == "node":
            node = await self._ground.database.read(lambda c: tree.get_node(c, name))
            if node is None:
                raise NotFoundError("That summary is no longer there.")
            children = await self._ground.database.read(lambda c: tree.load_children(c, node))
            nodes = tuple(_show_node(each) for each in children if isinstance(each, StoredNode))
            return nodes or await self._show_leaves([each for each in children if isinstance(each, StoredChunk)])
        if kind == "conversation":
            chunks = await self._ground.database.read(lambda c: tree.load_chunks(c, session_id=SessionId(name)))
            return await self._show_leaves(chunks)
        if kind == "year":  # its months, in order
            outline = await self._ground.database.read(tree.load_outline)
            months = await self._ground.think(lambda: _group(TreeView.MONTH, outline))
            return tuple(month for month in reversed(months) if month.ref.startswith(f"month:{name}-"))
        start, end = _read_month(name)
        chunks = await self._ground.database.read(lambda c: tree.load_chunks(c, since=start, until=end))
        return await self._show_leaves(chunks)

    async def _show_leaves(self, chunks: Sequence[StoredChunk]) -> tuple[TreeItem, ...]:
        numbers = await self._ground.database.read(lambda c: number_turns(c, (each.session_id for each in chunks)))
        return tuple(_show_chunk(each, numbers) for each in chunks)

    async def count_nodes(self) -> int:
        """Return how many summaries there are."""
        return len(await self._ground.database.read(tree.load_nodes))

    async def seal(self) -> None:
        """Seal what is due and make again what must be, now."""
        await self._ground.backroom().finishing.tree.seal()


_Outline = tuple[SessionId, str, float, int]


def _group(view: TreeView, outline: Iterable[_Outline]) -> tuple[TreeItem, ...]:
    if view is TreeView.CONVERSATION:
        kept: dict[SessionId, list[_Outline]] = {}
        for leaf in outline:
            kept.setdefault(leaf[0], []).append(leaf)
        items = [_head(f"conversation:{i}", rows[-1][1].strip() or NO_TITLE, rows) for i, rows in kept.items()]
        return tuple(sorted(items, key=lambda item: -item.ended_at))
    by_month = [(month, list(rows)) for month, rows in groupby(outline, key=lambda leaf: f"{_local(leaf[2]):%Y-%m}")]
    if view is TreeView.MONTH:
        return tuple(_head(f"month:{month}", _name_month(month), rows) for month, rows in reversed(by_month))
    years = [(year, list(rows)) for year, rows in groupby(by_month, key=lambda pair: pair[0][:4])]
    return tuple(
        _head(f"year:{year}", year, [leaf for _, rows in months for leaf in rows]) for year, months in reversed(years)
    )


def _head(ref: str, title: str, rows: list[_Outline]) -> TreeItem:
    return TreeItem(
        ref=ref,
        title=title,
        started_at=rows[0][2],
        ended_at=rows[-1][2],
        leaves=len(rows),
        tokens=sum(row[3] for row in rows),
    )


def _show_node(node: StoredNode) -> TreeItem:
    return TreeItem(
        ref=f"node:{node.id}",
        title="Summary of "
        + (count(node.items, "part") if node.level == 1 else count(node.items, "summary", "summaries")),
        started_at=node.started_at,
        ended_at=node.ended_at,
        leaves=node.items,
        tokens=node.tokens,
        text=node.summary,
        placeholder=node.source == RecapSource.HEURISTIC,
    )


def _show_chunk(chunk: StoredChunk, numbers: Mapping[TurnId, int]) -> TreeItem:
    opening = next((m.text for m in chunk.messages if m.role is Role.USER), chunk.messages[0].text)
    title = " ".join(opening.split())
    turns = tuple(dict.fromkeys(m.turn for m in chunk.messages))
    return TreeItem(
        ref="",
        title=title if len(title) <= TITLE_CHARACTERS else title[: TITLE_CHARACTERS - 1].rstrip() + "…",
        started_at=chunk.started_at,
        ended_at=chunk.ended_at,
        tokens=chunk.tokens,
        text="\n\n".join(f"{'You' if m.role is Role.USER else 'Reply'}: {m.text}" for m in chunk.messages),
        session_id=chunk.session_id,
        turns=turns,
        numbers=tuple(numbers[turn] for turn in turns if turn in numbers),
    )


def _read_month(name: str) -> tuple[float, float]:
    """Return when a month (`2026-03`) of local time begins and ends, in s."""
    try:
        first = datetime.strptime(name, "%Y-%m")
        end = datetime(first.year + (first.month == 12), first.month % 12 + 1, 1)
    except ValueError:
        raise NotFoundError("That branch of the memory tree is not known.") from None
    return first.timestamp(), end.timestamp()


def _name_month(month: str) -> str:
    return f"{datetime.strptime(month, '%Y-%m'):%B %Y}"


def _local(at: float) -> datetime:
    return datetime.fromtimestamp(at)
