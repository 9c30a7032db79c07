#!/usr/bin/env bash
# ./run.sh [COMMAND] [OPTIONS]: train, or what COMMAND says (--help lists all). The first start sets up .venv.
set -euo pipefail

self=$(readlink -f "$0" 2>/dev/null || printf %s "$0")
# shellcheck source=.setup.sh
source "$(dirname "$self")/.setup.sh"

lists=(requirements.txt)
case " $* " in *' --cluster'* | *' --machines'* | *' reproduce apex '*) lists+=(ga3c/cluster/requirements.txt) ;; esac
case " $* " in *' pettingzoo.'* | *'=pettingzoo.'*) lists+=(ga3c/environments/requirements.txt) ;; esac
case " $* " in ' tune '*) lists+=(ga3c/experiments/search/requirements.txt) ;; esac
tracked=" $* " tracked=${tracked##* --track[ =]}
case ${tracked#tensorboard } in 'wandb '* | 'mlflow '*) lists+=(ga3c/tracking/requirements.txt) ;; esac
case " $* " in ' export '*tflite* | ' export '*onnx*) lists+=(ga3c/exports/requirements.txt) ;; esac
setup "${lists[@]}"
exec "$venv/bin/python" -m ga3c "$@"
