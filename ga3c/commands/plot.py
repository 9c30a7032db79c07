"""Draws the curves of one or more runs: python -m ga3c plot [RUN ...]."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ga3c import curves, run_directory
from ga3c.commands.command_line import parse
from ga3c.config import ConfigError
from ga3c.curves import SCORE_OVER_STEPS, SCORE_OVER_TIME, SMOOTH_GAMES, Curve, over_time
from ga3c.drawing import pyplot, save

DESCRIPTION = """Draws score, throughput, counts and queues. One run: into its directory. Several: against each
other; those that differ in their seed alone as one curve, with a band from lowest to highest."""


COUNTS, QUEUES = ("agents", "predictors", "trainers"), ("prediction_queue", "training_queue")


@dataclass(frozen=True)
class PlotOptions:
    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[RUN ...]")] = ()
    """Directories of runs. Without: the newest run of --game, or of all."""
    game: str | None = None
    """The game whose newest run is drawn if no directory is named."""
    out: str | None = None
    """File to draw into (png, pdf or svg). Default: plot.png in the run, comparison.png for several."""


PANELS = {
    ("Score over time", "minutes", "score"): [SCORE_OVER_TIME],
    ("Score over steps", "million steps", "score"): [SCORE_OVER_STEPS],
    ("Predictions per second (PPS)", "minutes", "steps/s"): [over_time("pps")],
    ("Trainings per second (TPS)", "minutes", "rollouts/s"): [over_time("tps")],
    ("Agents, predictors, trainers", "minutes", "number"): [over_time(name) for name in COUNTS],
    ("Waiting in the queues", "minutes", "messages"): [over_time(name) for name in QUEUES],
}


def draw(runs: list[Path], out: Path) -> None:
    """Draws the runs into `out`; runs that differ in their seed alone as one, with a band from lowest to highest.

    The file appears when it is complete. Raises ConfigError, OSError.
    """
    plt = pyplot()
    figure, axes = plt.subplots(3, 2, figsize=(11, 9), layout="constrained")
    try:
        for index, (label, alike) in enumerate(curves.groups(runs).items()):
            for axis, quantities in zip(axes.flat, PANELS.values(), strict=True):
                several = len(quantities) > 1
                for quantity, style in zip(quantities, ("-", "--", ":"), strict=False):
                    name = quantity.y.replace("_", " ") if several else label
                    shown = None if several == (len(runs) > 1) else name  # else it is plain, or explained beside
                    _draw_curve(axis, curves.of_runs(alike, quantity), f"C{index}", style, shown)
        if len(runs) == 1:
            _draw_games(axes[0], runs[0])
        _draw_collapses(axes[0], runs)
    except ConfigError:
        plt.close(figure)
        raise
    for axis, (title, x, y) in zip(axes.flat, PANELS, strict=True):
        axis.set(title=title, xlabel=x, ylabel=y)
        if y.endswith("/s"):
            axis.set_ylim(bottom=0)
        if axis.get_legend_handles_labels()[0]:
            axis.legend()
    games = " / ".join(dict.fromkeys(run.resolve().parent.name for run in runs))
    mix = curves.mixed_protocols(runs)
    figure.suptitle(f"{games}\n{mix}: scores do not compare" if mix else games, fontsize=13)
    save(figure, out)


def _draw_curve(axis, curve: Curve, colour: str, style: str, label: str | None) -> None:
    if not len(curve.x):
        return
    axis.plot(curve.x, curve.y, style, color=colour, linewidth=1.5, label=label)
    if curve.low is not curve.high:
        axis.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)


def _draw_games(axes, run: Path) -> None:
    """A dot for each game, behind the mean."""
    games = curves.read(run, "episodes", "seconds", "steps", "score")
    if games and len(games["score"]):
        for axis, x in zip(axes, (games["seconds"] / 60, games["steps"] / 1e6), strict=True):
            dots = {"markersize": 2, "alpha": 0.5, "zorder": 1, "rasterized": True}
            axis.plot(x, games["score"], ".", color="C7", label="each game", **dots)
            axis.lines[0].set_label(f"mean of {SMOOTH_GAMES} games")


def _draw_collapses(axes, runs: list[Path]) -> None:
    """A stripe from where a score fell by half of what had been gained to where 3/4 of it was back."""
    label = "score collapsed"
    for span in itertools.chain.from_iterable(map(curves.collapsed, runs)):
        for axis, x in zip(axes, (span["seconds"] / 60, span["steps"] / 1e6), strict=True):
            axis.axvspan(*x, color="C3", alpha=0.15, linewidth=0)
            axis.axvline(x[0], color="C3", linestyle=":", label=label)  # seen even where the stripe is too narrow
        label = None


def run(arguments: list[str]) -> int:
    options = parse(PlotOptions, arguments, PlotOptions(), DESCRIPTION, "plot")
    if options.runs:
        runs = [run_directory.existing(name) for name in options.runs]
    else:
        runs = [run_directory.newest(options.game, with_checkpoint=False)]
    out = Path(options.out) if options.out else runs[0] / "plot.png" if len(runs) == 1 else Path("comparison.png")
    if out.suffix not in (".png", ".pdf", ".svg"):
        raise ConfigError(f"--out {out}: draw into a .png, .pdf or .svg file.")
    try:
        draw(runs, out)
    except OSError as error:
        raise ConfigError(f"Cannot write {out}: {error.strerror}.") from error
    if mix := curves.mixed_protocols(runs):
        print(f"Their scores do not compare, {mix}")
    print(f"Drawn into {out}")
    return 0
