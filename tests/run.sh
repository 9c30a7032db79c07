#!/usr/bin/env bash
# tests/run.sh [PYTEST OPTIONS]: style, then tests. Runs in the repository, so paths count from there.
set -euo pipefail

self=$(readlink -f "$0" 2>/dev/null || printf %s "$0")
# shellcheck source=.setup.sh
source "$(dirname "$self")/../.setup.sh"

setup requirements.txt ga3c/cluster/requirements.txt ga3c/emulator/cuda/requirements.txt tests/requirements.txt
cd "$root"
"$venv/bin/python" -m ruff check .
"$venv/bin/python" -m ruff format --check .
# Three at a time: most of the time goes into programs that start, and into waiting for them.
exec "$venv/bin/python" -m pytest -n 3 --dist loadfile --no-loadscope-reorder "$@"
