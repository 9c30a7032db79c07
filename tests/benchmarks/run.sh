#!/usr/bin/env bash
# tests/benchmarks/run.sh [OPTIONS] [-- OPTIONS OF ga3c]: measures ga3c against other programs (--help lists all).
set -euo pipefail

self=$(readlink -f "$0" 2>/dev/null || printf %s "$0")
here=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd -P)
# shellcheck source=.setup.sh
source "$here/../../.setup.sh"

setup requirements.txt
case " $* " in
*' --python'* | *' --help '* | *' -h '*) ;;
*) (root=$here venv=$here/.venv download='0.4 GB' hashes='' && setup requirements.txt) ;; # the others get a .venv of their own
esac
exec "$venv/bin/python" "$here/compare.py" "$@"
