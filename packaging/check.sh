#!/bin/sh
# All that is checked without running the program; every part runs, so that one call shows all findings.
cd -- "$(dirname -- "$0")/.." || exit 1
status=0
step() { # step NAME COMMAND...
    echo "== $1"
    shift
    "$@" || status=1
}
python=.venv/bin/python
step 'ruff check' $python -m ruff check .
step 'ruff format' $python -m ruff format --check .
step 'mypy' $python -m mypy
step 'mypy packaging' $python -m mypy packaging/*.py
step 'import contracts' $python -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
exit $status
