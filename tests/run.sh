#!/usr/bin/env bash
# tests/run.sh [--quick] [PYTEST OPTIONS]: style, then tests. Runs in the repository, so paths count from there.
# --quick leaves out the files that take longest: three minutes, and most of what can fail.
set -euo pipefail

self=$(readlink -f "$0" 2>/dev/null || printf %s "$0")
# shellcheck source=.setup.sh
source "$(dirname "$self")/../.setup.sh"

setup requirements.txt ga3c/{cluster,emulator/cuda,environments,experiments/search,exports,tracking}/requirements.txt tests/requirements.txt
cd "$root"
unset PYTHONDONTWRITEBYTECODE # each of some hundred programs would compile all of ours again
"$venv/bin/python" -m ruff check .
"$venv/bin/python" -m ruff format --check .
# Four at a time: much of the time goes into waiting for programs.
exec "$venv/bin/python" -m pytest -n 4 --dist loadfile --no-loadscope-reorder "$@"
