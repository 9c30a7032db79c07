"""Figures 6 and 8 of the paper: a secondary learner of DQN beside the run whose replay it learns from."""

from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import directory_of, perform
from ga3c.experiments.tables import write_rows
from ga3c.papers import CURVES
from ga3c.papers.accelerated import START_STEPS, Options, games_flags
from ga3c.papers.accelerated.fig5 import last_score
from ga3c.papers.plan import chosen, learning_runs
from ga3c.records import run_directory
from ga3c.views import curves
from ga3c.views.drawing import legend
from ga3c.views.panels import SCORE_LABEL, panels, score_panel

RUNS = "accelerated-fig6"
READS = (*CURVES, "games")
SCALES = {
    "cpu": {"pairs": ((256, 32), (32, 256), (32, 32)), "game": "Breakout", "games": 8, "steps": 500_000,
            "seconds": 14_400.0, "seeds": 1,
            "flags": "--replay-transitions 100000 --exploration-decay-steps 100000"},
    "full": {"pairs": ((2048, 64), (64, 2048), (256, 256)), "game": "Breakout", "games": 8, "steps": 50_000_000,
             "seconds": 864_000.0, "seeds": 2, "flags": ""},
}  # fmt: skip
PAPER = (
    "Paper: 64 kept pace with the run with 2048; 2048 failed to learn from the run with 64; two with 256 had the same "
    "score."
)
Pairs = dict[tuple[int, int], list[LearningRun]]  # batches of the run and of its secondary learner -> seeds


def plan(options: Options) -> Pairs:
    """Raises ConfigError."""
    scale, pairs = chosen(SCALES, options), {}
    scale["game"] = (scale["game"],)
    for batch, other in scale["pairs"]:
        flags = f"--preset dqn --batch {batch} --secondary-batch {other} {games_flags(scale['games'])} {START_STEPS}"
        flags += " --record-norms"  # for figure 7
        settings = {f"{batch}-secondary-{other}": f"{flags} {scale['flags']}"}
        pairs[batch, other] = learning_runs(scale, settings)
    return pairs


def reproduce(options: Options, out: Path) -> str:
    pairs = plan(options)
    perform([run for runs in pairs.values() for run in runs], out, options.machines)
    rows = [row for pair, runs in pairs.items() for run in runs for row in _rows(pair, run, directory_of(run, out))]
    write_rows(out / "fig6.csv", rows)
    draw(pairs, out)
    lines = [
        f"{row['learner']} with {row['batch']} (the other {row['other_batch']}), seed {row['seed']}: "
        f"{row['mean_of_last_games']} after {row['steps']} steps"
        for row in rows
    ]
    return "\n".join(["", *lines, PAPER])


def learners_of(directory: Path) -> dict[str, Path]:
    """Returns the directories of both learners."""
    return {"primary": directory, "secondary": directory / run_directory.SECONDARY}


def _rows(pair: tuple[int, int], run: LearningRun, directory: Path) -> list[dict]:
    """For the run and its secondary learner, what came of each. Raises ConfigError."""
    rows = []
    for (learner, path), batch, other in zip(learners_of(directory).items(), pair, pair[::-1], strict=True):
        last = last_score(path)
        if not last["mean_of_last_games"]:
            raise ConfigError(f"{path} has ended before its first game: give more --seconds.")
        own = {"game": run.game, "learner": learner, "batch": batch, "other_batch": other, "seed": run.seed}
        rows.append(own | last)
    return rows


def draw(
    pairs: Pairs,
    out: Path,
    name: str = "fig6",
    over: curves.Quantity = curves.SCORE_OVER_STEPS,
    ylabel: str = SCORE_LABEL,
) -> None:
    """A panel for each pair: both over steps, the mean of the seeds and a band from lowest to highest."""
    with panels(out / f"{name}.png", 1, len(pairs), sharey=True) as (axes,):
        for axis, (pair, runs) in zip(axes, pairs.items(), strict=True):
            learners = [learners_of(directory_of(run, out)) for run in runs]
            groups = {
                f"{name}, batch {batch}": [paths[name] for paths in learners]
                for name, batch in zip(("primary", "secondary"), pair, strict=True)
            }
            score_panel(axis, runs[0].game, groups, over, ylabel)
            legend(axis)
