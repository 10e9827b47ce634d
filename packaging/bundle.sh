#!/bin/sh
# Builds dist/keepsake with PyInstaller. The old bundle stays until the new one is whole. Set-up has to have run.
set -eu
cd -- "$(dirname -- "$0")/.."
log=build/bundle.log
mkdir -p build dist
began=$(date +%s)
echo 'Building the bundle (a few minutes) ...'
if ! .venv/bin/python -m PyInstaller --noconfirm --log-level WARN --distpath build/new-bundle \
    --workpath build/pyinstaller packaging/keepsake.spec >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    echo "The bundle was not built; the whole log is $log." >&2
    exit 1
fi
rm -rf dist/keepsake
mv build/new-bundle/keepsake dist/keepsake
echo "dist/keepsake: $(du -sm dist/keepsake | cut -f1) MB in $(($(date +%s) - began)) s"
