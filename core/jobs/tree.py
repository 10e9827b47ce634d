"""The steps `tree` and `seal`: leaves of what was said, summaries above them, their Markdown twins.

A leaf is evidence, never a recap. A model is asked outside transactions; a node, the parent links below it and
the emptied buffer are one. Nodes that lost a leaf are made again from what is left, and so are those that
were made without a model, once one is there.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from core.archivist.recap import wait_after
from core.archivist.recap_text import prepare_material
from core.archivist.recap_writer import Part, Task, sum_up
from core.archivist.tree import (
    SEAL_ITEMS,
    SEAL_TOKENS,
    SUMMARY_TOKENS,
    TreeMessage,
    admits,
    cut_chunks,
    is_due,
    prepare_input,
)
from core.archivist.tree_text import open_messages, render_chunk, render_node, take_first_sentence
from core.jobs.finalise import DAY_S, FindModel, needs_seal
from core.jobs.runner import Finish
from core.model import RecapSource, SegmentId, TurnId
from core.sessions.archive_files import write_atomically
from core.storage import recaps, tree
from core.storage.database import Connection, Database
from core.storage.queue import Job
from core.storage.recaps import Spoken, Stretch
from core.storage.tree import StoredChunk, StoredMessage, StoredNode
from core.text.tokens import estimate_tokens

LEAST_SUMMARY_TOKENS = 48
SENTENCES_A_CHILD = 1
Child = StoredChunk | StoredNode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summary:
    """A node's words and span; times in s."""

    text: str
    source: RecapSource
    started_at: float
    ended_at: float
    items: int
    tokens: int
    attempts: int
    next_try_at: float | None


class TreeKeeper:
    """Grows the memory tree of one workspace."""

    def __init__(
        self,
        database: Database,
        *,
        workspace: Path,
        find_model: FindModel,
        deadline_s: float,
        pool: Executor,
        files: Executor,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._content = workspace / "memory_tree" / "content"
        self._find_model = find_model
        self._deadline_s = deadline_s
        self._pool = pool
        self._files = files
        self._clock = clock

    async def grow(self, job: Job) -> Finish | None:
        """Put what was said in a closed segment into the tree, instead of what was there of it."""
        segment_id = SegmentId(job.payload["segment"])
        read = await self._database.read(lambda c: _read_segment(c, segment_id))
        if read is None or read[0].status == "open" or read[0].revision != int(job.payload["revision"]):
            return None
        stretch, spoken = read
        at, loop = self._clock(), asyncio.get_running_loop()
        chunks = await loop.run_in_executor(self._pool, _cut, stretch, spoken, at)
        await loop.run_in_executor(self._files, self._write_chunks, chunks)

        def finish(c: Connection) -> None:
            current = recaps.get(c, stretch.id)
            if current is None or current.revision != stretch.revision:
                return
            changed = tree.replace_segment(c, stretch.id, chunks)
            if changed and needs_seal(c, now=at):
                tree.ask_to_seal(c, at=at)

        return finish

    async def seal(self, job: Job | None = None) -> None:
        """Remove files of what went, make again what must be, then seal every buffer that is due."""
        await self._unlink()
        await self._redo()
        while await self._seal_one():
            pass

    async def _seal_one(self) -> bool:
        """Seal the lowest buffer that is due; False if none is."""
        now = self._clock()
        due = await self._database.read(lambda c: _find_due(c, now))
        if due is None:
            return False
        level, children = due
        made = await self._sum_up(children, attempts=0)
        node_id = await self._database.write(
            lambda c: tree.add_node(
                c,
                level + 1,
                [child.id for child in children],
                started_at=made.started_at,
                ended_at=made.ended_at,
                tokens=made.tokens,
                summary=made.text,
                source=made.source,
                at=now,
                next_try_at=made.next_try_at,
            )
        )
        if node_id is not None:
            await self._write_node(node_id, level + 1, made, children)
        return True

    async def _redo(self) -> None:
        now = self._clock()
        with_model = await self._find_model() is not None
        for node in await self._database.read(lambda c: tree.load_to_redo(c, now=now, with_model=with_model)):
            await self._redo_one(node)
        await self._unlink()

    async def _redo_one(self, node: StoredNode) -> None:
        children = await self._database.read(lambda c: tree.load_children(c, node))
        if not children:
            await self._database.write(lambda c: tree.delete_node(c, node.id))
            return
        made = await self._sum_up(children, attempts=node.attempts)
        await self._database.write(lambda c: _rewrite(c, node, made))
        await self._write_node(node.id, node.level, made, children)

    async def _sum_up(self, children: Sequence[Child], *, attempts: int) -> _Summary:
        loop = asyncio.get_running_loop()
        task = await loop.run_in_executor(self._pool, _describe, children, self._deadline_s)
        helper = await self._find_model()
        text, source, next_try_at = "", RecapSource.HEURISTIC, None
        if helper is not None:
            summed = await sum_up(helper, task)
            text, source = summed.text, summed.source
            if not text:
                attempts += 1
                next_try_at = self._clock() + wait_after(attempts)
        if not text:
            text = await loop.run_in_executor(self._pool, _put_together, children)
        return _Summary(
            text=text,
            source=source,
            started_at=min(child.started_at for child in children),
            ended_at=max(child.ended_at for child in children),
            items=len(children),
            tokens=sum(child.tokens for child in children),
            attempts=attempts,
            next_try_at=next_try_at,
        )

    # -- files -----------------------------------------------------------------------------------

    def _write_chunks(self, chunks: Sequence[StoredChunk]) -> None:
        folder = self._content / "chunks"
        for chunk in chunks:
            file = folder / f"{chunk.id}.md"
            if not file.exists():
                folder.mkdir(parents=True, exist_ok=True)
                messages = list(map(_as_message, chunk.messages))
                write_atomically(file, render_chunk(chunk.id, chunk.session_id, messages, partial=chunk.partial))

    async def _write_node(self, node_id: str, level: int, made: _Summary, children: Sequence[Child]) -> None:
        folder = self._content / "summaries"
        text = render_node(
            node_id,
            level,
            made.text,
            [child.id for child in children],
            source=made.source,
            started_at=made.started_at,
            ended_at=made.ended_at,
        )

        def write() -> None:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / f"{node_id}.md", text)

        await asyncio.get_running_loop().run_in_executor(self._files, write)

    async def _unlink(self) -> None:
        names = await self._database.read(tree.load_unlinks)
        if not names:
            return

        def unlink() -> None:
            for name in names:
                (self._content / f"{name}.md").unlink(missing_ok=True)

        await asyncio.get_running_loop().run_in_executor(self._files, unlink)
        await self._database.write(lambda c: tree.drop_unlinks(c, names))


