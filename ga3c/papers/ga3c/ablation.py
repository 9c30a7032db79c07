"""Ablation: the defaults, and the defaults with one thing at a time put back to the paper's."""

from pathlib import Path

from ga3c import environments
from ga3c.experiments import comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen, learning_runs, learnt

RUNS = "ablation"
READS = LEARNING
SETTINGS = {
    "default": "",
    "t-max-5": "--t-max 5",
    "lambda-1": "--return-lambda 1",
    "rate-3e-4": "--learning-rate 3e-4 --learning-rate-decay-steps 0",
    "epsilon-0.1": "--rmsprop-epsilon 0.1",
    "bytes": "--input-scaling bytes",
    "entropy-weight-0.01": "--entropy-weight 0.01",
    "value-weight-1": "--value-weight 1",
    "no-clipping": "--gradient-clip-norm 0",
    "one-game-per-agent": "--envs-per-agent 1 --agents 32",
    "one-game-batch-40": "--envs-per-agent 1 --agents 32 --minimum-batch-steps 40",
    "lives-go-on": "--no-life-loss-terminates",
    "no-lag-limit": "--policy-lag-limit-updates 0",
    "paper": "--preset paper",
}
OF_ATARI = ("bytes", "lives-go-on")  # have no effect on games without pictures and lives
SCALES = {
    "cpu": {"game": ("CartPole-v1",), "seconds": 40.0, "seeds": 5},
    "full": {"game": ("Pong",), "seconds": 3600.0, "seeds": 3},
}


def plan(options: Options) -> list[LearningRun]:
    settings = {name: flags if "--preset" in flags else f"--preset ga3c {flags}" for name, flags in SETTINGS.items()}
    return [
        run
        for run in learning_runs(chosen(SCALES, options), settings)
        if run.setting not in OF_ATARI or environments.resolve(run.game)[0] == "atari"
    ]


def reproduce(options: Options, out: Path) -> str:
    return "\n" + comparison_report.report(learnt(plan(options), options, out), out, RUNS)
