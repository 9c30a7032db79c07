"""Figures of several panels, pairs of ours and the paper's, and learning curves."""

import contextlib
from pathlib import Path

from ga3c.views import curves, drawing
from ga3c.views.drawing import BAND, INK, common_legend, from_zero, pyplot

SINGLE, PANEL = (6.5, 4.0), (4.5, 3.6)  # inches: of one panel alone, and of one among several
SCORE_LABEL = f"score (mean of {curves.SMOOTH_GAMES} games)"


@contextlib.contextmanager
def panels(file: Path, rows: int = 1, columns: int = 1, *, size: tuple[float, float] | None = None, **shared):
    """Yields the axes [row, column] of a figure, and writes it to `file` when they are drawn.

    One legend below explains all panels, unless a panel has its own. `size` is that of the figure, in inches. `shared`:
    options of `plt.subplots`; axes that share y with those on their left, or x with those below, are named once.
    """
    plt = pyplot()
    size = size or (SINGLE if rows == columns == 1 else (columns * PANEL[0], rows * PANEL[1]))
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **shared)
    try:
        yield axes
        for axis in figure.axes:
            drawing.with_commas(axis)
        if shared.get("sharey"):
            for axis in axes[:, 1:].flat:
                axis.set_ylabel("")
        if shared.get("sharex") == "col":
            for axis in axes[:-1].flat:
                axis.set_xlabel("")
        if not any(axis.get_legend() for axis in axes.flat):
            common_legend(figure)
        drawing.save(figure, file)
    finally:
        plt.close(figure)


@contextlib.contextmanager
def beside_paper(file: Path, titles: tuple[str, str], labels: tuple[str, str], **shared):
    """Yields two axes, ours on the left and the paper's on the right. `labels` are those of x and y."""
    with panels(file, 1, 2, **shared) as axes:
        yield axes[0]
        for axis, title in zip(axes[0], titles, strict=True):
            axis.set(title=title, xlabel=labels[0], ylabel=labels[1])
            from_zero(axis)


def banded(axis, x, spreads, **style) -> None:
    """Draws the medians of some `throughput.Spread`, and a band from the lowest to the highest."""
    (line,) = axis.plot(x, [spread.median for spread in spreads], "o-", **style)
    ends = ([getattr(spread, end) for spread in spreads] for end in ("lowest", "highest"))
    axis.fill_between(x, *ends, color=line.get_color(), **BAND)


def score_curve(axis, runs: list[Path], over: curves.Quantity, colour: str, label: str | None) -> None:
    """Draws the mean score of the runs, and a band from the lowest to the highest where there are several."""
    curve = curves.of_runs(runs, over)
    axis.plot(curve.x, curve.y, color=colour, label=label)
    if len(runs) > 1 and len(curve.x) and colour != INK:
        axis.fill_between(curve.x, curve.low, curve.high, color=colour, **BAND)


def score_panel(
    axis, title: str, groups: dict[str, list[Path]], over: curves.Quantity, ylabel: str = SCORE_LABEL
) -> None:
    """Draws a curve for each group of runs, under its label, and names the axes. It may be of another quantity."""
    for index, (label, runs) in enumerate(groups.items()):
        score_curve(axis, runs, over, f"C{index}", label)
    axis.set(title=title, xlabel=score_label_x(over), ylabel=ylabel)


def score_label_x(over: curves.Quantity) -> str:
    return "minutes" if over.x == "seconds" else "million steps"
