"""Figure 4 of the paper: learning curves of DQN and categorical DQN over steps, with larger and larger batches."""

from itertools import product
from pathlib import Path

from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import games, seconds, seeds
from ga3c.papers.accelerated import START_STEPS, Options
from ga3c.settings.presets import agents_of

RUNS = "accelerated-fig4"
SCALES = {
    # So short a run explores for a shorter time, too.
    "cpu": {
        "game": ("Pong",),
        "steps": 1_000_000,
        "seconds": 3600.0,
        "seeds": 1,
        "constants": "--exploration-decay-steps 100000 --replay-minimum-transitions 20000",
    },
    # The paper averages at least two seeds; its games are in the picture alone.
    "full": {
        "game": ("Breakout", "Pong", "Qbert", "Seaquest"),
        "steps": 50_000_000,
        "seconds": 864_000.0,
        "seeds": 2,
        "constants": "",
    },
}
BATCHES = {
    "cpu": {"dqn": (32, 512), "c51": (32, 512)},
    "full": {"dqn": (32, 512, 1024), "c51": (32, 512, 2048)},
}
FEWEST_GAMES = 8
INTENSITY = 8  # how often each transition is learned from


def games_for(batch: int) -> int:
    """One step of each makes an update due, where the batch is large."""
    return max(FEWEST_GAMES, batch // INTENSITY)


def flags(algorithm: str, batch: int) -> str:
    """Of `train`: the preset's step size and intensity go with the batch (section 5.4.1)."""
    spread = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in agents_of(games_for(batch)).items())
    return f"--preset {algorithm} --batch {batch} {spread} {START_STEPS}"


def plan(options: Options) -> dict[str, list[LearningRun]]:
    """Algorithm -> its runs, those of the smallest batch first."""
    scale = SCALES[options.scale]
    limits = {"seconds": seconds(options, scale), "steps": 0 if options.seconds else scale["steps"]}
    return {
        algorithm: [
            LearningRun(
                game,
                f"{algorithm}-{batch}",
                tuple(f"{flags(algorithm, batch)} {scale['constants']}".split()),
                seed,
                **limits,
            )
            for batch, game, seed in product(
                options.batches or batches, games(options, scale["game"]), seeds(options, scale)
            )
        ]
        for algorithm, batches in BATCHES[options.scale].items()
    }


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    outcomes = comparison.make([run for group in runs.values() for run in group], out, options.episodes)
    tables = [
        comparison_report.report([o for o in outcomes if o.run in group], out, f"fig4-{algorithm}")
        for algorithm, group in runs.items()
    ]
    words = "Paper: batches of 512 learn as well as those of 32, and with categorical DQN those of 2,048 as well."
    return "\n" + "\n".join(tables) + words
