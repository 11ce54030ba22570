#!/usr/bin/env bash
# The Python tools that read windrow's exports back in tests/export and check its server in tests/monitor, in target/readback. Once installed, it returns at once.
set -euo pipefail
cd "$(dirname "$0")/../.."
wanted=tests/export/requirements.txt
venv="${CARGO_TARGET_DIR:-target}/readback"
cmp -s "$wanted" "$venv/installed.txt" && exit 0
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
cp "$wanted" "$venv/installed.txt"
