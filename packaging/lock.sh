#!/bin/sh
# Renews the lock files after a change of pyproject.toml. Needs uv; the result is committed.
#
#   run.lock    what the program imports          test.lock   the same versions, and the development tools
#   build.lock  what builds llama-cpp-python      llama.lock  its source package, built once by set_up.py
#
# All hold exact versions with hashes for every Python and system at once. llama-cpp-python is not in run.lock:
# its wheel is made on the user's machine, so no hash can be known.
set -eu
cd -- "$(dirname -- "$0")/.."
locks=packaging/locks
lock() { # lock NAME ARGUMENTS...: resolves for 3.11 to 3.13; keeps the versions already there unless --upgrade
    name=$1
    shift
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
        --output-file "$locks/$name.lock" "$@" >/dev/null
}
lock test pyproject.toml --extra dev --no-emit-package llama-cpp-python "$@"
lock run pyproject.toml --no-emit-package llama-cpp-python --constraint "$locks/test.lock"
printf 'scikit-build-core[pyproject]\ncmake\nninja\n' | lock build - "$@"
grep -o 'llama-cpp-python==[0-9.]*' pyproject.toml | lock llama - --no-deps
