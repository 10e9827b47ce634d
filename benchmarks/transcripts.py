"""Transcripts for the benchmarks that replay: real ones where the sets are there, else none."""

import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from itertools import islice
from pathlib import Path

from benchmarks.convert import convert_all
from core.interchange import jsonl
from core.model import SaidTurn, SessionId


def find_transcripts(data: Path, out: Path) -> list[Path]:
    """Convert the sets below `data` into `out`; returns the transcripts, empty where there are none."""
    with redirect_stdout(StringIO()):
        return convert_all(data, out)


def load_turns(transcripts: list[Path]) -> Iterator[SaidTurn]:
    """Yield the turns of all transcripts, one after the other."""
    for path in transcripts:
        yield from jsonl.read_turns(path, SessionId(path.stem), lambda *_: None)


def write_long(transcripts: list[Path], path: Path, turns: int) -> int:
    """Write one transcript of at most `turns` turns out of many, times in order; returns how many."""
    at, count = 1_600_000_000.0, 0
    with path.open("w", encoding="utf-8") as file:
        for turn in islice(_repeat(transcripts), turns):
            at += 90.0 if count % 15 else 86_400.0  # fifteen turns a day
            for role, text, moment in (("user", turn.user_text, at), ("assistant", turn.reply_text, at + 20)):
                if text:
                    row = {"role": role, "content": text, "timestamp": moment}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def _repeat(transcripts: list[Path]) -> Iterator[SaidTurn]:
    while transcripts:
        yield from load_turns(transcripts)
