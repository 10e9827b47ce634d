"""Smoke test of a bundle: start it as a stranger would, and see it answer.

    python packaging/smoke.py dist/keepsake

The program runs with an empty environment and home, no Python on PATH, no network (in a network namespace of its
own, where the system allows one) and on a virtual screen. It has to open its window, answer one message with the
real model, show a line of Working Memory, exit with 0 and print nothing else on stderr. Standard library only.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

LIMIT_S = 180.0  # the program itself gives up after 120 s for the reply and as much for the memory line
MESSAGE = "Hello! My name is Mara and I have decided to learn Portuguese before the summer."
MAY_SAY = re.compile(  # stderr lines that say nothing about the bundle
    r"\s*|.*XDG_RUNTIME_DIR.*|.*(libEGL|MESA|libGL|dri2?).*|.*QStandardPaths.*", re.IGNORECASE
)


class SmokeError(Exception):
    """The bundle failed; the text says at what."""


@contextlib.contextmanager
def open_screen() -> Iterator[str]:
    """Start a virtual screen; yields its DISPLAY."""
    if shutil.which("Xvfb") is None:
        raise SmokeError("Xvfb is not installed: sudo apt-get install xvfb")
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        with open(reader, encoding="ascii") as pipe:
            number = pipe.readline().strip()
        if not number:
            raise SmokeError("Xvfb ended before it opened a display.")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def find_isolation() -> list[str]:
    """Return the command that cuts a program off the network; empty where none is allowed."""
    for command in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        with contextlib.suppress(OSError):
            if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
                return command
    return []


def measure_bytes(folder: Path) -> int:
    """Return the size on disk of a folder's files."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def start(command: list[str], home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run with nothing but a home and an empty PATH."""
    nowhere = home / "no-programs"
    nowhere.mkdir(exist_ok=True)
    try:
        return subprocess.run(
            command,
            env={"HOME": str(home), "PATH": str(nowhere), **env},
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SmokeError(f"{Path(command[-1]).name} was still running after {LIMIT_S:.0f} s.") from error


def check_stderr(text: str) -> None:
    """Refuse any line that is not known to be harmless."""
    unknown = [line for line in text.splitlines() if not MAY_SAY.fullmatch(line)]
    if unknown:
        raise SmokeError("Unexpected lines on stderr:\n" + "\n".join(f"    {line}" for line in unknown[:20]))


def check_app(program: Path, home: Path, isolation: list[str]) -> None:
    """Open the window, send a message, read the program's report."""
    began = time.monotonic()
    with open_screen() as display:
        done = start([*isolation, str(program), "--smoke", MESSAGE], home, DISPLAY=display)
    if done.returncode != 0:
        raise SmokeError(f"It ended with code {done.returncode}.\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    check_stderr(done.stderr)
    try:
        report = json.loads(done.stdout)
        window_ms, reply, memory = float(report["window_ms"]), str(report["reply"]), str(report["memory"])
    except (ValueError, KeyError, TypeError) as error:
        raise SmokeError(f"Its report cannot be read ({error}): {done.stdout[:500]!r}") from error
    if not reply.strip() or not memory.strip():
        raise SmokeError(f"The reply or the memory line is empty: {report}")
    print(f"window   {window_ms:.0f} ms after the start of the process")
    print(f"reply    {' '.join(reply.split())[:90]}")
    print(f"memory   {' '.join(memory.split())[:90]}")
    print(f"whole    {time.monotonic() - began:.1f} s from start to exit")


def check_jobs(program: Path, home: Path, isolation: list[str]) -> None:
    """Replay the sample conversation without a window."""
    began = time.monotonic()
    done = start([*isolation, str(program), "demo"], home)
    if done.returncode != 0 or "MEMORY.md" not in done.stdout:
        raise SmokeError(f"keepsake-jobs ended with code {done.returncode}.\n{done.stdout}{done.stderr}"[-3000:])
    check_stderr(done.stderr)
    print(f"jobs     sample conversation replayed in {time.monotonic() - began:.1f} s")


def smoke(bundle: Path) -> None:
    """Check both programs of a bundle; raise `SmokeError` at the first thing that is wrong."""
    print(f"bundle   {measure_bytes(bundle) / 1e6:.0f} MB in {bundle}")
    isolation = find_isolation()
    print(f"network  {'none' if isolation else 'NOT cut off: this system allows no network namespaces'}")
    if isolation:
        isolation[0] = shutil.which(isolation[0]) or isolation[0]  # the program's PATH is empty
    with tempfile.TemporaryDirectory(prefix="keepsake smoke ") as temporary:
        for number, check in enumerate((check_app, check_jobs)):
            home = Path(temporary) / f"home {number}"
            home.mkdir()
            name = "keepsake" if check is check_app else "keepsake-jobs"
            check(bundle / name, home, isolation)


def main() -> int:
    """Return 0 if the bundle works."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("usage: smoke.py FOLDER-OF-THE-BUNDLE", file=sys.stderr)
        return 2
    try:
        smoke(Path(sys.argv[1]).resolve())
    except SmokeError as error:
        print(f"Smoke test failed: {error}", file=sys.stderr)
        return 1
    print("Smoke test passed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
