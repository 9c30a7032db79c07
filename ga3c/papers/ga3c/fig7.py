"""Figure 7 of the paper: learning with different minimum training batch sizes."""

from pathlib import Path

from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen, learning_runs, learnt

RUNS = "fig7"
READS = LEARNING
SIZES = (1, 20, 40, 80)  # steps; the paper goes to 40 and says what comes after that
SCALES = {
    # An agent with one game, as the paper's, ships rollouts of t_max steps: the smallest batch there is.
    "cpu": {"game": ("Pong",), "seconds": 900.0, "seeds": 1,
            "flags": "--preset ga3c --t-max 5 --envs-per-agent 1 --agents 16 --controller off"},
    "full": {"game": ("Pong",), "seconds": 10_800.0, "seeds": 3,
             "flags": "--preset paper --agents 128 --controller off"},
}  # fmt: skip


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    return learning_runs(scale, {f"batch-{n}": f"{scale['flags']} --minimum-batch-steps {n}" for n in SIZES})


def reproduce(options: Options, out: Path) -> str:
    outcomes = learnt(plan(options), options, out)
    lags = {}
    for outcome in outcomes:
        lags.setdefault(outcome.run.setting, []).append(comparison.median(outcome.directory, "mean_policy_lag_updates"))
    words = [f"{name}: policy lag {sum(lag) / len(lag):.1f} updates." for name, lag in lags.items()]
    return f"\n{comparison_report.report(outcomes, out, RUNS)}\n" + "\n".join(words)
