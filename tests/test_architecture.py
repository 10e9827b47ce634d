"""The import contracts hold, and each one notices when it is broken.

Every contract of pyproject.toml is broken on purpose in a copy of the sources: inside a function, for types only,
through a third module. What import-linter cannot see (`importlib`, `__import__`) is covered by importing all of
`core` in a process where Qt cannot be imported.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

NO_QT = "core knows neither the app nor Qt"
CORE_LAYERS = "layers of core, highest first"
APP_LAYERS = "layers of app, highest first"
ENTRANCE = "the app enters core by engine, model, changes, errors, config, paths only"
PRESENTERS = "presenters are free of Qt"
SQL = "only core.storage speaks SQL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Lines to add to modules, by path; a module that does not exist is made (`zz`: nobody imports it)."""

    breaks: str
    files: dict[str, str] = field(default_factory=dict)


def in_function(statement: str) -> str:
    return f"\n\ndef _offend():\n    {statement}\n"


def type_only(statement: str) -> str:
    return f"\n\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {statement}\n"


VIOLATIONS = {
    "core, Qt in a function": Violation(breaks=NO_QT, files={"core/text/zz.py": in_function("import PySide6.QtCore")}),
    "core, Qt for types only": Violation(
        breaks=NO_QT, files={"core/text/zz.py": type_only("from PySide6.QtGui import QColor")}
    ),
    "core, the event loop in the command line": Violation(
        breaks=NO_QT, files={"core/cli.py": in_function("from qasync import QEventLoop")}
    ),
    "core, the app's root": Violation(breaks=NO_QT, files={"core/storage/zz.py": in_function("import app")}),
    "core, upward": Violation(breaks=CORE_LAYERS, files={"core/errors.py": in_function("from core import model")}),
    "core, upward for types only": Violation(
        breaks=CORE_LAYERS, files={"core/storage/zz.py": type_only("from core.working_memory import guards")}
    ),
    "core, to a sibling": Violation(
        breaks=CORE_LAYERS, files={"core/sessions/zz.py": in_function("import core.archivist")}
    ),
    "core, to a sibling of the same row": Violation(
        breaks=CORE_LAYERS, files={"core/llm/zz.py": in_function("import core.catalogue")}
    ),
    "core, a module nobody placed": Violation(breaks=CORE_LAYERS, files={"core/surplus.py": '"""Where?"""\n'}),
    "app, upward": Violation(breaks=APP_LAYERS, files={"app/models/zz.py": in_function("import app.windows")}),
    "app, views to presenters": Violation(
        breaks=APP_LAYERS, files={"app/views/zz.py": type_only("import app.presenters")}
    ),
    "app, a module nobody placed": Violation(breaks=APP_LAYERS, files={"app/surplus.py": '"""Where?"""\n'}),
    "app, into storage lazily": Violation(
        breaks=ENTRANCE, files={"app/main.py": in_function("from core.storage import zz"), "core/storage/zz.py": ""}
    ),
    "app, into the host for types only": Violation(
        breaks=ENTRANCE, files={"app/views/zz.py": type_only("import core.llm")}
    ),
    "app, into the locks": Violation(
        breaks=ENTRANCE, files={"app/windows/zz.py": in_function("from core.locks import AppLock")}
    ),
    "presenters, Qt directly": Violation(
        breaks=PRESENTERS, files={"app/presenters/zz.py": type_only("from PySide6.QtCore import QObject")}
    ),
    "presenters, Qt through a model": Violation(
        breaks=PRESENTERS,
        files={
            "app/presenters/zz.py": in_function("import app.models.zz"),
            "app/models/zz.py": "import PySide6.QtCore\n",
        },
    ),
    "SQL in the engine": Violation(breaks=SQL, files={"core/engine.py": in_function("import apsw")}),
    "SQL of the standard library": Violation(breaks=SQL, files={"core/storage/zz.py": in_function("import sqlite3")}),
    "SQL in a view, for types only": Violation(breaks=SQL, files={"app/views/zz.py": type_only("import sqlite_vec")}),
}


def contracts(root: Path) -> list[str]:
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return [contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]]


def check_contracts(folder: Path) -> dict[str, str]:
    """Run import-linter there; return KEPT or BROKEN by contract."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--no-logo"],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(folder), "COLUMNS": "200", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
    )
    results = dict(re.findall(r"^(.+?) (KEPT|BROKEN)\b", done.stdout, re.MULTILINE))
    assert results, done.stdout + done.stderr
    assert done.returncode == (1 if "BROKEN" in results.values() else 0), done.stdout + done.stderr
    return results


@pytest.fixture(scope="module")
def sources(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    for package in ("core", "app"):
        shutil.copytree(root / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", folder)
    return folder


def test_every_contract_is_kept(sources: Path) -> None:
    assert check_contracts(sources) == dict.fromkeys(contracts(sources), "KEPT")


def test_every_contract_has_a_violation(root: Path) -> None:
    assert {violation.breaks for violation in VIOLATIONS.values()} == set(contracts(root))


@pytest.mark.parametrize("violation", VIOLATIONS.values(), ids=VIOLATIONS)
def test_a_violation_breaks_precisely_its_contract(sources: Path, tmp_path: Path, violation: Violation) -> None:
    for package in ("core", "app", "pyproject.toml"):
        source = sources / package
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / package)
    for name, text in violation.files.items():
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write(text)
    results = check_contracts(tmp_path)
    assert [name for name, result in results.items() if result == "BROKEN"] == [violation.breaks]


def test_core_runs_where_qt_and_the_app_cannot_be_imported(root: Path) -> None:
    code = """
import importlib, pkgutil, sys
for name in ("PySide6", "shiboken6", "qasync", "app"):
    sys.modules[name] = None
import core
names = [m.name for m in pkgutil.walk_packages(core.__path__, "core.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20
