"""What each deviation from the paper is worth: the defaults, and the defaults with one thing put back."""

from itertools import product
from pathlib import Path

from ga3c import environments
from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import Options, games, seconds, seeds

RUNS = "ablation"
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
    "cpu": {"games": ("CartPole-v1",), "seconds": 40.0, "seeds": 5},
    "full": {"games": ("Pong",), "seconds": 3600.0, "seeds": 3},
}


def plan(options: Options) -> list[LearningRun]:
    scale = SCALES[options.scale]
    return [
        LearningRun(game, name, tuple(flags.split()), seed, seconds(options, scale))
        for (name, flags), game, seed in product(
            SETTINGS.items(), games(options, scale["games"]), seeds(options, scale)
        )
        if name not in OF_ATARI or environments.resolve(game)[0] == "atari"
    ]


def reproduce(options: Options, out: Path) -> str:
    return "\n" + comparison_report.report(comparison.make(plan(options), out, options.episodes), out, RUNS)