def _read_segment(c: Connection, segment_id: SegmentId) -> tuple[Stretch, tuple[Spoken, ...]] | None:
    stretch = recaps.get(c, segment_id)
    if stretch is None:
        return None
    spoken = recaps.load_spoken(c, stretch.session_id, first=stretch.first_turn, last=stretch.last_turn)
    return stretch, spoken


def _cut(stretch: Stretch, spoken: Sequence[Spoken], at: float) -> tuple[StoredChunk, ...]:
    said = [TreeMessage(turn=each.turn, role=each.role, at=each.at, text=each.text) for each in spoken]
    if not admits(said):
        return ()
    return tuple(
        StoredChunk(
            id=chunk.id,
            session_id=stretch.session_id,
            segment_id=stretch.id,
            first_turn=TurnId(chunk.turns[0]),
            last_turn=TurnId(chunk.turns[-1]),
            started_at=chunk.messages[0].at,
            ended_at=chunk.messages[-1].at,
            tokens=chunk.tokens,
            partial=chunk.partial,
            messages=tuple(
                StoredMessage(turn=TurnId(m.turn), role=m.role, at=m.at, text=m.text) for m in chunk.messages
            ),
            added_at=at,
        )
        for chunk in cut_chunks(prepare_input(said))
    )


def _find_due(c: Connection, now: float) -> tuple[int, Sequence[Child]] | None:
    """Return the lowest level whose buffer is due, and the oldest items of it that make a node."""
    for buffer in tree.load_buffers(c):
        oldest_days = (now - buffer.oldest_at) / DAY_S
        if not is_due(buffer.level, items=buffer.items, tokens=buffer.tokens, oldest_days=oldest_days):
            continue
        if buffer.level:
            return buffer.level, tree.load_buffered_nodes(c, buffer.level, SEAL_ITEMS)
        chunks = tree.load_buffered_chunks(c, SEAL_ITEMS)
        taken, tokens = 0, 0
        while taken < len(chunks) and tokens < SEAL_TOKENS:
            tokens += chunks[taken].tokens
            taken += 1
        return 0, chunks[:taken]
    return None


def _rewrite(c: Connection, node: StoredNode, made: _Summary) -> None:
    tree.rewrite_node(
        c,
        node,
        started_at=made.started_at,
        ended_at=made.ended_at,
        items=made.items,
        tokens=made.tokens,
        summary=made.text,
        source=made.source,
        attempts=made.attempts,
        next_try_at=made.next_try_at,
    )


def _describe(children: Sequence[Child], deadline_s: float) -> Task:
    """Say what a node is made of: its children are the source."""
    parts: list[Part] = []
    candidates: list[str] = []
    worth: list[float] = []
    for number, child in enumerate(children, start=1):
        if isinstance(child, StoredNode):
            parts.append(Part(kind="note", mark=str(number), text=child.summary))
            lines = [line for line in child.summary.splitlines() if line.strip()][:SENTENCES_A_CHILD]
            candidates += lines
            worth += [1.0] * len(lines)
            continue
        material = prepare_material(list(map(_as_message, child.messages)))
        parts.append(Part(kind="note", mark=str(number), text=material.source))
        if material.candidates:
            best = max(range(len(material.candidates)), key=lambda i: (material.worth[i], -i))
            candidates.append(material.candidates[best])
            worth.append(material.worth[best])
    tokens = sum(estimate_tokens(part.text) for part in parts)
    return Task(
        parts=tuple(parts),
        candidates=tuple(candidates[:9]),
        worth=tuple(worth[:9]),
        max_tokens=min(SUMMARY_TOKENS, max(LEAST_SUMMARY_TOKENS, -(-tokens // 4))),
        language=_find_language(parts),
        prefix="tree",
        deadline_s=deadline_s,
    )


def _find_language(parts: Sequence[Part]) -> str:
    from core.text.language import detect_language

    return detect_language("\n".join(part.text[:500] for part in parts), "en")


def _put_together(children: Sequence[Child]) -> str:
    """Return the children's first sentences, a line each, within the size of a node."""
    lines: list[str] = []
    for child in children:
        if isinstance(child, StoredNode):
            line = next((line for line in child.summary.splitlines() if line.strip()), "")
        else:
            line = take_first_sentence(open_messages(list(map(_as_message, child.messages))))
        if line and line not in lines and estimate_tokens("\n".join([*lines, line])) <= SUMMARY_TOKENS:
            lines.append(line)
    return "\n".join(lines)


def _as_message(message: StoredMessage) -> TreeMessage:
    return TreeMessage(turn=message.turn, role=message.role, at=message.at, text=message.text)
