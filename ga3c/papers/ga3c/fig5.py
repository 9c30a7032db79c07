"""Figure 5 of the paper: settings with more TPS learn faster in the same time, and the controller finds one."""

from pathlib import Path

from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import LearningRun, Outcome
from ga3c.papers import LEARNING
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen, learning_runs, learnt

RUNS = "fig5"
READS = LEARNING
SETTINGS = {
    "cpu": {
        "NT1-NP1-NA1": "--agents 1 --predictors 1 --trainers 1",
        "NT1-NP1-NA2": "--agents 2 --predictors 1 --trainers 1",
        "NT1-NP1-NA4": "--agents 4 --predictors 1 --trainers 1",
    },
    "full": {
        "NT1-NP1-NA1": "--agents 1 --predictors 1 --trainers 1",
        "NT1-NP1-NA16": "--agents 16 --predictors 1 --trainers 1",
        "NT2-NP2-NA128": "--agents 128 --predictors 2 --trainers 2",
    },
}
FLAGS = {"cpu": "--preset ga3c ", "full": "--preset paper "}
FROM_ONE = "--agents 1 --predictors 1 --trainers 1"
SCALES = {
    "cpu": {"game": ("Boxing", "Pong"), "seconds": 600.0, "seeds": 1},
    "full": {"game": ("Boxing", "Pong"), "seconds": 10_800.0, "seeds": 1},
}


def plan(options: Options) -> list[LearningRun]:
    settings = {name: f"{counts} --controller off" for name, counts in SETTINGS[options.scale].items()}
    settings["controller"] = FROM_ONE
    settings = {name: FLAGS[options.scale] + flags for name, flags in settings.items()}
    return learning_runs(chosen(SCALES, options), settings)


def reproduce(options: Options, out: Path) -> str:
    outcomes = learnt(plan(options), options, out)
    return f"\n{comparison_report.report(outcomes, out, RUNS)}\n" + "\n".join(map(_words, outcomes))


def _words(outcome: Outcome) -> str:
    run, tps = outcome.run, comparison.median(outcome.directory, "tps")
    what = f"TPS {tps:.0f}, {outcome.frames / 1e6:.1f} million frames, score {outcome.mean_of_last_games:.1f}"
    return f"{run.game}, {run.setting}, seed {run.seed}: {what}."
