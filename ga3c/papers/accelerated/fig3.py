"""Figure 3 of the paper: learning curves over steps of A2C, A3C and PPO with more and more games, and of APPO."""

from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.accelerated import START_STEPS, Options, devices, fig5, games_flags
from ga3c.papers.plan import chosen, learning_runs, reports

RUNS = "accelerated-fig3"
READS = (*LEARNING, "games")
SCALES = {
    "cpu": {"game": ("Pong",), "steps": 1_000_000, "seconds": 3600.0, "seeds": 1},
    # The paper averages two seeds; its games are in the picture alone.
    "full": {"game": ("Breakout", "Pong", "Qbert", "Seaquest"), "steps": 50_000_000, "seconds": 864_000.0, "seeds": 2},
}
APPO_DEVICES = {"cpu": 2, "full": 8}
# Games of a run; of APPO the minibatches after which its devices exchange weights.
COUNTS = {
    "cpu": {"a2c": (16, 64), "a3c": (16, 64), "ppo": (8, 64), "appo": (1, 4)},
    "full": {
        "a2c": (16, 32, 64, 128, 256, 512),
        "a3c": (16, 32, 64, 128, 256, 512),
        "ppo": (8, 16, 32, 64, 128, 256, 512),
        "appo": (1, 2, 4),
    },
}
A3C_GAMES, PPO_BATCH_STEPS = 16, devices.PPO_BATCH_STEPS  # of each learner; in an update


def flags(algorithm: str, count: int) -> str:
    """Returns the flags of `train` for so many games in all (section 5.3); not of APPO."""
    spread = games_flags(count)
    return {
        # The batch grows with the games, and the rate with its root: the preset's learning_rate_batch_steps.
        "a2c": f"--preset a2c {spread} --minimum-batch-steps {5 * count}",
        # Each learner is an A2C of 16 games, and waits for no other.
        "a3c": f"--preset a2c --sampling asynchronous --agents {count // A3C_GAMES} --envs-per-agent {A3C_GAMES}",
        # Shorter rollouts: the batch stays.
        "ppo": f"--preset ppo-paper {spread} --t-max {PPO_BATCH_STEPS // count} --minimum-batch-steps {PPO_BATCH_STEPS}"
        f" {START_STEPS}",
    }[algorithm]


def plan(options: Options) -> dict[str, list[LearningRun]]:
    """Algorithm -> its runs, those of the fewest games first. Raises ConfigError."""
    for count in options.games:
        if count % A3C_GAMES or PPO_BATCH_STEPS % count:
            raise ConfigError(
                f"--games {count} is out of range: give powers of 2 from {A3C_GAMES} to {PPO_BATCH_STEPS}."
            )
    scale = chosen(SCALES, options)
    return {algorithm: learning_runs(scale, _settings(algorithm, options)) for algorithm in COUNTS[options.scale]}


def _settings(algorithm: str, options: Options) -> dict[str, str]:
    """Returns the flags of `train` for each setting of an algorithm, by its name."""
    counts = COUNTS[options.scale][algorithm]
    if algorithm == "appo":
        count = APPO_DEVICES[options.scale]
        return {f"appo-exchange-{n}": fig5.flags("appo", options.scale, count, exchange=n) for n in counts}
    return {f"{algorithm}-{count}": flags(algorithm, count) for count in options.games or counts}


def reproduce(options: Options, out: Path) -> str:
    tables = reports(plan(options), options, out, "fig3")
    return f"{tables}Paper: with more games most curves over steps match those of the fewest."
