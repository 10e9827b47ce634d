"""How many secrets the redactor finds, how often it cries wolf, and what a message costs.

    python -m benchmarks.redaction [--data DIR] [--json] [--each N] [--seed N] [--missed]

Secrets of many kinds are made up and set into texts of many kinds; one counts as found if less than half of it, and no
run of six of its characters, is left. `heldout_recall`: texts that were written after the rules; some of what was
missed in them has been seen since (benchmarks/sets/secrets/carriers.py). The floor are the prefix rules of the
well-known scanners alone. False alarms are counted on the chat lines of MemoryBank, LoCoMo and DialSeg711 (`--data`),
and on lines that look like secrets.
"""

import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.common import Measure, make_parser, print_result, say
from benchmarks.sets.secrets.carriers import CARRIERS, HELD_OUT, Carrier
from benchmarks.sets.secrets.kinds import KINDS, Kind
from benchmarks.sets.secrets.look_alikes import LOOK_ALIKES, make_look_alikes
from core.redaction import redact_with_kinds

LEFT_CHARACTERS = 6
PREFIXES = re.compile(
    r"sk-[A-Za-z0-9_-]{20,}|gh[a-z]_\w{20,}|github_pat_\w{20,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|xox[a-z]-[\w-]{8,}"
    r"|glpat-[\w-]{16,}|npm_\w{20,}|eyJ[\w-]+\.[\w-]+\.[\w-]*|(?:sk|rk)_live_\w{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?-----END [A-Z ]*-----"
)
Redact = Callable[[str], str]


def mask_prefixes(text: str) -> str:
    """The floor: known prefixes and nothing else."""
    return PREFIXES.sub("[X]", text)


def mask(text: str) -> str:
    """Ours, without the memory for texts seen before."""
    return redact_with_kinds(text)[0]


def is_found(secret: str, redacted: str) -> bool:
    """Whether so little is left of a secret that it is of no use."""
    plain = _plain(redacted)
    core = _plain(secret)
    if core.startswith("-----"):
        core = "".join(core.split("-----")[2:-2]) or core
    if len(core) <= LEFT_CHARACTERS + 2:
        return core not in plain
    return not any(core[i : i + LEFT_CHARACTERS] in plain for i in range(len(core) - LEFT_CHARACTERS))


def _plain(text: str) -> str:
    """Without what hides or splits."""
    kept = re.sub(r"[\u200b-\u200f\u2060\ufeff\s\\\"']", "", text)
    return kept.translate({code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)})


def make_cases(seed: int, carriers: tuple[Carrier, ...], each: int) -> Iterator[tuple[Kind, Carrier, str, str]]:
    """Yield (kind, carrier, secret, text): `each` of every pair that goes together."""
    r = random.Random(seed)
    for kind in KINDS:
        for carrier in carriers:
            if carrier.bare and (kind.frames or kind.name in ("iban", "card", "chinese id") or " key" in kind.name):
                continue
            for _ in range(each):
                secret = kind.make(r)
                phrase = r.choice(kind.frames).format(secret) if kind.frames else secret
                yield kind, carrier, secret, carrier.put(phrase, r)


def measure_recall(seed: int, carriers: tuple[Carrier, ...], each: int, missed: list[str]) -> Measure:
    """Return the shares found by the floor and by us."""
    found, total = Counter[str](), 0
    for kind, carrier, secret, text in make_cases(seed, carriers, each):
        total += 1
        found["floor"] += is_found(secret, mask_prefixes(text))
        if is_found(secret, mask(text)):
            found["ours"] += 1
        else:
            missed.append(f"{kind.name} in {carrier.name}: {text!r} -> {mask(text)!r}")
    return Measure(floor=found["floor"] / total, ours=found["ours"] / total)


def load_lines(data: Path) -> Iterator[str]:
    """Yield the lines of the chats that are there."""
    for file in sorted((data / "memorybank").glob("memory_bank_*.json")):
        for person in json.loads(file.read_text(encoding="utf-8")).values():
            for day in person["history"].values():
                yield from (text for turn in day for text in turn.values() if isinstance(text, str))
    for file in sorted((data / "locomo").glob("*.json")):
        for name, value in json.loads(file.read_text(encoding="utf-8")).items():
            if name.startswith("session_") and name.count("_") == 1 and isinstance(value, list):
                yield from (turn["text"] for turn in value if "text" in turn)
    file = data / "dialseg" / "dialseg_711.json"
    if file.exists():
        yield from _strings(json.loads(file.read_text(encoding="utf-8")))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)


def count_alarms(lines: list[str], redact: Redact, shown: list[str]) -> float:
    """Return false alarms per 10,000 lines."""
    alarms = 0
    for line in lines:
        changed = redact(line)
        if changed != line:
            alarms += 1
            shown.append(f"{line!r} -> {changed!r}")
    return alarms * 10_000 / max(1, len(lines))


def measure_speed(lines: list[str], redact: Redact) -> float:
    """Return the processor's time for a message, in µs."""
    before = time.process_time()
    for line in lines:
        redact(line)
    return (time.process_time() - before) * 1e6 / max(1, len(lines))


def main() -> int:
    """Print how well secrets are found, and what it costs."""
    parser = make_parser(__doc__)
    parser.add_argument("--each", type=int, default=6, help="secrets a kind and carrier")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--missed", action="store_true", help="print what was missed and every false alarm")
    args = parser.parse_args()
    missed: list[str] = []
    alarms: list[str] = []
    measures = {
        "generated_recall": measure_recall(args.seed, CARRIERS, args.each, missed),
        "heldout_recall": measure_recall(args.seed + 1, HELD_OUT, args.each, missed),
    }
    alike = [*LOOK_ALIKES, *make_look_alikes(random.Random(args.seed), 400)]
    measures["lookalikes_alarms_per_10k"] = Measure(
        floor=count_alarms(alike, mask_prefixes, []), ours=count_alarms(alike, mask, alarms)
    )
    lines = list(load_lines(args.data))
    if lines:
        measures["chat_alarms_per_10k"] = Measure(
            floor=count_alarms(lines, mask_prefixes, []), ours=count_alarms(lines, mask, alarms)
        )
        measures["chat_us"] = Measure(floor=measure_speed(lines, mask_prefixes), ours=measure_speed(lines, mask))
        say(f"{len(lines):,} chat lines, {len(KINDS)} kinds of secrets, {len(CARRIERS)} + {len(HELD_OUT)} carriers.")
    else:
        say(f"Skipped: false alarms in chats and speed; {args.data} holds no memorybank, locomo or dialseg.")
    if args.missed:
        say("\n".join(["missed:", *missed, "false alarms:", *alarms]))
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
