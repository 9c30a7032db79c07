"""The plot of one or more runs: score, throughput, counts and queues."""

import itertools
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.views import curves
from ga3c.views.curves import SCORE_OVER_STEPS, SCORE_OVER_TIME, SMOOTH_GAMES, Curve, over_time
from ga3c.views.drawing import pyplot, save

COUNTS, QUEUES = ("agents", "predictors", "trainers"), ("prediction_queue", "training_queue")
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
