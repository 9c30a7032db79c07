"""Figure 4 of the paper: learning curves of DQN and categorical DQN over steps, with larger and larger batches."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.accelerated import START_STEPS, Options, games_flags
from ga3c.papers.plan import chosen, learning_runs, reports

RUNS = "accelerated-fig4"
READS = (*LEARNING, "batches")
SCALES = {
    # So short a run explores for a shorter time, too.
    "cpu": {
        "game": ("Pong",), "steps": 1_000_000, "seconds": 3600.0, "seeds": 1,
        "constants": "--exploration-decay-steps 100000 --replay-minimum-transitions 20000",
    },
    # The paper averages at least two seeds; its games are in the picture alone.
    "full": {
        "game": ("Breakout", "Pong", "Qbert", "Seaquest"), "steps": 50_000_000, "seconds": 864_000.0, "seeds": 2,
        "constants": "",
    },
}  # fmt: skip
BATCHES = {"cpu": {"dqn": (32, 512), "c51": (32, 512)}, "full": {"dqn": (32, 512, 1024), "c51": (32, 512, 2048)}}
FEWEST_GAMES = 8
INTENSITY = 8  # how often each transition is learned from


def games_for(batch: int) -> int:
    """One step of each makes an update due, where the batch is large."""
    return max(FEWEST_GAMES, batch // INTENSITY)


def flags(algorithm: str, batch: int) -> str:
    """Returns the flags of `train`: the preset's step size and intensity go with the batch (section 5.4.1)."""
    return f"--preset {algorithm} --batch {batch} {games_flags(games_for(batch))} {START_STEPS}"


def plan(options: Options) -> dict[str, list[LearningRun]]:
    """Algorithm -> its runs, those of the smallest batch first."""
    scale, runs = chosen(SCALES, options), {}
    for algorithm, batches in BATCHES[options.scale].items():
        settings = {f"{algorithm}-{batch}": flags(algorithm, batch) for batch in options.batches or batches}
        runs[algorithm] = learning_runs(
            scale, {name: f"{words} {scale['constants']}" for name, words in settings.items()}
        )
    return runs


def reproduce(options: Options, out: Path) -> str:
    words = "Paper: batches of 512 learn as well as those of 32, and with categorical DQN those of 2,048 as well."
    return reports(plan(options), options, out, "fig4") + words
