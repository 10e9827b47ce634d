"""Make transcripts out of public chats, for `keepsake-jobs replay` and the other benchmarks.

    python -m benchmarks.convert [--data DIR] [--out DIR]

Reads `memorybank/memory_bank_{en,cn}.json` and `locomo/*.json` below DIR; what is missing is
skipped with a message. Writes one file a user or conversation, one
`{"role", "content", "timestamp"}` a line (core/interchange/jsonl.py has the rules).

MemoryBank knows only the day of an exchange: it gets times from 09:00 on, a minute a message.
LoCoMo knows when each session began: its messages follow 45 s apart, the first speaker named in
the file as the user. Neither names a time zone: all times are taken as UTC.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from benchmarks.common import DEFAULT_DATA, ROOT, say
from core.model import Role

MEMORYBANK = {"en": "memory_bank_en.json", "zh": "memory_bank_cn.json"}  # BCP 47 language -> file
DAY_BEGINS = time(9, 0, tzinfo=UTC)
MEMORYBANK_STEP = timedelta(seconds=60)
LOCOMO_STEP = timedelta(seconds=45)
LOCOMO_TIME = "%I:%M %p on %d %B, %Y"  # 1:56 pm on 8 May, 2023


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a transcript."""

    role: Role
    text: str
    at: datetime


def convert_memorybank(data: dict[str, Any]) -> Iterator[tuple[str, list[Line]]]:
    """Yield (user's name, messages) for each user of a MemoryBank file, days in order."""
    for key, user in data.items():
        lines: list[Line] = []
        for day in sorted(user["history"]):
            at = datetime.combine(datetime.fromisoformat(day), DAY_BEGINS)
            for exchange in user["history"][day]:
                for role, text in ((Role.USER, exchange["query"]), (Role.ASSISTANT, exchange["response"])):
                    lines.append(Line(role, text, at))
                    at += MEMORYBANK_STEP
        yield str(user.get("name") or key).strip(), lines


def convert_locomo(data: dict[str, Any]) -> list[Line]:
    """Return the messages of a LoCoMo conversation, sessions in the order of their numbers."""
    roles = {data["speaker_a"]: Role.USER, data["speaker_b"]: Role.ASSISTANT}
    numbers = sorted(int(key[len("session_") :]) for key in data if re.fullmatch(r"session_\d+", key))
    lines: list[Line] = []
    for number in numbers:
        at = datetime.strptime(data[f"session_{number}_date_time"], LOCOMO_TIME).replace(tzinfo=UTC)
        if lines:
            at = max(at, lines[-1].at + LOCOMO_STEP)  # a session may have outlasted the beginning of the next
        for message in data[f"session_{number}"]:
            lines.append(Line(roles[message["speaker"]], message["text"], at))
            at += LOCOMO_STEP
    return lines


def write_transcript(path: Path, lines: Iterable[Line]) -> int:
    """Write a transcript; returns the number of its messages. Blank messages are left out."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            if not line.text.strip():
                continue
            stamp = line.at.isoformat().replace("+00:00", "Z")
            row = {"role": line.role, "content": line.text, "timestamp": stamp}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def convert_all(data: Path, out: Path) -> list[Path]:
    """Write all transcripts that can be made from `data`; returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    for name, lines in _find_chats(data):
        path = out / f"{name}.jsonl"
        count = write_transcript(path, lines)
        print(f"{path.name}: {count} messages")
        made.append(path)
    return made


def _find_chats(data: Path) -> Iterator[tuple[str, list[Line]]]:
    """Yield (file name without ending, messages) for each chat below `data`."""
    for language, file in MEMORYBANK.items():
        found = _load(data / "memorybank" / file)
        for user, lines in convert_memorybank(found or {}):
            yield f"memorybank_{language}_{_slug(user)}", lines
    conversations = sorted((data / "locomo").glob("*.json"))
    if not conversations:
        say(f"Skipped: there is no conversation in {data / 'locomo'}.")
    for path in conversations:
        found = _load(path)
        if found is not None:
            yield f"locomo_{_slug(path.stem)}", convert_locomo(found)


def _load(path: Path) -> dict[str, Any] | None:
    try:
        loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        say(f"Skipped: {path} is not there.")
        return None
    return loaded


def _slug(name: str) -> str:
    """Return a name as part of a file name: lower case, letters of any script."""
    return re.sub(r"\W+", "_", name.strip().lower()).strip("_")


def main() -> int:
    """Convert what is there; returns 1 where there is nothing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help=f"folder of the sets (default: {DEFAULT_DATA})")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "transcripts", help="default: build/transcripts")
    args = parser.parse_args()
    made = convert_all(args.data, args.out)
    print(f"{len(made)} transcripts in {args.out}" if made else f"Nothing to convert below {args.data}.")
    return 0 if made else 1


if __name__ == "__main__":
    raise SystemExit(main())
