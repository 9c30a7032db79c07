"""Figure 6 of the paper: learning curves of several games, seeds and two learning rates over time."""

from pathlib import Path

from ga3c.experiments import comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen, learning_runs, learnt
from ga3c.settings.learning import LearningSettings

RUNS = "fig6"
READS = LEARNING
USUAL_RATE = LearningSettings().learning_rate
SCALES = {
    # The usual rate and a third of it, as the paper's two are to each other.
    "cpu": {
        "game": ("Pong",),
        "seconds": 600.0,
        "seeds": 3,
        "rates": (USUAL_RATE, round(USUAL_RATE / 3, 7)),
        "flags": "--preset ga3c ",
    },
    "full": {
        "game": ("Pong", "Boxing", "Breakout", "Qbert"),  # the paper's fifth is named in its picture alone
        "seconds": 86_400.0,
        "seeds": 3,
        "rates": (3e-4, 1e-4),
        "flags": "--preset paper ",
    },
}


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    return learning_runs(
        scale, {f"rate-{rate:g}": f"{scale['flags']}--learning-rate {rate:g}" for rate in scale["rates"]}
    )


def reproduce(options: Options, out: Path) -> str:
    outcomes = learnt(plan(options), options, out)
    return "\n" + comparison_report.report(outcomes, out, RUNS)
