"""Figure 6 of the paper: learning curves of several games, seeds and two learning rates over time."""

from itertools import product
from pathlib import Path

from ga3c import comparison
from ga3c.comparison import LearningRun
from ga3c.config import LearningSettings
from ga3c.figures import Options, games, seconds, seeds

RUNS = "fig6"
SCALES = {
    # The usual rate and a third of it, as the paper's two are to each other.
    "cpu": {"seconds": 3600.0, "seeds": 3, "rates": (LearningSettings().learning_rate, None), "flags": ""},
    "full": {"seconds": 86_400.0, "seeds": 3, "rates": (3e-4, 1e-4), "flags": "--preset paper "},
}


def plan(options: Options) -> list[LearningRun]:
    scale = SCALES[options.scale]
    first, second = scale["rates"]
    rates = (first, round(first / 3, 7) if second is None else second)
    return [
        LearningRun(
            game, f"rate-{rate:g}", tuple(f"{scale['flags']}--learning-rate {rate:g}".split()), seed,
            seconds(options, scale),
        )
        for rate, game, seed in product(rates, games(options, ("Pong", "Boxing", "Breakout")), seeds(options, scale))
    ]  # fmt: skip


def reproduce(options: Options, out: Path) -> str:
    outcomes = comparison.make(plan(options), out, options.episodes)
    return "\n" + comparison.report(outcomes, out, RUNS)
