"""Figure 6 of the paper: learning curves of several games, seeds and two learning rates over time."""

from itertools import product
from pathlib import Path

from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import Options, games, seconds, seeds
from ga3c.settings.learning import LearningSettings

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
    return "\n" + comparison_report.report(outcomes, out, RUNS)
