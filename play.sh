#!/usr/bin/env bash
# ./play.sh [OPTIONS]: watch a trained network play. The same as ./run.sh play.
set -euo pipefail

self=$(readlink -f "$0" 2>/dev/null || printf %s "$0")
exec "$(dirname "$self")/run.sh" play "$@"
