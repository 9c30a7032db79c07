"""The plot of one or more runs: score, throughput, counts and queues."""

import itertools
import textwrap
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.views import curves, labels
from ga3c.views.curves import SCORE_OVER_STEPS, SCORE_OVER_TIME, SMOOTH_GAMES, Curve, Quantity, over_time
from ga3c.views.drawing import BAND, DASHES, FAINT, INK, MARKS, Look, from_zero, legend, literal, look, pyplot, save

LABEL_CHARACTERS = 80  # in a line: two labels stand beside each other
COUNTS, QUEUES = ("agents", "predictors", "trainers"), ("prediction_queue", "training_queue")
PANELS = {
    ("Score over time", "minutes", "score"): [SCORE_OVER_TIME],
    ("Score over steps", "million steps", "score"): [SCORE_OVER_STEPS],
    ("Predictions per second (PPS)", "minutes", "steps/s"): [over_time("pps")],
    ("Trainings per second (TPS)", "minutes", "rollouts/s"): [over_time("tps")],
    ("Agents, predictors, trainers", "minutes", "number"): [over_time(name, smooth=False) for name in COUNTS],
    ("Waiting in the queues", "minutes", "messages"): [over_time(name) for name in QUEUES],
}


def draw(runs: list[Path], out: Path, columns: int = 2) -> None:
    """Draws the runs into `out`; runs that differ in their seed alone as one, with a band from lowest to highest.

    Panels stand in one column (as wide as a telephone) or two. The file appears when it is complete. Raises
    ConfigError, OSError.
    """
    plt = pyplot()
    size = (11, 9) if columns == 2 else (5.2, 15)
    figure, grid = plt.subplots(len(PANELS) // columns, columns, figsize=size, layout="constrained")
    axes = grid.ravel()
    try:
        groups = curves.groups(runs)
        for axis, quantities in zip(axes, PANELS.values(), strict=True):
            _draw_panel(axis, groups, quantities)
        if len(groups) > 1:
            _explain(figure, axes[0], list(groups))
        if len(runs) == 1:
            _draw_games(axes[:2], runs[0])
        _draw_collapses(axes[:2], runs)
    except ConfigError:
        plt.close(figure)
        raise
    for axis, (title, x, y) in zip(axes, PANELS, strict=True):
        axis.set(title=title, xlabel=x, ylabel=y)
        if y.endswith("/s"):
            from_zero(axis)
        if y == "number":
            axis.yaxis.get_major_locator().set_params(integer=True)
        legend(axis)
    games = " / ".join(dict.fromkeys(literal(labels.know(run.resolve()).game) for run in runs))
    mix = curves.mixed_protocols(runs)
    figure.suptitle(f"{games}\n{mix}: scores do not compare" if mix else games)
    save(figure, out)


def _draw_panel(axis, groups: dict[str, list[Path]], quantities: list[Quantity]) -> None:
    several = several_runs, several_quantities = len(groups) > 1, len(quantities) > 1
    for run, alike in enumerate(groups.values()):
        for number, quantity in enumerate(quantities):
            how = look(run, number, *several)
            width = _draw_rows(axis, alike, quantity, how.colour, None if any(several) else "each row")
            own = quantity.y.replace("_", " ") if several_quantities else f"mean of {width} rows" if width else None
            _draw_curve(axis, curves.of_runs(alike, quantity), how, None if several_runs else own, quantity.is_count)
    if all(several):
        for quantity, mark in zip(quantities, MARKS.values(), strict=False):
            axis.plot([], [], mark, color=INK, label=quantity.y.replace("_", " "))


def _explain(figure, axis, names: list[str]) -> None:
    """One legend for all panels: which run is which."""
    looks = [look(index, 0, True, False) for index in range(len(names))]
    lines = [axis.plot([], [], color=how.colour, linestyle=DASHES[how.dash])[0] for how in looks]
    shown = [literal(textwrap.fill(name, LABEL_CHARACTERS)) for name in names]
    figure.legend(lines, shown, loc="outside lower center", ncols=2, handlelength=3)


def _draw_rows(axis, alike: list[Path], quantity: Quantity, colour: str, label: str | None) -> int:
    """Draws the rows of the log faintly behind the curve of one run. Returns how many rows the curve averages, or 0."""
    x, y = curves.of_run(alike[0], quantity.raw())
    width = quantity.width(len(y))
    if quantity.log != "throughput" or len(alike) > 1 or width == 1 or not len(y):
        return 0
    axis.plot(x, y, color=colour, alpha=FAINT, linewidth=0.7, zorder=1, rasterized=True, label=label)
    return width


def _draw_curve(axis, curve: Curve, how: Look, label: str | None, steps: bool) -> None:
    if not len(curve.x):
        return
    marks = {}
    if how.mark:  # not all at the same points: lines often lie upon each other
        first = 0.04 * list(MARKS).index(how.mark)
        marks = {"marker": MARKS[how.mark], "markevery": (first, 0.12)}
    line = {"color": how.colour, "linestyle": DASHES[how.dash], "alpha": how.opacity}
    line |= {"drawstyle": "steps-post"} if steps else {}
    axis.plot(curve.x, curve.y, label=label, **line, **marks)
    if curve.low is not curve.high:
        axis.fill_between(curve.x, curve.low, curve.high, color=how.colour, step="post" if steps else None, **BAND)


def _draw_games(axes, run: Path) -> None:
    """A dot for each game, behind the mean."""
    games = curves.read(run, "episodes", "seconds", "steps", "score")
    if games and len(games["score"]):
        for axis, x in zip(axes, (games["seconds"] / 60, games["steps"] / 1e6), strict=True):
            dots = {"markersize": 2, "alpha": 0.5, "zorder": 1, "rasterized": True}
            axis.plot(x, games["score"], ".", color=INK, label="each game", **dots)
            axis.lines[0].set_label(f"mean of {SMOOTH_GAMES} games")


def _draw_collapses(axes, runs: list[Path]) -> None:
    """A stripe from where a score fell by half of what had been gained to where 3/4 of it was back."""
    label = "score collapsed"
    for span in itertools.chain.from_iterable(map(curves.collapsed, runs)):
        for axis, x in zip(axes, (span["seconds"] / 60, span["steps"] / 1e6), strict=True):
            axis.axvspan(*x, color="C3", alpha=0.15, linewidth=0)
            axis.axvline(x[0], color="C3", linestyle=":", label=label)  # seen even where the stripe is too narrow
        label = None
