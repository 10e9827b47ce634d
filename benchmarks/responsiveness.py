"""How soon the window is there, and how long its event loop stalls while a reply streams.

    python -m benchmarks.responsiveness [--runs N] [--no-stalls] [--trace] [--json]

`window_interactive_s`: from the start of the process to the first paint on an empty store, median
of N runs on a warm machine; floor: an empty QMainWindow with the same Qt modules in a process of
the same interpreter. `cold_first_words_s`: from the start of the process to the first words of the
answer to a message that is sent as soon as the store is open; floor: llama-cpp-python loads and
answers the same prompt in a process of its own. `stall_p99_ms`, `stall_max_ms`: by how much the
real window is late with a timer of one millisecond while the real model streams at full speed and
memory follows; floor: the same window at rest beside a process that spins. For busy machines the
same again (Linux tells): `stall_own_…` without the time that the Qt thread stood ready while other
programs had the processors, `stall_work_…` only its own processor time. Windows are shown under
Xvfb where there is one.
"""

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common import ROOT, Measure, make_parser, print_result, say
from benchmarks.screen import open_screen
from benchmarks.throughput import MODEL
from core.llm.processors import choose_threads
from core.sessions.prompt_texts import load_prompt_texts

WAIT_S = 240.0
EMPTY_WINDOW = """
import json
{imports}
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow

class Window(QMainWindow):
    def paintEvent(self, event):
        QTimer.singleShot(0, ready)

def ready():
    print(json.dumps({{"window_ms": 0}}), flush=True)

app = QApplication([])
window = Window()
window.resize(1280, 800)
window.show()
app.exec()
"""


RAW_ANSWER = """
import json, sys
from llama_cpp import Llama

llama = Llama(sys.argv[1], n_ctx=4096, n_threads=int(sys.argv[2]), n_threads_batch=int(sys.argv[2]), verbose=False)
for _ in llama.create_completion(sys.argv[3], max_tokens=1, stream=True):
    print(json.dumps({"window_ms": 0}), flush=True)
"""
FIRST_MESSAGE = "Hello! What can you do for me?"


def find_qt_modules() -> list[str]:
    """Return the Qt modules that the app imports."""
    pattern = re.compile(r"^\s*(?:from|import) PySide6\.(\w+)", re.MULTILINE)
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
    return sorted({name for text in sources for name in pattern.findall(text)})


def start_window(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Start a window; returns the s until it says that it is there, by our clock and by its own (0: no own)."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        took_s = time.perf_counter() - begun
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if not line:
        raise RuntimeError(f"{command} ended without a window")
    return took_s, float(json.loads(line)["window_ms"]) / 1000


def measure_start(folder: Path, environment: dict[str, str], runs: int) -> Measure:
    """Start the empty window and ours in turn; the first of each only warms the machine."""
    imports = "\n".join(f"import PySide6.{name}" for name in find_qt_modules())
    empty = [sys.executable, "-c", EMPTY_WINDOW.format(imports=imports)]
    floor_s, ours_s, own_s = [], [], []
    for number in range(runs + 1):
        data = folder / f"start {number}"
        floor, _ = start_window(empty, environment)
        ours, own = start_window([sys.executable, "-m", "app", "--data-dir", str(data), "--ready-report"], environment)
        if number:
            floor_s.append(floor)
            ours_s.append(ours)
            own_s.append(own)
    say(f"starts, s: floor {_list(floor_s)}; ours {_list(ours_s)}; by the app's own clock {_list(own_s)}")
    return Measure(floor=median(floor_s), ours=median(ours_s))


def measure_first_words(folder: Path, environment: dict[str, str], runs: int) -> dict[str, Measure]:
    """Start the app on an empty store and send at once; empty without the model's file."""
    if not MODEL.is_file():
        say("Skipped: the first words need the chat model, which packaging/set-up.sh brings.")
        return {}
    system = load_prompt_texts("en").system
    prompt = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{FIRST_MESSAGE}<|im_end|>\n"
    raw = [sys.executable, "-c", RAW_ANSWER, str(MODEL), str(choose_threads()), f"{prompt}<|im_start|>assistant\n"]
    floor_s, ours_s = [], []
    for number in range(runs):
        ours = [sys.executable, "-m", "benchmarks.app_rounds", str(folder / f"cold {number}"), "--cold", FIRST_MESSAGE]
        floor_s.append(start_window(raw, environment)[0])
        ours_s.append(start_window(ours, environment)[0])
    say(f"first words, s: floor {_list(floor_s)}; ours {_list(ours_s)}")
    return {"cold_first_words_s": Measure(floor=median(floor_s), ours=median(ours_s))}


def measure_stalls(folder: Path, environment: dict[str, str], *, trace: bool) -> dict[str, Measure]:
    """Run the real window with the real model; empty where it cannot be run."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.window_load", str(folder / "stalls"), *(["--trace"] if trace else [])],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    if done.returncode or not done.stdout.strip():
        say(f"Skipped: the window under load did not end well: {done.stderr.strip()[-2000:]}")
        return {}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    ticks = {name: [_split(*tick) for tick in found[name]] for name in ("rest", "busy")}
    if trace:
        say(done.stderr)
    for reply in found["replies"]:
        say(f"reply: {', '.join(f'{name} {value}' for name, value in reply.items())}")
    measures: dict[str, Measure] = {}
    for kind in ("", "own_", "work_"):
        rest, busy = (sorted(tick[kind] for tick in ticks[name]) for name in ("rest", "busy"))
        say(f"worst under load, stall_{kind}ms: {_list(busy[-6:])}")
        measures[f"stall_{kind}p99_ms"] = Measure(floor=_percentile(rest, 0.99), ours=_percentile(busy, 0.99))
        measures[f"stall_{kind}max_ms"] = Measure(floor=rest[-1], ours=busy[-1])
    return measures


def _split(late_ms: float, queued_ms: float, worked_ms: float) -> dict[str, float]:
    """The lateness of one tick: all of it, without the wait for a processor, the Qt thread's work alone."""
    return {"": late_ms, "own_": max(0.0, late_ms - queued_ms), "work_": min(late_ms, worked_ms)}


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def run(args: argparse.Namespace, folder: Path) -> dict[str, Measure]:
    """Measure the start, then the stalls."""
    with open_screen(folder / "home") as environment:
        measures = {"window_interactive_s": measure_start(folder, environment, args.runs)}
        measures |= measure_first_words(folder, environment, args.runs)
        if args.stalls:
            measures |= measure_stalls(folder, environment, trace=args.trace)
    return measures


def main() -> int:
    """Print how quick the window is."""
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="starts of each window (default: 5)")
    parser.add_argument("--no-stalls", dest="stalls", action="store_false", help="measure the start only")
    parser.add_argument("--trace", action="store_true", help="say what the longest stalls were made of")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keepsake-window-", ignore_cleanup_errors=True) as folder:
        measures = run(args, Path(folder))
    print_result(measures, json_only=args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
