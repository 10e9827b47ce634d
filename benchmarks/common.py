"""What the benchmarks share: the folder of evaluation data and the form of a result.

A benchmark prints its floor beside ours in words; its last line is one line of JSON,
`{"metric": {"floor": ..., "ours": ...}}`. With `--json` it prints that line only.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_DATA = ROOT.parent / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One metric: its floor and ours, in the unit that the metric's name ends with; None: not measured."""

    floor: float | None
    ours: float | None


def make_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has; its text is the module's first line."""
    parser = argparse.ArgumentParser(description=(doc or "").strip().splitlines()[0])
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help=f"evaluation data (default: {DEFAULT_DATA})")
    parser.add_argument("--json", action="store_true", help="print only the last line, which is JSON")
    return parser


def say(text: str) -> None:
    """Print a remark where it does not get into the result."""
    print(text, file=sys.stderr)


def print_result(measures: Mapping[str, Measure], *, json_only: bool) -> None:
    """Print a table, unless only JSON is wanted, and the line of JSON."""
    if not json_only:
        width = max(map(len, measures), default=0)
        print(f"{'':{width}}  {'floor':>12}  {'ours':>12}")
        for name, measure in measures.items():
            print(f"{name:{width}}  {_show(measure.floor):>12}  {_show(measure.ours):>12}")
    rows = {name: {"floor": _round(measure.floor), "ours": _round(measure.ours)} for name, measure in measures.items()}
    print(json.dumps(rows), flush=True)


def _show(value: float | None) -> str:
    return "-" if value is None else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")
