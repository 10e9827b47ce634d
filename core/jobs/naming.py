"""What a stretch of a conversation is called and says until it is summed up: by what the user said in it."""

import asyncio
from concurrent.futures import Executor

from core.archivist.summaries import summarise
from core.archivist.topics import name_topic
from core.model import SessionId, TurnId
from core.storage import conversations, episodic
from core.storage.database import Connection, Database
from core.storage.segment_edits import Named


async def name_turns(
    database: Database, pool: Executor, session_id: SessionId, *, first: TurnId, last: TurnId
) -> Named:
    """Name the turns from `first` to `last`; `pool` is where that is thought about."""

    def read(c: Connection) -> tuple[tuple[str, ...], str]:
        texts = episodic.load_user_texts(c, session_id, first=first, last=last)
        return texts, conversations.load_language(c, session_id)

    texts, language = await database.read(read)
    return await asyncio.get_running_loop().run_in_executor(
        pool, lambda: Named(title=name_topic(texts, language), summary=summarise(texts))
    )
