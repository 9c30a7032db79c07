"""Figure 3 of the paper: learning curves of A2C, A3C, PPO and APPO over steps, with more and more games."""

from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.experiments.comparison import LearningRun
from ga3c.papers.accelerated import START_STEPS, Options, games_flags
from ga3c.papers.plan import chosen, learning_runs, reports

RUNS = "accelerated-fig3"
SCALES = {
    "cpu": {"game": ("Pong",), "steps": 1_000_000, "seconds": 3600.0, "seeds": 1},
    # The paper averages two seeds; its games are in the picture alone.
    "full": {"game": ("Breakout", "Pong", "Qbert", "Seaquest"), "steps": 50_000_000, "seconds": 864_000.0, "seeds": 2},
}
COUNTS = {
    "cpu": {"a2c": (16, 64), "a3c": (16, 64), "ppo": (8, 64), "appo": (8, 32)},
    "full": {
        "a2c": (16, 32, 64, 128, 256, 512),
        "a3c": (16, 32, 64, 128, 256, 512),
        "ppo": (8, 16, 32, 64, 128, 256, 512),
        # The paper has 8 learners, which exchange weights after 1 to 4 updates. Here is one model, and more agents.
        "appo": (8, 16, 32, 64),
    },
}
A3C_GAMES, APPO_GAMES, PPO_BATCH_STEPS = 16, 8, 2048  # of each learner; of each learner; in an update


def flags(algorithm: str, count: int) -> str:
    """Returns the flags of `train` for so many games in all (section 5.3)."""
    spread = games_flags(count)
    return {
        # The batch grows with the games, and the rate with its root: the preset's learning_rate_batch_steps.
        "a2c": f"--preset a2c {spread} --minimum-batch-steps {5 * count}",
        # Each learner is an A2C of 16 games, and waits for no other.
        "a3c": f"--preset a2c --sampling asynchronous --agents {count // A3C_GAMES} --envs-per-agent {A3C_GAMES}",
        # Shorter rollouts: the batch stays.
        "ppo": f"--preset ppo-paper {spread} --t-max {PPO_BATCH_STEPS // count} --minimum-batch-steps {PPO_BATCH_STEPS}"
        f" {START_STEPS}",
        "appo": f"--preset appo --agents {count // APPO_GAMES} --envs-per-agent {APPO_GAMES}",
    }[algorithm]


def plan(options: Options) -> dict[str, list[LearningRun]]:
    """Algorithm -> its runs, those of the fewest games first. Raises ConfigError."""
    for count in options.games:
        if count % A3C_GAMES or PPO_BATCH_STEPS % count:
            raise ConfigError(
                f"--games {count} is out of range: give powers of 2 from {A3C_GAMES} to {PPO_BATCH_STEPS}."
            )
    scale = chosen(SCALES, options)
    return {
        algorithm: learning_runs(
            scale, {f"{algorithm}-{count}": flags(algorithm, count) for count in options.games or counts}
        )
        for algorithm, counts in COUNTS[options.scale].items()
    }


def reproduce(options: Options, out: Path) -> str:
    tables = reports(plan(options), options, out, "fig3")
    return f"{tables}Paper: with more games most curves over steps match those of the fewest."
