"""Figures 6 and 8 of the paper: a secondary learner of DQN beside the run whose replay it learns from."""

from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import directory_of, perform
from ga3c.experiments.throughput import write_rows
from ga3c.papers import only, seconds, seeds
from ga3c.papers.accelerated import START_STEPS, Options
from ga3c.records import run_directory
from ga3c.settings.presets import agents_of
from ga3c.views import curves
from ga3c.views.drawing import BAND, legend, pyplot, save

RUNS = "accelerated-fig6"
SCALES = {
    "cpu": {"batches": ((256, 32), (32, 256), (32, 32)), "steps": 500_000, "seconds": 14_400.0, "seeds": 1,
            "flags": "--replay-transitions 100000 --exploration-decay-steps 100000"},
    "full": {"batches": ((2048, 64), (64, 2048), (256, 256)), "steps": 50_000_000, "seconds": 864_000.0, "seeds": 2,
             "flags": ""},
}  # fmt: skip
PAPER = (
    "Paper: 64 kept pace with the run with 2048; 2048 failed to learn from the run with 64; two with 256 had the same "
    "score."
)
Pairs = dict[tuple[int, int], list[LearningRun]]  # batches of the run and of its secondary learner -> seeds


def plan(options: Options) -> Pairs:
    """Raises ConfigError."""
    scale, game = SCALES[options.scale], only(options.game, "Breakout", "--game")
    count = only(options.games, 8, "--games")
    spread = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in agents_of(count).items())
    limits = {"seconds": seconds(options, scale), "steps": 0 if options.seconds else scale["steps"]}
    pairs = {}
    for batch, other in scale["batches"]:
        flags = f"--preset dqn --batch {batch} --secondary-batch {other} {spread} {START_STEPS} {scale['flags']}"
        setting = f"{batch}-secondary-{other}"
        pairs[batch, other] = [
            LearningRun(game, setting, tuple(flags.split()), seed, **limits) for seed in seeds(options, scale)
        ]
    return pairs


def reproduce(options: Options, out: Path) -> str:
    pairs = plan(options)
    perform([run for runs in pairs.values() for run in runs], out)
    rows = [row for pair, runs in pairs.items() for run in runs for row in _rows(pair, run, directory_of(run, out))]
    write_rows(out / "fig6.csv", rows)
    draw(pairs, out)
    lines = [
        f"{row['learner']} with {row['batch']} (the other {row['other_batch']}), seed {row['seed']}: "
        f"{row['mean_of_last_games']} after {row['steps']} steps"
        for row in rows
    ]
    return "\n".join(["", *lines, PAPER])


def _learners(directory: Path) -> dict[str, Path]:
    return {"primary": directory, "secondary": directory / run_directory.SECONDARY}


def _rows(pair: tuple[int, int], run: LearningRun, directory: Path) -> list[dict]:
    """For the run and its secondary learner, what came of each. Raises ConfigError."""
    rows = []
    for (learner, path), batch, other in zip(_learners(directory).items(), pair, pair[::-1], strict=True):
        steps, score = curves.of_run(path, curves.SCORE_OVER_STEPS)
        if not len(score):
            raise ConfigError(f"{path} has ended before its first game: give more --seconds.")
        rows.append(
            {
                "game": run.game,
                "learner": learner,
                "batch": batch,
                "other_batch": other,
                "seed": run.seed,
                "steps": round(1e6 * steps[-1]),
                "mean_of_last_games": f"{score[-1]:.6g}",
            }
        )
    return rows


def draw(pairs: Pairs, out: Path) -> None:
    """A panel for each pair: both over steps, the mean of the seeds and a band from lowest to highest."""
    plt = pyplot()
    figure, axes = plt.subplots(1, len(pairs), figsize=(4.5 * len(pairs), 4), sharey=True, layout="constrained")
    for axis, (pair, runs) in zip(axes, pairs.items(), strict=True):
        for index, (learner, batch) in enumerate(zip(("primary", "secondary"), pair, strict=True)):
            curve = curves.of_runs(
                [_learners(directory_of(run, out))[learner] for run in runs], curves.SCORE_OVER_STEPS
            )
            axis.plot(curve.x, curve.y, color=f"C{index}", label=f"{learner}, batch {batch}")
            axis.fill_between(curve.x, curve.low, curve.high, color=f"C{index}", **BAND)
        axis.set(title=runs[0].game, xlabel="million steps", ylabel="score")
        legend(axis)
    save(figure, out / "fig6.png")
